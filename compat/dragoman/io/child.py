"""One server process over its life: frames in and out, its stderr, its end.

Theory of operation. A server is *lost* when it can no longer answer: its stdout ended, its process ended, or it closed its
stdin (noticed when we write). These come one after another within moments, and in any order, so the first only starts a
short wait for the others: the exit status and the last words on stderr make a better report. Once stdout has ended the wait
is very short, because until the loss is told calls still go to a server that cannot answer. Nobody waits longer than that: a
grandchild may hold stdout open for hours after the server's end, and a server may close its stdout and live on. A last line
without its newline is held until then and comes right before the loss, so that nobody takes it for a sign of life.

``close`` is the shutdown ladder of basic/transports/stdio: close stdin, wait, SIGTERM, wait, SIGKILL, for the whole process
group, and the process is reaped. It is driven by the main loop's clock and never waits. Until the end stdout and stderr
are still read, and dropped or passed on, since a server blocked on a full pipe cannot exit in order.
"""

from __future__ import annotations

from time import monotonic
from typing import Protocol

from dragoman.io.events import Descriptors
from dragoman.io.lines import LineSplitter, TooLong
from dragoman.io.outlet import HIGH_WATER
from dragoman.io.pipes import BIG_LINE, widen
from dragoman.io.process import Process

LOSS_WAIT = 0.5  # for the other signs of the end, above all for stdout to be read once the process ended
EOF_WAIT = 0.05  # for the exit status and the rest of stderr once stdout ended
EXIT_WAIT = 2.0  # for the server to exit by itself once its stdin is closed
TERM_WAIT = 2.0  # after SIGTERM
KILL_WAIT = 1.0  # after SIGKILL, for a process that is stuck in the kernel
TICK = 0.05
_TAIL = 4096
_TAIL_LINES = 20
# The same numbers everywhere, and the ones that end servers; any other is told by its number.
_SIGNALS = {1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}


class House(Protocol):
    """What a child needs of the shell it lives in."""

    @property
    def events(self) -> Descriptors:
        """Where its descriptors are watched."""

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        """Lines of the server's stdout."""

    def stderr(self, data: bytes) -> None:
        """Bytes of the server's stderr."""

    def lost(self, child: Child, reason: str) -> None:
        """The server cannot answer any more. Said once, and not after ``close``."""


class Child:
    """A started server. The shell calls ``tick`` at the time that ``due`` names, and whenever a process may have ended."""

    def __init__(self, process: Process, label: str, house: House, max_line: int) -> None:
        self.session: int | None = None
        self.ended = False  # reaped, its group gone, every descriptor closed
        self.due: float | None = None
        self.outlet = house.events.outlet(process.stdin, owned=True)
        self.outlet.on_gone = self._stdin_gone
        self._process = process
        self._label = label
        self._house = house
        self._splitter = LineSplitter(max_line)
        self._tail = b""
        self._fault = ""  # what was noticed first
        self._deadline = 0.0
        self._streams = 2  # stdout and stderr, while they are open
        self._silent = False  # stdout ended
        self._lost = False
        self._pressed = 0  # what was queued when the server last took something, while that is too much
        self._pressed_at: float | None = None
        self._rung = 0  # of the ladder; 0: not closing
        self._grace = EXIT_WAIT
        house.events.watch(process.stderr, self._on_stderr)
        process.on_exit(house.events.post, self._exited)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def open(self, session: int) -> None:
        """Listen to the server from now on; what it said before is still in its pipe."""
        self.session = session
        self._house.events.watch(self._process.stdout, self._on_stdout)
        self.due = monotonic()  # it may have ended long ago

    def write(self, data: bytes) -> None:
        """One frame for the server."""
        if len(data) > BIG_LINE and not self.outlet.gone:
            widen(self._process.stdin)
        self.outlet.write(data)
        if self.outlet.gone:
            self._suspect("closed its stdin")

    def press(self, now: float, stall: float, most: int) -> None:
        """See that the server takes what is queued for it: nothing for ``stall`` seconds, or more than ``most`` bytes, is a loss.

        While so much is queued the client is not read, so a server that has stopped reading would hold up everybody.
        """
        backlog = self.outlet.backlog
        if self._lost or self.session is None:
            return
        if backlog <= HIGH_WATER:
            self._pressed_at = None
        elif self._pressed_at is None or backlog < self._pressed:
            self._pressed, self._pressed_at = backlog, now
        if backlog > most or (self._pressed_at is not None and now >= self._pressed_at + stall):
            self._suspect("takes nothing of what is written to its stdin", 0.0)
        elif self._pressed_at is not None:
            self.due = min(self.due or self._pressed_at + stall, self._pressed_at + stall)

    def pause(self) -> None:
        """Let stdout wait (nobody takes what it says)."""
        if not self._rung:
            self._house.events.pause(self._process.stdout)

    def resume(self) -> None:
        """Listen again."""
        self._house.events.resume(self._process.stdout)

    def close(self, grace: float = EXIT_WAIT) -> None:
        """Begin the shutdown ladder; called again, ``grace`` can only make it faster. ``lost`` is not said any more."""
        now = monotonic()
        if not self._rung:
            self._lost = True
            self._rung = 1
            self._deadline = now + grace
            self.outlet.close()
            self.resume()
            if self.session is None:
                self._house.events.watch(self._process.stdout, self._on_stdout)
        self._deadline = min(self._deadline, now + grace)
        self._grace = min(self._grace, grace)
        self.due = now

    def tick(self, now: float) -> None:
        """Look whether the process has ended, and take the next step if it is time for one."""
        if self.ended:  # its descriptors are closed, and their numbers may be another's by now
            return
        exited = self._process.poll() is not None
        self.due = None
        if self._rung:
            self._climb(exited, now)
        elif self.session is not None and not self._lost:
            if exited:
                self._suspect("")
            if self._fault and ((exited and not self._streams) or now >= self._deadline):
                self._lose(exited)
            elif self._fault:
                self.due = min(now + TICK, self._deadline)

    def _suspect(self, fault: str, wait: float = LOSS_WAIT) -> None:
        if self._lost:
            return
        now = monotonic()
        self._deadline = min(self._deadline, now + wait) if self._fault else now + wait
        self._fault = self._fault or fault or "ended"
        self.due = now

    def _lose(self, exited: bool) -> None:
        if self._silent and (rest := self._splitter.end()):
            self._house.heard(self, rest)
            if self._lost:  # what it said last made the core close it
                return
        self._lost = True
        self._house.lost(self, self.describe(exited))

    def describe(self, exited: bool) -> str:
        """What became of the server, for people: how it ended and what it said last on stderr."""
        text = f"{self._label} {describe_exit(self._process.status) if exited else self._fault}"
        lines = self._tail.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:]
        return f"{text}; the last lines of its stderr:\n" + "\n".join(lines) if lines else text

    def _climb(self, exited: bool, now: float) -> None:
        process = self._process
        self.due = now + TICK
        if self._rung == 4 or (exited and not process.family_lives()):
            self._finish(now)
        elif self._rung == 1 and (exited or now >= self._deadline):
            process.terminate()
            self._rung = 2
            self._deadline = now + min(self._grace, TERM_WAIT)
        elif self._rung == 2 and now >= self._deadline:
            process.kill()
            self._rung = 3
            self._deadline = now + KILL_WAIT
        elif self._rung == 3 and (exited or now >= self._deadline):  # whoever survives SIGKILL is stuck in the kernel
            self._finish(now)

    def _finish(self, now: float) -> None:
        if self._rung < 4:
            self._rung = 4
            self._deadline = now + KILL_WAIT
        if not self._process.dismiss() and now < self._deadline:
            return
        self.ended = True
        self.due = None
        self.outlet.abort()
        self._house.events.release(self._process.stdout)
        self._house.events.release(self._process.stderr)

    def _exited(self, _: bytes) -> None:
        self.tick(monotonic())

    def _stdin_gone(self) -> None:
        if self.outlet.dropped:
            self._suspect("closed its stdin")

    def _on_stdout(self, data: bytes) -> None:
        if not data:
            self._streams -= 1
            self._silent = True
        if self._lost:
            return
        if data:
            if lines := self._splitter.feed(data):
                self._house.heard(self, lines)
            if self._splitter.size > BIG_LINE:
                widen(self._process.stdout)
        else:
            self._suspect("closed its stdout but is still running", EOF_WAIT)
            self.tick(monotonic())

    def _on_stderr(self, data: bytes) -> None:
        if self.ended:
            return
        if data:
            self._tail = (self._tail + data[-_TAIL:])[-_TAIL:]
            self._house.stderr(data)
        else:
            self._streams -= 1
            if self._fault:
                self.tick(monotonic())


def describe_exit(status: int | None) -> str:
    """An exit status in words."""
    if status is None:
        return "is still running"
    if status >= 0:
        return f"exited with status {status}"
    name = _SIGNALS.get(-status)
    return f"was killed by signal {-status}" + (f" ({name})" if name else "")

"""The main loop: bytes and time into the core, its effects out.

One thread runs the core. A turn of the loop takes what has happened (bytes, ends, exits, signals), fires what is due, and
then sends everything that the turn produced. Memory is bounded both ways: when the client does not take its frames, the
servers are not read; when a server does not take its frames, the client is not read.

The end: EOF on stdin, SIGTERM, SIGINT or SIGHUP tell the core that the client closed; the core finishes what is in flight
and says ``Finished``. Then the client gets what is still queued and every server goes down its ladder. A second signal, or
a client that does not read any more, skips the waiting.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from dragoman.bridging.effects import (
    DEBUG,
    ERROR,
    CancelTimer,
    CloseSession,
    Effect,
    Finished,
    Loss,
    OpenSession,
    SetTimer,
    ToClient,
    ToServer,
)
from dragoman.bridging.effects import (
    Log as LogEffect,
)
from dragoman.io.child import EXIT_WAIT, TICK, Child
from dragoman.io.command import CannotStart
from dragoman.io.events import Events
from dragoman.io.lines import LineSplitter, TooLong
from dragoman.io.log import Log
from dragoman.io.outlet import HIGH_WATER, LOW_WATER
from dragoman.io.pipes import BIG_LINE, widen
from dragoman.io.process import Process
from dragoman.io.timers import Timers

if TYPE_CHECKING:
    from dragoman.bridging.core import Core
    from dragoman.io.link import Distant
    from dragoman.io.opener import Opener

_FLUSH_WAIT = 5.0  # at the end: how long the client may take nothing of what is queued for it
_OWED = 4
STALL = 30.0  # a server that takes nothing of a full queue for so long is given up
_HURRY = 0.2  # the grace of each rung of the ladder after a second signal


class Shell:
    """Drives one core between one client (``client_in``, ``client_out``) and the servers that ``launcher`` starts."""

    def __init__(
        self,
        core: Core,
        launcher: Opener,
        events: Events,
        log: Log,
        *,
        max_line: int,
        grace: float = EXIT_WAIT,
        stall: float = STALL,
        client_in: int = 0,
        client_out: int = 1,
    ) -> None:
        self.events = events
        self._core = core
        self._launcher = launcher
        self._log = log
        self._max_line = max_line
        self._grace = grace
        self._stall = stall
        self._client_in = client_in
        self._client_out = client_out
        self._client = events.outlet(client_out, owned=False)
        self._client.on_gone = self._client_gone
        self._splitter = LineSplitter(max_line)
        self._timers = Timers()
        self._children: list[Child | Distant] = []
        self._sessions: dict[int, Child | Distant] = {}
        self._failed: deque[tuple[int, str]] = deque()  # sessions that could not be started, to be told after this batch
        self._signals: list[int] = []
        self._closed = False  # the core knows that the client closed
        self._client_paused = False
        self._servers_paused = False
        self._status: int | None = None
        self._signal_status = 0
        self._hurry = False
        self._reap = False
        self._spare: Child | None = None
        self._carriers: dict[type[Effect], Callable[..., None]] = {
            ToClient: self._to_client,
            ToServer: self._to_server,
            OpenSession: self._open,
            CloseSession: self._close,
            SetTimer: lambda effect: self._timers.set(effect.key, effect.at),
            CancelTimer: lambda effect: self._timers.cancel(effect.key),
            LogEffect: lambda effect: self._log.say(effect.level, effect.text),
            Loss: lambda effect: self._log.loss(effect.change, effect.detail),
            Finished: self._finished,
        }

    def run(self) -> int:
        """Serve until the end; the answer is the exit status."""
        self._install_signals()
        prepared = self._launcher.prepared()
        if prepared is not None:  # its stderr is drained from now on, its stdout waits in the pipe
            self._spare = self._adopt(prepared)
        self.events.watch(self._client_in, self._on_client)
        self._ask(self._core.start, monotonic())
        self._flush()
        while self._status is None:
            self._turn()
        return self._end()

    # -- the loop

    def _turn(self, limit: float | None = None) -> None:
        for handler, data in self.events.wait(self._patience(limit)):
            handler(data)
        due = self._due()
        if self._reap or self._signals or self._failed or (due is not None and due <= monotonic()):
            self._attend(monotonic())
        self._flush()

    def _attend(self, now: float) -> None:
        """All that happens beside the descriptors. Most turns have none of it, and every call takes two turns."""
        reap, self._reap = self._reap, False
        for child in self._children:
            if reap or (child.due is not None and child.due <= now):
                child.tick(now)
        while self._signals:
            self._signalled(self._signals.pop(0))
        if self._failed and self._status is None:
            session, reason = self._failed.popleft()
            self._ask(self._core.session_lost, session, reason, now)
        while self._status is None and (key := self._timers.pop(now)) is not None:
            self._ask(self._core.on_timer, key, now)

    def _due(self) -> float | None:
        """When the first child or timer wants something."""
        due = self._timers.next() if self._status is None else None
        for child in self._children:
            if child.due is not None and (due is None or child.due < due):
                due = child.due
        return due

    def _patience(self, limit: float | None) -> float | None:
        """How long the loop may sleep."""
        if self._failed or self._signals or self._reap:
            return 0.0
        due = self._due()
        if limit is not None and (due is None or limit < due):
            due = limit
        return None if due is None else max(0.0, due - monotonic())

    def _flush(self) -> None:
        """Send what the turn produced, and see to it that nobody is read whose frames nobody takes."""
        client = self._client
        if client.backlog:
            client.flush()
        self._log.flush()
        backlog = 0
        ended = False
        for child in self._children:
            outlet = child.outlet
            if outlet.backlog:
                outlet.flush()
                backlog = max(backlog, outlet.backlog)
                child.press(monotonic(), self._stall, _OWED * HIGH_WATER + self._max_line)
            ended = ended or child.ended
        if ended:
            self._children = [child for child in self._children if not child.ended]
        if backlog or client.backlog or self._client_paused or self._servers_paused:
            self._balance(backlog)

    def _balance(self, backlog: int) -> None:
        """Pause and resume reading; ``backlog`` is that of the server that is furthest behind."""
        # A client that takes nothing must not make us pile up answers; far over the mark, because one that writes all it has
        # before it reads is not to be stopped for a little.
        owed = self._client.backlog
        if not self._client_paused and (backlog > HIGH_WATER or owed > _OWED * HIGH_WATER):
            self._client_paused = True
            self.events.pause(self._client_in)
        elif self._client_paused and backlog <= LOW_WATER and owed <= HIGH_WATER:
            self._client_paused = False
            self.events.resume(self._client_in)
        if not self._servers_paused and self._client.backlog > HIGH_WATER:
            self._servers_paused = True
            for child in self._sessions.values():
                child.pause()
        elif self._servers_paused and self._client.backlog <= LOW_WATER:
            self._servers_paused = False
            for child in self._sessions.values():
                child.resume()

    def _end(self) -> int:
        """After ``Finished``: the client gets the rest, the servers end, both in bounded time."""
        self.events.release(self._client_in)
        if self._spare is not None:
            self._children.append(self._spare)
        for child in self._children:
            child.close(_HURRY if self._hurry else self._grace)
        left = self._client.backlog + 1
        deadline = monotonic()
        while True:
            now = monotonic()
            if self._client.backlog < left:
                left = self._client.backlog
                deadline = now + _FLUSH_WAIT
            writing = left > 0 and not self._hurry and now < deadline
            if not self._children and not writing:
                break
            self._turn(now + TICK)
        self._log.drain(self.events)
        return self._status or 0

    # -- what happened

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        """Lines of a server's stdout, for the core."""
        session = child.session
        for line in lines:
            if session is None or self._status is not None or self._sessions.get(session) is not child:
                return
            if isinstance(line, bytes):
                self._ask(self._core.from_server, session, line, monotonic())
            else:
                self._ask(self._core.server_too_long, session, line.head, line.size, monotonic())

    def stderr(self, data: bytes) -> None:
        """A server's stderr, for ours."""
        self._log.forward(data)

    def lost(self, child: Child, reason: str) -> None:
        """A server ended, for the core."""
        self._gone(child, reason)

    def _gone(self, child: Child | Distant, reason: str) -> None:
        session = child.session
        child.close(self._grace)
        if session is not None and self._sessions.get(session) is child:
            del self._sessions[session]
            if self._status is None:
                self._log.say(DEBUG, reason)
                self._ask(self._core.session_lost, session, reason, monotonic())

    def heard_remote(self, child: Distant, line: bytes, about: bytes | None) -> None:
        """A line of a server behind a URL, for the core."""
        session = child.session
        if session is not None and self._status is None and self._sessions.get(session) is child:
            self._ask(self._core.from_server, session, line, monotonic(), about)

    def told_remote(self, effect: LogEffect | Loss) -> None:
        """What a connection has to say to the operator."""
        self._carriers[type(effect)](effect)

    def lost_remote(self, child: Distant, reason: str) -> None:
        """A connection is over, for the core."""
        self._gone(child, reason)

    def ended_remote(self) -> None:
        """A connection has nothing left: the turn that hears of it forgets it."""

    def tell_core(self, method: Callable[..., list[Effect]], *arguments: object) -> None:
        """Something that the core waits for and that comes from neither side."""
        if self._status is None:
            self._ask(method, *arguments, monotonic())

    def _on_client(self, data: bytes) -> None:
        for line in self._splitter.feed(data) if data else self._splitter.end():
            if self._closed:
                return
            if isinstance(line, bytes):
                self._ask(self._core.from_client, line, monotonic())
            else:
                self._ask(self._core.client_too_long, line.head, line.size, monotonic())
        if not data:
            self._close_client()
        elif self._splitter.size > BIG_LINE:
            widen(self._client_in)

    def _client_gone(self) -> None:
        """Nobody reads our stdout: nothing that is in flight can be delivered."""
        self._log.say(DEBUG, "the client closed our stdout")
        self._signals.append(0)

    def _signalled(self, number: int) -> None:
        """A signal (0: the client left). The first one while the client is there ends in order, any other at once."""
        if number:
            self._hurry = self._closed
            self._signal_status = self._signal_status or 128 + number
        if self._status is None:
            self._close_client()
        if self._status is None and (self._hurry or not number):
            self._finished(Finished(0))
        if self._hurry:
            for child in self._children:
                child.close(_HURRY)

    def _close_client(self) -> None:
        if not self._closed:
            self._closed = True
            if not self._ask(self._core.client_closed, monotonic()):
                self._finished(Finished(1))  # a core that cannot even end must not keep the process

    # -- what the core wants

    def _ask(self, method: Callable[..., list[Effect]], *arguments: object) -> bool:
        try:
            effects = method(*arguments)
        except Exception as fault:  # noqa: BLE001 - a fault of ours must cost one frame, not the conversation
            self._log.say(ERROR, f"internal fault in {method.__name__}: {type(fault).__name__}: {fault}")
            self._log.trace()
            return False
        carriers = self._carriers
        for effect in effects:
            carriers[type(effect)](effect)
        return True

    def _to_client(self, effect: ToClient) -> None:
        if len(effect.data) > BIG_LINE:
            widen(self._client_out)
        self._client.write(effect.data)

    def _to_server(self, effect: ToServer) -> None:
        child = self._sessions.get(effect.session)
        if child is not None:  # else it was lost in this very turn, and the core hears of it next
            child.write(effect.data)

    def _open(self, effect: OpenSession) -> None:
        child: Child | Distant | None
        child, self._spare = self._spare, None
        if child is None:
            try:
                child = self._launcher.child(self, self._max_line)
            except CannotStart as fault:
                self._failed.append((effect.session, f"could not be started: {fault}"))
                return
        self._children.append(child)
        self._sessions[effect.session] = child
        child.open(effect.session)
        if self._servers_paused:
            child.pause()

    def _close(self, effect: CloseSession) -> None:
        child = self._sessions.pop(effect.session, None)
        if child is not None:
            child.close(self._grace)

    def _finished(self, effect: Finished) -> None:
        status = effect.status or self._signal_status
        self._status = status or (1 if self._launcher.failed else 0)

    def _adopt(self, process: Process) -> Child:
        return Child(process, self._launcher.label, self, self._max_line)

    def _install_signals(self) -> None:
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            # What the parent had ignored (nohup, a shell's background job) stays ignored.
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
                signal.signal(getattr(signal, name), lambda number, _: self._noted(number))
        if sys.platform != "win32":
            signal.signal(signal.SIGCHLD, lambda *_: self._child_changed())
            fd = getattr(self.events, "wake_fd", None)
            if fd is not None:  # Python runs handlers between bytecodes only: this wakes the poll itself
                signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
        self._reap = True

    def _noted(self, number: int) -> None:
        self._signals.append(number)
        self.events.wake()

    def _child_changed(self) -> None:
        self._reap = True
        self.events.wake()

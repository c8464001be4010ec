"""``--probe``: asks a disposable sibling of the server which era it speaks (basic/transports/stdio#backward-compatibility).

The specification lets a client send ``server/discover`` first and read anything but a modern answer as "legacy". Some
legacy servers exit, hang or flood on it, so the question goes to a process of its own, which is killed afterwards; the real
one never sees it.
"""

from __future__ import annotations

from time import monotonic

from dragoman import frame
from dragoman.bridging.effects import INFO
from dragoman.bridging.era import LEGACY, discover_params, judge
from dragoman.io.child import Child
from dragoman.io.command import CannotStart
from dragoman.io.events import Events
from dragoman.io.launcher import Launcher
from dragoman.io.lines import TooLong
from dragoman.io.log import Log

_ID = b'"dragoman-probe"'
_MAX_LINE = 1 << 20
_KILL_GRACE = 0.1


def question() -> bytes:
    """The probe's one frame: ``server/discover`` with the complete modern envelope."""
    return frame.request(_ID, "server/discover", discover_params())


def verdict(line: bytes) -> tuple[str, str] | None:
    """("modern" or "legacy", why) if ``line`` answers the probe, else ``None``."""
    answer = frame.parse(line, lenient=True)
    if isinstance(answer, frame.Result | frame.Failure) and answer.id == _ID:
        return judge(answer)
    if isinstance(answer, frame.Malformed) and answer.id == _ID:
        return LEGACY, "it answered server/discover with neither a result nor an error"
    return None


class Probe:
    """One disposable server process and its answer."""

    def __init__(self, launcher: Launcher, events: Events, log: Log) -> None:
        self.events = events
        self._log = log
        self._launcher = launcher
        self._answer: tuple[str, str] | None = None

    def ask(self, timeout: float) -> tuple[str, str]:
        """The verdict and why, after at most ``timeout`` seconds."""
        try:
            child = Child(self._launcher.spawn(), self._launcher.label, self, _MAX_LINE)
        except CannotStart as fault:
            return "legacy", str(fault)
        child.open(0)
        child.write(question())
        deadline = monotonic() + timeout
        while self._answer is None:
            child.outlet.flush()
            now = monotonic()
            if now >= deadline:
                self._answer = "legacy", f"it did not answer server/discover within {timeout:g} s"
            else:
                self._turn(child, deadline)
        self._dispose(child)
        return self._answer

    def _dispose(self, child: Child) -> None:
        child.close(_KILL_GRACE)
        while not child.ended:
            self._turn(child, monotonic() + 1.0)

    def _turn(self, child: Child, until: float) -> None:
        now = monotonic()
        wake = min(until, now + 0.05 if child.due is None else child.due)
        for handler, data in self.events.wait(max(0.0, wake - now)):
            handler(data)
        child.tick(monotonic())
        self._log.flush()

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        """The answer may be among these."""
        for line in lines:
            if isinstance(line, bytes) and self._answer is None:
                self._answer = verdict(line)

    def stderr(self, data: bytes) -> None:
        """Drained and dropped: the operator hears the real server say the same."""

    def lost(self, child: Child, reason: str) -> None:
        """No answer will come."""
        if self._answer is None:
            self._log.say(INFO, f"the probe: {reason}")
            self._answer = "legacy", "it exited on server/discover"

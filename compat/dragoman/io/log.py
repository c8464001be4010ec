"""What the operator reads on stderr: one line a record, each headed ``dragoman: ``, and the server's own stderr as it is.

stderr may be closed, full or read by nobody: writing to it never raises and never waits. What cannot be kept is dropped
and counted, and the count is told as soon as somebody reads again.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from dragoman.bridging.effects import DEBUG, ERROR, INFO, WARNING
from dragoman.io.outlet import Outlet

if TYPE_CHECKING:
    from dragoman.io.events import Events

LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR}
_NAMES = {number: name for name, number in LEVELS.items()}
_LAST_WAIT = 0.5
_LONGEST = 16 * 1024
# C0 but for the tab, DEL, C1, and the marks that turn the direction of what follows.
_UNSEEN = (*range(9), *range(10, 32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _UNSEEN}
_MOST = 1024 * 1024  # of stderr held for a reader that is slow


class Log:
    """Levels, the server's stderr, and the tally of what could not be carried."""

    __slots__ = ("_announced", "_at_start", "_dropped", "_level", "_losses", "_outlet")

    def __init__(self, outlet: Outlet, level: int) -> None:
        self._outlet = outlet
        self._level = level
        self._losses: dict[str, int] = {}
        self._announced = ""
        self._at_start = True
        self._dropped = 0

    def announce(self, level: int, text: str) -> None:
        """Say ``text`` before the core knows of it; the first record of the core's that ends with it is not said again."""
        self.say(level, text)
        self._announced = text

    def say(self, level: int, text: str) -> None:
        """One record at ``level`` (effects.DEBUG … ERROR)."""
        if self._announced and text.endswith(self._announced):
            self._announced = ""
        elif level >= self._level:
            head = "dragoman: " if level in (INFO, WARNING) else f"dragoman: {_NAMES.get(level, 'info')}: "
            self.tell(text, head)

    def tell(self, text: str, head: str = "dragoman: ") -> None:
        """One line, whatever the level."""
        # Names that peers have chosen stand in it: neither a terminal's control sequences nor megabytes of them belong there.
        shown = " ".join(text[:_LONGEST].splitlines()).translate(_CONTROLS)
        line = head + shown + (" …" if len(text) > _LONGEST else "") + "\n"
        self._write(("" if self._at_start else "\n") + line)

    def loss(self, change: str, detail: str) -> None:
        """Something could not be carried: a warning the first time for each kind, then only counted."""
        count = self._losses.get(change, 0)
        self._losses[change] = count + 1
        if count == 0:
            self.say(WARNING, f"not carried ({change}): {detail}")
        else:
            self.say(DEBUG, f"not carried ({change}): {detail}")

    def summary(self) -> str:
        """How often each kind of thing was not carried."""
        if not self._losses:
            return "nothing was left out of a translated message"
        return "not carried: " + ", ".join(f"{change} {count}" for change, count in sorted(self._losses.items()))

    def forward(self, data: bytes) -> None:
        """The server's stderr, byte for byte."""
        outlet = self._outlet
        if outlet.backlog + len(data) > _MOST:
            self._dropped += len(data)
            return
        if self._dropped and not outlet.backlog:
            dropped, self._dropped = self._dropped, 0
            self.say(WARNING, f"{dropped} bytes of the server's stderr were dropped because nobody read ours")
        outlet.write(data)
        self._at_start = data.endswith(b"\n")

    def flush(self) -> None:
        """Send what is queued, as far as stderr takes it."""
        if self._outlet.backlog:
            self._outlet.flush()

    def trace(self) -> None:
        """The current exception's traceback, at debug level."""
        if self._level <= DEBUG:
            import traceback

            self.forward(traceback.format_exc().encode("utf-8", "backslashreplace"))

    def drain(self, events: Events) -> None:
        """At the end: give a slow reader of stderr a moment, not more."""
        deadline = monotonic() + _LAST_WAIT
        self.flush()
        while self._outlet.backlog and (left := deadline - monotonic()) > 0:
            for handler, data in events.wait(min(left, 0.05)):
                handler(data)

    def _write(self, text: str) -> None:
        if self._outlet.backlog < 2 * _MOST:
            self._outlet.write(text.encode("utf-8", "backslashreplace"))
            self._at_start = True

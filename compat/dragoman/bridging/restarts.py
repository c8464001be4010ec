"""A server that fails at its start again and again is not started for every request.

The first failures cost nothing: a server may have been unlucky, and whoever calls next gets a fresh one. From the third in a row
on there is a pause before the next start, twice as long each time; requests that come meanwhile are told the last failure at
once. One handshake that ends well, and all is forgotten.
"""

from __future__ import annotations

_FREE = 2
_FIRST, _LONGEST = 1.0, 30.0


class Verdict:
    """What has been found out of the era of the server behind a command; ``modern``: it speaks only modern revisions."""

    __slots__ = ("modern",)

    def __init__(self) -> None:
        self.modern = False


class Restarts:
    """The starts of one command; times are those of the core's clock, in seconds."""

    __slots__ = ("_failures", "_last", "_until")

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._last = ""

    def failed(self, why: str, now: float) -> None:
        """A process ended, or refused, before it had done anything."""
        self._failures += 1
        self._last = why
        if self._failures > _FREE:
            self._until = now + min(_FIRST * 2 ** (self._failures - _FREE - 1), _LONGEST)

    def worked(self) -> None:
        """A handshake has ended well."""
        self._failures = 0
        self._until = 0.0

    def pause(self, now: float) -> float:
        """How long to wait before the next start; 0: start."""
        return max(self._until - now, 0.0)

    def why(self, now: float) -> str:
        """What to tell those who come in the pause."""
        return f"The server has failed {self._failures} times in a row and is started again in {self.pause(now):.0f} s; last: {self._last}"

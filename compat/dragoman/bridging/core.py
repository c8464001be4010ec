"""What a shell drives: lines and time in, effects out."""

from __future__ import annotations

from typing import Protocol

from dragoman.bridging.effects import Effect


class Core(Protocol):
    """The sans-I/O core (see effects.py). ``now`` is monotonic time in seconds; lines come without their newline."""

    def start(self, now: float) -> list[Effect]:
        """The core's first effects."""

    def from_client(self, line: bytes, now: float) -> list[Effect]:
        """A line of the client."""

    def client_too_long(self, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of the client was skipped."""

    def client_closed(self, now: float) -> list[Effect]:
        """No more will come from the client."""

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[Effect]:
        """A line of a server; ``about``: the id of the request on whose stream it came, where there are such."""

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of a server was skipped."""

    def session_lost(self, session: int, reason: str, now: float) -> list[Effect]:
        """A server cannot answer any more."""

    def on_timer(self, key: str, now: float) -> list[Effect]:
        """A timer is due."""

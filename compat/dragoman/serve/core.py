"""What a house drives: requests and time in, effects out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dragoman.http.effects import HttpEffect
    from dragoman.http.rejection import Rejection
    from dragoman.http.request import HttpRequest


class Core(Protocol):
    """The sans-I/O core (``HttpFace``); ``now`` is monotonic time in seconds, lines come without their newline."""

    def start(self, now: float) -> list[HttpEffect]:
        """Once, before anything else."""

    def head(self, request: HttpRequest) -> Rejection | int:
        """Whether the body may come, and how many bytes of it."""

    def caller(self, request: HttpRequest) -> tuple[str, str | None]:
        """For whom a request is."""

    def begin_anew(self, now: float) -> list[HttpEffect]:
        """The server is another."""

    def request(self, exchange: int, request: HttpRequest, body: bytes, now: float) -> list[HttpEffect]:
        """A whole request; ``exchange`` is never used twice."""

    def gone(self, exchange: int, now: float) -> list[HttpEffect]:
        """Nobody is left to be answered."""

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[HttpEffect]:
        """A line of a server; ``about``: the id of the request on whose stream it came, where there are such."""

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[HttpEffect]:
        """A line of a server was skipped."""

    def session_lost(self, session: int, reason: str, now: float) -> list[HttpEffect]:
        """A server cannot answer any more."""

    def on_timer(self, key: str, now: float) -> list[HttpEffect]:
        """A timer is due."""

    def close(self, now: float) -> list[HttpEffect]:
        """No more requests will come."""

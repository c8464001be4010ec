"""The connection to one server behind a URL, whatever it speaks: the part that a shell drives.

A legacy server that takes no POST is spoken to over the two endpoints of 2024-11-05 from then on (2025-03-26,
basic/transports#backwards-compatibility); ``two_endpoints`` tells, so that the next connection begins there.
"""

from __future__ import annotations

from dragoman import frame
from dragoman.bridge.effects import INFO, Log
from dragoman.bridge.era import MODERN
from dragoman.errors import Refusal
from dragoman.remote import troubles
from dragoman.remote.connection import Connection, Fields
from dragoman.remote.effects import RemoteEffect, Trouble
from dragoman.remote.legacy import LegacyConnection
from dragoman.remote.modern import ModernConnection
from dragoman.remote.options import RemoteOptions
from dragoman.remote.two_endpoints import TwoEndpoints


class Remote:
    """See the module; the entry points are those of ``Connection``. ``era`` is ``era.MODERN`` or ``era.LEGACY``."""

    def __init__(self, options: RemoteOptions, era: str) -> None:
        self._options = options
        self.two_endpoints = options.two_endpoints
        if era == MODERN:
            self._connection: Connection = ModernConnection(options)
        else:
            self._connection = TwoEndpoints(options) if options.two_endpoints else LegacyConnection(options)

    def open(self, now: float) -> list[RemoteEffect]:
        """Once, before anything else."""
        return self._connection.open(now)

    def from_core(self, line: bytes, now: float) -> list[RemoteEffect]:
        """A line for the server, without its newline."""
        return self._connection.from_core(line, now)

    def head(self, exchange: int, status: int, fields: Fields, now: float) -> list[RemoteEffect]:
        """The answer to an exchange begins."""
        return self._connection.head(exchange, status, fields, now)

    def data(self, exchange: int, data: bytes, now: float) -> list[RemoteEffect]:
        """Bytes of its body."""
        return self._connection.data(exchange, data, now)

    def ended(self, exchange: int, now: float) -> list[RemoteEffect]:
        """The answer is complete."""
        effects = self._connection.ended(exchange, now)
        connection = self._connection
        if isinstance(connection, LegacyConnection) and connection.fallen_back is not None:
            effects += self._fall_back(connection, now)
        return effects

    def failed(self, exchange: int, trouble: Trouble, now: float) -> list[RemoteEffect]:
        """The exchange came to nothing."""
        return self._connection.failed(exchange, trouble, now)

    def on_timer(self, key: str, now: float) -> list[RemoteEffect]:
        """A timer is due."""
        return self._connection.on_timer(key, now)

    def close(self, now: float) -> list[RemoteEffect]:
        """The core is done with this connection."""
        return self._connection.close(now)

    def _fall_back(self, connection: LegacyConnection, now: float) -> list[RemoteEffect]:
        hello = connection.fallen_back
        assert hello is not None
        refusal = troubles.answered(hello.status, b"".join(hello.body), hello.fields, hello.what)
        self._connection = TwoEndpoints(self._options, _said(connection.refusal) or refusal)
        self._connection.follow(connection)
        self.two_endpoints = True
        told = Log(INFO, f"the server answered initialize with {troubles.status_text(hello.status)}: HTTP+SSE of 2024-11-05 is tried")
        effects: list[RemoteEffect] = [told, *self._connection.open(now)]
        for line in (hello.line, *connection.waiting_lines()):
            effects += self._connection.from_core(line, now)
        return effects


def _said(refusal: frame.Failure | None) -> Refusal | None:
    """The server's own words."""
    error = frame.tree(refusal.error) if refusal is not None else None
    if not isinstance(error, dict) or type(error.get("code")) is not int:
        return None
    return Refusal(error["code"], str(error.get("message")), error.get("data"))

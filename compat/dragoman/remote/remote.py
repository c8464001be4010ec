"""The connection to one server behind a URL, whatever it speaks: the part that a shell drives.

Theory of operation. A server that answered ``server/discover`` may speak the legacy revisions too, and does not say so. A legacy
client is better off with these where there is more than a downgrade can give: sessions, with a stream to be asked questions on. So
before its handshake that stream is asked for, without a session. A server that wants one says so. A server of 2026-07-28 alone
answers 405 (basic/transports/streamable-http#earlier-streamable-http-revisions), as does one that could not ask anyway; a stream that
is opened to somebody without a session could not belong to a call. Then the handshake is refused as a modern server would, and
whoever sent it falls forward, with ``server/discover``.

A legacy server that takes no POST is spoken to over the two endpoints of 2024-11-05 from then on (2025-03-26,
basic/transports#backwards-compatibility). What was found out is told, so that the next connection begins there.
"""

from __future__ import annotations

from dragoman import frame
from dragoman.bridging.effects import INFO, CancelTimer, Log, SetTimer
from dragoman.bridging.era import DUAL, MODERN
from dragoman.errors import Refusal, unknown_method
from dragoman.remote import troubles
from dragoman.remote.connection import Connection, Fields
from dragoman.remote.effects import Abort, Heard, RemoteEffect, Send, Trouble
from dragoman.remote.legacy import LegacyConnection
from dragoman.remote.modern import ModernConnection
from dragoman.remote.options import RemoteOptions
from dragoman.remote.two_endpoints import TwoEndpoints

_ASKING = 5.0
_DUAL_TIMER = "dual"
_NO_STREAM = (404, 405)


class Remote:
    """See the module; the entry points are those of ``Connection``. ``era`` is one of ``bridge.era``.

    ``two_endpoints``: it turned out to be a server of 2024-11-05. ``takes_handshakes``: whether a modern one speaks legacy revisions
    too, if that is known.
    """

    def __init__(self, options: RemoteOptions, era: str, takes_handshakes: bool | None = None) -> None:
        self._options = options
        self._era = era
        self.two_endpoints = options.two_endpoints
        self.takes_handshakes = takes_handshakes
        self._asking = 0  # the exchange that asks for the stream
        self._held: list[bytes] = []
        if era in (MODERN, DUAL):
            self._connection: Connection = ModernConnection(options)
        else:
            self._connection = TwoEndpoints(options) if options.two_endpoints else LegacyConnection(options)

    @property
    def proven(self) -> bool:
        """Whether the server has answered in the era that was found out."""
        return isinstance(self._connection, ModernConnection) and self._connection.proven

    def open(self, now: float) -> list[RemoteEffect]:
        """Once, before anything else."""
        return self._connection.open(now)

    def from_core(self, line: bytes, now: float) -> list[RemoteEffect]:
        """A line for the server, without its newline."""
        if self._asking:
            self._held.append(line)
            return []
        if self._era == DUAL:
            method = _method(line)
            if method == "initialize" and isinstance(self._connection, ModernConnection):
                return self._handshake(line, now)
            if method == "server/discover" and not isinstance(self._connection, ModernConnection):
                return [*self._become(ModernConnection(self._options), now), *self._connection.from_core(line, now)]
        return self._connection.from_core(line, now)

    # -- a modern server, and a legacy client ------------------------------------------------------------------------------

    def _handshake(self, line: bytes, now: float) -> list[RemoteEffect]:
        if self.takes_handshakes is None:
            self._held.append(line)
            self._asking = self._connection.take_number()
            accept = (("accept", "text/event-stream"),)
            return [Send(self._asking, "GET", accept), SetTimer(_DUAL_TIMER, now + _ASKING)]
        if not self.takes_handshakes:
            return self._refuse_handshake(line)
        return [*self._become(LegacyConnection(self._options), now), *self._connection.from_core(line, now)]

    def _found(self, *, takes_handshakes: bool, now: float) -> list[RemoteEffect]:
        """The stream was answered, or not: what waits goes on."""
        self._asking, self.takes_handshakes = 0, takes_handshakes
        held, self._held = self._held, []
        effects: list[RemoteEffect] = [CancelTimer(_DUAL_TIMER)]
        for line in held:
            effects += self.from_core(line, now)
        return effects

    def _refuse_handshake(self, line: bytes) -> list[RemoteEffect]:
        message = frame.parse(line)
        assert isinstance(message, frame.Request)
        refusal = unknown_method(message.method)
        return [Heard(frame.failure(message.id, refusal.encode())[:-1], message.id)]

    def _become(self, connection: Connection, now: float) -> list[RemoteEffect]:
        """Another connection takes the place of this one."""
        effects = self._connection.close(now)
        connection.follow(self._connection)
        self._connection = connection
        return effects + connection.open(now)

    # -- from the shell ------------------------------------------------------------------------------------------------

    def head(self, exchange: int, status: int, fields: Fields, now: float) -> list[RemoteEffect]:
        """The answer to an exchange begins."""
        if exchange == self._asking:
            return [Abort(exchange), *self._found(takes_handshakes=400 <= status < 500 and status not in _NO_STREAM, now=now)]
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
        if exchange == self._asking:
            return self._found(takes_handshakes=False, now=now)
        return self._connection.failed(exchange, trouble, now)

    def on_timer(self, key: str, now: float) -> list[RemoteEffect]:
        """A timer is due."""
        if key == _DUAL_TIMER:
            return [Abort(self._asking), *self._found(takes_handshakes=False, now=now)] if self._asking else []
        return self._connection.on_timer(key, now)

    def close(self, now: float) -> list[RemoteEffect]:
        """The core is done with this connection."""
        asking, self._asking = self._asking, 0
        return [*([Abort(asking)] if asking else []), *self._connection.close(now)]

    def _fall_back(self, connection: LegacyConnection, now: float) -> list[RemoteEffect]:
        hello = connection.fallen_back
        assert hello is not None
        refusal = troubles.answered(hello.status, b"".join(hello.body), hello.fields, hello.what, self._options.redact)
        self._connection = TwoEndpoints(self._options, _said(connection.refusal) or refusal)
        self._connection.follow(connection)
        self.two_endpoints = True
        told = Log(INFO, f"the server answered initialize with {troubles.status_text(hello.status)}: HTTP+SSE of 2024-11-05 is tried")
        effects: list[RemoteEffect] = [told, *self._connection.open(now)]
        for line in (hello.line, *connection.waiting_lines()):
            effects += self._connection.from_core(line, now)
        return effects


def _method(line: bytes) -> str | None:
    """The method of a request that begins an era; None for all others, without reading them."""
    if b"initialize" not in line and b"server/discover" not in line:
        return None
    message = frame.parse(line)
    return message.method if isinstance(message, frame.Request) else None


def _said(refusal: frame.Failure | None) -> Refusal | None:
    """The server's own words."""
    error = frame.tree(refusal.error) if refusal is not None else None
    if not isinstance(error, dict) or type(error.get("code")) is not int:
        return None
    return Refusal(error["code"], str(error.get("message")), error.get("data"))

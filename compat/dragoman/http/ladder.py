"""What a POST is: the order of checks, each step a route or the answer that ends it (basic/transports/streamable-http#server-validation).

First match wins. A handshake: legacy, whatever else it carries. ``_meta`` names a revision: modern. A session id: that
session. A version header that names a modern or an unknown revision: modern, and then ``_meta`` is missing. Else a legacy client
that has no session.

On the modern side an incomplete envelope (-32602) comes before the comparison of headers (-32020), that before a revision that is
not served (-32022), and that before an unknown method (-32601, 404).
"""

from __future__ import annotations

from msgspec import Struct

from dragoman import errors, frame
from dragoman.bridge.envelope import Envelope, EnvelopeReader, Unmarked
from dragoman.bridge.relay import is_handshake
from dragoman.errors import Refusal
from dragoman.http.headers import compare
from dragoman.http.rejection import Rejection, rpc
from dragoman.http.request import Fields
from dragoman_specs.names import META_PROTOCOL_VERSION, UNSUPPORTED_PROTOCOL_VERSION
from dragoman_specs.version import Era, parse

_MARK = META_PROTOCOL_VERSION.encode()


class Modern(Struct, frozen=True):
    """A modern request, ready to be served."""

    request: frame.Request
    envelope: Envelope


class ModernNotification(Struct, frozen=True):
    """A notification outside any session."""

    note: frame.Notification


class Initialize(Struct, frozen=True):
    """A legacy client begins."""

    request: frame.Request


class InSession(Struct, frozen=True):
    """Anything of a legacy session, ``id`` as the client wrote it."""

    id: bytes
    message: frame.Frame | list[frame.Frame]


Route = Modern | ModernNotification | Initialize | InSession


class Ladder:
    """Judges what was posted to the MCP endpoint."""

    def __init__(self) -> None:
        self._reader = EnvelopeReader()

    def judge(self, message: frame.Frame | list[frame.Frame] | None, body: bytes, fields: Fields) -> Route | Rejection:
        """Where a message goes."""
        session = fields.get(b"mcp-session-id")
        if message is None:
            return rpc(400, None, errors.empty_body())
        if isinstance(message, frame.Request):
            return self._request(message, body, fields, session)
        if isinstance(message, frame.Malformed):
            return rpc(400, message.id, Refusal(message.code, message.message))
        if session is not None and not (isinstance(message, frame.Notification) and _MARK in body):
            return InSession(session, message)
        if isinstance(message, list):
            return rpc(400, None, errors.no_http_batches())
        if not isinstance(message, frame.Notification):
            return rpc(400, None, errors.no_session())
        if _MARK in body or _names_modern(fields):
            return ModernNotification(message)
        return rpc(400, None, errors.no_session())

    def _request(self, request: frame.Request, body: bytes, fields: Fields, session: bytes | None) -> Route | Rejection:
        if is_handshake(request):
            return Initialize(request)
        if _MARK in body:
            envelope = self._reader.read(request.params)
            if not isinstance(envelope, Unmarked):
                return self._modern(request, envelope, fields)
            # The mark stood in an argument, not in _meta.
        if session is not None:
            return InSession(session, request)
        if _names_modern(fields):
            unmarked = self._reader.read(request.params)
            return rpc(400, request.id, unmarked if isinstance(unmarked, Refusal) else errors.no_session())
        return rpc(400, request.id, errors.no_session())

    def _modern(self, request: frame.Request, envelope: Envelope | Refusal, fields: Fields) -> Route | Rejection:
        if isinstance(envelope, Refusal):
            if envelope.code != UNSUPPORTED_PROTOCOL_VERSION:
                return rpc(400, request.id, envelope)
            fault = compare(fields, request.method, frame.members(request.params) or {}, envelope.data["requested"])
            return rpc(400, request.id, envelope if fault is None else errors.header_mismatch(fault))
        fault = compare(fields, request.method, envelope.params, envelope.version)
        if fault is not None:
            return rpc(400, request.id, errors.header_mismatch(fault))
        unserved = errors.unserved_method(request.method)
        return Modern(request, envelope) if unserved is None else rpc(404, request.id, unserved)


def _names_modern(fields: Fields) -> bool:
    """Whether the version header names a modern revision, or one that nobody knows."""
    value = fields.get(b"mcp-protocol-version")
    if value is None:
        return False
    version = parse(value.decode("latin-1"))
    return version is None or version.era is Era.MODERN

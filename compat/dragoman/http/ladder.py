"""What a POST is: the order of checks, each step a route or the answer that ends it (basic/transports/streamable-http#server-validation).

First match wins. A handshake: legacy, whatever else it carries. ``_meta`` names a revision: modern. A session id: that
session. A version header that names a modern or an unknown revision: modern, and then ``_meta`` is missing. Else a legacy client
that has no session.

On the modern side an incomplete envelope (-32602) comes before the comparison of headers (-32020), that before a revision that is
not served (-32022), and that before an unknown method (-32601, 404).
"""

from __future__ import annotations

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging.envelope import SUPPORTED, Envelope, EnvelopeReader, Unmarked
from dragoman.bridging.relay import is_handshake
from dragoman.errors import Refusal
from dragoman.http.headers import compare
from dragoman.http.rejection import Rejection, rpc
from dragoman.http.request import Fields
from dragoman_specs.names import META_PROTOCOL_VERSION, UNSUPPORTED_PROTOCOL_VERSION
from dragoman_specs.version import LEGACY

_LEGACY = frozenset(str(version).encode() for version in LEGACY)
_NULL_IDS = (b"2024-11-05", b"2025-03-26", b"2025-06-18")
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
            return rpc(400, None, errors.empty_body(), null_id=knows_null(fields))
        if isinstance(message, frame.Request):
            return self._request(message, body, fields, session)
        if isinstance(message, frame.Malformed):
            return rpc(400, message.id, Refusal(message.code, message.message), null_id=knows_null(fields))
        if isinstance(message, frame.Notification):
            is_marked = _may_be_modern(body) and _is_marked(message.params)
            if is_marked or (session is None and _names_modern(fields)):
                said = (fields.get(b"mcp-protocol-version") or b"").decode("latin-1")
                is_served = not said or said in SUPPORTED
                return ModernNotification(message) if is_served else rpc(400, None, errors.unsupported_version(said))
        if session is not None:
            return InSession(session, message)
        refusal = errors.no_http_batches() if isinstance(message, list) else errors.no_session()
        # What must not be answered is refused without an id, in every revision (basic/transports#sending-messages-to-the-server).
        return rpc(400, None, refusal, null_id=isinstance(message, list) and knows_null(fields))

    def _request(self, request: frame.Request, body: bytes, fields: Fields, session: bytes | None) -> Route | Rejection:
        if is_handshake(request):
            return Initialize(request)
        names_modern = _names_modern(fields)
        if names_modern or _may_be_modern(body):
            envelope = self._reader.read(request.params)
            if not isinstance(envelope, Unmarked):
                return self._modern(request, envelope, fields)
            if session is None and names_modern:
                return rpc(400, request.id, envelope)
            # The mark stood in an argument, not in _meta.
        return InSession(session, request) if session is not None else rpc(400, request.id, errors.no_session())

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


def _may_be_modern(body: bytes) -> bool:
    """A look at the text that overlooks no mark: a solidus may be escaped, and in some languages always is."""
    return _MARK in body or (b"\\/" in body and _MARK in body.replace(b"\\/", b"/"))


def _is_marked(params: Raw | None) -> bool:
    """Whether ``_meta`` names a revision."""
    meta = frame.members((frame.members(params) or {}).get("_meta"))
    return META_PROTOCOL_VERSION in (meta or {})


def _names_modern(fields: Fields) -> bool:
    """Whether the version header names a modern revision, or one that nobody knows."""
    value = fields.get(b"mcp-protocol-version")
    return value is not None and value not in _LEGACY


def knows_null(fields: Fields) -> bool:
    """Whether the client names a revision in which the error for what could not be read has JSON-RPC's null id."""
    return fields.get(b"mcp-protocol-version") in _NULL_IDS

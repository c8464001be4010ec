"""The errors that the layer answers with: one function a kind, so that each says the same everywhere.

An error says whose fault it is (the request's, the server's, the bridge's limits), where, and what to do. Codes are those of
basic/index#error-codes of 2026-07-28; what a server or the way to it got wrong is -32603, because the client did nothing
wrong. They are values: expected answers, never exceptions.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from dragoman import frame
from dragoman_specs.methods import is_removed_core
from dragoman_specs.names import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from dragoman_specs.version import MODERN


class Refusal(Struct, frozen=True):
    """An error answer: JSON-RPC ``code``, ``message`` for a person, and ``data`` (None: no such member)."""

    code: int
    message: str
    data: Any = None

    def encode(self) -> bytes:
        """The error object as JSON text."""
        return frame.error(self.code, self.message, self.data)


# --- the request's fault ---


def invalid_params(what: str) -> Refusal:
    """A member of params is missing or wrong."""
    return Refusal(INVALID_PARAMS, f"Invalid params: {what}")


def unsupported_version(requested: str) -> Refusal:
    """The revision is not served; ``data`` names those that are (basic/versioning)."""
    supported = [str(version) for version in MODERN]
    return Refusal(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", {"supported": supported, "requested": requested})


def missing_capability(required: dict[str, Any], said: str = "", **own: Any) -> Refusal:
    """The request declares too little for what it asks (basic/index#meta).

    ``said`` and ``own`` are what the server itself answered: a question may have been another call's, so nothing of the
    answer may be lost.
    """
    names = ", ".join(sorted(required))
    message = f"This call needs a client capability that the request did not declare: {names}"
    if said:
        message = f"{message}; the server's own answer was: {said}"
    return Refusal(MISSING_CLIENT_CAPABILITY, message, {"requiredCapabilities": required, **own})


def unserved_method(method: str) -> Refusal | None:
    """Why a modern client's request goes no further; None: it may be somebody's.

    Core methods of the legacy revisions are not part of its revision. Those of the tasks extension share their names with the
    tasks of 2025-11-25 and mean something else, so a legacy server must not be shown them.
    """
    if is_removed_core(method):
        return Refusal(METHOD_NOT_FOUND, f"Method not found: {method} is not part of 2026-07-28")
    if method.startswith("tasks/"):
        return Refusal(METHOD_NOT_FOUND, f"Method not found: the tasks extension is not served, so there is no {method}")
    return None


def unknown_method(method: str) -> Refusal:
    """A method that nobody here knows."""
    return Refusal(METHOD_NOT_FOUND, f"Method not found: {method}")


def id_in_use() -> Refusal:
    """The id of a request that is still open."""
    return Refusal(INVALID_REQUEST, "Invalid request: another request with this id is in flight")


def no_batches() -> Refusal:
    """A JSON-RPC batch where no revision spoken has any."""
    return Refusal(INVALID_REQUEST, "Invalid request: batches exist only in 2025-03-26, send each message on a line of its own")


def client_line_too_long(size: int) -> Refusal:
    """A line of the client's over the limit."""
    return Refusal(INVALID_REQUEST, f"Invalid request: the line has {size} bytes, more than --max-line allows")


def not_initialized() -> Refusal:
    """A legacy client's request before its handshake (2025-11-25, basic/lifecycle#initialization)."""
    return Refusal(INVALID_REQUEST, "Invalid request: initialize comes first")


def not_followed(uri: str) -> Refusal:
    """The server's stream does not carry a resource."""
    return invalid_params(f"the server announces no changes of {uri[:500]}")


def cursor_expired() -> Refusal:
    """A cursor of a session that is gone, or of nobody."""
    return invalid_params("cursor expired, list again from the start")


def lost_state(reason: str, why: str) -> Refusal:
    """``requestState`` leads nowhere; ``data.reason`` is one of the words of docs/questions.md."""
    return Refusal(INVALID_PARAMS, f"Invalid params: {why}", {"reason": reason})


def header_mismatch(what: str) -> Refusal:
    """A header is missing, malformed, or says something else than the body (basic/transports/streamable-http#server-validation)."""
    return Refusal(HEADER_MISMATCH, f"Header mismatch: {what}")


def empty_body() -> Refusal:
    """A POST without a message."""
    return Refusal(PARSE_ERROR, "Parse error: the body is empty")


def no_session() -> Refusal:
    """A legacy message outside any session (2025-11-25, basic/transports#session-management)."""
    return Refusal(
        INVALID_REQUEST,
        "Invalid request: there is no Mcp-Session-Id header. Send initialize first, or a request of 2026-07-28 with its _meta and headers",
    )


def no_http_batches() -> Refusal:
    """A JSON-RPC batch outside a session of the one revision that has them."""
    return Refusal(INVALID_REQUEST, "Invalid request: batches exist only in sessions of 2025-03-26, post each message by itself")


def empty_batch() -> Refusal:
    """A JSON-RPC batch of nothing."""
    return Refusal(INVALID_REQUEST, "Invalid request: the batch is empty")


def big_batch(most: int) -> Refusal:
    """A JSON-RPC batch of more entries than anybody needs."""
    return Refusal(INVALID_REQUEST, f"Invalid request: a batch may have {most} entries at most")


def initialize_in_batch() -> Refusal:
    """The handshake must come alone (2025-03-26, basic/lifecycle#initialization)."""
    return Refusal(INVALID_REQUEST, "Invalid request: initialize must not be part of a batch")


def unknown_session() -> Refusal:
    """A session id that leads nowhere, or belongs to somebody else; the two are not told apart."""
    return Refusal(INVALID_REQUEST, "Session not found: it has ended, or never was. Send initialize to begin another")


def wrong_version_header(said: str, agreed: str) -> Refusal:
    """The version header names another revision than the session's (2025-11-25, basic/transports#protocol-version-header)."""
    return Refusal(INVALID_REQUEST, f"Bad request: MCP-Protocol-Version is {said[:100]!r}, but this session speaks {agreed}")


def unauthorized(why: str) -> Refusal:
    """Whose request it is cannot be told."""
    return Refusal(INVALID_REQUEST, f"Unauthorized: {why}")


def bad_http(what: str) -> Refusal:
    """The HTTP request is not one that this endpoint takes."""
    return Refusal(INVALID_REQUEST, f"Bad request: {what}")


# --- the server's fault, or the bridge's limits ---

_CONNECTION = "the connection"


def busy(limit: int) -> Refusal:
    """Every server process is in use (HTTP 503)."""
    return server_fault(f"All {limit} server processes are in use (--max-sessions): try again later")


def going_down() -> Refusal:
    """A request that came after the end had begun (HTTP 503)."""
    return server_fault("The bridge is shutting down")


def server_fault(message: str, data: Any = None) -> Refusal:
    """What the server did, in words."""
    return Refusal(INTERNAL_ERROR, message, data)


def challenge_in(error: Raw) -> dict[str, Any] | None:
    """``data`` of an error that tells with what status and challenge a server behind a URL refused the caller; None: it does not."""
    text = bytes(error)
    found = frame.tree(text) if b"wwwAuthenticate" in text else None
    data = found.get("data") if isinstance(found, dict) else None
    return data if isinstance(data, dict) and data.get("status") in (401, 403) else None


def own_fault(what: str) -> Refusal:
    """A fault of the bridge's own."""
    return Refusal(INTERNAL_ERROR, f"dragoman failed on this message, which is its own fault: {what}")


def server_ended(reason: str) -> Refusal:
    """The process is gone; ``reason`` has its exit status and last words, or why it could not be started."""
    if reason.startswith("could not be started"):
        return server_fault(f"The server {reason} (check the command after --, and the PATH of the program that starts dragoman)")
    if reason.startswith(_CONNECTION):
        return server_fault(reason[0].upper() + reason[1:])
    return server_fault(f"The server's process has ended before it answered: {reason}")


def ending(reason: str) -> str:
    """What became of a server, for the operator: ``reason`` speaks of a process, or of a connection."""
    return reason if reason.startswith(_CONNECTION) else f"the server's process has ended: {reason}"


def server_slow(method: str, seconds: float) -> Refusal:
    """No answer within ``--request-timeout``."""
    return server_fault(f"The server did not answer {method} within {seconds:g} seconds (--request-timeout)")


def server_never_started(seconds: float) -> Refusal:
    """No answer to the handshake within ``--start-timeout``."""
    return server_fault(f"The server did not answer initialize within {seconds:g} seconds (--start-timeout)")


def shutting_down(seconds: float) -> Refusal:
    """The client has closed its side and the drain time is over."""
    return server_fault(f"The bridge is shutting down and the server did not answer within {seconds:g} seconds (--drain-timeout)")


def unreadable_answer(fault: str) -> Refusal:
    """The server's line is no frame."""
    return server_fault(f"The server's answer could not be read: {fault}")


def answer_too_long(size: int) -> Refusal:
    """A line of the server's over the limit."""
    return server_fault(f"The server's answer has {size} bytes, more than --max-line allows")


def invalid_result(fault: str) -> Refusal:
    """The result has no valid shape and none could be made of it."""
    return server_fault(f"The server's result is not valid: {fault}")


def too_many_sessions(limit: int) -> Refusal:
    """``--isolate-capabilities`` with all of its processes busy."""
    return server_fault(f"All {limit} sessions are in use (--max-sessions): try again later")

"""What is told of a server behind a URL that cannot be used just now: whose fault it is, where, and what to do.

A status that is not one of MCP's own says something of the way to the server: a proxy, a login, a wrong path. ``data`` keeps it,
and the challenge of RFC 9110 (section 11.6.1), for whoever can act on it; nothing of the request's own credentials is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dragoman.errors import Refusal, server_fault
from dragoman.remote.effects import NO_CREDENTIALS, Trouble
from dragoman_specs.names import INTERNAL_ERROR

REFUSED = (401, 403)
_SCHEMES = ("bearer", "basic")
_PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
_SHOWN = 300


def status_text(status: int) -> str:
    """A status in words."""
    phrase = _PHRASES.get(status)
    return f"status {status}" + (f" ({phrase})" if phrase else "")


def answered(status: int, body: bytes, fields: dict[str, str], what: str, redact: Callable[[str], str] = str) -> Refusal:
    """The server (or something on the way) answered with a status and no message."""
    if status in REFUSED:
        return refused(status, fields)
    data: dict[str, Any] = {"status": status}
    if "retry-after" in fields:
        data["retryAfter"] = fields["retry-after"][:100]
    said = redact(excerpt(body, fields.get("content-type", "")))
    hint = " (is the path of the URL right?)" if status in (404, 405) else ""
    return Refusal(INTERNAL_ERROR, f"The server answered {what} with {status_text(status)}{hint}" + (f": {said}" if said else ""), data)


def refused(status: int, fields: dict[str, str], *, given: bool = False) -> Refusal:
    """401 or 403: credentials are missing, or not good enough; ``given``: some were sent."""
    challenge = fields.get("www-authenticate")
    data: dict[str, Any] = {"status": status}
    if challenge:
        data["wwwAuthenticate"] = challenge[:2000]
    words = {word.strip(",").lower() for word in (challenge or "Bearer").split()}
    if words.isdisjoint(_SCHEMES):
        todo = f"dragoman does not know {(challenge or '').split()[0][:20]}; --header Authorization=… sends what you have"
    elif status == 401 and given:
        todo = "the credentials given are not accepted"
    elif status == 401:
        todo = "give credentials with dragoman login URL, --bearer-env VARIABLE or --header NAME=VALUE"
    else:
        todo = "the credentials given are not enough for it"
    asks = f", which asks for {challenge[:_SHOWN]}" if challenge else ""
    return Refusal(INTERNAL_ERROR, f"The server refused the request with {status_text(status)}{asks}: {todo}", data)


def no_message(status: int, body: bytes, fields: dict[str, str], what: str, redact: Callable[[str], str] = str) -> Refusal:
    """A good status, and a body that is no message."""
    kind = fields.get("content-type", "no content type")[:100]
    said = redact(excerpt(body, kind))
    has = f"a body that is no JSON-RPC message ({kind})" if body else "no message"
    text = f"The server answered {what} with {status_text(status)} and {has}"
    return Refusal(INTERNAL_ERROR, text + (f": {said}" if said else ""), {"status": status})


def unreachable(trouble: Trouble | str) -> Refusal:
    """No connection, or no answer; or no credentials for a server that wants some."""
    if isinstance(trouble, str):
        return server_fault(f"The server cannot be reached: {trouble}")
    if not trouble.status and trouble.kind == NO_CREDENTIALS:
        return server_fault(f"There are no credentials for the server: {trouble.text}")
    if not trouble.status:
        return server_fault(f"The server cannot be reached: {trouble.text}")
    told = refused(trouble.status, {"www-authenticate": trouble.challenge} if trouble.challenge else {})
    return Refusal(told.code, f"{told.message}; {trouble.text}", told.data)


def broken_off(what: str, text: str) -> Refusal:
    """The answer did not come to its end."""
    return server_fault(
        f"The connection to the server ended before it had answered {what} ({text}): whether it was carried out is not known"
    )


def session_gone(why: str) -> str:
    """The server has forgotten a session and does not begin another."""
    return f"The connection to the server is lost, and another session could not be begun: {why}"


def excerpt(body: bytes, kind: str) -> str:
    """The beginning of a text that a person may want to see; pages of HTML are told by their size."""
    if not body:
        return ""
    if "html" in kind or body[:100].lstrip()[:1] == b"<":
        return f"a page of {len(body)} bytes"
    text = body[: 4 * _SHOWN].decode("utf-8", "replace")
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"

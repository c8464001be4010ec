"""The authorization response, which comes back through the user's browser (basic/authorization#authorization-response-validation).

It counts only with the ``state`` that was sent; whatever lacks it is not an answer to us, and the wait goes on. Then ``iss`` is
compared, as it is written, with the issuer that was recorded before the browser was sent away; only after that is anything
else of the response looked at, the error included.
"""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

_SHOWN = 200


class Expected(Struct, frozen=True):
    """What was recorded when the browser was sent away."""

    path: str
    state: str
    issuer: str
    """Empty where the authorization server has no metadata, and so no issuer to compare."""
    announces_issuer: bool


class Code(Struct, frozen=True):
    """The login succeeded."""

    code: str


class Denied(Struct, frozen=True):
    """It did not; ``why`` may be shown."""

    why: str


class Stray(Struct, frozen=True):
    """No answer to us."""


def judge(target: str, expected: Expected) -> Code | Denied | Stray:
    """Of an address, whole or without its origin."""
    try:
        parts = urlsplit(target)
        pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return Stray()
    values = dict(pairs)
    if parts.path != expected.path or not _same(values.get("state", ""), expected.state):
        return Stray()
    if len(values) < len(pairs):
        return Denied("the authorization server's answer has a parameter twice")
    fault = _of_issuer(values.get("iss"), expected)
    if fault is not None:
        return Denied(fault)
    if "error" in values:
        described = values.get("error_description", "")
        return Denied(f"the authorization server said: {shown(values['error'])}{': ' + shown(described) if described else ''}")
    return Code(values["code"]) if values.get("code") else Denied("the authorization server's answer has neither a code nor an error")


def _of_issuer(issuer: str | None, expected: Expected) -> str | None:
    if issuer is None:
        return "the answer does not name its authorization server, though it is announced" if expected.announces_issuer else None
    if issuer != expected.issuer:
        return f"the answer comes from another authorization server than {expected.issuer or 'the one that was asked'}"
    return None


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def shown(words: str) -> str:
    """Another party's words on one line of ours."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in words[:_SHOWN]).split())

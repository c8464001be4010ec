"""sep2243_headers: the fields that repeat parts of a request (2026-07-28, basic/transports/streamable-http#server-validation).

Programs on the way route by the fields and the server acts by the body, so the two must say the same, or somebody is being
misled: -32020 with status 400. A value that a field can't carry as it is goes as base64 of its UTF-8 between ``=?base64?``
and ``?=`` (#value-encoding). Only what an encoder writes is accepted there: with two spellings of one value, a filter
on the way could miss one.
"""

from __future__ import annotations

import binascii
import re

from msgspec import Raw, Struct

from dragoman import frame
from dragoman.http.request import Fields
from dragoman_specs.methods import ROWS
from dragoman_specs.names import HEADER_METHOD, HEADER_NAME, HEADER_PROTOCOL_VERSION
from dragoman_specs.version import LATEST_MODERN

NAME_MEMBERS: dict[str, str] = {
    row.name: row.name_member for row in ROWS if row.sender == "client" and row.name_member and row.exists_in(LATEST_MODERN)
}
"""The member of params that ``Mcp-Name`` repeats, by method."""

_OPENING, _CLOSING = "=?base64?", "?="
_OPENING_BYTES, _CLOSING_BYTES = _OPENING.encode(), _CLOSING.encode()
_AS_IT_IS = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_ALLOWED = re.compile(rb"[\t -~]*")
_SHOWN = 80


class Unreadable(Struct, frozen=True, gc=False):
    """No value of a field; ``why`` says what is wrong with it."""

    why: str


def encode_value(text: str) -> str:
    """The field value that carries ``text``: as it is, or between the marks where it needs them.

    An empty text is an empty value. A tab within would be allowed by HTTP, but counts as a control character here.
    """
    is_marked = text.startswith(_OPENING) and text.endswith(_CLOSING)
    if not is_marked and _AS_IT_IS.fullmatch(text):
        return text
    return _OPENING + binascii.b2a_base64(text.encode(), newline=False).decode() + _CLOSING


def decode_value(value: bytes) -> str | Unreadable:
    """The text that a field value (without the space around it) carries."""
    if _ALLOWED.fullmatch(value) is None:
        return Unreadable("contains invalid characters")
    if not (value.startswith(_OPENING_BYTES) and value.endswith(_CLOSING_BYTES)):
        return value.decode()
    # "=?base64?=" has both marks with a character in common, so a client must encode it; as it stands it holds no base64.
    payload = value[len(_OPENING_BYTES) : -len(_CLOSING_BYTES)] if len(value) >= len(_OPENING) + len(_CLOSING) else b"?"
    try:
        decoded = binascii.a2b_base64(payload)
        text = decoded.decode()
    except binascii.Error:
        return Unreadable("is not valid base64")
    except UnicodeDecodeError:
        return Unreadable("is not UTF-8 in base64")
    # Python passes over what is not of the alphabet, and over bits after the last character.
    if binascii.b2a_base64(decoded, newline=False) != payload:
        return Unreadable("is not valid base64")
    return text


def compare(fields: Fields, request_method: str, members: dict[str, Raw], version_text: str) -> str | None:
    """What is wrong with the standard fields of a request, naming the field; None: nothing.

    ``members`` are those of params, ``version_text`` is the revision that ``_meta`` names. Fields that stand twice have been
    refused before (``request.duplicate``).
    """
    fault = _literal(HEADER_PROTOCOL_VERSION, fields.get(b"mcp-protocol-version"), version_text)
    if fault is None:
        fault = _literal(HEADER_METHOD, fields.get(b"mcp-method"), request_method)
    if fault is None and request_method in NAME_MEMBERS:
        member = NAME_MEMBERS[request_method]
        fault = _name(fields.get(b"mcp-name"), member, members.get(member))
    return fault


_PLAIN = {text.encode(): text for text in (*(row.name for row in ROWS), str(LATEST_MODERN))}


def _literal(name: str, value: bytes | None, wanted: str) -> str | None:
    """A field that has no base64 form: what it can't carry can't be equal."""
    if value is None:
        return missing(name)
    if _PLAIN.get(value) == wanted or _is_plainly(value, wanted):
        return None
    if _ALLOWED.fullmatch(value) is None:
        return f"{name} header value {shown(value)} contains invalid characters"
    return None if value == wanted.encode() else f"{name} header value {shown(value)} does not match the body"


def _is_plainly(value: bytes | None, text: str) -> bool:
    """Whether a value carries ``text`` as it is, without a question: the way of nearly every request."""
    return value == text.encode() and text.isascii() and text.isprintable() and not text.startswith(_OPENING)


def _name(value: bytes | None, member: str, raw: Raw | None) -> str | None:
    text = frame.text(raw)
    if text is not None and _is_plainly(value, text):
        return None
    if value is None:
        # A body that names nothing has nothing to repeat; what is wrong with it is told to the client as such.
        return None if text is None else missing(HEADER_NAME)
    decoded = decode_value(value)
    if isinstance(decoded, Unreadable):
        return f"{HEADER_NAME} header value {shown(value)} {decoded.why}"
    return None if decoded == text else f"{HEADER_NAME} header value {shown(value)} does not match params.{member}"


def missing(name: str) -> str:
    """The words for a field that is not there."""
    return f"{name} header is missing"


def shown(value: bytes) -> str:
    """A field value as an error text can show it: quoted, cut and in plain ASCII. It is the caller's own, never the body's."""
    text = repr(value[:_SHOWN])[1:]
    return text if len(value) <= _SHOWN else f"{text[:-1]}…{text[-1]}"

"""JSON-RPC frames with raw payloads (basic/index#messages of every revision).

A line is decoded once, into its envelope; ``params``, ``result`` and ``error`` stay as the peer wrote them, so numbers,
key order and unknown members survive and a big payload costs little more than its copy. Ids are kept as JSON text too:
``1``, ``"1"`` and ``9007199254740993`` are three different ids and go back exactly as they came.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dragoman_specs.names import INVALID_REQUEST, PARSE_ERROR

_NOTHING = Raw(b"")
_NULL = Raw(b"null")
_TWO = Raw(b'"2.0"')
_BOM = b"\xef\xbb\xbf"
_BRACE = ord("{")


class Request(Struct, frozen=True, gc=False):
    """A request; ``id`` is its JSON text, ``params`` is None when the member is absent."""

    id: bytes
    method: str
    params: Raw | None


class Notification(Struct, frozen=True, gc=False):
    """A message without an id."""

    method: str
    params: Raw | None


class Result(Struct, frozen=True, gc=False):
    """A response that succeeded; ``result`` may hold any JSON value."""

    id: bytes
    result: Raw


class Failure(Struct, frozen=True, gc=False):
    """A response that failed; ``id`` is None when the sender left it out or wrote null."""

    id: bytes | None
    error: Raw


class Malformed(Struct, frozen=True, gc=False):
    """No frame. ``code`` and ``message`` are what JSON-RPC answers; ``id`` is its owner's, where it could be read.

    ``is_json`` tells a readable JSON value of the wrong shape from bytes that are no JSON at all.
    """

    code: int
    message: str
    id: bytes | None = None
    is_json: bool = True


Frame = Request | Notification | Result | Failure | Malformed


class _Plain(Struct, gc=False):
    jsonrpc: Raw = _NOTHING
    id: Raw = _NOTHING
    method: str | UnsetType = UNSET
    params: Raw = _NOTHING
    result: Raw = _NOTHING
    error: Raw = _NOTHING


class _Wire(Struct, gc=False):
    jsonrpc: Raw = _NOTHING
    id: Raw = _NOTHING
    method: Raw = _NOTHING
    params: Raw = _NOTHING
    result: Raw = _NOTHING
    error: Raw = _NOTHING


_decode_plain = msgspec.json.Decoder(_Plain).decode
_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_array = msgspec.json.Decoder(list[Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_text = msgspec.json.Decoder(str).decode
encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
_SHALLOW = 800
"""A line of so many bytes can't be nested deeply enough to matter."""
_HEADROOM = 60
_PIECE = 64 * 1024
_NOTHING_MADE: tuple[bytes | None, Frame | None] = (None, None)
_made = [_NOTHING_MADE]
_METHODS: dict[bytes, str] = {}
_TEXTS: dict[str, bytes] = {}
_KEPT, _KEPT_LENGTH = 512, 128


def parse(line: bytes, *, lenient: bool = False) -> Frame | list[Frame] | None:
    """Read one line. None for a blank one, a list for a JSON-RPC batch, ``Malformed`` for what is no frame.

    ``lenient`` forgives a missing or wrong ``jsonrpc`` member (servers in the field leave it out).
    """
    made = _made[0]
    if line is made[0]:
        _made[0] = _NOTHING_MADE
        return made[1]
    if len(line) <= _SHALLOW and line.isascii() and (plain := _plain(line, lenient)) is not None:
        return plain
    if line.startswith(_BOM):
        line = line[3:]
    if not line or line.isspace():
        return None
    if not line.isascii():
        try:
            if len(line) < _PIECE:
                line.decode()
            else:
                _decode_in_pieces(line, _PIECE)
        except UnicodeDecodeError as fault:
            return Malformed(PARSE_ERROR, f"Parse error: not UTF-8 (byte {fault.start})", is_json=False)
    if line[0] != _BRACE and line.lstrip()[:1] == b"[":
        return _parse_batch(line, lenient)
    return _parse_one(line, lenient)


def _plain(line: bytes, lenient: bool) -> Request | Result | None:
    """The way of nearly all: short requests and results whose id is a number. None for anything else."""
    try:
        wire = _decode_plain(line)
    except (msgspec.MsgspecError, RecursionError):
        return None
    frame_id = bytes(wire.id)
    if not frame_id.isdigit() or not (lenient or wire.jsonrpc == _TWO) or wire.error is not _NOTHING:
        return None
    if wire.method is not UNSET:
        params = wire.params
        return Request(frame_id, wire.method, None if params is _NOTHING or params == _NULL else params)
    return None if wire.result is _NOTHING else Result(frame_id, wire.result)


def _decode_in_pieces(line: bytes, piece: int) -> None:
    """``line.decode()`` for its verdict alone: the text of a whole big line takes up to four times its memory, and thrice the time.

    ``piece`` is at least 4 bytes, the longest sequence: so each piece has a whole sequence, or a fault, at its start.
    """
    view = memoryview(line)
    done = 0
    while done < len(view):
        end = done + piece
        try:
            done += utf_8_decode(view[done:end], "strict", end >= len(view))[1]
        except UnicodeDecodeError as fault:
            fault.start += done
            raise


def _parse_batch(line: bytes, lenient: bool) -> Frame | list[Frame]:
    try:
        items = _decode_array(line)
    except RecursionError:
        return Malformed(PARSE_ERROR, "Parse error: nested too deeply", is_json=False)
    except msgspec.MsgspecError as fault:
        return Malformed(PARSE_ERROR, f"Parse error: {fault}", is_json=False)
    return [_parse_one(bytes(item), lenient) for item in items]


def _parse_one(line: bytes, lenient: bool) -> Frame:
    try:
        wire = _decode_wire(line) if len(line) <= _SHALLOW else _with_headroom(_decode_wire, line, _HEADROOM)
    except RecursionError:
        return Malformed(PARSE_ERROR, "Parse error: nested too deeply", is_json=False)
    except msgspec.ValidationError:
        return Malformed(INVALID_REQUEST, "Invalid request: a message must be a JSON object")
    except msgspec.MsgspecError as fault:
        return Malformed(PARSE_ERROR, f"Parse error: {fault}", is_json=False)
    return _classify(wire, lenient)


def _with_headroom(decode: Callable[[bytes], _Wire], line: bytes, frames: int) -> _Wire:
    """Decode as if the stack were deeper: what is accepted here must be readable wherever it is looked at later."""
    return _with_headroom(decode, line, frames - 1) if frames else decode(line)


def _classify(wire: _Wire, lenient: bool) -> Frame:
    frame_id = bytes(wire.id)
    has_id = bool(frame_id)
    if has_id and not valid_id(frame_id):
        if frame_id == b"null" and _has(wire.error) and not _has(wire.method):
            return Failure(None, wire.error)
        return Malformed(INVALID_REQUEST, "Invalid request: the id must be a string or an integer")
    if not lenient and bytes(wire.jsonrpc) != b'"2.0"':
        return Malformed(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"', frame_id or None)
    if _has(wire.method):
        method = method_name(bytes(wire.method))
        if method is None:
            return Malformed(INVALID_REQUEST, "Invalid request: method must be a string", frame_id or None)
        params = wire.params if _has(wire.params) and wire.params != _NULL else None
        return Request(frame_id, method, params) if has_id else Notification(method, params)
    if _has(wire.error) and bytes(wire.error) != b"null":
        return Failure(frame_id or None, wire.error)
    if has_id and _has(wire.result):
        return Result(frame_id, wire.result)
    return Malformed(INVALID_REQUEST, "Invalid request: neither method, result nor error", frame_id or None)


def _has(member: Raw) -> bool:
    return member is not _NOTHING


def method_name(raw: bytes) -> str | None:
    """The method's name from its JSON text; None if it is no string."""
    name = _METHODS.get(raw)
    if name is None and raw[:1] == b'"':
        name = _decode_text(raw)
        if len(_METHODS) < _KEPT and len(raw) <= _KEPT_LENGTH:
            _METHODS[raw] = name
    return name


def _method_text(name: str) -> bytes:
    """A method's name as JSON text."""
    text = _TEXTS.get(name)
    if text is None:
        text = encode(name)
        if len(_TEXTS) < _KEPT and len(name) <= _KEPT_LENGTH:
            _TEXTS[name] = text
    return text


def valid_id(raw: bytes) -> bool:
    """An id is a string or an integer (JSON-RPC discourages fractions, MCP forbids them)."""
    return raw[:1] == b'"' or raw.isdigit() or (raw[:1] == b"-" and raw[1:].isdigit())


def id_key(raw: bytes) -> bytes:
    """The form under which equal ids are equal: escapes in a string id are resolved."""
    return encode(_decode_text(raw)) if raw[:1] == b'"' and b"\\" in raw else raw


def members(raw: Raw | None) -> dict[str, Raw] | None:
    """The members of an object one level deep, values raw; {} when absent; None if it is no object."""
    if raw is None:
        return {}
    try:
        return _decode_members(raw)
    except msgspec.MsgspecError:
        return None


_lossless = msgspec.json.Decoder(float_hook=lambda text: Raw(text.encode())).decode


def tree(raw: Raw | bytes) -> Any:
    """The whole value with every number exact (fractions stay raw text); None for an integer of thousands of digits."""
    try:
        return _lossless(raw)
    except msgspec.ValidationError:
        return None


def text(raw: Raw | None) -> str | None:
    """The value of a JSON string; None for anything else."""
    if raw is None:
        return None
    try:
        return _decode_text(raw)
    except msgspec.MsgspecError:
        return None


def request(frame_id: bytes, method: str, params: bytes) -> bytes:
    """A request line."""
    return b"".join((b'{"jsonrpc":"2.0","id":', frame_id, b',"method":', _method_text(method), b',"params":', params, b"}\n"))


def notification(method: str, params: bytes | None = None) -> bytes:
    """A notification line."""
    if params is None:
        return b"".join((b'{"jsonrpc":"2.0","method":', encode(method), b"}\n"))
    return b"".join((b'{"jsonrpc":"2.0","method":', encode(method), b',"params":', params, b"}\n"))


def result(frame_id: bytes, *value: bytes | memoryview) -> bytes:
    """A response line that succeeded; the value may come in parts, which are copied once."""
    return b"".join((b'{"jsonrpc":"2.0","id":', frame_id, b',"result":', *value, b"}\n"))


def own_result(frame_id: bytes, value: bytes) -> bytes:
    """A response line of this process's own, without its newline: ``parse`` of this very object need not read it until ``forget_own``."""
    line = b"".join((b'{"jsonrpc":"2.0","id":', frame_id, b',"result":', value, b"}"))
    _made[0] = line, Result(frame_id, Raw(value))
    return line


def forget_own() -> None:
    """Whoever was to read a line of ``own_result`` has read it."""
    _made[0] = _NOTHING_MADE


def failure(frame_id: bytes | None, error: bytes) -> bytes:
    """A response line that failed; without an id the member is left out (2025-11-25 and later)."""
    if frame_id is None:
        return b"".join((b'{"jsonrpc":"2.0","error":', error, b"}\n"))
    return b"".join((b'{"jsonrpc":"2.0","id":', frame_id, b',"error":', error, b"}\n"))


def error(code: int, message: str, data: Any = None) -> bytes:
    """An error object; ``data`` is left out when None."""
    return encode({"code": code, "message": message} if data is None else {"code": code, "message": message, "data": data})

"""sep2243_headers: arguments of a tool that ``Mcp-Param-*`` fields repeat (2026-07-28, basic/transports/streamable-http#schema-extension).

A tool's ``inputSchema`` may say ``x-mcp-header`` on a property that is reached through ``properties`` alone. A tool with an
annotation anywhere else, or one that is not allowed, is a tool that conforming clients do not show; here it counts as having
none, because its clients know of none. Numbers are compared as numbers and exactly, so never as floats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from dragoman import frame
from dragoman.http.headers import Unreadable, decode_value, encode_value, missing, shown
from dragoman.http.request import Fields
from dragoman_specs.names import HEADER_PARAM_PREFIX

KEY = "x-mcp-header"
Path = tuple[str, ...]
Annotations = dict[str, Path]
"""Where the value of each annotation, by its name as written, lies in the arguments."""

_TYPES = ("string", "integer", "boolean")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Keywords (of 2020-12 and draft-07) that hold schemas. Others hold data, where the word means nothing.
_ONE_SCHEMA = frozenset(
    (
        *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items"),
        *("not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    )
)
_SCHEMA_LISTS = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
_SCHEMA_MAPS = frozenset(("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"))
# The exponent is cut short: no value that means anything needs more digits, and int() refuses thousands of them.
_NUMBER = re.compile(rb"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,18}))?")
_DIGITS = 400
"""More than any double has."""

Position = tuple[Path | None, dict[str, Any]]


def annotations_of(input_schema: Raw | bytes) -> Annotations | str:
    """The annotations of a tool's ``inputSchema``; a text says why they are invalid."""
    text = bytes(input_schema)
    if KEY.encode() not in text and b"\\u" not in text:
        return {}
    found: Annotations = {}
    taken: set[str] = set()
    for path, schema in _positions(frame.tree(text)):
        if KEY not in schema:
            continue
        name = schema[KEY]
        if not path:
            return f"{KEY} stands where no chain of properties leads"
        if fault := _fault(name, schema.get("type")):
            return f"{KEY} of {'.'.join(path)} {fault}"
        if name.lower() in taken:
            return f"{KEY} {name} stands twice"
        taken.add(name.lower())
        found[name] = path
    return found


def _fault(name: object, kind: object) -> str | None:
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        return "must be a token of HTTP (letters, digits and some signs)"
    return None if isinstance(kind, str) and kind in _TYPES else "may stand only on a string, an integer or a boolean"


def _positions(root: Any) -> Iterator[Position]:
    """Every schema within a schema, with the names of the properties that lead there; None where other keywords do.

    References are not followed: what they lead to stands somewhere in the document itself.
    """
    waiting: list[tuple[Path | None, Any]] = [((), root)]
    while waiting:
        path, schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield path, schema
        for keyword, value in schema.items():
            if keyword == "properties" and isinstance(value, dict):
                waiting.extend((None if path is None else (*path, name), item) for name, item in value.items())
            elif keyword in _SCHEMA_LISTS and isinstance(value, list):
                waiting.extend((None, item) for item in value)
            elif keyword in _SCHEMA_MAPS and isinstance(value, dict):
                waiting.extend((None, item) for item in value.values())
            elif keyword in _ONE_SCHEMA:
                waiting.append((None, value))


def compare_params(wanted: Annotations, arguments: Raw | None, fields: Fields) -> str | None:
    """What is wrong with the ``Mcp-Param-*`` fields of a call, naming the field; None: nothing.

    A field that no annotation asks for is ignored.
    """
    if not wanted:
        return None
    if arguments is not None and _repeats(arguments):
        return "params.arguments has a member twice, which servers read differently"
    members = frame.members(arguments) or {}
    for name, path in wanted.items():
        fault = _compare(HEADER_PARAM_PREFIX + name, fields.get(b"mcp-param-" + name.lower().encode()), _at(members, path))
        if fault is not None:
            return fault
    return None


def _repeats(arguments: Raw) -> bool:
    """Whether any object has two members of one name: what is compared here need not be what the server takes."""
    import json  # for the few tools that mirror arguments

    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len({name for name, _ in pairs}) < len(pairs)

    try:
        json.loads(bytes(arguments), object_pairs_hook=look, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return True  # what cannot be read to its end cannot be compared
    return found


def _at(members: dict[str, Raw], path: Path) -> Raw | None:
    """The value at exactly that path; None where there is none, or null, which counts as none."""
    for name in path[:-1]:
        members = frame.members(members.get(name)) or {}
    raw = members.get(path[-1])
    return None if raw is None or bytes(raw) == b"null" else raw


def params_of(wanted: Annotations, arguments: Raw | None) -> list[tuple[str, str]]:
    """The ``Mcp-Param-*`` fields for a call, as ``compare_params`` wants them.

    What the tool does not allow (another type, an integer beyond 2^53-1) is sent all the same: the server rejects a call
    without the field (#server-behavior-for-custom-headers), and whether the value will do is its own to say.
    """
    members = frame.members(arguments) or {}
    fields = []
    for name, path in wanted.items():
        raw = _at(members, path)
        # Objects and arrays have no form in a field.
        if raw is not None and bytes(raw)[:1] not in (b"{", b"["):
            text = frame.text(raw)
            fields.append((HEADER_PARAM_PREFIX + name, encode_value(_plain(bytes(raw)) if text is None else text)))
    return fields


def _plain(raw: bytes) -> str:
    """A number or a boolean. An integer is written out, whatever the body's spelling: ``4.2e1`` is 42.

    A fraction is no integer, and goes as it is, as does a number so big that its digits would fill a header.
    """
    number = _number(raw)
    if number is None:
        return raw.decode()
    is_negative, digits, power = number
    if power < 0 or len(digits) + power > _DIGITS:
        return raw.decode()
    return "-" * is_negative + (digits.decode() or "0") + "0" * power


def _compare(header: str, value: bytes | None, raw: Raw | None) -> str | None:
    if value is None:
        # Objects and arrays have no form in a field, so none can be missing: the tool's own check refuses them.
        return None if raw is None or bytes(raw)[:1] in (b"{", b"[") else missing(header)
    decoded = decode_value(value)
    if isinstance(decoded, Unreadable):
        return f"{header} header value {shown(value)} {decoded.why}"
    if raw is None:
        # "Must not expect" forgives an absent field. One that is there tells others a value on which the server does not act:
        # that is a mismatch like any other.
        return f"{header} header value {shown(value)} has no counterpart in the arguments"
    return None if _is_equal(decoded, bytes(raw)) else f"{header} header value {shown(value)} does not match the arguments"


def _is_equal(text: str, raw: bytes) -> bool:
    if raw[:1] == b'"':
        return frame.text(Raw(raw)) == text
    if raw in (b"true", b"false"):
        return text == raw.decode()
    number = _number(raw)
    return number is not None and number == _number(text.encode())


def _number(text: bytes) -> tuple[bool, bytes, int] | None:
    """A JSON number as sign, digits without outer zeros and power of ten: equal exactly when the numbers are."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    fraction = found[3] or b""
    digits = (found[2] + fraction).lstrip(b"0")
    kept = digits.rstrip(b"0")
    if not kept:
        return False, b"", 0
    return found[1] == b"-", kept, int(found[4] or 0) - len(fraction) + len(digits) - len(kept)

"""Whose answer was it? Ids read from lines that are no valid frame, so that their owner is not left waiting."""

from __future__ import annotations

import re

_VALUE = rb'("(?:[^"\\]|\\.)*"|-?\d+)(?:\.0+)?'
_SCALAR = rb'(?:"(?:[^"\\]|\\.)*"|[-+.\w]+)'
# Only a top-level id counts: one that stands before anything nested, or right before the brace that ends the line.
_FIRST = re.compile(rb'\s*\{(?:\s*"[^"\\]*"\s*:\s*' + _SCALAR + rb'\s*,)*?\s*"id"\s*:\s*' + _VALUE + rb"\s*[,}]")
_LAST = re.compile(rb'[,{]\s*"id"\s*:\s*' + _VALUE + rb"\s*\}\s*$")
_CALLS = re.compile(rb'\s*\{[^{\[]*"method"\s*:')
_REACH = 4096


def looks_like_frame(line: bytes) -> bool:
    """Whether a broken line was meant as a message rather than as text for a person."""
    head = line[: 16 * _REACH]
    return b'"jsonrpc"' in head or (line.lstrip()[:1] == b"{" and b'"id"' in head)


def is_call(line: bytes) -> bool:
    """Whether a broken line was a request or notification: it names a method before anything nested."""
    return _CALLS.match(line[:_REACH]) is not None


def ids_in(line: bytes, *, whole: bool = True) -> list[bytes]:
    """The JSON text of a broken line's own id, if it can be told; ``whole`` says that the line's end is there too."""
    found = _FIRST.match(line[:_REACH])
    if found is None and whole and line.count(b"{") == line.count(b"}"):
        found = _LAST.search(line[-_REACH:])
    return [] if found is None else [found[1]]


def shown(line: bytes) -> str:
    """A line as it can be shown in a log."""
    return line[:500].decode(errors="backslashreplace")

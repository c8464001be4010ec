"""Whose answer was it? Ids read from lines that are no valid frame, so that their owner is not left waiting."""

from __future__ import annotations

import re

_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)')
_CALLS = re.compile(rb'\s*\{[^{\[]*"method"\s*:')
_REACH = 4096


def looks_like_frame(line: bytes) -> bool:
    """Whether a broken line was meant as a message rather than as text for a person."""
    head = line[: 16 * _REACH]
    return b'"jsonrpc"' in head or (line.lstrip()[:1] == b"{" and b'"id"' in head)


def is_call(line: bytes) -> bool:
    """Whether a broken line was a request or notification: it names a method before anything nested."""
    return _CALLS.match(line[:_REACH]) is not None


def ids_in(line: bytes) -> list[bytes]:
    """JSON texts of the ids named near the start and the end of a line, likeliest first."""
    return [found[1] for found in _ID.finditer(line[:_REACH] + b" " + line[-_REACH:])]


def shown(line: bytes) -> str:
    """A line as it can be shown in a log."""
    return line[:500].decode(errors="backslashreplace")

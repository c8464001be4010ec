"""Server-sent events (HTML, section 9.2; 2026-07-28, basic/transports/streamable-http#receiving-messages).

One message is one event with one ``data`` line. Not only a line feed ends a line of the stream but a carriage return too,
which JSON allows between its tokens (never within a string): it becomes a space.
"""

from __future__ import annotations

from dragoman.http.effects import Header, Headers

COMMENT = b":\n\n"
"""Keeps a quiet stream open; readers pass over it."""
NO_STORE: Header = (b"cache-control", b"no-store")
"""Answers belong to their caller: a list may differ by token, and nothing on the way may keep it for another."""
JSON_HEADERS: Headers = ((b"content-type", b"application/json"), NO_STORE)
"""Of every answer that is no stream."""
STREAM_HEADERS: Headers = (
    (b"content-type", b"text/event-stream"),
    NO_STORE,
    (b"x-accel-buffering", b"no"),
)
"""Of every stream; the last asks a proxy on the way to hold nothing back."""


def event(data: bytes, event_id: bytes | None = None, retry_ms: int | None = None, name: bytes | None = None) -> bytes:
    """One event. ``data`` is a frame, with or without its newline."""
    if b"\r" in data or data.find(b"\n", 0, -1) >= 0:
        end = len(data) - data.endswith(b"\n")
        data = data[:end].replace(b"\r", b" ").replace(b"\n", b" ")
    head = _fields(event_id, retry_ms, name)
    # A big message is copied once only: its own newline ends the line.
    return b"".join((head, b"data: ", data, b"\n" if data.endswith(b"\n") else b"\n\n"))


def priming(event_id: bytes, retry_ms: int | None = None) -> bytes:
    """The first event for a client of 2025-11-25: an id to come back with, and empty data (basic/transports there)."""
    return _fields(event_id, retry_ms, None) + b"data:\n\n"


def _fields(event_id: bytes | None, retry_ms: int | None, name: bytes | None) -> bytes:
    if event_id is None and retry_ms is None and name is None:
        return b""
    parts = []
    if name is not None:
        parts.append(b"event: %b\n" % name)
    if event_id is not None:
        parts.append(b"id: %b\n" % event_id)
    if retry_ms is not None:
        parts.append(b"retry: %d\n" % retry_ms)
    return b"".join(parts)

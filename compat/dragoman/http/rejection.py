"""Answers to requests that go no further (2026-07-28, basic/transports/streamable-http#sending-messages).

An error whose request is known carries its id. Where it is not, the member is left out from 2025-11-25 on; JSON-RPC itself, and
so the revisions before, say null.
"""

from __future__ import annotations

from msgspec import Struct

from dragoman import frame
from dragoman.errors import Refusal
from dragoman.http.effects import Header, Headers
from dragoman.http.sse import JSON_HEADERS, NO_STORE

_TEXT_HEADERS: Headers = ((b"content-type", b"text/plain; charset=utf-8"), NO_STORE)


class Rejection(Struct, frozen=True):
    """A whole HTTP answer."""

    status: int
    headers: Headers
    body: bytes


def plain(status: int, text: str, *headers: Header) -> Rejection:
    """An answer in words, for what is no matter of JSON-RPC; no body at all for no words."""
    if not text:
        return Rejection(status, (*headers, NO_STORE), b"")
    return Rejection(status, (*_TEXT_HEADERS, *headers), text.encode() + b"\n")


def rpc(status: int, client_id: bytes | None, refusal: Refusal, *headers: Header, null_id: bool = False) -> Rejection:
    """A JSON-RPC error. ``client_id`` is the JSON text of the request's id; ``null_id`` writes null where it is unknown."""
    frame_id = b"null" if client_id is None and null_id else client_id
    return Rejection(status, (*JSON_HEADERS, *headers), frame.failure(frame_id, refusal.encode())[:-1])

"""What passed a tap, told alike for every transport, and the revision that was really negotiated.

A conversation is what shares ids: a process, a session, the stream of an endpoint pair, or one POST that belongs to none of them.
``negotiated`` believes no peer about itself. A legacy revision counts when ``initialize`` was answered with it, a modern one when a request
whose envelope names it was answered with a result (2026-07-28, basic/versioning); what was refused counts for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from http_tap import Exchange, Record

from oracle import RESERVED, JsonObject


class Passed(NamedTuple):
    """One JSON-RPC message on its way, and where it stands in the records of HTTP."""

    conversation: Hashable
    to_server: bool
    frame: JsonObject
    record: Record | None = None


def over_stdio(records: Iterable[JsonObject]) -> Iterator[Passed]:
    """The messages that ``tests/peers/tap.py`` wrote down."""
    for record in records:
        yield Passed(record["pid"], record["dir"] == "in", json.loads(record["line"]))


def over_http(records: Iterable[Record]) -> Iterator[Passed]:
    """The messages that ``http_tap.Tap`` wrote down."""
    endpoints: dict[str, Exchange] = {}
    for record in records:
        exchange = record.exchange
        if record.event is not None and record.event.kind == "endpoint":
            endpoints[urljoin(exchange.target, record.event.data)] = exchange
            continue
        conversation = conversation_of(exchange, endpoints)
        if record.what == "asked":
            for frame in exchange.frames():
                yield Passed(conversation, True, frame, record)
        else:
            for frame in told(record):
                yield Passed(conversation, False, frame, record)


def conversation_of(exchange: Exchange, endpoints: dict[str, Exchange]) -> Hashable:
    """The session, the stream that its answers come on, or the exchange itself.

    The exchange that opens a session stands for itself: its id is known with its answer only, and nothing but ``initialize`` is in it.
    """
    named = exchange.headers.get("mcp-session-id")
    return named if named is not None else endpoints.get(exchange.target, exchange)


def told(record: Record) -> list[JsonObject]:
    """The messages of the server in a record: those of an event or of a JSON body."""
    text = record.event.data if record.event is not None else record.exchange.answer.decode() if record.what == "body" else ""
    if record.event is None and not record.exchange.answer_headers.get("content-type", "").startswith("application/json"):
        return []
    found = json.loads(text) if text else []
    return [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, dict)]


def negotiated(messages: Iterable[Passed]) -> list[str]:
    """Every revision in which something was agreed on or answered, each once."""
    asked: dict[tuple[Hashable, Any], JsonObject] = {}
    found: set[str] = set()
    for conversation, to_server, frame, _ in messages:
        if to_server and "method" in frame and "id" in frame:
            asked[conversation, frame["id"]] = frame
        elif not to_server and "method" not in frame and isinstance(frame.get("result"), dict):
            found |= agreed(asked.get((conversation, frame.get("id")), {}), frame["result"])
    return sorted(found)


def agreed(request: JsonObject, result: JsonObject) -> set[str]:
    if request.get("method") == "initialize":
        return {str(result.get("protocolVersion"))}
    envelope = (request.get("params") or {}).get("_meta") or {}
    named = envelope.get(RESERVED + "protocolVersion")
    return set() if named is None else {str(named)}


def first_progress(messages: Iterable[Passed]) -> list[Any]:
    """What a client was told of the first call that tells of progress, and the text of its result."""
    frames = [each.frame for each in messages if not each.to_server]
    values = [frame["params"]["progress"] for frame in frames if frame.get("method") == "notifications/progress"]
    texts = [block.get("text") for frame in frames for block in (frame.get("result") or {}).get("content", [])]
    return [*values[:3], *(text for text in texts if text == "progressed")]

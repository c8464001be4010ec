"""A judge of what the bridge sends to a modern server that is reached by its URL, from the records of ``http_tap.Tap``.

Beside what ``ModernServerFace`` looks at (2026-07-28, basic/transports/streamable-http):

* whoever may speak either era asks once whether there is a stream to GET;
* every message is a POST of its own, a request or a notification; no session is named (#sending-messages-to-the-server);
* a client accepts both forms of an answer (#sending-messages-to-the-server);
* the fields of a request repeat its revision, its method and, where it has one, its name (#request-metadata).

The handshake of a client whose server's era is not known yet is passed as it came, and is not looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable

from http_tap import Exchange, Record
from modern_side import ModernServerFace

from oracle import MODERN, Invalid, JsonObject, Oracle

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def judge_modern_http_server(oracle: Oracle, records: Iterable[Record]) -> ModernServerFace:
    """Judge everything that passed a tap in front of one modern server."""
    face = ModernServerFace(oracle)
    for record in records:
        exchange = record.exchange
        if exchange.method == "GET" and exchange.headers.get("accept") == "text/event-stream" and "mcp-session-id" not in exchange.headers:
            continue  # whether there is the stream of a legacy server: that is how the two are told apart
        if record.what == "asked":
            _asked(exchange)
            face.to_server(exchange.body)
        elif record.event is not None and record.event.data:
            face.from_server(record.event.data)
        elif record.what == "body" and exchange.answer:
            face.from_server(exchange.answer)
    return face


def _asked(exchange: Exchange) -> None:
    frames = exchange.frames()
    if exchange.method != "POST" or len(frames) != 1 or exchange.body.lstrip().startswith(b"["):
        raise Invalid(f"a message is a POST of its own: {exchange}")
    if "method" not in frames[0]:
        raise Invalid(f"a client answers nothing: {exchange}")
    if frames[0]["method"] != "initialize":
        _fields(exchange, frames[0])


def _fields(exchange: Exchange, frame: JsonObject) -> None:
    if "mcp-session-id" in exchange.headers:
        raise Invalid(f"there is no session: {exchange}")
    accepted = {each.split(";")[0].strip() for each in exchange.headers.get("accept", "").split(",")}
    if not {"application/json", "text/event-stream"} <= accepted:
        raise Invalid(f"a client accepts JSON and streams, not {sorted(accepted)}: {exchange}")
    if "id" not in frame:
        return
    expected = {"mcp-protocol-version": MODERN, "mcp-method": frame["method"]}
    if frame["method"] in NAMED:
        expected["mcp-name"] = frame["params"][NAMED[frame["method"]]]
    for name, value in expected.items():
        if exchange.headers.get(name) != value:
            raise Invalid(f"{name} is {exchange.headers.get(name)!r} for {value!r}: {exchange}")

"""What is read off the wire: nothing that was only claimed, and everything that was agreed on."""

from __future__ import annotations

import json
from typing import Any

from http_tap import Conversation, Record
from table import table
from wire import Passed, first_progress, negotiated, over_http, over_stdio

MODERN = "io.modelcontextprotocol/protocolVersion"
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {MODERN: "2026-07-28"}}}
REFUSED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "no"}}
LISTED: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}


def greeting(revision: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": revision}}


def spoken(*frames: dict[str, Any], conversation: int = 0) -> list[Passed]:
    """Asked, answered, asked, answered …"""
    return [Passed(conversation, place % 2 == 0, frame) for place, frame in enumerate(frames)]


def exchanged(asked: dict[str, Any], answer: dict[str, Any], fields: str = "", records: list[Record] | None = None) -> list[Record]:
    records = [] if records is None else records
    wire = Conversation(records)
    body, said = json.dumps(asked).encode(), json.dumps(answer).encode()
    wire.from_client(f"POST /mcp HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    wire.from_server(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n".encode() + said)
    return records


def test_nothing_is_agreed_on_where_all_was_refused() -> None:
    assert negotiated(spoken(HELLO, REFUSED)) == []
    assert negotiated(spoken(LIST, REFUSED)) == []


def test_request_without_an_envelope_agrees_on_nothing() -> None:
    assert negotiated(spoken({"jsonrpc": "2.0", "id": 1, "method": "ping"}, LISTED)) == []


def test_answer_of_another_conversation_is_no_answer() -> None:
    assert negotiated([*spoken(LIST), Passed(1, False, LISTED)]) == []


def test_handshake_counts_for_what_it_was_answered_with() -> None:
    assert negotiated(spoken(HELLO, greeting("2025-03-26"))) == ["2025-03-26"]


def test_modern_request_counts_once_it_has_a_result() -> None:
    assert negotiated(spoken(HELLO, REFUSED, LIST, LISTED, LIST, LISTED)) == ["2026-07-28"]


def test_both_eras_on_one_side_are_both_told() -> None:
    assert negotiated(spoken(LIST, LISTED, HELLO, greeting("2025-11-25"))) == ["2025-11-25", "2026-07-28"]


def test_lines_of_a_process_are_one_conversation() -> None:
    records = [{"pid": 7, "dir": "in", "line": json.dumps(LIST)}, {"pid": 7, "dir": "out", "line": json.dumps(LISTED)}]
    assert list(over_stdio(records)) == [(7, True, LIST, None), (7, False, LISTED, None)]


def test_each_post_without_a_session_is_a_conversation_of_its_own() -> None:
    records = exchanged(LIST, LISTED)
    exchanged(HELLO, REFUSED, records=records)
    messages = list(over_http(records))
    assert [(each.to_server, each.frame) for each in messages] == [(True, LIST), (False, LISTED), (True, HELLO), (False, REFUSED)]
    assert len({each.conversation for each in messages}) == 2


def test_posts_of_a_session_are_one_conversation() -> None:
    records = exchanged(LIST, LISTED, "Mcp-Session-Id: s\r\n")
    exchanged(HELLO, REFUSED, "Mcp-Session-Id: s\r\n", records)
    assert {each.conversation for each in over_http(records)} == {"s"}


def test_what_comes_on_the_stream_answers_what_went_to_its_endpoint() -> None:
    records: list[Record] = []
    stream = Conversation(records)
    stream.from_client(b"GET /sse HTTP/1.1\r\nHost: x\r\n\r\n")
    stream.from_server(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    stream.from_server(b"event: endpoint\ndata: /mcp\n\n")
    exchanged(HELLO, {}, records=records)
    stream.from_server(f"event: message\ndata: {json.dumps(greeting('2024-11-05'))}\n\n".encode())
    assert negotiated(over_http(records)) == ["2024-11-05"]


def test_progress_is_told_in_the_order_of_the_wire() -> None:
    values = (0, 50, 100, 7)
    told = [Passed(0, False, {"method": "notifications/progress", "params": {"progress": value}}) for value in values]
    done = Passed(0, False, {"id": 1, "result": {"content": [{"text": "progressed"}]}})
    assert first_progress([*told, done]) == [0, 50, 100, "progressed"]
    assert first_progress(told[1:2]) == [50]


def test_table_has_a_row_for_each_client_and_a_column_for_each_server() -> None:
    assert table(["a", "b"], ["one", "two"], {("a", "one"): "ok", ("b", "two"): "failed"}) == [
        "client \\ server  one  two",
        "a                ok   -",
        "b                -    failed",
    ]

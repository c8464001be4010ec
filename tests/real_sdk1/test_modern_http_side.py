"""The judge of what a modern HTTP server is sent: a good request passes, and each kind of bad one is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from http_tap import Conversation, Record
from modern_http_side import judge_modern_http_server

from oracle import Invalid, Oracle

ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INFO = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {}, "_meta": ENVELOPE}}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "resultType": "complete", "_meta": INFO}}
FIELDS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "x",
}


def passed(frame: Any, fields: dict[str, str | None] | None = None, method: str = "POST", answer: Any = RESULT) -> list[Record]:
    """The records of one exchange with these fields changed (None: left out)."""
    body = b"" if frame is None else json.dumps(frame).encode()
    whole = FIELDS | (fields or {}) | {"Host": "x", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in whole.items() if value is not None)
    said = json.dumps(answer).encode()
    records: list[Record] = []
    wire = Conversation(records)
    wire.from_client(f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
    wire.from_server(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n".encode() + said)
    return records


def test_call_whose_fields_say_what_it_says_passes(oracle: Oracle) -> None:
    face = judge_modern_http_server(oracle, passed(CALL))
    assert (face.methods, face.modern_requests, face.open) == (["tools/call"], 1, {})


def test_handshake_before_the_era_is_known_passes_without_fields(oracle: Oracle) -> None:
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    left_out = dict.fromkeys(FIELDS)
    face = judge_modern_http_server(oracle, [*passed(hello, left_out), *passed(CALL)])
    assert (face.refused_handshakes, face.modern_requests) == (1, 1)


def test_notification_needs_no_field_of_its_method(oracle: Oracle) -> None:
    params = {"requestId": 1, "_meta": ENVELOPE}
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    judge_modern_http_server(oracle, [*passed(CALL), *passed(told, {"Mcp-Method": None, "Mcp-Name": None})])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Accept", "application/json"),
        ("Accept", None),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("MCP-Protocol-Version", None),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", None),
        ("Mcp-Name", "y"),
        ("Mcp-Name", None),
        ("Mcp-Session-Id", "s-1"),
    ],
)
def test_field_that_is_wrong_or_missing_is_told(oracle: Oracle, field: str, value: str | None) -> None:
    with pytest.raises(Invalid):
        judge_modern_http_server(oracle, passed(CALL, {field: value}))


@pytest.mark.parametrize(
    ("frame", "method"),
    [
        pytest.param(None, "GET", id="a stream that nobody asked for"),
        pytest.param(None, "DELETE", id="the end of a session"),
        pytest.param([CALL], "POST", id="a batch"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "result": {}}, "POST", id="an answer"),
        pytest.param({**CALL, "params": {"name": "x", "arguments": {}}}, "POST", id="a call without the envelope"),
    ],
)
def test_message_that_no_client_of_this_revision_sends_is_told(oracle: Oracle, frame: Any, method: str) -> None:
    with pytest.raises(Invalid):
        judge_modern_http_server(oracle, passed(frame, method=method))


def test_legacy_word_with_the_fields_of_a_modern_one_is_told(oracle: Oracle) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": ENVELOPE}}
    with pytest.raises(Invalid):
        judge_modern_http_server(oracle, passed(ping, {"Mcp-Method": "ping"}))

"""The judge of what a legacy HTTP server is sent: a good session passes, and each kind of bad one is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from http_tap import Conversation, Record
from legacy_http_side import judge_legacy_http_server

from oracle import Invalid, Oracle

REVISION = "2025-11-25"
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
DISCOVER = {"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {"_meta": ENVELOPE}}
PARAMS: dict[str, Any] = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
HELLO: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": PARAMS}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {}}}
SERVER = {"capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
CALLED = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
REFUSED = {"jsonrpc": "2.0", "id": "d", "error": {"code": -32000, "message": "no session"}}
FIELDS = {"Accept": "application/json, text/event-stream"}
WITHIN = {"Mcp-Session-Id": "s-1", "MCP-Protocol-Version": REVISION}
Fields = dict[str, str | None]


def greeting(revision: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 0, "result": SERVER | {"protocolVersion": revision}}


def head(first: str, fields: Mapping[str, str | None]) -> bytes:
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in fields.items() if value is not None), "", ""]).encode()


class Wire:
    """Exchanges on one connection after another."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def exchange(self, frame: Any, fields: Fields, answer: Any = None, status: int = 200, method: str = "POST", **answered: str) -> None:
        """One request with these fields beside the usual ones (None: left out), and its JSON answer."""
        body = b"" if frame is None else json.dumps(frame).encode()
        whole = FIELDS | fields | {"Host": "x", "Content-Length": str(len(body))}
        said = b"" if answer is None else json.dumps(answer).encode()
        back = {"Content-Type": "application/json", "Content-Length": str(len(said)), **answered}
        wire = Conversation(self.records)
        wire.from_client(head(f"{method} /mcp HTTP/1.1", whole) + body)
        wire.from_server(head(f"HTTP/1.1 {status} X", back) + said)

    def begin(self, revision: str = REVISION, fields: Fields | None = None) -> None:
        given = {"Mcp-Session-Id": "s-1"}
        self.exchange(HELLO, fields or {}, greeting(revision), **given)
        self.exchange(READY, WITHIN | {"MCP-Protocol-Version": revision}, status=202)

    def end(self) -> None:
        self.exchange(None, WITHIN, method="DELETE")


def session(frame: Any, fields: Fields | None = None, answer: Any = CALLED, method: str = "POST", revision: str = REVISION) -> list[Record]:
    """The records of a session in which this is sent."""
    wire = Wire()
    wire.begin(revision)
    wire.exchange(frame, WITHIN | {"MCP-Protocol-Version": revision} | (fields or {}), answer, method=method)
    wire.exchange(None, WITHIN | {"MCP-Protocol-Version": revision}, method="DELETE")
    return wire.records


def test_session_from_the_handshake_to_its_end_passes(oracle: Oracle) -> None:
    judge = judge_legacy_http_server(oracle, session(CALL))
    assert (judge.deleted, judge.discovers, judge.refused_handshakes) == (["s-1"], 0, 0)


def test_question_what_the_server_is_may_come_before_the_handshake(oracle: Oracle) -> None:
    wire = Wire()
    wire.exchange(DISCOVER, {"Mcp-Method": "server/discover", "MCP-Protocol-Version": "2026-07-28"}, REFUSED, 400)
    wire.begin()
    wire.end()
    assert judge_legacy_http_server(oracle, wire.records).discovers == 1


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_revisions_without_the_field_need_not_be_named(oracle: Oracle, revision: str) -> None:
    judge_legacy_http_server(oracle, session(CALL, {"MCP-Protocol-Version": None}, revision=revision))


def test_batch_of_the_revision_that_has_them_passes(oracle: Oracle) -> None:
    judge_legacy_http_server(oracle, session([CALL], answer=[CALLED], revision="2025-03-26"))


def test_handshake_that_is_refused_opens_nothing(oracle: Oracle) -> None:
    wire = Wire()
    wire.exchange(HELLO, {}, status=405)
    judge = judge_legacy_http_server(oracle, wire.records)
    assert (judge.refused_handshakes, judge.sessions) == (1, {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("Accept", "application/json"),
        ("Accept", None),
        ("MCP-Protocol-Version", "2025-06-18"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("MCP-Protocol-Version", None),
        ("Mcp-Session-Id", None),
        ("Mcp-Session-Id", "s-2"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "x"),
        ("Mcp-Param-Region", "x"),
    ],
)
def test_field_that_is_wrong_or_missing_is_told(oracle: Oracle, field: str, value: str | None) -> None:
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, session(CALL, {field: value}))


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param([CALL], id="a batch of another revision"),
        pytest.param({**CALL, "params": {"name": "x", "_meta": ENVELOPE}}, id="a modern envelope"),
        pytest.param(DISCOVER, id="a word of a later revision"),
        pytest.param({"jsonrpc": "2.0", "id": 9, "result": {}}, id="an answer to no question"),
        pytest.param({**CALL, "id": 0}, id="an id for the second time"),
        pytest.param(HELLO, id="a handshake within the session"),
    ],
)
def test_message_that_no_client_of_the_revision_sends_is_told(oracle: Oracle, frame: Any) -> None:
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, session(frame))


def test_stream_that_accepts_none_is_told(oracle: Oracle) -> None:
    judge_legacy_http_server(oracle, session(None, {"Accept": "text/event-stream"}, None, "GET"))
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, session(None, {"Accept": "application/json"}, None, "GET"))


def test_session_that_nobody_ends_is_told(oracle: Oracle) -> None:
    wire = Wire()
    wire.begin()
    with pytest.raises(Invalid, match="nobody ended"):
        judge_legacy_http_server(oracle, wire.records)


def test_message_after_the_end_of_the_session_is_told(oracle: Oracle) -> None:
    wire = Wire()
    wire.begin()
    wire.end()
    wire.exchange(CALL, WITHIN, CALLED)
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, wire.records)


def test_call_before_any_handshake_is_told(oracle: Oracle) -> None:
    wire = Wire()
    wire.exchange(CALL, {}, CALLED)
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, wire.records)


def test_handshake_with_a_field_of_a_later_revision_is_told(oracle: Oracle) -> None:
    wire = Wire()
    wire.begin(fields={"Mcp-Method": "initialize"})
    wire.end()
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, wire.records)


# ----------------------------------------------------------------------------------------------------- HTTP+SSE of 2024-11-05


def paired(*frames: Any, told: Any = CALLED, to: str = "/messages?session=1", fields: str = "") -> list[Record]:
    """The records of a pair of endpoints: the handshake, then these messages, each answered on the stream."""
    records: list[Record] = []
    stream = Conversation(records)
    stream.from_client(b"GET /sse HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
    stream.from_server(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    stream.from_server(b"event: endpoint\ndata: /messages?session=1\n\n")
    sent = [(HELLO, greeting("2024-11-05"), "/messages?session=1"), (READY, None, "/messages?session=1")]
    for frame, answer, target in (*sent, *((frame, told, to) for frame in frames)):
        body = json.dumps(frame).encode()
        post = Conversation(records)
        post.from_client(f"POST {target} HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        post.from_server(b"HTTP/1.1 202 Accepted\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nAccepted")
        if answer is not None:
            stream.from_server(f"event: message\ndata: {json.dumps(answer)}\n\n".encode())
    return records


def test_messages_to_the_endpoint_that_was_named_pass(oracle: Oracle) -> None:
    judge = judge_legacy_http_server(oracle, paired(CALL))
    assert judge.sessions["/messages?session=1"].face.revision == "2024-11-05"


def test_message_to_another_endpoint_is_told(oracle: Oracle) -> None:
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, paired(CALL, to="/messages?session=2"))


def test_later_word_to_the_endpoint_is_told(oracle: Oracle) -> None:
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, paired(DISCOVER))


def test_later_field_to_the_endpoint_is_told(oracle: Oracle) -> None:
    with pytest.raises(Invalid):
        judge_legacy_http_server(oracle, paired(CALL, fields="Mcp-Method: tools/call\r\n"))

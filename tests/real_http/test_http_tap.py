"""The tap and the judge themselves: a good conversation passes, and each kind of bad one is told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import h11
import pytest
from http_judge import judge_http
from http_tap import Conversation, EventParser, Record, Tap

from oracle import Invalid, Oracle

ENVELOPE = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INFO = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
NAMED: dict[str, Any] = {"clientInfo": {"name": "c", "version": "1"}, "capabilities": {}}
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", **NAMED}}
WELCOME = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
JSON = "Content-Type: application/json"
SSE = "Content-Type: text/event-stream\r\nX-Accel-Buffering: no"


def modern(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}}


CALL = modern("tools/call", name="x", arguments={})
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "resultType": "complete", "_meta": INFO}}


def asked(frame: Any, head: str = "", method: str = "POST", target: str = "/mcp") -> bytes:
    body = b"" if frame is None else json.dumps(frame).encode()
    return f"{method} {target} HTTP/1.1\r\nHost: x\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def answered(frame: Any, status: int = 200, head: str = JSON) -> bytes:
    body = b"" if frame is None else json.dumps(frame).encode()
    return f"HTTP/1.1 {status} X\r\n{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def stream(*events: str, head: str = SSE) -> bytes:
    body = "".join(events).encode()
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
    return f"HTTP/1.1 200 OK\r\n{head}\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunk + b"0\r\n\r\n"


def event(frame: Any) -> str:
    return f"data: {json.dumps(frame)}\n\n"


def conversation(*turns: tuple[bytes, bytes]) -> list[Record]:
    """The records of a connection on which these requests and answers pass."""
    records: list[Record] = []
    wire = Conversation(records)
    for request, answer in turns:
        wire.from_client(request)
        wire.from_server(answer)
    return records


UNKNOWN = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}
OPENED = (asked(HELLO), answered({"jsonrpc": "2.0", "id": 1, "result": WELCOME}, head=f"{JSON}\r\nMcp-Session-Id: s-1"))
IN_SESSION = "Mcp-Session-Id: s-1\r\n"
PONG = {"jsonrpc": "2.0", "id": 2, "result": {}}

GOOD = {
    "a modern call answered with JSON": [(asked(CALL), answered(RESULT))],
    "a modern call answered with a stream": [(asked(CALL), stream(": keep-alive\n\n", event(RESULT)))],
    "an unknown method with 404": [(asked(modern("x/y")), answered(UNKNOWN, 404))],
    "a legacy session": [OPENED, (asked(PING, IN_SESSION), answered(PONG)), (asked(None, IN_SESSION, "DELETE"), answered(None, 204))],
    "a legacy response on the stream of its request": [OPENED, (asked(PING, IN_SESSION), stream("id: 1\ndata: \n\n", event(PONG)))],
    "a resumed legacy stream": [
        OPENED,
        (asked(PING, IN_SESSION), stream("id: 1\ndata: \n\n")),
        (asked(None, IN_SESSION + "Last-Event-ID: 1\r\n", "GET"), stream(event(PONG))),
    ],
    "HTTP+SSE": [(asked(None, method="GET", target="/sse"), stream("event: endpoint\ndata: /messages?s=1\n\n"))],
}
BAD = {
    "status 404": [(asked(modern("x/y")), answered(UNKNOWN, 200))],
    "a result with status": [(asked(CALL), answered(RESULT, 500))],
    "after the response": [(asked(CALL), stream(event(RESULT), event(PONG)))],
    "to no open request": [(asked(CALL), answered({**RESULT, "id": 2}))],
    "of another request": [OPENED, (asked(PING, IN_SESSION), stream()), (asked({**PING, "id": 3}, IN_SESSION), stream(event(PONG)))],
    "on a free GET stream": [
        OPENED,
        (asked(PING, IN_SESSION), stream()),
        (asked(None, IN_SESSION, "GET"), stream(event(PONG))),
    ],
    "X-Accel-Buffering": [(asked(CALL), stream(event(RESULT), head="Content-Type: text/event-stream"))],
    "visible ASCII": [(asked(HELLO), answered(WELCOME, head="Mcp-Session-Id: a b"))],
    "for no initialize": [(asked(CALL), answered(RESULT, head=f"{JSON}\r\nMcp-Session-Id: s-1"))],
    "202 has no body": [OPENED, (asked({"jsonrpc": "2.0", "method": "notifications/initialized"}, IN_SESSION), answered({}, 202))],
    "202 for a request": [OPENED, (asked(PING, IN_SESSION), answered(None, 202))],
    "no JSON": [(asked(CALL), stream("data: {\n\n"))],
    "application/json or": [(asked(CALL), answered(RESULT, head="Content-Type: text/html"))],
    "a batch": [(asked(CALL), answered([RESULT]))],
    "of type rumour": [(asked(CALL), stream("event: rumour\ndata: {}\n\n"))],
    "first event": [(asked(None, method="GET", target="/sse"), stream("data:\n\n", "event: endpoint\ndata: /m\n\n"))],
}


@pytest.mark.parametrize("name", GOOD)
def test_good_conversation_passes_the_judge(oracle: Oracle, name: str) -> None:
    records = conversation(*GOOD[name])
    assert [record.exchange.ended for record in records if record.what == "ended"] == ["server"] * len(GOOD[name])
    judge_http(oracle, records)


@pytest.mark.parametrize("fault", BAD)
def test_bad_conversation_is_told(oracle: Oracle, fault: str) -> None:
    with pytest.raises(Invalid, match=fault):
        judge_http(oracle, conversation(*BAD[fault]))


def test_message_of_an_sse_session_is_judged_on_its_stream(oracle: Oracle) -> None:
    records: list[Record] = []
    listening, posting = Conversation(records), Conversation(records)
    listening.from_client(asked(None, method="GET", target="/sse"))
    head = f"HTTP/1.1 200 OK\r\n{SSE}\r\n\r\n".encode()
    listening.from_server(head + b"event: endpoint\ndata: messages?s=1\n\n")
    posting.from_client(asked(HELLO, target="/messages?s=1"))
    posting.from_server(answered(None, 202))
    listening.from_server(event({"jsonrpc": "2.0", "id": 1, "result": WELCOME}).encode())
    assert judge_http(oracle, records).endpoints["/messages?s=1"].answered == 1
    listening.from_server(event({"jsonrpc": "2.0", "id": 1, "result": WELCOME}).encode())
    with pytest.raises(Invalid, match="to no open request"):
        judge_http(oracle, records)


def test_bytes_cut_anywhere_make_the_same_exchange() -> None:
    whole = stream("id: 7\r\nda", "ta: é\r\ndata: b\r\n\r\n", ":x\n\ndata\n\n")
    for at in range(1, len(whole)):
        records: list[Record] = []
        wire = Conversation(records)
        wire.from_client(asked(CALL) + asked(CALL))
        wire.from_server(whole[:at])
        wire.from_server(whole[at:] + answered(RESULT))
        first, second = [record.exchange for record in records if record.what == "ended"]
        assert [tuple(each) for each in first.events] == [("message", "é\nb", "7"), ("message", "", None)]
        assert json.loads(second.answer) == RESULT


def test_answer_to_nothing_is_a_fault() -> None:
    with pytest.raises(h11.RemoteProtocolError):
        Conversation([]).from_server(answered(RESULT))


def test_client_that_hangs_up_has_cut_its_exchange() -> None:
    records: list[Record] = []
    wire = Conversation(records)
    wire.from_client(asked(CALL))
    wire.closed_by("client")
    wire.from_server(answered(RESULT))
    assert [(record.what, record.exchange.ended) for record in records] == [("asked", "cut by the client"), ("ended", "cut by the client")]


def test_event_without_data_is_no_event() -> None:
    assert EventParser().feed(b"id: 1\nevent: x\n\n: ping\n\ndata: {}\n\n") == [("message", "{}", None)]


@pytest.fixture
def server() -> Iterator[tuple[int, threading.Event]]:
    """A server that answers one request in two pieces and then waits to be hung up on."""
    listener = socket.create_server(("127.0.0.1", 0))
    hung_up = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(f"HTTP/1.1 200 OK\r\n{SSE}\r\n\r\ndata: {{}}\n\n".encode())
            if connection.recv(1 << 16) == b"":
                hung_up.set()

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1], hung_up
    thread.join(10)
    listener.close()


def test_bytes_pass_at_once_and_so_does_the_end(server: tuple[int, threading.Event]) -> None:
    port, hung_up = server
    with Tap(port) as tap, socket.create_connection(("127.0.0.1", tap.port)) as client:
        client.sendall(asked(CALL))
        told = b""
        while not told.endswith(b"data: {}\n\n"):
            told += client.recv(1 << 16)
        client.close()
        assert hung_up.wait(10)
    assert [record.what for record in tap.records] == ["asked", "answered", "event", "ended"]


def test_server_that_is_not_there_is_a_closed_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with Tap(port) as tap, socket.create_connection(("127.0.0.1", tap.port)) as client:
        assert client.recv(1) == b""

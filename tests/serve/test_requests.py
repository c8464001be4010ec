"""Requests and answers as bytes on the wire."""

from __future__ import annotations

import json

from tests.serve.wire import Connection, call, head, modern, modern_body, modern_fields, post


def test_modern_call_is_answered_with_json(shared):
    answer = shared.ask(call("echo", text="hello"))
    assert (answer.status, answer.fields["content-type"], answer.text) == (200, "application/json", "hello")
    assert "server" not in answer.fields


def test_connection_is_kept_for_the_next_request(shared):
    with shared.connect() as connection:
        assert [connection.ask(call("echo", number=number, text=f"{number}")).text for number in range(5)] == ["0", "1", "2", "3", "4"]


def test_pipelined_requests_are_answered_in_their_order(shared):
    with shared.connect() as connection:
        connection.send(b"".join(call("echo", number=number, text="x" * number) for number in range(50)))
        assert [connection.answer().frame["id"] for _ in range(50)] == list(range(50))


def test_request_may_come_byte_by_byte(shared):
    with shared.connect() as connection:
        for byte in call("echo", text="slowly"):
            connection.send(bytes([byte]))
        assert connection.answer().text == "slowly"


def test_chunked_body_is_read(shared):
    body = modern_body("tools/call", name="echo", arguments={"text": "in chunks"})
    fields = ("Content-Type: application/json", "Accept: application/json", "Transfer-Encoding: chunked")
    start = head("POST", "/mcp", *fields, *modern_fields("tools/call", {"name": "echo"}))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7))
    assert shared.ask(start + chunks + b"0\r\n\r\n").text == "in chunks"


def test_client_that_asks_before_it_sends_is_told_to_go_on(shared):
    whole = call("echo", "Expect: 100-continue", text="asked first")
    start, _, body = whole.partition(b"\r\n\r\n")
    with shared.connect() as connection:
        connection.send(start + b"\r\n\r\n")
        assert connection.interim() == b"HTTP/1.1 100 Continue"
        connection.send(body)
        assert connection.answer().text == "asked first"


def test_client_that_asks_before_it_sends_too_much_is_refused_at_once(shared):
    with shared.connect() as connection:
        connection.send(post(b"", "Expect: 100-continue").replace(b"Content-Length: 0", b"Content-Length: 99999999999"))
        assert connection.answer().status == 413
        assert connection.ended


def test_big_result_comes_whole(shared):
    size = 20_000_000
    answer = shared.ask(call("big", size=size))
    assert answer.text == "x" * size


def test_big_request_goes_whole(shared):
    text = "y" * 20_000_000
    assert shared.ask(call("echo", text=text)).text == text


def test_progress_makes_a_stream_that_ends_with_the_answer(shared):
    with shared.connect() as connection:
        connection.send(call("progress", meta={"progressToken": "p"}))
        answer = connection.head()
        assert (answer.status, answer.fields["content-type"]) == (200, "text/event-stream")
        assert [connection.event()["params"]["progress"] for _ in range(3)] == [0, 50, 100]
        assert connection.event()["result"]["content"] == [{"type": "text", "text": "progressed"}]
        assert connection.chunk() == b""
        assert connection.ask(call("echo", text="again")).text == "again"


def test_legacy_client_shakes_hands_on_the_same_endpoint(shared):
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    answer = shared.ask(post(body))
    assert answer.frame["result"]["protocolVersion"] == "2025-11-25"
    session = answer.fields["mcp-session-id"]
    answer = shared.ask(head("DELETE", "/mcp", f"Mcp-Session-Id: {session}"))
    assert answer.status == 204
    assert "content-length" not in answer.fields


def test_old_http_gets_no_chunks_and_the_connection_ends(shared):
    with shared.connect() as connection:
        connection.send(modern("tools/call", version="1.0", name="progress", arguments={}, meta={"progressToken": "p"}))
        answer = connection.answer()
        assert "transfer-encoding" not in answer.fields
        assert answer.body.startswith(b"data: {")
        assert answer.body.count(b"data: ") == 4
        assert connection.ended
    with shared.connect() as connection:
        assert connection.ask(modern("tools/call", version="1.0", name="echo", arguments={"text": "old"})).text == "old"
        assert connection.ended


def test_head_of_the_health_is_answered_without_a_body(shared):
    with shared.connect() as connection:
        connection.send(head("HEAD", "/healthz"))
        assert connection.head().status == 200
        assert connection.ask(call("echo", text="next")).text == "next"


def test_answer_does_not_wait_for_another_on_its_own_connection(shared):
    with shared.connect() as slow, shared.connect() as other:
        slow.send(call("slow", meta={"progressToken": "p"}))
        slow.head()
        assert slow.event()["params"]["progress"] == 1
        assert other.ask(call("release")).text == "done"
        assert slow.event()["result"]["content"][0]["text"] == "released"


def test_caller_without_a_body_to_read_is_answered(shared):
    answer = shared.ask(head("GET", "/mcp", "Content-Length: 5") + b"12345")
    assert answer.status == 405


def test_two_hundred_clients_at_once_get_their_own_answers(shared):
    connections = [Connection(shared.port) for _ in range(200)]
    for number, connection in enumerate(connections):
        connection.send(call("echo", number=7, text=f"client {number}"))
    assert [connection.answer().text for connection in connections] == [f"client {number}" for number in range(200)]
    for connection in connections:
        connection.close()

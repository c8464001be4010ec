"""What one client may bring, and how long it may take: heads, bodies, idle connections."""

from __future__ import annotations

import pytest
from tests.serve.wire import Connection, call, head, post


def test_body_of_the_allowed_length_is_read(serve):
    served = serve("--max-body", "2K")
    whole = call("echo", text="x")
    room = 2048 - (len(whole) - whole.index(b"\r\n\r\n") - 4)
    assert served.ask(call("echo", text="x" * (room + 1))).text == "x" * (room + 1)
    assert served.ask(call("echo", text="x" * (room + 2))).status == 413


def test_announced_length_over_the_limit_is_refused_before_the_body(serve):
    served = serve("--max-body", "1K")
    with served.connect() as connection:
        connection.send(post(b"").replace(b"Content-Length: 0", b"Content-Length: 1025"))
        answer = connection.answer()
        assert (answer.status, answer.fields["connection"]) == (413, "close")
        assert answer.frame["error"]["message"] == "Bad request: the body is longer than 1024 bytes (--max-body)"
        assert connection.ended


@pytest.mark.parametrize("digits", ["9" * 18, "0" * 5000 + "1"])
def test_length_of_many_digits_is_refused(shared, digits):
    with shared.connect() as connection:
        connection.send(post(b"").replace(b"Content-Length: 0", f"Content-Length: {digits}".encode()))
        assert connection.answer().status == 413
        assert connection.ended


def test_chunked_body_over_the_limit_is_refused_and_the_client_that_goes_on_sending_reads_why(serve):
    served = serve("--max-body", "1K")
    fields = ("Content-Type: application/json", "Accept: application/json", "Transfer-Encoding: chunked")
    with served.connect() as connection:
        connection.send(head("POST", "/mcp", *fields) + b"100000\r\n" + b" " * 0x100000)
        assert connection.answer().status == 413
        assert connection.ended


def test_body_that_nobody_wants_is_not_waited_for(shared):
    with shared.connect() as connection:
        connection.send(head("POST", "/elsewhere", "Content-Length: 1000000") + b"x" * 500_000)
        answer = connection.answer()
        assert (answer.status, answer.fields["connection"]) == (404, "close")
        assert connection.ended


def test_head_of_the_allowed_size_is_read(shared):
    assert shared.ask(call("echo", f"X-Long: {'x' * 60_000}", text="fits")).text == "fits"


@pytest.mark.parametrize(
    "fields",
    [
        [f"X-Long: {'x' * 65_536}"],
        [f"X-{number}: {'x' * 1000}" for number in range(66)],
        [f"X-{number}: x" for number in range(101)],
    ],
    ids=["long", "much", "many"],
)
def test_head_over_the_limit_is_refused(shared, fields):
    with shared.connect() as connection:
        answer = connection.ask(call("echo", *fields, text="too much"))
        assert (answer.status, answer.fields["connection"]) == (431, "close")
        assert connection.ended


def test_head_without_an_end_is_refused(shared):
    with shared.connect() as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        for _ in range(100):
            connection.send(b"x" * 4096)
        assert connection.answer().status == 431
        assert connection.ended


def test_target_over_the_limit_is_refused(shared):
    with shared.connect() as connection:
        assert connection.ask(head("GET", "/" + "x" * 70_000)).status == 431


def test_big_body_before_a_head_in_the_same_read_is_no_part_of_that_head(shared):
    with shared.connect() as connection:
        connection.send(call("echo", text="x" * 200_000) + b"GET /healthz HTTP/1.1\r\n")
        assert len(connection.answer().text) == 200_000
        connection.send(b"Host: localhost\r\n\r\n")
        assert connection.answer().status == 200


def test_fields_after_the_body_without_an_end_are_refused(shared):
    fields = ("Content-Type: application/json", "Accept: application/json", "Transfer-Encoding: chunked")
    with shared.connect() as connection:
        connection.send(head("POST", "/mcp", *fields) + b"2\r\n{}\r\n0\r\n")
        for number in range(400):
            connection.send(f"X-{number}: {'x' * 1000}\r\n".encode())
        assert connection.answer().status == 400
        assert connection.ended


def test_slow_head_is_given_up(serve):
    served = serve(HEAD_TIME=0.1)
    with served.connect() as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost:")
        answer = connection.answer()
        assert (answer.status, answer.fields["connection"]) == (408, "close")
        assert connection.ended


def test_connection_without_a_request_is_closed(serve):
    served = serve(IDLE_TIME=0.1)
    with served.connect() as connection:
        assert connection.ended


def test_empty_lines_keep_no_connection_open(serve):
    served = serve(IDLE_TIME=1)
    with served.connect() as connection:
        assert connection.ask(head("GET", "/healthz")).status == 200
        connection.send(b"\r\n" * 10)
        assert connection.ended


def test_slow_body_is_given_up(serve):
    served = serve(client_stall=0.3)
    with served.connect() as connection:
        connection.send(post(b"").replace(b"Content-Length: 0", b"Content-Length: 10") + b"{")
        answer = connection.answer()
        assert (answer.status, answer.fields["connection"]) == (408, "close")
        assert answer.frame["error"]["message"] == "Bad request: the body did not come in time"
        assert connection.ended
    assert served.ask(call("echo", text="others are served")).text == "others are served"


def test_client_that_leaves_in_the_middle_of_its_body_is_no_trouble(shared):
    for _ in range(20):
        with shared.connect() as connection:
            connection.send(call("echo", text="half")[:-10])
    assert shared.ask(call("echo", text="whole")).text == "whole"


def test_many_idle_connections_cost_no_process(serve):
    served = serve()
    served.ask(call("echo", text="the first"))
    before = served.children()
    connections = [Connection(served.port) for _ in range(500)]
    assert all(connection.ask(head("GET", "/healthz")).status == 200 for connection in connections)
    assert served.children() == before
    for connection in connections:
        connection.close()

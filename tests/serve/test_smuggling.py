"""One sequence of bytes is one sequence of requests, whoever reads it (RFC 9112, section 11.2).

The tool ``barrier`` with a count of 1 answers how often it has been called, so a request that is run in secret is seen by the next.
"""

from __future__ import annotations

import pytest
from tests.serve.wire import call, head, modern_body, modern_fields

HIDDEN = call("barrier", count=1)
_BODY = modern_body("tools/call", name="barrier", arguments={"count": 1})
_FIELDS = ["Content-Type: application/json", "Accept: application/json", *modern_fields("tools/call", {"name": "barrier"})]


def request(*fields: str, body: bytes = _BODY, version: str = "1.1") -> bytes:
    return head("POST", "/mcp", *_FIELDS, *fields, version=version) + body


def chunked(*chunks: bytes, coding: str = "Transfer-Encoding: chunked") -> bytes:
    return request(coding, body=b"".join(chunks))


LENGTH = f"Content-Length: {len(_BODY)}"
WHOLE = b"%x\r\n%b\r\n0\r\n\r\n" % (len(_BODY), _BODY)
REFUSED = {
    "two equal lengths": request(LENGTH, LENGTH),
    "two lengths": request(LENGTH, "Content-Length: 0"),
    "a list of lengths": request(f"{LENGTH}, {len(_BODY)}"),
    "a signed length": request(f"Content-Length: +{len(_BODY)}"),
    "a negative length": request("Content-Length: -1"),
    "no digits": request("Content-Length: "),
    "a length with a space": request("Content-Length: 1 0"),
    "space before the colon": request(f"Content-Length : {len(_BODY)}"),
    "length, then chunks": request(LENGTH, "Transfer-Encoding: chunked", body=WHOLE),
    "chunks, then length": request("Transfer-Encoding: chunked", LENGTH, body=WHOLE),
    "chunks twice": request("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=WHOLE),
    "chunks of nothing known": chunked(WHOLE, coding="Transfer-Encoding: identity, chunked"),
    "identity line, then chunks": request("Transfer-Encoding: identity", "Transfer-Encoding: chunked", body=WHOLE),
    "nearly chunks": chunked(WHOLE, coding="Transfer-Encoding: xchunked"),
    "chunks in HTTP/1.0": request("Transfer-Encoding: chunked", body=WHOLE, version="1.0"),
    "folded line": request("X-Folded: a\r\n b", LENGTH),
    "folded first line": head("POST", "/mcp").replace(b"Host", b" X: y\r\nHost") + _BODY,
    "wrong chunk size": chunked(b"zz\r\n", _BODY, b"\r\n0\r\n\r\n"),
    "huge chunk size": chunked(b"fffffffffffffffff\r\n", _BODY, b"\r\n0\r\n\r\n"),
    "negative chunk size": chunked(b"-1\r\n", _BODY, b"\r\n0\r\n\r\n"),
    "chunk size in C": chunked(b"0x%x\r\n" % len(_BODY), _BODY, b"\r\n0\r\n\r\n"),
    "chunk size with a space": chunked(b"%x \r\n" % len(_BODY), _BODY, b"\r\n0\r\n\r\n"),
    "chunk size without CR": chunked(b"%x\n" % len(_BODY), _BODY, b"\r\n0\r\n\r\n"),
    "chunk that is too long": chunked(b"1\r\n", _BODY, b"\r\n0\r\n\r\n"),
    "NUL in a value": request("X: a\0b", LENGTH),
    "NUL in a name": request("X\0: a", LENGTH),
    "bare LF": request(LENGTH).replace(b"\r\n", b"\n"),
    "one bare LF": request(f"X: y\n{LENGTH}", LENGTH),
    "bare CR": request(f"X: y\r{LENGTH}", LENGTH),
    "no name": request(": x", LENGTH),
    "two hosts": request("Host: localhost", LENGTH),
    "no host": request(LENGTH).replace(b"Host: localhost\r\n", b""),
    "CONNECT": request(LENGTH).replace(b"POST /mcp", b"CONNECT localhost:80"),
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/1.2": request(LENGTH, version="1.2"),
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_request_that_can_be_read_in_two_ways_is_refused_and_nothing_after_it_is_run(shared, data):
    before = int(shared.ask(HIDDEN).text)
    with shared.connect() as connection:
        connection.send(data + HIDDEN)
        answer = connection.answer()
        assert answer.status in (400, 505), answer
        assert answer.fields["connection"] == "close"
        assert connection.ended
    assert int(shared.ask(HIDDEN).text) == before + 1


def test_nothing_is_run_after_the_request_that_ends_the_connection(shared):
    before = int(shared.ask(HIDDEN).text)
    with shared.connect() as connection:
        connection.send(call("barrier", "Connection: close", count=1) + HIDDEN)
        assert int(connection.answer().text) == before + 1
        connection.send(HIDDEN)
        assert connection.ended
    assert int(shared.ask(HIDDEN).text) == before + 2


def test_what_came_before_the_fault_is_still_answered(shared):
    with shared.connect() as connection:
        connection.send(call("echo", text="before") + b"\0\0\0\0")
        assert connection.answer().text == "before"
        assert connection.ended


def test_offer_of_another_protocol_is_passed_over_and_the_body_is_a_body(shared):
    """A body may be a request itself: read as one, it would be run without whatever stands before us having seen it."""
    before = int(shared.ask(HIDDEN).text)
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
    with shared.connect() as connection:
        assert int(connection.ask(call("barrier", *offer, count=1)).text) == before + 1
        start = head("POST", "/elsewhere", *offer, f"Content-Length: {len(HIDDEN)}")
        connection.send(start)
        connection.send(HIDDEN)
        assert connection.answer().status == 404
        assert connection.ended
    with shared.connect() as connection:
        start, _, body = call("barrier", *offer, count=1).partition(b"\r\n\r\n")
        connection.send(start + b"\r\n\r\n" + body[:10])
        connection.send(body[10:])
        assert int(connection.answer().text) == before + 2
        assert int(connection.ask(HIDDEN).text) == before + 3


def test_field_after_the_body_is_no_field_of_the_head(serve):
    served = serve("--principal-header", "X-User")
    body = modern_body("tools/call", name="barrier", arguments={"count": 1})
    start = head("POST", "/mcp", *_FIELDS, "X-User: me", "Transfer-Encoding: chunked")
    answer = served.ask(start + b"%x\r\n%b\r\n0\r\nX-User: you\r\nHost: elsewhere\r\n\r\n" % (len(body), body))
    assert answer.text == "1"
    assert int(served.ask(call("barrier", "X-User: me", count=1)).text) == 2
    assert int(served.ask(call("barrier", "X-User: you", count=1)).text) == 1

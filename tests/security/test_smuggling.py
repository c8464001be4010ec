"""Requests hidden in requests (RFC 9112, sections 2.2, 5, 6, 7 and 11.2).

Where two programs read one byte stream as different requests, what the first has judged is not what the second serves. Behind every
attack stands a whole call of a tool: it must not run where a careful reader takes it for a body.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.cases.served import Served, head
from tests.security.attacks import BYE, call_of, called, fields, frame

INNER = call_of("count")
BODY = frame("server/discover")
OUTER = fields("server/discover")
SIZE = str(len(BODY))
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


def outer(**own: Any) -> bytes:
    """The head of the request that hides another."""
    return head("POST", "/mcp", {**OUTER, **{name.replace("_", "-"): value for name, value in own.items()}})


def attacked(served: Served, data: bytes) -> list[int]:
    """The statuses of what was answered; the hidden call has not run, and the endpoint is well."""
    statuses = [reply.status for reply in served.raw(data + INNER + BYE)]
    assert served.caller("Bearer later").said("echo", text="x") == "x"
    assert called(served) == ["echo"]
    return statuses


def test_call_that_follows_in_the_open_runs(served: Served) -> None:
    """Pipelining is no attack; and without this, the tests below would prove nothing."""
    assert [reply.status for reply in served.raw(outer(Content_Length=SIZE) + BODY + INNER + BYE)] == [200, 200, 200]
    assert called(served) == ["count"]


def test_call_that_follows_chunks_in_the_open_runs(served: Served) -> None:
    assert [reply.status for reply in served.raw(outer(Transfer_Encoding="chunked") + CHUNKS + INNER + BYE)] == [200, 200, 200]
    assert called(served) == ["count"]


@pytest.mark.parametrize(
    "lengths",
    [
        *(["0", "0"], [SIZE, SIZE], ["0", SIZE], [SIZE, "0"]),
        *(
            [value]
            for value in ("+0", "-0", "0x0", "0, 0", "0 0", "0;", "0.0", "", " ", "1e1", "99999999999999999999999", "²".encode(), b"0\x0b")
        ),
    ],
)
def test_length_that_two_readers_may_read_differently_is_refused(served: Served, lengths: list[Any]) -> None:
    assert attacked(served, outer(Content_Length=lengths) + BODY) == [400]


@pytest.mark.parametrize("coding", ["chunked", "Chunked", "identity", "xchunked", "chunked, identity", "gzip, chunked", "", b"chunked\x0b"])
@pytest.mark.parametrize("order", [("Content-Length", "Transfer-Encoding"), ("Transfer-Encoding", "Content-Length")])
def test_length_beside_a_coding_is_refused(served: Served, coding: Any, order: tuple[str, str]) -> None:
    own = {"Content-Length": SIZE, "Transfer-Encoding": coding}
    data = head("POST", "/mcp", {**OUTER, **{name: own[name] for name in order}})
    assert attacked(served, data + CHUNKS) == [400]


@pytest.mark.parametrize(
    "coding",
    [
        *(
            "identity",
            "xchunked",
            "chunkedx",
            "chunked, identity",
            "identity, chunked",
            "gzip, chunked",
            "chunked;x=y",
            "chunked ",
            '"chunked"',
            "",
        ),
        *(["chunked", "chunked"], ["chunked", "identity"], ["identity", "chunked"], b"chunked\x0b", b"\x0bchunked"),
    ],
)
def test_coding_that_is_not_plainly_chunked_is_refused(served: Served, coding: Any) -> None:
    assert attacked(served, outer(Transfer_Encoding=coding) + CHUNKS) == [400]


@pytest.mark.parametrize(
    "size",
    [
        *(
            b"%x \r\n",
            b" %x\r\n",
            b"0x%x\r\n",
            b"+%x\r\n",
            b"-%x\r\n",
            b"%x\n",
            b"%x\r",
            b"1000000000000000%x\r\n",
            b'%x;a="\r\n',
            b"%x;\n\r\n",
            b"%xg\r\n",
        ),
    ],
)
def test_size_of_a_chunk_that_two_readers_may_read_differently_is_refused(served: Served, size: bytes) -> None:
    assert attacked(served, outer(Transfer_Encoding="chunked") + size % len(BODY) + BODY + b"\r\n0\r\n\r\n") == [400]


def test_chunk_that_ends_early_or_late_is_refused(served: Served) -> None:
    short = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY) - 1, BODY)
    long = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY) + 1, BODY)
    assert attacked(served, outer(Transfer_Encoding="chunked") + short) == [400]
    served.forget()
    assert attacked(served, outer(Transfer_Encoding="chunked") + long) == [400]


def test_fields_after_the_body_change_nothing(served: Served) -> None:
    own = {**fields("tools/call", "count"), "Mcp-Method": "server/discover", "Mcp-Name": None, "Transfer-Encoding": "chunked"}
    body = frame("tools/call", name="count", arguments={})
    late = b"%x\r\n%b\r\n0\r\nMcp-Method: tools/call\r\nMcp-Name: count\r\nAuthorization: Bearer other\r\n\r\n" % (len(body), body)
    assert [reply.status for reply in served.raw(head("POST", "/mcp", own) + late + BYE)] == [400, 200]
    assert called(served) == []


@pytest.mark.parametrize(
    "line",
    [
        *(
            b"Transfer-Encoding : chunked",
            b" Transfer-Encoding: chunked",
            b"X: 1\r\n Transfer-Encoding: chunked",
            b"Transfer-Encoding\x00: chunked",
        ),
        *(
            b"Transfer-Encoding",
            b": chunked",
            b"X: a\x00b",
            b"X: a\rTransfer-Encoding: chunked",
            b"X: a\nTransfer-Encoding: chunked\r\nY: 1\n",
        ),
        *(b"Transfer\xadEncoding: chunked", b"X(: 1"),
    ],
)
def test_line_of_a_head_that_two_readers_may_read_differently_is_refused(served: Served, line: bytes) -> None:
    data = outer(Content_Length="5")[:-2] + line + b"\r\n\r\n0\r\n\r\n"
    assert attacked(served, data) == [400]


def test_head_with_bare_line_feeds_is_refused(served: Served) -> None:
    assert attacked(served, outer(Content_Length=SIZE).replace(b"\r\n", b"\n") + BODY) == [400]


@pytest.mark.parametrize("version", [b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/11", b"http/1.1", b"HTTP/1.1 x", b""])
def test_version_that_is_not_ours_is_refused(served: Served, version: bytes) -> None:
    assert attacked(served, outer(Content_Length=SIZE).replace(b"HTTP/1.1", version, 1) + BODY)[0] in (400, 505)


@pytest.mark.parametrize("verb", ["GET", "HEAD", "DELETE", "OPTIONS", "PUT", "TRACE"])
@pytest.mark.parametrize("target", ["/mcp", "/healthz", "/nothing"])
def test_body_of_a_request_that_needs_none_is_no_request(served: Served, verb: str, target: str) -> None:
    data = head(verb, target, {"Host": "localhost", "Content-Length": str(len(INNER))}) + INNER
    with served.connect() as connection:
        connection.sendall(data + BYE)
        while connection.recv(65536):
            pass
    assert served.caller("Bearer later").said("echo", text="x") == "x"
    assert called(served) == ["echo"]


@pytest.mark.parametrize(
    "own", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"}]
)
def test_body_of_a_request_that_was_refused_by_its_head_is_no_request(served: Served, own: Any) -> None:
    data = head("POST", "/mcp", {**OUTER, **own, "Content-Length": str(len(INNER))}) + INNER
    replies = served.raw(data + BYE)
    assert replies[0].status in (403, 415)
    assert (len(replies), replies[0].field("connection")) == (1, "close")
    assert called(served) == []


def test_nothing_is_read_after_a_request_that_ends_its_connection(served: Served) -> None:
    assert attacked(served, outer(Connection="close", Content_Length=SIZE) + BODY) == [200]


def test_nothing_is_read_after_a_request_of_http_1_0(served: Served) -> None:
    assert attacked(served, outer(Content_Length=SIZE).replace(b"HTTP/1.1", b"HTTP/1.0") + BODY) == [200]


@pytest.mark.parametrize("protocol", ["h2c", "websocket", "TLS/1.3", "foo"])
def test_offer_of_another_protocol_hides_no_body(served: Served, protocol: str) -> None:
    """The offer is passed over, and what stands where the body is remains the body."""
    data = outer(Connection="Upgrade, HTTP2-Settings", Upgrade=protocol, HTTP2_Settings="AA", Content_Length=str(len(INNER)))
    assert attacked(served, data) == [400, 200]


def test_tunnel_is_not_opened(served: Served) -> None:
    assert attacked(served, head("CONNECT", "127.0.0.1:22", {"Host": "localhost"})) == [400]

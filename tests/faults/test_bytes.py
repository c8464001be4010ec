"""Answers that come in odd pieces, odd codings, too short, too long, or are no HTTP at all."""

from __future__ import annotations

import gzip
import json
import time
import zlib

import pytest
from far import Request, Wire, content, modern

TEXT = "h\u00e9llo \u4e16\u754c \U0001f600"


def line(request: Request, text: str) -> bytes:
    return json.dumps(content(request, text), ensure_ascii=False).encode()


def answered(far, wrap, tool, *options: str):
    """What a call of a tool comes to, and what a call of ``echo`` after it does."""
    bridge = wrap(far(modern(odd=tool)).url(), *options)
    answer = bridge.answer(bridge.call("odd"))
    assert bridge.said(bridge.call("echo", text="next")) == "next"
    return answer


def text_of(answer) -> str:
    return answer["result"]["content"][0]["text"]


# --- pieces ---


def test_body_cut_within_its_characters(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        body = line(request, TEXT)
        await wire.head(200, "Content-Type: application/json", f"Content-Length: {len(body)}")
        await wire.pieces(*(body[at : at + 1] for at in range(len(body))), pause=0.001)

    assert text_of(answered(far, wrap, odd)) == TEXT


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
def test_events_cut_within_characters_and_line_ends(far, wrap, ending):
    async def odd(request: Request, wire: Wire) -> None:
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": TEXT}}
        data = b": hi" + ending + b"data: " + json.dumps(note).encode() + ending * 2 + b"data: " + line(request, TEXT) + ending * 2
        await wire.stream()
        for at in range(0, len(data), 3):
            await wire.chunk(data[at : at + 3])
        await wire.end()

    assert text_of(answered(far, wrap, odd)) == TEXT


def test_chunked_coding_cut_within_its_own_line_ends(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        event = b"data: " + line(request, TEXT) + b"\r\n\r\n"
        half = len(event) - 3
        coded = f"{half:x};ext=1\r\n".encode() + event[:half] + f"\r\n{3:x}\r\n".encode() + event[half:] + b"\r\n0\r\n\r\n"
        await wire.stream()
        await wire.pieces(*(coded[at : at + 1] for at in range(len(coded))), pause=0.001)

    assert text_of(answered(far, wrap, odd)) == TEXT


def test_head_cut_anywhere(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        body = line(request, TEXT)
        head = f"HTTP/1.1 200 OK\r\ncontent-TYPE:application/json\r\nContent-Length:  {len(body)} \r\n\r\n".encode()
        await wire.pieces(*((head + body)[at : at + 2] for at in range(0, len(head + body), 2)), pause=0.001)

    assert text_of(answered(far, wrap, odd)) == TEXT


# --- codings ---


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_compressed_body(far, wrap, coding):
    async def odd(request: Request, wire: Wire) -> None:
        assert coding in request.fields["accept-encoding"]
        body = line(request, TEXT)
        packed = gzip.compress(body) if coding == "gzip" else zlib.compress(body)
        await wire.body(packed, 200, "application/json", f"Content-Encoding: {coding}")

    assert text_of(answered(far, wrap, odd)) == TEXT


def test_compressed_stream_is_read_event_by_event(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        packer = zlib.compressobj(wbits=31)
        await wire.stream("Content-Encoding: gzip")
        note = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"first"}}\n\n'
        await wire.chunk(packer.compress(note) + packer.flush(zlib.Z_SYNC_FLUSH))
        await wire.hang()

    bridge = wrap(far(modern(odd=odd)).url(), "--drain-timeout", "0.2")
    bridge.ask("tools/call", {"name": "odd", "arguments": {}})
    assert bridge.note("notifications/message")["params"]["data"] == "first"


def test_compressed_bomb_is_an_error_and_costs_little_memory(far, wrap):
    bomb = gzip.compress(b" " * (400 << 20), 9)

    async def odd(request: Request, wire: Wire) -> None:
        await wire.body(bomb, 200, "application/json", "Content-Encoding: gzip")

    bridge = wrap(far(modern(odd=odd)).url(), "--max-line", "8M")
    assert "--max-line" in bridge.error(bridge.call("odd"))["message"]
    assert bridge.memory() < 200 << 20
    assert bridge.said(bridge.call("echo", text="next")) == "next"


def test_body_that_is_not_compressed_as_it_says_is_an_error(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.body(b"not gzip at all", 200, "application/json", "Content-Encoding: gzip")

    assert "error" in answered(far, wrap, odd)


# --- lengths ---


def test_http_1_0_without_a_length_ends_with_the_connection(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.raw(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + line(request, TEXT))
        wire.close()

    assert text_of(answered(far, wrap, odd)) == TEXT


def test_body_shorter_than_it_says_is_a_broken_connection(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        body = line(request, TEXT)
        await wire.raw(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body) + 5}\r\n\r\n".encode() + body)
        wire.close()

    assert "whether it was carried out is not known" in answered(far, wrap, odd)["error"]["message"]


def test_body_longer_than_it_says_answers_nobody_with_its_rest(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        body = line(request, TEXT)
        await wire.raw(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await wire.raw(b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"smuggled"}]}}')

    bridge = wrap(far(modern(odd=odd)).url())
    first, second = bridge.call("odd"), bridge.call("echo", text="next")
    assert bridge.said(second) == "next"
    assert "smuggled" not in str(bridge.answer(first).get("result"))


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x02\x00" * 30,
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
    ids=["ssh", "tls", "status", "negative", "two lengths", "chunk", "head"],
)
def test_garbage_is_an_error(far, wrap, garbage):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.raw(garbage)
        wire.close()

    error = answered(far, wrap, odd)["error"]
    assert error["code"] == -32603
    assert len(error["message"]) < 600


@pytest.mark.parametrize("how", ["reset", "close"])
def test_connection_cut_off_without_an_answer_is_an_error(far, wrap, how):
    async def odd(request: Request, wire: Wire) -> None:
        getattr(wire, how)()

    assert "whether it was carried out is not known" in answered(far, wrap, odd)["error"]["message"]


def test_informational_answers_are_passed_over(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        await wire.json(content(request, TEXT))

    assert text_of(answered(far, wrap, odd)) == TEXT


# --- silence, and no end ---


def test_server_that_never_answers_is_bounded_by_the_request_timeout(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.hang()

    began = time.monotonic()
    assert "error" in answered(far, wrap, odd, "--request-timeout", "1")
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_server_that_stops_within_its_answer_is_bounded_by_the_request_timeout(far, wrap, kind):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.head(200, f"Content-Type: {kind}", "Content-Length: 1000")
        await wire.raw(b'data: {"jsonrpc":'[6 if "json" in kind else 0 :])
        await wire.hang()

    assert "error" in answered(far, wrap, odd, "--request-timeout", "1")


def test_server_that_never_answers_its_first_question_is_told_in_time(far, wrap):
    async def answer(request: Request, wire: Wire) -> None:
        await wire.hang()

    bridge = wrap(far(answer).url(), "--start-timeout", "2")
    began = time.monotonic()
    assert "cannot be used now" in bridge.error(bridge.call("echo"))["message"]
    assert time.monotonic() - began < 12


def test_stream_without_any_line_end_is_an_error_of_bounded_size(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.stream()
        await wire.chunk(b"data: ")
        for _ in range(100):
            await wire.chunk(b"x" * (1 << 20))
        await wire.chunk(b"\n\n")
        await wire.end()

    bridge = wrap(far(modern(odd=odd)).url(), "--max-line", "4M")
    assert "--max-line" in bridge.error(bridge.call("odd"))["message"]
    assert bridge.memory() < 150 << 20


def test_stream_that_never_ends_a_line_is_bounded_in_memory_and_by_the_request_timeout(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.stream()
        while True:
            await wire.chunk(b"x" * (1 << 16))

    bridge = wrap(far(modern(odd=odd)).url(), "--max-line", "4M", "--request-timeout", "2")
    assert "error" in bridge.answer(bridge.call("odd"))
    assert bridge.memory() < 150 << 20
    assert bridge.said(bridge.call("echo", text="next")) == "next"


def test_events_without_end_do_not_keep_others_from_their_answers(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.stream()
        while True:
            await wire.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "debug", "data": "x" * 1000}})

    bridge = wrap(far(modern(odd=odd)).url(), "--request-timeout", "15", "--drain-timeout", "0.5")
    bridge.call("odd")
    bridge.note("notifications/message")
    for number in range(5):
        assert bridge.said(bridge.call("echo", text=str(number))) == str(number)
    assert bridge.memory() < 150 << 20


# --- requests ---


@pytest.mark.parametrize("how", ["close", "reset"])
def test_request_that_is_refused_before_it_is_read_is_an_error(far, wrap, how):
    server = far(modern(), most=1 << 20, refuses=how)
    bridge = wrap(server.url())
    error = bridge.error(bridge.call("echo", text="x" * (20 << 20)))
    assert error["code"] == -32603
    assert bridge.said(bridge.call("echo", text="next")) == "next"


def test_ten_megabytes_reach_the_server_byte_for_byte(far, wrap):
    server = far(modern())
    bridge = wrap(server.url())
    text = TEXT * (1 << 19)
    assert bridge.said(bridge.call("echo", text=text)) == text
    assert len(server.of("tools/call")[0].body) > 10 << 20

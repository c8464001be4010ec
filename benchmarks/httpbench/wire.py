"""A raw HTTP/1.1 client: sockets, bytes, and the clock around them.

Requests are encoded before the clock starts. While it runs, an answer is looked at only to see where it ends: the length that its
head tells, or the last chunk. What it says is read, strictly, after the clock has stopped. So this side takes about as much processor
time a call as wrk does (30 µs, two thirds of them the kernel's, which delivers on the loopback while it sends), and the contender is
what is measured. ``Flood.driver`` lets every run say so.
"""

from __future__ import annotations

import json
import select
import socket
import time
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

from shared import WrongAnswerError

if TYPE_CHECKING:
    from collections.abc import Sequence

BUFFER = memoryview(bytearray(1 << 20))
"""Where answers arrive. ``recv`` would ask the system for new pages each time: 30 µs for 256 KiB."""

LAST_CHUNK = b"0\r\n\r\n"
END_OF_HEAD = b"\r\n\r\n"

Headers = dict[str, str]


class Answer(NamedTuple):
    """One HTTP answer, read in full; names of headers are in lower case."""

    status: int
    headers: Headers
    body: bytes


def post(port: int, path: str, headers: Headers, frame: object) -> bytes:
    """A POST of one frame, as bytes."""
    body = json.dumps(frame, separators=(",", ":")).encode()
    told = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **headers,
        "Content-Length": str(len(body)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def missing(data: bytes) -> int:
    """How many bytes of an answer are still to come: 0 when it is whole (``parsed`` tells if it is too long), -1 while that is unknown."""
    end = data.find(END_OF_HEAD)
    if end < 0:
        return -1
    head = data[: end + 2].lower()
    at = head.find(b"\r\ncontent-length:")
    if at >= 0:
        return max(0, end + 4 + int(head[at + 17 : head.index(b"\r\n", at + 17)]) - len(data))
    return 0 if data.endswith(LAST_CHUNK, end + 4) else -1


def connect(port: int) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def ask(line: socket.socket, request: bytes) -> tuple[int, bytes]:
    """Send one request and read to the end of its answer: nanoseconds and bytes. An answer that breaks off is returned as it is."""
    receive, buffer = line.recv_into, BUFFER
    began = perf_counter_ns()
    line.sendall(request)
    data = bytes(buffer[: receive(buffer)])
    left = missing(data)
    if left:
        chunks = [data]
        while left and (count := receive(buffer)):
            data = bytes(buffer[:count])
            chunks.append(data)
            if left > 0:
                left -= len(data)
            elif len(chunks) < 4 or data.endswith(b"\n"):  # joining a big answer again and again would be what is measured
                chunks = [b"".join(chunks)]
                left = missing(chunks[0])
        data = b"".join(chunks)
    return perf_counter_ns() - began, data


def ask_each(line: socket.socket, requests: Sequence[bytes]) -> tuple[list[int], list[bytes]]:
    """One request after another on one connection: nanoseconds and answers."""
    asked = [ask(line, request) for request in requests]
    return [took for took, _ in asked], [answer for _, answer in asked]


class Flood(NamedTuple):
    """What many connections at once took: nanoseconds, this side's processor time in nanoseconds, and the answers by connection."""

    took: int
    driver: int
    answers: list[list[bytes]]


def flood(lines: list[socket.socket], requests: list[list[bytes]]) -> Flood:
    """Keep every connection busy with its own requests, one in flight on each, until all are answered."""
    poller = select.epoll()
    waiting = {line.fileno(): (line, iter(list_), []) for line, list_ in zip(lines, requests, strict=True)}
    answers: list[list[bytes]] = [got for _, _, got in waiting.values()]
    parts: dict[int, bytes] = {}
    for line in lines:
        line.setblocking(False)
        poller.register(line.fileno(), select.EPOLLIN)
    buffer = BUFFER
    spent, began = time.process_time_ns(), perf_counter_ns()
    for line, following, _ in waiting.values():
        line.send(next(following))
    busy = len(waiting)
    while busy:
        for number, _ in poller.poll():
            line, following, got = waiting[number]
            data = bytes(buffer[: line.recv_into(buffer)])
            if not data:
                raise WrongAnswerError(f"the connection ended after {len(got)} answers, at {parts.get(number, b'')[:200]!r}")
            if number in parts:
                data = parts.pop(number) + data
            if missing(data):
                parts[number] = data
                continue
            got.append(data)
            if (request := next(following, None)) is None:
                busy -= 1
            else:
                line.send(request)
    result = Flood(perf_counter_ns() - began, time.process_time_ns() - spent, answers)
    poller.close()
    for line in lines:
        line.setblocking(True)
    return result


def parsed(data: bytes) -> Answer:
    """The whole answer in ``data``; anything that is not exactly one answer is a fault."""
    head, mark, body = data.partition(END_OF_HEAD)
    first, *rest = head.decode("latin-1").split("\r\n")
    if not mark or not first.startswith("HTTP/1.1 "):
        raise WrongAnswerError(f"no HTTP answer: {data[:200]!r}")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = unchunked(body)
    elif len(body) != int(headers.get("content-length", "0")):
        raise WrongAnswerError(f"the body is not as long as the head says: {data[:200]!r}")
    return Answer(int(first[9:12]), headers, body)


def unchunked(body: bytes) -> bytes:
    """The body without the framing of its chunks."""
    pieces, at, size = [], 0, 1
    while size:
        length, mark, _ = body[at : at + 20].partition(b"\r\n")
        if not mark or not length.isalnum():
            raise WrongAnswerError(f"no chunk begins at {at}: {body[at : at + 200]!r}")
        size = int(length, 16)
        start = at + len(length) + 2
        at = start + size + 2
        if body[at - 2 : at] != b"\r\n":
            raise WrongAnswerError(f"a chunk is not as long as it says: {body[:200]!r}")
        pieces.append(body[start : at - 2])
    if at != len(body):
        raise WrongAnswerError(f"bytes after the last chunk: {body[at : at + 200]!r}")
    return b"".join(pieces)


def frame_in(answer: Answer) -> object:
    """The frame that a JSON answer is, or the last one of an event stream; None where there is no body."""
    body = answer.body
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        told = [line[5:] for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data:") and line[5:].strip()]
        body = told[-1] if told else b""
    return json.loads(body) if body else None

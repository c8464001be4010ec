"""Big answers arrive byte for byte, and a client that reads slowly slows the server down instead of filling our memory."""

from __future__ import annotations

import asyncio
import json
import random

import pytest
from far import Request, Wire, content, modern

SIZE = 10 << 20


def noise(size: int) -> str:
    """Text that holds what needs care: escapes, characters of every length."""
    letters = 'abc "\\/\n\t\u00e9\u4e16\U0001f600\x7f\u2028'
    return "".join(random.Random(7).choices(letters, k=size * 2 // 3))


@pytest.mark.parametrize("way", ["body", "chunked", "event"])
def test_ten_megabytes_arrive_byte_for_byte(far, wrap, way):
    text = noise(SIZE)
    said: list[bytes] = []

    async def big(request: Request, wire: Wire) -> None:
        said.append(json.dumps(content(request, text), ensure_ascii=False).encode())
        if way == "body":
            await wire.body(said[0])
            return
        if way == "event":
            await wire.stream()
            await wire.event(said[0])
        else:
            await wire.head(200, "Content-Type: application/json", "Transfer-Encoding: chunked")
            for at in range(0, len(said[0]), 70_001):
                await wire.chunk(said[0][at : at + 70_001])
        await wire.end()

    bridge = wrap(far(modern(big=big)).url())
    bridge.call("big")
    line = bridge.line()
    assert len(line) > SIZE
    assert line == said[0]


def test_client_that_does_not_read_slows_the_server_down(far, wrap):
    filler = "x" * (1 << 20)

    async def flood(request: Request, wire: Wire) -> None:
        await wire.stream()
        for number in range(200):
            note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": [number, filler]}}
            await wire.event(note)
            sent.append(number)
        await wire.event(content(request, "done"))
        await wire.end()

    sent: list[int] = []
    server = far(modern(flood=flood))
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="ready")) == "ready"
    bridge.stop_reading()
    call = bridge.call("flood")
    server.wait("tools/call", 2)
    seen = -1
    while seen != len(sent):  # until it has come to a stop
        seen = len(sent)
        server._run(asyncio.sleep(1.5))
    assert len(sent) < 100
    assert bridge.memory() < 150 << 20
    bridge.go_on_reading()
    assert bridge.said(call) == "done"
    numbers = [frame["params"]["data"][0] for frame in bridge.frames if frame.get("method") == "notifications/message"]
    assert numbers == list(range(200))
    assert bridge.memory() < 200 << 20


def test_one_answer_of_a_hundred_megabytes_to_a_client_that_reads_late(far, wrap):
    filler = "x" * (100 << 20)

    async def big(request: Request, wire: Wire) -> None:
        await wire.json(content(request, filler))

    bridge = wrap(far(modern(big=big)).url())
    bridge.stop_reading()
    call = bridge.call("big")
    bridge.go_on_reading()
    assert len(bridge.said(call)) == 100 << 20
    assert bridge.memory() < 600 << 20  # the whole message, joined once and copied on its way

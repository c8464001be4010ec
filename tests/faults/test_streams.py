"""Standing streams that drop: opened again, and what was missed is announced."""

from __future__ import annotations

import asyncio
import time

from far import Legacy, Request, Wire, modern

CHANGED = "notifications/tools/list_changed"
META = "io.modelcontextprotocol/"


def listening(frames=()):
    """``subscriptions/listen`` as it should be: acknowledged, then whatever ``frames`` are, then silence."""

    async def listen(request: Request, wire: Wire) -> None:
        meta = {f"{META}subscriptionId": request.frame["id"]}
        wanted = request.frame["params"]["notifications"]
        await wire.stream()
        await wire.event(
            {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"_meta": meta, "notifications": wanted}}
        )
        for frame in frames:
            await wire.event({**frame, "params": {"_meta": meta}})
        await wire.hang()

    return listen


def test_listen_stream_that_drops_is_opened_again_for_a_legacy_client_and_what_was_missed_announced(far, wrap):
    server = far(modern(listen=listening()))
    bridge = wrap(server.url())
    bridge.initialize()
    server.wait("subscriptions/listen")
    assert bridge.said(bridge.legacy_call("echo", text="1")) == "1"
    assert all(frame.get("method") != CHANGED for frame in bridge.frames)
    dropped = time.monotonic()
    server.cut()
    server.wait("subscriptions/listen", 2)
    assert time.monotonic() - dropped < 15
    assert bridge.note(CHANGED)


def test_listen_stream_of_a_server_that_restarts_is_opened_again(far, wrap):
    server = far(modern(listen=listening()))
    bridge = wrap(server.url())
    bridge.initialize()
    server.wait("subscriptions/listen")
    server.shut()
    server.open()
    server.wait("subscriptions/listen", 2)
    assert bridge.note(CHANGED)


def test_changes_on_the_listen_stream_reach_a_legacy_client(far, wrap):
    server = far(modern(listen=listening([{"jsonrpc": "2.0", "method": CHANGED}])))
    bridge = wrap(server.url())
    bridge.initialize()
    assert bridge.note(CHANGED)


def test_standing_stream_of_a_legacy_server_is_taken_up_where_it_dropped(far, wrap):
    async def get(request: Request, wire: Wire) -> None:
        await wire.stream()
        if len(server.of("GET")) == 1:
            await wire.event(
                {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}, "id: 7", "retry: 200"
            )
            wire.reset()
            return
        await wire.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 2}}, "id: 8")
        await wire.hang()

    server = far(Legacy(get=get))
    bridge = wrap(server.url())
    bridge.initialize()
    assert server.wait("GET", 2).fields["last-event-id"] == "7"
    while len([frame for frame in bridge.frames if frame.get("method") == "notifications/message"]) < 2:
        bridge.frame()
    assert all(frame.get("method") != CHANGED for frame in bridge.frames)


def test_standing_stream_without_event_ids_is_opened_again_and_what_was_missed_announced(far, wrap):
    async def get(request: Request, wire: Wire) -> None:
        await wire.stream()
        if len(server.of("GET")) == 1:
            wire.reset()
        else:
            await wire.hang()

    server = far(Legacy(get=get))
    bridge = wrap(server.url())
    bridge.initialize()
    server.wait("GET", 2)
    assert bridge.note(CHANGED)


def test_call_that_is_interrupted_is_taken_up_where_it_broke(far, wrap):
    async def slow(request: Request, wire: Wire) -> None:
        waiting.append(request)
        await wire.stream()
        await wire.chunk(b"id: a\nretry: 100\ndata:\n\n")
        wire.reset()

    async def get(request: Request, wire: Wire) -> None:
        if request.fields.get("last-event-id") != "a":
            await wire.nothing(405)
            return
        await wire.stream()
        answer = {"jsonrpc": "2.0", "id": waiting[0].frame["id"], "result": {"content": [{"type": "text", "text": "after all"}]}}
        await wire.event(answer, "id: b")
        await wire.end()

    waiting: list[Request] = []
    server = far(Legacy(get=get, slow=slow))
    bridge = wrap(server.url())
    bridge.initialize()
    assert bridge.said(bridge.legacy_call("slow")) == "after all"
    assert len(waiting) == 1


def test_cancelled_modern_call_has_its_connection_closed(far, wrap):
    closed = asyncio.Event()

    async def slow(request: Request, wire: Wire) -> None:
        await wire.stream()
        await wire.hang()
        closed.set()

    server = far(modern(slow=slow))
    bridge = wrap(server.url())
    call = bridge.call("slow")
    server.wait("tools/call")
    bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
    assert server._run(asyncio.wait_for(closed.wait(), 10)) is True
    assert "notifications/cancelled" not in server.whats()
    assert bridge.said(bridge.call("echo", text="next")) == "next"


def test_put_off_call_is_sent_again_when_the_server_says(far, wrap):
    async def busy(request: Request, wire: Wire) -> None:
        calls = [each for each in server.seen if each.tool == "busy"]
        if len(calls) == 1:
            await wire.nothing(429, "Retry-After: 1")
        else:
            await echo_of(request, wire)

    async def echo_of(request: Request, wire: Wire) -> None:
        from far import content

        await wire.json(content(request, "at last"))

    server = far(modern(busy=busy))
    bridge = wrap(server.url())
    began = time.monotonic()
    assert bridge.said(bridge.call("busy")) == "at last"
    assert time.monotonic() - began >= 1


def test_server_that_is_put_off_for_long_is_told_with_the_time(far, wrap):
    async def busy(request: Request, wire: Wire) -> None:
        await wire.nothing(503, "Retry-After: 3600")

    bridge = wrap(far(modern(busy=busy)).url())
    assert bridge.error(bridge.call("busy"))["data"] == {"status": 503, "retryAfter": "3600"}

"""A server that goes away and comes back, between calls and during them."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from far import Legacy, Request, Wire, content, modern


async def hang(request: Request, wire: Wire) -> None:
    await wire.hang()


def test_nothing_goes_wrong(far, wrap):
    server = far(modern())
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="héllo")) == "héllo"
    assert bridge.stderr() == ""


def test_modern_server_that_restarts_between_calls_costs_nothing(far, wrap):
    server = far(modern())
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="1")) == "1"
    server.shut()
    second = bridge.call("echo", text="2")
    server.open()
    assert bridge.said(second) == "2"
    assert len(server.of("tools/call")) == 2


@pytest.mark.parametrize("harmless", [(), ("slow",)], ids=["harm", "harmless"])
def test_modern_server_that_restarts_during_a_call(far, wrap, harmless):
    async def slow(request: Request, wire: Wire) -> None:
        if len(server.of("tools/call")) == 1:
            await wire.hang()
        await wire.json(content(request, "done"))

    server = far(modern(harmless=harmless, slow=slow))
    bridge = wrap(server.url())
    call = bridge.call("slow")
    server.wait("tools/call")
    server.shut()
    server.open()
    if harmless:
        assert bridge.said(call) == "done"
    else:
        error = bridge.error(call)
        assert error["code"] == -32603
        assert "whether it was carried out is not known" in error["message"]
        assert bridge.said(bridge.call("echo", text="next")) == "next"


def test_legacy_server_that_forgets_its_sessions_is_greeted_once_and_no_call_is_lost(far, wrap):
    behaves = Legacy()
    server = far(behaves)
    bridge = wrap(server.url())
    bridge.initialize()
    assert bridge.said(bridge.legacy_call("echo", text="1")) == "1"
    behaves.forget()
    calls = [bridge.legacy_call("echo", text=str(number)) for number in range(5)]
    assert [bridge.said(call) for call in calls] == ["0", "1", "2", "3", "4"]
    assert behaves.begun == 2
    assert bridge.note("notifications/tools/list_changed")


def test_legacy_server_that_restarts_between_calls_costs_nothing(far, wrap):
    behaves = Legacy()
    server = far(behaves)
    bridge = wrap(server.url())
    bridge.initialize()
    server.wait("GET")
    server.shut()
    behaves.forget()
    call = bridge.legacy_call("echo", text="2")
    server.open()
    assert bridge.said(call) == "2"


def test_legacy_server_that_restarts_during_a_call_fails_it_and_serves_the_next(far, wrap):
    behaves = Legacy(slow=hang)
    server = far(behaves)
    bridge = wrap(server.url())
    bridge.initialize()
    call = bridge.legacy_call("slow")
    server.wait("tools/call")
    server.shut()
    behaves.forget()
    server.open()
    assert "whether it was carried out is not known" in bridge.error(call)["message"]
    assert bridge.said(bridge.legacy_call("echo", text="next")) == "next"


def test_modern_client_does_not_notice_that_a_legacy_server_has_restarted(far, wrap):
    behaves = Legacy()
    server = far(behaves)
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="1")) == "1"
    server.shut()
    behaves.forget()
    call = bridge.call("echo", text="2")
    server.open()
    assert bridge.said(call) == "2"


def test_server_that_is_down_at_first_is_told_and_then_used(far, wrap):
    server = far(modern(), open=False)
    bridge = wrap(server.url())
    error = bridge.error(bridge.call("echo", text="1"))
    assert "cannot be used now" in error["message"]
    server.open()
    assert bridge.said(bridge.call("echo", text="2")) == "2"


def test_requests_over_http_are_answered_502_while_the_server_is_down(far, serve):
    server = far(modern(), open=False)
    bridge = serve(server.url())
    status, fields, message = bridge.post("tools/call", {"name": "echo", "arguments": {"text": "1"}})
    assert (status, fields["retry-after"]) == (502, "1")
    assert "cannot be used now" in message["error"]["message"]
    server.open()
    assert bridge.post("tools/call", {"name": "echo", "arguments": {"text": "2"}})[2]["result"]["content"][0]["text"] == "2"
    server.shut()
    server.open()
    assert bridge.post("tools/call", {"name": "echo", "arguments": {"text": "3"}})[2]["result"]["content"][0]["text"] == "3"


def test_connection_that_the_server_closes_after_each_answer_is_not_used_again(far, wrap):
    closed = threading.Semaphore(0)

    async def closing(request: Request, wire: Wire) -> None:
        await wire.json(content(request, "once"))
        wire.close()
        await wire.writer.wait_closed()
        closed.release()

    server = far(modern(once=closing))
    bridge = wrap(server.url())
    for _ in range(10):
        assert bridge.said(bridge.call("once")) == "once"
        assert closed.acquire(timeout=20)  # a request that crosses the end of its connection would be lost with it
    assert len(server.of("tools/call")) == 10


def test_server_that_breaks_off_each_first_handshake_is_tried_again(far, wrap):
    behaves = Legacy()

    async def answer(request: Request, wire: Wire) -> None:
        if request.what == "initialize" and len(server.of("initialize")) == 1:
            await asyncio.sleep(0)
            wire.reset()
            return
        await behaves(request, wire)

    server = far(answer)
    bridge = wrap(server.url())
    assert bridge.initialize()["result"]["protocolVersion"] == "2025-11-25"


def test_server_that_refuses_another_session_for_a_while_is_used_again_later_by_a_modern_client(far, wrap):
    behaves = Legacy()
    full = [False]

    async def answer(request: Request, wire: Wire) -> None:
        if request.what == "initialize" and full[0]:
            await wire.json({"jsonrpc": "2.0", "id": request.frame["id"], "error": {"code": -32603, "message": "too many sessions"}}, 500)
        else:
            await behaves(request, wire)

    bridge = wrap(far(answer).url())
    assert bridge.said(bridge.call("echo", text="1")) == "1"
    behaves.forget()
    full[0] = True
    assert "too many sessions" in bridge.error(bridge.call("echo", text="2"))["message"]
    full[0] = False
    deadline = time.monotonic() + 20
    while "error" in (found := bridge.answer(bridge.call("echo", text="3"))):  # one that has just failed is left alone for a moment
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    assert found["result"]["content"][0]["text"] == "3"

"""Servers in trouble: what they say is waited for, passed on, or asked again; and an end that nobody can hold up."""

from __future__ import annotations

import time

import pytest
from far import Legacy, Request, Wire, content, modern


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_server_in_trouble_at_first_is_asked_again(far, wrap, status):
    behaves = modern()

    async def answer(request: Request, wire: Wire) -> None:
        if len(server.seen) == 1:
            await wire.nothing(status, "Retry-After: 1")
        else:
            await behaves(request, wire)

    server = far(answer)
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"


def test_server_in_trouble_for_long_is_told_and_asked_again_by_the_next_message(far, wrap):
    behaves = modern()
    trouble = [True]

    async def answer(request: Request, wire: Wire) -> None:
        if trouble:
            await wire.body(b"<html>deploying</html>", 503, "text/html")
        else:
            await behaves(request, wire)

    bridge = wrap(far(answer).url())
    assert "status 503" in bridge.error(bridge.call("echo"))["message"]
    trouble.clear()
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"


@pytest.mark.parametrize("status", [500, 502, 504])
def test_call_that_failed_on_the_way_is_told_and_not_sent_twice(far, wrap, status):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.body(b"<html>oops</html>", status, "text/html")

    server = far(modern(odd=odd))
    bridge = wrap(server.url())
    error = bridge.error(bridge.call("odd"))
    assert error["data"] == {"status": status}
    assert "a page of 17 bytes" in error["message"]
    assert len(server.of("tools/call")) == 1


def test_harmless_call_that_failed_on_the_way_is_sent_once_more(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        if len(server.of("tools/call")) == 1:
            await wire.nothing(502)
        else:
            await wire.json(content(request, "second"))

    server = far(modern(odd=odd, harmless=("odd",)))
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("odd")) == "second"


def test_page_in_place_of_an_answer_is_an_error(far, wrap):
    async def odd(request: Request, wire: Wire) -> None:
        await wire.body(b"<!doctype html><title>Sign in</title>", 200, "text/html")

    bridge = wrap(far(modern(odd=odd)).url())
    assert "a body that is no JSON-RPC message (text/html)" in bridge.error(bridge.call("odd"))["message"]


@pytest.mark.parametrize("how", ["hang", "refuse"])
def test_end_is_not_held_up_by_a_server_that_does_not_say_goodbye(far, wrap, how):
    behaves = Legacy()

    async def answer(request: Request, wire: Wire) -> None:
        if request.method == "DELETE":
            await (wire.hang() if how == "hang" else wire.nothing(500))
        else:
            await behaves(request, wire)

    with wrap(far(answer).url()) as bridge:
        bridge.initialize()
        assert bridge.said(bridge.legacy_call("echo", text="hi")) == "hi"
        began = time.monotonic()
    assert time.monotonic() - began < 10


def test_end_is_not_held_up_by_a_standing_stream(far, wrap):
    async def get(request: Request, wire: Wire) -> None:
        await wire.stream()
        await wire.hang()

    server = far(Legacy(get=get))
    with wrap(server.url()) as bridge:
        bridge.initialize()
        server.wait("GET")
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert server.whats()[-1] == "DELETE"


def test_many_calls_at_once_are_answered_each_with_its_own(far, wrap):
    async def held(request: Request, wire: Wire) -> None:
        await wire.json(content(request, str(request.frame["params"]["arguments"]["n"])))

    bridge = wrap(far(modern(held=held)).url())
    calls = [bridge.call("held", n=number) for number in range(200)]
    assert [bridge.said(call) for call in calls] == [str(number) for number in range(200)]

"""An application that speaks only 2026-07-28, behind ``bridge``, for clients of every revision (basic/versioning)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.library.http_clients import LEGACY, MODERN, WITHOUT_ELICITATION, RawHttp, meta_of, next_of
from tests.library.http_hosts import bridged, ends, greeted, hosted, lifespan_of, sent, text_of
from tests.library.inner_modern import CHALLENGE, Inner, Json, begin, event, text

from dragoman import bridge

ALL = (*LEGACY, MODERN)
WITH_ELICITATION = ("2025-06-18", "2025-11-25", MODERN)


# -- an application by hand


@pytest.mark.parametrize("lifespan", ["on", "off"])
@pytest.mark.parametrize("version", ALL)
def test_application_serves_clients_of_every_revision_and_sees_only_requests_of_its_own(version: str, lifespan: str) -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner, lifespan) as (http, url):
            client = await greeted(version, http, url)
            tools = (await client.request("tools/list"))["result"]["tools"]
            assert [tool["name"] for tool in tools] == ["echo", "deploy", "slow", "never", "crash", "half", "steps", "who"]
            assert text_of(await client.call("echo", text="hello")) == "hello"
            found = await client.request("no/such/method")
            assert found["error"]["code"] == -32601
        assert inner.wrong == []
        assert {message["method"] for message in inner.seen} >= {"server/discover", "tools/list", "tools/call"}

    asyncio.run(run())


@pytest.mark.parametrize("version", WITH_ELICITATION)
def test_question_of_the_application_has_the_same_outcome_for_every_revision_that_has_elicitation(version: str) -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner) as (http, url):
            client = await greeted(version, http, url)
            assert text_of(await client.call("deploy")) == "deployed to staging"
            assert [each["method"] for each in client.asked] == ["elicitation/create"]
        assert inner.wrong == []

    asyncio.run(run())


@pytest.mark.parametrize("version", WITHOUT_ELICITATION)
def test_question_of_the_application_is_a_tool_error_that_names_elicitation_for_older_clients(version: str) -> None:
    async def run() -> None:
        async with bridged(Inner()) as (http, url):
            found = (await (await greeted(version, http, url)).call("deploy"))["result"]
            assert (found["isError"], "elicitation" in found["content"][0]["text"]) == (True, True)

    asyncio.run(run())


# -- its life


def test_lifespan_of_the_application_is_run_with_that_of_the_host() -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner):
            assert inner.life == ["started"]
        assert inner.life == ["started", "stopped"]

    asyncio.run(run())


def test_lifespan_of_the_application_is_run_in_a_mount() -> None:
    async def run() -> None:
        inner = Inner()
        app = bridge(inner)
        async with hosted(Starlette(routes=[Mount("/inner", app=app)], lifespan=app.lifespan)) as (http, root):
            assert inner.life == ["started"]
            assert text_of(await (await greeted("2024-11-05", http, f"{root}/inner/mcp")).call("echo", text="a")) == "a"
        assert inner.life == ["started", "stopped"]

    asyncio.run(run())


def test_lifespan_of_the_application_is_run_with_the_first_request_where_no_host_runs_one() -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner, "off") as (http, url):
            assert inner.life == []
            assert text_of(await (await greeted("2025-06-18", http, url)).call("echo", text="a")) == "a"
            assert inner.life == ["started"]

    asyncio.run(run())


def test_application_without_a_lifespan_is_served() -> None:
    async def run() -> None:
        async with bridged(Inner(lifespan=False)) as (http, url):
            assert text_of(await (await greeted("2025-06-18", http, url)).call("echo", text="a")) == "a"

    asyncio.run(run())


def test_failure_of_the_applications_lifespan_is_told_to_the_host() -> None:
    heard = asyncio.run(lifespan_of(bridge(Inner(fault="no database"))))
    assert [message["type"] for message in heard] == ["lifespan.startup.failed"]
    assert "no database" in heard[0]["message"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_failure_of_the_applications_lifespan_is_the_first_requests_error_and_it_is_tried_again(version: str) -> None:
    async def run() -> None:
        inner = Inner(fault="no database at secret.example")
        async with bridged(inner, "off") as (http, url):
            found = await RawHttp(version, http, url).greet_once()
            assert "could not start" in found["error"]["message"]
            assert "secret" not in found["error"]["message"]
            inner.fault = ""
            assert text_of(await (await greeted(version, http, url)).call("echo", text="now")) == "now"

    asyncio.run(run())


# -- an application that does not behave


@pytest.mark.parametrize("tool", ["crash", "half"])
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_application_that_crashes_costs_one_call_an_error_that_tells_no_secret(version: str, tool: str) -> None:
    async def run() -> None:
        async with bridged(Inner()) as (http, url):
            client = await greeted(version, http, url)
            found = await client.call(tool)
            assert "error" in found or found["result"]["isError"]
            assert "secret detail" not in str(found)
            assert text_of(await client.call("echo", text="still there")) == "still there"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_application_that_answers_slowly_is_waited_for_and_holds_up_nobody(version: str) -> None:
    async def run() -> None:
        async with bridged(Inner()) as (http, url):
            client = await greeted(version, http, url)
            async with asyncio.TaskGroup() as group:
                slow = group.create_task(client.call("slow"))
                assert text_of(await client.call("echo", text="quick")) == "quick"
                assert not slow.done()
            assert text_of(slow.result()) == "at last"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_application_that_never_answers_is_given_up_after_the_request_timeout(version: str) -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner, request_timeout=0.5) as (http, url):
            client = await greeted(version, http, url)
            found = await client.call("never")
            assert "error" in found or found["result"]["isError"]
            assert await ends(inner.cancelled.is_set)
            assert text_of(await client.call("echo", text="still there")) == "still there"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_client_that_goes_or_cancels_cancels_the_applications_request(version: str) -> None:
    async def run() -> None:
        inner = Inner()
        async with bridged(inner) as (http, url):
            client = await greeted(version, http, url)
            if version == MODERN:
                call = asyncio.create_task(client.call("never"))
            else:
                call = asyncio.create_task(client.request("tools/call", {"name": "never", "arguments": {}}))
            assert await ends(lambda: any(message["params"].get("name") == "never" for message in inner.seen))
            if version != MODERN:
                await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": client._last}})
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert await ends(inner.cancelled.is_set)

    asyncio.run(run())


@pytest.mark.parametrize("version", ALL)
def test_application_that_streams_has_each_step_told_as_it_comes(version: str) -> None:
    async def run() -> None:
        async with bridged(Inner()) as (http, url):
            client = await greeted(version, http, url)
            async with sent(client, "tools/call", 7, name="steps", arguments={}) as frames:
                found = [await next_of(frames) for _ in range(4)]
            assert [each["params"]["progress"] for each in found[:3]] == [1, 2, 3]
            assert {each["params"]["progressToken"] for each in found[:3]} == {7}
            assert text_of(found[3]) == "d\u00f6ne"

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_change_in_the_application_reaches_clients_of_both_eras(version: str) -> None:
    async def run() -> None:
        inner = Inner()
        app = bridge(inner)

        async def poked(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and scope["path"] == "/poke":
                await inner.change()
                await send({"type": "http.response.start", "status": 204, "headers": []})
                await send({"type": "http.response.body", "body": b""})
            else:
                await app(scope, receive, send)

        async with hosted(poked) as (http, root):
            client = await greeted(version, http, f"{root}/mcp")
            listen = sent(client, "subscriptions/listen", 5, notifications={"toolsListChanged": True})
            async with listen if version == MODERN else client.stream() as frames:
                if version == MODERN:
                    assert (await next_of(frames))["method"] == "notifications/subscriptions/acknowledged"
                assert await ends(lambda: inner.listening > 0)
                await http.get(f"{root}/poke")
                assert (await next_of(frames))["method"] == "notifications/tools/list_changed"

    asyncio.run(run())


# -- who asks


@pytest.mark.parametrize("version", ALL)
def test_authorization_of_the_client_reaches_the_application(version: str) -> None:
    async def run() -> None:
        inner = Inner(token="right")
        async with bridged(inner) as (http, url):
            client = RawHttp(version, http, url, headers={"authorization": "Bearer right"})
            await client.greet()
            assert text_of(await client.call("who")) == "Bearer right"
        assert inner.wrong == []

    asyncio.run(run())


@pytest.mark.parametrize("shown", [{}, {"authorization": "Bearer wrong"}])
@pytest.mark.parametrize("version", ALL)
def test_challenge_of_the_application_comes_back_to_the_client(version: str, shown: dict[str, str]) -> None:
    async def run() -> None:
        async with bridged(Inner(token="right")) as (http, url):
            client = RawHttp(version, http, url)
            first = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}
            if version == MODERN:
                first["params"] = {"_meta": meta_of({})}
            else:
                offered = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
                first |= {"method": "initialize", "params": offered}
            response = await http.post(url, json=first, headers={**client.fields(first), **shown})
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == CHALLENGE.decode()

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_requests_of_many_users_at_once_each_carry_their_own_authorization(version: str) -> None:
    async def run() -> None:
        async with bridged(Echoing(), "off") as (http, url):

            async def one(number: int) -> set[str]:
                client = RawHttp(version, http, url, headers={"authorization": f"Bearer {number}"})
                await client.greet()
                return {text_of(await client.call("who")) for _ in range(3)}

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(number)) for number in range(30)]
            assert [task.result() for task in tasks] == [{f"Bearer {number}"} for number in range(30)]

    asyncio.run(run())


class Echoing(Inner):
    """Answers with the authorization of the very request, a little later."""

    async def _answer(self, message: Any, fields: dict[str, str], receive: Any, send: Any) -> None:
        if message["params"].get("name") == "who":
            await asyncio.sleep(0.01)
            await text(send, message, fields.get("authorization", "nobody"))
        else:
            await super()._answer(message, fields, receive, send)


# -- after the application's last word


class Afterwards:
    """``Inner``, which does something more once a call's whole answer has been sent."""

    def __init__(self, after: Any) -> None:
        self.inner = Inner()
        self.after = after

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.inner(scope, receive, send)
        if scope["type"] == "http":
            await self.after()


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_what_the_application_does_after_its_last_word_is_carried_out(version: str) -> None:
    async def run() -> None:
        done: list[str] = []

        async def after() -> None:
            await asyncio.sleep(0.05)
            done.append("committed")

        async with bridged(Afterwards(after)) as (http, url):
            client = await greeted(version, http, url)
            assert text_of(await client.call("echo", text="a")) == "a"
        assert done
        assert set(done) == {"committed"}

    asyncio.run(run())


def test_application_that_fails_after_its_last_word_has_answered() -> None:
    async def run() -> None:
        async def after() -> None:
            raise ValueError("too late")

        async with bridged(Afterwards(after)) as (http, url):
            assert text_of(await (await greeted(MODERN, http, url)).call("echo", text="a")) == "a"

    asyncio.run(run())


def test_application_that_is_cancelled_from_within_costs_one_call_an_error_at_once() -> None:
    async def run() -> None:
        class Cancelled(Inner):
            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                if scope["type"] == "http" and dict(scope["headers"]).get(b"mcp-name") == b"slow":
                    raise asyncio.CancelledError
                await super().__call__(scope, receive, send)

        async with bridged(Cancelled()) as (http, url), asyncio.timeout(10):
            client = await greeted(MODERN, http, url)
            found = await client.call("slow")
            assert "error" in found
            assert text_of(await client.call("echo", text="a")) == "a"

    asyncio.run(run())


class Astray(Inner):
    """Answers a call of ``steps`` on its stream, but first the call of ``slow`` that is at work."""

    async def _steps(self, message: Json, receive: Any, send: Any) -> None:
        await begin(send)
        (other,) = [each["id"] for each in self.seen if each.get("params", {}).get("name") == "slow"]
        for number, words in ((other, "stolen"), (message["id"], "mine")):
            done = {"resultType": "complete", "content": [{"type": "text", "text": words}]}
            await event(send, {"jsonrpc": "2.0", "id": number, "result": done})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_answer_on_the_stream_of_another_call_is_nobodys(version: str) -> None:
    async def run() -> None:
        inner = Astray()
        async with bridged(inner) as (http, url):
            client = await greeted(version, http, url)
            slow = asyncio.create_task(client.call("slow"))
            await ends(lambda: any(each.get("params", {}).get("name") == "slow" for each in inner.seen))
            assert text_of(await client.call("steps")) == "mine"
            assert text_of(await slow) == "at last"

    asyncio.run(run())

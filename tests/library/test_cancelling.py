"""Cancellation is asyncio's: the handler's task is cancelled, its finally blocks run, and the connection goes on."""

import asyncio
import contextlib
import threading
from typing import Any

import pytest
from pydantic import BaseModel
from tests.library.peer import ASKED, BEFORE, EVERY, MODERN, Judged, asynchronous, told, until

from dragoman import Context, Elicit, Server


class Word(BaseModel):
    word: str


class Watched:
    """A server whose handlers note how they end."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.release = threading.Event()
        self.server = server = Server("s", "1")

        @server.tool()
        async def wait(context: Context) -> str:
            self.seen.append("begun")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.seen.append("cancelled")
                raise
            finally:
                await asyncio.sleep(0)
                self.seen.append("ended")
            return "never"

        @server.tool()
        async def stubborn() -> str:
            self.seen.append("begun")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            self.seen.append("went on")
            return "too late"

        @server.tool()
        def blocked() -> str:
            self.seen.append("begun")
            self.release.wait(20)
            self.seen.append("ended")
            return "done"

        @server.tool()
        async def ask(context: Context) -> str:
            try:
                return str(await context.ask(Elicit("Word?", Word)))
            finally:
                self.seen.append("ended")

        @server.tool()
        async def ask_and_wait(context: Context) -> str:
            await context.ask(Elicit("Word?", Word))
            return str(await wait(context))

        @server.tool()
        async def echo(text: str) -> str:
            return text


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_cancelled_request_cancels_its_handler_and_its_finally_blocks_run(version: str, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched()
    async with Judged(watched.server, version=version) as client:
        task = asyncio.create_task(client.call_tool("wait"))
        await until(lambda: watched.seen)
        await cancelled(task)
        await until(lambda: "ended" in watched.seen)
        assert watched.seen == ["begun", "cancelled", "ended"]
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
    assert caplog.records == []


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_cancelled_request_is_never_answered_even_by_a_handler_that_goes_on(version: str) -> None:
    watched = Watched()
    async with Judged(watched.server, version=version) as client:
        task = asyncio.create_task(client.call_tool("stubborn"))
        await until(lambda: watched.seen)
        await cancelled(task)
        await until(lambda: "went on" in watched.seen)
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        assert not any(b"too late" in line for line in client.heard)


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_cancelling_one_request_leaves_the_others(version: str) -> None:
    watched = Watched()
    async with Judged(watched.server, version=version) as client:
        tasks = [asyncio.create_task(client.call_tool("wait")) for _ in range(3)]
        await until(lambda: watched.seen == ["begun"] * 3)
        await cancelled(tasks[1])
        await until(lambda: "ended" in watched.seen)
        assert watched.seen == ["begun"] * 3 + ["cancelled", "ended"]
        assert not tasks[0].done()
        assert not tasks[2].done()
        for task in (tasks[0], tasks[2]):
            await cancelled(task)
        await until(lambda: watched.seen.count("ended") == 3)


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_handler_in_a_thread_runs_to_its_end_and_holds_up_nobody(version: str) -> None:
    watched = Watched()
    async with Judged(watched.server, version=version) as client:
        task = asyncio.create_task(client.call_tool("blocked"))
        await until(lambda: watched.seen)
        await cancelled(task)
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        watched.release.set()
        await until(lambda: watched.seen == ["begun", "ended"])
        assert told(await client.call_tool("echo", {"text": "still"})) == "still"


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_more_calls_than_threads_wait_for_their_turn(version: str) -> None:
    watched = Watched()
    watched.server.threads = 2
    async with Judged(watched.server, version=version) as client:
        tasks = [asyncio.create_task(client.call_tool("blocked")) for _ in range(5)]
        await until(lambda: watched.seen == ["begun"] * 2)
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        watched.release.set()
        assert [told(await task) for task in tasks] == ["done"] * 5


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_request_can_be_cancelled_while_the_user_thinks(version: str) -> None:
    watched, thinking = Watched(), asyncio.Event()

    async def think(method: str, params: dict[str, Any]) -> dict[str, Any]:
        thinking.set()
        await asyncio.Event().wait()
        return {}

    async with Judged(watched.server, version=version, answer=think) as client:
        task = asyncio.create_task(client.call_tool("ask"))
        await thinking.wait()
        assert watched.seen == ["ended"]  # the run that asked
        await cancelled(task)
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        if version != MODERN:  # the server takes its question back
            method, params = await client.notifications.get()
            assert method == "notifications/cancelled"
            assert "requestId" in params
        assert watched.seen == ["ended"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_request_can_be_cancelled_after_an_answer(version: str) -> None:
    watched = Watched()
    answer = {"action": "accept", "content": {"word": "a"}}
    async with Judged(watched.server, version=version, answer=lambda *_: answer) as client:
        task = asyncio.create_task(client.call_tool("ask_and_wait"))
        await until(lambda: "begun" in watched.seen)
        await cancelled(task)
        await until(lambda: "ended" in watched.seen)
        assert watched.seen == ["begun", "cancelled", "ended"]


@asynchronous
async def test_a_listen_that_is_cancelled_hears_no_more() -> None:
    server = Watched().server
    async with Judged(server) as client:
        task = asyncio.create_task(client.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        await until(lambda: any(b"subscriptions/acknowledged" in line for line in client.heard))
        server.changed("tools")
        assert (await client.notifications.get())[0] == "notifications/tools/list_changed"
        await cancelled(task)
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        server.changed("tools")
        assert told(await client.call_tool("echo", {"text": "on"})) == "on"
        assert client.notifications.empty()


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_client_that_leaves_ends_what_it_began_at_once(version: str) -> None:
    watched = Watched()
    async with asyncio.timeout(3):
        async with Judged(watched.server, version=version) as client:
            task = asyncio.create_task(client.call_tool("wait"))
            await until(lambda: watched.seen)
        with pytest.raises(RuntimeError, match="not in its context"):
            await task
    assert watched.seen == ["begun", "cancelled", "ended"]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_timeout_around_a_call_cancels_it(version: str) -> None:
    watched = Watched()
    async with Judged(watched.server, version=version) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.call_tool("wait")
        await until(lambda: "ended" in watched.seen)

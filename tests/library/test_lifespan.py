"""The server's lifespan, and what context variables a handler sees."""

import asyncio
import contextlib
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.library.peer import BEFORE, EVERY, MODERN, Judged, asynchronous, called, told, until

from dragoman import Client, Context, Server

WHO = contextvars.ContextVar("WHO", default="nobody")
BOTH = (BEFORE, MODERN)


class Life:
    """A lifespan that notes what happens in it, and in which task."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.tasks: set[asyncio.Task[Any] | None] = set()

    @asynccontextmanager
    async def __call__(self, server: Server) -> AsyncIterator[dict[str, Any]]:
        self.tasks.add(asyncio.current_task())
        async with asyncio.TaskGroup():  # it has to be left by the task that has entered it
            self.seen.append(f"in {server.info['name']}")
            yield {"answer": 42, "seen": self.seen}
            self.seen.append("out")
        self.tasks.add(asyncio.current_task())


def living(lifespan: Any) -> Server:
    server = Server("living", "1", lifespan=lifespan)

    @server.tool()
    async def state(context: Context) -> str:
        return repr(context.state and context.state["answer"])

    @server.tool()
    def state_in_thread(context: Context) -> str:
        return repr(context.state and context.state["answer"])

    @server.tool()
    async def linger(context: Context) -> str:
        context.state["seen"].append("begun")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            context.state["seen"].append("handler out")
        return "never"

    return server


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_the_lifespan_is_entered_once_before_all_requests_and_left_at_the_end_by_the_same_task(version: str) -> None:
    life = Life()
    async with Judged(living(life), version=version) as client:
        assert life.seen == ["in living"]
        assert told(await client.call_tool("state")) == "42"
        assert told(await client.call_tool("state_in_thread")) == "42"
        assert life.seen == ["in living"]
    assert life.seen == ["in living", "out"]
    assert len(life.tasks) == 1


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_without_a_lifespan_there_is_no_state(version: str) -> None:
    assert told(await called(living(None), "state", version=version)) == "None"


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_a_handler_that_is_cancelled_at_the_end_still_has_its_state_while_it_cleans_up(version: str) -> None:
    life = Life()
    async with Judged(living(life), version=version) as client:
        task = asyncio.create_task(client.call_tool("linger"))
        await until(lambda: "begun" in life.seen)
    with contextlib.suppress(BaseException):
        await task
    assert life.seen == ["in living", "begun", "handler out", "out"]


@pytest.mark.parametrize("fault", [ValueError("no room"), asyncio.CancelledError(), GeneratorExit()], ids=lambda each: type(each).__name__)
@asynchronous
async def test_a_lifespan_that_cannot_be_entered_is_raised_where_the_client_is_entered(fault: BaseException) -> None:
    @asynccontextmanager
    async def failing(server: Server) -> AsyncIterator[None]:
        raise fault
        yield

    with pytest.raises((type(fault), RuntimeError)):
        async with asyncio.timeout(3), Client(living(failing)):
            pass


@asynchronous
async def test_a_lifespan_that_could_not_be_entered_is_tried_again_by_the_next_client() -> None:
    tries = iter([ValueError("not yet"), None])

    @asynccontextmanager
    async def slow_starter(server: Server) -> AsyncIterator[dict[str, Any]]:
        fault = next(tries)
        if fault is not None:
            raise fault
        yield {"answer": "now"}

    server = living(slow_starter)
    with pytest.raises(ValueError, match="not yet"):
        await called(server, "state")
    assert told(await called(server, "state")) == "'now'"


@asynchronous
async def test_a_lifespan_that_fails_as_it_is_left_is_raised_where_the_client_is_left() -> None:
    @asynccontextmanager
    async def failing(server: Server) -> AsyncIterator[dict[str, Any]]:
        yield {"answer": 1}
        raise ValueError("it leaks")

    with pytest.raises(ValueError, match="it leaks"):
        async with Client(living(failing)) as client:
            assert told(await client.call_tool("state")) == "1"


@pytest.mark.parametrize("lifespan", [lambda server: 3, lambda: None, 3], ids=["no-manager", "no-parameter", "no-function"])
@asynchronous
async def test_what_is_no_lifespan_is_a_type_error(lifespan: Any) -> None:
    with pytest.raises(TypeError):
        async with Client(living(lifespan)):
            pass


@asynchronous
async def test_every_client_has_a_lifespan_of_its_own() -> None:
    life = Life()
    server = living(life)
    async with Judged(server), Judged(server, version=BEFORE):
        assert life.seen == ["in living", "in living"]
    assert life.seen == ["in living", "in living", "out", "out"]


def seeing() -> Server:
    server = Server("seeing", "1")

    @server.tool()
    async def look() -> str:
        seen = WHO.get()
        WHO.set("changed")
        return seen

    @server.tool()
    def look_in_thread() -> str:
        seen = WHO.get()
        WHO.set("changed")
        return seen

    @server.tool()
    async def look_in_task() -> str:
        return await asyncio.create_task(asyncio.to_thread(WHO.get))

    return server


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("tool", ["look", "look_in_thread", "look_in_task"])
@asynchronous
async def test_a_handler_sees_the_context_variables_of_its_request_and_changes_those_of_nobody(version: str, tool: str) -> None:
    WHO.set("nobody")
    async with Judged(seeing(), version=version) as client:
        WHO.set("ada")
        assert told(await client.call_tool(tool)) == "ada"
        assert WHO.get() == "ada"
        WHO.set("eve")
        assert told(await client.call_tool(tool)) == "eve"


@pytest.mark.parametrize("version", BOTH)
@asynchronous
async def test_requests_at_the_same_time_do_not_see_each_other_s_variables(version: str) -> None:
    async def ask(who: str) -> str:
        WHO.set(who)
        return told(await client.call_tool("look_in_task"))

    async with Judged(seeing(), version=version) as client:
        names = [f"user{number}" for number in range(20)]
        assert await asyncio.gather(*[asyncio.create_task(ask(name)) for name in names]) == names

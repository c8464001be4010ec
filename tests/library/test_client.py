"""The client of tests itself: what it says of its user, how it answers, and that nothing of it waits for ever."""

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel
from tests.library.peer import ALL, ASKED, BEFORE, EVERY, MODERN, Judged, asynchronous, called, told, until

from dragoman import Client, Context, Elicit, ProtocolError, Roots, Sample, Server

SERVER = Server("s", "1")


class Word(BaseModel):
    word: str


@SERVER.tool()
async def who(context: Context) -> dict[str, Any]:
    return {
        "client": context.client,
        "capabilities": context.capabilities,
        "principal": context.principal,
        "scope": context.scope,
        "meta": sorted(context.meta),
    }


@SERVER.tool()
async def ask(context: Context) -> str:
    return str((await context.ask(Elicit("Word?", Word))).value)


@SERVER.tool()
async def sample(context: Context) -> str:
    return str((await context.ask(Sample("Hello", 1)))["role"])


@SERVER.tool()
async def roots(context: Context) -> str:
    return str(await context.ask(Roots()))


@SERVER.tool()
async def endless(context: Context) -> str:
    for number in range(1000):
        await context.ask(Elicit(f"{number}", Word))
    return "never"


@SERVER.tool()
async def wait() -> str:
    await asyncio.Event().wait()
    return "never"


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_who_a_client_is_and_what_it_can_do_is_known_to_every_handler_in_one_form(version: str) -> None:
    async with Judged(SERVER, version=version, answer=lambda *_: {}, info={"name": "me", "version": "9"}, principal="ada") as client:
        result = await client.call_tool("who")
    import json

    seen = json.loads(told(result))
    expected: dict[str, Any] = {"roots": {}, "sampling": {}}
    if version in (BEFORE, MODERN):
        expected = {"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}
    elif version in ASKED:
        expected["elicitation"] = {"form": {}}
    assert seen["client"] == {"name": "me", "version": "9"}
    assert seen["capabilities"] == expected
    assert (seen["principal"], seen["scope"]) == ("ada", None)
    assert "io.modelcontextprotocol/clientCapabilities" in seen["meta"]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_without_answers_a_client_declares_no_capability(version: str) -> None:
    async with Judged(SERVER, version=version) as client:
        result = await client.call_tool("who")
    assert '"capabilities":{}' in told(result)
    assert '"principal":null' in told(result)


@asynchronous
async def test_the_meta_of_a_request_reaches_its_handler() -> None:
    async with Judged(SERVER) as client:
        result = await client.request("tools/call", {"name": "who", "arguments": {}, "_meta": {"example.com/trace": "1"}})
    assert "example.com/trace" in told(result)


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_answers_may_be_async(version: str) -> None:
    async def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"action": "accept", "content": {"word": method}}

    assert told(await called(SERVER, "ask", version=version, answer=answer)) == "word='elicitation/create'"


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("is_async", [False, True])
@asynchronous
async def test_an_exception_in_an_answer_is_raised_from_the_request(version: str, is_async: bool) -> None:
    def fail(method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert method == "never", "as a test's own assertion fails"
        return {}

    async def fail_async(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return fail(method, params)

    async with Judged(SERVER, version=version, answer=fail_async if is_async else fail) as client:
        with pytest.raises(AssertionError, match="own assertion"):
            await client.call_tool("roots")


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@pytest.mark.parametrize("made", [None, "text", 3, []])
@asynchronous
async def test_an_answer_that_is_no_dict_is_an_error_and_no_wait(version: str, made: Any) -> None:
    async with Judged(SERVER, version=version, answer=lambda *_: made) as client:
        async with asyncio.timeout(3):
            with pytest.raises((TypeError, ProtocolError)):
                await client.call_tool("roots")


@asynchronous
async def test_a_client_that_declares_more_than_it_answers_says_so() -> None:
    async with Judged(SERVER, capabilities=ALL) as client:
        with pytest.raises(ProtocolError, match="elicitation/create") as error:
            await client.call_tool("ask")
    assert error.value.code == -32601


@asynchronous
async def test_a_server_that_asks_without_end_is_given_up() -> None:
    with pytest.raises(ProtocolError, match="64 times"):
        async with Judged(SERVER, answer=lambda *_: {"action": "accept", "content": {"word": "a"}}) as client:
            await client.call_tool("endless")


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_many_requests_at_once_each_get_their_own_answer(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def echo(number: int) -> str:
        await asyncio.sleep(0.001 * (number % 3))
        return str(number)

    async with Judged(server, version=version) as client:
        results = await asyncio.gather(*[client.call_tool("echo", {"number": number}) for number in range(100)])
    assert [told(result) for result in results] == [str(number) for number in range(100)]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_client_may_be_entered_again_when_it_has_been_left(version: str) -> None:
    client = Judged(SERVER, version=version)
    for _ in range(2):
        async with client:
            assert client.server_info["name"] == "s"
            assert "isError" not in await client.call_tool("who")


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_client_outside_of_its_context_raises_and_does_not_wait(version: str) -> None:
    client = Client(SERVER, version=version)
    with pytest.raises(RuntimeError, match="async with"):
        await client.call_tool("who")
    async with client:
        pass
    with pytest.raises(RuntimeError, match="async with"):
        async with asyncio.timeout(3):
            await client.call_tool("who")


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_whoever_waits_when_the_client_is_left_hears_of_it(version: str) -> None:
    async with asyncio.timeout(3):
        async with Judged(SERVER, version=version) as client:
            task = asyncio.create_task(client.call_tool("wait"))
            await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="not in its context"):
            await task


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_leaving_by_an_exception_raises_that_exception(version: str) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with Judged(SERVER, version=version):
            raise KeyError("mine")


@asynchronous
async def test_two_servers_with_a_client_each_know_nothing_of_each_other() -> None:
    one, two = Server("one"), Server("two")
    one.tool("a")(lambda: "1")
    two.tool("b")(lambda: "2")
    async with Judged(one) as first, Judged(two, version=BEFORE) as second:
        assert [tool["name"] for tool in await first.list_tools()] == ["a"]
        assert [tool["name"] for tool in await second.list_tools()] == ["b"]


@asynchronous
async def test_one_server_serves_clients_of_all_revisions_at_the_same_time() -> None:
    server = Server("s")
    inside: set[str] = set()
    together = asyncio.Event()

    @server.tool()
    async def meet(version: str) -> str:
        inside.add(version)
        if len(inside) == len(EVERY):
            together.set()
        await together.wait()
        return version

    async def visit(version: str) -> str:
        return told(await called(server, "meet", {"version": version}, version=version))

    assert await asyncio.gather(*[visit(version) for version in EVERY]) == list(EVERY)


@asynchronous
async def test_a_loop_is_clean_when_all_clients_have_left() -> None:
    before = asyncio.all_tasks()
    for version in EVERY:
        async with Judged(SERVER, version=version) as client:
            await client.listen("tools")
            await client.call_tool("who")
    await until(lambda: asyncio.all_tasks() == before)

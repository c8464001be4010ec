"""Completions of arguments of prompts and templates."""

from typing import Any

import pytest
from tests.library.peer import EVERY, Judged, asynchronous, plain

from dragoman import Context, ProtocolError, Roots, Server


def completing(function: Any) -> Server:
    server = Server("s", "1")
    server.prompt("greet")(lambda name, title="": name)
    server.resource("note://{name}", name="note")(lambda name: name)
    server.completion(function)
    return server


@pytest.mark.parametrize("version", EVERY[1:])
@pytest.mark.parametrize("is_async", [False, True])
@asynchronous
async def test_a_function_for_completions_gets_what_is_completed_and_what_is_chosen(version: str, is_async: bool) -> None:
    seen: list[Any] = []

    def complete(ref: str, argument: str, value: str, chosen: dict[str, str]) -> list[str]:
        seen.append((ref, argument, value, chosen))
        return [value + "a", value + "b"]

    async def complete_async(ref: str, argument: str, value: str, chosen: dict[str, str]) -> list[str]:
        return complete(ref, argument, value, chosen)

    chosen = {} if version == "2025-03-26" else {"title": "Dr"}  # which that revision has no place for
    async with Judged(completing(complete_async if is_async else complete), version=version) as client:
        result = plain(await client.complete({"type": "ref/prompt", "name": "greet"}, "name", "A", chosen))
        await client.complete({"type": "ref/resource", "uri": "note://{name}"}, "name", "")
    assert result == {"completion": {"values": ["Aa", "Ab"], "total": 2, "hasMore": False}}
    assert seen == [
        ("greet", "name", "A", chosen),
        ("note://{name}", "name", "", {}),
    ]


@asynchronous
async def test_a_function_for_completions_may_have_the_context_anywhere() -> None:
    def first(context: Context, ref: str, argument: str, value: str, chosen: dict[str, str]) -> list[str]:
        return [ref, argument, value, context.client["name"]]

    def last(ref: str, argument: str, value: str, chosen: dict[str, str], context: Context) -> list[str]:
        return first(context, ref, argument, value, chosen)

    for function in (first, last):
        async with Judged(completing(function)) as client:
            result = await client.complete({"type": "ref/prompt", "name": "greet"}, "name", "A")
            assert result["completion"]["values"] == ["greet", "name", "A", "test"]


@asynchronous
async def test_of_more_than_a_hundred_completions_a_hundred_are_shown() -> None:
    async with Judged(completing(lambda ref, argument, value, chosen: [str(each) for each in range(250)])) as client:
        found = (await client.complete({"type": "ref/prompt", "name": "greet"}, "name", ""))["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 250, True)


@pytest.mark.parametrize("value", ["text", None, [1], 3])
@asynchronous
async def test_completions_that_are_none_are_an_error_that_says_so(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with Judged(completing(lambda ref, argument, value_, chosen: value)) as client:
        with pytest.raises(ProtocolError) as error:
            await client.complete({"type": "ref/prompt", "name": "greet"}, "name", "")
    assert error.value.code == -32603
    assert "a list of texts was expected" in error.value.message


@asynchronous
async def test_a_function_for_completions_that_asks_is_a_fault_of_the_handler(caplog: pytest.LogCaptureFixture) -> None:
    async def complete(ref: str, argument: str, value: str, chosen: dict[str, str], context: Context) -> list[str]:
        await context.ask(Roots())
        return []

    async with Judged(completing(complete), answer=lambda *_: {"roots": []}) as client:
        with pytest.raises(ProtocolError) as error:
            await client.complete({"type": "ref/prompt", "name": "greet"}, "name", "")
    assert error.value.code == -32603

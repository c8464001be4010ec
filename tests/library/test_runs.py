"""A question ends the run of its handler, wherever in it: in task groups, gathered, in threads, and whatever the handler catches."""

import asyncio
import contextlib
from typing import Any

import pytest
from tests.library.peer import ASKED, MODERN, Word, accept, answering, asynchronous, called, refused, told, tracebacks

from dragoman import Context, Elicit, ProtocolError, ResourceNotFound, Roots, Sample, Server, ToolError


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_questions_in_a_task_group_are_asked_together(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def group(context: Context) -> str:
        async with asyncio.TaskGroup() as tasks:
            one = tasks.create_task(context.ask(Elicit("one", Word)))
            two = tasks.create_task(context.ask(Elicit("two", Word)))
        return f"{one.result().value} {two.result().value}"

    answer = answering(one={"word": "1"}, two={"word": "2"})
    assert told(await called(server, "group", version=version, answer=answer)) == "word='1' word='2'"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_questions_that_are_gathered_nested_timed_or_in_tasks_of_their_own_are_asked(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def gather(context: Context) -> str:
        async with asyncio.TaskGroup() as outer, asyncio.timeout(5):
            outer.create_task(asyncio.sleep(0))
            async with asyncio.TaskGroup() as inner:
                task = inner.create_task(asyncio.wait_for(context.ask(Elicit("one", Word)), 5))
        two, three = await asyncio.gather(context.ask(Elicit("two", Word)), context.ask(Elicit("three", Word)))
        return f"{task.result().value} {two.value} {three.value}"

    answer = answering(one={"word": "1"}, two={"word": "2"}, three={"word": "3"})
    assert told(await called(server, "gather", version=version, answer=answer)) == "word='1' word='2' word='3'"


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize("fault", [ValueError("other"), ToolError("other"), GeneratorExit()], ids=lambda each: type(each).__name__)
@asynchronous
async def test_a_question_and_a_fault_in_one_task_group_are_an_answer_in_any_case(version: str, fault: BaseException) -> None:
    server = Server("s")

    @server.tool()
    async def group(context: Context) -> str:
        async def fail() -> None:
            try:
                await asyncio.sleep(0 if isinstance(fault, ValueError) else 1)
            finally:
                raise fault

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(context.ask(Elicit("one", Word)))
            tasks.create_task(fail())
        return "never"

    with contextlib.suppress(ProtocolError):
        await called(server, "group", version=version, answer=answering(one={"word": "1"}))


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_lacking_capability_in_a_task_group_is_told_like_one_outside(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def group(context: Context) -> str:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(context.ask(Elicit("one", Word)))
            tasks.create_task(context.ask(Roots()))
        return "never"

    only = {"elicitation": {"form": {}}} if version == MODERN else {"elicitation": {}}
    calling = called(server, "group", version=version, answer=accept(word="a"), capabilities=only)
    if version != MODERN:
        assert "roots" in refused(await calling)
        return
    with pytest.raises(ProtocolError) as refusal:
        await calling
    assert (refusal.value.code, refusal.value.data) == (-32021, {"requiredCapabilities": {"roots": {}}})


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_what_a_handler_says_to_the_model_in_a_task_group_is_told_like_one_outside(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def group() -> str:
        async def fail() -> None:
            raise ToolError("No eggs are left")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())
        return "never"

    @server.tool()
    async def missing() -> str:
        async def fail() -> None:
            raise ResourceNotFound("note://1")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())
        return "never"

    assert refused(await called(server, "group", version=version)) == "No eggs are left"
    with pytest.raises(ProtocolError, match="Resource not found: note://1"):
        await called(server, "missing", version=version)


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_handler_that_catches_the_end_of_its_run_is_told_to_the_operator(version: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    async def swallow(context: Context, how: str) -> str:
        try:
            await context.ask(Elicit("one", Word))
        except BaseException as fault:
            if how == "return":
                return "swallowed"
            raise {"tool": ToolError, "value": ValueError, "base": GeneratorExit}[how]("other") from fault
        return "asked"

    for how in ("return", "tool", "value", "base"):
        with contextlib.suppress(ProtocolError):
            result = await called(server, "swallow", {"how": how}, version=version, answer=accept(word="a"))
            assert result["isError"] is True
    assert [each.partition(": ")[2] for each in tracebacks(caplog)] == ["RuntimeError", "ValueError", "GeneratorExit"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_except_exception_around_a_question_does_not_catch_it(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def careful(context: Context) -> str:
        try:
            answer = await context.ask(Elicit("one", Word))
        except Exception:  # noqa: BLE001 - as handlers do
            return "caught"
        finally:
            context.progress(1)
        return str(answer.value)

    assert told(await called(server, "careful", version=version, answer=accept(word="a"))) == "word='a'"


@asynchronous
async def test_finally_blocks_run_with_every_run() -> None:
    server, ends = Server("s"), []

    @server.tool()
    async def tidy(context: Context) -> str:
        try:
            await context.ask(Elicit("one", Word))
        finally:
            ends.append("end")
        return "asked"

    assert told(await called(server, "tidy", answer=accept(word="a"))) == "asked"
    assert ends == ["end", "end"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_sync_handler_cannot_wait_for_an_answer_and_says_so(version: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    def blocking(context: Context) -> Any:
        asking = context.ask(Sample("Hello", 1))
        asking.close()  # else its end would warn that it was never awaited
        return asking

    text = refused(await called(server, "blocking", version=version, answer=accept(word="a")))
    assert text.startswith("The tool blocking is out of order: it returned coroutine")

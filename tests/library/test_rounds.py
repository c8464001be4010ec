"""A handler that asks is run again from its start: each answer counts for its own question, and what was done once stays done."""

import contextlib
from typing import Any

import pytest
from tests.library.peer import (
    ALL,
    ASKED,
    MODERN,
    Judged,
    Word,
    Yes,
    accept,
    answering,
    asynchronous,
    called,
    once,
    refused,
    told,
    tracebacks,
)

from dragoman import Context, Elicit, Server, ToolError


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_one_question_after_another_each_gets_its_own_answer(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def chain(context: Context) -> str:
        words = []
        for message in ("first", "second", "third"):
            answer = await context.ask(Elicit(message, Word))
            words.append(answer.value.word if answer.value else "")
        return " ".join(words)

    answer = answering(first={"word": "a"}, second={"word": "b"}, third={"word": "c"})
    assert told(await called(server, "chain", version=version, answer=answer)) == "a b c"
    assert answer.asked == ["first", "second", "third"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_the_same_question_twice_is_asked_twice(version: str) -> None:
    server, answers = Server("s"), iter(["a", "b"])

    @server.tool()
    async def twice(context: Context) -> str:
        first, second = await context.ask(Elicit("Word?", Word)), await context.ask(Elicit("Word?", Word))
        assert first.value is not None
        assert second.value is not None
        return f"{first.value.word} {second.value.word}"

    def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"word": next(answers)}}

    assert told(await called(server, "twice", version=version, answer=answer)) == "a b"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_an_answer_never_counts_for_the_question_that_has_come_into_its_place(version: str) -> None:
    """The price changes between the runs: who agreed to 10 has not agreed to 1000."""
    server, prices = Server("s"), iter([10, 1000, 1000])

    @server.tool()
    async def buy(context: Context) -> str:
        price = next(prices)
        answer = await context.ask(Elicit(f"Buy for {price}?", Yes))
        return f"bought for {price}: {answer.accepted and answer.value is not None and answer.value.yes}"

    asked = answering(**{"Buy for 10?": {"yes": True}, "Buy for 1000?": {"yes": False}})
    assert told(await called(server, "buy", version=version, answer=asked)) == "bought for 1000: False"
    assert asked.asked == ["Buy for 10?", "Buy for 1000?"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_question_that_a_later_run_puts_in_front_is_asked_and_the_others_keep_their_answers_or_are_asked_again(
    version: str,
) -> None:
    server, runs = Server("s"), iter(range(9))

    @server.tool()
    async def grow(context: Context) -> str:
        if next(runs) > 0:
            extra = await context.ask(Elicit("extra", Word))
            assert extra.value == Word(word="e")
        answer = await context.ask(Elicit("plain", Word))
        assert answer.value is not None
        return answer.value.word

    answer = answering(extra={"word": "e"}, plain={"word": "p"})
    assert told(await called(server, "grow", version=version, answer=answer)) == "p"


@asynchronous
async def test_answers_of_kinds_that_are_asked_together_do_not_mix_when_one_of_them_changes() -> None:
    server, runs = Server("s"), iter(range(9))

    @server.tool()
    async def pair(context: Context) -> str:
        second = "old" if next(runs) == 0 else "new"
        one, two = await context.ask(Elicit("one", Word), Elicit(second, Word))
        assert one.value is not None
        assert two.value is not None
        return f"{one.value.word} {two.value.word}"

    answer = answering(one={"word": "1"}, old={"word": "o"}, new={"word": "n"})
    assert told(await called(server, "pair", answer=answer)) == "1 n"
    assert answer.asked == ["one", "old", "new"]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_what_is_done_once_is_not_done_again_and_every_run_gets_it_as_json_gives_it_back(version: str) -> None:
    server, done = Server("s"), []

    @server.tool()
    async def pay(context: Context) -> str:
        async def charge() -> dict[str, Any]:
            done.append("charge")
            return {"id": (1, 2)}

        receipt = await context.once("charge", charge)
        number = await context.once("number", lambda: done.append("number") or 7)
        await context.ask(Elicit("one", Word))
        await context.ask(Elicit("two", Word))
        return f"{receipt} {number}"

    answer = answering(one={"word": "1"}, two={"word": "2"})
    assert told(await called(server, "pay", version=version, answer=answer)) == "{'id': [1, 2]} 7"
    assert done == ["charge", "number"]


@asynchronous
async def test_what_is_done_once_is_done_again_for_the_next_call() -> None:
    server, done = Server("s"), []

    @server.tool()
    async def pay(context: Context) -> str:
        return str(await context.once("pay", lambda: done.append(1) or len(done)))

    assert [told(await called(server, "pay")) for _ in range(2)] == ["1", "2"]


@asynchronous
async def test_an_action_that_fails_has_not_been_done() -> None:
    server, tries = Server("s"), iter([ToolError("not now"), None])

    @server.tool()
    async def attempt(context: Context) -> str:
        def act() -> str:
            fault = next(tries)
            if fault is not None:
                raise fault
            return "done"

        with contextlib.suppress(ToolError):
            await context.once("act", act)
        return await context.once("act", act)

    assert told(await called(server, "attempt")) == "done"


@asynchronous
async def test_an_outcome_that_has_no_form_in_json_is_a_fault_of_the_handler(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    async def keep(context: Context) -> str:
        await context.once("keep", object)
        return "kept"

    assert refused(await called(server, "keep")) == "The tool keep is out of order: it failed with TypeError"
    assert tracebacks(caplog) == ["the tool keep failed: TypeError"]


@asynchronous
async def test_a_call_asks_sixty_four_questions_at_most(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    async def endless(context: Context) -> str:
        await context.ask(*[Elicit(f"{number}", Word) for number in range(65)])
        return "never"

    assert (
        refused(await called(server, "endless", answer=accept(word="a"))) == "The tool endless is out of order: it failed with RuntimeError"
    )


@asynchronous
async def test_answers_that_come_before_their_questions_do_not_count() -> None:
    server = Server("s")

    @server.tool()
    async def ask(context: Context) -> str:
        return str((await context.ask(Elicit("one", Word))).value)

    async with Judged(server, capabilities=ALL) as client:
        early = {"elicitation-1": {"action": "accept", "content": {"word": "early"}}}
        result = await once(client, "tools/call", {"name": "ask", "arguments": {}, "inputResponses": early})
        assert result["resultType"] == "input_required"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_question_may_have_a_key_of_its_own_under_which_its_answer_may_come_with_the_first_request(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def ask(context: Context) -> str:
        answer = await context.ask(Elicit("one", Word, key="word"))
        return str(answer.value)

    assert told(await called(server, "ask", version=version, answer=accept(word="a"))) == "word='a'"
    if version == MODERN:
        async with Judged(server, capabilities=ALL) as client:
            assert list((await once(client, "tools/call", {"name": "ask", "arguments": {}}))["inputRequests"]) == ["word"]
            early = {"word": {"action": "accept", "content": {"word": "early"}}}
            assert told(await once(client, "tools/call", {"name": "ask", "arguments": {}, "inputResponses": early})) == "word='early'"


@asynchronous
async def test_two_questions_of_one_key_are_a_fault_of_the_handler(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool()
    async def ask(context: Context) -> str:
        await context.ask(Elicit("one", Word, key="a"), Elicit("two", Word, key="a"))
        return "asked"

    refused(await called(server, "ask", answer=accept(word="a")))
    assert tracebacks(caplog) == ["the tool ask failed: ValueError"]

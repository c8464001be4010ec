"""A legacy server asks; the official modern client's own ``input_required`` driver answers.

Forms, URLs, sampling and roots; alone, three at once, one after the other; from tools, prompts and resources; refused and undeclared.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from harness import AUTO, DIRECT, LEGACY, MODERN, Link, Person, Seen, legacy, words
from mcp import Client, MCPError

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
OLDEST, LATEST = REVISIONS[0], REVISIONS[-1]
LinkTo = Callable[..., Link]
every_revision = pytest.mark.parametrize("revision", REVISIONS)
with_forms = pytest.mark.parametrize("revision", REVISIONS[2:])
# auto differs from the pinned mode in its first request only, so revisions are not multiplied by it.
three_ways = pytest.mark.parametrize("how", [DIRECT, LEGACY, MODERN])
every_way = pytest.mark.parametrize("how", [DIRECT, LEGACY, AUTO, MODERN])
HOME = {"roots": [{"name": "home", "uri": "file:///home/ada"}]}
SAMPLED = {"content": {"text": "four", "type": "text"}, "model": "small-1", "role": "assistant", "stopReason": "endTurn"}
NAMED = {"action": "accept", "content": {"name": "Ada"}}


def rounds(seen: Seen) -> list[dict[str, Any]]:
    """The ``inputRequests`` of every ``input_required`` result the client got, in order."""
    frames = [json.loads(record["line"]) for record in seen.client if record["dir"] == "out"]
    results = [frame.get("result", {}) for frame in frames]
    return [result["inputRequests"] for result in results if result.get("resultType") == "input_required"]


# ------------------------------------------------------------------------------------------------------- nothing asked


@every_revision
def test_call_without_questions_is_never_answered_with_one(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("echo", {"text": "x"})

    seen = link(MODERN, legacy(revision)).run(scenario, **Person().everything())
    assert rounds(seen) == []


def test_server_told_of_no_capability_does_not_ask(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        result = await client.call_tool("ask_form", {})
        assert result.is_error
        assert words(result) == "the client did not declare elicitation.form"

    seen = link(MODERN, legacy(LATEST)).run(scenario)
    assert rounds(seen) == []


# ----------------------------------------------------------------------------------------------------------- elicitation


@with_forms
@three_ways
def test_form_of_one_field_is_answered(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_form", {"fields": "one"}))) == NAMED

    seen = link(how, legacy(revision)).run(scenario, **Person().everything())
    if how in (AUTO, MODERN):
        assert [list(each) for each in rounds(seen)] == [["name"]]


@with_forms
@three_ways
def test_form_of_every_field_type_is_answered_with_its_own_types(link: LinkTo, revision: str, how: str) -> None:
    filled: dict[str, Any] = {"name": "Ada", "age": 36, "score": 1.5, "agree": False, "color": "red", "email": "ada@example.test"}
    filled |= {"size": "s", "tags": ["x", "z"]} if revision == LATEST else {}

    async def scenario(client: Client) -> None:
        answer = json.loads(words(await client.call_tool("ask_form", {})))
        assert answer == {"action": "accept", "content": filled}
        assert type(answer["content"]["age"]) is int

    person = Person(content=filled)
    link(how, legacy(revision)).run(scenario, **person.everything())
    assert person.asked[0].message == "Please fill in"
    assert person.asked[0].requested_schema["properties"]["score"]["minimum"] == 0.5


@with_forms
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_refusal_is_passed_as_given(link: LinkTo, revision: str, action: str) -> None:
    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_form", {}))) == {"action": action}

    link(MODERN, legacy(revision)).run(scenario, **Person(action=action).everything())


@every_way
def test_url_is_opened(link: LinkTo, how: str) -> None:
    person = Person()

    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_url", {})))["action"] == "accept"

    seen = link(how, legacy(LATEST)).run(scenario, **person.everything())
    assert person.asked[0].url == "https://example.test/sign-in/1"
    if how == MODERN:
        assert "elicitationId" not in "".join(record["line"] for record in seen.client if record["dir"] == "out")


def test_url_demanded_by_an_error_is_asked_and_the_call_runs_again(link: LinkTo) -> None:
    person = Person()

    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("need_url", {})) == "signed in"

    link(MODERN, legacy(LATEST)).run(scenario, **person.everything())
    assert [each.mode for each in person.asked] == ["url"]


def test_url_demanded_by_an_error_and_declined_fails(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        outcome: Any = None
        with contextlib.suppress(MCPError):
            outcome = await client.call_tool("need_url", {})
        assert outcome is None or outcome.is_error

    link(MODERN, legacy(LATEST)).run(scenario, **Person(action="decline").everything())


def test_url_demanded_from_a_client_without_it_is_a_missing_capability(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("need_url", {})
        assert caught.value.code == -32021
        assert caught.value.error.data["requiredCapabilities"] == {"elicitation": {"url": {}}}

    link(MODERN, legacy(LATEST)).run(scenario)


# ------------------------------------------------------------------------------------------------------ sampling, roots


@every_revision
@three_ways
def test_model_and_roots_are_asked(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_sampling", {"text": "2 + 2?"}))) == SAMPLED
        assert json.loads(words(await client.call_tool("ask_roots", {}))) == HOME

    person = Person()
    link(how, legacy(revision)).run(scenario, **person.everything())
    assert person.asked[0].max_tokens == 64
    assert person.asked[0].system_prompt == "Be brief."
    assert person.asked[1] == "roots"


@every_revision
@three_ways
def test_prompt_and_resource_may_ask_too(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        (message,) = (await client.get_prompt("asking")).messages
        assert isinstance(message.content, types.TextContent)
        assert "four" in message.content.text
        (content,) = (await client.read_resource("demo://asks")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "roots: 1"

    link(how, legacy(revision)).run(scenario, **Person().everything())


# ------------------------------------------------------------------------------------------------------- several, rounds


@every_revision
@three_ways
def test_three_questions_at_once_are_one_round(link: LinkTo, revision: str, how: str) -> None:
    first = NAMED if revision >= "2025-06-18" else SAMPLED

    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_three", {}))) == [first, SAMPLED, HOME]

    # The window is long enough for a busy machine: what is tested is that the questions share a round, not how fast they come.
    patient = ("--question-window", "0.5")
    seen = link(how, legacy(revision), *patient).run(scenario, **Person().everything())
    if how in (AUTO, MODERN):
        (questions,) = rounds(seen)
        assert len(questions) == 3


@every_revision
@three_ways
def test_questions_one_after_the_other_are_rounds(link: LinkTo, revision: str, how: str) -> None:
    answer = NAMED if revision >= "2025-06-18" else SAMPLED

    async def scenario(client: Client) -> None:
        assert json.loads(words(await client.call_tool("ask_twice", {}))) == [answer] * 2
        assert json.loads(words(await client.call_tool("ask_many", {"rounds": 8}))) == [answer] * 8

    seen = link(how, legacy(revision)).run(scenario, **Person().everything())
    if how == MODERN:
        assert len(rounds(seen)) == 10
        states = [
            json.loads(r["line"])["result"]["requestState"] for r in seen.client if '"input_required"' in r["line"] and r["dir"] == "out"
        ]
        assert len(set(states)) == 10


@three_ways
def test_progress_goes_on_over_a_question(link: LinkTo, how: str) -> None:
    reported: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def scenario(client: Client) -> None:
        await client.call_tool("ask_then_progress", {}, progress_callback=on_progress)

    link(how, legacy(LATEST)).run(scenario, **Person().everything())
    assert reported == [1, 2, 3]


def test_calls_that_ask_at_the_same_time_each_get_their_answer(link: LinkTo) -> None:
    answers: list[Any] = []

    async def scenario(client: Client) -> None:
        async def one(fields: str) -> None:
            answers.append(json.loads(words(await client.call_tool("ask_form", {"fields": fields}))))

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(one, "one")

    link(MODERN, legacy(LATEST)).run(scenario, **Person().everything())
    assert answers == [NAMED] * 8


def test_parked_call_holds_nobody_up(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        parked = await client.session.call_tool("ask_form", {"fields": "one"}, allow_input_required=True)
        assert isinstance(parked, types.InputRequiredResult)
        assert words(await client.call_tool("echo", {"text": "free"})) == "free"
        assert words(await client.call_tool("barrier", {"count": 1})) == "1"
        answer: Any = {"name": types.ElicitResult(action="accept", content={"name": "Ada"})}
        state = parked.request_state
        done = await client.session.call_tool("ask_form", {"fields": "one"}, input_responses=answer, request_state=state)
        assert json.loads(words(done)) == NAMED

    link(MODERN, legacy(LATEST)).run(scenario, **Person().everything())


def test_used_or_changed_state_is_invalid_params(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        answer: Any = {"name": types.ElicitResult(action="accept", content={"name": "Ada"})}
        parked = await client.session.call_tool("ask_form", {"fields": "one"}, allow_input_required=True)
        assert isinstance(parked, types.InputRequiredResult)
        state = parked.request_state
        assert state is not None
        for wrong, arguments in ((state + "=", {"fields": "one"}), (state[:-2], {"fields": "one"}), (state, {"fields": "many"})):
            with pytest.raises(MCPError) as caught:
                await client.session.call_tool("ask_form", arguments, input_responses=answer, request_state=wrong)
            assert caught.value.code == -32602
        first = await client.session.call_tool("ask_form", {"fields": "one"}, input_responses=answer, request_state=state)
        assert json.loads(words(first)) == NAMED
        other: Any = {"name": types.ElicitResult(action="accept", content={"name": "Eve"})}
        with pytest.raises(MCPError) as caught:
            await client.session.call_tool("ask_form", {"fields": "one"}, input_responses=other, request_state=state)
        assert caught.value.code == -32602

    link(MODERN, legacy(LATEST)).run(scenario, **Person().everything())


# ------------------------------------------------------------------------------------------- capabilities, odd questions


def test_question_outside_the_callers_capabilities_ends_as_missing_capability(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("ask_form", {"anyway": True})
        assert caught.value.code == -32021
        assert caught.value.error.data["requiredCapabilities"] in ({"elicitation": {}}, {"elicitation": {"form": {}}})

    link(MODERN, legacy(LATEST)).run(scenario, sampling_callback=Person().sample)


@every_revision
@three_ways
def test_ping_of_the_server_is_answered(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("ping_client", {})) == "{}"

    link(how, legacy(revision)).run(scenario)


@every_way
def test_question_no_revision_has_is_method_not_found(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        answer = json.loads(words(await client.call_tool("vendor_question", {})))
        assert answer["error"]["code"] == -32601

    link(how, legacy(LATEST)).run(scenario)


def test_question_right_after_the_handshake_rides_on_the_next_call(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        assert (await client.list_tools()).tools
        assert json.loads(words(await client.call_tool("start_answer", {}))) == HOME

    link(MODERN, legacy(LATEST, "--ask-on-start")).run(scenario, **Person().everything())


def test_question_right_after_the_handshake_reaches_the_client_though_every_call_is_quick(link: LinkTo) -> None:
    person = Person()

    async def scenario(client: Client) -> None:
        for number in range(3):
            assert words(await client.call_tool("echo", {"text": str(number)})) == str(number)
        assert person.asked == ["roots"]

    link(MODERN, legacy(LATEST, "--ask-on-start")).run(scenario, **person.everything())


def test_cancelling_one_call_leaves_a_parked_one_alone(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        parked = await client.session.call_tool("ask_form", {"fields": "one"}, allow_input_required=True)
        assert isinstance(parked, types.InputRequiredResult)
        begun = anyio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def call_slow() -> None:
            await client.call_tool("slow", {}, progress_callback=on_progress)

        async with anyio.create_task_group() as group:
            group.start_soon(call_slow)
            await begun.wait()
            group.cancel_scope.cancel()
        answer: Any = {"name": types.ElicitResult(action="accept", content={"name": "Ada"})}
        state = parked.request_state
        done = await client.session.call_tool("ask_form", {"fields": "one"}, input_responses=answer, request_state=state)
        assert json.loads(words(done)) == NAMED

    link(MODERN, legacy(LATEST)).run(scenario, **Person().everything())

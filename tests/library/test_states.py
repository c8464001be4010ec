"""``requestState``: it opens for its own request and principal, for so long, on every server with the same key, and for nothing else."""

import time
from typing import Any

import pytest
from pydantic import BaseModel
from tests.library.peer import ALL, KEY, Json, Judged, asynchronous, once, told

from dragoman import Context, Elicit, ProtocolError, Server

ACCEPTED = {"elicitation-1": {"action": "accept", "content": {"word": "a"}}}


class Word(BaseModel):
    word: str


def built(done: list[str] | None = None) -> Server:
    """The same server as another worker has it."""
    server = Server("s", "1")

    @server.tool()
    async def ask(context: Context, what: str = "x", times: int = 1) -> str:
        if done is not None:
            await context.once("done", lambda: done.append(what))
        words = []
        for number in range(times):
            answer = await context.ask(Elicit(f"{what} {number}?", Word))
            words.append(answer.value.word if answer.value else answer.action)
        return f"{what} {' '.join(words)}"

    @server.tool()
    async def other(context: Context, what: str = "x", times: int = 1) -> str:
        return str(await context.ask(Elicit(f"{what} 0?", Word)))

    @server.resource("word://{what}")
    async def word(context: Context, what: str) -> str:
        return str((await context.ask(Elicit(what, Word))).value)

    return server


def worker(server: Server | None = None, **more: Any) -> Judged:
    return Judged(server or built(), capabilities=ALL, **{"state_key": KEY, **more})


async def asked(client: Judged, **arguments: Any) -> Json:
    """A call that a client has been asked about, as it would be sent again."""
    params: Json = {"name": "ask", "arguments": arguments}
    result = await once(client, "tools/call", params)
    assert result["resultType"] == "input_required"
    return {**params, "requestState": result["requestState"], "inputResponses": ACCEPTED}


@asynchronous
async def test_a_retry_that_lands_on_another_server_with_the_same_key_goes_on_there() -> None:
    done: list[str] = []
    async with worker(built(done)) as one, worker(built(done)) as two:
        retry = await asked(one, what="egg", times=2)
        result = await once(two, "tools/call", retry)
        assert list(result["inputRequests"]) == ["elicitation-2"]
        second = {"elicitation-2": {"action": "accept", "content": {"word": "b"}}}
        last = {**retry, "requestState": result["requestState"], "inputResponses": second}
        assert told(await once(one, "tools/call", last)) == "egg a b"
    assert done == ["egg"]


@asynchronous
async def test_resources_are_asked_about_on_any_worker_too() -> None:
    async with worker() as one, worker() as two:
        result = await once(one, "resources/read", {"uri": "word://a"})
        retry = {"uri": "word://a", "requestState": result["requestState"], "inputResponses": ACCEPTED}
        assert (await once(two, "resources/read", retry))["contents"] == [{"uri": "word://a", "text": "word='a'"}]
        with pytest.raises(ProtocolError, match="requestState"):
            await once(two, "resources/read", {**retry, "uri": "word://b"})


@asynchronous
async def test_the_arguments_may_be_spelled_differently_but_not_be_others() -> None:
    async with worker() as client:
        retry = await asked(client, what="a", times=1)
        assert told(await once(client, "tools/call", {**retry, "arguments": {"times": 1, "what": "a"}})) == "a a"
        for arguments in ({"what": "a"}, {"what": "b", "times": 1}, {"what": "a", "times": 2}):
            with pytest.raises(ProtocolError) as refusal:
                await once(client, "tools/call", {**retry, "arguments": arguments})
            assert refusal.value.code == -32602


async def refusal_of(client: Judged, retry: Json) -> str:
    with pytest.raises(ProtocolError) as refusal:
        await once(client, "tools/call", retry)
    assert refusal.value.code == -32602
    return refusal.value.message


@asynchronous
async def test_a_state_that_was_changed_anywhere_is_refused() -> None:
    async with worker() as client:
        retry = await asked(client)
        state = retry["requestState"]
        for place in (0, 15, len(state) // 2, len(state) - 1):
            changed = state[:place] + ("A" if state[place] != "A" else "B") + state[place + 1 :]
            assert "requestState" in await refusal_of(client, {**retry, "requestState": changed})
        for other in ("", "x", state[:-4], state + "AAAA", state + "=", "§", "A" * 100_000):
            assert "requestState" in await refusal_of(client, {**retry, "requestState": other})


@pytest.mark.parametrize("state", [3, True, [], {}])
@asynchronous
async def test_a_state_that_is_no_text_is_refused(state: Any) -> None:
    async with worker() as client:
        assert "requestState" in await refusal_of(client, {**await asked(client), "requestState": state})


@pytest.mark.parametrize("answers", [[], "a", 3])
@asynchronous
async def test_answers_that_are_no_object_are_refused(answers: Any) -> None:
    async with worker() as client:
        assert "inputResponses" in await refusal_of(client, {**await asked(client), "inputResponses": answers})


@pytest.mark.parametrize("answers", [{}, {"elicitation-1": "a"}, {"elicitation-1": None}, {"elicitation-2": ACCEPTED["elicitation-1"]}])
@asynchronous
async def test_an_answer_that_is_missing_is_asked_for_again(answers: Any) -> None:
    async with worker() as client:
        retry = await asked(client)
        again = await once(client, "tools/call", {**retry, "inputResponses": answers})
        assert list(again["inputRequests"]) == ["elicitation-1"]
        assert told(await once(client, "tools/call", {**retry, "requestState": again["requestState"]})) == "x a"


@asynchronous
async def test_a_state_of_another_key_of_another_principal_or_of_none_is_refused() -> None:
    async with worker() as client, worker(state_key=b"o" * 32) as foreign, worker(state_key=None) as alone, worker(principal="eve") as eve:
        retry = await asked(client)
        of_eve = await asked(eve)
        for other in (foreign, alone, eve):
            assert "requestState" in await refusal_of(other, retry)
        assert "requestState" in await refusal_of(client, of_eve)
        assert told(await once(eve, "tools/call", of_eve)) == "x a"


@asynchronous
async def test_a_state_of_another_tool_is_refused() -> None:
    async with worker() as client:
        assert "requestState" in await refusal_of(client, {**await asked(client), "name": "other"})


@asynchronous
async def test_a_state_is_good_for_an_hour_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    async with worker() as client:
        retry = await asked(client)
        now += 3599
        assert told(await once(client, "tools/call", retry)) == "x a"
        now += 2
        assert "too old" in await refusal_of(client, retry)


@asynchronous
async def test_a_state_shows_nothing_of_what_it_holds() -> None:
    async with worker() as client:
        retry = await asked(client, what="secret-word")
        assert "secret" not in retry["requestState"]
        assert (await asked(client, what="secret-word"))["requestState"] != retry["requestState"]


@asynchronous
async def test_a_retry_without_its_state_begins_anew() -> None:
    async with worker() as client:
        retry = await asked(client, times=2)
        again = await once(client, "tools/call", {name: value for name, value in retry.items() if name != "requestState"})
        assert list(again["inputRequests"]) == ["elicitation-1"]


@asynchronous
async def test_an_earlier_round_may_be_taken_up_again_with_another_answer() -> None:
    """Nothing of a call is kept anywhere: what must happen once only is for the tool to see to."""
    async with worker() as client:
        retry = await asked(client)
        assert told(await once(client, "tools/call", retry)) == "x a"
        other = {"elicitation-1": {"action": "accept", "content": {"word": "b"}}}
        assert told(await once(client, "tools/call", {**retry, "inputResponses": other})) == "x b"


@pytest.mark.parametrize("size", [0, 16, 31, 33])
@asynchronous
async def test_a_key_of_another_size_than_32_bytes_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=r"32 bytes"):
        async with worker(state_key=b"k" * size):
            pass

"""What a handler can ask, of clients of every revision: the answer, a refusal, or a clear word that the client cannot be asked."""

import json
from typing import Any

import pytest
from tests.library.asker import SCHEMA, SERVER, TOOL, Peer
from tests.library.peer import ALL, ASKED, BEFORE, EVERY, MODERN, Judged, accept, asynchronous, called, plain, refused, told

from dragoman import Context, ProtocolError, Server


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_form_is_shown_in_the_words_of_the_revision_and_its_answer_is_an_instance(version: str) -> None:
    peer = Peer()
    assert told(await called(SERVER, "form", version=version, answer=peer)) == "Elicited('accept', Who(name='Ada')) True"
    mode = {} if version == "2025-06-18" else {"mode": "form"}
    ((method, params),) = peer.asked
    assert method == "elicitation/create"
    assert params | mode == {"message": "Who are you?", "requestedSchema": SCHEMA, **mode}


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_the_answer_to_a_form_that_is_a_schema_is_a_dict(version: str) -> None:
    assert told(await called(SERVER, "dictionary", version=version, answer=accept(name="Ada"))) == "Elicited('accept', {'name': 'Ada'})"


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize("action", ["decline", "cancel"])
@asynchronous
async def test_a_user_who_does_not_say_yes_has_no_value(version: str, action: str) -> None:
    assert told(await called(SERVER, "form", version=version, answer=lambda *_: {"action": action})) == f"Elicited('{action}', None) False"


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_page_is_shown_since_2025_11_25(version: str) -> None:
    peer = Peer()
    assert told(await called(SERVER, "page", version=version, answer=peer)) == "Elicited('accept', None) True"
    ((method, params),) = peer.asked
    assert (method, params["mode"], params["url"], params["message"]) == (
        "elicitation/create",
        "url",
        "https://example.com/pay",
        "Pay there",
    )


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_client_of_any_revision_completes_with_its_model(version: str) -> None:
    peer = Peer()
    answer = json.loads(told(await called(SERVER, "sample", version=version, answer=peer)))
    assert answer["content"] == {"type": "text", "text": "Hello"}
    ((_, params),) = peer.asked
    assert params == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}],
        "maxTokens": 10,
        "systemPrompt": "Be brief.",
    }


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_client_that_declares_sampling_with_tools_gets_them(version: str) -> None:
    peer = Peer()
    assert json.loads(told(await called(SERVER, "sample_with_tools", version=version, answer=peer)))["role"] == "assistant"
    assert peer.asked[0][1]["tools"] == [TOOL]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_client_of_any_revision_names_its_roots(version: str) -> None:
    assert json.loads(told(await called(SERVER, "roots", version=version, answer=Peer()))) == [{"uri": "file:///home", "name": "Home"}]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_several_questions_go_out_together_and_their_answers_come_in_their_order(version: str) -> None:
    peer = Peer()
    answers = json.loads(told(await called(SERVER, "several", version=version, answer=peer)))
    assert answers == ["accept", [{"uri": "file:///home", "name": "Home"}], "One", "Two"]
    assert sorted(method for method, _ in peer.asked) == [
        "elicitation/create",
        "roots/list",
        "sampling/createMessage",
        "sampling/createMessage",
    ]


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_prompts_and_resources_ask_like_tools(version: str) -> None:
    async with Judged(SERVER, version=version, answer=accept(name="Ada")) as client:
        assert (await client.get_prompt("greet"))["messages"] == [{"role": "user", "content": {"type": "text", "text": "Greet Ada"}}]
        assert (await client.read_resource("card://me"))["contents"] == [{"uri": "card://me", "text": "Ada"}]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"action": "yes"},
        {"action": "accept"},
        {"action": "accept", "content": {"name": 3}},
        {"action": "accept", "content": {"nom": "A"}},
    ],
)
@asynchronous
async def test_an_answer_of_a_modern_client_that_does_not_fit_is_invalid_params(answer: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError, match=r"elicitation-1.* does not fit") as refusal:
        await called(SERVER, "form", answer=lambda *_: answer)
    assert refusal.value.code == -32602


@pytest.mark.parametrize("version", ["2025-06-18", BEFORE])
@asynchronous
async def test_an_answer_of_a_legacy_client_that_does_not_fit_is_told_without_words_that_it_does_not_know(version: str) -> None:
    try:
        text = refused(await called(SERVER, "form", version=version, answer=accept(name=3)))
    except ProtocolError as error:
        text = error.message
    assert "name" in text
    assert "inputResponses" not in text


@pytest.mark.parametrize(
    ("tool", "answer"),
    [("roots", {"roots": "none"}), ("roots", {"roots": [{"name": "x"}]}), ("roots", {}), ("sample", {"role": "assistant"}), ("sample", {})],
)
@asynchronous
async def test_roots_and_completions_that_are_none_are_invalid_params(tool: str, answer: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        await called(SERVER, tool, answer=lambda *_: answer, capabilities=ALL)
    assert refusal.value.code == -32602


@pytest.mark.parametrize("version", ["2025-06-18", BEFORE])
@asynchronous
async def test_an_error_of_a_legacy_client_is_a_tool_error_with_its_words(version: str) -> None:
    def away(method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise ProtocolError(-32000, "The user is away")

    assert "The user is away" in refused(await called(SERVER, "form", version=version, answer=away))


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_client_may_take_its_time_and_answer_other_calls_meanwhile(version: str) -> None:
    async def slow(method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert told(await client.call_tool("roots")) == "[]"
        return {"action": "accept", "content": {"name": "Ada"}}

    def answer(method: str, params: dict[str, Any]) -> Any:
        return {"roots": []} if method == "roots/list" else slow(method, params)

    async with Judged(SERVER, version=version, answer=answer) as client:
        assert plain(await client.call_tool("form"))["content"][0]["text"].startswith("Elicited('accept'")


@asynchronous
async def test_asking_nothing_is_a_fault_of_the_handler() -> None:
    server = Server("s")

    @server.tool()
    async def nothing(context: Context) -> str:
        await context.ask()
        return "asked"

    assert refused(await called(server, "nothing", answer=Peer())) == "The tool nothing is out of order: it failed with TypeError"

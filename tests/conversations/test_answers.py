"""What clients answer, or don't (translation: server requests and multi round-trip; 2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import Conversation
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}], "maxTokens": 10}
PARIS = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
CANCELLED = "notifications/cancelled"


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def parked(converse: Converse, *names: str, **settings: Any) -> Conversation:
    """Call 1 of "deploy" asks for one form a name."""
    talk = converse(**settings)
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1)
    for name in names:
        talk.ask_form(f"q-{name}", f"{name}?", **{name: NAME})
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == list(names)
    return talk


def retry(talk: Conversation, id: Any, answers: Any, *, after: Any = 1) -> None:  # noqa: A002
    talk.call("deploy", {"x": 1}, id=id, requestState=talk.result_of(after)["requestState"], inputResponses=answers)


def given(talk: Conversation, name: str) -> list[Any]:
    """What the server got for the question about ``name``."""
    return [frame.get("result", frame.get("error")) for frame in talk.answers_of_client(f"q-{name}")]


def test_partial_answers_are_passed_on_and_the_rest_is_asked_again(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = parked(converse, "a", "b")
    retry(talk, 2, {"a": accept(a="1")})
    assert given(talk, "a") == [accept(a="1")]
    talk.window()
    assert talk.result_of(2)["resultType"] == "input_required"
    assert list(talk.result_of(2)["inputRequests"]) == ["b"]
    retry(talk, 3, {"b": accept(b="2")}, after=2)
    assert given(talk, "b") == [accept(b="2")]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(3)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


@pytest.mark.parametrize("answers", [{}, None, {"other": {"action": "accept"}}])
def test_retry_that_answers_nothing_is_asked_the_same_again(converse: Converse, answers: Any) -> None:
    talk = parked(converse, "a")
    retry(talk, 2, answers)
    talk.window()
    assert talk.result_of(2)["inputRequests"] == talk.result_of(1)["inputRequests"]
    assert talk.result_of(2)["requestState"] != talk.result_of(1)["requestState"]
    assert given(talk, "a") == []


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "yes",
        [],
        {},
        {"action": "maybe"},
        {"action": "accept"},
        {"action": "accept", "content": {"a": 7}},
        {"action": "accept", "content": {"a": None}},
        {"action": "accept", "content": "x"},
        {"result": {"action": "accept", "content": {"a": "x"}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"action": "decline"}},
    ],
)
def test_invalid_answer_is_asked_again_and_the_server_hears_nothing(converse: Converse, answer: Any) -> None:
    talk = parked(converse, "a")
    if answer == {"action": "accept"}:
        answer = {"action": "accept", "content": {"a": {}}}
    retry(talk, 2, {"a": answer})
    talk.window()
    assert list(talk.result_of(2)["inputRequests"]) == ["a"]
    assert given(talk, "a") == []
    assert any("asked again" in line for line in talk.log if line.startswith("* log"))
    retry(talk, 3, {"a": accept(a="x")}, after=2)
    assert given(talk, "a") == [accept(a="x")]


@pytest.mark.parametrize("answers", [[], "x", 7, [{"a": 1}]])
def test_input_responses_that_are_no_object_are_refused_and_the_call_stays_parked(converse: Converse, answers: Any) -> None:
    talk = parked(converse, "a")
    retry(talk, 2, answers)
    assert talk.error_of(2)["code"] == -32602
    retry(talk, 3, {"a": accept(a="x")})
    assert given(talk, "a") == [accept(a="x")]


@pytest.mark.parametrize("state", [7, {}, [], True])
def test_request_state_that_is_no_string_is_refused(converse: Converse, state: Any) -> None:
    talk = parked(converse, "a")
    talk.call("deploy", {"x": 1}, id=2, requestState=state, inputResponses={"a": accept(a="x")})
    assert talk.error_of(2)["code"] == -32602
    assert given(talk, "a") == []


def test_answers_that_nobody_asked_for_are_ignored(converse: Converse) -> None:
    talk = parked(converse, "a")
    retry(talk, 2, {"zzz": accept(z="1"), "a": accept(a="x"), "elicitation-1": {"action": "decline"}})
    assert given(talk, "a") == [accept(a="x")]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_decline_and_cancel_reach_the_server_as_they_were_given(converse: Converse, action: str) -> None:
    talk = parked(converse, "a")
    retry(talk, 2, {"a": {"action": action}})
    assert given(talk, "a") == [{"action": action}]
    assert talk.requests(CANCELLED) == []
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_answer_of_a_form_keeps_its_numbers_and_what_else_it_says(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1)
    talk.ask_form("q", "How much?", amount={"type": "number"}, whole={"type": "integer"}, sure={"type": "boolean"})
    talk.window()
    retry(talk, 2, {"elicitation-1": {**accept(amount=1.5, whole=7, sure=False), "_meta": {"com.example/x": 1}}})
    assert talk.answers_of_client("q")[0]["result"] == {**accept(amount=1.5, whole=7, sure=False), "_meta": {"com.example/x": 1}}


def test_answer_is_told_in_the_words_of_the_servers_revision(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(revision="2025-06-18")
    talk.meet()
    talk.call("t", {"x": 1}, id=1)
    talk.ask("q", "sampling/createMessage", SAMPLE)
    talk.window()
    array = {**PARIS, "content": [{"type": "text", "text": "Paris"}]}
    state = talk.result_of(1)["requestState"]
    talk.call("t", {"x": 1}, id=2, requestState=state, inputResponses={"sampling-1": array})
    assert talk.answers_of_client("q")[0]["result"] == PARIS
    assert talk.transcript() == transcript


def test_answer_that_the_servers_revision_has_no_words_for_fails_the_question(converse: Converse) -> None:
    talk = converse(revision="2025-06-18")
    talk.meet()
    talk.call("t", {"x": 1}, id=1)
    talk.ask("q", "sampling/createMessage", SAMPLE)
    talk.window()
    two = {**PARIS, "content": [{"type": "text", "text": "Paris"}, {"type": "text", "text": "France"}]}
    state = talk.result_of(1)["requestState"]
    talk.call("t", {"x": 1}, id=2, requestState=state, inputResponses={"sampling-1": two})
    assert "error" in talk.answers_of_client("q")[0]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


@pytest.mark.parametrize("roots", [{}, {"roots": None}, {"roots": [{"name": "x"}]}, {"roots": "file:///"}])
def test_roots_of_the_wrong_shape_are_asked_for_again(converse: Converse, roots: Any) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", {"x": 1}, id=1)
    talk.ask("q", "roots/list")
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("t", {"x": 1}, id=2, requestState=state, inputResponses={"roots-1": roots})
    talk.window()
    assert list(talk.result_of(2)["inputRequests"]) == ["roots-1"]


# -- answers before the question -----------------------------------------------------------------------------------------------


def test_fresh_call_with_answers_and_no_state_runs_and_its_questions_are_answered(
    converse: Converse, transcript: SnapshotAssertion
) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1, inputResponses={"a": accept(a="x"), "c": accept(c="z")})
    assert talk.requests("tools/call")[0]["params"] == {"name": "deploy", "arguments": {"x": 1}}
    talk.ask_form("q-a", "a?", a=NAME)
    assert given(talk, "a") == [accept(a="x")]
    talk.ask_form("q-b", "b?", b=NAME)
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == ["b"]
    assert talk.transcript() == transcript


def test_answer_offered_once_is_used_once(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1, inputResponses={"a": accept(a="x")})
    talk.ask_form("q-a", "a?", a=NAME)
    talk.ask_form("q-b", "a, really?", a=NAME)
    assert given(talk, "a") == [accept(a="x")]
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == ["a-2"]


def test_offered_answer_that_is_invalid_is_asked_for(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1, inputResponses={"a": {"action": "perhaps"}})
    talk.ask_form("q-a", "a?", a=NAME)
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == ["a"]


# -- no answer -----------------------------------------------------------------------------------------------------------------


def test_question_that_nobody_answers_expires_and_the_call_is_cancelled(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(question_timeout=30)
    talk.meet()
    talk.call("deploy", {"x": 1}, id=1)
    wire_id = talk.pending("tools/call")
    talk.ask_form("q-a", "a?", a=NAME)
    talk.ask("q-b", "sampling/createMessage", SAMPLE)
    talk.ask("q-c", "roots/list")
    talk.window()
    talk.pass_time(29)
    assert talk.answers_of_client("q-a") == []
    talk.pass_time(2)
    assert given(talk, "a") == [{"action": "cancel"}]
    assert given(talk, "b")[0]["code"] == -1
    assert given(talk, "c")[0]["code"] == -32603
    assert talk.requests(CANCELLED)[0]["params"]["requestId"] == wire_id
    retry(talk, 2, {"a": accept(a="x")})
    assert talk.error_of(2)["code"] == -32602
    assert talk.error_of(2)["data"] == {"reason": "expired"}
    assert "call again" in talk.error_of(2)["message"]
    assert talk.transcript() == transcript


def test_time_starts_anew_with_every_round(converse: Converse) -> None:
    talk = parked(converse, "a", question_timeout=30)
    talk.pass_time(20)
    retry(talk, 2, {})
    talk.window()
    talk.pass_time(20)
    retry(talk, 3, {"a": accept(a="x")}, after=2)
    assert given(talk, "a") == [accept(a="x")]


def test_more_parked_calls_than_allowed_release_the_oldest(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(max_parked=2)
    talk.meet()
    for number in (1, 2, 3):
        talk.call("deploy", {"x": number}, id=number)
        talk.ask_form(f"q-{number}", "env?", env=NAME)
        talk.window()
    assert given(talk, "1") == [{"action": "cancel"}]
    assert given(talk, "2") == given(talk, "3") == []
    assert len(talk.requests(CANCELLED)) == 1
    assert len(talk.losses) == 1
    talk.call("deploy", {"x": 1}, id=11, requestState=talk.result_of(1)["requestState"], inputResponses={"env": accept(env="x")})
    assert talk.error_of(11)["data"]["reason"] == "expired"
    talk.call("deploy", {"x": 2}, id=12, requestState=talk.result_of(2)["requestState"], inputResponses={"env": accept(env="x")})
    assert given(talk, "2") == [accept(env="x")]
    assert talk.transcript() == transcript


# -- the outcome comes while parked ----------------------------------------------------------------------------------------------


def test_server_that_answers_before_the_retry_is_heard_with_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = parked(converse, "a")
    talk.reply("tools/call", TEXT)
    assert len(talk.to_client) == 2
    retry(talk, 2, {"a": accept(a="x")})
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_server_that_fails_before_the_retry_is_heard_with_it(converse: Converse) -> None:
    talk = parked(converse, "a")
    talk.reply_error("tools/call", -32602, "too late")
    retry(talk, 2, {"a": accept(a="x")})
    assert talk.error_of(2) == {"code": -32602, "message": "too late"}


def test_outcome_kept_for_a_retry_survives_the_death_of_the_server(converse: Converse) -> None:
    talk = parked(converse, "a")
    talk.reply("tools/call", TEXT)
    talk.server_dies()
    retry(talk, 2, {"a": accept(a="x")})
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_outcome_that_nobody_fetches_is_dropped_in_time(converse: Converse) -> None:
    talk = parked(converse, "a", question_timeout=30)
    talk.reply("tools/call", TEXT)
    talk.pass_time(31)
    assert talk.requests(CANCELLED) == []
    retry(talk, 2, {"a": accept(a="x")})
    assert talk.error_of(2)["data"]["reason"] == "expired"


def test_question_while_parked_joins_the_next_round(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = parked(converse, "a")
    talk.ask_form("q-b", "b?", b=NAME)
    talk.window()
    retry(talk, 2, {"a": accept(a="x")})
    talk.window()
    assert list(talk.result_of(2)["inputRequests"]) == ["b"]
    retry(talk, 3, {"b": accept(b="y")}, after=2)
    assert given(talk, "b") == [accept(b="y")]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(3)
    assert talk.transcript() == transcript

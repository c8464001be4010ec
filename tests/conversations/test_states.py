"""``requestState``: who may use it, and when (translation: multi round-trip; 2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import Conversation
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
YES = {"env": {"action": "accept", "content": {"env": "prod"}}}


def park(talk: Conversation, id: Any = 1, arguments: Any = None) -> str:  # noqa: A002
    """A call that asks; its state."""
    talk.call("deploy", arguments or {"x": 1}, id=id)
    talk.ask_form(f"q{id}", "env?", env=NAME)
    talk.window()
    return talk.result_of(id)["requestState"]  # type: ignore[no-any-return]


def parked(converse: Converse, **settings: Any) -> tuple[Conversation, str]:
    talk = converse(**settings)
    talk.meet()
    return talk, park(talk)


def retry(talk: Conversation, id: Any, state: str, answers: Any = None, arguments: Any = None, name: str = "deploy") -> None:  # noqa: A002
    talk.call(name, {"x": 1} if arguments is None else arguments, id=id, requestState=state, inputResponses=answers or YES)


def refused(talk: Conversation, id: Any, reason: str) -> None:  # noqa: A002
    assert talk.error_of(id)["code"] == -32602
    assert talk.error_of(id)["data"] == {"reason": reason}


def changed(state: str) -> list[str]:
    flipped = "A" if state[20] != "A" else "B"
    return [state[:20] + flipped + state[21:], state + "A", state[:-4], state.upper(), state + "=", "", "x", "é", " " + state, "A" * 500]


def test_state_that_was_changed_on_the_way_is_refused_and_the_call_stays_parked(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    for number, wrong in enumerate(changed(state), start=10):
        retry(talk, number, wrong)
        refused(talk, number, "tampered")
    assert talk.answers_of_client("q1") == []
    retry(talk, 2, state)
    assert len(talk.answers_of_client("q1")) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert talk.transcript() == transcript


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "destroy", "arguments": {"x": 1}}),
        ("tools/call", {"name": "deploy", "arguments": {"x": 2}}),
        ("tools/call", {"name": "deploy", "arguments": {"x": "1"}}),
        ("tools/call", {"name": "deploy", "arguments": {"x": 1, "y": None}}),
        ("tools/call", {"name": "deploy"}),
        ("prompts/get", {"name": "deploy", "arguments": {"x": 1}}),
        ("resources/read", {"uri": "deploy"}),
    ],
)
def test_state_of_another_request_is_refused(converse: Converse, method: str, params: Any) -> None:
    talk, state = parked(converse)
    talk.client(method, {**params, "requestState": state, "inputResponses": YES}, id=2)
    refused(talk, 2, "foreign")
    assert talk.answers_of_client("q1") == []


def test_same_arguments_in_another_order_are_the_same_request(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    state = park(talk, arguments={"a": 1.0, "b": {"c": [1, 2], "d": "é"}})
    retry(talk, 2, state, arguments={"b": {"d": "é", "c": [1, 2]}, "a": 1})
    assert len(talk.answers_of_client("q1")) == 1


def test_state_used_twice_with_other_answers_is_a_replay(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    retry(talk, 3, state, {"env": {"action": "decline"}})
    refused(talk, 3, "replayed")
    assert len(talk.answers_of_client("q1")) == 1
    talk.reply("tools/call", TEXT)
    retry(talk, 4, state, {"env": {"action": "decline"}})
    refused(talk, 4, "replayed")
    assert talk.transcript() == transcript


def test_state_of_an_earlier_round_is_a_replay(converse: Converse) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    talk.ask_form("again", "more?", more=NAME)
    talk.window()
    later = talk.result_of(2)["requestState"]
    retry(talk, 3, later, {"more": {"action": "decline"}})
    retry(talk, 4, state)
    refused(talk, 4, "replayed")


def test_identical_retry_while_the_call_runs_joins_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    retry(talk, 3, state)
    assert len(talk.answers_of_client("q1")) == 1
    assert len(talk.requests("tools/call")) == 1
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2) == talk.result_of(3)
    assert talk.transcript() == transcript


def test_identical_retry_after_the_end_gets_the_remembered_outcome(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    talk.reply("tools/call", TEXT)
    retry(talk, 3, state)
    assert talk.result_of(3) == talk.result_of(2)
    assert len(talk.requests("tools/call")) == 1
    assert talk.transcript() == transcript


def test_identical_retry_after_a_failure_gets_the_same_error(converse: Converse) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    talk.reply_error("tools/call", -32602, "no such environment", {"a": 1.5})
    retry(talk, 3, state)
    assert talk.error_of(3) == talk.error_of(2)


def test_identical_retry_after_the_next_round_gets_the_same_questions(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    talk.ask_form("again", "more?", more=NAME)
    talk.window()
    retry(talk, 3, state)
    assert talk.result_of(3) == talk.result_of(2)
    retry(talk, 4, talk.result_of(3)["requestState"], {"more": {"action": "decline"}})
    assert talk.answers_of_client("again")[0]["result"] == {"action": "decline"}
    assert talk.transcript() == transcript


def test_two_that_wait_for_one_call_are_both_asked(converse: Converse) -> None:
    talk, state = parked(converse)
    retry(talk, 2, state)
    retry(talk, 3, state)
    talk.ask_form("again", "more?", more=NAME)
    talk.window()
    assert talk.result_of(2) == talk.result_of(3)
    assert talk.result_of(2)["resultType"] == "input_required"


def test_retry_under_an_id_in_flight_is_refused_and_leaves_the_state_good(converse: Converse) -> None:
    talk, state = parked(converse, judged=False)
    talk.call("slow", id=2)
    retry(talk, 2, state)
    assert talk.to_client[-1]["error"]["code"] == -32600
    retry(talk, 3, state)
    assert len(talk.answers_of_client("q1")) == 1


def test_identical_calls_side_by_side_have_states_of_their_own(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    first, second = park(talk, 1), park(talk, 2)
    assert first != second
    retry(talk, 12, second, {"env": {"action": "accept", "content": {"env": "two"}}})
    retry(talk, 11, first, {"env": {"action": "accept", "content": {"env": "one"}}})
    assert talk.answers_of_client("q1")[0]["result"]["content"] == {"env": "one"}
    assert talk.answers_of_client("q2")[0]["result"]["content"] == {"env": "two"}


def test_state_from_before_a_restart_is_refused_with_that_reason(converse: Converse, transcript: SnapshotAssertion) -> None:
    _, state = parked(converse)
    again = converse(instance="i2")
    again.meet()
    retry(again, 1, state)
    refused(again, 1, "restarted")
    assert "call again" in again.error_of(1)["message"]
    assert again.requests("tools/call") == []
    assert again.transcript() == transcript


def test_state_of_a_bridge_with_another_key_is_tampered(converse: Converse) -> None:
    _, state = parked(converse)
    other = converse(key=b"x" * 32)
    other.meet()
    retry(other, 1, state)
    refused(other, 1, "tampered")


def test_state_that_no_call_belongs_to_is_unknown(converse: Converse) -> None:
    _, state = parked(converse)
    twin = converse()
    twin.meet()
    retry(twin, 1, state)
    refused(twin, 1, "unknown")


@pytest.mark.parametrize("died", ["restarted", "server_exited", "expired"])
def test_with_replay_a_call_that_is_no_longer_held_runs_again(converse: Converse, died: str) -> None:
    talk, state = parked(converse, replay=True, question_timeout=30)
    if died == "restarted":
        talk = converse(instance="i2", replay=True)
        talk.meet()
    elif died == "server_exited":
        talk.server_dies()
    else:
        talk.pass_time(31)
    ran = len(talk.requests("tools/call"))
    retry(talk, 2, state)
    if died == "server_exited":
        talk.handshake()
    assert len(talk.requests("tools/call")) == ran + 1
    talk.ask_form("again", "env?", env=NAME)
    assert talk.answers_of_client("again")[0]["result"] == YES["env"]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


@pytest.mark.parametrize("hint", ["readOnlyHint", "idempotentHint"])
def test_tool_listed_as_harmless_runs_again_by_itself(converse: Converse, hint: str) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id="l")
    talk.reply("tools/list", {"tools": [{"name": "deploy", "inputSchema": {"type": "object"}, "annotations": {hint: True}}]})
    state = park(talk)
    talk.server_dies()
    retry(talk, 2, state)
    talk.handshake()
    assert len(talk.requests("tools/call")) == 2
    talk.ask_form("again", "env?", env=NAME)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


@pytest.mark.parametrize("annotations", [None, {}, {"readOnlyHint": False}, {"destructiveHint": True}, {"readOnlyHint": "yes"}])
def test_tool_not_listed_as_harmless_does_not(converse: Converse, annotations: Any) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id="l")
    tool = {"name": "deploy", "inputSchema": {"type": "object"}, **({} if annotations is None else {"annotations": annotations})}
    talk.reply("tools/list", {"tools": [tool]})
    state = park(talk)
    talk.server_dies()
    retry(talk, 2, state)
    refused(talk, 2, "server_exited")


@pytest.mark.parametrize("reason", ["tampered", "foreign", "replayed"])
def test_replay_never_runs_a_state_that_is_wrong(converse: Converse, reason: str) -> None:
    talk, state = parked(converse, replay=True)
    if reason == "tampered":
        retry(talk, 2, state[:-4])
    elif reason == "foreign":
        retry(talk, 2, state, arguments={"x": 2})
    else:
        retry(talk, 9, state)
        retry(talk, 2, state, {"env": {"action": "decline"}})
    refused(talk, 2, reason)
    assert len(talk.requests("tools/call")) == 1


def test_answer_runs_again_only_for_the_question_it_was_given_for(converse: Converse) -> None:
    talk, state = parked(converse, replay=True)
    talk.server_dies()
    retry(talk, 2, state)
    talk.handshake()
    talk.ask_form("again", "Delete everything in which environment?", env=NAME)
    talk.window()
    assert talk.answers_of_client("again") == []
    assert list(talk.result_of(2)["inputRequests"]) == ["env"]


def test_parked_calls_of_a_server_that_dies_are_gone_with_that_reason(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk, state = parked(converse)
    talk.server_dies("exited with status 3")
    assert len(talk.to_client) == 2
    retry(talk, 2, state)
    refused(talk, 2, "server_exited")
    talk.call("deploy", {"x": 1}, id=3)
    assert talk.opened == [1, 2]
    assert talk.transcript() == transcript

"""Field cases about questions, rounds and ``requestState`` (2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import Conversation
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
YES = {"env": {"action": "accept", "content": {"env": "prod"}}}


def asked(converse: Converse, **settings: Any) -> tuple[Conversation, str]:
    """A call of tool "a" that has asked for ``env``, and its state."""
    talk = converse(**settings)
    talk.meet()
    talk.call("a", {"x": 1}, id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert talk.result_of(1)["resultType"] == "input_required"
    return talk, talk.result_of(1)["requestState"]


def refused(talk: Conversation, id: Any) -> None:  # noqa: A002
    """The state is refused, and the server has heard nothing of the answer."""
    assert talk.error_of(id)["code"] == -32602
    assert talk.answers_of_client("q") == []


def goes_on(talk: Conversation, id: Any, state: str) -> None:  # noqa: A002
    """The rightful retry still works."""
    talk.call("a", {"x": 1}, id=id, requestState=state, inputResponses=YES)
    assert [frame["result"] for frame in talk.answers_of_client("q")] == [YES["env"]]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(id)["content"] == TEXT["content"]


# -- the state belongs to one call ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "arguments"), [("other_tool", {"x": 1}), ("a", {"x": 2}), ("a", {})])
def test_b076_state_of_one_call_is_refused_on_another(converse: Converse, name: str, arguments: Any) -> None:
    talk, state = asked(converse)
    talk.call(name, arguments, id=3, requestState=state, inputResponses=YES)
    refused(talk, 3)
    goes_on(talk, 4, state)


def test_b076_state_with_one_bit_changed_anywhere_is_refused(converse: Converse) -> None:
    talk, state = asked(converse)
    for number, at in enumerate(range(0, len(state), 7), start=10):
        talk.call("a", {"x": 1}, id=number, requestState=state[:at] + chr(ord(state[at]) ^ 1) + state[at + 1 :], inputResponses=YES)
        refused(talk, number)
    goes_on(talk, 4, state)


@pytest.mark.parametrize("spelled", ["{}=", "{}==", " {}", "{} ", "{}\n", "{}A"])
def test_b076_state_spelled_otherwise_is_refused(converse: Converse, spelled: str) -> None:
    talk, state = asked(converse)
    talk.call("a", {"x": 1}, id=3, requestState=spelled.format(state), inputResponses=YES)
    refused(talk, 3)
    goes_on(talk, 4, state)


@pytest.mark.parametrize("state", [1, ["x"], {}])
def test_b076_state_that_is_no_string_is_refused(converse: Converse, state: Any) -> None:
    talk, right = asked(converse)
    talk.call("a", {"x": 1}, id=3, requestState=state, inputResponses=YES)
    refused(talk, 3)
    goes_on(talk, 4, right)


def test_b076_null_instead_of_a_state_never_answers_the_parked_call(converse: Converse) -> None:
    """Null is no state, so this is a fresh call beside the parked one."""
    talk, state = asked(converse)
    parked = talk.pending("tools/call")
    talk.call("a", {"x": 1}, id=3, requestState=None, inputResponses=YES)
    assert talk.answers_of_client("q") == []
    talk.reply("tools/call", TEXT)
    assert talk.result_of(3)["content"] == TEXT["content"]
    talk.call("a", {"x": 1}, id=4, requestState=state, inputResponses=YES)
    assert [frame["result"] for frame in talk.answers_of_client("q")] == [YES["env"]]
    talk.server_frame({"jsonrpc": "2.0", "id": parked, "result": TEXT})
    assert talk.result_of(4)["content"] == TEXT["content"]


def test_b076_state_that_has_expired_is_refused(converse: Converse) -> None:
    talk, state = asked(converse, question_timeout=60.0)
    talk.pass_time(61)
    talk.call("a", {"x": 1}, id=3, requestState=state, inputResponses=YES)
    assert talk.error_of(3)["code"] == -32602
    assert talk.error_of(3)["data"] == {"reason": "expired"}


def test_b076_state_of_another_bridge_is_refused(converse: Converse) -> None:
    """Principals are an HTTP matter; on stdio another user is another bridge, with a key of its own."""
    _, foreign = asked(converse, key=b"o" * 32)
    talk, state = asked(converse)
    talk.call("a", {"x": 1}, id=3, requestState=foreign, inputResponses=YES)
    refused(talk, 3)
    goes_on(talk, 4, state)


# -- clients that treat it freely -------------------------------------------------------------------------------------------------


def test_b077_state_that_was_never_issued_is_refused_and_nothing_runs(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=2, inputResponses={"k": {"roots": []}}, requestState="invented")
    assert talk.error_of(2)["code"] == -32602
    assert talk.requests("tools/call") == []


def test_b077_question_of_the_bridge_always_carries_its_own_state(converse: Converse) -> None:
    """The case shows a question without one, which the page allows; a bridge that keeps a call parked needs it to find the call again."""
    _, state = asked(converse)
    assert len(state) > 20


def test_b077_retry_that_lost_its_state_is_a_fresh_call_whose_answers_are_used(converse: Converse) -> None:
    talk, _ = asked(converse)
    talk.call("a", {"x": 1}, id=2, inputResponses=YES)
    assert talk.answers_of_client("q") == []
    assert len(talk.requests("tools/call")) == 2
    talk.ask_form("again", "Where?", env=NAME)
    assert [frame["result"] for frame in talk.answers_of_client("again")] == [YES["env"]]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


# -- the way back --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "key", "answer"),
    [
        ("elicitation/create", {"message": "?", "requestedSchema": {"type": "object", "properties": {"env": NAME}}}, "env", YES["env"]),
        (
            "sampling/createMessage",
            {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5},
            "sampling-1",
            {"role": "assistant", "content": {"type": "text", "text": "!"}, "model": "m"},
        ),
        ("roots/list", None, "roots-1", {"roots": [{"uri": "file:///p"}]}),
    ],
)
def test_b162_question_of_a_server_that_keeps_its_session_finds_its_way_back(
    converse: Converse, method: str, params: Any, key: str, answer: Any
) -> None:
    """Told of servers without sessions over HTTP; the bridge holds the session while a client that has none gathers the answer."""
    talk = converse()
    talk.meet()
    talk.call("ask", id=1)
    talk.ask("q", method, params)
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == [key]
    talk.pass_time(300)
    talk.call("ask", id=2, requestState=talk.result_of(1)["requestState"], inputResponses={key: answer})
    assert [frame["result"] for frame in talk.answers_of_client("q")] == [answer]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.opened == [1]

"""``notifications/cancelled`` both ways (translation: notifications; 2026-07-28, basic/patterns/cancellation)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
CANCELLED = "notifications/cancelled"
ENV = {"type": "string"}


def test_running_call_is_cancelled_at_the_server_and_hears_nothing_more(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id="x")
    wire_id = talk.pending("tools/call")
    talk.cancel("x", "changed my mind")
    assert talk.requests(CANCELLED) == [
        {"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": wire_id, "reason": "changed my mind"}}
    ]
    talk.server_frame({"jsonrpc": "2.0", "id": wire_id, "result": TEXT})
    assert len(talk.to_client) == 1
    talk.call("slow", id="x")
    assert len(talk.requests("tools/call")) == 2
    assert talk.transcript() == transcript


def test_call_waiting_for_the_handshake_is_cancelled_without_a_word_to_the_server(converse: Converse) -> None:
    talk = converse()
    talk.call("slow", id=1)
    talk.cancel(1)
    talk.handshake()
    assert [frame["method"] for frame in talk.to_server] == ["initialize", "notifications/initialized"]
    assert talk.to_client == []


def test_discover_waiting_for_the_handshake_is_cancelled_but_initialize_never(converse: Converse) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.cancel(1)
    assert [frame["method"] for frame in talk.to_server] == ["initialize"]
    talk.handshake()
    assert talk.to_client == []
    talk.client("server/discover", id=2)
    assert "result" in talk.answer_to(2)


def test_call_waiting_for_its_turn_is_cancelled_without_a_word_to_the_server(converse: Converse) -> None:
    talk = converse(one_call_per_session=True)
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.call("c", id=3)
    talk.cancel(2)
    assert talk.requests(CANCELLED) == []
    talk.reply("tools/call", TEXT)
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["a", "c"]


def test_running_call_that_is_cancelled_gives_its_turn_to_the_next(converse: Converse) -> None:
    talk = converse(one_call_per_session=True)
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.cancel(1)
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["a", "b"]


def test_asking_call_is_cancelled_with_its_question(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=ENV)
    talk.cancel(1)
    assert talk.answers_of_client("q")[0]["result"] == {"action": "cancel"}
    assert len(talk.requests(CANCELLED)) == 1
    talk.window()
    assert len(talk.to_client) == 1
    assert talk.transcript() == transcript


def test_cancellation_of_a_request_already_answered_changes_nothing_for_a_parked_call(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=ENV)
    talk.window()
    talk.cancel(1)
    assert talk.requests(CANCELLED) == []
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, requestState=state, inputResponses={"env": {"action": "accept", "content": {"env": "x"}}})
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_retry_that_is_cancelled_cancels_the_call(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    wire_id = talk.pending("tools/call")
    talk.ask_form("q", "Where?", env=ENV)
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, requestState=state, inputResponses={"env": {"action": "accept", "content": {"env": "x"}}})
    talk.cancel(2)
    assert talk.requests(CANCELLED)[0]["params"]["requestId"] == wire_id
    talk.server_frame({"jsonrpc": "2.0", "id": wire_id, "result": TEXT})
    assert len(talk.to_client) == 2
    talk.call("deploy", id=3, requestState=state, inputResponses={"env": {"action": "accept", "content": {"env": "x"}}})
    assert talk.error_of(3)["code"] == -32602
    assert talk.error_of(3)["data"] == {"reason": "cancelled"}
    assert talk.transcript() == transcript


def test_cancelling_one_of_two_that_wait_for_the_same_call_leaves_the_other(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=ENV)
    talk.window()
    state = talk.result_of(1)["requestState"]
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("deploy", id=2, requestState=state, inputResponses=answers)
    talk.call("deploy", id=3, requestState=state, inputResponses=answers)
    talk.cancel(2)
    assert talk.requests(CANCELLED) == []
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(3)
    assert [frame for frame in talk.to_client if frame.get("id") == 2] == []


@pytest.mark.parametrize(
    "params", [None, {}, {"requestId": 99}, {"requestId": "1"}, {"requestId": None}, {"requestId": 1.5}, {"requestId": {}}, [1]]
)
def test_cancellation_of_nothing_is_ignored(converse: Converse, params: Any) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1)
    said = len(talk.to_server)
    note = {"jsonrpc": "2.0", "method": CANCELLED}
    talk.client_frame(note if params is None else {**note, "params": params})
    assert len(talk.to_server) == said
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_server_withdraws_its_question_before_it_went_out(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=ENV)
    talk.note(CANCELLED, {"requestId": "q", "reason": "found it"})
    talk.window()
    assert len(talk.to_client) == 1
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert talk.answers_of_client("q") == []
    assert talk.transcript() == transcript


def test_server_withdraws_one_of_two_questions_before_they_went_out(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q1", "Where?", env=ENV)
    talk.ask_form("q2", "When?", time=ENV)
    talk.note(CANCELLED, {"requestId": "q1"})
    talk.window()
    assert list(talk.result_of(1)["inputRequests"]) == ["time"]


def test_server_withdraws_its_question_after_it_went_out(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=ENV)
    talk.window()
    talk.note(CANCELLED, {"requestId": "q"})
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, requestState=state, inputResponses={"env": {"action": "accept", "content": {"env": "x"}}})
    assert talk.answers_of_client("q") == []
    talk.window()
    assert len(talk.to_client) == 2
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_server_withdraws_a_question_that_no_call_carries_yet(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.ask_form("q", "Where?", env=ENV)
    talk.note(CANCELLED, {"requestId": "q"})
    talk.call("deploy", id=1)
    talk.window()
    assert len(talk.to_client) == 1


def test_server_that_cancels_a_request_of_the_clients_is_ignored(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1)
    talk.note(CANCELLED, {"requestId": talk.pending("tools/call")})
    assert len(talk.to_client) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)

"""The client closes its side (translation: stdio, end of input)."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}


def test_everything_pipelined_before_the_first_answer_is_answered_after_the_end(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.client("tools/list", id=2)
    talk.call("echo", id=3)
    talk.client("ping", id=4)
    talk.client_closes()
    assert talk.finished is None
    talk.handshake()
    talk.reply("tools/list", {"tools": []})
    assert talk.finished is None
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["supportedVersions"] == ["2026-07-28"]
    assert talk.result_of(2)["tools"] == []
    assert talk.result_of(3)["content"] == TEXT["content"]
    assert talk.error_of(4)["code"] == -32601
    assert talk.finished == 0
    assert talk.transcript() == transcript


def test_client_that_closes_without_a_word_ends_at_once(converse: Converse) -> None:
    talk = converse()
    talk.client_closes()
    assert talk.finished == 0
    assert talk.opened == []


def test_client_that_closes_with_nothing_in_flight_ends_at_once(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client_closes()
    assert talk.finished == 0


def test_call_in_flight_is_finished_and_then_all_ends(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1)
    talk.client_closes()
    assert talk.finished is None
    talk.pass_time(3)
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)
    assert talk.finished == 0


def test_call_that_takes_too_long_after_the_end_is_given_up(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(drain_timeout=5)
    talk.meet()
    talk.call("slow", id=1)
    talk.call("slow", id="2")
    talk.client_closes()
    talk.pass_time(4.9)
    assert talk.finished is None
    talk.pass_time(0.2)
    for asked in (1, "2"):
        assert talk.error_of(asked)["code"] == -32603
    assert len(talk.requests("notifications/cancelled")) == 2
    assert talk.finished == 0
    assert talk.transcript() == transcript


def test_drain_time_counts_from_the_last_output(converse: Converse) -> None:
    talk = converse(drain_timeout=5)
    talk.meet()
    talk.call("slow", id=1, meta=envelope(ALL_CAPABILITIES, progressToken="t"))
    token = talk.requests("tools/call")[0]["params"]["_meta"]["progressToken"]
    talk.client_closes()
    for value in range(4):
        talk.pass_time(4)
        talk.note("notifications/progress", {"progressToken": token, "progress": value})
    assert talk.finished is None
    talk.pass_time(5.1)
    assert talk.error_of(1)["code"] == -32603
    assert talk.finished == 0


def test_calls_waiting_for_the_handshake_are_given_up_too(converse: Converse) -> None:
    talk = converse(drain_timeout=5)
    talk.client("server/discover", id=1)
    talk.call("a", id=2)
    talk.client_closes()
    talk.pass_time(6)
    assert [talk.error_of(number)["code"] for number in (1, 2)] == [-32603, -32603]
    assert talk.finished == 0


def test_stream_waiting_for_the_handshake_ends_with_its_result(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {"listChanged": True}})
    talk.listen(id="s", toolsListChanged=True)
    talk.client_closes()
    assert talk.result_of("s")["resultType"] == "complete"
    assert talk.finished == 0


def test_parked_calls_end_at_once_and_their_questions_are_cancelled(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.client_closes()
    assert talk.answers_of_client("q")[0]["result"] == {"action": "cancel"}
    assert len(talk.requests("notifications/cancelled")) == 1
    assert talk.finished == 0
    assert talk.transcript() == transcript


def test_question_after_the_end_does_not_keep_the_bridge_open(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.client_closes()
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.answer_to(1)
    assert talk.finished == 0
    assert talk.transcript() == transcript


def test_server_that_dies_after_the_end_fails_what_is_left(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1)
    talk.client_closes()
    talk.server_dies("exited with status 1")
    assert talk.error_of(1)["code"] == -32603
    assert talk.finished == 0


def test_stream_is_not_restored_after_the_end(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.listen(id="s", toolsListChanged=True)
    talk.call("slow", id=1)
    talk.client_closes()
    talk.server_dies()
    talk.pass_time(60)
    assert talk.opened == [1]


def test_end_is_told_once(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client_closes()
    talk.client_closes()
    talk.server_dies("exited with status 0")
    talk.pass_time(100)
    assert [line for line in talk.log if line.startswith("* finished")] == ["* finished with status 0"]


@pytest.mark.parametrize("closing_again", [False, True])
def test_relayed_calls_are_finished_or_given_up_too(converse: Converse, closing_again: bool) -> None:
    talk = converse(relayed=True, drain_timeout=5)
    talk.client_line(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}')
    talk.client_line(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    talk.client_closes()
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18"}})
    assert talk.finished is None
    if closing_again:
        talk.client_closes()
    talk.pass_time(5.1)
    assert talk.error_of(1)["code"] == -32603
    assert talk.finished == 0


def test_relayed_stream_does_not_keep_the_bridge_open(converse: Converse) -> None:
    talk = converse(relayed=True, server_era="modern")
    talk.listen(id="s", toolsListChanged=True)
    talk.client_closes()
    assert talk.finished == 0


def test_end_after_a_server_that_never_worked_is_a_failure(converse: Converse) -> None:
    talk = converse()
    talk.call("a", id=1)
    talk.server_dies("could not be started: command not found: nothing")
    assert talk.error_of(1)["message"].startswith("The server could not be started: command not found: nothing")
    talk.client_closes()
    assert talk.finished == 1


def test_end_after_a_server_that_died_and_came_back_is_none(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.server_dies()
    talk.client_closes()
    assert talk.finished == 0

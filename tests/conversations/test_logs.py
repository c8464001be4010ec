"""Log messages and levels (translation: client requests, notifications; 2026-07-28, server/utilities/logging)."""

from __future__ import annotations

from typing import Any

from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
MESSAGE, SET_LEVEL = "notifications/message", "logging/setLevel"
LOGGING = {"tools": {}, "logging": {}}


def at(level: str) -> Any:
    return envelope(ALL_CAPABILITIES, logLevel=level)


def levels(talk: Conversation) -> list[str]:
    """The levels that the server was set to."""
    return [frame["params"]["level"] for frame in talk.requests(SET_LEVEL)]


def say(talk: Conversation, level: str, data: Any = "x") -> None:
    talk.note(MESSAGE, {"level": level, "data": data})


def test_level_of_a_call_is_set_and_awaited_before_the_call_is_sent(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("info"))
    assert levels(talk) == ["info"]
    assert talk.requests("tools/call") == []
    talk.reply(SET_LEVEL, {})
    assert talk.requests("tools/call")[0]["params"] == {"name": "a", "arguments": {}}
    say(talk, "debug")
    say(talk, "info", {"a": [1.10]})
    say(talk, "error")
    assert [note["level"] for note in talk.notes(MESSAGE)] == ["info", "error"]
    talk.reply("tools/call", TEXT)
    say(talk, "error")
    assert len(talk.notes(MESSAGE)) == 2
    assert talk.transcript() == transcript


def test_two_levels_at_once_set_the_more_verbose_one(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("warning"))
    talk.reply(SET_LEVEL, {})
    talk.call("b", id=2, meta=at("debug"))
    assert levels(talk) == ["warning", "debug"]
    talk.reply(SET_LEVEL, {})
    talk.call("c", id=3, meta=at("error"))
    assert levels(talk) == ["warning", "debug"]
    assert len(talk.requests("tools/call")) == 3
    say(talk, "debug")
    assert len(talk.notes(MESSAGE)) == 1
    talk.reply_error("tools/call", -32602, "c fails")
    assert talk.transcript() == transcript


def test_message_that_several_calls_asked_for_goes_out_once(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("info"))
    talk.call("b", id=2, meta=at("info"))
    talk.reply(SET_LEVEL, {})
    assert levels(talk) == ["info"]
    assert len(talk.requests("tools/call")) == 2
    say(talk, "info")
    assert talk.notes(MESSAGE) == [{"level": "info", "data": "x"}]


def test_message_below_what_the_remaining_calls_asked_for_is_left_out_as_asked(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("loud", id=1, meta=at("debug"))
    talk.reply(SET_LEVEL, {})
    loud = talk.pending("tools/call")
    talk.call("quiet", id=2, meta=at("error"))
    talk.server_frame({"jsonrpc": "2.0", "id": loud, "result": TEXT})
    say(talk, "info")
    assert talk.notes(MESSAGE) == []
    assert talk.losses == []
    say(talk, "critical")
    assert len(talk.notes(MESSAGE)) == 1


def test_message_that_nobody_asked_for_is_counted(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    say(talk, "emergency")
    talk.call("a", id=1)
    say(talk, "emergency")
    assert talk.notes(MESSAGE) == []
    assert len(talk.losses) == 2
    assert levels(talk) == []


def test_level_is_lowered_when_a_second_has_passed_with_no_call(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    talk.reply(SET_LEVEL, {})
    talk.reply("tools/call", TEXT)
    assert levels(talk) == ["debug"]
    talk.pass_time(1.5)
    assert levels(talk)[1:] != []
    assert levels(talk)[-1] == "emergency"
    talk.reply(SET_LEVEL, {})
    talk.call("b", id=2, meta=at("info"))
    assert levels(talk)[-1] == "info"
    talk.reply(SET_LEVEL, {})
    assert len(talk.requests("tools/call")) == 2
    assert talk.transcript() == transcript


def test_level_is_lowered_only_to_what_others_still_ask_for(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("loud", id=1, meta=at("debug"))
    talk.reply(SET_LEVEL, {})
    loud = talk.pending("tools/call")
    talk.call("quiet", id=2, meta=at("warning"))
    talk.server_frame({"jsonrpc": "2.0", "id": loud, "result": TEXT})
    talk.pass_time(1.5)
    assert levels(talk) == ["debug", "warning"]


def test_call_while_the_level_is_being_lowered_waits_and_sets_it_again(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    talk.reply(SET_LEVEL, {})
    talk.reply("tools/call", TEXT)
    talk.pass_time(1.5)
    talk.call("b", id=2, meta=at("debug"))
    assert len(talk.requests("tools/call")) == 1
    talk.reply(SET_LEVEL, {})
    assert levels(talk)[-1] == "debug"
    talk.reply(SET_LEVEL, {})
    assert len(talk.requests("tools/call")) == 2


def test_server_without_logging_is_never_set(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}})
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    assert levels(talk) == []
    assert len(talk.requests("tools/call")) == 1
    say(talk, "info")
    assert len(talk.notes(MESSAGE)) == 1


def test_server_that_refuses_the_level_still_gets_the_call(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    talk.reply_error(SET_LEVEL, -32601, "Method not found")
    assert len(talk.requests("tools/call")) == 1
    assert len(talk.losses) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_call_cancelled_while_its_level_is_set_is_not_sent(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    talk.cancel(1)
    talk.reply(SET_LEVEL, {})
    assert talk.requests("tools/call") == []
    assert talk.requests("notifications/cancelled") == []


def test_messages_while_parked_go_out_with_the_retry_before_its_response(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("deploy", id=1, meta=at("info"))
    talk.reply(SET_LEVEL, {})
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    say(talk, "info", "while parked")
    say(talk, "debug", "too quiet")
    say(talk, "error", "also while parked")
    assert talk.notes(MESSAGE) == []
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, meta=at("warning"), requestState=state, inputResponses={"env": {"action": "decline"}})
    assert [note["data"] for note in talk.notes(MESSAGE)] == ["also while parked"]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.to_client[-1]
    assert talk.transcript() == transcript


def test_retry_that_asks_for_more_sets_the_level_before_the_server_goes_on(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, meta=at("debug"), requestState=state, inputResponses={"env": {"action": "decline"}})
    assert levels(talk) == ["debug"]


def test_parked_call_keeps_its_level(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("deploy", id=1, meta=at("info"))
    talk.reply(SET_LEVEL, {})
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.pass_time(5)
    assert levels(talk) == ["info"]


def test_message_beside_a_running_call_and_a_parked_one_goes_out_at_once(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("deploy", id=1, meta=at("info"))
    talk.reply(SET_LEVEL, {})
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    talk.call("other", id=2, meta=at("error"))
    say(talk, "info")
    assert talk.notes(MESSAGE) == []
    say(talk, "error")
    assert len(talk.notes(MESSAGE)) == 1


def test_message_without_a_known_level_is_repaired_or_counted(converse: Converse) -> None:
    talk = converse(capabilities=LOGGING)
    talk.meet()
    talk.call("a", id=1, meta=at("debug"))
    talk.reply(SET_LEVEL, {})
    talk.note(MESSAGE, {"level": "verbose", "data": 1})
    talk.note(MESSAGE, {"data": 1})
    talk.note(MESSAGE, {"level": "info"})
    talk.note(MESSAGE, None)
    assert len(talk.losses) + len(talk.notes(MESSAGE)) >= 4
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)

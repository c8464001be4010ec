"""Servers that die, hang or cannot start (translation: errors; stdio)."""

from __future__ import annotations

from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
CANCELLED = "notifications/cancelled"


def test_server_that_dies_while_starting_fails_all_that_wait(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.call("a", id="2")
    talk.client("tools/list", id=3)
    talk.server_dies("exited with status 127: sh: old-server: not found")
    for asked in (1, "2", 3):
        assert talk.error_of(asked)["code"] == -32603
        assert "status 127: sh: old-server: not found" in talk.error_of(asked)["message"]
    talk.call("a", id=4)
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(4)
    assert talk.transcript() == transcript


def test_server_that_dies_in_its_handshake_again_and_again_is_started_after_a_pause(converse: Converse) -> None:
    talk = converse()
    for asked in (1, 2, 3, 4):
        talk.call("a", id=asked)
        if asked < 4:
            talk.server_dies("exited with status 3")
    assert talk.opened == [1, 2, 3]
    assert talk.error_of(4)["message"].startswith("The server has failed 3 times in a row and is started again in 1 s; last: ")
    assert "exited with status 3" in talk.error_of(4)["message"]
    talk.now += 1.0
    talk.call("a", id=5)
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert (len(talk.opened), "result" in talk.answer_to(5)) == (4, True)


def test_server_that_dies_with_calls_in_flight_fails_each_with_its_own_id(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id="1")
    talk.client("tools/list", id=2**53 + 1)
    talk.server_dies("was killed by signal 9: last words")
    for asked in (1, "1", 2**53 + 1):
        assert talk.error_of(asked)["code"] == -32603
        assert "signal 9: last words" in talk.error_of(asked)["message"]
    talk.call("a", id=3)
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert talk.opened == [1, 2]
    assert "result" in talk.answer_to(3)
    assert talk.transcript() == transcript


def test_late_words_of_a_dead_session_are_never_taken_for_anothers(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    old = talk.pending("tools/call")
    talk.server_dies()
    talk.call("a", id=2)
    talk.handshake()
    assert talk.pending("tools/call") != old
    talk.server_frame({"jsonrpc": "2.0", "id": old, "result": TEXT}, session=1)
    talk.server_frame({"jsonrpc": "2.0", "id": talk.pending("tools/call"), "result": TEXT}, session=1)
    talk.server_frame({"jsonrpc": "2.0", "id": "q", "method": "ping"}, session=1)
    assert [frame for frame in talk.to_client if frame.get("id") == 2] == []
    talk.server_dies(session=1)
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_server_that_dies_while_a_question_waits_fails_the_call(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.server_dies()
    assert talk.error_of(1)["code"] == -32603
    talk.window()
    assert len(talk.to_client) == 2


def test_server_that_dies_while_calls_wait_for_their_turn_fails_them_too(converse: Converse) -> None:
    talk = converse(one_call_per_session=True)
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.call("c", id=3)
    talk.server_dies()
    assert [talk.error_of(number)["code"] for number in (1, 2, 3)] == [-32603, -32603, -32603]


def test_server_that_dies_while_its_level_is_set_fails_the_call(converse: Converse) -> None:
    talk = converse(capabilities={"logging": {}, "tools": {}})
    talk.meet()
    talk.call("a", id=1, meta=envelope(ALL_CAPABILITIES, logLevel="info"))
    talk.server_dies()
    assert talk.error_of(1)["code"] == -32603


def test_resumed_call_on_a_server_that_dies_fails(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    state = talk.result_of(1)["requestState"]
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("deploy", id=2, requestState=state, inputResponses=answers)
    talk.server_dies("exited with status 1")
    assert talk.error_of(2)["code"] == -32603
    talk.call("deploy", id=3, requestState=state, inputResponses=answers)
    assert talk.error_of(3)["code"] == -32603


def test_server_that_never_answers_initialize_is_given_up_in_time(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(start_timeout=10)
    talk.client("server/discover", id=1)
    talk.call("a", id=2)
    talk.pass_time(9)
    assert talk.to_client == []
    talk.pass_time(2)
    for asked in (1, 2):
        assert talk.error_of(asked)["code"] == -32603
        assert "--start-timeout" in talk.error_of(asked)["message"]
    assert talk.closed == [1]
    talk.call("a", id=3)
    assert talk.opened == [1, 2]
    assert talk.transcript() == transcript


def test_server_that_refuses_initialize_and_then_hangs_is_given_up_in_time(converse: Converse) -> None:
    talk = converse(start_timeout=10)
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32601, "no")
    talk.pass_time(11)
    assert talk.error_of(1)["code"] == -32603
    assert talk.closed == [1]


def test_late_handshake_of_a_server_that_was_given_up_is_ignored(converse: Converse) -> None:
    talk = converse(start_timeout=10)
    talk.client("tools/list", id=1)
    talk.pass_time(11)
    talk.handshake()
    assert talk.requests("notifications/initialized") == []


def test_call_without_an_answer_is_given_up_in_time_and_cancelled(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(request_timeout=60)
    talk.meet()
    talk.call("slow", id=1)
    wire_id = talk.pending("tools/call")
    talk.pass_time(30)
    talk.call("later", id=2)
    talk.pass_time(31)
    assert talk.error_of(1)["code"] == -32603
    assert "--request-timeout" in talk.error_of(1)["message"]
    assert [frame["params"]["requestId"] for frame in talk.requests(CANCELLED)] == [wire_id]
    assert [frame for frame in talk.to_client if frame.get("id") == 2] == []
    talk.server_frame({"jsonrpc": "2.0", "id": wire_id, "result": TEXT})
    talk.pass_time(30)
    assert talk.error_of(2)["code"] == -32603
    assert talk.closed == []
    assert talk.transcript() == transcript


def test_progress_starts_the_time_of_a_call_anew(converse: Converse) -> None:
    talk = converse(request_timeout=60)
    talk.meet()
    talk.call("slow", id=1, meta=envelope(ALL_CAPABILITIES, progressToken="t"))
    token = talk.requests("tools/call")[0]["params"]["_meta"]["progressToken"]
    for value in range(5):
        talk.pass_time(40)
        talk.note("notifications/progress", {"progressToken": token, "progress": value})
    assert len(talk.requests(CANCELLED)) == 0
    talk.pass_time(61)
    assert talk.error_of(1)["code"] == -32603


def test_time_that_a_call_was_parked_does_not_count(converse: Converse) -> None:
    talk = converse(request_timeout=60)
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.pass_time(59)
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("deploy", id=2, requestState=talk.result_of(1)["requestState"], inputResponses=answers)
    talk.pass_time(30)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_resumed_call_without_an_answer_is_given_up_in_time_too(converse: Converse) -> None:
    talk = converse(request_timeout=60)
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.pass_time(200)
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("deploy", id=2, requestState=talk.result_of(1)["requestState"], inputResponses=answers)
    talk.pass_time(61)
    assert talk.error_of(2)["code"] == -32603
    assert "--request-timeout" in talk.error_of(2)["message"]


def test_call_waiting_for_its_turn_is_not_given_up(converse: Converse) -> None:
    talk = converse(request_timeout=60, one_call_per_session=True)
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.pass_time(61)
    assert "error" in talk.answer_to(1)
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["a", "b"]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_level_that_is_never_answered_does_not_hold_a_call_for_ever(converse: Converse) -> None:
    talk = converse(request_timeout=60, capabilities={"logging": {}, "tools": {}})
    talk.meet()
    talk.call("a", id=1, meta=envelope(ALL_CAPABILITIES, logLevel="info"))
    talk.pass_time(200)
    if talk.requests("tools/call"):
        talk.reply("tools/call", TEXT)
    talk.answer_to(1)


def test_subscription_that_is_never_answered_does_not_hold_a_stream_for_ever(converse: Converse) -> None:
    talk = converse(request_timeout=60, capabilities={"resources": {"subscribe": True}})
    talk.meet()
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.pass_time(200)
    assert talk.notes("notifications/subscriptions/acknowledged") != [] or "error" in talk.answer_to("s")


def test_server_that_dies_after_it_was_asked_nothing_is_started_only_when_needed(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.server_dies("exited with status 0")
    talk.pass_time(100)
    assert talk.opened == [1]
    assert len(talk.to_client) == 1
    talk.client("tools/list", id=1)
    assert talk.opened == [1, 2]


def test_server_that_dies_while_it_is_to_be_replaced_fails_only_its_own(converse: Converse) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2)
    talk.server_dies(session=1)
    assert talk.error_of(1)["code"] == -32603
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_session_that_is_to_be_replaced_and_fails_its_handshake_is_closed_once(converse: Converse) -> None:
    talk = converse()
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2)
    talk.reply("initialize", {})
    assert talk.error_of(1)["code"] == -32603
    assert talk.closed == [1]
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_without_time_limits_nothing_is_given_up(converse: Converse) -> None:
    talk = converse(request_timeout=None, start_timeout=None, question_timeout=None)
    talk.call("slow", id=1)
    talk.pass_time(1e6)
    talk.handshake()
    talk.pass_time(1e6)
    assert talk.to_client == []
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.pass_time(1e6)
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("slow", id=2, requestState=talk.result_of(1)["requestState"], inputResponses=answers)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_subscription_that_is_never_answered_does_not_hold_up_the_session_that_replaces_its_own(converse: Converse) -> None:
    talk = converse(capabilities={"resources": {"subscribe": True}, "tools": {}})
    talk.client("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:1"]}}, id=1, capabilities={})
    talk.handshake()
    talk.call("asker", id=2, capabilities=ALL_CAPABILITIES)
    talk.pass_time(6)
    assert len(talk.opened) == 2
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)

"""Long queues, huge values, many sessions and faults of our own: everybody still gets an answer, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import ALL_CAPABILITIES, Conversation, envelope
from tests.conversations.conftest import Converse

NAME = {"type": "string"}
TEXT = {"content": [{"type": "text", "text": "done"}]}
FORM = {"message": "m", "requestedSchema": {"type": "object", "properties": {"a": NAME}}}
URL = {"mode": "url", "url": "https://example.com/", "message": "m", "elicitationId": "e"}


def lane(converse: Converse, waiting: int) -> Conversation:
    """A tool that is known to ask, one call of it running and more waiting for their turn."""
    talk = converse()
    talk.meet()
    talk.call("deploy", id="first")
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    answers = {"env": {"action": "accept", "content": {"env": "x"}}}
    talk.call("deploy", id="retry", requestState=talk.result_of("first")["requestState"], inputResponses=answers)
    talk.reply("tools/call", TEXT)
    for number in range(waiting):
        talk.call("deploy", {"x": number}, id=1000 + number)
    return talk


@pytest.mark.parametrize("waiting", [5, 400])
def test_calls_that_wait_for_their_turn_hear_of_the_servers_death(converse: Converse, waiting: int) -> None:
    talk = lane(converse, waiting)
    talk.server_dies()
    assert [talk.error_of(1000 + number)["code"] for number in range(waiting)] == [-32603] * waiting


def test_calls_that_wait_for_their_turn_are_not_started_by_the_end(converse: Converse) -> None:
    talk = lane(converse, 5)
    sent = len(talk.requests("tools/call"))
    talk.client_closes()
    talk.pass_time(6)
    assert talk.finished == 0
    assert len(talk.requests("tools/call")) == sent
    assert [talk.error_of(1000 + number)["code"] for number in range(5)] == [-32603] * 5


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":' + b"1" * 5000 + b',"result":{}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":' + b"1" * 5000 + b"}}",
    ],
)
def test_number_of_thousands_of_digits_is_nobodys(converse: Converse, line: bytes) -> None:
    talk = converse()
    talk.meet()
    talk.call("x", id=1)
    talk.server_line(line)
    assert len(talk.losses) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_question_of_a_task_names_its_call_by_the_token_it_was_called_with(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}})
    talk.meet()
    talk.client("tools/list", id="l")
    tool = {"name": "t", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    talk.reply("tools/list", {"tools": [tool, {"name": "u", "inputSchema": {"type": "object"}}]})
    talk.call("u", id=1)
    talk.call("t", id=2, meta=envelope(ALL_CAPABILITIES, progressToken="p"))
    token = talk.requests("tools/call")[-1]["params"]["_meta"]["progressToken"]
    talk.reply("tools/call", {"task": {"taskId": "T", "status": "working"}})
    talk.ask("q", "elicitation/create", {**FORM, "_meta": {"progressToken": token}})
    talk.window()
    assert talk.result_of(2)["resultType"] == "input_required"


def test_tool_that_has_changed_is_no_longer_taken_for_harmless(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id="l")
    tool = {"name": "deploy", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    talk.reply("tools/list", {"tools": [tool]})
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.note("notifications/tools/list_changed")
    talk.server_dies()
    talk.call("deploy", id=2, requestState=talk.result_of(1)["requestState"], inputResponses={})
    assert talk.error_of(2)["data"] == {"reason": "server_exited"}


def test_huge_outcome_does_not_push_out_the_small_ones(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    retries = {}
    for number, text in ((1, "small"), (2, "x" * (17 << 20))):
        talk.call("d", {"i": number}, id=f"a{number}")
        talk.ask_form(f"q{number}", "Where?", env=NAME)
        talk.window()
        state = talk.result_of(f"a{number}")["requestState"]
        retries[number] = {"requestState": state, "inputResponses": {"env": {"action": "accept", "content": {"env": "p"}}}}
        talk.call("d", {"i": number}, id=f"b{number}", **retries[number])
        talk.reply("tools/call", {"content": [{"type": "text", "text": text}]})
    talk.call("d", {"i": 1}, id="again", **retries[1])
    assert talk.result_of("again") == talk.result_of("b1")


def test_progress_of_a_call_that_runs_again_starts_anew(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("d", id=1, meta=envelope(ALL_CAPABILITIES, progressToken="p1"))
    progress(talk, 5)
    talk.reply_error("tools/call", -32042, "url", {"elicitations": [URL]})
    asked = talk.result_of(1)
    key = next(iter(asked["inputRequests"]))
    retry: dict[str, Any] = {"requestState": asked["requestState"], "inputResponses": {key: {"action": "accept"}}}
    talk.call("d", id=2, meta=envelope(ALL_CAPABILITIES, progressToken="p2"), **retry)
    progress(talk, 1)
    assert [note["progressToken"] for note in talk.notes("notifications/progress")] == ["p1", "p2"]


def progress(talk: Conversation, value: int) -> None:
    token = talk.requests("tools/call")[-1]["params"]["_meta"]["progressToken"]
    talk.note("notifications/progress", {"progressToken": token, "progress": value})


def test_many_streams_try_again_as_slowly_as_one(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    for number in range(6):
        talk.listen(id=f"s{number}", toolsListChanged=True)
    talk.server_dies()
    talk.pass_time(1.5)
    talk.reply_error("initialize", -32000, "not yet")
    talk.reply_error("server/discover", -32601, "no")
    before = len(talk.opened)
    talk.pass_time(2.5)
    assert len(talk.opened) == before + 1


def test_stream_is_subscribed_once_a_session_however_they_come(converse: Converse) -> None:
    talk = converse(capabilities={"resources": {"subscribe": True}}, isolate_capabilities=True)
    talk.meet()
    talk.listen(id="s", resourceSubscriptions=["file:///a"])
    talk.client("tools/list", id="x", capabilities={})
    talk.handshake()
    assert len(talk.requests("resources/subscribe")) == 2
    for request in talk.requests("resources/subscribe"):
        for session in talk.opened:
            talk.server_frame({"jsonrpc": "2.0", "id": request["id"], "result": {}}, session=session) if session else None
    talk.cancel("s")
    assert len(talk.requests("resources/unsubscribe")) == 2


def test_sessions_that_are_closed_leave_no_questions_behind(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}}, isolate_capabilities=True, max_sessions=1)
    for number in range(30):
        talk.client("tools/list", id=number, capabilities={"experimental": {f"x{number}": {}}})
        talk.handshake()
        talk.reply("tools/list", {"tools": []})
        talk.ask(f"r{number}", "roots/list")
    # Each closed session takes its held question along: only the last one is left to expire.
    talk.pass_time(10_000)
    assert len([frame for frame in talk.to_server if frame.get("error", {}).get("code") == -32603]) == 1


def test_noise_on_stdout_is_shown_for_a_while_and_then_counted(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    for _ in range(1000):
        talk.server_line(b"y")
    assert len([line for line in talk.log if line.startswith("* log: the server wrote on stdout")]) == 20
    assert len(talk.losses) == 980


BIG = b"9" * 5000


def test_broken_answer_is_charged_to_its_own_call_whatever_ids_it_holds(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id="first")
    first = talk.pending("tools/call")
    talk.call("b", id="second")
    second = talk.pending("tools/call")
    nested = b'{"result":{"content":[],"structuredContent":{"id":%d,"x":NaN}},"jsonrpc":"2.0","id":%d}' % (first, second)
    talk.server_line(nested)
    assert talk.error_of("second")["code"] == -32603
    talk.server_frame({"jsonrpc": "2.0", "id": first, "result": TEXT})
    assert talk.result_of("first")["content"] == TEXT["content"]


def test_head_of_a_line_over_the_limit_does_not_name_another_call(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id="first")
    first = talk.pending("tools/call")
    talk.call("b", id="second")
    head = b'{"result":{"structuredContent":{"id":%d}' % first
    talk._carry(talk.face.server_too_long(talk.session, head, 1 << 30, talk.now))
    assert talk.to_client[-1]["id"] == "hello"
    assert any("could not be told" in detail for detail in talk.losses)


def test_client_line_over_the_limit_does_not_answer_a_call_in_flight(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id=7)
    talk._carry(talk.face.client_too_long(b'{"jsonrpc":"2.0","id":7,"params":{"x":"', 1 << 30, talk.now))
    assert talk.to_client[-1]["error"]["code"] == -32600
    assert "id" not in talk.to_client[-1]


def test_relayed_request_is_answered_once_though_its_answer_comes_after_the_error(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    talk.server_line(b'{"jsonrpc":"2.0","id":2,"result":{"x":NaN}}')
    talk.server_frame({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})
    assert talk.error_of(2)["code"] == -32603


def test_number_of_thousands_of_digits_in_a_handshake_or_a_form_hangs_nobody(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.client("server/discover", id=1)
    wire_id = talk.pending("initialize")
    result = b'{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"experimental":{"x":{"n":%b}}}}' % BIG
    talk.server_line(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (wire_id, result))
    assert "tools" in talk.result_of(1)["capabilities"]
    talk.call("a", id=2)
    form = b'{"type":"object","properties":{"a":{"type":"integer","minimum":%b}}}' % BIG
    talk.server_line(b'{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":%b}}' % form)
    assert "error" in talk.answers_of_client("q")[0]


def test_server_that_never_stops_asking_does_not_keep_the_round_back(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id=1)
    for number in range(300):
        talk.ask_form(f"q{number}", "m", a=NAME)
        talk.pass_time(0.012)
    # Five windows after the first question its round goes out, with what there is.
    assert 2 <= len(talk.result_of(1)["inputRequests"]) <= 12


def test_modern_call_beside_a_legacy_connection_that_dies_is_answered(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    modern = talk.session
    talk.call("a", id="m")
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
    assert talk.session != modern
    talk.server_dies()
    assert talk.finished == 1
    assert talk.error_of("m")["code"] == -32603


def test_relayed_id_that_is_used_again_after_an_error_gets_its_answer(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    talk.server_line(b'{"jsonrpc":"2.0","id":2,"result":{"x":NaN}}')
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    talk.server_frame({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})
    assert talk.to_client[-1] == {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}

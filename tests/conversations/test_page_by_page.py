"""Rules of single specification pages that a reading page by page found wanting; each test names its page."""

from __future__ import annotations

import pytest
from tests.conversation import ALL_CAPABILITIES, META, SERVER, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
RESOURCES = {"resources": {"subscribe": True, "listChanged": True}, "tools": {"listChanged": True}}
ACK = "notifications/subscriptions/acknowledged"
TASKS = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}
STREAM = f"{META}subscriptionId"


def parked(converse: Converse) -> tuple[Conversation, str]:
    """A call whose client has been asked one question."""
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    return talk, talk.result_of(1)["requestState"]


# basic/patterns/mrtr#server-requirements: no inputRequests that this request does not declare


def test_retry_that_declares_less_is_not_asked_again(converse: Converse) -> None:
    talk, state = parked(converse)
    talk.call("deploy", id=2, requestState=state, inputResponses={}, capabilities={})
    talk.window()
    assert talk.answers_of_client("q")[0]["error"]["code"] == -32602
    talk.reply("tools/call", {**TEXT, "isError": True})
    assert talk.error_of(2)["code"] == -32021
    # A question may have been another call's, so the server's own answer is kept.
    failed = {**TEXT, "isError": True}
    assert talk.error_of(2)["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}, "serverResult": failed}


def test_early_question_of_a_retry_that_declares_less_is_refused_and_the_call_runs(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.ask("r", "roots/list")
    talk.call("deploy", id=1)
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, requestState=state, inputResponses={}, capabilities={})
    assert talk.answers_of_client("r")[0]["error"]["code"] == -32601
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_url_that_a_retry_does_not_declare_names_the_capability(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("login", id=1)
    asked = {"mode": "url", "url": "https://example.com/login", "message": "Log in", "elicitationId": "e"}
    talk.reply_error("tools/call", -32042, "log in first", {"elicitations": [asked]})
    state = talk.result_of(1)["requestState"]
    talk.call("login", id=2, requestState=state, inputResponses={}, capabilities={})
    assert talk.error_of(2)["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


def test_reissue_that_declares_less_is_no_identical_one(converse: Converse) -> None:
    talk, state = parked(converse)
    answers = {"env": {"action": "accept", "content": {"env": "prod"}}}
    talk.call("deploy", id=2, requestState=state, inputResponses=answers)
    talk.call("deploy", id=3, requestState=state, inputResponses=answers, capabilities={})
    assert talk.error_of(3)["data"] == {"reason": "replayed"}


# basic/patterns/subscriptions: the acknowledgement is the first message of a stream


def test_stream_whose_subscription_dies_with_the_server_is_acknowledged_by_the_next(converse: Converse) -> None:
    talk = converse(capabilities=RESOURCES)
    talk.meet()
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.server_dies()
    talk.pass_time(2)
    talk.handshake()
    talk.reply("resources/subscribe", {})
    assert talk.notes(ACK) == [{"_meta": {STREAM: "s"}, "notifications": {"resourceSubscriptions": ["a:1"]}}]


@pytest.mark.parametrize("shaken", [True, False])
def test_stream_that_ends_before_it_began_is_acknowledged_first(converse: Converse, shaken: bool) -> None:
    talk = converse(capabilities=RESOURCES)
    if shaken:
        talk.meet()
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.client_closes()
    methods = [frame.get("method", "result") for frame in talk.to_client if frame.get("id") in ("s", None)]
    assert methods == [ACK, "result", "notifications/cancelled"]


def test_end_of_a_stream_names_the_server(converse: Converse) -> None:
    talk = converse(capabilities=RESOURCES)
    talk.meet()
    talk.listen(id="s", toolsListChanged=True)
    talk.client_closes()
    assert talk.result_of("s")["_meta"] == {STREAM: "s", f"{META}serverInfo": SERVER}


# 2025-11-25, basic/utilities/tasks


def test_unlisted_tool_that_runs_only_as_a_task_is_looked_up_and_called_as_one(converse: Converse) -> None:
    talk = converse(capabilities=TASKS)
    talk.meet()
    talk.call("build", id=1)
    talk.reply_error("tools/call", -32601, "tool requires task augmentation")
    talk.reply("tools/list", {"tools": [{"name": "other", "inputSchema": {"type": "object"}}], "nextCursor": "2"})
    assert talk.requests("tools/list")[-1]["params"] == {"cursor": "2"}
    tool = {"name": "build", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    talk.reply("tools/list", {"tools": [tool]})
    assert talk.requests("tools/call")[-1]["params"] == {"name": "build", "arguments": {}, "task": {}}
    talk.reply("tools/call", {"task": {"taskId": "t1", "status": "working"}})
    talk.reply("tasks/result", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_unlisted_tool_that_is_unknown_stays_unknown(converse: Converse) -> None:
    talk = converse(capabilities=TASKS)
    talk.meet()
    talk.call("nothing", id=1)
    talk.reply_error("tools/call", -32601, "no such tool")
    talk.reply("tools/list", {"tools": []})
    assert talk.error_of(1) == {"code": -32602, "message": "no such tool"}


def test_task_of_a_server_without_tasks_cancel_is_left_alone_and_counted(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}})
    talk.meet()
    talk.client("tools/list", id="l")
    tool = {"name": "build", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    talk.reply("tools/list", {"tools": [tool]})
    talk.call("build", id=1)
    talk.reply("tools/call", {"task": {"taskId": "t1", "status": "working"}})
    talk.cancel(1)
    assert talk.requests("tasks/cancel") == []
    assert any("runs on" in detail for detail in talk.losses)


# basic/patterns/cancellation#timeouts


def test_progress_does_not_keep_a_call_for_ever(converse: Converse) -> None:
    talk = converse(request_timeout=10)
    talk.meet()
    talk.call("slow", id=1, meta=envelope(ALL_CAPABILITIES, progressToken="p"))
    for step in range(1, 20):
        talk.note("notifications/progress", {"progressToken": talk.pending("tools/call"), "progress": step})
        talk.pass_time(9)
    assert talk.error_of(1)["code"] == -32603


def test_request_of_the_bridge_that_is_not_answered_is_cancelled(converse: Converse) -> None:
    talk = converse(capabilities={"logging": {}, "tools": {}})
    talk.meet()
    talk.call("a", id=1, meta=envelope(ALL_CAPABILITIES, logLevel="info"))
    wire_id = talk.pending("logging/setLevel")
    talk.pass_time(6)
    assert talk.requests("notifications/cancelled")[-1]["params"] == {"requestId": wire_id}
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_subscription_whose_answer_is_late_is_promised_all_the_same(converse: Converse) -> None:
    """A published server asks for a sample before it answers ``resources/subscribe``: that question waits for a call."""
    talk = converse(capabilities=RESOURCES)
    talk.meet()
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.pass_time(6)
    assert talk.notes(ACK)[0]["notifications"] == {"resourceSubscriptions": ["a:1"]}
    talk.note("notifications/resources/updated", {"uri": "a:1"})
    talk.reply("resources/subscribe", {})
    assert len(talk.notes("notifications/resources/updated")) == 1
    talk.cancel("s")
    assert talk.requests("resources/unsubscribe")[0]["params"] == {"uri": "a:1"}


def test_change_that_the_server_did_not_announce_is_counted_in_so_many_words(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}})
    talk.meet()
    talk.listen(id="s", toolsListChanged=True)
    talk.note("notifications/tools/list_changed")
    assert talk.notes("notifications/tools/list_changed") == []
    assert talk.losses == ["notifications/tools/list_changed: the server did not declare tools.listChanged, so no stream was promised it"]


# basic/index#messages, server/discover


def test_core_notification_that_is_not_a_servers_is_not_passed(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.note(ACK, {"notifications": {}})
    talk.note("notifications/roots/list_changed")
    assert [frame for frame in talk.to_client if "method" in frame] == []
    assert len(talk.losses) == 2


def test_vendor_notification_of_the_client_loses_its_envelope(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client_frame({"jsonrpc": "2.0", "method": "com.example/note", "params": {"x": 1, "_meta": envelope()}})
    assert talk.requests("com.example/note")[0]["params"] == {"x": 1}


def test_extension_whose_methods_are_not_carried_is_not_shown(converse: Converse) -> None:
    talk = converse(capabilities={"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/x": {}}})
    talk.client("server/discover", id=1)
    talk.handshake()
    assert talk.result_of(1)["capabilities"]["extensions"] == {"com.example/x": {}}


def test_list_change_capability_of_the_wrong_type_is_neither_shown_nor_honoured(converse: Converse) -> None:
    talk = converse(capabilities={"prompts": {"listChanged": "yes"}})
    talk.meet()
    talk.listen(id="s", promptsListChanged=True)
    assert talk.notes(ACK)[0]["notifications"] == {}


def test_null_params_of_a_server_are_no_params(converse: Converse) -> None:
    talk = converse(capabilities=RESOURCES)
    talk.meet()
    talk.listen(id="s", toolsListChanged=True)
    talk.server_line(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}')
    assert len(talk.notes("notifications/tools/list_changed")) == 1

"""-32042 and the tools that run only as a task (translation: errors; client requests)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, Conversation
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
PAGE = {"mode": "url", "elicitationId": "e1", "url": "https://example.com/connect?e=1", "message": "Connect your account"}
NEEDED = "URL elicitation required"
TASKS = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}


def needing(converse: Converse, method: str = "tools/call", *, data: Any = None, **settings: Any) -> Conversation:
    """Request 1 is answered -32042."""
    talk = converse()
    talk.meet()
    talk.client(method, {"name": "mail", "uri": "a:b"}, id=1, **settings)
    talk.reply_error(method, -32042, NEEDED, {"elicitations": [PAGE]} if data is None else data)
    return talk


def retry(talk: Conversation, id: Any, answers: Any, method: str = "tools/call") -> None:  # noqa: A002
    state = talk.result_of(1)["requestState"]
    talk.client(method, {"name": "mail", "uri": "a:b", "requestState": state, "inputResponses": answers}, id=id)


def test_required_url_is_asked_for_and_an_accepted_retry_runs_the_call_again(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = needing(converse)
    page = {key: value for key, value in PAGE.items() if key != "elicitationId"}
    assert talk.result_of(1)["inputRequests"] == {"elicitation-1": {"method": "elicitation/create", "params": page}}
    retry(talk, 2, {"elicitation-1": {"action": "accept"}})
    assert [frame["params"] for frame in talk.requests("tools/call")] == [{"name": "mail", "uri": "a:b"}] * 2
    talk.note("notifications/elicitation/complete", {"elicitationId": "e1"})
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.notes("notifications/elicitation/complete") == []
    assert talk.transcript() == transcript


def test_required_url_that_is_still_required_is_asked_for_again(converse: Converse) -> None:
    talk = needing(converse)
    retry(talk, 2, {"elicitation-1": {"action": "accept"}})
    talk.reply_error("tools/call", -32042, NEEDED, {"elicitations": [PAGE]})
    assert talk.result_of(2)["resultType"] == "input_required"
    assert talk.result_of(2)["requestState"] != talk.result_of(1)["requestState"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_declined_url_is_a_tool_error_and_nothing_runs(converse: Converse, action: str) -> None:
    talk = needing(converse)
    retry(talk, 2, {"elicitation-1": {"action": action}})
    assert talk.result_of(2)["isError"] is True
    assert talk.result_of(2)["resultType"] == "complete"
    assert len(talk.requests("tools/call")) == 1


def test_declined_url_of_a_prompt_is_an_error(converse: Converse) -> None:
    talk = needing(converse, "prompts/get")
    retry(talk, 2, {"elicitation-1": {"action": "decline"}}, "prompts/get")
    assert "error" in talk.answer_to(2)
    assert len(talk.requests("prompts/get")) == 1


@pytest.mark.parametrize("answers", [{}, {"elicitation-1": {"action": "maybe"}}, {"elicitation-1": None}])
def test_unanswered_url_is_asked_for_again(converse: Converse, answers: Any) -> None:
    talk = needing(converse)
    retry(talk, 2, answers)
    assert talk.result_of(2)["inputRequests"] == talk.result_of(1)["inputRequests"]
    assert len(talk.requests("tools/call")) == 1


def test_two_required_urls_are_asked_for_together(converse: Converse) -> None:
    talk = needing(converse, data={"elicitations": [PAGE, {**PAGE, "url": "https://example.com/b"}]})
    assert list(talk.result_of(1)["inputRequests"]) == ["elicitation-1", "elicitation-2"]
    retry(talk, 2, {"elicitation-1": {"action": "accept"}, "elicitation-2": {"action": "decline"}})
    assert talk.result_of(2)["isError"] is True


@pytest.mark.parametrize("declared", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_client_without_urls_is_told_the_capability_that_is_missing(converse: Converse, declared: Any) -> None:
    talk = needing(converse, capabilities=declared)
    assert talk.error_of(1)["code"] == -32021
    assert talk.error_of(1)["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.parametrize("data", [{}, {"elicitations": []}, {"elicitations": "x"}, {"elicitations": [{"mode": "url"}]}, "x"])
def test_required_url_that_is_not_named_is_an_internal_error(converse: Converse, data: Any) -> None:
    talk = needing(converse, data=data)
    assert talk.error_of(1)["code"] == -32603
    assert "-32042" in talk.error_of(1)["message"]


def test_same_code_on_a_method_that_never_asks_is_internal(converse: Converse) -> None:
    talk = needing(converse, "prompts/list")
    assert talk.error_of(1)["code"] == -32603


def test_url_question_of_a_running_call_is_answered_by_its_action_alone(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("mail", id=1)
    talk.ask("q", "elicitation/create", PAGE)
    talk.window()
    page = {key: value for key, value in PAGE.items() if key != "elicitationId"}
    assert talk.result_of(1)["inputRequests"] == {"elicitation-1": {"method": "elicitation/create", "params": page}}
    state = talk.result_of(1)["requestState"]
    talk.call("mail", id=2, requestState=state, inputResponses={"elicitation-1": {"action": "accept", "content": {"x": 1}}})
    assert talk.answers_of_client("q")[0]["result"] == {"action": "accept"}


def test_url_that_was_accepted_survives_the_death_of_the_server(converse: Converse) -> None:
    talk = needing(converse)
    talk.server_dies()
    retry(talk, 2, {"elicitation-1": {"action": "accept"}})
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]


def test_required_url_that_nobody_opens_expires(converse: Converse) -> None:
    talk = needing(converse)
    talk.pass_time(601)
    assert talk.requests("notifications/cancelled") == []
    retry(talk, 2, {"elicitation-1": {"action": "accept"}})
    assert talk.error_of(2)["data"] == {"reason": "expired"}


# -- tools that run only as a task ---------------------------------------------------------------------------------------------


def listed(converse: Converse, support: str = "required", capabilities: Any = None) -> Conversation:
    talk = converse(capabilities=TASKS if capabilities is None else capabilities)
    talk.meet()
    talk.client("tools/list", id="l")
    talk.reply("tools/list", {"tools": [{"name": "build", "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}}]})
    return talk


def created(talk: Conversation) -> None:
    task = {"taskId": "t1", "status": "working", "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z", "ttl": None}
    talk.reply("tools/call", {"task": task})


def test_tool_that_runs_only_as_a_task_is_called_as_one_and_awaited(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = listed(converse)
    talk.call("build", {"x": 1}, id=1)
    assert talk.requests("tools/call")[0]["params"] == {"name": "build", "arguments": {"x": 1}, "task": {}}
    created(talk)
    assert talk.requests("tasks/result")[0]["params"] == {"taskId": "t1"}
    talk.note("notifications/tasks/status", {"taskId": "t1", "status": "completed"})
    talk.reply("tasks/result", {**TEXT, "_meta": {f"{META}related-task": {"taskId": "t1"}}})
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert f"{META}related-task" not in talk.result_of(1)["_meta"]
    assert talk.transcript() == transcript


@pytest.mark.parametrize("support", ["optional", "forbidden"])
def test_tool_that_needs_no_task_is_called_as_ever(converse: Converse, support: str) -> None:
    talk = listed(converse, support)
    talk.call("build", id=1)
    assert "task" not in talk.requests("tools/call")[0]["params"]


def test_server_that_does_not_offer_tasks_for_calls_is_called_as_ever(converse: Converse) -> None:
    talk = listed(converse, capabilities={"tools": {}})
    talk.call("build", id=1)
    assert "task" not in talk.requests("tools/call")[0]["params"]
    talk.reply_error("tools/call", -32601, "must be called as a task")
    assert talk.error_of(1)["code"] == -32601


def test_task_that_is_cancelled_is_cancelled_as_a_task(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = listed(converse)
    talk.call("build", id=1)
    created(talk)
    talk.cancel(1)
    assert talk.requests("tasks/cancel")[0]["params"] == {"taskId": "t1"}
    assert talk.requests("notifications/cancelled") == []
    talk.reply("tasks/cancel", {"taskId": "t1", "status": "cancelled"})
    assert talk.transcript() == transcript


def test_task_that_is_created_after_its_call_was_cancelled_is_cancelled_too(converse: Converse) -> None:
    talk = listed(converse)
    talk.call("build", id=1)
    talk.cancel(1)
    created(talk)
    assert talk.requests("tasks/cancel")[0]["params"] == {"taskId": "t1"}


def test_task_that_fails_fails_the_call(converse: Converse) -> None:
    talk = listed(converse)
    talk.call("build", id=1)
    created(talk)
    talk.reply_error("tasks/result", -32603, "out of memory")
    assert talk.error_of(1) == {"code": -32603, "message": "out of memory"}


def test_server_that_answers_the_task_call_at_once_is_believed(converse: Converse) -> None:
    talk = listed(converse)
    talk.call("build", id=1)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert talk.requests("tasks/result") == []


def test_question_of_a_task_goes_to_its_call_and_progress_keeps_its_token(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = listed(converse)
    talk.call("other", id=1)
    meta = {**talk.asked_by_client[-1]["params"]["_meta"], "progressToken": "p"}
    talk.call("build", id=2, meta=meta)
    token = talk.requests("tools/call")[1]["params"]["_meta"]["progressToken"]
    created(talk)
    talk.note("notifications/progress", {"progressToken": token, "progress": 1})
    assert talk.notes("notifications/progress") == [{"progressToken": "p", "progress": 1}]
    talk.ask("q", "roots/list", {"_meta": {f"{META}related-task": {"taskId": "t1"}}})
    talk.window()
    assert list(talk.result_of(2)["inputRequests"]) == ["roots-1"]
    talk.call("build", id=3, requestState=talk.result_of(2)["requestState"], inputResponses={"roots-1": {"roots": []}})
    talk.reply("tasks/result", TEXT)
    assert talk.result_of(3)["content"] == TEXT["content"]
    assert talk.transcript() == transcript

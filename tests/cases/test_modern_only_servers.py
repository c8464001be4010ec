"""Field cases about servers of 2026-07-28 behind a command, in front of clients that open with ``initialize``.

(2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions; basic/patterns/mrtr; server/tools.)
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversation import CLIENT, META
from tests.conversations.lowered import DISCOVERED, DONE, FORM, SEEN, Lowered

from oracle import LEGACY, Oracle

STRUCTURED = ("2025-06-18", "2025-11-25")
UNSTRUCTURED = ("2024-11-05", "2025-03-26")
EMPTY_FORM: Any = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "again", "requestedSchema": {"type": "object", "properties": {}}},
}


def greeted(oracle: Oracle, revision: str = "2025-11-25", capabilities: Any = None, **settings: Any) -> Lowered:
    talk = Lowered(oracle, **settings)
    talk.greets(revision, capabilities)
    talk.tells("notifications/initialized")
    return talk


def called(talk: Lowered, result: Any, id: Any = 2) -> Any:  # noqa: A002
    """The result of a call as the client sees it."""
    talk.run(id=id, name="list")
    talk.reply("tools/call", result)
    return talk.result_of(id)


# -- reaching it ---------------------------------------------------------------------------------------------------------


def reaches(oracle: Oracle, revision: str, code: int, message: str, data: Any = None) -> None:
    """The server refuses ``initialize``, and the client that sent it never learns of that."""
    talk = Lowered(oracle, server_era="auto")
    talk.request("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}, id=1)
    talk.reply_error("initialize", code, message, data)
    assert talk.to_client == []
    talk.reply("server/discover", DISCOVERED)
    assert talk.result_of(1)["protocolVersion"] == revision
    talk.tells("notifications/initialized")
    assert called(talk, DONE) == SEEN
    assert talk.opened == [1]


@pytest.mark.parametrize("revision", LEGACY)
def test_b034_client_that_never_probes_reaches_a_modern_only_server(oracle: Oracle, revision: str) -> None:
    reaches(oracle, revision, -32601, "Method not found", {"supported": ["2026-07-28"]})


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize(
    ("code", "message"), [(-32022, "Unsupported protocol version: <missing>"), (-32602, "_meta is missing"), (-32600, "no")]
)
def test_b039_refusal_of_initialize_that_explains_nothing_is_no_obstacle(oracle: Oracle, revision: str, code: int, message: str) -> None:
    reaches(oracle, revision, code, message)


# -- questions ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [{"action": "accept", "content": {}}, {"action": "decline"}, {"action": "cancel"}])
def test_b038_confirmation_is_asked_of_the_user_and_its_answer_brought_back(oracle: Oracle, answer: Any) -> None:
    """Told of servers behind a URL; what becomes of ``input_required`` is the same for every transport."""
    talk = greeted(oracle, "2025-06-18", {"elicitation": {}})
    talk.run(id=2)
    first = talk.requests("tools/call")[0]
    talk.asks_back(inputRequests={"ok": EMPTY_FORM}, requestState="opaque==")
    (question,) = talk.questions()
    assert question["method"] == "elicitation/create"
    talk.says(question["id"], answer)
    second = talk.requests("tools/call")[1]
    assert second["params"] == {**first["params"], "inputResponses": {"ok": answer}, "requestState": "opaque=="}
    assert second["id"] != first["id"]
    talk.reply("tools/call", DONE)
    assert talk.result_of(2) == SEEN


def test_b038_cancellation_while_the_user_is_asked_makes_no_second_call(oracle: Oracle) -> None:
    talk = greeted(oracle, "2025-06-18", {"elicitation": {}})
    talk.run(id=2)
    talk.asks_back(inputRequests={"ok": EMPTY_FORM}, requestState="s")
    talk.cancel(2)
    talk.says(talk.questions()[0]["id"], {"action": "accept", "content": {}})
    assert len(talk.requests("tools/call")) == 1


def test_b070_handler_that_asks_in_results_serves_a_client_that_is_asked_in_requests(oracle: Oracle) -> None:
    """The case is a framework's; here the handler is the server's, and every round has the answers of that round alone."""
    talk = greeted(oracle, capabilities={"elicitation": {}})
    talk.run(id=2, name="book")
    for count, state in enumerate(("one", "two")):
        talk.asks_back(inputRequests={f"q{count}": FORM}, requestState=state)
        answer = {"action": "accept", "content": {"name": state}}
        talk.says(talk.questions()[count]["id"], answer)
        params = talk.requests("tools/call")[-1]["params"]
        assert (params["inputResponses"], params["requestState"]) == ({f"q{count}": answer}, state)
    talk.reply("tools/call", DONE)
    assert talk.result_of(2) == SEEN


def test_b072_tool_that_asks_for_ever_is_stopped_with_an_error_that_says_so(oracle: Oracle) -> None:
    talk = greeted(oracle)
    talk.run(id=3)
    for count in range(33):
        talk.asks_back(inputRequests={"k": EMPTY_FORM})
        for question in talk.asked_since(count):
            talk.says(question["id"], {"action": "accept", "content": {}})
    assert len(talk.questions()) == 32
    assert talk.error_of(3) == {"code": -32603, "message": "The server asked more than 32 times in one call"}


# -- structured results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", STRUCTURED)
@pytest.mark.parametrize("value", [[1], [], "x", 7, None, True])
def test_b048_value_that_is_no_object_is_shown_in_one_as_its_schema_says(oracle: Oracle, revision: str, value: Any) -> None:
    talk = greeted(oracle, revision)
    talk.request("tools/list", {}, id=1)
    tool = {"name": "list", "inputSchema": {"type": "object"}, "outputSchema": {"type": ["array", "string", "integer", "null", "boolean"]}}
    talk.reply("tools/list", {"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"})
    schema = talk.result_of(1)["tools"][0]["outputSchema"]
    assert (schema["type"], list(schema["properties"])) == ("object", ["result"])
    assert called(talk, {**DONE, "structuredContent": value}) == {**SEEN, "structuredContent": {"result": value}}


@pytest.mark.parametrize("revision", LEGACY)
def test_b048_value_that_is_an_object_is_left_alone(oracle: Oracle, revision: str) -> None:
    result = called(greeted(oracle, revision), {**DONE, "structuredContent": {"a": 1}})
    assert result["content"] == SEEN["content"]
    assert result.get("structuredContent") == ({"a": 1} if revision in STRUCTURED else None)


@pytest.mark.parametrize("revision", STRUCTURED)
def test_b049_collection_of_a_tool_whose_schema_nobody_has_listed_is_shown_in_an_object(oracle: Oracle, revision: str) -> None:
    result = called(greeted(oracle, revision), {"resultType": "complete", "content": [], "structuredContent": [{"tag": "a"}]})
    assert isinstance(result.get("structuredContent", {}), dict)
    assert "tag" in json.dumps(result)


@pytest.mark.parametrize("revision", UNSTRUCTURED)
@pytest.mark.parametrize("value", [{"a": 1}, [1], "x"])
def test_b051_structured_result_without_a_text_is_told_in_one_where_nothing_else_is_shown(
    oracle: Oracle, revision: str, value: Any
) -> None:
    result = called(greeted(oracle, revision), {"resultType": "complete", "content": [], "structuredContent": value})
    (block,) = result["content"]
    assert (list(result), json.loads(block["text"])) == (["content"], value)


@pytest.mark.parametrize("revision", STRUCTURED)
def test_b051_client_that_knows_structured_results_gets_what_the_server_sent(oracle: Oracle, revision: str) -> None:
    """A text beside it is the server's to send (server/tools#structured-content: SHOULD); a bridge that added one would alter its words."""
    result = called(greeted(oracle, revision), {"resultType": "complete", "content": [], "structuredContent": {"a": 1}})
    assert result == {"content": [], "structuredContent": {"a": 1}}


@pytest.mark.parametrize("revision", LEGACY)
def test_b142_answer_that_is_a_task_is_never_an_empty_success(oracle: Oracle, revision: str) -> None:
    """The server was not told of the extension and may not answer so; that tasks are awaited for such a client comes with their bridge."""
    talk = greeted(oracle, revision, judged=False)
    talk.run(id=2)
    talk.reply("tools/call", {"resultType": "task", "taskId": "1", "status": "working"})
    assert talk.error_of(2) == {"code": -32603, "message": "The server's result is not valid: 2026-07-28 knows no resultType 'task'"}
    assert f"{META}tasks" not in str(talk.requests("tools/call")[0]["params"]["_meta"][f"{META}clientCapabilities"])


# -- log messages ---------------------------------------------------------------------------------------------------------------


def test_b064_level_is_kept_here_and_asked_for_with_every_call(oracle: Oracle) -> None:
    talk = greeted(oracle)
    talk.request("logging/setLevel", {"level": "info"}, id=1)
    assert talk.result_of(1) == {}
    assert talk.requests("logging/setLevel") == []
    talk.run(id=2)
    assert talk.requests("tools/call")[0]["params"]["_meta"][f"{META}logLevel"] == "info"
    talk.note("notifications/message", {"level": "info", "data": "seen"})
    talk.note("notifications/message", {"level": "debug", "data": "not asked for"})
    assert [params["data"] for params in talk.notes("notifications/message")] == ["seen"]


def test_b064_level_of_one_client_is_not_anothers(oracle: Oracle) -> None:
    first, second = greeted(oracle), greeted(oracle)
    first.request("logging/setLevel", {"level": "debug"}, id=1)
    second.run(id=2)
    assert f"{META}logLevel" not in second.requests("tools/call")[0]["params"]["_meta"]

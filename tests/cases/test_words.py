"""Field cases about the words of messages: what a revision has and another has not (2026-07-28, basic/index, server/utilities/caching)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import META, SERVER, Conversation
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
EVERYTHING: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}
HINTS = {"ttlMs": 0, "cacheScope": "private"}


def met(converse: Converse, **settings: Any) -> Conversation:
    talk = converse(**settings)
    talk.meet()
    return talk


# -- results -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "result"),
    [
        ("resources/read", {"uri": "x://a"}, {"contents": [{"uri": "x://a", "text": "a"}]}),
        ("resources/list", {}, {"resources": []}),
        ("resources/templates/list", {}, {"resourceTemplates": []}),
        ("prompts/list", {}, {"prompts": []}),
        ("tools/list", {}, {"tools": []}),
    ],
)
def test_b044_result_that_may_be_cached_says_for_how_long_and_for_whom(converse: Converse, method: str, params: Any, result: Any) -> None:
    talk = met(converse, capabilities=EVERYTHING)
    talk.client(method, params, id=1)
    talk.reply(method, result)
    assert talk.result_of(1) == {"resultType": "complete", **result, **HINTS, "_meta": {f"{META}serverInfo": SERVER}}


def test_b044_discovery_carries_the_hints_too(converse: Converse) -> None:
    talk = met(converse)
    assert {name: talk.result_of("hello")[name] for name in HINTS} == HINTS


@pytest.mark.parametrize(
    ("method", "params"),
    [("resources/read", {"uri": "x://a"}), ("tools/call", {"name": "t", "arguments": {}}), ("prompts/get", {"name": "p"})],
)
def test_b044_result_that_asks_for_input_carries_no_hints(converse: Converse, method: str, params: Any) -> None:
    talk = met(converse, capabilities=EVERYTHING)
    talk.client(method, params, id=1)
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    assert talk.result_of(1)["resultType"] == "input_required"
    assert set(talk.result_of(1)) & set(HINTS) == set()


def test_b045_result_of_a_modern_call_tells_its_type(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.reply("tools/call", {"content": []})
    assert talk.result_of(1) == {"resultType": "complete", "content": [], "_meta": {f"{META}serverInfo": SERVER}}


def test_b045_legacy_client_of_the_same_server_gets_no_modern_word(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"old","version":"1"}}}'
    )
    talk.reply("initialize", {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": SERVER})
    talk.client_line(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})
    talk.client_line(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}')
    talk.server_frame({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})
    assert [talk.result_of(number) for number in (1, 2)] == [{"tools": []}, {"content": []}]


@pytest.mark.parametrize("list_ttl_ms", [0, 60_000])
def test_b046_scope_that_nobody_knows_is_private(converse: Converse, list_ttl_ms: int) -> None:
    """caching#cacheable-results demands both members; a guess of "public" could show one user's list to another."""
    talk = met(converse, list_ttl_ms=list_ttl_ms)
    talk.client("tools/list", id=1)
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(1)["cacheScope"] == "private"
    assert talk.result_of(1)["ttlMs"] == list_ttl_ms


# -- errors and answers ----------------------------------------------------------------------------------------------------------


def test_b080_missing_capability_is_named_as_an_object_beside_what_the_server_said(converse: Converse) -> None:
    """The case shows ``{"elicitation": {}}``; the form mode is named inside it, since that is what was asked for (basic/index#meta)."""
    talk = met(converse)
    talk.call("ask", id=1, capabilities={})
    talk.ask_form("q", "Where?", env={"type": "string"})
    assert "error" in talk.answers_of_client("q")[0]
    talk.reply_error("tools/call", -32603, "cannot go on", {"com.example/hint": 1})
    assert talk.error_of(1)["code"] == -32021
    assert talk.error_of(1)["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}}


@pytest.mark.parametrize("code", [-32021, -32050])
def test_b080_code_that_a_legacy_server_means_otherwise_is_not_passed_as_a_missing_capability(converse: Converse, code: int) -> None:
    talk = met(converse)
    talk.call("ask", id=1)
    talk.reply_error("tools/call", code, "quota exceeded", {"limit": 3})
    assert talk.error_of(1)["code"] == -32603
    assert "quota exceeded" in talk.error_of(1)["message"]


def test_b079_answer_to_a_url_is_its_action_alone(converse: Converse) -> None:
    """2025-11-25, client/elicitation#url-mode-elicitation-requests: the answer is a consent, what was asked is not repeated in it."""
    talk = met(converse)
    talk.call("mail", id=1)
    page = {"mode": "url", "message": "m", "url": "https://h.example", "elicitationId": "1"}
    talk.ask("e", "elicitation/create", page)
    talk.window()
    answer = {"action": "accept", "url": "https://h.example", "elicitationId": "1", "content": {}}
    state = talk.result_of(1)["requestState"]
    talk.call("mail", id=2, requestState=state, inputResponses={"elicitation-1": answer})
    assert [frame["result"] for frame in talk.answers_of_client("e")] == [{"action": "accept"}]


# -- names and tasks -----------------------------------------------------------------------------------------------------------------


def named(converse: Converse, name: str) -> None:
    """The name is listed and called byte for byte."""
    talk = met(converse)
    talk.client("tools/list", id=1)
    talk.reply("tools/list", {"tools": [{"name": name, "inputSchema": {"type": "object"}}]})
    assert [tool["name"] for tool in talk.result_of(1)["tools"]] == [name]
    talk.call(name, id=2)
    assert talk.requests("tools/call")[0]["params"]["name"] == name


@pytest.mark.parametrize("name", ["shop.find", "a.b", "a_b"])
def test_b117_dotted_tool_name_is_legal_and_stays(converse: Converse, name: str) -> None:
    """The case wants names mapped for one vendor's model; server/tools#tool-names allows dots, and hosts keep rules by name."""
    named(converse, name)


def test_b118_tool_name_with_spaces_is_the_servers_to_mend_and_stays(converse: Converse) -> None:
    """server/tools#tool-names: SHOULD NOT, addressed to the server; the name is what a call is found by."""
    named(converse, "Make A Volume")


def test_b144_task_of_a_modern_call_is_ignored(converse: Converse) -> None:
    """seps/2663: the parameter is removed and MUST be ignored; a legacy server that saw it would answer with a task instead of a result."""
    tasks: Any = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    talk = met(converse, capabilities={"tools": {}, "tasks": tasks})
    assert "tasks" not in talk.result_of("hello")["capabilities"]
    talk.client("tools/call", {"name": "t", "arguments": {}, "task": {"ttl": 1000}}, id=1)
    assert talk.requests("tools/call")[0]["params"] == {"name": "t", "arguments": {}}
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_b144_task_of_a_legacy_call_goes_on_as_it_is(converse: Converse) -> None:
    talk = converse(relayed=True)
    params = {"protocolVersion": "2025-11-25", "capabilities": {"tasks": {}}, "clientInfo": {"name": "old", "version": "1"}}
    talk.client_frame({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    talk.reply("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "tasks": {}}, "serverInfo": SERVER})
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{},"task":{"ttl":1000}}}'
    talk.client_line(call)
    assert talk.lines_to_server[-1] == call

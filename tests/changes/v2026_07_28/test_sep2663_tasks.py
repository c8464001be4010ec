from __future__ import annotations

import json

from msgspec import Raw

import downcrossings as down
from crossings import NOVEMBER, fault, notification, params, raw, result
from dragoman import chain, downchain

RELATED = '"io.modelcontextprotocol/related-task":{"taskId":"1"}'


def test_tools_without_execution_are_untouched() -> None:
    tools = '"tools":[ {"name":"a","inputSchema":{"type":"object"},"x":1.10} ]}'
    assert raw(result("tools/list", f"{{{tools}")) == f'{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{tools}'


def test_result_with_a_member_named_task_beside_its_content_is_untouched() -> None:
    assert raw(result("tools/call", '{"content":[],"task":{}}')) == '{"resultType":"complete","content":[],"task":{}}'


def test_foreign_meta_of_a_notification_is_untouched() -> None:
    assert raw(notification("vendor/x", '{"_meta":{"related-task":1}}')) == '{"_meta":{"related-task":1}}'


def test_capabilities_without_tasks_have_no_loss() -> None:
    assert chain.capabilities_to_client(Raw(b'{"tools":{},"extensions":{"io.modelcontextprotocol/ui":{}}}')) == (
        {"tools": {}, "extensions": {"io.modelcontextprotocol/ui": {}}},
        (),
    )


def test_execution_is_left_out_of_tools_without_a_loss() -> None:
    text = (
        '{"tools":[{"name":"a","execution":{"taskSupport":"required"},"inputSchema":{"type":"object"}},'
        '{"name":"b","inputSchema":{"type":"object"}}]}'
    )
    told = json.loads(raw(result("tools/list", text)))
    assert told["tools"] == [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {"type": "object"}}]


def test_capability_is_not_shown_without_a_loss() -> None:
    assert chain.capabilities_to_client(Raw(b'{"tasks":{"list":{}},"tools":{}}')) == ({"tools": {}}, ())


def test_related_task_of_a_result_is_left_out() -> None:
    assert raw(result("tools/call", f'{{"content":[],"_meta":{{{RELATED}}}}}')) == '{"resultType":"complete","content":[]}'
    assert raw(result("tools/call", f'{{"content":[],"_meta":{{{RELATED},"a":1.10}}}}')) == (
        '{"resultType":"complete","content":[],"_meta":{"a":1.10}}'
    )


def test_related_task_of_a_notification_is_left_out() -> None:
    assert raw(notification("notifications/message", f'{{"level":"info","data":1,"_meta":{{{RELATED}}}}}')) == '{"level":"info","data":1}'


def test_related_task_of_a_request_is_left_out() -> None:
    assert params("tools/call", {"name": '"a"', "_meta": f'{{{RELATED},"progressToken":1}}'}) == {
        "name": '"a"',
        "_meta": '{"progressToken":1}',
    }


def test_task_in_place_of_a_result_is_a_fault() -> None:
    found = fault("tools/call", '{"task":{"taskId":"1","status":"working"}}')
    assert (found.change, found.message) == ("sep2663_tasks", "tools/call: the server answered with a task, though none was asked for")


# --- for a legacy client ---


def test_execution_is_no_word_of_a_modern_server() -> None:
    text = '{"tools":[{"name":"a","execution":{"taskSupport":"required"},"inputSchema":{"type":"object"}}]}'
    assert raw(down.result("tools/list", text)) == '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}'


def test_legacy_client_is_told_of_no_tasks() -> None:
    text = b'{"tasks":{"list":{}},"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a.example/x":{}}}'
    assert downchain.capabilities_to_legacy(Raw(text), NOVEMBER) == (b'{"tools":{},"extensions":{"a.example/x":{}}}', ())


def test_question_is_never_a_task() -> None:
    assert raw(down.question("roots/list", '{"task":{"ttl":1},"x":1.10}', NOVEMBER)) == '{"x":1.10}'


def test_tools_that_a_model_may_use_have_no_execution() -> None:
    tool = '{"name":"a","inputSchema":{"type":"object"}'
    text = f'{{"messages":[],"maxTokens":9,"tools":[{tool}}},{tool},"execution":null}}]}}'
    assert raw(down.question("sampling/createMessage", text, NOVEMBER)) == f'{{"messages":[],"maxTokens":9,"tools":[{tool}}},{tool}}}]}}'

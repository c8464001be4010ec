"""What a legacy server's answers become (translation: results; errors). The shapes themselves are tested with the chain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, SERVER, Conversation
from tests.conversations.conftest import Converse

NAMED = {f"{META}serverInfo": SERVER}
TEXT = {"content": [{"type": "text", "text": "done"}]}
LISTING = {"prompts": {"listChanged": True}, "tools": {}, "resources": {}}
UNCACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": NAMED}


def answered(talk: Conversation, method: str, result: Any, **params: Any) -> Any:
    """One request and the server's result to it."""
    number = len(talk.asked_by_client) + 100
    talk.client(method, params, id=number)
    talk.reply(method, result)
    return talk.answer_to(number)


def failed(talk: Conversation, method: str, error: Any, **params: Any) -> Any:
    """One request and the server's error to it."""
    number = len(talk.asked_by_client) + 100
    talk.client(method, params, id=number)
    talk.server_frame({"jsonrpc": "2.0", "id": talk.pending(method), "error": error})
    return talk.error_of(number)


def test_every_kind_of_result_is_told_in_modern_words(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities={**LISTING, "completions": {}})
    talk.meet()
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    assert answered(talk, "tools/list", {"tools": [tool]})["result"] == {**UNCACHED, "tools": [tool]}
    assert answered(talk, "prompts/list", {"prompts": []})["result"] == {**UNCACHED, "prompts": []}
    assert answered(talk, "resources/list", {"resources": []})["result"] == {**UNCACHED, "resources": []}
    templates = {"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "b"}]}
    assert answered(talk, "resources/templates/list", templates)["result"] == {**UNCACHED, **templates}
    contents = {"contents": [{"uri": "a:b", "text": "hello"}]}
    assert answered(talk, "resources/read", contents, uri="a:b")["result"] == {**UNCACHED, **contents}
    plain = {"resultType": "complete", "_meta": NAMED}
    assert answered(talk, "tools/call", TEXT, name="t")["result"] == {**plain, **TEXT}
    messages = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}
    assert answered(talk, "prompts/get", messages, name="p")["result"] == {**plain, **messages}
    assert talk.losses == []
    assert talk.transcript() == transcript


def test_list_lifetime_is_stamped_only_on_lists_that_announce_changes(converse: Converse) -> None:
    talk = converse(capabilities=LISTING, list_ttl_ms=60_000)
    talk.meet()
    assert answered(talk, "prompts/list", {"prompts": []})["result"]["ttlMs"] == 60_000
    assert answered(talk, "tools/list", {"tools": []})["result"]["ttlMs"] == 0
    assert answered(talk, "resources/read", {"contents": []}, uri="a:b")["result"]["ttlMs"] == 0
    assert talk.result_of("hello")["ttlMs"] == 0


def test_legacy_members_named_like_modern_ones_are_overwritten(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    assert answered(talk, "tools/call", {**TEXT, "resultType": "input_required"}, name="t")["result"]["resultType"] == "complete"
    listed = answered(talk, "tools/list", {"tools": [], "resultType": 1, "ttlMs": -5, "cacheScope": "public"})["result"]
    assert listed == {**UNCACHED, "tools": []}


def test_foreign_meta_of_a_result_is_kept_beside_the_server_info(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    result = answered(talk, "tools/call", {**TEXT, "_meta": {"com.example/x": 1, f"{META}serverInfo": {"name": "liar"}}}, name="t")[
        "result"
    ]
    assert result["_meta"] == {"com.example/x": 1, **NAMED}


def test_blocks_of_every_kind_pass_unchanged(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    blocks = [
        {"type": "text", "text": "a", "annotations": {"priority": 0.5}},
        {"type": "image", "data": "QQ==", "mimeType": "image/png"},
        {"type": "audio", "data": "QQ==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "a:b", "name": "b"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "c"}},
    ]
    result = answered(talk, "tools/call", {"content": blocks, "structuredContent": {"a": [1.0]}, "isError": False}, name="t")["result"]
    assert result["content"] == blocks
    assert result["structuredContent"] == {"a": [1.0]}
    assert result["isError"] is False
    assert talk.losses == []


def test_tool_keeps_all_but_its_execution(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    kept = {"name": "t", "title": "T", "icons": [{"src": "https://a/b.png"}], "annotations": {"readOnlyHint": True}, "x": {"y": 1}}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tools = [{**kept, "inputSchema": schema, "execution": {"taskSupport": "optional"}}, {"name": "b", "inputSchema": {}}]
    result = answered(talk, "tools/list", {"tools": tools})["result"]
    assert result["tools"] == [{**kept, "inputSchema": schema}, {"name": "b", "inputSchema": {"type": "object"}}]


@pytest.mark.parametrize(
    ("method", "result", "member", "repaired"),
    [
        ("tools/list", {"tools": None}, "tools", []),
        ("tools/list", {}, "tools", []),
        ("prompts/list", {"prompts": None}, "prompts", []),
        ("tools/call", {"structuredContent": {"a": 1}}, "structuredContent", {"a": 1}),
        ("tools/call", {"content": [{"text": "x"}]}, "content", [{"type": "text", "text": "x"}]),
        ("tools/call", None, "content", []),
    ],
)
def test_malformed_result_is_repaired_and_counted(converse: Converse, method: str, result: Any, member: str, repaired: Any) -> None:
    talk = converse()
    talk.meet()
    answer = answered(talk, method, result, name="t")
    assert answer["result"][member] == repaired
    assert answer["result"]["resultType"] == "complete"
    assert talk.losses != []


@pytest.mark.parametrize("result", ["done", 7, True, [], [{"type": "text", "text": "x"}]])
def test_result_that_is_no_object_is_an_error_that_says_so(converse: Converse, result: Any) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.reply("tools/call", result)
    assert talk.error_of(1)["code"] == -32603
    assert "not" in talk.error_of(1)["message"]


def test_null_cursor_ends_the_list(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    assert "nextCursor" not in answered(talk, "tools/list", {"tools": [], "nextCursor": None})["result"]


# -- errors ----------------------------------------------------------------------------------------------------------------


def test_errors_that_mean_the_same_pass_as_they_are(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    for code in (-32602, -32603, -32000, -32001, 1, 404):
        error = {"code": code, "message": "m", "data": {"x": [1.10]}}
        assert failed(talk, "tools/call", error, name="t") == error
    assert talk.losses == []
    assert talk.transcript() == transcript


def test_resource_not_found_becomes_invalid_params_with_the_uri(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    error = failed(talk, "resources/read", {"code": -32002, "message": "Resource not found"}, uri="a:b")
    assert error == {"code": -32602, "message": "Resource not found", "data": {"uri": "a:b"}}


def test_resource_not_found_with_a_uri_keeps_its_data(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    error = failed(talk, "tools/call", {"code": -32002, "message": "gone", "data": {"uri": "x:y", "z": 1}}, name="t")
    assert error == {"code": -32602, "message": "gone", "data": {"uri": "x:y", "z": 1}}


def test_same_code_elsewhere_is_an_internal_error_that_tells_the_old_one(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    error = failed(talk, "tools/call", {"code": -32002, "message": "Server not initialized"}, name="t")
    assert error["code"] == -32603
    assert error["data"] == {"code": -32002, "message": "Server not initialized"}


@pytest.mark.parametrize("code", [-32020, -32021, -32022, -32050, -32099])
def test_private_code_in_the_reserved_range_becomes_internal(converse: Converse, code: int) -> None:
    talk = converse()
    talk.meet()
    error = failed(talk, "tools/call", {"code": code, "message": "m"}, name="t")
    assert error["code"] == -32603
    assert error["data"]["code"] == code


@pytest.mark.parametrize(("method", "capability"), [("tools/call", "tools"), ("prompts/get", "prompts")])
def test_method_not_found_for_a_declared_capability_means_the_name(converse: Converse, method: str, capability: str) -> None:
    talk = converse(capabilities={capability: {}})
    talk.meet()
    assert failed(talk, method, {"code": -32601, "message": "Unknown: t"}, name="t")["code"] == -32602


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "completion/complete", "resources/list", "com.example/x"])
def test_method_not_found_for_what_was_not_declared_stays(converse: Converse, method: str) -> None:
    talk = converse(capabilities={})
    talk.meet()
    named = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}, "name": "t"}
    assert failed(talk, method, {"code": -32601, "message": "Method not found"}, **named)["code"] == -32601


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"message": "no code"}, -32603, "no code"),
        ({"code": "-32602", "message": "text"}, -32602, "text"),
        ({"code": "E_FAIL", "message": "word"}, -32603, "word"),
        ({"code": -32602}, -32602, None),
        ("just text", -32603, "just text"),
    ],
)
def test_malformed_error_is_repaired(converse: Converse, error: Any, code: int, message: str | None) -> None:
    talk = converse()
    talk.meet()
    repaired = failed(talk, "tools/call", error, name="t")
    assert repaired["code"] == code
    assert isinstance(repaired["message"], str)
    assert message is None or repaired["message"] == message


# -- answers whose owner must be found -------------------------------------------------------------------------------------


def test_null_id_error_with_one_call_in_flight_belongs_to_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.server_frame({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad arguments"}})
    assert talk.error_of(1) == {"code": -32602, "message": "bad arguments"}
    assert talk.transcript() == transcript


def test_null_id_error_with_two_calls_in_flight_belongs_to_nobody(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.call("t", id=2)
    talk.server_frame({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad arguments"}})
    assert len(talk.to_client) == 1
    assert len(talk.losses) == 1


def test_id_echoed_as_a_string_finds_its_call(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.server_frame({"jsonrpc": "2.0", "id": str(talk.pending("tools/call")), "result": TEXT})
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_answer_whose_id_is_a_fraction_is_an_error_of_its_call(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.call("t", id=2)
    answer = b'{"jsonrpc":"2.0","id":%d.0,"result":{"content":[]}}' % talk.pending("tools/call")
    talk.server_line(answer)
    assert talk.error_of(2)["code"] == -32603


def test_answer_to_nobody_is_counted_and_dropped(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.server_frame({"jsonrpc": "2.0", "id": 999, "result": TEXT})
    talk.server_frame({"jsonrpc": "2.0", "id": "abc", "result": TEXT})
    assert len(talk.to_client) == 1
    assert len(talk.losses) == 2
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_second_answer_to_the_same_call_is_dropped(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.reply("tools/call", TEXT)
    talk.reply("tools/call", {"content": []})
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_missing_jsonrpc_member_of_a_server_is_forgiven(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.server_frame({"id": talk.pending("tools/call"), "result": TEXT})
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_response_with_result_and_null_error_is_a_result(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("t", id=1)
    talk.server_frame({"jsonrpc": "2.0", "id": talk.pending("tools/call"), "result": TEXT, "error": None})
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_batch_of_a_march_2025_server_is_taken_apart(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(revision="2025-03-26")
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2, meta=None)
    first, second = (frame["id"] for frame in talk.requests("tools/call"))
    talk.server_frame(
        [
            {"jsonrpc": "2.0", "id": second, "result": TEXT},
            {"jsonrpc": "2.0", "id": first, "error": {"code": -32602, "message": "m"}},
            {"jsonrpc": "2.0", "method": "notifications/com.example/x"},
        ]
    )
    assert talk.error_of(1)["code"] == -32602
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_pings_in_a_batch_are_answered_as_a_batch(converse: Converse) -> None:
    talk = converse(revision="2025-03-26")
    talk.meet()
    talk.server_frame([{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}])
    answers = json.loads(talk.lines_to_server[-1])
    assert answers == [{"jsonrpc": "2.0", "id": "a", "result": {}}, {"jsonrpc": "2.0", "id": 2, "result": {}}]


# -- lines that are no frame -----------------------------------------------------------------------------------------------


def test_text_on_stdout_goes_to_the_operator(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("tools/list", id=1)
    for line in (b"Starting server v1.2 ...", b"", b"   ", b"[info] ready", b"3", b'"quoted"', b"{'python': 1}", b"[1, 2]", b"{}", b"null"):
        talk.server_line(line)
    talk.handshake()
    talk.server_line("Grüße \u2028".encode())
    talk.reply("tools/list", {"tools": []})
    assert len(talk.to_client) == 1
    assert talk.result_of(1)["tools"] == []
    assert talk.transcript() == transcript


@pytest.mark.parametrize(
    "broken",
    [
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\xff\xfe"}]}}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":NaN}}}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":-Infinity}}}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\\ud800"}]}}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"content":[',
        b'{"jsonrpc":"2.0","result":{"content":[NaN]},"id":ID}',
        b'{"jsonrpc":"2.0","id":ID,"result":{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}}",
    ],
)
def test_broken_answer_reaches_its_owner_and_the_session_goes_on(converse: Converse, broken: bytes) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id="two")
    first = talk.requests("tools/call")[0]["id"]
    talk.server_line(broken.replace(b"ID", b"%d" % first))
    assert talk.error_of(1)["code"] == -32603
    assert talk.closed == []
    talk.reply("tools/call", TEXT)
    assert talk.result_of("two")["content"] == TEXT["content"]


def test_broken_line_without_an_id_belongs_to_the_only_call(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.server_line(b'{"jsonrpc":"2.0","result":{"content":[NaN]}}')
    assert talk.error_of(1)["code"] == -32603


def test_server_line_over_the_limit_reaches_its_owner_and_the_session_goes_on(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    first = talk.requests("tools/call")[0]["id"]
    talk.server_line_too_long(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"aaaa' % first, 70_000_000)
    assert talk.error_of(1)["code"] == -32603
    assert "--max-line" in talk.error_of(1)["message"]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert talk.transcript() == transcript


def test_broken_notification_is_counted_and_fails_nobody(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.server_line(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":NaN}}')
    assert len(talk.to_client) == 1
    assert len(talk.losses) == 1


def test_broken_notification_beside_one_call_does_not_fail_it(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.server_line(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":NaN}}')
    assert len(talk.to_client) == 1
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_broken_question_does_not_fail_the_call_whose_number_it_shares(converse: Converse) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id=1)
    wire_id = talk.pending("tools/call")
    talk.server_line(b'{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":NaN}}' % wire_id)
    assert len(talk.to_client) == 1
    assert talk.answers_of_client(wire_id)[0]["error"]["code"] == -32700
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


# -- paging ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "member"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ],
)
def test_cursor_travels_wrapped_and_the_server_sees_its_own(converse: Converse, method: str, member: str) -> None:
    talk = converse()
    talk.meet()
    talk.client(method, id=1)
    talk.reply(method, {member: [], "nextCursor": "page 2 é"})
    wrapped = talk.result_of(1)["nextCursor"]
    assert wrapped != "page 2 é"
    talk.client(method, {"cursor": wrapped}, id=2)
    assert talk.requests(method)[1]["params"] == {"cursor": "page 2 é"}
    talk.reply(method, {member: []})
    assert "nextCursor" not in talk.result_of(2)


def test_empty_cursor_is_a_cursor(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id=1)
    talk.reply("tools/list", {"tools": [], "nextCursor": ""})
    talk.client("tools/list", {"cursor": talk.result_of(1)["nextCursor"]}, id=2)
    assert talk.requests("tools/list")[1]["params"] == {"cursor": ""}
    assert talk.transcript() == transcript


@pytest.mark.parametrize("cursor", ["", "page 2", "i1.9.page 2", "i2.1.page 2", 7, None])
def test_cursor_that_this_session_did_not_issue_is_expired(converse: Converse, cursor: object) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", {"cursor": cursor}, id=1)
    assert talk.error_of(1)["code"] == -32602
    assert talk.requests("tools/list") == []


def test_cursor_of_a_session_that_died_is_expired(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id=1)
    talk.reply("tools/list", {"tools": [], "nextCursor": "2"})
    talk.server_dies()
    talk.client("tools/list", {"cursor": talk.result_of(1)["nextCursor"]}, id=2)
    talk.handshake()
    assert talk.error_of(2)["code"] == -32602
    assert "cursor expired" in talk.error_of(2)["message"]
    assert talk.transcript() == transcript


def test_strict_bridge_refuses_what_it_would_have_repaired(converse: Converse) -> None:
    talk = converse(strict=True)
    talk.meet()
    answer = answered(talk, "tools/call", {"content": [{"text": "x"}]}, name="t")
    assert answer["error"]["code"] == -32603
    assert answered(talk, "tools/call", TEXT, name="t")["result"]["content"] == TEXT["content"]

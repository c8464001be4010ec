"""Requests, results, errors and notifications between a legacy client and a server of 2026-07-28, on stdio (the "down" rules)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversation import CLIENT, META
from tests.conversations.lowered import DISCOVERED, DONE, SEEN, Lowered, on

from oracle import LEGACY, Oracle

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
LEVEL = f"{META}logLevel"


@pytest.fixture
def talk(oracle: Oracle) -> Lowered:
    """A client of 2025-11-25 after its handshake."""
    return greeted(oracle)


def greeted(oracle: Oracle, revision: str = "2025-11-25", capabilities: Any = None, discovered: Any = None, **settings: Any) -> Lowered:
    talk = Lowered(oracle, **settings)
    talk.greets(revision, capabilities, discovered)
    return talk


def stamps(talk: Lowered, method: str = "tools/call") -> dict[str, Any]:
    return dict(talk.requests(method)[-1]["params"]["_meta"])


# -- the handshake ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", LEGACY)
def test_revision_with_a_handshake_is_agreed_on(oracle: Oracle, revision: str) -> None:
    assert greeted(oracle, revision).result_of("hello")["protocolVersion"] == revision


@pytest.mark.parametrize("revision", ["2026-07-28", "2099-01-01", "", "draft"])
def test_revision_without_one_is_answered_with_the_newest_that_has_one(oracle: Oracle, revision: str) -> None:
    assert greeted(oracle, revision).result_of("hello")["protocolVersion"] == "2025-11-25"


def test_initialize_never_reaches_the_server_nor_does_initialized(talk: Lowered) -> None:
    talk.tells("notifications/initialized")
    assert [frame["method"] for frame in talk.to_server] == ["server/discover", "subscriptions/listen"]


def test_what_the_client_said_of_itself_is_stamped_on_everything(talk: Lowered) -> None:
    talk.tells("notifications/initialized")
    talk.run(id=1)
    for method in ("server/discover", "subscriptions/listen", "tools/call"):
        assert stamps(talk, method) == {
            f"{META}protocolVersion": "2026-07-28",
            f"{META}clientInfo": CLIENT,
            f"{META}clientCapabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {}},
        }


@pytest.mark.parametrize(
    ("declared", "restated"),
    [
        ({}, {}),
        ({"elicitation": {}}, {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}),
        ({"roots": {"listChanged": True}}, {"roots": {}}),
        ({"tasks": {"list": {}}, "sampling": {}}, {"sampling": {}}),
        ({"experimental": {"x": {}}}, {"experimental": {"x": {}}}),
    ],
)
def test_capabilities_are_restated_for_the_server(oracle: Oracle, declared: Any, restated: Any) -> None:
    talk = greeted(oracle, capabilities=declared)
    assert stamps(talk, "server/discover")[f"{META}clientCapabilities"] == restated


@pytest.mark.parametrize(
    ("info", "stamped"),
    [
        ({"name": "c", "version": "1", "title": "C"}, {"name": "c", "version": "1", "title": "C"}),
        ({"name": "c"}, {"name": "c", "version": "unknown"}),
    ],
)
def test_name_of_the_client_is_stamped_with_what_a_name_needs(oracle: Oracle, info: Any, stamped: Any) -> None:
    talk = Lowered(oracle, judged=False)
    talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}, id=0)
    found = stamps(talk, "server/discover")[f"{META}clientInfo"]
    assert {**found, "version": found["version"] if "version" in info else "unknown"} == stamped


def test_name_of_a_server_that_has_none_is_made_up(talk: Lowered) -> None:
    assert sorted(talk.result_of("hello")["serverInfo"]) == ["name", "version"]


@pytest.mark.parametrize(
    ("revision", "shown"),
    [
        ("2025-11-25", {"tools": {"listChanged": True}, "completions": {}, "logging": {}, "resources": {"subscribe": True}}),
        ("2025-03-26", {"tools": {"listChanged": True}, "completions": {}, "logging": {}, "resources": {"subscribe": True}}),
        ("2024-11-05", {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}}),
    ],
)
def test_capabilities_of_the_server_are_those_that_the_clients_revision_knows(oracle: Oracle, revision: str, shown: Any) -> None:
    declared = {"tools": {"listChanged": True}, "completions": {}, "logging": {}, "resources": {"subscribe": True}}
    talk = greeted(oracle, revision, discovered={**DISCOVERED, "capabilities": declared, "instructions": "be kind"})
    assert talk.result_of("hello")["capabilities"] == shown
    assert talk.result_of("hello")["instructions"] == "be kind"


def test_server_of_a_revision_that_nobody_here_knows_is_refused_by_name(oracle: Oracle) -> None:
    talk = greeted(oracle, discovered={**DISCOVERED, "supportedVersions": ["2027-01-01"]})
    assert talk.error_of("hello") == {"code": -32603, "message": "The server speaks 2027-01-01, and not 2026-07-28"}


def test_handshake_that_failed_may_be_tried_again(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    talk.request("initialize", hello, id=1)
    talk.reply_error("server/discover", -32603, "not now")
    assert talk.error_of(1)["message"].endswith("not now")
    talk.request("initialize", hello, id=2)
    talk.reply("server/discover", DISCOVERED)
    assert talk.result_of(2)["protocolVersion"] == "2025-11-25"


def test_what_the_client_says_before_the_answer_to_its_handshake_waits_for_it(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}, id=0)
    talk.request("ping", id=1)
    talk.run(id=2)
    assert [frame["method"] for frame in talk.to_server] == ["server/discover"]
    talk.reply("server/discover", DISCOVERED)
    assert [frame["id"] for frame in talk.to_client] == [0, 1]
    talk.reply("tools/call", DONE)
    assert talk.result_of(2) == SEEN


def test_ping_after_a_handshake_that_failed_is_answered_and_nothing_else(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}, id=0)
    talk.reply_error("server/discover", -32603, "not now")
    talk.request("ping", id=1)
    talk.run(id=2)
    assert talk.result_of(1) == {}
    assert talk.error_of(2)["code"] == -32600


# -- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "tasks/get", "tasks/list", "tasks/cancel", "tasks/result"])
def test_method_that_is_none_of_a_legacy_clients_is_unknown(talk: Lowered, method: str) -> None:
    before = len(talk.to_server)
    talk.request(method, {}, id=1)
    assert talk.error_of(1)["code"] == -32601
    assert len(talk.to_server) == before


def test_vendor_method_is_stamped_and_relayed(talk: Lowered) -> None:
    talk.request("vendor/run", {"deep": [1.50, None]}, id=1)
    assert {**talk.requests("vendor/run")[0]["params"], "_meta": None} == {"deep": [1.5, None], "_meta": None}
    talk.reply("vendor/run", {"resultType": "complete", "any": {"thing": 1}})
    assert talk.result_of(1) == {"any": {"thing": 1}}


def test_request_without_params_gets_some(talk: Lowered) -> None:
    talk.request("tools/list", id=1)
    assert list(talk.requests("tools/list")[0]["params"]) == ["_meta"]


@pytest.mark.parametrize("params", [[], "x", 1])
def test_params_that_are_no_object_are_refused(oracle: Oracle, params: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.request("tools/call", params, id=1)
    assert talk.error_of(1)["code"] == -32602


def test_foreign_meta_of_the_client_is_kept_and_what_is_reserved_is_the_bridges(talk: Lowered) -> None:
    given = {"mine": {"a": 1}, "traceparent": "00-1", f"{META}clientInfo": {"name": "x"}, LEVEL: "debug"}
    talk.run(id=1, _meta=given)
    found = stamps(talk)
    assert (found["mine"], found["traceparent"]) == ({"a": 1}, "00-1")
    assert (found[f"{META}clientInfo"], LEVEL in found) == (CLIENT, False)


def test_wish_for_a_task_is_left_out_because_the_server_offers_none(talk: Lowered) -> None:
    talk.run(id=1, task={"ttl": 60})
    assert "task" not in talk.requests("tools/call")[0]["params"]


@pytest.mark.parametrize("id", [0, -1, 2**53 + 1, "", "1", "é", "x" * 300])
def test_id_of_any_kind_comes_back_exactly(talk: Lowered, id: Any) -> None:  # noqa: A002
    talk.run(id=id)
    talk.reply("tools/call", DONE)
    assert talk.result_of(id) == SEEN


def test_second_request_under_an_id_in_flight_is_refused_and_the_first_is_answered(talk: Lowered) -> None:
    talk.run(id=1)
    talk.client_line(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert talk.to_client[-1]["error"]["code"] == -32600
    talk.reply("tools/call", DONE)
    assert talk.to_client[-1]["result"] == SEEN


@pytest.mark.parametrize(
    ("method", "params"),
    [("notifications/roots/list_changed", None), ("notifications/progress", {"progressToken": 1, "progress": 1})],
)
def test_notification_that_a_modern_server_has_no_use_for_goes_no_further(talk: Lowered, method: str, params: Any) -> None:
    before = len(talk.to_server)
    talk.tells(method, params)
    assert len(talk.to_server) == before


def test_vendor_notification_is_relayed(talk: Lowered) -> None:
    talk.tells("notifications/vendor/hint", {"a": 1})
    assert talk.requests("notifications/vendor/hint")[0]["params"] == {"a": 1}


# -- results and errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [DONE, {"content": DONE["content"]}, {**DONE, "ttlMs": 5, "cacheScope": "public"}])
def test_result_with_or_without_its_type_is_complete(oracle: Oracle, result: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    talk.reply("tools/call", result)
    assert {name: talk.result_of(1)[name] for name in ("content",)} == SEEN
    assert "resultType" not in talk.result_of(1)


@pytest.mark.parametrize("kind", ["task", "partial", "", None, 1, ["complete"], {}])
def test_result_of_a_type_that_nobody_knows_is_an_error(oracle: Oracle, kind: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    talk.reply("tools/call", {**DONE, "resultType": kind})
    assert talk.error_of(1)["code"] == -32603
    assert "resultType" in talk.error_of(1)["message"]


@pytest.mark.parametrize(
    ("method", "held"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("resources/read", "contents"),
    ],
)
@pytest.mark.parametrize("hints", [{}, {"ttlMs": 60_000, "cacheScope": "public"}, {"ttlMs": None, "cacheScope": 7}])
def test_cache_hints_are_never_shown_and_never_missed(oracle: Oracle, method: str, held: str, hints: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.request(method, {"uri": "a:b"} if method == "resources/read" else {}, id=1)
    talk.reply(method, {"resultType": "complete", held: [], **hints})
    assert talk.result_of(1) == {held: []}


@pytest.mark.parametrize("cursor", ["", "next", "é"])
def test_cursor_goes_both_ways_as_it_is(talk: Lowered, cursor: str) -> None:
    talk.request("tools/list", {}, id=1)
    talk.reply("tools/list", {"resultType": "complete", "tools": [], "nextCursor": cursor, "ttlMs": 0, "cacheScope": "private"})
    assert talk.result_of(1)["nextCursor"] == cursor
    talk.request("tools/list", {"cursor": cursor}, id=2)
    assert talk.requests("tools/list")[-1]["params"]["cursor"] == cursor


@pytest.mark.parametrize("member", [{"tools": None}, {"tools": [], "nextCursor": None}, {}])
def test_malformed_list_is_mended(oracle: Oracle, member: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.request("tools/list", {}, id=1)
    talk.reply("tools/list", {"resultType": "complete", **member})
    assert talk.result_of(1) == {"tools": []}
    assert talk.losses


@pytest.mark.parametrize("text", [b"7", b'"x"', b"[]"])
def test_result_that_is_no_object_is_an_error(oracle: Oracle, text: bytes) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    talk.server_line(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (talk.pending("tools/call"), text))
    assert talk.error_of(1)["code"] == -32603


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32603, -32000, -32019, 1, 42])
def test_error_is_relayed_as_it_is(talk: Lowered, code: int) -> None:
    talk.run(id=1)
    talk.reply_error("tools/call", code, "why", {"more": [1]})
    assert talk.error_of(1) == {"code": code, "message": "why", "data": {"more": [1]}}


@pytest.mark.parametrize(
    ("code", "data"),
    [
        (-32020, None),
        (-32022, {"supported": ["2027-01-01"], "requested": "2026-07-28"}),
    ],
)
def test_error_in_words_of_the_modern_revision_is_told_in_others(talk: Lowered, code: int, data: Any) -> None:
    talk.run(id=1)
    talk.reply_error("tools/call", code, "why it is so", data)
    assert talk.error_of(1)["code"] == -32603
    assert "why it is so" in talk.error_of(1)["message"]


def test_tool_that_needs_what_the_client_lacks_is_a_tool_error(talk: Lowered) -> None:
    talk.run(id=1)
    talk.reply_error("tools/call", -32021, "ask it", {"requiredCapabilities": {"sampling": {"tools": {}}, "elicitation": {}}})
    text = "This tool cannot be used with this client, which lacks sampling, elicitation: ask it"
    assert talk.result_of(1) == {"content": [{"type": "text", "text": text}], "isError": True}


@pytest.mark.parametrize("data", [None, {}, {"requiredCapabilities": []}])
def test_tool_that_needs_it_and_does_not_say_what_is_a_tool_error_too(talk: Lowered, data: Any) -> None:
    talk.run(id=1)
    talk.reply_error("tools/call", -32021, "no", data)
    assert talk.result_of(1)["content"][0]["text"] == "This tool cannot be used with this client: no"


def test_prompt_that_needs_what_the_client_lacks_is_an_error(talk: Lowered) -> None:
    talk.request("prompts/get", {"name": "p"}, id=1)
    talk.reply_error("prompts/get", -32021, "ask it", {"requiredCapabilities": {"sampling": {}}})
    assert talk.error_of(1)["code"] == -32603
    assert "ask it" in talk.error_of(1)["message"]


@pytest.mark.parametrize(
    ("method", "params", "data", "code"),
    [
        ("resources/read", {"uri": "a:b"}, {"uri": "a:b"}, -32002),
        ("resources/read", {"uri": "a:b"}, {"uri": "a:c"}, -32602),
        ("resources/read", {"uri": "a:b"}, None, -32602),
        ("tools/call", {"name": "t"}, {"uri": "a:b"}, -32602),
    ],
)
def test_resource_that_is_missing_is_told_from_params_that_are_wrong(talk: Lowered, method: str, params: Any, data: Any, code: int) -> None:
    talk.request(method, params, id=1)
    talk.reply_error(method, -32602, "why", data)
    assert talk.error_of(1)["code"] == code


@pytest.mark.parametrize("wire", ["text", "null"])
def test_answer_whose_id_is_not_quite_the_requests_finds_its_owner(oracle: Oracle, wire: str) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    number = talk.pending("tools/call")
    if wire == "text":
        talk.server_frame({"jsonrpc": "2.0", "id": str(number), "result": DONE})
        assert talk.result_of(1) == SEEN
    else:
        talk.server_frame({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "lost"}})
        assert talk.error_of(1) == {"code": 1, "message": "lost"}


@pytest.mark.parametrize("tail", ["NaN}}", '"\\ud800"}}', '"'])
def test_answer_that_cannot_be_read_fails_its_owner_alone(oracle: Oracle, tail: str) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    talk.run(id=2)
    first, second = talk.requests("tools/call")
    talk.server_line(f'{{"jsonrpc":"2.0","id":{first["id"]},"result":{{"x":{tail}'.encode())
    assert talk.error_of(1)["code"] == -32603
    talk.server_frame({"jsonrpc": "2.0", "id": second["id"], "result": DONE})
    assert talk.result_of(2) == SEEN


def test_text_on_stdout_is_the_operators(talk: Lowered) -> None:
    before = len(talk.to_client)
    talk.server_line(b"listening on port 7")
    assert len(talk.to_client) == before
    assert [line for line in talk.log if "listening on port 7" in line and "* log:" in line]


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "elicitation/create", "ping", "vendor/ask"])
def test_request_of_a_server_whose_revision_has_none_is_told_the_operator_and_nobody_else(talk: Lowered, method: str) -> None:
    before = len(talk.to_server)
    talk.ask("q", method, {})
    assert len(talk.to_server) == before
    assert talk.questions() == []
    assert [line for line in talk.log if "* log:" in line and method in line]


def test_batch_of_a_server_whose_revision_has_none_is_a_loss(oracle: Oracle) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1)
    talk.server_frame([{"jsonrpc": "2.0", "id": talk.pending("tools/call"), "result": DONE}])
    assert "a batch from a server whose revision has none" in talk.losses


def test_slow_answer_is_an_error_and_a_cancellation_and_not_told_when_it_comes(oracle: Oracle) -> None:
    talk = greeted(oracle, request_timeout=10.0)
    talk.run(id=1)
    talk.pass_time(11)
    assert talk.error_of(1)["code"] == -32603
    assert talk.requests("notifications/cancelled")[0]["params"]["requestId"] == talk.pending("tools/call")
    talk.reply("tools/call", DONE)
    assert talk.error_of(1)["code"] == -32603


# -- progress and logs ---------------------------------------------------------------------------------------------------


def progress(talk: Lowered, value: Any, token: Any = None) -> None:
    own = talk.pending("tools/call") if token is None else token
    talk.note("notifications/progress", {"progressToken": own, "progress": value})


@pytest.mark.parametrize("token", [0, 7, "t", "é", 2**53 + 1])
def test_token_of_the_client_is_given_back_and_the_server_sees_one_of_the_bridges(talk: Lowered, token: Any) -> None:
    talk.run(id=1, _meta={"progressToken": token})
    assert stamps(talk)["progressToken"] == talk.pending("tools/call")
    talk.note("notifications/progress", {"progressToken": talk.pending("tools/call"), "progress": 1, "total": 2, "message": "half"})
    assert talk.notes("notifications/progress") == [{"progressToken": token, "progress": 1, "total": 2, "message": "half"}]


def test_one_token_spans_all_rounds_and_increases_over_them(talk: Lowered) -> None:
    talk.run(id=1, _meta={"progressToken": "t"})
    first = talk.pending("tools/call")
    progress(talk, 1)
    progress(talk, 2.5)
    talk.asks_back(requestState="s")
    progress(talk, 9, first)
    talk.pass_time(0.3)
    progress(talk, 2)
    progress(talk, 2.5)
    progress(talk, 3)
    progress(talk, 10, first)
    assert talk.notes("notifications/progress") == [{"progressToken": "t", "progress": value} for value in (1, 2.5, 3)]


def test_progress_that_was_not_asked_for_or_comes_late_is_not_shown(talk: Lowered) -> None:
    talk.run(id=1)
    progress(talk, 1)
    talk.run(id=2, _meta={"progressToken": "t"})
    talk.reply("tools/call", DONE)
    progress(talk, 1)
    assert talk.notes("notifications/progress") == []
    assert talk.losses


@pytest.mark.parametrize("value", ["1", None, True, []])
def test_progress_without_a_number_is_a_loss(oracle: Oracle, value: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.run(id=1, _meta={"progressToken": "t"})
    progress(talk, value)
    assert talk.notes("notifications/progress") == []
    assert talk.losses


@pytest.mark.parametrize("level", LEVELS)
def test_level_is_kept_and_stamped_on_later_calls(talk: Lowered, level: str) -> None:
    talk.run(id=1)
    assert LEVEL not in stamps(talk)
    talk.request("logging/setLevel", {"level": level}, id=2)
    assert talk.result_of(2) == {}
    assert talk.requests("logging/setLevel") == []
    talk.run(id=3)
    assert stamps(talk)[LEVEL] == level


@pytest.mark.parametrize("params", [None, {}, {"level": "loud"}, {"level": 3}, {"level": "INFO"}])
def test_level_that_is_none_is_refused_and_the_one_before_stays(oracle: Oracle, params: Any) -> None:
    talk = greeted(oracle, judged=False)
    talk.request("logging/setLevel", {"level": "error"}, id=1)
    talk.request("logging/setLevel", params, id=2)
    assert talk.error_of(2)["code"] == -32602
    talk.run(id=3)
    assert stamps(talk)[LEVEL] == "error"


def test_level_that_is_set_between_two_rounds_counts_from_the_next(talk: Lowered) -> None:
    talk.run(id=1)
    talk.asks_back(requestState="s")
    talk.request("logging/setLevel", {"level": "debug"}, id=2)
    talk.pass_time(0.3)
    assert stamps(talk)[LEVEL] == "debug"


def test_log_messages_below_the_level_are_not_shown(talk: Lowered) -> None:
    talk.request("logging/setLevel", {"level": "warning"}, id=1)
    talk.run(id=2)
    for level in LEVELS:
        talk.note("notifications/message", {"level": level, "data": level})
    assert [params["data"] for params in talk.notes("notifications/message")] == list(LEVELS[3:])


def test_log_messages_that_nobody_asked_for_are_not_shown(talk: Lowered) -> None:
    talk.run(id=1)
    talk.note("notifications/message", {"level": "emergency", "data": "fire"})
    assert talk.notes("notifications/message") == []


def test_notification_that_nobody_knows_is_relayed(talk: Lowered) -> None:
    talk.note("notifications/vendor/news", {"a": [1]})
    assert talk.notes("notifications/vendor/news") == [{"a": [1]}]


# -- tools that change ---------------------------------------------------------------------------------------------------


def lists(talk: Lowered, schema: Any, id: Any) -> Any:  # noqa: A002
    talk.request("tools/list", {}, id=id)
    tool = {"name": "deploy", "inputSchema": {"type": "object"}, "outputSchema": schema}
    talk.reply("tools/list", {"resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private"})
    return talk.result_of(id)["tools"][0]


@pytest.mark.parametrize(
    ("revision", "schema", "value", "seen"),
    [
        ("2025-11-25", {"type": "object"}, {"a": 1}, {"a": 1}),
        ("2025-11-25", {"type": "array"}, [1], {"result": [1]}),
        ("2025-06-18", {"type": "array"}, [1], {"result": [1]}),
        ("2025-11-25", {"type": "string"}, "x", {"result": "x"}),
    ],
)
def test_structured_result_is_what_its_listed_schema_says(oracle: Oracle, revision: str, schema: Any, value: Any, seen: Any) -> None:
    talk = greeted(oracle, revision)
    listed = lists(talk, schema, 1)
    assert listed["outputSchema"]["type"] == "object"
    talk.run(id=2)
    talk.reply("tools/call", {**DONE, "structuredContent": value})
    assert talk.result_of(2)["structuredContent"] == seen


def test_schema_that_was_listed_before_the_list_changed_is_forgotten(talk: Lowered) -> None:
    lists(talk, {"type": "array"}, 1)
    talk.tells("notifications/initialized")
    stream = talk.acknowledges()
    talk.note("notifications/tools/list_changed", {"_meta": on(stream)})
    talk.run(id=2)
    talk.reply("tools/call", {**DONE, "structuredContent": {"a": 1}})
    assert talk.result_of(2)["structuredContent"] == {"a": 1}
    lists(talk, {"type": "object"}, 3)
    talk.run(id=4)
    talk.reply("tools/call", {**DONE, "structuredContent": {"a": 1}})
    assert talk.result_of(4)["structuredContent"] == {"a": 1}


def test_client_that_knows_no_structured_results_is_told_as_text(oracle: Oracle) -> None:
    talk = greeted(oracle, "2025-03-26")
    talk.run(id=1)
    talk.reply("tools/call", {"resultType": "complete", "content": [], "structuredContent": [1]})
    (block,) = talk.result_of(1)["content"]
    assert json.loads(block["text"]) == [1]

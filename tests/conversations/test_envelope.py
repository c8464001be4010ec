"""What a modern request carries, and what of it a legacy server sees (2026-07-28, basic/index#meta)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, CLIENT, META, envelope
from tests.conversations.conftest import Converse

VERSION, INFO, CAPABILITIES = f"{META}protocolVersion", f"{META}clientInfo", f"{META}clientCapabilities"
TEXT = {"content": [{"type": "text", "text": "done"}]}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in envelope().items() if key != name}


def test_complete_envelope_stays_here_and_the_rest_goes_on(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities={"tools": {}, "logging": {}})
    talk.meet()
    kept = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "tracestate": "a=1",
        "baggage": "b=2",
        "com.example/tenant": {"id": 7},
    }
    talk.call("echo", {"x": 1}, id=1, meta=envelope(ALL_CAPABILITIES, **kept))
    assert talk.requests("tools/call")[0]["params"] == {"name": "echo", "arguments": {"x": 1}, "_meta": kept}
    talk.reply("tools/call", TEXT)
    assert talk.transcript() == transcript


def test_envelope_with_nothing_else_leaves_no_meta_behind(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("echo", {"x": 1}, id=1)
    assert talk.requests("tools/call")[0]["params"] == {"name": "echo", "arguments": {"x": 1}}


def test_server_words_in_a_clients_meta_are_taken_off(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    strange = {f"{META}serverInfo": {"name": "x", "version": "1"}, f"{META}subscriptionId": 4}
    talk.call("echo", id=1, meta={**envelope(), **strange})
    assert talk.requests("tools/call")[0]["params"] == {"name": "echo", "arguments": {}}


def test_incomplete_envelopes_are_refused_and_no_process_starts(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    request = {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}
    talk.client_frame({**request, "id": 1})
    talk.client_frame({**request, "id": 2, "params": {}})
    talk.client_frame({**request, "id": 3, "params": {"_meta": None}})
    talk.client_frame({**request, "id": 4, "params": {"_meta": without(VERSION)}})
    talk.client_frame({**request, "id": 5, "params": {"_meta": without(CAPABILITIES)}})
    talk.client_frame({**request, "id": "six", "params": {"_meta": {**envelope(), VERSION: 20260728}}})
    for asked in (1, 2, 3, 4, 5, "six"):
        assert talk.error_of(asked)["code"] == -32602
    assert VERSION in talk.error_of(1)["message"]
    assert VERSION in talk.error_of(4)["message"]
    assert CAPABILITIES in talk.error_of(5)["message"]
    assert talk.opened == []
    talk.client("tools/list", id=7)
    assert talk.opened == [1]
    assert talk.transcript() == transcript


@pytest.mark.parametrize("params", [[], [1], "x", 3, None])
def test_params_that_are_no_object_are_refused(converse: Converse, params: object) -> None:
    talk = converse()
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
    assert talk.error_of(1)["code"] == -32602
    assert talk.opened == []


@pytest.mark.parametrize("version", ["1900-01-01", "2025-11-25", "2027-01-01", "", "2026-07-28 "])
def test_other_revision_in_the_envelope_is_refused_with_those_served(converse: Converse, version: str) -> None:
    talk = converse()
    talk.client("server/discover", id=1, meta={**envelope(), VERSION: version})
    assert talk.error_of(1)["code"] == -32022
    assert talk.error_of(1)["data"] == {"supported": ["2026-07-28"], "requested": version}
    assert talk.opened == []


def test_refused_request_leaves_no_trace_and_the_next_one_is_served(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("server/discover", id=1, meta={**envelope(), VERSION: "2099-01-01"})
    assert talk.error_of(1)["code"] == -32022
    talk.meet()
    assert talk.result_of("hello")["supportedVersions"] == ["2026-07-28"]
    assert talk.transcript() == transcript


@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        [],
        "all",
        {"elicitation": True},
        {"elicitation": {"url": True}},
        {"sampling": []},
        {"roots": None},
        {"experimental": {"x": 1}},
        {"extensions": {"com.example/x": None}},
    ],
)
def test_capabilities_of_the_wrong_shape_are_refused(converse: Converse, capabilities: object) -> None:
    talk = converse()
    talk.client("tools/list", id=1, meta={**envelope(), CAPABILITIES: capabilities})
    assert talk.error_of(1)["code"] == -32602
    assert CAPABILITIES in talk.error_of(1)["message"]
    assert talk.opened == []


@pytest.mark.parametrize("info", [None, "tester", {}, {"name": "x"}, {"name": 1, "version": "1"}, {**CLIENT, "icons": [{}]}])
def test_client_info_of_the_wrong_shape_is_refused(converse: Converse, info: object) -> None:
    talk = converse()
    talk.client("tools/list", id=1, meta={**envelope(), INFO: info})
    assert talk.error_of(1)["code"] == -32602
    assert talk.opened == []


@pytest.mark.parametrize("level", ["verbose", "INFO", "", 3, None])
def test_unknown_log_level_is_refused(converse: Converse, level: object) -> None:
    talk = converse(capabilities={"tools": {}, "logging": {}})
    talk.call("echo", id=1, meta=envelope(logLevel=level))
    assert talk.error_of(1)["code"] == -32602
    assert talk.opened == []


@pytest.mark.parametrize("token", [1.5, True, {}, [], None])
def test_progress_token_of_the_wrong_type_is_refused(converse: Converse, token: object) -> None:
    talk = converse()
    talk.call("echo", id=1, meta=envelope(progressToken=token))
    assert talk.error_of(1)["code"] == -32602
    assert talk.opened == []


@pytest.mark.parametrize(
    "method",
    [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
        "tasks/result",
        "tasks/list",
        "tasks/cancel",
    ],
)
def test_method_that_the_modern_revision_removed_is_not_found(converse: Converse, method: str) -> None:
    talk = converse()
    talk.meet()
    said = len(talk.to_server)
    talk.client(method, {"uri": "a:b", "level": "info", "taskId": "t"}, id=1)
    assert talk.error_of(1)["code"] == -32601
    assert len(talk.to_server) == said


def test_removed_method_as_the_first_message_starts_no_process(converse: Converse) -> None:
    talk = converse()
    talk.client("ping", id=1)
    assert talk.error_of(1)["code"] == -32601
    assert talk.opened == []


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/roots/list_changed", "notifications/progress"])
def test_notification_that_the_modern_revision_removed_reaches_no_server(converse: Converse, method: str) -> None:
    talk = converse()
    talk.meet()
    said = len(talk.to_server)
    talk.client_frame({"jsonrpc": "2.0", "method": method, "params": {"progressToken": 1, "progress": 1}})
    assert len(talk.to_server) == said


def test_vendor_notification_reaches_the_server(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client_frame({"jsonrpc": "2.0", "method": "notifications/com.example/hint", "params": {"a": 1}})
    assert talk.to_server[-1] == {"jsonrpc": "2.0", "method": "notifications/com.example/hint", "params": {"a": 1}}


def test_vendor_method_is_relayed_without_its_envelope(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.client("com.example/sum", {"numbers": [1, 2], "cursor": "theirs"}, id=1)
    assert talk.requests("com.example/sum")[0]["params"] == {"numbers": [1, 2], "cursor": "theirs"}
    talk.reply("com.example/sum", {"sum": 3})
    assert talk.result_of(1)["sum"] == 3
    assert talk.result_of(1)["resultType"] == "complete"
    assert "ttlMs" not in talk.result_of(1)
    talk.client("com.example/other", {}, id=2)
    talk.reply_error("com.example/other", -32601, "Method not found")
    assert talk.error_of(2) == {"code": -32601, "message": "Method not found"}
    assert talk.transcript() == transcript


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "resources/templates/list"])
def test_retry_members_on_a_method_that_never_asks_are_taken_off(converse: Converse, method: str) -> None:
    talk = converse()
    talk.meet()
    talk.client(method, {"requestState": "s", "inputResponses": {"a": {}}, "x": 1}, id=1)
    assert talk.requests(method)[0]["params"] == {"x": 1}


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_null_retry_members_are_taken_off(converse: Converse, method: str) -> None:
    talk = converse()
    talk.meet()
    talk.client(method, {"name": "n", "uri": "a:b", "requestState": None, "inputResponses": None}, id=1)
    assert talk.requests(method)[0]["params"] == {"name": "n", "uri": "a:b"}


def test_mark_of_the_era_inside_an_argument_is_no_envelope(converse: Converse) -> None:
    talk = converse()
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "n", "arguments": {VERSION: "2026-07-28"}}})
    assert talk.error_of(1)["code"] == -32602

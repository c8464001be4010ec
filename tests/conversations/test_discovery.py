"""``server/discover`` and the handshake behind it (translation: client requests; capabilities, identity)."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import CLIENT, META, SERVER, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}


def test_discover_first_is_answered_from_the_handshake(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    assert talk.to_client == []
    talk.handshake(instructions="Ask before you deploy.")
    assert talk.result_of(1) == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        # ``logging`` is the bridge's own: it filters by level whatever the server declares.
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "instructions": "Ask before you deploy.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {f"{META}serverInfo": SERVER},
    }
    assert talk.requests("server/discover") == []
    assert talk.transcript() == transcript


def test_discover_again_is_answered_without_the_server(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    said = len(talk.to_server)
    talk.client("server/discover", id=2)
    assert talk.result_of(2) == talk.result_of("hello")
    assert len(talk.to_server) == said


def test_two_discovers_before_the_handshake_share_one_process(converse: Converse) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.client("server/discover", id=2)
    talk.handshake()
    assert talk.result_of(1) == talk.result_of(2)
    assert talk.opened == [1]
    assert len(talk.requests("initialize")) == 1


def test_call_without_discover_opens_the_session_itself(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.call("echo", {"x": 1}, id=1)
    assert [frame["method"] for frame in talk.to_server] == ["initialize"]
    talk.handshake()
    assert [frame["method"] for frame in talk.to_server] == ["initialize", "notifications/initialized", "tools/call"]
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_initialize_carries_client_and_capabilities_in_legacy_words(converse: Converse) -> None:
    talk = converse()
    offered = {
        "elicitation": {},
        "sampling": {"tools": {}, "context": {}},
        "roots": {"listChanged": True},
        "experimental": {"x": {"y": 1}},
        "extensions": {"io.modelcontextprotocol/tasks": {}, "io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}},
        "tasks": {"list": {}},
    }
    talk.client("server/discover", id=1, capabilities=offered)
    params = talk.requests("initialize")[0]["params"]
    assert params == {
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "elicitation": {},
            "sampling": {"tools": {}, "context": {}},
            "roots": {},
            "experimental": {"x": {"y": 1}},
            "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}},
        },
        "clientInfo": CLIENT,
    }


def test_client_without_info_is_introduced_as_dragoman(converse: Converse) -> None:
    talk = converse()
    meta = {key: value for key, value in envelope().items() if key != f"{META}clientInfo"}
    talk.client("server/discover", id=1, meta=meta)
    assert talk.requests("initialize")[0]["params"]["clientInfo"]["name"] == "dragoman"


def test_refused_initialize_that_names_an_older_revision_is_tried_with_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(revision="2025-06-18")
    talk.call("echo", id=1)
    talk.reply_error("initialize", -32602, "Unsupported protocol version", {"supported": ["2024-11-05", "2025-06-18"], "requested": "x"})
    second = talk.requests("initialize")[1]["params"]
    assert second["protocolVersion"] == "2025-06-18"
    assert second["capabilities"] == {"elicitation": {}, "sampling": {}, "roots": {}}
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert talk.requests("server/discover") == []
    assert talk.transcript() == transcript


def test_refused_initialize_with_the_oldest_revision_in_its_text_declares_no_elicitation(converse: Converse) -> None:
    talk = converse(revision="2024-11-05")
    talk.call("echo", id=1)
    talk.reply_error("initialize", -32600, "only 2024-11-05 is spoken here")
    assert talk.requests("initialize")[1]["params"]["protocolVersion"] == "2024-11-05"
    assert talk.requests("initialize")[1]["params"]["capabilities"] == {"sampling": {}, "roots": {}}
    talk.handshake()
    assert [frame["method"] for frame in talk.to_server[-2:]] == ["notifications/initialized", "tools/call"]


def test_url_only_client_declares_no_elicitation_to_a_form_only_revision(converse: Converse) -> None:
    talk = converse(revision="2025-06-18")
    talk.client("server/discover", id=1, capabilities={"elicitation": {"url": {}}})
    talk.reply_error("initialize", -32602, "try 2025-06-18")
    assert talk.requests("initialize")[1]["params"]["capabilities"] == {}


def test_hint_that_names_only_the_revision_refused_is_not_tried_again(converse: Converse) -> None:
    talk = converse()
    talk.call("echo", id=1)
    talk.reply_error("initialize", -32602, "2025-11-25 is not supported")
    talk.reply_error("server/discover", -32601, "no")
    assert len(talk.requests("initialize")) == 1
    assert talk.error_of(1)["code"] == -32603
    assert "2025-11-25 is not supported" in talk.error_of(1)["message"]


@pytest.mark.parametrize("chosen", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_server_that_chooses_an_older_revision_is_accepted_in_silence(converse: Converse, chosen: str) -> None:
    talk = converse(revision=chosen)
    talk.meet()
    assert "supportedVersions" in talk.result_of("hello")
    assert not [line for line in talk.log if line.startswith("* log")]


@pytest.mark.parametrize(("echoed", "spoken"), [("2026-07-28", "2025-11-25"), ("2099-01-01", "2025-11-25"), ("2025-07-01", "2025-06-18")])
def test_server_that_echoes_an_unknown_revision_is_spoken_to_as_the_nearest(converse: Converse, echoed: str, spoken: str) -> None:
    talk = converse(revision=echoed)
    talk.meet()
    assert talk.result_of("hello")["supportedVersions"] == ["2026-07-28"]
    warning = next(line for line in talk.log if line.startswith("* log"))
    assert echoed in warning
    assert spoken in warning
    talk.call("echo", id=1)
    assert talk.requests("tools/call")[0]["params"] == {"name": "echo", "arguments": {}}


@pytest.mark.parametrize("result", [{}, {"protocolVersion": 7}, None, "ok", []])
def test_handshake_without_a_revision_fails_the_calls_that_wait(converse: Converse, result: object) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.call("echo", id=2)
    talk.reply("initialize", result)
    for number in (1, 2):
        assert talk.error_of(number)["code"] == -32603
        assert "protocolVersion" in talk.error_of(number)["message"]
    assert talk.closed == [1]
    talk.call("echo", id=3)
    assert talk.opened == [1, 2]


def test_server_capabilities_are_restated(converse: Converse) -> None:
    declared = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": False},
        "prompts": {},
        "logging": {},
        "completions": {},
        "experimental": {"x": {}},
        "extensions": {"com.example/y": {"z": 1}},
        "tasks": {"requests": {"tools": {"call": {}}}},
    }
    talk = converse(capabilities=declared)
    talk.meet()
    assert talk.result_of("hello")["capabilities"] == {key: value for key, value in declared.items() if key != "tasks"}


def test_server_without_info_is_still_named_in_every_result(converse: Converse) -> None:
    talk = converse(command_label="old-server --stdio")
    talk.client("server/discover", id=1)
    talk.reply("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
    info = talk.result_of(1).get("_meta", {}).get(f"{META}serverInfo")
    assert info is None or (isinstance(info["name"], str) and isinstance(info["version"], str))


def test_capabilities_that_are_no_object_are_read_as_none(converse: Converse) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.reply("initialize", {"protocolVersion": "2025-06-18", "capabilities": None, "serverInfo": SERVER})
    assert talk.result_of(1)["capabilities"] == {"logging": {}}


def test_undeclared_feature_that_the_server_answers_is_relayed(converse: Converse) -> None:
    talk = converse(capabilities={})
    talk.meet()
    talk.client("prompts/list", id=1)
    talk.reply("prompts/list", {"prompts": [{"name": "p"}]})
    assert talk.result_of(1)["prompts"] == [{"name": "p"}]


def test_session_that_served_lists_is_replaced_when_a_call_declares_more(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.client("tools/list", id=1, capabilities={})
    talk.reply("tools/list", {"tools": []})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    assert talk.closed == [1]
    assert talk.opened == [1, 2]
    assert talk.requests("initialize")[1]["params"]["capabilities"] == {"elicitation": {}}
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_session_is_replaced_only_after_its_list_in_flight_was_answered(converse: Converse) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    assert talk.closed == []
    assert talk.opened == [1]
    talk.reply("tools/list", {"tools": []}, session=1)
    assert talk.result_of(1)["tools"] == []
    assert talk.closed == [1]
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_session_that_served_a_call_stays_when_another_declares_more(converse: Converse) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.call("echo", id=1, capabilities={})
    talk.reply("tools/call", TEXT)
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    assert talk.opened == [1]
    assert len(talk.requests("tools/call")) == 2


def test_call_that_declares_less_uses_the_session_and_is_not_asked(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1, capabilities={})
    assert talk.opened == [1]
    talk.ask_form("q", "Where?", env={"type": "string"})
    assert talk.answers_of_client("q")[0]["error"]["code"] == -32602


def test_stream_moves_to_the_session_that_replaces_its_own(converse: Converse) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.client("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="s", capabilities={})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    assert talk.opened == [1, 2]
    assert talk.closed == [1]
    talk.handshake()
    # What happened between the two is unknown: the client is told to look again, and hears of the new session.
    assert len(talk.notes("notifications/tools/list_changed")) == 1
    talk.note("notifications/tools/list_changed")
    assert len(talk.notes("notifications/tools/list_changed")) == 2


def test_isolated_capabilities_get_a_session_each(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(isolate_capabilities=True)
    talk.call("a", id=1, capabilities={"elicitation": {}})
    talk.handshake()
    talk.call("b", id=2, capabilities={"roots": {}})
    talk.handshake()
    talk.call("c", id=3, capabilities={"elicitation": {"form": {}}})
    assert talk.opened == [1, 2]
    calls = talk.requests("tools/call")
    talk.server_frame({"jsonrpc": "2.0", "id": calls[0]["id"], "result": TEXT}, session=1)
    talk.server_frame({"jsonrpc": "2.0", "id": calls[1]["id"], "result": TEXT}, session=2)
    talk.server_frame({"jsonrpc": "2.0", "id": calls[2]["id"], "result": TEXT}, session=1)
    assert ["result" in talk.answer_to(number) for number in (1, 2, 3)] == [True, True, True]
    assert talk.transcript() == transcript


def test_more_sessions_than_allowed_close_an_idle_one(converse: Converse) -> None:
    talk = converse(isolate_capabilities=True, max_sessions=1)
    talk.call("a", id=1, capabilities={})
    talk.handshake()
    talk.reply("tools/call", TEXT)
    talk.call("b", id=2, capabilities={"roots": {}})
    assert talk.closed == [1]
    assert talk.opened == [1, 2]


def test_more_sessions_than_allowed_with_all_in_use_are_refused(converse: Converse) -> None:
    talk = converse(isolate_capabilities=True, max_sessions=1)
    talk.call("a", id=1, capabilities={})
    talk.handshake()
    talk.call("b", id=2, capabilities={"roots": {}})
    assert talk.error_of(2)["code"] == -32603
    assert "--max-sessions" in talk.error_of(2)["message"]
    assert talk.opened == [1]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_session_with_a_parked_call_is_never_closed_for_another(converse: Converse) -> None:
    talk = converse(isolate_capabilities=True, max_sessions=1)
    talk.call("deploy", id=1)
    talk.handshake()
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    assert talk.result_of(1)["resultType"] == "input_required"
    talk.call("b", id=2, capabilities={})
    assert talk.error_of(2)["code"] == -32603
    assert talk.closed == []


def test_session_that_a_call_waits_for_is_not_replaced(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.call("first", id=1, capabilities={})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    talk.handshake()
    assert talk.opened == [1]
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["first", "deploy"]
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert talk.transcript() == transcript


def test_session_is_replaced_when_its_list_in_flight_was_given_up(converse: Converse) -> None:
    talk = converse(request_timeout=60)
    talk.meet(capabilities={})
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    talk.pass_time(61)
    assert talk.error_of(1)["code"] == -32603
    assert talk.closed == [1]
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)


def test_session_is_replaced_when_its_list_in_flight_was_cancelled(converse: Converse) -> None:
    talk = converse()
    talk.meet(capabilities={})
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2, capabilities={"elicitation": {}})
    talk.cancel(1)
    assert talk.opened == [1, 2]

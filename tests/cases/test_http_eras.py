"""Field cases about the two eras at one HTTP endpoint.

(2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions; basic/lifecycle of the revisions before.)

What a client tries first fixes nothing: every request says by itself what it is, and only ``initialize`` begins something that lasts.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.cases.conftest import Serve, Share
from tests.cases.reply import text_of
from tests.cases.served import Served
from tests.cases.wrapped import META

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
VERSION, INFO, CAPABILITIES = (f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities"))


def hello(revision: str = "2025-11-25", **more: Any) -> dict[str, Any]:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


# -- what failed first fixes nothing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "meta", "code"),
    [
        ("tools/list", {INFO: 42}, -32602),
        ("tools/list", {CAPABILITIES: None}, -32602),
        ("tools/list", {VERSION: "2099-01-01"}, -32022),
        ("subscriptions/listen", {}, -32602),
    ],
)
def test_b011_refused_first_request_leaves_the_endpoint_open_to_a_handshake(served: Served, method: str, meta: Any, code: int) -> None:
    caller = served.caller()
    reply = caller.request(method, meta=meta, fields={"MCP-Protocol-Version": meta.get(VERSION, "2026-07-28")})
    assert reply.error()["code"] == code
    assert caller.initialize()["protocolVersion"] == "2025-06-18"
    assert caller.ask("tools/list").json()["result"]["tools"][0]["name"] == "echo"


def test_b012_initialize_that_carries_a_modern_envelope_is_a_handshake(served: Served) -> None:
    caller = served.caller()
    reply = caller.post(hello(_meta=META), {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "initialize"})
    assert reply.status == 200
    assert reply.json()["result"]["protocolVersion"] == "2025-06-18"
    assert reply.field("mcp-session-id") is not None
    (shown,) = served.shown("initialize")
    assert "_meta" not in shown


def test_b012_initialize_that_offers_no_revision_and_is_stamped_modern_is_a_method_that_is_gone(served: Served) -> None:
    """It can't be a handshake, so it is a modern client's request: 404 and -32601, and nothing about an earlier negotiation."""
    reply = served.caller().request("initialize")
    assert (reply.status, reply.error()["code"]) == (404, -32601)
    assert served.shown("initialize") == []


def test_b013_refused_discovery_asks_nothing_more_of_a_legacy_client_than_before(served: Served) -> None:
    caller = served.caller()
    assert caller.post({"jsonrpc": "2.0", "id": "d", "method": "server/discover"}).status == 400
    caller.initialize()
    assert "tools" in caller.ask("tools/list").json()["result"]


def test_b158_answers_to_a_probe_carry_no_session_id(served: Served) -> None:
    caller = served.caller()
    bare = {"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {}}
    wrong = {"MCP-Protocol-Version": "2099-01-01"}
    replies = [
        caller.request("server/discover"),
        caller.request("server/discover", meta={VERSION: "2099-01-01"}, fields=wrong),
        caller.post(bare),
        caller.post(bare, {"MCP-Protocol-Version": "2025-06-18"}),
        caller.post(b"no json"),
    ]
    assert [reply.status for reply in replies] == [200, 400, 400, 400, 400]
    assert [reply.field("mcp-session-id") for reply in replies] == [None, None, None, None, None]


# -- both eras ---------------------------------------------------------------------------------------------------------------------


def test_b036_client_that_opens_with_initialize_is_served_beside_modern_ones(served: Served) -> None:
    """The case wants no session id; the revisions of the handshake let a server assign one (2025-06-18, basic/transports)."""
    old, new = served.caller(), served.caller()
    assert new.said("echo", text="new") == "new"
    assert old.initialize("2025-06-18")["protocolVersion"] == "2025-06-18"
    listed = old.ask("tools/list", fields={"MCP-Protocol-Version": "2025-06-18"})
    assert listed.status == 200
    assert set(listed.json()["result"]) == {"tools"}
    assert new.said("echo", text="still") == "still"


def test_b036_headers_that_modern_requests_need_are_not_asked_of_legacy_ones(served: Served) -> None:
    caller = served.caller()
    caller.initialize()
    stray = {"Mcp-Method": "resources/read", "Mcp-Name": "another"}
    assert text_of(caller.ask("tools/call", fields=stray, name="echo", arguments={"text": "x"}).json()) == "x"


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_b101_revision_that_a_client_asks_for_is_the_one_that_it_gets(share: Share, revision: str) -> None:
    caller = share("any-revision").caller()
    assert caller.initialize(revision)["protocolVersion"] == revision


@pytest.mark.parametrize("asked", ["2026-07-28", "DRAFT-2026-v1"])
def test_b102_initialize_agrees_on_no_revision_that_has_no_handshake(share: Share, asked: str) -> None:
    served = share("any-revision")
    reply = served.caller().post(hello(asked))
    if asked == "2026-07-28":
        assert reply.json()["result"]["protocolVersion"] == "2025-11-25"
    assert [params["protocolVersion"] for params in served.shown("initialize")] != ["2026-07-28"]


@pytest.mark.parametrize("said", ["2025-11-25", "2024-11-05", "2026-07-28", "2099-01-01", "none"])
def test_b103_version_header_of_a_handshake_does_not_decide_about_it(served: Served, said: str) -> None:
    """2025-06-18, basic/transports#protocol-version-header: the header is for what follows; the revision is agreed on in the body."""
    caller = served.caller()
    assert caller.initialize("2025-06-18", {"MCP-Protocol-Version": said})["protocolVersion"] == "2025-06-18"


def test_b156_first_request_of_a_modern_client_opens_the_session_that_a_stateful_server_needs(serve: Serve) -> None:
    served = serve()
    caller = served.caller()
    assert "tools" in caller.request("tools/list").json()["result"]
    assert served.methods() == ["initialize", "notifications/initialized", "tools/list"]


# -- words of one era only ---------------------------------------------------------------------------------------------------------


def test_b065_ping_is_gone_for_modern_clients_and_answered_for_legacy_ones(served: Served) -> None:
    old, new = served.caller(), served.caller()
    gone = new.request("ping")
    assert (gone.status, gone.error()["code"]) == (404, -32601)
    old.initialize()
    assert old.ask("ping").json()["result"] == {}


def test_b136_missing_resource_is_told_to_each_era_in_its_own_code(served: Served) -> None:
    """seps/2164: -32602 since 2026-07-28, -32002 before; both carry the URI."""
    old, new = served.caller(), served.caller()
    old.initialize()
    legacy = old.ask("resources/read", uri="x://none").error()
    modern = new.request("resources/read", uri="x://none").error()
    assert (legacy["code"], legacy["data"]) == (-32002, {"uri": "x://none"})
    assert (modern["code"], modern["data"]) == (-32602, {"uri": "x://none"})


def test_b153_server_is_named_to_a_client_that_had_no_handshake(served: Served) -> None:
    result = served.caller().request("server/discover").json()["result"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "small", "version": "1"}


# -- batches -----------------------------------------------------------------------------------------------------------------------


def call(number: int, tool: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": {"text": str(number)}}}


@pytest.mark.parametrize(
    "fields",
    [{}, {"MCP-Protocol-Version": "2026-07-28"}, {"MCP-Protocol-Version": "2025-03-26"}],
)
def test_b134_batch_outside_a_session_is_answered_with_an_error(served: Served, fields: Any) -> None:
    reply = served.caller().post([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], fields)
    assert (reply.status, reply.error()["code"]) == (400, -32600)


def test_b134_batch_in_a_session_of_the_revision_that_has_them_is_answered_as_one(share: Share) -> None:
    caller = share("any-revision").caller()
    caller.initialize("2025-03-26")
    reply = caller.post([call(1, "echo"), {"jsonrpc": "2.0", "method": "notifications/x"}, call(2, "echo")])
    assert reply.status == 200
    assert sorted(text_of(frame) for frame in reply.messages()) == ["1", "2"]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_b135_batch_of_another_revision_runs_nothing(share: Share, revision: str) -> None:
    served = share("any-revision")
    caller = served.caller()
    caller.initialize(revision)
    reply = caller.post([call(1, "count")])
    assert (reply.status, reply.error()["code"]) == (400, -32600)
    assert served.shown("tools/call") == []


def test_b135_every_request_of_a_batch_is_shown_to_the_server_by_itself(share: Share) -> None:
    served = share("any-revision")
    caller = served.caller()
    caller.initialize("2025-03-26")
    served.forget()
    assert caller.post([call(1, "echo"), call(2, "echo")]).status == 200
    assert [params["name"] for params in served.shown("tools/call")] == ["echo", "echo"]


def test_b135_modern_request_within_a_batch_runs_nothing(served: Served) -> None:
    frame = {**call(1, "count"), "params": {"name": "count", "arguments": {}, "_meta": META}}
    reply = served.caller().post([frame], {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count"})
    assert (reply.status, reply.error()["code"]) == (400, -32600)
    assert served.shown("tools/call") == []

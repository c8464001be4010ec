"""Field cases about who is alive: pings, requests without an answer, servers that die, ids that belong to somebody."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import ALL_CAPABILITIES, META, SERVER, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}


def met(converse: Converse, **settings: Any) -> Conversation:
    talk = converse(**settings)
    talk.meet()
    return talk


def legacy(converse: Converse) -> Conversation:
    """A legacy client, relayed, after its handshake."""
    talk = converse(relayed=True)
    talk.client_frame({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE})
    talk.reply("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": SERVER})
    return talk


# -- pings ---------------------------------------------------------------------------------------------------------------------------


def test_b066_heartbeat_of_a_legacy_server_is_answered_every_time_and_no_client_sees_it(converse: Converse) -> None:
    """stdio#receiving-messages: a modern client gets no requests, and one that refuses them all would look dead to the server."""
    talk = met(converse)
    talk.call("t", id=1)
    talk.reply("tools/call", TEXT)
    for beat in range(5):
        talk.ask(f"beat-{beat}", "ping", {})
        talk.pass_time(3)
    assert [talk.answers_of_client(f"beat-{beat}") for beat in range(5)] == [
        [{"jsonrpc": "2.0", "id": f"beat-{beat}", "result": {}}] for beat in range(5)
    ]
    assert len(talk.to_client) == 2


def test_b069_ping_of_an_idle_legacy_server_is_answered_with_nothing_in_it(converse: Converse) -> None:
    """2025-11-25, basic/utilities/ping#behavior-requirements: an empty response."""
    talk = met(converse)
    talk.ask(7, "ping", {})
    assert talk.answers_of_client(7) == [{"jsonrpc": "2.0", "id": 7, "result": {}}]
    talk.ask("p", "ping")
    assert talk.answers_of_client("p") == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


def test_b069_ping_before_the_handshake_has_ended_is_answered_too(converse: Converse) -> None:
    talk = converse()
    talk.call("t", id=1)
    talk.ask(7, "ping")
    assert talk.answers_of_client(7) == [{"jsonrpc": "2.0", "id": 7, "result": {}}]
    talk.handshake()
    assert len(talk.requests("tools/call")) == 1


def test_b067_ping_of_a_modern_client_is_unknown_and_costs_the_server_nothing(converse: Converse) -> None:
    """The case wants it answered; 2026-07-28 has no such method (changelog), and -32601 proves that the bridge is alive as well."""
    talk = met(converse)
    talk.client("ping", id=1)
    assert talk.error_of(1)["code"] == -32601
    assert talk.requests("ping") == []
    assert talk.closed == []


def test_b067_refused_ping_of_a_legacy_client_is_relayed_and_ends_nothing(converse: Converse) -> None:
    """The case wants it answered here; peers of one revision are relayed byte for byte, and the host judges the answer."""
    talk = legacy(converse)
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}})
    refusal = {"code": -32603, "message": "what is a ping?"}
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "error": refusal})
    assert talk.error_of(1) == refusal
    assert (talk.opened, talk.closed, talk.finished) == ([1], [], None)


# -- one server, many requests ----------------------------------------------------------------------------------------------------


def test_b094_requests_that_look_alike_have_ids_of_their_own_at_the_server(converse: Converse) -> None:
    talk = met(converse)
    talk.client("tools/list", id=1)
    talk.call("t", id="1")
    ids = [frame["id"] for frame in talk.to_server if "id" in frame]
    assert len(set(ids)) == len(ids) == 3
    talk.reply("tools/call", TEXT)
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of("1")["content"] == TEXT["content"]
    assert talk.result_of(1)["tools"] == []


def test_b094_progress_tokens_and_cancellations_name_what_the_server_knows(converse: Converse) -> None:
    talk = met(converse)
    for number, token in ((1, "t"), ("1", 7)):
        talk.call("slow", id=number, meta=envelope(ALL_CAPABILITIES, progressToken=token))
    first, second = talk.requests("tools/call")
    tokens = [frame["params"]["_meta"]["progressToken"] for frame in (first, second)]
    assert len(set(tokens)) == 2
    for token in reversed(tokens):
        talk.note("notifications/progress", {"progressToken": token, "progress": 1})
    assert [note["progressToken"] for note in talk.notes("notifications/progress")] == [7, "t"]
    talk.cancel("1")
    assert talk.requests("notifications/cancelled")[0]["params"]["requestId"] == second["id"]


def test_b094_client_that_uses_an_id_twice_is_refused_the_second_time(converse: Converse) -> None:
    """The case lets two clients use id 1 at once; on stdio there is one client, for whom basic/index#requests forbids it."""
    talk = met(converse, judged=False)
    talk.client("tools/list", id=1)
    talk.call("t", id=1)
    assert talk.to_client[-1]["error"]["code"] == -32600
    talk.reply("tools/list", {"tools": []})
    assert talk.to_client[-1]["result"]["tools"] == []


def test_b094_two_eras_on_one_pipe_have_a_server_each_and_may_use_the_same_ids(converse: Converse) -> None:
    talk = legacy(converse)
    talk.client_frame({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    talk.call("t", id=2)
    talk.handshake()
    wire = talk.pending("tools/call")
    assert talk.opened == [1, 2]
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, session=1)
    talk.server_frame({"jsonrpc": "2.0", "id": wire, "result": TEXT}, session=2)
    assert talk.result_of(1) == {"tools": []}
    assert talk.result_of(2)["content"] == TEXT["content"]


# -- a server that dies ---------------------------------------------------------------------------------------------------------------


def test_b132_streams_of_a_server_that_died_are_open_again_on_the_next(converse: Converse) -> None:
    """stdio#unexpected-termination; what may have changed meanwhile is announced, because nobody watched."""
    talk = met(converse, capabilities={"tools": {"listChanged": True}})
    talk.listen(id="s", toolsListChanged=True)
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.server_dies("exited with status 3: out of memory")
    for number in (1, 2):
        assert talk.error_of(number)["code"] == -32603
        assert "status 3: out of memory" in talk.error_of(number)["message"]
    talk.pass_time(2)
    assert talk.opened == [1, 2]
    talk.handshake()
    changed = [note["_meta"] for note in talk.notes("notifications/tools/list_changed")]
    assert changed == [{f"{META}subscriptionId": "s"}]
    talk.note("notifications/tools/list_changed")
    assert len(talk.notes("notifications/tools/list_changed")) == 2


@pytest.mark.parametrize("method", ["tools/call", "tools/list"])
def test_b126_request_that_is_never_answered_is_given_up_and_cancelled_at_the_server(converse: Converse, method: str) -> None:
    talk = met(converse, request_timeout=30.0)
    talk.client(method, {"name": "t", "arguments": {}} if method == "tools/call" else {}, id=1)
    wire = talk.pending(method)
    talk.pass_time(31)
    assert talk.error_of(1)["code"] == -32603
    assert [frame["params"]["requestId"] for frame in talk.requests("notifications/cancelled")] == [wire]
    talk.call("u", id=2)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.opened == [1]

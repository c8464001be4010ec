"""Field cases about handshakes: who sends ``initialize``, with which words, and what a refusal leads to.

(2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions; 2025-11-25, basic/lifecycle#version-negotiation.)
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversation import META, SERVER, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
HANDSHAKE_REVISIONS = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}


def initialize(talk: Conversation, revision: str = "2025-11-25", id: Any = "i") -> None:  # noqa: A002
    """A legacy client opens."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    talk.client_frame({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})


def hello(revision: str = "2025-11-25") -> dict[str, Any]:
    return {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": SERVER}


def methods(talk: Conversation) -> list[str]:
    return [frame["method"] for frame in talk.to_server if "method" in frame]


# -- what a client tries first locks nothing -------------------------------------------------------------------------------


def test_b010_initialize_after_discovery_is_served_on_the_same_pipe(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.meet()
    assert talk.result_of("hello")["supportedVersions"] == ["2026-07-28"]
    initialize(talk)
    talk.server_frame({"jsonrpc": "2.0", "id": "i", "result": hello()})
    assert talk.result_of("i") == hello()
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
    talk.server_frame({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})
    assert talk.result_of(2) == {"tools": []}


@pytest.mark.parametrize(
    "meta",
    [
        {**envelope(), f"{META}protocolVersion": "2099-01-01"},
        {f"{META}protocolVersion": "2026-07-28"},
        {},
    ],
    ids=["unknown revision", "half an envelope", "no envelope"],
)
def test_b013_refused_discovery_leaves_nothing_that_a_legacy_client_could_stumble_over(converse: Converse, meta: Any) -> None:
    talk = converse(relayed=True)
    talk.client("server/discover", id="d", meta=meta)
    assert "error" in talk.answer_to("d")
    initialize(talk)
    talk.reply("initialize", hello())
    talk.client_frame({"jsonrpc": "2.0", "method": "notifications/initialized"})
    talk.client_frame({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
    talk.server_frame({"jsonrpc": "2.0", "id": 2, "result": {"tools": []}})
    assert talk.result_of(2) == {"tools": []}
    assert methods(talk) == ["initialize", "notifications/initialized", "tools/list"]


# -- the client's era and the server's are two things --------------------------------------------------------------------------


def test_b042_modern_client_is_served_by_a_legacy_server(converse: Converse) -> None:
    talk = converse(revision="2025-06-18")
    talk.call("t", id=1)
    talk.handshake()
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["resultType"] == "complete"


def test_b042_legacy_client_is_served_by_a_legacy_server(converse: Converse) -> None:
    talk = converse(relayed=True)
    initialize(talk, "2025-06-18")
    talk.reply("initialize", hello("2025-06-18"))
    assert talk.result_of("i") == hello("2025-06-18")


def test_b042_modern_client_is_served_by_a_modern_server(converse: Converse) -> None:
    """The fourth cell, a legacy client in front of a modern server, is the downgrade direction."""
    talk = converse(relayed=True)
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32601, "Method not found")
    talk.reply("server/discover", DISCOVERED)
    answer = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": answer})
    assert talk.result_of(1) == answer


def test_b156_first_request_of_a_modern_client_opens_the_session_that_a_stateful_server_needs(converse: Converse) -> None:
    """Told over HTTP; on stdio too a client may send any request first, and the server has to be initialized for it."""
    talk = converse()
    talk.client("tools/list", id=1)
    assert methods(talk) == ["initialize"]
    talk.handshake()
    assert methods(talk) == ["initialize", "notifications/initialized", "tools/list"]
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(1)["tools"] == []
    talk.call("t", id=2)
    assert talk.opened == [1]
    assert methods(talk)[-1] == "tools/call"


def test_b157_handshake_of_the_bridge_itself_speaks_legacy_words_only(converse: Converse) -> None:
    talk = converse()
    talk.client("tools/list", id=1)
    (sent,) = talk.requests("initialize")
    assert sent["params"]["protocolVersion"] == "2025-11-25"
    assert "_meta" not in sent["params"]
    assert META not in json.dumps(sent)


def test_b157_refused_handshake_reaches_everybody_who_waits_at_once(converse: Converse) -> None:
    talk = converse()
    talk.client("server/discover", id=1)
    talk.call("t", id=2)
    talk.reply_error("initialize", -32603, "licence expired")
    talk.reply_error("server/discover", -32601, "Method not found")
    for number in (1, 2):
        assert talk.error_of(number)["code"] == -32603
        assert "licence expired" in talk.error_of(number)["message"]


# -- revisions -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "data", "then"),
    [
        ("Unsupported protocol version (supported: 2024-11-05, 2025-03-26)", None, "2025-03-26"),
        ("Unsupported protocol version", {"supported": ["2024-11-05", "2025-06-18"], "requested": "2025-11-25"}, "2025-06-18"),
        ("use 2024-11-05", None, "2024-11-05"),
    ],
)
def test_b100_refused_revision_is_followed_by_the_newest_that_the_refusal_names(
    converse: Converse, message: str, data: Any, then: str
) -> None:
    talk = converse(revision=then)
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32602, message, data)
    assert [frame["params"]["protocolVersion"] for frame in talk.requests("initialize")] == ["2025-11-25", then]
    talk.handshake()
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(1)["tools"] == []


def test_b100_refusal_that_names_no_revision_is_told_to_whoever_asked(converse: Converse) -> None:
    """A server must answer with a revision of its own instead; where it does not even name one there is nothing to try."""
    talk = converse()
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32602, "Unsupported protocol version")
    talk.reply_error("server/discover", -32602, "not before initialize")
    assert "Unsupported protocol version" in talk.error_of(1)["message"]


@pytest.mark.parametrize("echoed", ["2026-07-28", "2099-01-01"])
def test_b102_revision_without_a_handshake_in_the_servers_answer_changes_nothing(converse: Converse, echoed: str) -> None:
    """No handshake can agree on 2026-07-28: a server that says so is still the legacy server that it has just proved to be."""
    talk = converse(revision="2025-11-25")
    talk.client("server/discover", id="d")
    talk.handshake(protocolVersion=echoed)
    assert talk.result_of("d")["supportedVersions"] == ["2026-07-28"]
    talk.call("t", id=1)
    assert talk.requests("tools/call")[0]["params"] == {"name": "t", "arguments": {}}
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["resultType"] == "complete"


def test_b102_legacy_client_that_asks_for_a_modern_revision_is_not_promised_it(converse: Converse) -> None:
    """basic/lifecycle#version-negotiation: what ``initialize`` agrees on is spoken after it, whatever a server echoes."""
    talk = converse(relayed=True)
    initialize(talk, "2026-07-28")
    (asked,) = talk.requests("initialize")
    talk.server_frame({"jsonrpc": "2.0", "id": asked["id"], "result": hello(asked["params"]["protocolVersion"])})
    assert talk.result_of("i")["protocolVersion"] in HANDSHAKE_REVISIONS


# -- a server that has gone --------------------------------------------------------------------------------------------------------


def test_b088_server_that_was_restarted_gets_a_handshake_of_its_own_and_the_request(converse: Converse) -> None:
    """Told of HTTP sessions; on stdio the session is the process, and one that has gone takes its handshake with it."""
    talk = converse()
    talk.meet()
    talk.server_dies()
    talk.client("tools/list", id=5)
    assert methods(talk)[-1] == "initialize"
    talk.handshake()
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(5)["tools"] == []
    assert talk.opened == [1, 2]


def test_b089_call_that_a_server_took_with_it_fails_and_is_not_run_again_by_itself(converse: Converse) -> None:
    """Told of HTTP sessions; whether the call has had its effect is unknown, so the client decides. The code is a number below zero."""
    talk = converse()
    talk.meet()
    talk.call("t", id=5)
    talk.server_dies("exited with status 1")
    assert talk.error_of(5)["code"] == -32603
    talk.client("tools/list", id=6)
    talk.handshake()
    assert methods(talk)[-1] == "tools/list"
    assert len(talk.requests("tools/call")) == 1

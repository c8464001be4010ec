"""Field cases about ``dragoman wrap URL``: what is asked of the server, in which order, and what the client hears.

(2026-07-28, basic/versioning and basic/transports/streamable-http#backward-compatibility; 2025-11-25, basic/transports.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.cases.remote import DISCOVERED, HELD, TOLD, Answering, Far, Near, Reply, Seen, legacy, modern, on_discover, refused, result

from oracle import Oracle

Dial = Callable[..., tuple[Far, Near]]
FELL_BACK = ["server/discover", "initialize", "notifications/initialized"]
CHALLENGE = 'Bearer resource_metadata="https://h.example/.well-known/oauth-protected-resource"'


@pytest.fixture
def dial(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dial]:
    """``dial(answering, *options)``: a server that answers so, and a bridge in front of it; both end with the test."""
    monkeypatch.setenv("FAR_TOKEN", "t")
    started: list[tuple[Far, Near]] = []

    def start(answering: Answering, *options: str) -> tuple[Far, Near]:
        far = Far(answering)
        started.append((far, Near(oracle, far.url, *options)))
        return started[-1]

    yield start
    for far, near in started:
        near.dispose()
        far.close()


def is_legacy(dial: Dial, answer: Callable[[Seen], Reply]) -> Far:
    """A server that answers discovery so is spoken to as legacy, and serves a modern client."""
    far, near = dial(on_discover(answer))
    assert near.asks("tools/list")["result"]["tools"] == HELD["tools"]
    assert near.asks("tools/call", name="echo", arguments={})["result"]["content"] == TOLD["content"]
    asked = [method for method in far.methods() if method not in ("GET", "tools/list")]
    assert asked == [*FELL_BACK, "tools/call"]
    return far


# -- discovery that says legacy --------------------------------------------------------------------------------------------


def test_b006_refusal_in_words_of_no_revision_is_followed_by_a_handshake(dial: Dial) -> None:
    error = {"code": -32000, "message": "MCP-Protocol-Version 2026-07-28 is not supported"}
    is_legacy(dial, lambda _: Reply(400, {"jsonrpc": "2.0", "id": None, "error": error}))


def test_b007_missing_session_id_is_followed_by_a_handshake(dial: Dial) -> None:
    is_legacy(dial, lambda seen: refused(seen, 400, -32600, "Bad Request: Missing session ID"))


@pytest.mark.parametrize("reply", [Reply(204), Reply(202), Reply(200, "OK")])
def test_b016_good_status_without_a_message_is_followed_by_a_handshake(dial: Dial, reply: Reply) -> None:
    is_legacy(dial, lambda _: reply)


def test_b017_text_with_404_is_followed_by_a_handshake(dial: Dial) -> None:
    is_legacy(dial, lambda _: Reply(404, "Invalid session ID"))


@pytest.mark.parametrize("reply", [Reply(405), Reply(406, "<html>no</html>"), Reply(415, "no")])
def test_b020_refusal_in_plain_text_is_followed_by_a_handshake(dial: Dial, reply: Reply) -> None:
    is_legacy(dial, lambda _: reply)


def test_b025_refusal_that_names_only_legacy_revisions_is_followed_by_a_handshake(dial: Dial) -> None:
    is_legacy(dial, lambda seen: refused(seen, 400, -32022, "no", supported=["2025-11-25"], requested="2026-07-28"))


def test_b158_session_id_of_the_answer_to_the_probe_is_never_used(dial: Dial) -> None:
    far = is_legacy(dial, lambda seen: refused(seen, 400, -32600, "no")._replace(fields={"Mcp-Session-Id": "junk"}))
    assert [seen.fields.get("mcp-session-id") for seen in far.asked("initialize")] == [None]
    assert {seen.fields.get("mcp-session-id") for seen in far.asked("tools/call")} == {"s-1"}


@pytest.mark.parametrize("status", [400, 404, 405, 501])
def test_b097_server_without_the_optional_stream_is_no_worse_for_it(dial: Dial, status: int) -> None:
    def answering(seen: Seen) -> Reply:
        return Reply(status, "Cannot GET /mcp") if seen.verb == "GET" else legacy(seen)

    far, near = dial(on_discover(lambda _: Reply(404), answering))
    for _ in range(3):
        assert near.asks("tools/call", name="echo", arguments={})["result"]["content"] == TOLD["content"]
    assert len(far.asked("initialize")) <= 2
    assert len(far.asked("tools/call")) == 3


# -- discovery that says nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_b021_challenge_reaches_the_client_and_no_handshake_follows(dial: Dial, status: int) -> None:
    far, near = dial(lambda _: Reply(status, "", {"WWW-Authenticate": CHALLENGE}))
    error = near.asks("tools/list")["error"]
    assert (error["code"], error["data"]["wwwAuthenticate"]) == (-32603, CHALLENGE)
    assert f"status {status}" in error["message"]
    assert far.asked("initialize") == []


def test_b022_discovery_refused_to_a_good_token_is_decided_by_a_handshake(dial: Dial) -> None:
    far, near = dial(on_discover(lambda _: Reply(401)), "--bearer-env", "FAR_TOKEN")
    assert near.asks("tools/call", name="echo", arguments={})["result"]["content"] == TOLD["content"]
    assert {seen.fields.get("authorization") for seen in far.seen} == {"Bearer t"}


def test_b022_refusal_of_both_is_told_as_the_first_one(dial: Dial) -> None:
    _, near = dial(lambda _: Reply(401, "", {"WWW-Authenticate": CHALLENGE}), "--bearer-env", "FAR_TOKEN")
    assert near.asks("tools/list")["error"]["data"]["wwwAuthenticate"] == CHALLENGE


@pytest.mark.parametrize("status", [429, 503])
def test_b026_server_that_is_busy_for_a_moment_is_asked_again_and_is_what_it_is(dial: Dial, status: int) -> None:
    busy = [Reply(status)]
    far, near = dial(lambda seen: busy.pop() if busy else modern(seen))
    assert near.asks("tools/list")["result"]["tools"] == HELD["tools"]
    assert far.asked("initialize") == []


def test_b026_server_that_was_down_at_first_is_no_longer_down_when_it_is_not(dial: Dial) -> None:
    far, near = dial(lambda _: Reply(502, "bad gateway"))
    assert "502" in near.asks("tools/list")["error"]["message"]
    far.answering = modern
    assert near.asks("tools/list")["result"]["tools"] == HELD["tools"]
    assert far.asked("initialize") == []


# -- a legacy client in front of a modern server -----------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
def test_b035_client_that_opens_with_initialize_reaches_a_modern_server(dial: Dial, revision: str) -> None:
    far, near = dial(modern)
    hello = near.greets(revision)["result"]
    assert (hello["protocolVersion"], hello["capabilities"], hello["serverInfo"]["name"]) == (revision, {"tools": {}}, "far")
    assert near.says("ping")["result"] == {}
    assert near.says("tools/list")["result"] == HELD
    assert near.says("tools/call", name="echo", arguments={})["result"] == TOLD
    assert set(far.methods()) == {"server/discover", "GET", "tools/list", "tools/call"}
    assert len(far.asked("GET")) == 1  # whether it is a server of both eras, see remote.py
    for seen in [seen for seen in far.seen if seen.verb == "POST"]:
        meta = seen.body["params"]["_meta"]
        assert (seen.fields["mcp-protocol-version"], seen.fields["mcp-method"]) == ("2026-07-28", seen.method)
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert "mcp-session-id" not in seen.fields
    assert [seen.fields["mcp-name"] for seen in far.asked("tools/call")] == ["echo"]


def test_b038_question_of_a_server_behind_a_url_is_asked_and_its_answer_brought_back(dial: Dial) -> None:
    form = {"message": "ok?", "requestedSchema": {"type": "object", "properties": {}}}

    def asking(seen: Seen) -> Reply:
        if seen.method != "tools/call" or "inputResponses" in seen.body["params"]:
            return modern(seen)
        entry: Any = {"method": "elicitation/create", "params": form}
        return result(seen, {"resultType": "input_required", "inputRequests": {"ok": entry}, "requestState": "opaque=="})

    far, near = dial(asking)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c", "version": "1"}}
    near.says("initialize", **hello)
    near.frame({"id": "call", "method": "tools/call", "params": {"name": "echo", "arguments": {}}})
    question = near.read()
    assert (question["method"], question["params"]) == ("elicitation/create", form)
    near.frame({"id": question["id"], "result": {"action": "accept", "content": {}}})
    assert near.read() == {"jsonrpc": "2.0", "id": "call", "result": TOLD}
    first, second = (seen.body for seen in far.asked("tools/call"))
    assert first["id"] != second["id"]
    answers = {"inputResponses": {"ok": {"action": "accept", "content": {}}}, "requestState": "opaque=="}
    assert second["params"] == {**first["params"], **answers}


def test_b054_name_that_no_header_field_can_hold_is_encoded(dial: Dial) -> None:
    def answering(seen: Seen) -> Reply:
        return result(seen, {**DISCOVERED, **HELD}) if seen.method == "tools/list" else modern(seen)

    far, near = dial(answering)
    near.greets()
    near.says("tools/call", name="検索", arguments={})
    assert [seen.fields["mcp-name"] for seen in far.asked("tools/call")] == ["=?base64?5qSc57Si?="]


# -- a verdict that proves wrong -------------------------------------------------------------------------------------------


def test_b028_server_that_answers_discovery_and_no_more_is_tried_as_legacy_once(dial: Dial) -> None:
    """The catalogue call hangs as long as it is modern: after 15 s the era is asked for anew, and the client's list comes."""
    stuck = threading.Event()

    def answering(seen: Seen) -> Reply:
        if seen.method == "server/discover":
            return result(seen, DISCOVERED)
        if "mcp-method" in seen.fields:
            stuck.wait(40)
            return Reply(503)
        return legacy(seen)

    far, near = dial(answering)
    try:
        assert near.asks("tools/list")["result"]["tools"] == HELD["tools"]
        assert near.asks("tools/call", name="echo", arguments={})["result"]["content"] == TOLD["content"]
    finally:
        stuck.set()
    assert len(far.asked("server/discover")) == 1


def test_server_that_becomes_a_legacy_one_is_found_out(dial: Dial) -> None:
    far, near = dial(modern)
    assert near.asks("tools/list")["result"]["tools"] == HELD["tools"]
    far.answering = legacy
    assert near.asks("tools/list")["error"]["code"] == -32600
    assert near.process.wait(20) == 1  # the host starts it again

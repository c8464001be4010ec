"""When a server is not what it seemed to be (2026-07-28, basic/versioning: "re-probing if the cached assumption later fails")."""

from __future__ import annotations

import pytest
from tests.remote.leg import META, Leg, failure, result

from dragoman.bridging.era import MODERN

CALL = {"name": "a", "_meta": META}


def test_server_that_answers_is_never_doubted():
    leg = Leg(MODERN)
    leg.ask("tools/list", {"_meta": META}, id=1)
    leg.answer(result(1, {"tools": []}))
    leg.pass_time(100)
    assert leg.doubts == []


def test_error_of_the_call_is_no_reason_to_doubt():
    leg = Leg(MODERN)
    leg.ask("tools/list", {"_meta": META}, id=1)
    leg.answer(failure(1, -32601, "no tools here"), status=404)
    leg.ask("tools/list", {"_meta": META}, id=2)
    leg.answer(failure(2, -32603, "out of order"))
    assert leg.doubts == []


def test_modern_server_that_answers_nothing_but_discovery_is_doubted_once():
    leg = Leg(MODERN)
    leg.ask("tools/list", {"_meta": META}, id=1)
    leg.pass_time(14.9)
    assert leg.doubts == []
    leg.pass_time(100)
    assert leg.doubts == ["it answers server/discover, and has answered nothing else in 15 s"]


def test_a_call_may_take_its_time():
    leg = Leg(MODERN)
    leg.ask("tools/call", CALL, id=1)
    leg.answer(result(leg.last.frame["id"], {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    leg.pass_time(1000)
    assert leg.doubts == []


@pytest.mark.parametrize("answer", [b"Cannot POST /mcp", failure(None, -32000, "Bad Request: Missing session ID")])
@pytest.mark.parametrize("status", [400, 404, 405])
def test_modern_server_that_speaks_in_no_modern_words_is_doubted(status, answer):
    leg = Leg(MODERN)
    leg.ask("tools/list", {"_meta": META}, id=1)
    leg.answer(answer, status=status, kind=None if isinstance(answer, dict) else "text/plain")
    assert len(leg.doubts) == 1
    assert f"status {status}" in leg.doubts[0]
    assert leg.error(1)


def test_legacy_server_that_speaks_in_modern_words_is_doubted():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/list", id=1)
    leg.answer(failure(1, -32022, "Unsupported protocol version", supported=["2026-07-28"], requested="2025-11-25"), status=400)
    assert leg.doubts == ["it answers as a server of 2026-07-28"]


def test_handshake_that_is_refused_in_modern_words_is_no_surprise():
    leg = Leg()
    leg.ask("initialize", {}, id=0)
    leg.answer(failure(0, -32022, "Unsupported protocol version", supported=["2026-07-28"], requested="2025-11-25"), status=400)
    assert leg.doubts == []

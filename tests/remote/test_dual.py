"""A modern server that may take a legacy client's handshake too is asked for the stream that legacy servers offer (``remote.remote``)."""

from __future__ import annotations

import pytest
from tests.remote.leg import HELLO, META, Leg, failure, request, result

from dragoman.bridging.era import DUAL


def test_modern_client_is_served_without_a_question():
    leg = Leg(DUAL)
    leg.ask("tools/list", {"_meta": META}, id=1)
    assert leg.whats() == ["tools/list"]
    assert leg.last.fields["mcp-protocol-version"] == "2026-07-28"


@pytest.mark.parametrize("status", [200, 404, 405, 500, 501])
def test_server_without_sessions_refuses_the_handshake_as_it_would_itself(status):
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    assert leg.whats() == ["GET"]
    assert leg.last.fields == {"accept": "text/event-stream"}
    leg.head(leg.last, status)
    assert leg.error(0) == {"code": -32601, "message": "Method not found: initialize"}
    leg.ask("server/discover", {"_meta": META}, id=1)
    assert leg.last.fields["mcp-method"] == "server/discover"


@pytest.mark.parametrize("status", [400, 401, 406, 409])
def test_server_that_wants_a_session_gets_the_handshake_itself(status):
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    leg.head(leg.last, status, content_type="text/event-stream")
    assert leg.whats() == ["GET", "initialize"]
    assert "mcp-method" not in leg.last.fields
    leg.welcome(0, session="s1")
    leg.tell("notifications/initialized")
    leg.accept()
    assert leg.last.fields["mcp-session-id"] == "s1"


def test_handshake_that_is_refused_after_all_is_followed_by_modern_words():
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    leg.head(leg.last, 400)
    leg.answer(failure(0, -32022, "Unsupported protocol version", supported=["2026-07-28"], requested="2025-11-25"), status=400)
    assert leg.error(0)["code"] == -32022
    leg.ask("server/discover", {"_meta": META}, id=1)
    assert (leg.last.fields["mcp-method"], leg.last.fields["mcp-protocol-version"]) == ("server/discover", "2026-07-28")
    leg.answer(result(1, {"resultType": "complete"}))
    assert leg.answers(1)


def test_what_the_client_says_meanwhile_waits():
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    leg.tell("notifications/initialized")
    leg.ask("tools/list", id=1)
    assert leg.whats() == ["GET"]
    leg.head(leg.last, 406)
    leg.welcome(0)
    leg.accept()
    assert "tools/list" in leg.whats()


@pytest.mark.parametrize("silent", [True, False])
def test_stream_that_is_not_answered_is_none(silent):
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    if silent:
        leg.pass_time(5)
    else:
        leg.fail()
    assert leg.error(0)["code"] == -32601


def test_nothing_is_left_when_it_ends_in_the_middle():
    leg = Leg(DUAL)
    leg.core(request(0, "initialize", HELLO))
    get = leg.last.number
    leg.close()
    assert leg.aborted == {get}

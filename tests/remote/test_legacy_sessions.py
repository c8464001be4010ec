"""Legacy Streamable HTTP: the handshake, the session and its loss (basic/lifecycle, basic/transports#session-management)."""

from __future__ import annotations

import pytest
from tests.remote.leg import HELLO, Leg, failure, note, request, result

from dragoman.remote.effects import UNSENT


def versions(leg):
    """The revision that each request named in its field."""
    return [exchange.fields.get("mcp-protocol-version") for exchange in leg.sent]


def sessions(leg):
    return [exchange.fields.get("mcp-session-id") for exchange in leg.sent]


# --- what is not touched ---


def test_results_and_notifications_reach_the_core_byte_for_byte():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id="x")
    leg.stream()
    exchange = leg.last
    lines = [
        b'{"jsonrpc": "2.0",  "method":"notifications/message","params":{"level":"info","data":1e400}}',
        b'{"id":"x","result":{"b":1,"a":2}}',
    ]
    heard = []
    for line in lines:
        effects = leg.remote.data(exchange.number, b"data: " + line + b"\n\n", leg.now)
        heard += [effect.line for effect in effects if type(effect).__name__ == "Heard"]
    assert heard == lines


def test_requests_go_out_byte_for_byte():
    leg = Leg()
    leg.handshake()
    line = b'{"jsonrpc":"2.0", "id":9007199254740993, "method":"tools/call","params":{"name":"a","arguments":{"n":1.10}}}'
    leg.core(line)
    assert leg.last.body == line
    assert leg.last.url == ""


# --- the handshake ---


def test_handshake_comes_first_then_initialized_then_the_rest(transcript):
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.tell("notifications/initialized")
    leg.ask("tools/list", id=1)
    leg.ask("ping", id=2)
    assert leg.whats() == ["initialize"]
    leg.welcome()
    assert leg.whats() == ["initialize", "notifications/initialized"]
    leg.accept()
    assert leg.whats() == ["initialize", "notifications/initialized", "GET", "tools/list", "ping"]
    leg.answer(result(1, {"tools": []}), to=leg.named("tools/list"))
    leg.answer(result(2), to=leg.named("ping"))
    leg.answer(status=405, to=leg.named("GET"))
    leg.close()
    leg.answer(status=204)
    assert leg.transcript() == transcript


@pytest.mark.parametrize(
    ("version", "named"), [("2025-03-26", None), ("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("2099-01-01", "2099-01-01")]
)
def test_revision_is_named_after_the_handshake_and_only_where_the_field_exists(version, named):
    leg = Leg()
    leg.handshake(version=version)
    leg.ask("ping")
    assert versions(leg) == [None, named, named, named]


def test_session_id_is_repeated_from_the_handshake_on():
    leg = Leg()
    leg.handshake(session="abc")
    leg.ask("ping")
    assert sessions(leg) == [None, "abc", "abc", "abc"]


def test_server_without_a_session_gets_no_id_and_no_goodbye():
    leg = Leg()
    leg.handshake(session=None)
    leg.ask("ping")
    leg.close()
    assert sessions(leg) == [None] * 4
    assert "DELETE" not in leg.whats()


def test_session_is_deleted_at_the_end_and_its_answer_concerns_nobody():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"})
    leg.close()
    assert leg.aborted == {4}
    assert (leg.last.method, leg.last.fields["mcp-session-id"]) == ("DELETE", "s1")
    bye = leg.stream()
    leg.event(bye, note("notifications/tools/list_changed"))
    leg.event(bye, request(7, "ping"))
    leg.end(bye)
    assert leg.heard == [leg.answers(0)[0]]


def test_handshake_that_is_refused_lets_the_rest_go_on():
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.ask("ping", id=1)
    leg.answer(failure(0, -32602, "no"), status=200)
    assert leg.whats() == ["initialize", "ping"]
    assert leg.error(0) == {"code": -32602, "message": "no"}


def test_answer_of_the_client_does_not_wait_for_initialized():
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.stream()
    leg.event(leg.last, request("q", "ping"))
    leg.core(result("q"))
    assert leg.whats() == ["initialize", "answer"]


@pytest.mark.parametrize("status", [200, 202])
def test_handshake_without_a_message_fails_at_once(status):
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.answer(status=status)
    assert f"with status {status}" in leg.error(0)["message"]
    assert leg.error(0)["message"].endswith("and no message")


def test_modern_error_to_the_handshake_is_told_and_nothing_else_is_tried():
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.answer(failure(0, -32022, "Unsupported protocol version", supported=["2026-07-28"], requested="2025-11-25"), status=400)
    assert leg.error(0)["code"] == -32022
    assert leg.whats() == ["initialize"]


# --- a session that is gone ---


def test_session_that_is_gone_is_begun_anew_and_no_call_is_lost(transcript):
    leg = Leg()
    leg.handshake(capabilities={"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": False}, "logging": {}})
    leg.ask("logging/setLevel", {"level": "error"}, id=1)
    leg.answer(result(1))
    leg.ask("resources/subscribe", {"uri": "file:///a"}, id=2)
    leg.answer(result(2))
    leg.ask("resources/subscribe", {"uri": "file:///b"}, id=3)
    leg.answer(result(3))
    leg.ask("resources/unsubscribe", {"uri": "file:///b"}, id=4)
    leg.answer(result(4))
    leg.ask("tools/call", {"name": "a"}, id=5)
    leg.answer(status=404)
    leg.ask("ping", id=6)
    leg.welcome(session="s2", capabilities={"tools": {"listChanged": True}})
    leg.accept()
    for what in ("logging/setLevel", "resources/subscribe", "tools/call", "ping"):
        leg.answer(result(leg.named(what).frame["id"], {"from": "s2"}), to=leg.named(what))
    assert leg.transcript() == transcript
    assert leg.answers(5) == [result(5, {"from": "s2"})]
    assert leg.answers(6) == [result(6, {"from": "s2"})]


def test_several_calls_share_one_new_session():
    leg = Leg()
    leg.handshake()
    for number in (1, 2, 3):
        leg.ask("tools/call", {"name": "a"}, id=number)
    first, second, third = (leg.open[number] for number in (4, 5, 6))
    leg.answer(status=404, to=first)
    leg.answer(failure(None, -32001, "Session not found"), status=404, to=second)
    leg.welcome(session="s2")
    leg.accept()
    leg.answer(status=404, to=third)  # the old session's, after the new one has begun
    calls = [exchange for exchange in leg.sent if exchange.what == "tools/call"][3:]
    assert leg.whats().count("initialize") == 2
    assert [(call.frame["id"], call.fields["mcp-session-id"]) for call in calls] == [(1, "s2"), (2, "s2"), (3, "s2")]
    for call in calls:
        leg.answer(result(call.frame["id"]), to=call)
    assert leg.waiting == set()


def test_call_that_the_new_session_refuses_as_well_is_refused():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=404)
    leg.welcome(session="s2")
    leg.accept()
    leg.answer(status=404, to=leg.named("tools/call"))
    assert leg.error(1)["data"] == {"status": 404}
    assert leg.whats().count("initialize") == 2


def test_server_that_knows_no_session_at_all_is_not_greeted_without_end():
    leg = Leg()
    leg.handshake()
    leg.ask("logging/setLevel", {"level": "error"}, id=1)
    leg.answer(result(1))
    leg.ask("tools/call", {"name": "a"}, id=2)
    for number in range(50):
        if not leg.open:
            break
        if leg.last.what == "initialize":
            leg.welcome(session=f"s{number}")
        else:
            leg.answer(status=404)
    assert leg.whats().count("initialize") == 2
    assert leg.error(2)["data"] == {"status": 404}


def test_server_without_a_route_for_get_is_not_greeted_again():
    leg = Leg()
    leg.handshake(stream=404)
    leg.pass_time(600)
    assert leg.whats() == ["initialize", "notifications/initialized", "GET"]


def test_stream_that_comes_back_to_a_forgotten_session_begins_another():
    leg = Leg()
    leg.handshake(stream=None)
    leg.end(leg.stream())
    leg.pass_time(2)
    leg.answer(status=404)
    leg.welcome(session="s2")
    leg.accept()
    assert leg.last.what == "GET"
    assert leg.last.fields["mcp-session-id"] == "s2"
    leg.answer(status=404)
    leg.pass_time(600)
    assert leg.whats().count("initialize") == 2


def test_400_that_speaks_of_the_session_counts_as_its_end():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(failure(None, -32000, "Bad Request: No valid session ID provided"), status=400)
    assert leg.last.what == "initialize"


def test_400_about_something_else_is_passed_on():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(failure(1, -32602, "no such tool"), status=400)
    assert leg.error(1) == {"code": -32602, "message": "no such tool"}


def test_404_of_a_server_without_sessions_is_passed_on():
    leg = Leg()
    leg.handshake(session=None)
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=404)
    assert "is the path of the URL right?" in leg.error(1)["message"]


def test_server_that_refuses_another_handshake_is_asked_again_with_the_next_message():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=404)
    leg.answer(failure(leg.last.frame["id"], -32603, "too many sessions"), status=200)
    assert leg.error(1)["message"] == "The connection to the server is lost, and another session could not be begun: too many sessions"
    leg.ask("tools/call", {"name": "b"}, id=2)
    assert leg.whats()[-1] == "initialize"
    leg.welcome(session="s2")
    leg.accept()
    leg.answer(result(2), to=leg.named("tools/call"))
    assert leg.answers(2) == [result(2)]
    assert leg.lost is None


def test_call_cancelled_while_the_session_is_begun_anew_is_not_sent():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=404)
    leg.cancel(1)
    leg.welcome(session="s2")
    leg.accept()
    assert leg.whats().count("tools/call") == 1


def test_call_that_was_put_off_waits_for_the_new_session():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=429, retry_after="1")
    leg.ask("tools/call", {"name": "b"}, id=2)
    leg.answer(status=404)
    leg.pass_time(2)
    assert leg.last.what == "initialize"
    leg.welcome(session="s2")
    leg.accept()
    calls = [exchange for exchange in leg.open.values() if exchange.what == "tools/call"]
    assert sorted((call.frame["id"], call.fields["mcp-session-id"]) for call in calls) == [(1, "s2"), (2, "s2")]


def test_request_whose_connection_breaks_during_the_new_handshake_waits_for_it():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/list", id=1)
    listing = leg.last
    leg.ask("ping", id=2)
    leg.answer(status=404)
    leg.fail(listing)
    leg.welcome(session="s2")
    leg.accept()
    assert {exchange.fields["mcp-session-id"] for exchange in leg.open.values()} == {"s2"}
    assert leg.named("tools/list").frame["id"] == 1


def test_new_handshake_that_cannot_be_delivered_is_tried_again_then_told():
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(status=404)
    for _ in range(3):
        leg.fail(kind=UNSENT, text="Connection refused")
        leg.pass_time(3)
    leg.fail(kind=UNSENT, text="Connection refused")
    assert "Connection refused" in leg.error(1)["message"]
    assert leg.lost is None


def test_notification_that_is_answered_with_a_stream_holds_nothing_up():
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.welcome()
    leg.tell("notifications/initialized")
    leg.ask("ping", id=1)
    stream = leg.stream()
    assert leg.whats() == ["initialize", "notifications/initialized", "GET", "ping"]
    leg.event(stream, note("notifications/x"))
    leg.end(stream)
    assert leg.heard[1:] == [note("notifications/x")]


def test_initialized_that_is_refused_holds_nothing_up():
    leg = Leg()
    leg.core(request(0, "initialize", HELLO))
    leg.welcome()
    leg.tell("notifications/initialized")
    leg.ask("ping", id=1)
    leg.answer(status=500)
    assert leg.last.what == "ping"


def test_answer_to_a_question_of_the_lost_session_is_not_shown_to_the_new_one():
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(status=404)
    leg.core(result("q"))
    assert leg.last.what == "initialize"
    leg.welcome(session="s2")
    leg.accept()
    assert "answer" not in leg.whats()
    assert leg.named("ping").fields["mcp-session-id"] == "s2"

"""HTTP+SSE of 2024-11-05, known before or fallen back to (basic/transports#http-with-sse, 2025-03-26 #backwards-compatibility)."""

from __future__ import annotations

import pytest
from tests.remote.leg import HELLO, Leg, failure, note, request, result

from dragoman.remote.effects import BROKEN, UNSENT

OLD = {**HELLO, "protocolVersion": "2024-11-05"}
URL = "https://server.test:8443/a/sse?key=1"


def opened(endpoint="/messages?session=1", **settings):
    """A leg whose stream has named its endpoint."""
    leg = Leg(two_endpoints=True, url=URL, **settings)
    stream = leg.stream()
    leg.event(stream, endpoint.encode(), name="endpoint")
    return leg, stream


def greet(leg, stream):
    leg.core(request(0, "initialize", OLD))
    leg.accept(leg.named("initialize"))
    leg.event(stream, result(0, {"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {}}))
    leg.tell("notifications/initialized")
    leg.accept(leg.named("notifications/initialized"))


def test_stream_comes_first_then_everything_goes_to_the_endpoint(transcript):
    leg = Leg(two_endpoints=True, url=URL)
    leg.core(request(0, "initialize", OLD))
    assert leg.whats() == ["GET"]
    stream = leg.stream()
    leg.event(stream, b"/messages?session=1", name="endpoint")
    leg.accept(leg.named("initialize"))
    leg.event(stream, result(0, {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}), name="message")
    leg.tell("notifications/initialized")
    leg.accept(leg.named("notifications/initialized"))
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.accept(leg.named("tools/call"))
    leg.event(stream, request("q", "roots/list"))
    leg.core(result("q", {"roots": []}))
    leg.accept(leg.named("answer"))
    leg.event(stream, result(1), name="message")
    leg.close()
    assert leg.transcript() == transcript
    assert leg.waiting == set()


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("/messages?session=1", "https://server.test:8443/messages?session=1"),
        ("messages/1", "https://server.test:8443/a/messages/1"),
        ("?session=1", "https://server.test:8443/a/sse?session=1"),
        ("https://server.test:8443/b", "https://server.test:8443/b"),
        ("HTTPS://Server.Test:8443/b", "https://Server.Test:8443/b"),
        ("//server.test:8443/b", "https://server.test:8443/b"),
    ],
)
def test_endpoint_is_meant_relative_to_the_stream(named, meant):
    leg, _ = opened(named)
    leg.core(request(0, "initialize", OLD))
    assert leg.last.url in (meant, meant.replace("https://Server", "HTTPS://Server"))


@pytest.mark.parametrize(
    "named",
    [
        "https://evil.test:8443/messages",
        "http://server.test:8443/messages",
        "https://server.test/messages",
        "https://server.test:8443@evil.test/messages",
        "//evil.test/messages",
        "https://server.test:99999/",
        "https://server.test:x/",
        "https://[::1",
        "http://[x]/",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ],
)
def test_endpoint_of_another_origin_is_refused_and_nothing_sent_there(named):
    leg = Leg(two_endpoints=True, url=URL)
    leg.core(request(0, "initialize", OLD))
    stream = leg.stream()
    leg.event(stream, named.encode(), name="endpoint")
    assert leg.whats() == ["GET"]
    assert "The server names an endpoint" in leg.error(0)["message"]
    assert stream.number in leg.aborted


def test_second_endpoint_event_changes_nothing():
    leg, stream = opened()
    leg.event(stream, b"/other", name="endpoint")
    leg.core(request(0, "initialize", OLD))
    assert leg.last.url == "https://server.test:8443/messages?session=1"


def test_endpoint_event_on_the_stream_of_a_post_changes_nothing():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping", id=1)
    leg.event(leg.stream(), b"/other", name="endpoint")
    leg.ask("ping", id=2)
    assert leg.last.url == "https://server.test:8443/messages?session=1"


def test_no_field_of_later_revisions_is_sent():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping")
    assert [exchange.fields for exchange in leg.sent] == [{"accept": "text/event-stream"}, {}, {}, {}]


@pytest.mark.parametrize("body", [b"", b"Accepted", b'"ok"'])
def test_answer_comes_on_the_stream_whatever_the_post_is_answered(body):
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping", id=1)
    leg.answer(body, status=202, kind="text/plain")
    assert leg.waiting == {b"1"}
    leg.event(stream, result(1))
    assert leg.answers(1) == [result(1)]


def test_answer_may_come_before_the_post_is_answered():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping", id=1)
    post = leg.last
    leg.event(stream, result(1))
    leg.accept(post)
    assert leg.answers(1) == [result(1)]


def test_post_that_is_refused_fails_its_request():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping", id=1)
    leg.answer(b"Invalid session", status=400, kind="text/plain")
    assert leg.error(1)["data"] == {"status": 400}


def test_stream_that_ends_is_opened_again_with_the_same_handshake(transcript):
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("logging/setLevel", {"level": "error"}, id=1)
    leg.accept()
    leg.event(stream, result(1))
    leg.ask("tools/call", {"name": "a"}, id=2)
    leg.accept()
    leg.end(stream)
    leg.ask("tools/call", {"name": "b"}, id=3)
    leg.pass_time(0.25)
    stream = leg.stream()
    leg.event(stream, b"/messages?session=2", name="endpoint")
    hello = leg.named("initialize")
    leg.accept(hello)
    leg.event(stream, result(hello.frame["id"], {"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": True}}}))
    leg.accept(leg.named("notifications/initialized"))
    leg.event(stream, result(3))
    assert leg.transcript() == transcript
    assert "ended before it had answered tools/call (the stream ended)" in leg.error(2)["message"]
    assert leg.answers(3) == [result(3)]
    assert leg.sent[-1].what == "tools/call"
    assert leg.sent[-1].url == "https://server.test:8443/messages?session=2"


def test_call_that_was_put_off_survives_the_end_of_the_stream_and_is_sent_once():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.answer(status=429, retry_after="5")
    leg.fail(stream)
    leg.pass_time(0.25)
    stream = leg.stream()
    leg.pass_time(6)
    assert leg.whats().count("tools/call") == 1
    leg.event(stream, b"/messages?session=2", name="endpoint")
    hello = leg.named("initialize")
    leg.event(stream, result(hello.frame["id"], {"protocolVersion": "2024-11-05", "capabilities": {}}))
    leg.accept(leg.named("notifications/initialized"))
    leg.event(stream, result(1))
    assert leg.whats().count("tools/call") == 2
    assert leg.answers(1) == [result(1)]


def test_call_whose_stream_ended_is_not_sent_again_by_a_late_refusal_of_its_post():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("tools/call", {"name": "a"}, id=1)
    post = leg.last
    leg.end(stream)
    leg.answer(status=503, to=post)
    leg.pass_time(0.25)
    assert leg.whats().count("tools/call") == 1
    assert leg.last.what == "GET"


def test_one_stream_is_opened_though_requests_wait_when_it_ends():
    leg, stream = opened()
    leg.core(request(0, "initialize", OLD))
    leg.ask("ping", id=1)
    leg.end(stream)
    leg.pass_time(5)
    assert leg.whats().count("GET") == 2
    assert leg.error(0)["code"] == -32603


def test_stream_that_cannot_be_opened_again_is_tried_again_with_the_next_message():
    leg, stream = opened()
    greet(leg, stream)
    leg.fail(stream, kind=BROKEN)
    for _ in range(3):
        leg.pass_time(2)
        leg.fail(kind=UNSENT, text="Connection refused")
    assert leg.lost is None
    leg.ask("tools/list", id=9)
    assert leg.last.what == "GET"


def test_stream_of_a_server_that_is_down_is_tried_some_times_then_told_and_the_next_message_tries_again():
    leg = Leg(two_endpoints=True, url=URL)
    leg.core(request(0, "initialize", OLD))
    for pause in (0.25, 1.0, 2.0):
        leg.fail(kind=UNSENT, text="Connection refused")
        assert leg.next_timer == pause
        leg.pass_time(pause)
    leg.fail(kind=UNSENT, text="Connection refused")
    assert "its event stream cannot be opened: Connection refused" in leg.error(0)["message"]
    leg.core(request(1, "initialize", OLD))
    assert leg.last.what == "GET"


def test_session_that_cannot_be_greeted_again_is_tried_again_with_the_next_message():
    leg, stream = opened()
    greet(leg, stream)
    leg.end(stream)
    leg.pass_time(1)
    stream = leg.stream()
    leg.event(stream, b"/messages", name="endpoint")
    leg.event(stream, failure(leg.named("initialize").frame["id"], -32603, "full"))
    assert leg.lost is None
    leg.ask("tools/list", id=9)
    assert leg.last.what == "initialize"


def test_nothing_is_deleted_at_the_end():
    leg, stream = opened()
    greet(leg, stream)
    leg.close()
    assert leg.aborted == {stream.number}
    assert "DELETE" not in leg.whats()


# --- fallen back to ---


@pytest.mark.parametrize("status", [400, 404, 405])
def test_server_that_takes_no_post_is_tried_over_two_endpoints(status):
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.ask("ping", id=1)
    leg.tell("notifications/x")
    leg.answer(b"Cannot POST /sse", status=status, kind="text/plain")
    assert leg.remote.two_endpoints
    stream = leg.stream()
    leg.event(stream, b"/messages", name="endpoint")
    leg.accept(leg.named("initialize"))
    leg.event(stream, result(0, {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}))
    leg.accept(leg.named("ping"))
    leg.event(stream, result(1))
    assert leg.whats() == ["initialize", "GET", "initialize", "ping", "notifications/x"]
    assert leg.answers(0) == [result(0, {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}})]


def test_request_cancelled_before_the_fall_back_is_not_sent():
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.cancel(1)
    leg.answer(status=404)
    stream = leg.stream()
    leg.event(stream, b"/messages", name="endpoint")
    leg.event(stream, result(0, {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}))
    assert "tools/call" not in leg.whats()


@pytest.mark.parametrize("get", [404, 405, 200])
def test_server_that_is_neither_is_told_in_its_own_words(get):
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.answer(failure(None, -32601, "who are you", hint=1), status=404)
    leg.answer(b"<html>", status=get, kind="text/html")
    assert leg.error(0) == {"code": -32601, "message": "who are you", "data": {"hint": 1}}


def test_server_that_is_neither_and_says_nothing_is_told_by_its_status():
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.answer(status=404)
    leg.answer(status=404)
    assert leg.error(0)["message"] == "The server answered initialize with status 404 (Not Found) (is the path of the URL right?)"


def test_fall_back_to_an_endpoint_of_another_origin_is_told_as_such():
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.answer(status=404)
    leg.event(leg.stream(), b"https://evil.test/", name="endpoint")
    assert "of another origin, https://evil.test" in leg.error(0)["message"]


@pytest.mark.parametrize("status", [401, 403, 406, 415, 500])
def test_other_statuses_are_no_reason_to_fall_back(status):
    leg = Leg(url=URL)
    leg.core(request(0, "initialize", HELLO))
    leg.answer(status=status)
    assert leg.error(0)["data"] == {"status": status}
    assert leg.whats() == ["initialize"]


def test_notifications_of_the_stream_are_passed_on():
    leg, stream = opened()
    greet(leg, stream)
    leg.event(stream, note("notifications/tools/list_changed"), name="message")
    assert leg.heard[-1] == note("notifications/tools/list_changed")
    assert leg.about[-1] is None


def test_answer_may_come_on_the_stream_of_the_post_or_after_its_end_on_the_standing_one():
    leg, stream = opened()
    greet(leg, stream)
    leg.ask("ping", id=1)
    leg.event(leg.stream(), result(1))
    leg.ask("ping", id=2)
    leg.end(leg.stream())
    assert leg.waiting == {b"2"}
    leg.event(stream, result(2))
    assert leg.answers(1) + leg.answers(2) == [result(1), result(2)]


def test_request_without_an_answer_is_given_up_in_time():
    leg, stream = opened(patience=30.0)
    greet(leg, stream)
    leg.ask("tools/call", {"name": "a"}, id=1)
    leg.accept()
    leg.pass_time(31)
    assert "did not answer tools/call" in leg.error(1)["message"]
    assert leg.last.what == "notifications/cancelled"
    leg.event(stream, result(1))
    assert len(leg.answers(1)) == 1


def test_endpoint_is_named_by_the_standing_stream_alone_even_while_there_is_none():
    leg, standing = opened()
    greet(leg, standing)
    leg.tell("notifications/x")
    stream = leg.stream()
    leg.end(standing)
    leg.event(stream, b"/other", name="endpoint")
    leg.ask("ping", id=1)
    leg.pass_time(1)
    assert leg.whats()[-2:] == ["notifications/x", "GET"]

"""Streams of a legacy server: the standing one, those of requests, and what is done when they end (basic/transports#streamable-http)."""

from __future__ import annotations

import json

import pytest
from tests.remote.leg import Leg, failure, note, request, result

from dragoman.remote.effects import BROKEN, SILENT, UNSENT

CALL = {"name": "a", "arguments": {}}


def calling(**settings):
    """A leg with a call under way on a stream."""
    leg = Leg(**settings)
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    return leg, leg.stream()


# --- the standing stream ---


def test_standing_stream_carries_what_belongs_to_no_request():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, note("notifications/tools/list_changed"))
    leg.event(standing, request("q", "roots/list"))
    assert leg.heard[1:] == [note("notifications/tools/list_changed"), request("q", "roots/list")]
    assert leg.about[1:] == [None, None]
    assert standing.fields["accept"] == "text/event-stream"
    assert "last-event-id" not in standing.fields


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 406, 501 - 96])
def test_refused_stream_is_not_asked_for_again(status):
    leg = Leg()
    leg.handshake(stream=status)
    leg.pass_time(3600)
    assert leg.whats().count("GET") == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_stream_of_a_server_in_trouble_is_asked_for_again_ever_more_slowly(status):
    leg = Leg()
    leg.handshake(stream=status)
    pauses = []
    for _ in range(7):
        pauses.append(leg.next_timer)
        leg.pass_time(pauses[-1])
        leg.answer(status=status)
    assert all(base <= pause <= 1.25 * base for base, pause in zip([1, 2, 4, 8, 16, 30, 30], pauses, strict=True) if base < 24)
    assert pauses[-2:] == [30, 30]


def test_stream_that_cannot_be_reached_comes_back():
    leg = Leg()
    leg.handshake(stream=None)
    leg.fail(kind=UNSENT, text="Connection refused")
    leg.pass_time(2)
    assert leg.last.what == "GET"


def test_stream_that_ends_is_opened_again_where_it_ended_after_the_time_that_was_asked_for():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, note("notifications/a"), id="7", retry=2500)
    leg.end(standing)
    assert leg.next_timer == 2.5
    leg.pass_time(2.5)
    assert leg.last.fields["last-event-id"] == "7"


def test_stream_that_brings_nothing_new_is_still_opened_where_the_one_before_ended():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, note("notifications/a"), id="7", retry=500)
    leg.end(standing)
    for _ in range(3):
        assert leg.next_timer == 0.5
        leg.pass_time(0.5)
        assert leg.last.fields["last-event-id"] == "7"
        leg.end(leg.stream())


def test_id_that_the_server_takes_back_is_not_sent():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, note("notifications/a"), id="7")
    leg.event(standing, note("notifications/b"), id="")
    leg.end(standing)
    leg.pass_time(2)
    assert "last-event-id" not in leg.last.fields


def test_retry_of_no_time_does_not_make_a_storm():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, id="1", retry=0)
    leg.end(standing)
    for _ in range(1000):
        leg.pass_time(0.01)
        if leg.open:
            leg.end(leg.stream())
    assert leg.whats().count("GET") <= 101


def test_stream_that_says_something_is_opened_again_as_quickly_as_the_first_time():
    leg = Leg()
    leg.handshake(stream=None)
    for _ in range(4):
        leg.end(leg.stream())
        pause = leg.next_timer
        leg.pass_time(pause)
    assert pause >= 8
    standing = leg.stream()
    leg.event(standing, note("notifications/x"))
    leg.end(standing)
    assert leg.next_timer <= 1.25


def test_request_that_is_accepted_waits_for_a_standing_stream_that_will_come_back():
    leg = Leg()
    leg.handshake(stream=503)
    leg.ask("tools/call", CALL, id=1)
    leg.accept()
    assert leg.waiting == {b"1"}
    leg.pass_time(2)
    leg.event(leg.stream(), result(1))
    assert leg.answers(1) == [result(1)]


def test_what_was_missed_without_event_ids_is_announced():
    leg = Leg()
    leg.handshake(stream=None, capabilities={"tools": {"listChanged": True}, "resources": {"subscribe": True}})
    leg.end(leg.stream())
    assert leg.heard[1:] == []
    leg.pass_time(2)
    leg.stream()
    assert leg.heard[1:] == [note("notifications/tools/list_changed")]


def test_nothing_is_announced_where_the_server_replays_what_was_missed():
    leg = Leg()
    leg.handshake(stream=None, capabilities={"tools": {"listChanged": True}})
    standing = leg.stream()
    leg.event(standing, id="1")
    leg.end(standing)
    leg.pass_time(2)
    leg.stream()
    assert leg.heard[1:] == []


# --- the stream of a request ---


def test_answer_and_what_comes_before_it_are_about_the_request():
    leg, stream = calling()
    leg.event(stream, note("notifications/progress", {"progressToken": 1, "progress": 1}))
    leg.event(stream, request(5, "sampling/createMessage", {}))
    leg.event(stream, result(1))
    assert leg.about[1:] == [b"1", b"1", b"1"]
    assert stream.number in leg.finished
    leg.event(stream, note("notifications/late"))
    leg.event(stream, result(1))
    assert len(leg.heard) == 4


def test_interrupted_call_is_taken_up_where_it_broke(transcript):
    leg, stream = calling()
    leg.event(stream, id="p0", retry=1500)  # priming
    leg.end(stream)
    leg.pass_time(1.5)
    resumed = leg.stream()
    leg.event(resumed, note("notifications/progress", {"progressToken": 1, "progress": 1}), id="p1")
    leg.fail(resumed, text="connection reset")
    leg.pass_time(1.5)
    resumed = leg.stream()
    leg.event(resumed, result(1, {"done": True}), id="p2")
    assert leg.transcript() == transcript
    assert leg.answers(1) == [result(1, {"done": True})]


def test_priming_event_without_a_time_is_taken_up_after_a_second():
    leg, stream = calling()
    leg.event(stream, id="p0")
    leg.end(stream)
    assert leg.next_timer == 1.0


def test_stream_without_news_is_given_up_after_five_attempts():
    leg, stream = calling()
    leg.event(stream, id="p0", retry=100)
    leg.end(stream)
    for _ in range(5):
        leg.pass_time(0.1)
        leg.end(leg.stream())
    assert "whether it was carried out is not known" in leg.error(1)["message"]
    assert leg.whats().count("GET") == 6  # one is the standing stream


def test_news_make_the_attempts_count_anew():
    leg, stream = calling()
    leg.event(stream, id="0", retry=100)
    leg.end(stream)
    for number in range(1, 20):
        leg.pass_time(0.1)
        resumed = leg.stream()
        assert resumed.fields["last-event-id"] == str(number - 1)
        leg.event(resumed, id=str(number))
        leg.end(resumed)
    assert leg.waiting == {b"1"}


@pytest.mark.parametrize("status", [500, 503, 429])
def test_server_in_trouble_is_asked_again_to_take_up_a_stream(status):
    leg, stream = calling()
    leg.event(stream, id="0", retry=100)
    leg.end(stream)
    leg.pass_time(0.1)
    leg.answer(status=status)
    leg.pass_time(0.1)
    leg.event(leg.stream(), result(1))
    assert leg.answers(1) == [result(1)]


@pytest.mark.parametrize("status", [400, 404, 405])
def test_call_whose_stream_is_not_taken_up_again_fails(status):
    leg, stream = calling()
    leg.event(stream, id="0")
    leg.end(stream)
    leg.pass_time(1)
    leg.answer(status=status)
    assert f"cannot be resumed: status {status}" in leg.error(1)["message"]
    assert leg.whats().count("tools/call") == 1


def test_list_whose_stream_is_not_taken_up_again_is_asked_anew_once():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/list", id=1)
    for _ in range(2):
        stream = leg.stream()
        leg.event(stream, id="0")
        leg.end(stream)
        leg.pass_time(1)
        leg.answer(status=405)
    assert leg.whats()[3:] == ["tools/list", "GET", "tools/list", "GET"]
    assert "cannot be resumed" in leg.error(1)["message"]


def test_call_without_event_ids_fails_when_its_stream_ends():
    leg, stream = calling()
    leg.event(stream, note("notifications/progress", {"progressToken": 1, "progress": 1}))
    leg.end(stream)
    assert "ended before it had answered tools/call (the stream ended)" in leg.error(1)["message"]
    assert not leg.open


def test_list_without_event_ids_is_asked_once_more():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/list", id=1)
    leg.end(leg.stream())
    leg.end(leg.stream())
    assert leg.whats()[3:] == ["tools/list", "tools/list"]
    assert leg.error(1)["code"] == -32603


def test_stream_of_a_session_that_is_gone_is_not_asked_for_in_another():
    leg, stream = calling()
    leg.event(stream, id="0")
    leg.end(stream)
    leg.ask("ping", id=2)
    leg.answer(status=404)
    leg.pass_time(1)
    leg.welcome(session="s2")
    leg.accept()
    assert "its session is over" in leg.error(1)["message"]
    assert leg.whats().count("tools/call") == 1


# --- cancellation ---


def test_cancelled_call_is_told_and_its_late_answer_ignored():
    leg, stream = calling()
    leg.cancel(1)
    assert leg.last.what == "notifications/cancelled"
    leg.event(stream, result(1))
    leg.end(stream)
    leg.accept()
    assert len(leg.heard) == 1


def test_cancelled_call_that_waits_to_be_taken_up_is_not():
    leg, stream = calling()
    leg.event(stream, id="0")
    leg.end(stream)
    leg.cancel(1)
    leg.accept()
    leg.pass_time(10)
    assert leg.whats().count("GET") == 1


def test_late_answer_on_the_stream_of_another_call_is_not_that_calls_answer():
    leg, _ = calling()
    leg.cancel(1)
    leg.accept()
    leg.ask("tools/call", CALL, id=2)
    second = leg.stream()
    leg.event(second, result(1, {"of": "the first"}))
    leg.event(second, result(2, {"of": "the second"}))
    assert leg.answers(2) == [result(2, {"of": "the second"})]


def test_cancellation_that_names_nothing_is_passed_on():
    leg = Leg()
    leg.handshake()
    for params in ({}, {"requestId": None}, {"requestId": 1.5}, {"requestId": 99}):
        leg.tell("notifications/cancelled", params)
        leg.accept()
    assert leg.whats().count("notifications/cancelled") == 4


# --- answers in other places and other forms ---


@pytest.mark.parametrize("status", [200, 202])
def test_request_that_is_accepted_is_answered_on_the_standing_stream(status):
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.ask("tools/call", CALL, id=1)
    leg.answer(status=status)
    assert leg.waiting == {b"1"}
    leg.event(standing, result(1))
    assert leg.answers(1) == [result(1)]


@pytest.mark.parametrize("status", [200, 202, 204])
def test_request_that_is_accepted_by_a_server_without_streams_fails_at_once(status):
    leg = Leg()
    leg.handshake(stream=405)
    leg.ask("tools/call", CALL, id=1)
    leg.answer(status=status)
    assert leg.error(1)["data"] == {"status": status}


def test_request_that_was_accepted_fails_when_there_is_no_stream_after_all():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.last
    leg.ask("tools/call", CALL, id=1)
    leg.accept()
    leg.answer(status=405, to=standing)
    assert leg.error(1)["data"] == {"status": 202}


def test_answer_on_the_stream_of_another_request_finds_its_own():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    first = leg.stream()
    leg.ask("tools/call", CALL, id=2)
    second = leg.stream()
    leg.event(second, result(1, {"n": 1}))
    leg.event(second, result(2, {"n": 2}))
    assert leg.answers(1) == [result(1, {"n": 1})]
    assert leg.answers(2) == [result(2, {"n": 2})]
    assert {first.number, second.number} <= leg.finished


@pytest.mark.parametrize("server_id", ["1", 99, 1.0, "null"])
def test_only_answer_to_a_request_is_its_answer_whatever_its_id(server_id):
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer({"jsonrpc": "2.0", "id": server_id, "result": {"x": 1}} if server_id != 1.0 else b'{"id":"1","result":{"x":1}}')
    assert leg.answers(1) == [result(1, {"x": 1})]


@pytest.mark.parametrize("status", [200, 400, 500])
def test_error_without_an_id_is_the_requests(status):
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "m"}}, status=status)
    assert leg.error(1) == {"code": -32000, "message": "m"}


def test_body_that_is_printed_prettily_becomes_one_line():
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(b"\xef\xbb\xbf" + json.dumps(result(1, {"a": ["line\nfeed", {}]}), indent=2).replace("\n", "\r\n").encode())
    assert leg.answers(1) == [result(1, {"a": ["line\nfeed", {}]})]


def test_event_that_is_printed_prettily_becomes_one_line():
    leg, stream = calling()
    leg.event(stream, json.dumps(result(1, {"a": [1, {}]}), indent=2).encode())
    assert leg.answers(1) == [result(1, {"a": [1, {}]})]


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "", "text/html"])
def test_message_is_read_whatever_its_content_type_says(kind):
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(result(1), kind=kind)
    assert leg.answers(1) == [result(1)]


@pytest.mark.parametrize("kind", ["text/event-stream", "text/event-stream; charset=utf-8", "Text/Event-Stream;charset=UTF-8"])
def test_stream_is_known_by_its_type_alone(kind):
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(b"data: " + json.dumps(result(1)).encode() + b"\n\n", kind=kind)
    assert leg.answers(1) == [result(1)]


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b"<!doctype html><p>secret</p>", "text/html", "a page of 28 bytes"),
        (b"  <html>", "", "a page of 8 bytes"),
        (b"hello \x00 world", "text/plain", "hello world"),
        (b'{"jsonrpc":"2.0","id":1', "application/json", '{"jsonrpc":"2.0","id":1'),
        (b'"OK"', "application/json", '"OK"'),
        (b"{}", "application/json", "{}"),
    ],
)
def test_body_that_is_no_message_is_an_error_that_says_so(body, kind, told):
    leg = Leg()
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(body, kind=kind)
    message = leg.error(1)["message"]
    assert message.startswith("The server answered ping with status 200 and a body that is no JSON-RPC message")
    assert message.endswith(f": {told}")


def test_events_of_other_kinds_and_comments_are_passed_over():
    leg, stream = calling()
    leg.event(stream, b"keep-alive", name="ping")
    leg.data(stream, b": comment\n\n")
    leg.event(stream, b"", name="message")
    leg.event(stream, result(1), name="message")
    assert leg.heard[1:] == [result(1)]


def test_event_that_is_no_message_is_told_and_the_stream_goes_on():
    leg, stream = calling()
    leg.event(stream, b"not json")
    leg.event(stream, result(1))
    assert leg.losses == ["an event of the server's that is no message"]
    assert leg.answers(1) == [result(1)]


# --- too long ---


def test_answer_over_the_limit_is_an_error():
    leg = Leg(max_line=1000)
    leg.handshake()
    leg.ask("ping", id=1)
    leg.answer(result(1, {"text": "x" * 2000}))
    assert "more than --max-line allows" in leg.error(1)["message"]


def test_event_over_the_limit_is_the_end_of_its_request():
    leg, stream = calling(max_line=1000)
    leg.event(stream, result(1, {"text": "x" * 2000}))
    assert "more than --max-line allows" in leg.error(1)["message"]
    assert stream.number in leg.finished


def test_answer_that_is_over_the_limit_before_its_end_is_not_read_to_its_end():
    leg = Leg(max_line=1000)
    leg.handshake()
    leg.ask("ping", id=1)
    body = leg.last
    leg.head(body, 200, content_type="application/json")
    leg.data(body, b"x" * 1000)
    assert leg.answers(1) == []
    leg.data(body, b"x")
    assert "more than --max-line allows" in leg.error(1)["message"]
    assert body.number in leg.aborted


@pytest.mark.parametrize("beginning", [b"data: ", b"data:", b"data: {}\ndata: ", b": ", b""])
def test_event_that_is_over_the_limit_before_its_end_is_not_read_to_its_end(beginning):
    leg, stream = calling(max_line=1000)
    leg.data(stream, beginning + b"x" * 900)
    assert leg.answers(1) == []
    leg.data(stream, b"x" * 107)
    assert "more than --max-line allows" in leg.error(1)["message"]
    assert stream.number in leg.aborted


def test_event_over_the_limit_on_the_standing_stream_is_a_loss():
    leg = Leg(max_line=1000)
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.event(standing, note("notifications/x", {"text": "x" * 2000}))
    leg.event(standing, note("notifications/y"))
    assert len(leg.losses) == 1
    assert leg.heard[1:] == [note("notifications/y")]


# --- connections that break ---


def test_call_that_was_never_delivered_is_sent_again():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    pauses = []
    for _ in range(3):
        leg.fail(kind=UNSENT, text="Connection refused")
        pauses.append(leg.next_timer)
        leg.pass_time(pauses[-1])
    leg.fail(kind=UNSENT, text="Connection refused")
    assert pauses == [0.25, 1.0, 2.0]
    assert leg.error(1)["message"] == "The server cannot be reached: Connection refused"


def test_call_that_can_never_be_delivered_fails_at_once():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    leg.fail(kind=UNSENT, text="its certificate is not trusted", final=True)
    assert leg.error(1)["message"] == "The server cannot be reached: its certificate is not trusted"


@pytest.mark.parametrize("kind", [BROKEN, SILENT])
def test_call_that_may_have_been_carried_out_is_not_sent_again(kind):
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    leg.fail(kind=kind)
    assert "whether it was carried out is not known" in leg.error(1)["message"]
    assert leg.whats().count("tools/call") == 1


@pytest.mark.parametrize("kind", [BROKEN, SILENT])
def test_request_that_does_no_harm_is_sent_once_more(kind):
    leg = Leg()
    leg.handshake()
    leg.ask("tools/list", id=1)
    leg.fail(kind=kind)
    leg.fail(kind=kind)
    assert leg.whats().count("tools/list") == 2
    assert "whether it was carried out is not known" in leg.error(1)["message"]


def test_method_that_nobody_knows_is_not_sent_again():
    leg = Leg()
    leg.handshake()
    leg.ask("x/pay", id=1)
    leg.fail()
    assert leg.whats().count("x/pay") == 1


def test_body_that_breaks_off_is_a_broken_connection():
    leg = Leg()
    leg.handshake()
    leg.ask("tools/call", CALL, id=1)
    leg.head(leg.last, 200, content_type="application/json")
    leg.data(leg.last, b'{"jsonrpc":"2.0","id":1,"result":{}}'[:-5])
    leg.fail(text="the body is incomplete")
    assert "the body is incomplete" in leg.error(1)["message"]


def test_notification_that_cannot_be_sent_is_logged():
    leg = Leg()
    leg.handshake()
    leg.tell("notifications/roots/list_changed")
    leg.answer(b"no", status=500, kind="text/plain")
    assert leg.logged[-1] == (
        "notifications/roots/list_changed could not be sent: "
        "The server answered notifications/roots/list_changed with status 500 (Internal Server Error): no"
    )


def test_answer_that_cannot_be_sent_is_logged_as_such():
    leg = Leg()
    leg.handshake()
    leg.core(result("q"))
    leg.answer(status=400)
    assert leg.logged[-1].startswith("an answer to the server's question could not be sent")


# --- batches (2025-03-26) ---


def batch(leg):
    leg.core([request(1, "ping"), request(2, "tools/call", CALL), note("notifications/x")])
    return leg.last


def batching():
    leg = Leg()
    leg.handshake(version="2025-03-26")
    return leg


def test_batch_goes_out_as_one_and_its_answers_come_one_by_one():
    leg = batching()
    batch(leg)
    leg.answer([result(2), result(1, {"a": "line\nfeed"})])
    assert leg.heard[1:] == [result(2), result(1, {"a": "line\nfeed"})]


def test_batch_that_is_answered_prettily_becomes_lines():
    leg = batching()
    batch(leg)
    frames = [note("notifications/x", {"a": {"b": 1}}), request("q", "ping", {"c": {}}), result(1, {"d": {}}), failure(2, -1, "m", e=1)]
    leg.answer(json.dumps(frames, indent=2).encode())
    assert leg.heard[1:] == frames


def test_batch_that_is_answered_in_part_leaves_nobody_waiting():
    leg = batching()
    batch(leg)
    leg.answer([result(1)])
    assert leg.answers(1) == [result(1)]
    assert leg.error(2)["code"] == -32603


def test_batch_that_is_refused_as_a_whole_is_refused_to_each():
    leg = batching()
    batch(leg)
    leg.answer({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no batches"}}, status=400)
    assert leg.error(1) == leg.error(2) == {"code": -32600, "message": "no batches"}


def test_batch_with_a_call_in_it_is_not_sent_twice():
    leg = batching()
    batch(leg)
    leg.fail()
    assert leg.whats().count("batch") == 1
    assert leg.waiting == set()


def test_batch_is_answered_over_a_stream_one_event_each():
    leg = batching()
    batch(leg)
    stream = leg.stream()
    leg.event(stream, result(2))
    leg.event(stream, [result(1)])
    assert leg.waiting == set()
    assert stream.number in leg.finished


def test_batch_whose_session_is_gone_is_sent_again_as_a_whole():
    leg = batching()
    first = batch(leg).body
    leg.answer(status=404)
    leg.welcome(session="s2", version="2025-03-26")
    leg.accept()
    assert leg.named("batch").body == first
    leg.answer([result(1), result(2)], to=leg.named("batch"))
    assert leg.waiting == set()


def test_answer_that_comes_after_its_request_has_failed_goes_nowhere():
    leg = Leg()
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.ask("tools/call", CALL, id=1)
    leg.answer(status=500)
    leg.event(standing, result(1))
    assert len(leg.answers(1)) == 1


def test_event_over_the_limit_does_not_end_the_standing_stream_before_its_end_either():
    leg = Leg(max_line=1000)
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.data(standing, b"data: " + b"x" * 5000)
    assert standing.number in leg.open
    leg.data(standing, b"\n\n")
    leg.event(standing, note("notifications/y"))
    assert leg.heard[1:] == [note("notifications/y")]

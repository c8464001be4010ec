"""Requests that get no answer in time (basic/lifecycle#timeouts): given up, told to the server, and a late answer goes nowhere."""

from __future__ import annotations

import pytest
from tests.remote.leg import HELLO, Leg, ModernLeg, note, request, result, tool

CALL = {"name": "a", "arguments": {}}


def legacy():
    leg = Leg(patience=30.0)
    leg.handshake()
    return leg


def modern():
    leg = ModernLeg(patience=30.0)
    leg.knows(tool("a"))
    return leg


both = pytest.mark.parametrize("start", [legacy, modern], ids=["legacy", "modern"])


@both
def test_answer_in_time_is_an_answer_and_leaves_nothing_behind(start):
    leg = start()
    leg.ask("tools/call", CALL, id=1)
    leg.pass_time(29)
    leg.answer(result(1))
    leg.pass_time(100)
    assert leg.answers(1) == [result(1)]
    assert not leg.timers


@both
def test_request_without_an_answer_is_given_up_and_its_connection_closed(start):
    leg = start()
    leg.ask("tools/call", CALL, id=1)
    call = leg.last
    leg.pass_time(31)
    assert leg.error(1)["message"] == "The server did not answer tools/call within 30 seconds (--request-timeout)"
    assert call.number in leg.aborted


@both
def test_what_is_heard_of_a_request_starts_its_time_anew(start):
    leg = start()
    leg.ask("tools/call", CALL, id=1)
    stream = leg.stream()
    for _ in range(5):
        leg.pass_time(25)
        leg.data(stream, b": still at it\n\n")
    leg.event(stream, result(1))
    assert leg.answers(1) == [result(1)]


@both
def test_request_of_which_something_is_always_heard_is_given_up_in_the_end(start):
    leg = start()
    leg.ask("tools/call", CALL, id=1)
    stream = leg.stream()
    for _ in range(14):
        leg.event(stream, note("notifications/progress", {"progressToken": 1, "progress": 1}))
        leg.pass_time(20)
    assert leg.answers(1) == []
    for _ in range(2):
        leg.event(stream, note("notifications/progress", {"progressToken": 1, "progress": 1}))
        leg.pass_time(20)
    assert "within 30 seconds" in leg.error(1)["message"]


@both
def test_requests_are_given_up_one_after_another(start):
    leg = start()
    leg.ask("tools/call", CALL, id=1)
    leg.pass_time(20)
    leg.ask("tools/call", CALL, id=2)
    leg.pass_time(15)
    assert leg.waiting == {b"2"}
    leg.pass_time(20)
    assert leg.waiting == set()


def test_legacy_server_is_told_that_a_request_is_given_up():
    leg = legacy()
    leg.ask("tools/call", CALL, id="x")
    leg.pass_time(31)
    assert leg.last.frame == note("notifications/cancelled", {"requestId": "x", "reason": "no answer in time"})


def test_modern_server_is_told_by_the_end_of_the_connection_alone():
    leg = modern()
    leg.ask("tools/call", CALL, id=1)
    leg.pass_time(31)
    assert not leg.open
    assert leg.whats() == ["tools/list", "tools/call"]


def test_handshake_that_is_given_up_is_not_cancelled():
    leg = Leg(patience=30.0)
    leg.core(request(0, "initialize", HELLO))
    leg.pass_time(31)
    assert "did not answer initialize" in leg.error(0)["message"]
    assert leg.whats() == ["initialize"]


def test_late_answer_on_the_stream_of_another_request_goes_nowhere():
    leg = legacy()
    leg.ask("tools/call", CALL, id=1)
    leg.pass_time(31)
    leg.accept()
    leg.ask("tools/call", CALL, id=2)
    stream = leg.stream()
    leg.event(stream, result(1))
    leg.event(stream, result(2))
    assert leg.answers(2) == [result(2)]


def test_stream_of_changes_may_be_quiet_for_ever():
    leg = modern()
    leg.ask("subscriptions/listen", {"notifications": {}}, id="l")
    leg.stream()
    leg.pass_time(100_000)
    assert leg.waiting == {b'"l"'}


def test_standing_stream_may_be_quiet_for_ever():
    leg = Leg(patience=30.0)
    leg.handshake(stream=None)
    standing = leg.stream()
    leg.pass_time(100_000)
    assert standing.number in leg.open


def test_call_that_waits_to_be_taken_up_is_given_up_in_time():
    leg = legacy()
    leg.ask("tools/call", CALL, id=1)
    stream = leg.stream()
    leg.event(stream, id="0", retry=29_000)
    leg.end(stream)
    leg.pass_time(29)
    leg.stream()
    leg.pass_time(31)
    assert "did not answer tools/call" in leg.error(1)["message"]


def test_stream_of_changes_that_has_said_something_may_be_quiet_for_ever():
    leg = modern()
    leg.ask("subscriptions/listen", {"notifications": {}}, id="l")
    changes = leg.stream()
    leg.event(changes, note("notifications/subscriptions/acknowledged", {"notifications": {}}))
    leg.ask("tools/call", CALL, id=1)
    leg.pass_time(1000)
    assert leg.waiting == {b'"l"'}
    assert changes.number in leg.open

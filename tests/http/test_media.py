"""Bodies are JSON in UTF-8, and answers are what the client takes."""

from __future__ import annotations

import time

import pytest

from dragoman.http.media import Accepts, accepts, is_json

BOTH, JSON, EVENTS, NEITHER = Accepts(True, True), Accepts(True, False), Accepts(False, True), Accepts(False, False)


@pytest.mark.parametrize(
    "value",
    [
        b"application/json",
        b"Application/JSON",
        b" application/json ",
        b"application/json; charset=utf-8",
        b"application/json;charset=UTF-8",
        b'application/json; charset="utf-8"',
        b"application/json ; charset=utf8",
        b"application/json;",
        b"application/json; ; charset=utf-8 ;",
        b"application/json; profile=x",
        b'application/json; profile="a;b=\\"c"; charset=utf-8',
    ],
)
def test_json_is_json(value):
    assert is_json(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=application/json",
        b"application/jsonp",
        b"application/json-rpc",
        b"application/vnd.api+json",
        b"application/*",
        b"*/*",
        b"json",
        b"application/json, text/plain",
        b"text/plain; application/json",
        b"text/plain;x=application/json",
        b"application/json; charset=latin-1",
        b"application/json; charset=utf-16",
        b"application/json; charset=utf-8; charset=utf-16",
        b"application/json; charset",
        b"application/json; charset=",
        b'application/json; charset="utf-8',
        b"application/json charset=utf-8",
        b"application /json",
        b"application/json\x00",
        b"\xef\xbb\xbfapplication/json",
    ],
)
def test_what_is_not_json_in_utf8_is_not(value):
    assert not is_json(value)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (None, BOTH),
        (b"", BOTH),
        (b" , ", BOTH),
        (b"application/json, text/event-stream", BOTH),
        (b"text/event-stream,application/json", BOTH),
        (b"Application/JSON,TEXT/Event-Stream", BOTH),
        (b"*/*", BOTH),
        (b"application/*, text/*", BOTH),
        (b"application/json;q=0.1, text/event-stream;q=0.001", BOTH),
        (b"application/json; charset=utf-8, text/event-stream; charset=utf-8", BOTH),
        (b'application/json;p="a,b", text/event-stream', BOTH),
        (b"application/json", JSON),
        (b"application/*", JSON),
        (b"text/event-stream", EVENTS),
        (b"text/*;q=0.5", EVENTS),
        (b"*/*, application/json;q=0", EVENTS),
        (b"application/json;q=0, */*", EVENTS),
        (b"application/*;q=0, */*;q=0.1", EVENTS),
        (b"text/*;q=0, text/event-stream", EVENTS),
        (b"*/*;q=0", NEITHER),
        (b"*/*; q=0.000, text/html", NEITHER),
        (b"text/html", NEITHER),
        (b"application/xml, image/*", NEITHER),
        (b"text/event-streams, application/jsonx", NEITHER),
    ],
)
def test_accept_says_which_answers_may_be_sent(value, wanted):
    assert accepts(value) == wanted


@pytest.mark.parametrize(
    "member",
    [
        b"application/json;q=2",
        b"application/json;q=abc",
        b"application/json;q=",
        b"application/json;q=0.1234",
        b"json",
        b"/",
        b'a/b;"',
        b'"',
        b"*",
    ],
)
def test_member_that_cannot_be_read_is_passed_over(member):
    assert accepts(member + b", text/event-stream") == EVENTS
    assert accepts(b"text/event-stream, " + member) == EVENTS


def test_same_type_twice_is_taken_if_either_says_so():
    assert accepts(b"application/json;v=1;q=0, application/json;v=2") == JSON
    assert accepts(b"application/json;v=2, application/json;v=1;q=0") == JSON


@pytest.mark.parametrize(
    "text", [b"; " * 30_000, b";" + b" " * 60_000, b'"' * 60_000, b",;" * 30_000, b' ;a="' * 12_000, b"a/" * 30_000, b" " * 60_000]
)
def test_hostile_values_are_read_in_no_time(text):
    begun = time.perf_counter()
    is_json(b"application/json" + text + b"!")
    is_json(text)
    accepts(b"application/json" + text + b"!")
    accepts(text)
    assert time.perf_counter() - begun < 1

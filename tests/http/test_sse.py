"""One message is one event of one line, whatever white space the server put into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.http import sse


def parsed(stream: bytes) -> list[dict[str, str]]:
    """The events of a stream, by the rules of HTML section 9.2.6."""
    events, current, data = [], {}, []
    for line in stream.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            if data:
                events.append({**current, "data": "\n".join(data)})
            current, data = {}, []
            continue
        name, _, value = line.partition(":")
        if name == "data":
            data.append(value.removeprefix(" "))
        elif name:
            current[name] = value.removeprefix(" ")
    return events


@pytest.mark.parametrize("line", [b'{"id":1}', b'{"id":1}\n'])
def test_message_is_one_event_with_or_without_its_newline(line):
    assert sse.event(line) == b'data: {"id":1}\n\n'


def test_id_retry_and_name_stand_before_the_data():
    assert sse.event(b"{}\n", b"3-1", 250, b"message") == b"event: message\nid: 3-1\nretry: 250\ndata: {}\n\n"
    assert sse.event(b"{}", retry_ms=0) == b"retry: 0\ndata: {}\n\n"


def test_name_alone_makes_the_endpoint_event():
    assert sse.event(b"/messages?session=a", name=b"endpoint") == b"event: endpoint\ndata: /messages?session=a\n\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"a":\r1}\n', b'data: {"a": 1}\n\n'),
        (b'{"a":1}\r\n', b'data: {"a":1} \n\n'),
        (b'{\r\n"a":1}\n', b'data: {  "a":1}\n\n'),
        (b'{\n"a":1}', b'data: { "a":1}\n\n'),
        (b'{"a":1}\n\n', b'data: {"a":1} \n\n'),
    ],
)
def test_line_ends_between_tokens_become_spaces(line, told):
    assert sse.event(line) == told


def test_unicode_line_separators_are_data():
    line = '{"a":"x\u2028y\u2029z\x85"}'.encode()
    assert sse.event(line) == b"data: " + line + b"\n\n"


def test_empty_data_is_an_event_too():
    assert sse.event(b"") == b"data: \n\n"
    assert sse.event(b"\n") == b"data: \n\n"


def test_priming_event_has_an_id_and_empty_data():
    assert sse.priming(b"3-0") == b"id: 3-0\ndata:\n\n"
    assert sse.priming(b"3-0", 1000) == b"id: 3-0\nretry: 1000\ndata:\n\n"
    assert parsed(sse.priming(b"3-0", 1000)) == [{"id": "3-0", "retry": "1000", "data": ""}]


def test_comment_is_no_event():
    assert parsed(sse.COMMENT + sse.event(b"{}") + sse.COMMENT) == [{"data": "{}"}]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_reader_gets_one_event_with_the_same_tokens(text, ends):
    (found,) = parsed(sse.event(text.encode() + b"\n" * ends, b"1-1"))
    assert found == {"id": "1-1", "data": text.removesuffix("" if ends else "\n").replace("\r", " ").replace("\n", " ")}


def test_streams_are_not_kept_and_not_held_back():
    assert sse.STREAM_HEADERS == ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))


def test_answers_belong_to_their_caller():
    assert sse.JSON_HEADERS == ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))

"""Events come out whole however the stream is cut, and as the standard reads them."""

from __future__ import annotations

import re
import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.http import sse
from dragoman.remote.sse_reader import HEAD, Event, SseReader, TooLong

LIMIT = 1 << 20


def read(*chunks, limit=LIMIT):
    reader = SseReader(limit)
    return [event for chunk in chunks for event in reader.feed(chunk)]


def message(data, event_id=None, name=b""):
    return Event(data, event_id, name)


# --- nothing comes of it ---


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"\n\n\n",
        b"\r\n\r\n",
        b"\xef\xbb\xbf\n\n",
        b":\n\n",
        b":\r\n\r\n",
        b": ping - 2026-01-01\n\n",
        b":data: x\n\n",
        b"event: message\n\n",
        b"retry: 10\n\n",
        b"Data: x\n\n",
        b" data: x\n\n",
        b"data : x\n\n",
        b"dataset: x\n\n",
        b"dat\n\n",
        b"nothing\n\n",
        b"\x00\n\n",
        b"id: a\x00b\n\n",
        b"data: x",
        b"data: x\n",
        b"data: x\r\n",
        b"id: 1\ndata: x\n",
        b"\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n",
        b" \xef\xbb\xbfdata: x\n\n",
    ],
)
def test_stream_without_a_complete_event_gives_none(stream):
    assert read(stream) == []
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == []


# --- events ---


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: {}\n\n", [message(b"{}")]),
        (b"data:{}\n\n", [message(b"{}")]),
        (b"data:  {} \n\n", [message(b" {} ")]),
        (b"data:\t{}\n\n", [message(b"\t{}")]),
        (b"data: a: b:c\n\n", [message(b"a: b:c")]),
        (b"data\n\n", [message(b"")]),
        (b"data:\n\n", [message(b"")]),
        (b"data: \n\n", [message(b"")]),
        (b"data: a\ndata: b\n\n", [message(b"a\nb")]),
        (b"data\ndata\n\n", [message(b"\n")]),
        (b"data: a\ndata:\ndata: b\ndata:\n\n", [message(b"a\n\nb\n")]),
        (b"data: a\n\ndata: b\n\n", [message(b"a"), message(b"b")]),
        (b"data: a\n\n\n\ndata: b\n\n", [message(b"a"), message(b"b")]),
        (b"event: message\ndata: a\n\n", [message(b"a", None, b"message")]),
        (b"event: x\nevent: endpoint\ndata: /m?s=1\n\n", [message(b"/m?s=1", None, b"endpoint")]),
        (b"event: x\nevent\ndata: a\n\n", [message(b"a")]),
        (b"event: x\n\ndata: a\n\n", [message(b"a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [message(b"a", None, b"x"), message(b"b")]),
        (b"id: 7\nevent: message\ndata: a\n\n", [message(b"a", b"7", b"message")]),
        (b"data: a\nid:7\n\n", [message(b"a", b"7")]),
        (b"id: 7\nid: 8\ndata: a\n\n", [message(b"a", b"8")]),
        (b"id: 7\nid: 8\x00\ndata: a\n\n", [message(b"a", b"7")]),
        (b"id: 7\ndata: a\n\ndata: b\n\n", [message(b"a", b"7"), message(b"b")]),
        (b"id\ndata: a\n\n", [message(b"a", b"")]),
        (b"id: 7\ndata:\n\n", [message(b"", b"7")]),
        (b"id: 7\n\n", [message(b"", b"7")]),
        (b"id: 7\nevent: x\n\ndata: a\n\n", [message(b"", b"7", b"x"), message(b"a")]),
        (b"foo: bar\ndata: a\n: note\nbar\n\n", [message(b"a")]),
        (b":\ndata: a\n:\n\n:\n\n", [message(b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [message(b"a")]),
        (b"data: \xef\xbb\xbfa\n\n", [message(b"\xef\xbb\xbfa")]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\rdata: d\r\r\n", [message(b"a"), message(b"b"), message(b"c"), message(b"d")]),
        (b"data: a\rdata: b\ndata: c\r\n\n", [message(b"a\nb\nc")]),
        ("data: x\u2028y\u2029z\x85\x0b\x0c\x1c\x00世\n\n".encode(), [message("x\u2028y\u2029z\x85\x0b\x0c\x1c\x00世".encode())]),
        (b"data: \xff\xfe\n\n", [message(b"\xff\xfe")]),
    ],
)
def test_events_are_read_as_the_standard_says_whatever_the_chunks(stream, events):
    assert read(stream) == events
    for size in range(1, len(stream)):
        assert read(*(stream[at : at + size] for at in range(0, len(stream), size))) == events


def test_carriage_return_ends_the_event_without_waiting_for_what_follows():
    reader = SseReader(LIMIT)
    assert reader.feed(b"data: a\r") == []
    assert reader.feed(b"\r") == [message(b"a")]
    assert reader.feed(b"") == []
    assert reader.feed(b"\ndata: b\r\n") == []
    assert reader.feed(b"\r") == [message(b"b")]
    assert reader.feed(b"\n") == []
    assert reader.feed(b"\n") == []


def test_pair_cut_in_two_is_one_end_of_line():
    assert read(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [message(b"a\nb")]


def test_empty_chunks_change_nothing():
    assert read(b"", b"\xef", b"", b"\xbb\xbfda", b"", b"ta: a\r", b"", b"\n", b"", b"\r\n", b"") == [message(b"a")]


@pytest.mark.parametrize("start", [b"\xef", b"\xef\xbb"])
def test_start_that_is_no_whole_mark_is_part_of_the_first_line(start):
    assert read(start, b"data: a\n\n") == []
    assert read(start, b"\ndata: a\n\n") == [message(b"a")]


@given(st.binary(max_size=50).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b"")))
def test_events_of_our_own_come_back(data):
    assert read(sse.event(data, b"3-1", 250, b"message")) == [message(data, b"3-1", b"message")]
    assert read(sse.event(data)) == [message(data)]


# --- where to go on ---


def test_nothing_is_known_before_the_first_event():
    reader = SseReader(LIMIT)
    assert (reader.last_id, reader.retry_ms) == (None, None)


def test_last_id_is_that_of_the_last_complete_event_that_had_one():
    reader = SseReader(LIMIT)
    reader.feed(b"id: 1\ndata: a\n\ndata: b\n\n")
    assert reader.last_id == b"1"
    reader.feed(b"id: 2\ndata: c\n")
    assert reader.last_id == b"1"
    reader.feed(b"\n")
    assert reader.last_id == b"2"
    reader.feed(b"id: 3\n\n")
    assert reader.last_id == b"3"
    reader.feed(b"id: 4\x00\ndata: d\n\n")
    assert reader.last_id == b"3"
    reader.feed(b"id:\ndata: e\n\n")
    assert reader.last_id == b""


def test_event_that_was_too_long_still_moves_the_last_id():
    reader = SseReader(3)
    assert reader.feed(b"id: 9\ndata: abcd\n\n") == [TooLong(b"abcd", 4)]
    assert reader.last_id == b"9"


def test_retry_holds_at_once_and_until_the_next():
    reader = SseReader(LIMIT)
    reader.feed(b"retry: 1500\n")
    assert reader.retry_ms == 1500
    reader.feed(b"data: a\n\nretry:0\n\n")
    assert reader.retry_ms == 0


@pytest.mark.parametrize("value", [b"", b" ", b"-1", b"+1", b"1.5", b"1e3", b"10 ", b"  10", b"0x10", b"1_0", "٣".encode(), b"9" * 5000])
def test_retry_that_is_no_number_or_beyond_all_measure_is_ignored(value):
    reader = SseReader(LIMIT)
    assert reader.feed(b"retry: 7\nretry:" + value + b"\n\n") == []
    assert reader.retry_ms == 7


# --- the limit ---


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: 12345\n\n", [message(b"12345")]),
        (b"data:12345\n\n", [message(b"12345")]),
        (b"data: 12\ndata: 34\n\n", [message(b"12\n34")]),
        (b"data\ndata\ndata\ndata\ndata\ndata\n\n", [message(b"\n\n\n\n\n")]),
        (b"data: 123456\n\ndata: ok\n\n", [TooLong(b"123456", 6), message(b"ok")]),
        (b"data:123456\n\ndata: ok\n\n", [TooLong(b"123456", 6), message(b"ok")]),
        (b"data:  12345\n\ndata: ok\n\n", [TooLong(b" 12345", 6), message(b"ok")]),
        (b"data: 12\ndata: 345\n\ndata: ok\n\n", [TooLong(b"12\n345", 6), message(b"ok")]),
        (b"data: 1\ndata: 2345678\ndata: 9\n\ndata: ok\n\n", [TooLong(b"1\n2345678\n9", 11), message(b"ok")]),
        (b"data: 123456789\ndata\ndata\n\ndata: ok\n\n", [TooLong(b"123456789\n\n", 11), message(b"ok")]),
        (b"event: x\ndata: 123456789\n\ndata: ok\n\n", [TooLong(b"123456789", 9), message(b"ok")]),
        # What is no data has no part in it, and what is no use at such a length is ignored.
        (b": a comment of any length\ndata: 12345\n\n", [message(b"12345")]),
        (b"unknown: field of any length\ndata: 12345\n\n", [message(b"12345")]),
        (b"datadatadatadata\ndata: 12345\n\n", [message(b"12345")]),
        (b"id: 1\nevent: endpoint\ndata: 12345\n\n", [message(b"12345", b"1")]),
        (b"event: e\nid: 1234567890\ndata: 12345\n\n", [message(b"12345", None, b"e")]),
        (b":\n" * 20 + b"data: 12345\n" + b":\n" * 20 + b"\n", [message(b"12345")]),
    ],
)
def test_every_way_to_cut_an_event_over_the_limit_skips_it_and_keeps_the_next(stream, events):
    for size in range(1, len(stream) + 1):
        assert read(*(stream[at : at + size] for at in range(0, len(stream), size)), limit=5) == events


@pytest.mark.parametrize("start", [b"d", b"data", b"data:", b"data: "])
def test_name_that_is_cut_before_a_large_piece_is_read_whole(start):
    rest = b"data: ".removeprefix(start) + b"x" * 5000
    assert read(start, rest, b"y\n\n") == [message(b"x" * 5000 + b"y")]


@pytest.mark.parametrize("field", [b"id: ", b"event: ", b"retry: ", b": ", b"foo: "])
def test_other_field_over_the_limit_is_ignored_in_pieces_and_whole(field):
    line = field + b"0" * 20_000
    for size in (5000, 100_000):
        assert read(*(line[at : at + size] for at in range(0, len(line), size)), b"\ndata: a\n\n", limit=10_000) == [message(b"a")]


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 1 << 24])
@pytest.mark.parametrize("prefix", [b"data: ", b"data:"])
def test_head_of_a_skipped_event_is_its_first_bytes(size, prefix):
    stream = prefix + b"".join(b"%08d" % number for number in range(1 << 18)) + b"\n\n"
    [event] = read(*(stream[at : at + size] for at in range(0, len(stream), size)))
    assert event == TooLong(b"".join(b"%08d" % number for number in range(HEAD // 8)), 8 << 18)


def test_memory_of_a_skipped_line_is_that_of_its_head():
    reader = SseReader(LIMIT)
    block = b"x" * LIMIT
    reader.feed(b"data: ")
    tracemalloc.start()
    try:
        for _ in range(50):
            reader.feed(block)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * 1024
    assert peak < 4 * LIMIT
    assert [(event.size, len(event.head)) for event in reader.feed(b"\n\n")] == [(50 * LIMIT, HEAD)]


@pytest.mark.parametrize("piece", [b"xy", b"data:\n", b"data: x\n", b":\n", b"x\n"])
def test_memory_of_small_pieces_is_little_more_than_their_bytes(piece):
    reader = SseReader(LIMIT)
    reader.feed(b"data: ")
    tracemalloc.start()
    try:
        for _ in range(30_000):
            reader.feed(piece)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 200_000  # in a list, each piece would take 8 bytes at the least, and most 40 more


# --- time ---


def test_large_line_in_small_chunks_takes_linear_time():
    reader = SseReader(1 << 30)
    chunk = b"y" * 65536
    started = time.process_time()
    reader.feed(b"data: ")
    for _ in range(1024):
        assert reader.feed(chunk) == []
    [event] = reader.feed(b"\n\n")
    assert len(event.data) == 64 << 20
    assert time.process_time() - started < 2.0  # 30 ms; copying the line for every chunk would be 32 GB


@pytest.mark.parametrize("lines", [b"data: y\n", b"data: y\r\n", b"data: y\r", b"\n", b":\r"])
def test_many_short_lines_take_linear_time(lines):
    reader = SseReader(1 << 30)
    chunk = lines * 100_000
    started = time.process_time()
    for _ in range(4):
        reader.feed(chunk)
    assert time.process_time() - started < 3.0  # 300 ms; looking at the rest of the chunk for every line would be 40 billion bytes


# --- against a reader that takes its time ---

PIECES = st.sampled_from(
    [
        *(b"data: 0123456789abcdef", b"data: x\n", b"data:\r\n", b"id: 7\n", b"event: endpoint\r"),
        *(b"data", b"data:", b"data: ", b"id: ", b"id", b"event: ", b"retry: ", b"retry:9", b":", b" ", b"foo"),
        *(b"\n", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef", b"\xbb", b"\x00"),
        *(b"x", b"12", b"message", "世".encode(), b"0123456789abcdef"),
    ]
)


def slowly(stream, limit):
    """The whole stream at once, line by line in the words of HTML 9.2.6: the events, the last id and the time to wait."""
    events, last_id, retry = [], None, None
    data, event_id, name = b"", None, b""
    lines = re.split(rb"\r\n|\r|\n", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in lines[:-1]:
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if line == b"":
            whole = data[:-1]
            if event_id is not None:
                last_id = event_id
            if len(whole) > limit:
                events.append(TooLong(whole[:HEAD], len(whole)))
            elif data or event_id is not None:
                events.append(Event(whole, event_id, name))
            data, event_id, name = b"", None, b""
        elif field == b"data":
            data += value + b"\n"
        elif len(line) > limit + 6:
            continue
        elif field == b"id" and b"\x00" not in value:
            event_id = value
        elif field == b"event":
            name = value
        elif field == b"retry" and re.fullmatch(rb"[0-9]{1,15}", value):
            retry = int(value)
    return events, last_id, retry


@st.composite
def cut_streams(draw):
    stream = b"".join(draw(st.lists(PIECES, max_size=40)))
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=60)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@given(chunks=cut_streams(), limit=st.sampled_from([0, 1, 5, 20, LIMIT]))
@example(chunks=[b"data: x\r", b"", b"\n\r", b"\n"], limit=LIMIT)
@example(chunks=[b"\xef", b"\xbb", b"\xbf\r", b"\ndata\n\n"], limit=0)
def test_every_way_to_cut_any_stream_gives_the_events_of_the_whole(chunks, limit):
    reader = SseReader(limit)
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    assert (events, reader.last_id, reader.retry_ms) == slowly(b"".join(chunks), limit)


@given(chunks=cut_streams())
def test_one_byte_at_a_time_gives_the_events_of_the_whole(chunks):
    stream = b"".join(chunks)
    assert read(*(stream[at : at + 1] for at in range(len(stream)))) == slowly(stream, LIMIT)[0]

"""Lines end with a newline and nothing else, whatever the chunks."""

from __future__ import annotations

import time

from dragoman.io.lines import HEAD, LineSplitter, TooLong


def told(items):
    return [item if isinstance(item, bytes) else ("too long", item.size, item.head) for item in items]


def test_whole_lines_come_out_as_they_are():
    splitter = LineSplitter(100)
    assert splitter.feed(b"one\ntwo\n") == [b"one", b"two"]
    assert splitter.end() == []


def test_blank_lines_are_lines():
    assert LineSplitter(100).feed(b"\n\na\n\n") == [b"", b"", b"a", b""]


def test_other_line_ends_are_data():
    data = "a\rb\u2028c\u2029d\x0be\x85f\x1cg".encode()
    assert LineSplitter(100).feed(data + b"\n") == [data]


def test_carriage_return_before_the_newline_stays():
    assert LineSplitter(100).feed(b"a\r\n") == [b"a\r"]


def test_every_way_to_cut_the_stream_gives_the_same_lines():
    stream = b"ab\n\ncdefgh\ni\n"
    for size in range(1, len(stream) + 1):
        splitter = LineSplitter(100)
        lines = [line for at in range(0, len(stream), size) for line in splitter.feed(stream[at : at + size])]
        assert lines == [b"ab", b"", b"cdefgh", b"i"]


def test_rest_without_newline_is_a_line_at_the_end():
    splitter = LineSplitter(100)
    assert splitter.feed(b"a\nb") == [b"a"]
    assert splitter.feed(b"c") == []
    assert splitter.end() == [b"bc"]
    assert splitter.end() == []


def test_every_way_to_cut_a_line_over_the_limit_skips_it_and_keeps_the_next():
    stream = b"12345\n123456\nok\n"
    for size in range(1, len(stream) + 1):
        splitter = LineSplitter(5)
        lines = [line for at in range(0, len(stream), size) for line in splitter.feed(stream[at : at + size])]
        assert told(lines) == [b"12345", ("too long", 6, b"123456"), b"ok"]


def test_line_over_the_limit_without_newline_is_told_at_the_end():
    splitter = LineSplitter(5)
    assert splitter.feed(b"1234567") == []
    assert told(splitter.end()) == [("too long", 7, b"123456"[:5] + b"67")]


def test_head_of_a_skipped_line_is_bounded_and_its_rest_is_not_kept():
    splitter = LineSplitter(1 << 20)
    block = b"x" * (1 << 20)
    for _ in range(50):
        splitter.feed(block)
    [line] = splitter.feed(b"\n")
    assert isinstance(line, TooLong)
    assert (line.size, len(line.head)) == (50 << 20, HEAD)


def test_large_line_in_small_chunks_takes_linear_time():
    splitter = LineSplitter(1 << 30)
    chunk = b"y" * 65536
    started = time.process_time()
    for _ in range(1024):
        assert splitter.feed(chunk) == []
    [line] = splitter.feed(b"\n")
    assert len(line) == 64 << 20
    assert time.process_time() - started < 2.0  # 30 ms; copying the line for every chunk would be 32 GB

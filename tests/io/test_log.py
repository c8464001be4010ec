"""stderr: one line a record, losses once a kind, never in anybody's way."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from dragoman.bridging.effects import DEBUG, ERROR, INFO, WARNING
from dragoman.io.log import Log
from dragoman.io.polled import PollEvents
from dragoman.io.threaded import ThreadEvents


@pytest.fixture(params=[PollEvents, ThreadEvents])
def events(request):
    made = request.param()
    yield made
    made.close()


@pytest.fixture
def stderr(events):
    read_end, write_end = os.pipe()

    def read(log: Log) -> str:
        log.drain(events)
        return os.read(read_end, 1 << 20).decode()

    yield write_end, read
    os.close(read_end)
    os.close(write_end)


def test_records_below_the_level_are_not_written(events, stderr):
    fd, read = stderr
    log = Log(events.outlet(fd, owned=False), WARNING)
    log.say(DEBUG, "debug")
    log.say(INFO, "info")
    log.say(WARNING, "warning")
    log.say(ERROR, "error")
    assert read(log) == "dragoman: warning\ndragoman: error: error\n"


def test_record_is_one_line_whatever_it_holds(events, stderr):
    fd, read = stderr
    log = Log(events.outlet(fd, owned=False), DEBUG)
    log.say(INFO, "one\ntwo\r\nthree \ud800")
    assert read(log) == "dragoman: one two three \\ud800\n"


def test_record_after_half_a_line_of_the_server_starts_on_its_own(events, stderr):
    fd, read = stderr
    log = Log(events.outlet(fd, owned=False), INFO)
    log.forward(b"half")
    log.say(INFO, "whole")
    assert read(log) == "half\ndragoman: whole\n"


def test_loss_is_told_once_a_kind_and_counted(events, stderr):
    fd, read = stderr
    log = Log(events.outlet(fd, owned=False), WARNING)
    assert log.summary() == "nothing was left out of a translated message"
    for change in ("b", "a", "b"):
        log.loss(change, "because")
    assert read(log) == "dragoman: not carried (b): because\ndragoman: not carried (a): because\n"
    assert log.summary() == "not carried: a 1, b 2"


def test_reader_that_left_is_no_fault(events):
    read_end, write_end = os.pipe()
    os.close(read_end)
    log = Log(events.outlet(write_end, owned=False), INFO)
    log.say(ERROR, "x")
    log.drain(events)
    log.say(ERROR, "y")
    log.drain(events)
    os.close(write_end)


def test_announced_record_is_not_said_again_by_the_core_but_only_once(events, stderr):
    fd, read = stderr
    log = Log(events.outlet(fd, owned=False), INFO)
    log.announce(ERROR, "command not found: x")
    log.say(INFO, "something else")
    for _ in range(2):
        log.say(ERROR, "the server could not be started: command not found: x")
    assert read(log).splitlines() == [
        "dragoman: error: command not found: x",
        "dragoman: something else",
        "dragoman: error: the server could not be started: command not found: x",
    ]


def test_what_a_slow_reader_misses_is_told_when_it_reads_again(events):
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    outlet = events.outlet(write_end, owned=False)
    log = Log(outlet, INFO)
    for _ in range(4):
        log.forward(b"x" * 500_000)
    log.flush()
    seen = b""
    again = False
    while not seen.endswith(b"again\n"):
        for handler, data in events.wait(0.01):
            handler(data)
        if not outlet.backlog and not again:
            again = True
            log.forward(b"again\n")
            log.flush()
        with suppress(BlockingIOError):
            seen += os.read(read_end, 1 << 20)
    assert seen.lstrip(b"x") == b"\ndragoman: 1000000 bytes of the server's stderr were dropped because nobody read ours\nagain\n"
    os.close(read_end)
    outlet.abort()
    os.close(write_end)

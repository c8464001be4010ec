"""One server's end, seen from the shell that it lives in."""

from __future__ import annotations

import os
import sys
from time import monotonic

import pytest

from dragoman.io.child import Child
from dragoman.io.events import Events
from dragoman.io.lines import TooLong
from dragoman.io.polled import PollEvents
from dragoman.io.process import start
from dragoman.io.threaded import ThreadEvents


class Home:
    """Keeps what it is told, in order."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.told: list[bytes | TooLong | str] = []

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        self.told += lines

    def stderr(self, data: bytes) -> None:
        pass

    def lost(self, child: Child, reason: str) -> None:
        self.told.append(reason)


class ClosingHome(Home):
    """Closes the server at its first line."""

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        super().heard(child, lines)
        child.close(0.1)


@pytest.fixture(params=[PollEvents, ThreadEvents])
def events(request):
    made = request.param()
    yield made
    made.close()


def live(home: Home, code: str) -> Child:
    child = Child(start([sys.executable, "-S", "-c", code], dict(os.environ), None), "the server", home, 1000)
    child.open(1)
    return child


def turn(home: Home, child: Child) -> None:
    for handler, data in home.events.wait(0.01):
        handler(data)
    child.tick(monotonic())


def end(home: Home, child: Child) -> None:
    child.close(0.1)
    while not child.ended:
        turn(home, child)


@pytest.mark.parametrize(
    ("then", "reason"),
    [("time.sleep(1000)", "the server closed its stdout but is still running"), ("os._exit(3)", "the server exited with status 3")],
)
def test_last_line_without_newline_is_told_together_with_the_loss(events, then, reason):
    home = Home(events)
    child = live(home, f"import os, time; os.write(1, b'part'); os.close(1); {then}")
    while not home.told:
        turn(home, child)
    assert home.told == [b"part", reason]
    end(home, child)
    assert home.told == [b"part", reason]


def test_whole_lines_are_told_before_the_end(events):
    home = Home(events)
    child = live(home, "import os, time; os.write(1, b'whole\\n'); os.read(0, 1); os.write(1, b'part')")
    while not home.told:
        turn(home, child)
    assert home.told == [b"whole"]
    child.write(b"x")
    child.outlet.flush()
    while len(home.told) < 2:
        turn(home, child)
    assert home.told == [b"whole", b"part", "the server exited with status 0"]
    end(home, child)


def test_loss_is_not_told_if_the_last_line_makes_the_core_close_the_server(events):
    home = ClosingHome(events)
    child = live(home, "import os; os.write(1, b'part')")
    while not child.ended:
        turn(home, child)
    assert home.told == [b"part"]

"""Pipes get bigger for big lines only."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from dragoman.io.pipes import widen

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets pipes grow")
MEGABYTE = 1 << 20
ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line)\n    sys.stdout.buffer.flush()\n"


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for fd in ends:
        os.close(fd)


@pytest.fixture
def may_grow(pipe):
    """Whether the user's quota has room left is no matter of these tests."""
    try:
        fcntl.fcntl(pipe[0], fcntl.F_SETPIPE_SZ, MEGABYTE)
    except OSError:
        pytest.skip("the user's pipes may not grow")


def sizes(bridge) -> list[int]:
    return [fcntl.fcntl(stream.fileno(), fcntl.F_GETPIPE_SZ) for stream in (bridge.process.stdin, bridge.process.stdout)]


def test_small_lines_leave_the_pipes_alone(relay):
    bridge = relay(ECHO)
    before = sizes(bridge)
    for size in (1, 1000, 60_000):
        bridge.send(b"x" * size + b"\n")
        assert bridge.line() == b"x" * size
    assert sizes(bridge) == before


def test_big_line_widens_the_pipes_of_the_client(relay, may_grow):
    bridge = relay(ECHO)
    line = b"x" * 3_000_000 + b"\n"
    writer = threading.Thread(target=bridge.send, args=(line,))
    writer.start()
    assert bridge.take(len(line)) == line
    writer.join()
    assert sizes(bridge) == [MEGABYTE, MEGABYTE]


def test_big_line_widens_the_pipes_of_the_server(relay, may_grow):
    bridge = relay(
        f"import sys, fcntl; line = input(); print('x' * {MEGABYTE}, flush=True); input()\n"
        "print([fcntl.fcntl(stream, fcntl.F_GETPIPE_SZ) for stream in (0, 1)])"
    )
    writer = threading.Thread(target=bridge.send, args=(b"x" * MEGABYTE + b"\n",))
    writer.start()
    assert bridge.take(MEGABYTE + 1) == b"x" * MEGABYTE + b"\n"
    writer.join()
    bridge.send(b"\n")
    assert bridge.line() == b"[1048576, 1048576]"


def test_what_is_no_pipe_or_not_open_stays_as_it_is(tmp_path: Path):
    with (tmp_path / "file").open("wb") as file:
        widen(file.fileno())
        number = file.fileno()
    widen(number)

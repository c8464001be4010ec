"""Descriptors in an event loop: reading with backpressure, writing without waiting, both kinds of loops."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import uvloop

from dragoman.serve.events import LoopEvents


def descriptors() -> int:
    """How many this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


Body = Callable[["Desk"], Awaitable[None]]


class Desk:
    """The events, and what happened."""

    def __init__(self) -> None:
        self.told: list[bytes] = []
        self.changed = asyncio.Event()
        self.turns = 0
        self.events = LoopEvents(asyncio.get_running_loop(), self._happened)

    def tell(self, data: bytes) -> None:
        self.told.append(data)

    def _happened(self) -> None:
        self.turns += 1
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 10)

    async def turn(self, times: int = 3) -> None:
        """Let the loop look at its descriptors."""
        for _ in range(times):
            await asyncio.sleep(0)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def at_the_desk(request):
    async def with_desk(body: Body) -> None:
        await body(Desk())

    def run(body: Body) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(with_desk(body))

    return run


def test_everything_is_read_up_to_the_end_which_is_told_once(at_the_desk):
    async def body(desk: Desk) -> None:
        read, write = os.pipe()
        desk.events.watch(read, desk.tell)
        os.write(write, b"one")
        await desk.until(lambda: desk.told == [b"one"])
        os.write(write, b"two")
        os.close(write)
        await desk.until(lambda: desk.told[-1] == b"")
        await desk.turn()
        assert desk.told == [b"one", b"two", b""]
        desk.events.release(read)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(read)

    at_the_desk(body)


def test_paused_descriptor_is_not_read_and_resumed_one_is(at_the_desk):
    async def body(desk: Desk) -> None:
        read, write = os.pipe()
        desk.events.watch(read, desk.tell)
        desk.events.pause(read)
        os.write(write, b"later")
        await desk.turn()
        assert desk.told == []
        desk.events.resume(read)
        await desk.until(lambda: desk.told == [b"later"])
        os.close(write)
        desk.events.release(read)

    at_the_desk(body)


def test_unknown_descriptors_are_fine():
    async def body() -> None:
        events = LoopEvents(asyncio.get_running_loop(), lambda: None)
        events.pause(999)
        events.resume(999)
        events.forget_peer(999)

    asyncio.run(body())


def test_outlet_keeps_what_the_peer_does_not_take_yet(at_the_desk):
    async def body(desk: Desk) -> None:
        read, write = os.pipe()
        outlet = desk.events.outlet(write, owned=True)
        data = bytes(range(256)) * 4096
        outlet.write(data)
        outlet.flush()
        assert 0 < outlet.backlog < len(data)
        taken: list[bytes] = []
        desk.events.watch(read, taken.append)
        await desk.until(lambda: outlet.backlog == 0)
        outlet.close()
        await desk.until(lambda: taken[-1] == b"")
        assert b"".join(taken) == data
        desk.events.release(read)

    at_the_desk(body)


def test_peer_that_leaves_is_noticed_when_something_is_written(at_the_desk):
    async def body(desk: Desk) -> None:
        read, write = os.pipe()
        outlet = desk.events.outlet(write, owned=True)
        left: list[bool] = []
        outlet.on_gone = lambda: left.append(True)
        outlet.write(b"x" * 1_000_000)
        outlet.flush()
        os.close(read)
        await desk.until(lambda: outlet.gone)
        assert (left, outlet.dropped, outlet.backlog) == ([True], True, 0)

    at_the_desk(body)


def test_regular_file_takes_everything(at_the_desk, tmp_path: Path):
    async def body(desk: Desk) -> None:
        fd = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
        outlet = desk.events.outlet(fd, owned=True)
        outlet.write(b"line\n" * 100_000)
        outlet.flush()
        assert outlet.backlog == 0
        outlet.close()

    at_the_desk(body)
    assert (tmp_path / "log").read_bytes() == b"line\n" * 100_000


def test_file_that_a_loop_cannot_watch_is_tried_again(at_the_desk, tmp_path: Path):
    async def body(desk: Desk) -> None:
        fd = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
        desk.events.watch_peer(fd, desk.tell)
        desk.events.want_write(fd, wanted=True)
        await desk.until(lambda: len(desk.told) >= 2)
        desk.events.want_write(fd, wanted=False)
        desk.events.forget_peer(fd)
        os.close(fd)

    at_the_desk(body)


def test_handler_posted_from_another_thread_is_called_in_the_loop(at_the_desk):
    async def body(desk: Desk) -> None:
        here = threading.get_ident()
        called: list[int] = []
        thread = threading.Thread(target=desk.events.post, args=(lambda data: called.append(threading.get_ident()),))
        thread.start()
        await desk.until(lambda: bool(called))
        thread.join()
        assert (called, desk.turns) == ([here], 1)

    at_the_desk(body)


def test_reopened_pipe_is_closed_with_its_outlet(at_the_desk):
    async def body(desk: Desk) -> None:
        read, write = os.pipe()
        before = descriptors()
        outlet = desk.events.outlet(write, owned=False)
        outlet.write(b"shared")
        outlet.flush()
        outlet.abort()
        assert descriptors() == before
        assert os.read(read, 100) == b"shared"
        os.close(read)
        os.close(write)

    at_the_desk(body)

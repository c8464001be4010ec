"""Threads for handlers that are not async.

Unlike those of ``concurrent.futures`` they are daemons: a handler that blocks for ever is not waited for when the process ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Job = tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]]


class Threads:
    """At most ``most`` threads, each started when there is work and no other is idle."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._running = 0
        self._free = 0  # threads that wait, less the jobs that wait for them

    def run(self, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Call it in a thread; the outcome is a future of the running loop. Cancelling that keeps a call from starting, but ends none."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._jobs.put((loop, future, call))
        with self._lock:
            if self._free > 0 or self._running == self._most:
                self._free -= 1
            else:
                self._running += 1
                threading.Thread(target=self._work, name=f"dragoman-{self._running}", daemon=True).start()
        return future

    def close(self) -> None:
        """Let threads go when they have nothing more to do."""
        for _ in range(self._running):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, future, call = job
            if not future.cancelled():
                _carry_out(loop, future, call)
            del job, future, call
            with self._lock:
                self._free += 1


def _carry_out(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], call: Callable[[], Any]) -> None:
    try:
        outcome, fault = call(), None
    except BaseException as raised:  # noqa: BLE001 - it belongs to whoever awaits the future
        outcome, fault = None, raised
    try:
        loop.call_soon_threadsafe(_settle, future, outcome, fault)
    except RuntimeError:  # the loop has ended meanwhile, and with it whoever waited
        return


def _settle(future: asyncio.Future[Any], outcome: Any, fault: BaseException | None) -> None:
    if future.done():
        return
    if fault is None:
        future.set_result(outcome)
    elif isinstance(fault, StopIteration | KeyboardInterrupt):  # a future cannot hold the one, and the other would end the loop
        future.set_exception(RuntimeError(f"a handler raised {type(fault).__name__}"))
    else:
        future.set_exception(fault)

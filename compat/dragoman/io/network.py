"""An event loop of its own thread, for HTTP beside a shell that waits for descriptors (``dragoman wrap URL``)."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from dragoman.io.events import Events

T = TypeVar("T")
_STOP_WAIT = 3.0


class Network:
    """See ``http_child.Link``. The thread ends with the process at the latest."""

    def __init__(self, events: Events) -> None:
        self.loop = _new_loop()
        self._calls: deque[Callable[[], object]] = deque()
        self._woken = False
        self._events = events
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="network", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not (
            self._stopping or self.loop.is_closed()
        ):  # what ends a loop before its time (a task's SystemExit) is no matter of the others in it
            try:
                self.loop.run_forever()
            except BaseException as fault:  # noqa: BLE001 - see above
                self.loop.call_exception_handler({"message": "something has tried to end the loop", "exception": fault})

    def into_loop(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the loop call it."""
        self._calls.append(partial(call, *arguments))
        if not self._woken:  # else the loop has yet to take up the calls before, and takes this with them
            self._woken = True
            self.loop.call_soon_threadsafe(self._carry)

    def _carry(self) -> None:
        self._woken = False  # before the queue is looked at: what comes from now on wakes again
        while self._calls:
            call = self._calls.popleft()
            try:
                call()
            except Exception as fault:  # noqa: BLE001 - a fault of one call costs that call, not those behind it
                self.loop.call_exception_handler({"message": "a call into the loop failed", "exception": fault})

    def into_shell(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the shell call it."""

        def carry(_: bytes) -> None:
            call(*arguments)

        self._events.post(carry)

    tell_shell = into_shell

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def begin(self, coroutine: Coroutine[Any, Any, T], then: Callable[[T], object]) -> None:
        """Run a coroutine in the loop, and have the shell told of its result. It must not raise."""

        def done(task: asyncio.Task[T]) -> None:
            if not task.cancelled():
                self.into_shell(then, task.result())

        def start() -> None:
            self.loop.create_task(coroutine).add_done_callback(done)

        self.into_loop(start)

    def stop(self) -> None:
        """End every task, then the thread."""

        async def end() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        try:
            asyncio.run_coroutine_threadsafe(end(), self.loop).result(_STOP_WAIT)
        except TimeoutError:
            pass
        self._stopping = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_STOP_WAIT)
        if not self._thread.is_alive():
            self.loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    """Uvloop's where there is one: a sixth of the processor time of a call."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop

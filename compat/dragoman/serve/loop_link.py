"""Calls between a house and a server that is no process of its own: both live in one loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LoopLink:
    """See ``io.link.Link``: there is one thread, so that calls into the loop happen at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()

    def into_loop(self, call: Callable[..., object], *arguments: object) -> None:
        """Call it."""
        call(*arguments)

    def tell_shell(self, call: Callable[..., object], *arguments: object) -> None:
        """Call it."""
        call(*arguments)

    def into_shell(self, call: Callable[..., object], *arguments: object) -> None:
        """Call it soon: the core is not to be asked while it is heard."""
        self.loop.call_soon(call, *arguments)

    def begin(self, coroutine: Coroutine[Any, Any, T], then: Callable[[T], object]) -> None:
        """Run a coroutine beside everything else."""
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)

        def done(task: asyncio.Task[T]) -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                then(task.result())

        task.add_done_callback(done)

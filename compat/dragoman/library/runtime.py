"""A server at work in one event loop: its dispatcher, and what its lifespan has made."""

from __future__ import annotations

import asyncio
import os
import time

from dragoman.bridging.sealing import AeadSealer
from dragoman.library.dispatch import Dispatcher
from dragoman.library.server import Server

_FAREWELL = 10.0  # what the end of a lifespan may take
_LAST = 1.0


class Runtime:
    """See the module. ``key`` is the secret for ``requestState`` and sealed handles; None: one of this process alone.

    The lifespan is entered and left by one task, since what it holds may belong to that (task groups do).
    """

    def __init__(self, server: Server, key: bytes | None) -> None:
        self.server = server
        self.dispatcher = Dispatcher(server, AeadSealer(key, os.urandom), time.time)
        self.ready = server.lifespan is None
        self._entered: asyncio.Future[None] | None = None
        self._leave: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Enter the lifespan, once, whoever asks. Raises what it raises; the next one tries again."""
        if self.ready:
            return
        if self._entered is None:
            self._entered = asyncio.get_running_loop().create_future()
            self._leave = asyncio.Event()
            self._task = asyncio.create_task(self._live(self._entered, self._leave))
        await asyncio.shield(self._entered)

    async def _live(self, entered: asyncio.Future[None], leave: asyncio.Event) -> None:
        assert self.server.lifespan is not None
        try:
            async with self.server.lifespan(self.server) as self.dispatcher.state:
                self.ready = True
                entered.set_result(None)
                await leave.wait()
                self._left(entered)
        except BaseException as fault:
            if entered.done():
                raise  # on leaving: whoever closes hears of it
            wrapped = fault if isinstance(fault, Exception) else RuntimeError(f"the lifespan raised {type(fault).__name__}")
            entered.set_exception(wrapped)
            entered.exception()  # it may be that nobody waits for it
            if not isinstance(fault, Exception | GeneratorExit):
                raise
        finally:
            self._left(entered)

    def _left(self, entered: asyncio.Future[None]) -> None:
        """Whoever comes now enters anew."""
        if self._entered is entered:
            self.ready, self._entered, self.dispatcher.state = False, None, None

    async def close(self) -> None:
        """Leave the lifespan; the next request would enter it again. Raises what the lifespan raises."""
        self.dispatcher.close()
        task, self._task = self._task, None
        if task is None or self._leave is None:
            return
        self._leave.set()
        if not self.ready:  # it has not come to the end of its beginning, and nobody waits for that any more
            task.cancel()
        await asyncio.wait([task], timeout=_FAREWELL)
        if not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=_LAST)
        if not task.done():
            raise TimeoutError("the lifespan has not ended")
        if not task.cancelled():
            task.result()

"""Descriptors in a running asyncio loop: the loop waits, and calls us when there is something to read or room to write.

Theory of operation: each readable descriptor is read once a turn of the loop, so a server that never stops talking cannot keep
the others from being heard. The pipes are ours alone, so they are non-blocking; ``PolledOutlet`` writes, as it does for
``dragoman wrap``. A loop cannot watch a descriptor for nothing but its peer's leaving, so that is noticed at the next write.
"""

from __future__ import annotations

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable

from dragoman.io.events import CHUNK, Handler
from dragoman.io.outlet import Outlet
from dragoman.io.polled import BIG_CHUNK, PolledOutlet

_RETRY = 0.05  # what an event loop cannot watch (a regular file on a full disk) is tried again after so long


class LoopEvents:
    """``Descriptors`` of a loop. ``happened`` is called after every handler."""

    def __init__(self, loop: AbstractEventLoop, happened: Callable[[], None]) -> None:
        self._loop = loop
        self._happened = happened
        self._readers: dict[int, Handler] = {}
        self._writers: dict[int, Handler] = {}
        self._sizes: dict[int, int] = {}
        self._retried: set[int] = set()

    def watch(self, fd: int, handler: Handler) -> None:
        """Read ``fd`` from now on."""
        os.set_blocking(fd, False)
        self._readers[fd] = handler
        self._sizes[fd] = CHUNK
        self._loop.add_reader(fd, self._read, fd)

    def pause(self, fd: int) -> None:
        """Stop reading for a while."""
        if fd in self._readers:
            self._loop.remove_reader(fd)

    def resume(self, fd: int) -> None:
        """Read again."""
        if fd in self._readers:
            self._loop.add_reader(fd, self._read, fd)

    def release(self, fd: int) -> None:
        """Stop reading, and close."""
        self._forget(fd)
        os.close(fd)

    def outlet(self, fd: int, owned: bool) -> Outlet:
        """A writer to ``fd``."""
        return PolledOutlet(fd, owned, self)

    def post(self, handler: Handler) -> None:
        """Have the loop call ``handler``; from any thread."""
        self._loop.call_soon_threadsafe(self._handle, handler)

    # -- for PolledOutlet

    def watch_peer(self, fd: int, handler: Handler) -> None:
        """Remember whom to call when ``fd`` can take more."""
        self._writers[fd] = handler

    def want_write(self, fd: int, *, wanted: bool) -> None:
        """Whether it shall be called."""
        self._retried.discard(fd)
        if not wanted:
            self._loop.remove_writer(fd)
            return
        try:
            self._loop.add_writer(fd, self._write, fd)
        except OSError:
            self._retried.add(fd)
            self._loop.call_later(_RETRY, self._retry, fd)

    def forget_peer(self, fd: int) -> None:
        """Undo ``watch_peer``."""
        if self._writers.pop(fd, None) is not None:
            self._retried.discard(fd)
            self._loop.remove_writer(fd)

    # -- called by the loop

    def _read(self, fd: int) -> None:
        handler = self._readers[fd]
        try:
            data = os.read(fd, self._sizes[fd])
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._sizes[fd] = BIG_CHUNK if len(data) >= CHUNK else CHUNK
        else:
            self._forget(fd)
        handler(data)
        self._happened()

    def _write(self, fd: int) -> None:
        handler = self._writers.get(fd)
        if handler is not None:
            self._handle(handler)

    def _retry(self, fd: int) -> None:
        if fd in self._retried:
            self._loop.call_later(_RETRY, self._retry, fd)
            self._write(fd)

    def _handle(self, handler: Handler) -> None:
        handler(b"")
        self._happened()

    def _forget(self, fd: int) -> None:
        if self._readers.pop(fd, None) is not None:
            self._loop.remove_reader(fd)
            del self._sizes[fd]

"""Descriptors anywhere: a thread for each, and one queue to the main loop.

Theory of operation: each reading thread may have one chunk outstanding, so a paused source stops its peer as a full pipe does.
A writing thread may block; it is started with the first frame. Nobody closes a descriptor under a thread that uses it: the
thread does it itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic

from dragoman.io.events import CHUNK, Handler
from dragoman.io.outlet import LOW_WATER, Outlet, nothing

BIG_WRITE = 1024 * 1024


def _ignore(_: bytes) -> None:
    """A wake-up is all there is to it."""


class _Reader:
    """The thread behind one descriptor of ``ThreadEvents``."""

    def __init__(self, fd: int, handler: Handler, put: Callable[[tuple[_Reader, bytes]], None]) -> None:
        from threading import Semaphore, Thread

        self.fd = fd
        self.handler = handler
        self.paused = False
        self.owed = 0.0  # since when a chunk that was taken while paused has not been followed by the next
        self.ended = False
        self.close = False
        self.turn = Semaphore(1)
        self._put = put
        Thread(target=self._run, daemon=True, name=f"reader of {fd}").start()

    def _run(self) -> None:
        data = b"-"
        while data:
            self.turn.acquire()
            if self.ended:
                break
            try:
                data = os.read(self.fd, CHUNK)
            except OSError:
                data = b""
            self._put((self, data))
        if self.close:
            os.close(self.fd)


class ThreadEvents:
    """A thread a descriptor, one queue."""

    # Python cannot interrupt a wait on a lock for Ctrl-C on Windows, so we look up now and then.
    _LONGEST = 0.25
    _PACE = 1.0

    def __init__(self) -> None:
        from queue import SimpleQueue

        self._queue: SimpleQueue[tuple[_Reader, bytes] | Handler | None] = SimpleQueue()
        self._readers: dict[int, _Reader] = {}

    def watch(self, fd: int, handler: Handler) -> None:
        """Read ``fd`` from now on."""
        self._readers[fd] = _Reader(fd, handler, self._queue.put)

    def pause(self, fd: int) -> None:
        """Stop reading for a while."""
        if fd in self._readers:
            self._readers[fd].paused = True

    def resume(self, fd: int) -> None:
        """Read again."""
        reader = self._readers.get(fd)
        if reader is not None and reader.paused:
            reader.paused = False
            if reader.owed:
                reader.owed = 0.0
                reader.turn.release()

    def release(self, fd: int) -> None:
        """Stop reading, and close."""
        reader = self._readers.pop(fd, None)
        if reader is None:
            os.close(fd)
        else:  # closing a descriptor under a thread that reads it is not safe: the thread does it
            reader.close = True
            reader.ended = True
            reader.turn.release()

    def outlet(self, fd: int, owned: bool) -> Outlet:
        """A writer to ``fd``."""
        return ThreadedOutlet(fd, owned, self.post)

    def post(self, handler: Handler) -> None:
        """Have the main loop call ``handler``."""
        self._queue.put(handler)

    def wake(self) -> None:
        """End the wait."""
        self._queue.put(None)

    def wait(self, timeout: float | None) -> list[tuple[Handler, bytes]]:
        """What happened."""
        from queue import Empty

        happened: list[tuple[Handler, bytes]] = []
        self._trickle()
        longest = self._LONGEST if timeout is None else max(0.0, min(timeout, self._LONGEST))
        try:
            item = self._queue.get(timeout=longest)
            while True:
                self._take(item, happened)
                item = self._queue.get_nowait()
        except Empty:
            return happened

    def close(self) -> None:
        """Give back what is held here."""
        for fd in list(self._readers):
            self._readers.pop(fd).ended = True

    def _trickle(self) -> None:
        """A paused source is read a chunk a second all the same, or its end would never be seen."""
        for reader in self._readers.values():
            if reader.owed and monotonic() - reader.owed > self._PACE:
                reader.owed = 0.0
                reader.turn.release()

    def _take(self, item: tuple[_Reader, bytes] | Handler | None, happened: list[tuple[Handler, bytes]]) -> None:
        if item is None:
            return
        if not isinstance(item, tuple):
            happened.append((item, b""))
            return
        reader, data = item
        if reader.ended:
            return
        happened.append((reader.handler, data))
        if not data:
            reader.ended = True
            del self._readers[reader.fd]
        elif reader.paused:
            reader.owed = monotonic()
        else:
            reader.turn.release()


class ThreadedOutlet:
    """A thread of its own that may block; started with the first frame."""

    def __init__(self, fd: int, owned: bool, post: Callable[[Callable[[bytes], None]], None]) -> None:
        from threading import Condition

        self.backlog = 0
        self.gone = False
        self.dropped = False
        self.on_gone = nothing
        self._fd = fd
        self._owned = owned
        self._post = post
        self._changed = Condition()
        self._queue: list[bytes] = []
        self._closing = False
        self._running = False
        self._closed = False

    def write(self, data: bytes) -> None:
        """Queue a frame."""
        if self.gone or self._closing:
            return
        with self._changed:
            self.backlog += len(data)
            self._queue.append(data)

    def flush(self) -> None:
        """Send what can be sent."""
        if not self._queue or self.gone:
            return
        if not self._running:
            from threading import Thread

            self._running = True
            Thread(target=self._run, daemon=True, name=f"writer of {self._fd}").start()
        with self._changed:
            self._changed.notify()

    def close(self) -> None:
        """Close once everything is written."""
        self._closing = True
        self._end()

    def abort(self) -> None:
        """Drop what is queued, and close."""
        with self._changed:
            self.gone = True
            self._closing = True
            self._queue.clear()
            self.backlog = 0
        self._end()

    def _end(self) -> None:
        self.flush()
        with self._changed:
            if self._running:  # the thread closes the descriptor: never under its hands
                self._changed.notify()
            else:
                self._close()

    def _close(self) -> None:
        if self._owned and not self._closed:
            self._closed = True
            os.close(self._fd)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._closing:
                    self._changed.wait()
                chunks, self._queue = self._queue, []
            if not chunks:
                break
            try:
                self._send(b"".join(chunks))
            except OSError:  # EPIPE; EINVAL on Windows
                self._leave()
                break
        with self._changed:
            self._running = False
            self._close()

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view and not self.gone:
            sent = os.write(self._fd, view[:BIG_WRITE])
            view = view[sent:]
            with self._changed:
                before = self.backlog
                self.backlog = max(0, before - sent)
                low = before > LOW_WATER >= self.backlog
            if low:
                self._post(_ignore)

    def _leave(self) -> None:
        with self._changed:
            told = self.gone
            self.gone = self.dropped = True
            self._queue.clear()
            self.backlog = 0
        if not told:
            self._post(lambda _: self.on_gone())

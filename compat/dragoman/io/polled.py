"""Descriptors on POSIX: ``poll(2)`` for reading and writing, all in the main loop.

Theory of operation: a descriptor is read only when the kernel says that it is readable, so the standard descriptors that we
were given never need ``O_NONBLOCK``: the flag would be set for everybody who shares them. For writing that is not enough,
since a write of more than fits blocks. Pipes of our own are non-blocking; for those that we were given ``_sender`` finds a way
that cannot block. ``poll`` and not ``epoll``, which refuses regular files (``dragoman wrap … < frames``).
"""

from __future__ import annotations

import os
import select
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from dragoman.io.events import CHUNK, Handler
from dragoman.io.outlet import Outlet, nothing

JOIN = 64 * 1024  # small frames are joined up to this much for one system call
BIG_CHUNK = 1024 * 1024
PIPE_BUF = 4096
_BAD = select.POLLERR | select.POLLHUP | select.POLLNVAL


class PollEvents:
    """``poll(2)``: unlike ``epoll`` it takes regular files too (``dragoman wrap … < frames``)."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._masks: dict[int, int] = {}
        self._readers: dict[int, Handler] = {}
        self._writers: dict[int, Handler] = {}
        self._sizes: dict[int, int] = {}
        self._posted: deque[Handler] = deque()
        self._woken = False
        self._wake_read, self.wake_fd = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self.wake_fd, False)
        self._poll.register(self._wake_read, select.POLLIN)

    def watch(self, fd: int, handler: Handler) -> None:
        """Read ``fd`` from now on."""
        self._readers[fd] = handler
        self._sizes[fd] = CHUNK
        self._want(fd, self._masks.get(fd, 0) | select.POLLIN)

    def pause(self, fd: int) -> None:
        """Stop reading for a while."""
        if fd in self._readers:
            self._want(fd, self._masks[fd] & ~select.POLLIN)

    def resume(self, fd: int) -> None:
        """Read again."""
        if fd in self._readers:
            self._want(fd, self._masks[fd] | select.POLLIN)

    def release(self, fd: int) -> None:
        """Stop reading, and close."""
        self._forget(fd)
        os.close(fd)

    def watch_peer(self, fd: int, handler: Handler) -> None:
        """Call ``handler(b"gone")`` when nobody is left to read what is written to ``fd``."""
        self._writers[fd] = handler
        self._want(fd, self._masks.get(fd, 0))

    def want_write(self, fd: int, *, wanted: bool) -> None:
        """Whether ``watch_peer``'s handler shall be called, with ``b""``, when ``fd`` can take more."""
        mask = self._masks[fd]
        self._want(fd, mask | select.POLLOUT if wanted else mask & ~select.POLLOUT)

    def forget_peer(self, fd: int) -> None:
        """Undo ``watch_peer``."""
        self._writers.pop(fd, None)
        if fd not in self._readers and self._masks.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def outlet(self, fd: int, owned: bool) -> Outlet:
        """A writer to ``fd``."""
        return PolledOutlet(fd, owned, self)

    def post(self, handler: Handler) -> None:
        """Have the main loop call ``handler``."""
        self._posted.append(handler)
        if not self._woken:  # else the loop has yet to take up what was posted before, and takes this with it
            self._woken = True
            self.wake()

    def wake(self) -> None:
        """End the wait."""
        with suppress(OSError):  # full: a wake-up is already on its way; closed: nobody waits any more
            os.write(self.wake_fd, b"\0")

    def wait(self, timeout: float | None) -> list[tuple[Handler, bytes]]:
        """What happened."""
        happened: list[tuple[Handler, bytes]] = []
        for fd, flags in self._poll.poll(None if timeout is None else max(0.0, timeout * 1000)):
            if flags == select.POLLIN and fd in self._readers:  # nearly always
                self._read(fd, happened)
                continue
            if fd == self._wake_read:
                os.read(fd, CHUNK)
                self._woken = False  # before the queue is looked at: what is posted from now on wakes again
                continue
            if flags & (select.POLLOUT | select.POLLERR | select.POLLHUP) and fd in self._writers:
                happened.append((self._writers[fd], b"" if flags & select.POLLOUT and not flags & _BAD else b"gone"))
            # A paused source whose writers are gone reports nothing but POLLHUP, for ever: what is left in the pipe
            # is little, and its end must be seen, so it is read in spite of the pause.
            if flags & (select.POLLIN | _BAD) and fd in self._readers:
                self._read(fd, happened)
        while self._posted:
            happened.append((self._posted.popleft(), b""))
        return happened

    def close(self) -> None:
        """Give back what is held here."""
        os.close(self._wake_read)
        os.close(self.wake_fd)

    def _read(self, fd: int, happened: list[tuple[Handler, bytes]]) -> None:
        size = self._sizes[fd]
        try:
            data = os.read(fd, size)
        except BlockingIOError:
            return
        except OSError:  # EIO of a terminal that went away
            data = b""
        happened.append((self._readers[fd], data))
        if not data:
            self._forget(fd)
        else:
            self._sizes[fd] = BIG_CHUNK if len(data) >= CHUNK else CHUNK

    def _want(self, fd: int, mask: int) -> None:
        if self._masks.get(fd) != mask:
            self._masks[fd] = mask
            self._poll.register(fd, mask)

    def _forget(self, fd: int) -> None:
        if self._readers.pop(fd, None) is None:
            return
        if fd in self._writers:
            self._want(fd, self._masks[fd] & ~select.POLLIN)
        else:
            del self._masks[fd]
            self._poll.unregister(fd)


class Peers(Protocol):
    """What a ``PolledOutlet`` needs of its events."""

    def watch_peer(self, fd: int, handler: Handler) -> None:
        """See ``PollEvents``."""

    def want_write(self, fd: int, *, wanted: bool) -> None:
        """See ``PollEvents``."""

    def forget_peer(self, fd: int) -> None:
        """See ``PollEvents``."""


class PolledOutlet:
    """Writes from the main loop, as much as the peer takes."""

    def __init__(self, fd: int, owned: bool, events: Peers) -> None:
        self.backlog = 0
        self.gone = False
        self.dropped = False
        self.on_gone = nothing
        self._events = events
        self._queue: deque[bytes | memoryview] = deque()
        self._waiting = False
        self._closing = False
        self._fd, self._send = _sender(fd, owned)
        self._owned = owned or self._fd != fd
        events.watch_peer(self._fd, self._ready)

    def write(self, data: bytes) -> None:
        """Queue a frame."""
        if self.gone or self._closing:
            return
        self._queue.append(data)
        self.backlog += len(data)
        if self.backlog >= JOIN:
            self.flush()

    def flush(self) -> None:
        """Send what can be sent."""
        if not self._waiting and not self.gone:
            self._pump()

    def close(self) -> None:
        """Close once everything is written."""
        self._closing = True
        self.flush()

    def abort(self) -> None:
        """Drop what is queued, and close."""
        self._drop()

    def _ready(self, fault: bytes) -> None:
        if fault:  # the reader left
            self._leave()
        elif not self.gone:
            self._pump()

    def _pump(self) -> None:
        queue = self._queue
        try:
            while queue:
                chunk = queue.popleft() if len(queue) == 1 else self._joined()
                sent = self._send(chunk)
                self.backlog -= sent
                if sent < len(chunk):
                    queue.appendleft(memoryview(chunk)[sent:])
                    self._wait(wanted=True)
                    return
        except OSError:  # EPIPE, ECONNRESET …
            self.dropped = True
            self._leave()
            return
        if self._waiting:
            self._wait(wanted=False)
        if self._closing:
            self._drop()

    def _joined(self) -> bytes | memoryview:
        """The next two or more chunks as one, if they are small."""
        queue = self._queue
        chunk = queue.popleft()
        if len(chunk) + len(queue[0]) > JOIN:
            return chunk
        parts = [chunk]
        size = len(chunk)
        while queue and size + len(queue[0]) <= JOIN:
            size += len(queue[0])
            parts.append(queue.popleft())
        return b"".join(parts)

    def _wait(self, *, wanted: bool) -> None:
        if self._waiting != wanted:
            self._waiting = wanted
            self._events.want_write(self._fd, wanted=wanted)

    def _leave(self) -> None:
        if not self.gone:
            self.dropped = self.dropped or bool(self._queue)
            self._drop()
            self.on_gone()

    def _drop(self) -> None:
        if not self.gone:
            self.gone = True
            self._queue.clear()
            self.backlog = 0
            self._events.forget_peer(self._fd)
            if self._owned:
                os.close(self._fd)


def _sender(fd: int, owned: bool) -> tuple[int, Callable[[bytes | memoryview], int]]:
    """The descriptor to write to and a function that writes what fits (0 … all) and never blocks."""
    import stat

    mode = os.fstat(fd).st_mode
    if owned:
        os.set_blocking(fd, False)
    elif stat.S_ISFIFO(mode) and sys.platform == "linux":
        try:  # opening it anew gives a description of our own, with flags of our own
            fd = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            owned = True
        except OSError:
            pass
    elif stat.S_ISSOCK(mode):
        return fd, _socket_sender(fd)
    elif stat.S_ISREG(mode):
        owned = True
    return fd, _nonblocking_sender(fd) if owned else _careful_sender(fd)


def _nonblocking_sender(fd: int) -> Callable[[bytes | memoryview], int]:
    def send(data: bytes | memoryview) -> int:
        try:
            return os.write(fd, data)
        except BlockingIOError:
            return 0

    return send


def _socket_sender(fd: int) -> Callable[[bytes | memoryview], int]:
    """Hosts built on libuv give us socket pairs as standard streams."""
    import socket

    peer = socket.socket(fileno=os.dup(fd))

    def send(data: bytes | memoryview) -> int:
        try:
            return peer.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    return send


def _careful_sender(fd: int) -> Callable[[bytes | memoryview], int]:
    """A blocking pipe that reports room takes PIPE_BUF bytes without blocking (pipe(7)), but maybe not one more."""
    poll = select.poll()
    poll.register(fd, select.POLLOUT)

    def send(data: bytes | memoryview) -> int:
        sent = 0
        view = memoryview(data)
        while sent < len(view) and poll.poll(0):
            try:
                sent += os.write(fd, view[sent : sent + PIPE_BUF])
            except BlockingIOError:
                break
        return sent

    return send

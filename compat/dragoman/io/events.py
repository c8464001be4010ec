"""What happened on the descriptors: one small interface, three ways to find out.

The main loop is the only thread that runs the core. It calls ``wait`` and gets (handler, bytes) pairs; ``b""`` means end of
file, once. ``polled.PollEvents`` asks the kernel (POSIX); ``threaded.ThreadEvents`` has a thread a descriptor and works on
anything that can be read (Windows). In an event loop (``serve.events.LoopEvents``) it is the loop that waits and calls the
handlers, so what a server's end needs is ``Descriptors`` alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Protocol

from dragoman.io.outlet import Outlet

Handler = Callable[[bytes], None]
CHUNK = 64 * 1024


class Descriptors(Protocol):
    """Readable and writable descriptors; whoever waits for them calls the handlers."""

    def watch(self, fd: int, handler: Handler) -> None:
        """Read ``fd`` from now on; ``handler`` gets every chunk, then ``b""`` once."""

    def pause(self, fd: int) -> None:
        """Stop reading ``fd`` (backpressure). Unknown descriptors are fine, here and below."""

    def resume(self, fd: int) -> None:
        """Read ``fd`` again."""

    def release(self, fd: int) -> None:
        """Stop reading ``fd`` for good and close it as soon as nobody reads it."""

    def outlet(self, fd: int, owned: bool) -> Outlet:
        """A writer to ``fd`` that fits this kind of events. ``owned``: the descriptor is ours alone."""

    def post(self, handler: Handler) -> None:
        """Have ``handler(b"")`` called by the main loop; from any thread."""


class Events(Descriptors, Protocol):
    """Descriptors and wake-ups, as (handler, data) pairs for a loop of our own."""

    def wake(self) -> None:
        """Make ``wait`` return; from any thread and from signal handlers."""

    def wait(self, timeout: float | None) -> list[tuple[Handler, bytes]]:
        """What happened, after at most ``timeout`` seconds (``None``: whenever it happens)."""

    def close(self) -> None:
        """Give back what the events themselves hold."""


def default_events() -> Events:
    """The best kind for this platform."""
    if sys.platform == "win32":
        from dragoman.io.threaded import ThreadEvents

        return ThreadEvents()
    from dragoman.io.polled import PollEvents

    return PollEvents()

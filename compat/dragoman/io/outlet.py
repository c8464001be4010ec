"""Writing to one descriptor without ever holding up the main loop.

``write`` queues, ``flush`` (the end of a turn of the loop) sends: the many small frames of one turn go out in one system
call. What the peer does not take now stays queued; ``backlog`` says how much, and the loop stops reading whoever fills it.
When the peer is gone, ``gone`` is set, the queue is dropped, and ``on_gone`` is called once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

HIGH_WATER = 16 * 1024 * 1024  # over it the loop stops reading whoever feeds the outlet …
LOW_WATER = 4 * 1024 * 1024  # … until it is down to this


def nothing() -> None:
    """Nobody minds."""


class Outlet(Protocol):
    """One descriptor to write to."""

    backlog: int
    gone: bool
    dropped: bool  # the peer left without having taken everything
    on_gone: Callable[[], None]

    def write(self, data: bytes) -> None:
        """Queue ``data``. Dropped when the peer is gone."""

    def flush(self) -> None:
        """Send what can be sent now."""

    def close(self) -> None:
        """Close the descriptor once everything queued is written."""

    def abort(self) -> None:
        """Drop what is queued and close."""

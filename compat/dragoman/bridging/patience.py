"""How long a relayed request may wait for its answer (2025-11-25 and 2026-07-28, timeouts of the cancellation pages).

The limit is ``--request-timeout``, the same for all, so one timer watches them in the order in which they were sent. Progress
starts a request's time anew, a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from dragoman.bridging.context import Context

Key = TypeVar("Key", bound=Hashable)
_MOST = 10
"""Progress alone must not keep a request for more times its limit than this."""


class Patience(Generic[Key]):
    """Requests by their key; ``timer`` is the name under which the owner's ``on_timer`` is called, which then asks ``expired``."""

    def __init__(self, context: Context, timer: str) -> None:
        self._context = context
        self._timer = timer
        self._limit = context.options.request_timeout
        self._times: dict[Key, tuple[float, float]] = {}  # when it was sent, when it is due
        self._armed = False

    def begin(self, key: Key) -> None:
        """The request was sent."""
        if self._limit:
            self._times[key] = self._context.now, self._context.now + self._limit
            self._arm(self._limit)

    def alive(self, key: Key) -> None:
        """It has shown progress."""
        times = self._times.get(key)
        if times is not None and self._limit:
            self._times[key] = times[0], min(self._context.now + self._limit, times[0] + _MOST * self._limit)

    def end(self, key: Key) -> None:
        """It was answered, or nobody waits for it any more."""
        self._times.pop(key, None)

    def expired(self) -> list[Key]:
        """Those whose time is up; they are forgotten."""
        self._armed = False
        over = [key for key, (_, due) in self._times.items() if due <= self._context.now]
        for key in over:
            del self._times[key]
        if self._times:
            self._arm(max(min(due for _, due in self._times.values()) - self._context.now, 0.01))
        return over

    def _arm(self, delay: float) -> None:
        if not self._armed:
            self._armed = True
            self._context.timer(self._timer, delay)

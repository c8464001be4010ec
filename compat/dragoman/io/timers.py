"""Named timers on the monotonic clock. Setting a name again moves it; what was cancelled never fires."""

from __future__ import annotations

from heapq import heappop, heappush


class Timers:
    """A heap of (time, name); entries that were moved or cancelled are dropped when they surface."""

    __slots__ = ("_at", "_heap")

    def __init__(self) -> None:
        self._at: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def set(self, key: str, at: float) -> None:
        """Fire ``key`` at time ``at``."""
        if self._at.get(key) != at:
            self._at[key] = at
            heappush(self._heap, (at, key))
            if len(self._heap) > 64 + 4 * len(self._at):  # a timer moved a million times must not keep a million entries
                self._heap = sorted((when, name) for name, when in self._at.items())

    def cancel(self, key: str) -> None:
        """Forget ``key``; unknown keys are fine."""
        self._at.pop(key, None)

    def next(self) -> float | None:
        """When the next timer fires."""
        heap = self._heap
        while heap and self._at.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][0] if heap else None

    def pop(self, now: float) -> str | None:
        """The next timer that is due (and no longer set), or ``None``. One at a time: firing one may cancel another."""
        at = self.next()
        if at is None or at > now:
            return None
        key = heappop(self._heap)[1]
        del self._at[key]
        return key

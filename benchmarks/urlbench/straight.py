"""A client that asks the server behind the URL itself: what a bridge's latency is compared with.

It has the methods of ``relaybench.client.Peer``, so that the same measures work on both. A frame is put into its POST before the clock
starts; the answer's frame is taken out of it after the clock has stopped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from httpbench import wire
from httpbench.contenders import Contender as Served
from relaybench.client import decoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relaybench.contenders import Contender


class Straight:
    """One conversation with the server. Every block of calls has connections of its own, since idle ones are closed."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        parts = urlsplit(contender.command[0])
        self._port, self._path = parts.port or 80, parts.path
        self._words = Served(contender.name, [], contender.modern)
        self._session: str | None = None

    def open(self) -> None:
        """Begin the conversation."""
        first, *rest = self.contender.opening()
        decoded(self.contender.name, self.ask(first)[1], 0)
        for frame in rest:
            self.ask(frame)

    def ask(self, frame: bytes) -> tuple[int, bytes]:
        """One request: nanoseconds, and the frame that answers it."""
        [request] = self._requests([frame])
        with wire.connect(self._port) as line:
            took, data = wire.ask(line, request)
        self._session = wire.parsed(data).headers.get("mcp-session-id", self._session)
        return took, _line(data)

    def ask_each(self, frames: Sequence[bytes]) -> tuple[list[int], list[bytes]]:
        """One request after another on one connection."""
        requests = self._requests(frames)
        with wire.connect(self._port) as line:
            wire.ask(line, requests[0])  # a fresh connection's first request is slower, and a bridge keeps its own
            times, answers = wire.ask_each(line, requests)
        return times, [_line(data) for data in answers]

    def ask_together(self, frames: Sequence[bytes], window: int) -> tuple[int, list[bytes]]:
        """Keep ``window`` requests in flight, each on a connection of its own."""
        requests = self._requests(frames)
        lines = [wire.connect(self._port) for _ in range(min(window, len(requests)))]
        try:
            told = wire.flood(lines, [requests[number :: len(lines)] for number in range(len(lines))])
        finally:
            for line in lines:
                line.close()
        return told.took, [_line(data) for answers in told.answers for data in answers]

    def resident(self) -> float | None:
        """There is no bridge."""
        return None

    def processor_time(self) -> int | None:
        """There is no bridge."""
        return None

    def complaint(self) -> str:
        """Nothing was started."""
        return ""

    def close(self) -> None:
        """Nothing was started."""

    def _requests(self, frames: Sequence[bytes]) -> list[bytes]:
        decoded_frames = (json.loads(frame) for frame in frames)
        return [wire.post(self._port, self._path, self._words.headers(frame, self._session), frame) for frame in decoded_frames]


def _line(data: bytes) -> bytes:
    """The frame in an HTTP answer, as a line."""
    return json.dumps(wire.frame_in(wire.parsed(data))).encode()

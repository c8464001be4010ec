"""Streams of a legacy session: event ids, resumption, redelivery (2025-11-25, basic/transports#resumability-and-redelivery).

An event id names its stream and its place in it, and is unique in the session. A stream outlives its connection: what is
sent while nobody is connected is kept, and a GET with ``Last-Event-ID`` gets what came after that event, of that stream
alone, and then goes on. What is kept is bounded by number and by bytes; a client that was away for longer is told by the gap
in the numbers, and the operator by a ``Loss``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dragoman.http import sse
from dragoman.http.exchange import Exchange

EVENTS, BYTES = 256, 4 << 20
RETRY_MS = 1000


class Stream:
    """One stream; ``exchange`` is its present connection. ``primed``: it begins with an empty event (since 2025-11-25).

    ``plain`` streams have neither ids nor a memory (2024-11-05 knows none). ``lost`` is told of what could not be kept.
    """

    __slots__ = (
        "_bytes",
        "_events",
        "_lost",
        "_sent",
        "answers",
        "delivered",
        "exchange",
        "finished",
        "forsaken",
        "number",
        "plain",
        "primed",
    )

    def __init__(
        self,
        number: int,
        exchange: Exchange | None,
        lost: Callable[[str], None],
        *,
        primed: bool,
        plain: bool = False,
        answers: bool = True,
    ) -> None:
        self.number = number
        self.exchange = exchange
        self.primed = primed
        self.plain = plain
        self.answers = answers  # it carries the answer to a POST
        self.finished = False
        self.delivered = False  # to its end, as far as can be told
        self.forsaken = False  # its client left before it had an event to come back with
        self._lost = lost
        self._sent = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._bytes = 0

    @property
    def connected(self) -> bool:
        """Whether a client reads it now."""
        return self.exchange is not None and not self.exchange.done

    @property
    def takes_events(self) -> bool:
        """Whether a message beside the answer can be sent here; a lost connection may be resumed."""
        return self.exchange is None or self.exchange.takes_stream

    def begin(self) -> None:
        """Send the head of the stream, and the event that lets the client resume it."""
        exchange = self.exchange
        if exchange is None or exchange.begun or exchange.done:
            return
        exchange.begin()
        if self.primed and not self.plain and exchange.takes_stream:
            exchange.event(sse.priming(self._id(self._sent), RETRY_MS))

    def send(self, line: bytes) -> None:
        """A message on the stream."""
        if self.exchange is not None and not self.exchange.takes_stream:
            self._lost("a message to a client that accepts no event stream")
            return
        self.begin()
        if self.plain:
            if self.exchange is not None:
                self.exchange.event(sse.event(line, name=b"message"))
            return
        self._sent += 1
        data = sse.event(line, event_id=self._id(self._sent))
        self._keep(data)
        if self.exchange is not None:
            self.exchange.event(data)

    def finish(self, line: bytes, status: int = 200) -> None:
        """The last message: a whole JSON answer if the stream has not begun."""
        exchange = self.exchange
        if exchange is not None and not exchange.begun and not exchange.stream_only and not self._sent:
            self.finished = self.delivered = True
            exchange.answer(line, status)
            return
        self.send(line)
        self.end()

    def end(self) -> None:
        """Nothing more will come."""
        self.finished = True
        if self.exchange is not None:
            self.delivered = self.connected
            self.exchange.end()

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    @property
    def holds_anything(self) -> bool:
        """Whether any event is kept."""
        return bool(self._events)

    def drop(self) -> None:
        """Keep nothing any more."""
        self._events.clear()
        self._bytes = 0

    def detach(self) -> bool:
        """The connection is gone. False if nobody can ever resume the stream, because no event of it went out."""
        can_resume = self.exchange is not None and self.exchange.begun and not self.plain and (self.primed or self._sent > 0)
        self.exchange = None
        return can_resume

    def is_over(self, after: int) -> bool:
        """Whether the stream has ended and nothing came after that event."""
        return self.finished and after >= self._sent

    def resume(self, exchange: Exchange, after: int) -> None:
        """Another connection goes on after an event."""
        if self.exchange is not None:
            self.exchange.end()
        self.exchange = exchange
        exchange.begin()
        if self._events and self._events[0][0] > after + 1:
            self._lost("events that were no longer kept when the client came back for them")
        for number, data in list(self._events):
            if number > after:
                exchange.event(data)
        if self.finished:
            self.delivered = True
            exchange.end()

    def _id(self, number: int) -> bytes:
        return b"%d-%d" % (self.number, number)

    def _keep(self, data: bytes) -> None:
        self._events.append((self._sent, data))
        self._bytes += len(data)
        while len(self._events) > EVENTS or (self._bytes > BYTES and len(self._events) > 1):
            self._bytes -= len(self._events.popleft()[1])


def read_event_id(text: bytes) -> tuple[int, int] | None:
    """Stream and place of an event id; None for one that was never given."""
    stream, _, place = text.partition(b"-")
    if stream.isdigit() and place.isdigit() and len(text) < 40:
        return int(stream), int(place)
    return None

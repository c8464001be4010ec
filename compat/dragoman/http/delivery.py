"""On which stream a legacy server's words go (2025-11-25, basic/transports#sending-messages-to-the-server and the two sections after it).

An answer goes to the stream of the POST that asked. Progress goes to the call that owns its token; questions and logs to the
oldest call that may ask. List changes and resource updates, and all of it while no call runs, go to the session's own
stream, which a GET opens; when there is none they take a running call's, or wait, within bounds. A question that waits goes out
on the next call too, since its server may be waiting for it. No message goes to two streams.
"""

from __future__ import annotations

from collections import deque

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridge.context import Context
from dragoman.http.exchange import Exchange
from dragoman.http.flights import Flight, Flights
from dragoman.http.streams import Stream
from dragoman_specs.methods import ASKS

_KEPT_STREAMS = 32
_WAITING = 100
_OWN_STREAMS = 8
_NEWS = frozenset(
    (
        *("notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed"),
        "notifications/resources/updated",
    )
)


class _Waiting(Struct):
    line: bytes
    question: bytes | None
    at: float


class Delivery:
    """The streams of one session. ``two_endpoints``: one stream carries everything, and nothing is resumed (2024-11-05)."""

    def __init__(self, context: Context, flights: Flights, *, two_endpoints: bool) -> None:
        self._context = context
        self._flights = flights
        self._plain = two_endpoints
        self._streams: dict[int, Stream] = {}
        self._number = 0
        self._waiting: deque[_Waiting] = deque()
        self._own: list[Stream] = []  # the session's own streams, each opened by a GET, the newest last
        self.open_questions: dict[bytes, Stream | None] = {}  # each with the stream that it went out on
        self.server: int | None = None  # the process that questions come from
        self.primed = False

    # -- streams ---------------------------------------------------------------------------------------------------

    @property
    def main(self) -> Stream | None:
        """The session's own stream: of several the newest that is connected, since an older one may be dead without a word."""
        return next((stream for stream in reversed(self._own) if stream.connected), self._own[-1] if self._own else None)

    @property
    def connected(self) -> bool:
        """Whether any client reads a stream now."""
        return any(stream.connected for stream in self._streams.values())

    def open(self, exchange: Exchange) -> Stream:
        """The stream of a POST."""
        self._number += 1
        stream = Stream(self._number, exchange, self._lost, primed=self.primed, plain=self._plain)
        self._streams[stream.number] = stream
        if len(self._streams) > _KEPT_STREAMS:
            used = {flight.stream.number for flight in self._flights}
            left = [number for number, kept in self._streams.items() if not kept.connected and number not in used]
            for number in left[: len(self._streams) - _KEPT_STREAMS]:
                del self._streams[number]
        return stream

    def get(self, exchange: Exchange, last_event: tuple[int, int] | None) -> bool:
        """The session's own stream, or one that goes on where it was lost; False if that one has ended and has nothing more.

        Clients take an empty stream for a lost connection, and would come back for it for ever.
        """
        stream = self._streams.get(last_event[0]) if last_event is not None else None
        if stream is not None and last_event is not None:
            if stream.is_over(last_event[1]):
                return False
            stream.resume(exchange, last_event[1])
        else:
            stream = self.open(exchange)
            self._own = [own for own in self._own if own.connected]
            self._own.append(stream)
            if len(self._own) > _OWN_STREAMS:
                self._own.pop(0).end()
            stream.begin()
        main = self.main
        while self._waiting and main is not None and main.connected:
            self._send(main, self._waiting.popleft())
        return True

    def end_own(self) -> None:
        """The session's own streams end."""
        for stream in self._own:
            stream.end()

    def of(self, exchange: Exchange) -> Stream | None:
        """The stream that an exchange reads."""
        return next((stream for stream in self._streams.values() if stream.exchange is exchange), None)

    def end(self) -> None:
        """Every stream ends."""
        for stream in self._streams.values():
            stream.end()

    def _lost(self, what: str) -> None:
        self._context.loss("sep2575_sse_resumability", what)

    # -- the server's words ----------------------------------------------------------------------------------------

    def answer(self, flight: Flight, line: bytes) -> None:
        """The answer to a request."""
        if self._plain:
            flight.stream.send(line)
            return
        if flight.stream.forsaken:
            self._lost(f"the answer to {flight.method}, whose client closed the connection before its stream had begun")
        flight.stream.finish(line)

    def tell(self, message: frame.Request | frame.Notification, line: bytes, *, hold: bool) -> None:
        """A question or a notification; ``hold``: nobody may hear anything yet."""
        question = frame.id_key(message.id) if isinstance(message, frame.Request) else None
        stream = None if hold else self._choose(message)
        if isinstance(message, frame.Notification) and message.method == "notifications/cancelled":
            asked_on = self._withdrawn(message)
            if asked_on is None:
                return
            stream = asked_on
        if question is not None:
            self.open_questions[question] = stream
        if stream is not None:
            stream.send(line)
            return
        if len(self._waiting) >= _WAITING:
            self._refuse(self._waiting.popleft(), "Too many messages wait for the client to open a stream")
        if question is not None and all(waiting.question is None for waiting in self._waiting):
            self._context.timer("held", self._context.question_timeout)
        self._waiting.append(_Waiting(line, question, self._context.now))

    def _withdrawn(self, note: frame.Notification) -> Stream | None:
        """The server takes a question back: the stream that it went out on, None if nobody has heard of it."""
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        key = frame.id_key(target) if frame.valid_id(target) else b""
        for waiting in [waiting for waiting in self._waiting if waiting.question == key]:
            self._waiting.remove(waiting)
        return self.open_questions.pop(key, None)

    def look_again(self, lines: list[bytes]) -> None:
        """News of the bridge's own, for a client that listens."""
        for line in lines:
            if self.main is not None and self.main.connected:
                self.main.send(line)

    def _choose(self, message: frame.Request | frame.Notification) -> Stream | None:
        owner = self._flights.progress(message.params) if message.method == "notifications/progress" else None
        main = self.main if self.main is not None and self.main.connected else None
        if self._plain or (main is not None and message.method in _NEWS):
            return main
        usable = [flight for flight in self._flights if not flight.stream.forsaken and flight.stream.takes_events]
        if owner in usable:
            return owner.stream
        likely = next((flight for flight in usable if flight.method in ASKS), usable[0] if usable else None)
        return main if likely is None else likely.stream

    def claim(self, stream: Stream) -> None:
        """Questions that waited go out on a call's stream."""
        if self._plain or not stream.takes_events:
            return
        for waiting in [waiting for waiting in self._waiting if waiting.question is not None]:
            self._waiting.remove(waiting)
            self._send(stream, waiting)

    def _send(self, stream: Stream, waiting: _Waiting) -> None:
        if waiting.question is not None:
            self.open_questions[waiting.question] = stream
        stream.send(waiting.line)

    def expire(self) -> None:
        """Questions that waited for a stream for too long."""
        while self._waiting and self._waiting[0].at + self._context.question_timeout <= self._context.now:
            self._refuse(self._waiting.popleft(), "The client opened no stream on which it could have been asked")
        oldest = next((waiting for waiting in self._waiting if waiting.question is not None), None)
        if oldest is not None:
            self._context.timer("held", max(oldest.at + self._context.question_timeout - self._context.now, 0.01))

    def _refuse(self, waiting: _Waiting, why: str) -> None:
        if waiting.question is None:
            self._lost(f"a notification: {why[0].lower()}{why[1:]}")
        elif self.server is not None:
            self.open_questions.pop(waiting.question, None)
            self._context.refuse_server(self.server, waiting.question, errors.server_fault(why))

"""On which stream a legacy server's words go (2025-11-25, basic/transports#sending-messages-to-the-server and the two sections after it).

An answer goes to the stream of the POST that asked. Progress goes to the call that owns its token; questions and logs to the
oldest call that may ask. List changes and resource updates, and all of it while no call runs, go to the session's own
stream, which a GET opens; when there is none they take a running call's, or wait, within bounds. A question that waits goes out
on the next call too, since its server may be waiting for it. No message goes to two streams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging.context import Context
from dragoman.http.exchange import Exchange
from dragoman.http.flights import Flight, Flights
from dragoman.http.streams import Stream
from dragoman_specs.methods import ASKS

_KEPT_STREAMS, _KEPT_UNDELIVERED = 32, 256
_KEPT_BYTES = 16 << 20
_WAITING = 100
_OWN_STREAMS = 8
_NEWS = frozenset(
    (
        *("notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed"),
        "notifications/resources/updated",
    )
)


Refuse = Callable[[bytes, errors.Refusal], None]


class _Question(Struct, eq=False):
    stream: Stream | None  # that it went out on
    at: float


class _Waiting(Struct):
    line: bytes
    question: bytes | None
    at: float


class Delivery:
    """The streams of one session. ``two_endpoints``: one stream carries everything, and nothing is resumed (2024-11-05)."""

    def __init__(self, context: Context, flights: Flights, refuse: Refuse, *, two_endpoints: bool) -> None:
        self._refuse_server = refuse  # answers a question of the server's with an error
        self._context = context
        self._flights = flights
        self._plain = two_endpoints
        self._streams: dict[int, Stream] = {}
        self._number = 0
        self._waiting: deque[_Waiting] = deque()
        self._own: list[Stream] = []  # the session's own streams, each opened by a GET, the newest last
        self._of_posts: set[int] = set()  # numbers of streams that are no longer kept and carried an answer
        self._questions: dict[bytes, _Question] = {}
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

    def open(self, exchange: Exchange, *, answers: bool = True) -> Stream:
        """A stream; ``answers``: that of a POST."""
        self._number += 1
        stream = Stream(self._number, exchange, self._lost, primed=self.primed, plain=self._plain, answers=answers)
        self._streams[stream.number] = stream
        exchange.stream = stream
        if len(self._streams) > _KEPT_STREAMS + len(self._flights):
            self._forget_some()
        return stream

    def _forget_some(self) -> None:
        """Streams that nobody reads are kept for redelivery: those that were not delivered to their end the longest."""
        used = {flight.stream.number for flight in self._flights}
        left = [kept for kept in self._streams.values() if not kept.connected and kept.number not in used]
        left.sort(key=lambda kept: kept.holds_anything and not kept.delivered)
        for stream in left[: len(self._streams) - _KEPT_STREAMS]:
            is_missed = stream.holds_anything and not stream.delivered
            if is_missed and len(self._streams) <= _KEPT_UNDELIVERED:
                break
            if is_missed:
                self._lost("the events of a stream that its client did not come back for")
            if stream.answers:
                self._of_posts.add(stream.number)
            del self._streams[stream.number]

    def get(self, exchange: Exchange, last_event: tuple[int, int] | None) -> bool:
        """The session's own stream, or one that goes on where it was lost; False if that one has ended and has nothing more.

        Clients take an empty stream for a lost connection, and would come back for it for ever.
        """
        stream = self._streams.get(last_event[0]) if last_event is not None else None
        if last_event is not None and last_event[0] in self._of_posts:
            return False
        if stream is not None and last_event is not None:
            if stream.is_over(last_event[1]):
                return False
            exchange.stream = stream
            stream.resume(exchange, last_event[1])
            if not stream.answers and stream not in self._own:
                self._own.append(stream)
        else:
            stream = self.open(exchange, answers=False)
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
        stream = exchange.stream
        return stream if isinstance(stream, Stream) and stream.exchange is exchange else None

    def end(self) -> None:
        """Every stream ends, and nobody will come back for what they keep."""
        for stream in self._streams.values():
            stream.end()
            stream.drop()
        self._streams.clear()
        self._waiting.clear()

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
        if not flight.stream.holds_anything:
            return
        kept = sum(stream.size for stream in self._streams.values())
        for stream in self._streams.values():
            if kept > _KEPT_BYTES and stream.delivered:
                kept -= stream.size
                stream.drop()

    def tell(self, message: frame.Request | frame.Notification, line: bytes, about: bytes | None, *, hold: bool) -> None:
        """A question or a notification; ``about`` is the key of the request it belongs to, ``hold``: nobody may hear anything yet."""
        question = frame.id_key(message.id) if isinstance(message, frame.Request) else None
        owner = self._flights.get(about) if about is not None else None
        if message.method == "notifications/progress":
            owner = owner or self._flights.progress(message.params)
            if owner is None and not self._plain:
                self._lost("notifications/progress for no request in flight")
                return
        stream = None if hold else self._choose(message, owner)
        if isinstance(message, frame.Notification) and message.method == "notifications/cancelled":
            stream = self._withdrawn(message)
            if stream is None:
                return
        if question is not None:
            self._questions[question] = _Question(stream, self._context.now)
            self._watch()
        if stream is not None:
            stream.send(line)
            return
        while self._waiting and (len(self._waiting) >= _WAITING or sum(len(kept.line) for kept in self._waiting) > _KEPT_BYTES):
            self._refuse(self._waiting.popleft(), "Too many messages wait for the client to open a stream")
        self._waiting.append(_Waiting(line, question, self._context.now))

    def _withdrawn(self, note: frame.Notification) -> Stream | None:
        """The server takes a question back: the stream that it went out on, None if nobody has heard of it."""
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        key = frame.id_key(target) if frame.valid_id(target) else b""
        for waiting in [waiting for waiting in self._waiting if waiting.question == key]:
            self._waiting.remove(waiting)
        question = self._questions.pop(key, None)
        stream = question.stream if question is not None else None
        if stream is not None and stream.finished:
            self._lost("that a question was taken back, since the stream that it went out on has ended")
            return None
        return stream

    def look_again(self, lines: list[bytes]) -> None:
        """News of the bridge's own, for a client that listens."""
        for line in lines:
            if self.main is not None and self.main.connected:
                self.main.send(line)

    def _choose(self, message: frame.Request | frame.Notification, owner: Flight | None) -> Stream | None:
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
        question = self._questions.get(waiting.question) if waiting.question is not None else None
        if question is not None:
            question.stream = stream
        stream.send(waiting.line)

    # -- questions -------------------------------------------------------------------------------------------------

    @property
    def asking(self) -> bool:
        """Whether any question of the server's waits for its answer."""
        return bool(self._questions)

    def asks(self, flight: Flight) -> bool:
        """Whether the client is being asked something on this request's stream."""
        return any(question.stream is flight.stream for question in self._questions.values())

    def answered(self, key: bytes) -> bool:
        """The client has answered a question; False if it was not asked, or is no longer."""
        return self._questions.pop(key, None) is not None

    def _watch(self) -> None:
        oldest = min(question.at for question in self._questions.values())
        self._context.timer("asked", max(oldest + self._context.question_timeout - self._context.now, 0.01))

    def expire(self) -> None:
        """Questions that were not answered in time: their server is told, whether the client ever heard of them or not."""
        over = [key for key, question in self._questions.items() if question.at + self._context.question_timeout <= self._context.now]
        for key in over:
            stream = self._questions.pop(key).stream
            self._waiting = deque(waiting for waiting in self._waiting if waiting.question != key)
            why = "did not answer in time" if stream is not None else "opened no stream on which it could have been asked"
            self._refuse_server(key, errors.server_fault(f"The client {why}"))
        if self._questions:
            self._watch()

    def _refuse(self, waiting: _Waiting, why: str) -> None:
        if waiting.question is None:
            self._lost(f"a notification: {why[0].lower()}{why[1:]}")
        elif self._questions.pop(waiting.question, None) is not None:
            self._refuse_server(waiting.question, errors.server_fault(why))

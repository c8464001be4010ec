"""The flights of a connection: which HTTP requests are under way, who waits for what, and what the shell is to do.

A flight is in ``_flights`` while its exchange is open, in ``_waiting`` while it waits for its time, and in ``_by_id`` under every
request that it carries and that is not answered yet; a request whose answer may come elsewhere is only in the last.
"""

from __future__ import annotations

from zlib import crc32

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.effects import CancelTimer, Log, Loss, SetTimer
from dragoman.errors import Refusal, server_slow
from dragoman.remote.effects import Abort, Doubt, Finish, Headers, Heard, Lost, RemoteEffect, Send
from dragoman.remote.flight import CALL, Flight
from dragoman.remote.options import RemoteOptions

_TAKEN_BACK = 100
SLOW = "slow"
_LEAST_WAIT = 0.05
_MOST = 10
"""A request of which something is heard may take so many times its limit, and no more."""
QUIET = frozenset(("subscriptions/listen",))


class Wire:
    """See the module."""

    def __init__(self, options: RemoteOptions) -> None:
        self.options = options
        self.now = 0.0
        self.closing = False
        self._out: list[RemoteEffect] = []
        self._flights: dict[int, Flight] = {}
        self._by_id: dict[bytes, Flight] = {}
        self._waiting: dict[str, Flight] = {}
        self._next = 0
        self._taken_back: dict[bytes, None] = {}  # the last requests that were cancelled: each may still be answered
        self._spread = 0
        self._watching = False
        self._doubted = False
        self._doubt = ""

    def headers(self, flight: Flight) -> Headers:
        """The fields of a request; those of content types and credentials are the shell's."""
        raise NotImplementedError

    def _over(self, flight: Flight) -> None:
        """Nothing more is waited for of a flight."""

    def launch(self, flight: Flight, method: str = "POST", url: str = "") -> None:
        """Send it."""
        self._next += 1
        flight.restart(self._next)
        self._flights[self._next] = flight
        for key in flight.ids:
            self._by_id[key] = flight
        if flight.ids and self.options.patience is not None and flight.method not in QUIET:
            flight.started = flight.started or self.now
            self._alive(flight, self.options.patience)
            self._watch(self.options.patience)
        body = flight.line if method == "POST" else b""
        # What others may wait for never waits: answers to questions, notifications, and streams, which last.
        in_turn = flight.kind == CALL and flight.method not in QUIET
        self.emit(Send(self._next, method, self.headers(flight), body, url or self.endpoint(flight), in_turn))

    def _alive(self, flight: Flight, patience: float) -> None:
        """Its time starts anew."""
        flight.due = min(self.now + patience, flight.started + _MOST * patience)

    def _watch(self, delay: float) -> None:
        if not self._watching:
            self._watching = True
            self.set_timer(SLOW, delay)

    def _give_up_slow(self) -> None:
        """Requests of which nothing was heard for too long: without this a connection that has died silently would hold them for ever."""
        self._watching = False
        patience = self.options.patience or 0.0
        waiting = dict.fromkeys(self._by_id.values())
        for flight in waiting:
            if flight.due is not None and flight.due <= self.now:
                self._slow(flight, server_slow(flight.what, patience))
        left = [flight.due for flight in waiting if flight.ids and flight.due is not None]
        if left:
            self._watch(max(min(left) - self.now, _LEAST_WAIT))

    def _slow(self, flight: Flight, refusal: Refusal) -> None:
        for key in list(flight.ids):
            self._take_back(key)
        self.refuse(flight, refusal)
        self.drop(flight)

    def endpoint(self, flight: Flight) -> str:
        """Where a flight goes; empty: to the server's own URL."""
        return ""

    def later(self, flight: Flight, delay: float) -> None:
        """Send it again after a pause."""
        key = f"again:{self._next}:{flight.exchange}"
        self._waiting[key] = flight
        for each in flight.ids:
            self._by_id[each] = flight
        self.emit(SetTimer(key, self.now + delay))

    def drop(self, flight: Flight) -> None:
        """Nobody waits for it any more: its connection is closed."""
        self._forget(flight)
        for key in [key for key, waiting in self._waiting.items() if waiting is flight]:
            del self._waiting[key]
            self.emit(CancelTimer(key))
        if self._flights.pop(flight.exchange, None) is not None:
            self.emit(Abort(flight.exchange))

    def _forget(self, flight: Flight) -> None:
        for key in flight.ids:
            if self._by_id.get(key) is flight:
                del self._by_id[key]
        flight.ids = {}

    def refuse(self, flight: Flight, refusal: Refusal) -> None:
        """Everybody who waits for it gets an error."""
        ids, encoded = list(flight.ids.values()), refusal.encode()
        self._forget(flight)
        if flight.waiter is not None:
            flight.waiter(frame.Failure(ids[0] if ids else None, Raw(encoded)))
        else:
            for each in ids:
                self.emit(Heard(frame.failure(each, encoded)[:-1], flight.about))
        self._over(flight)

    def _take_back(self, key: bytes) -> Flight | None:
        """A request is cancelled: the flight that carries it, if it is not answered yet."""
        flight = self._by_id.pop(key, None)
        if flight is not None:
            # It may still be answered, on the stream of another.
            self._taken_back[key] = None
            if len(self._taken_back) > _TAKEN_BACK:
                del self._taken_back[next(iter(self._taken_back))]
        return flight

    def _settle(self, flight: Flight) -> None:
        """Nobody waits for more of it."""
        for key in [key for key, waiting in self._waiting.items() if waiting is flight]:
            del self._waiting[key]
            self.emit(CancelTimer(key))
        if flight.exchange in self._flights:
            del self._flights[flight.exchange]
            self.emit(Finish(flight.exchange))
        if not flight.ids:
            self._over(flight)

    # -- effects -------------------------------------------------------------------------------------------------------

    def emit(self, effect: RemoteEffect) -> None:
        """Add any effect."""
        self._out.append(effect)

    def _take(self) -> list[RemoteEffect]:
        out, self._out = self._out, []
        if self._doubt:
            out.append(Doubt(self._doubt))
            self._doubt = ""
        return out

    def lose(self, reason: str) -> None:
        """The connection is over: whoever waits is told by the core."""
        self.closing = True
        self._by_id.clear()
        for flight in self._flights.values():
            self.emit(Abort(flight.exchange))
        self._flights.clear()
        self._waiting.clear()
        self.emit(Lost(reason))

    def spread(self, delay: float) -> float:
        """A pause up to a quarter longer, so that the many who lost one server do not all come back to it at once."""
        self._spread += 1
        return delay * (1 + (crc32(f"{self.options.instance} {self._spread}".encode()) % 1000) / 4000)

    def doubt(self, why: str) -> None:
        """The era may be another; this is told after all else of the step, so that who waits for an answer has it."""
        if not self._doubted:
            self._doubted = True
            self._doubt = why

    def set_timer(self, key: str, delay: float) -> None:
        """Have ``_on_timer`` called."""
        self._out.append(SetTimer(key, self.now + delay))

    def cancel_timer(self, key: str) -> None:
        """Forget a timer."""
        self._out.append(CancelTimer(key))

    def log(self, level: int, text: str) -> None:
        """A line for the operator."""
        self._out.append(Log(level, text))

    def loss(self, change: str, detail: str) -> None:
        """Something that could not be carried."""
        self._out.append(Loss(change, detail))

"""Requests of a legacy client that wait for their answers.

Each has a stream that its answer goes to, and shares it with the others of its batch (2025-03-26, basic/index#batching). Whose an
answer is its id says; where servers lose the id, or give it back as another type, it is told from what waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.context import Context
from dragoman.bridging.ids import number_of
from dragoman.bridging.patience import Patience
from dragoman.http.streams import Stream


class Batch(Struct, eq=False):
    """Requests that came together, and are answered together: ``expected`` answers in all."""

    answers: list[bytes]
    expected: int


class Flight(Struct, eq=False):
    """One request, with the batch that it came in; ``token`` is that of its progress, as JSON text."""

    client_id: bytes
    method: str
    stream: Stream
    token: bytes | None
    batch: Batch | None = None

    @property
    def key(self) -> bytes:
        """The id in the form under which equal ids are equal."""
        return frame.id_key(self.client_id)


_TAKEN_BACK = 256


class Flights:
    """Those of one session, the oldest first. ``timer`` names the timer of those that take too long."""

    def __init__(self, context: Context, timer: str) -> None:
        self._by_key: dict[bytes, Flight] = {}
        self.taken_back: dict[bytes, None] = {}  # ids whose late answers nobody misses
        self._patience: Patience[bytes] = Patience(context, timer)

    def __len__(self) -> int:
        return len(self._by_key)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._by_key.values()))

    def add(self, flight: Flight, *, limited: bool = True) -> None:
        """The request is sent; ``limited`` ones must be answered in time."""
        self._by_key[flight.key] = flight
        if limited:
            self._patience.begin(flight.key)

    def pop(self, key: bytes) -> Flight | None:
        """The request has its answer, or needs none."""
        self._patience.end(key)
        return self._by_key.pop(key, None)

    def get(self, client_id: bytes) -> Flight | None:
        """The request of a client's id."""
        return self._by_key.get(frame.id_key(client_id))

    def taken(self, requests: Iterable[frame.Request]) -> bytes | None:
        """The first id that waits already, or stands twice."""
        seen: set[bytes] = set()
        for request in requests:
            key = frame.id_key(request.id)
            if key in seen or key in self._by_key:
                return request.id
            seen.add(key)
        return None

    def take_back(self, note: frame.Notification) -> Flight | None:
        """``notifications/cancelled``: no answer is expected any more, also not by the rest of its batch."""
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        flight = self.pop(frame.id_key(target)) if frame.valid_id(target) else None
        if flight is not None:
            self.taken_back[flight.key] = None
            if len(self.taken_back) > _TAKEN_BACK:
                del self.taken_back[next(iter(self.taken_back))]
        if flight is not None and flight.batch is not None:
            flight.batch.expected -= 1
        return flight

    def owner(self, answer_id: bytes | None) -> Flight | None:
        """Whose an answer is that carries no id that waits: null while only one does, or a number that came back as a string."""
        if answer_id is None:
            return next(iter(self._by_key.values())) if len(self._by_key) == 1 else None
        number = number_of(answer_id)
        return None if number is None else self._by_key.get(b"%d" % number)

    def progress(self, params: Raw | None) -> Flight | None:
        """Whose progress this is; its time starts anew."""
        token = bytes((frame.members(params) or {}).get("progressToken", Raw(b"")))
        flight = next((flight for flight in self._by_key.values() if flight.token == token), None)
        if flight is not None:
            self._patience.alive(flight.key)
        return flight

    def overdue(self) -> list[Flight]:
        """Those whose time is up."""
        return [self._by_key[key] for key in self._patience.expired()]

    def wait_on(self, flight: Flight) -> None:
        """Another while for one that was overdue."""
        self._patience.begin(flight.key)

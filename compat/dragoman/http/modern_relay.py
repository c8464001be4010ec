"""A modern server behind a modern client: requests go on as they came, under ids of ours.

Many clients share the one channel to the server, each with ids and progress tokens of its own choice, so these, and the
subscription ids that are made of them, are exchanged on the way and put back on the way home; all else stays as it is
written. Closing a stream becomes the ``notifications/cancelled`` that stdio demands (2026-07-28, basic/patterns/cancellation).
"""

from __future__ import annotations

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridge import effects
from dragoman.bridge.broken import ids_in, is_call, looks_like_frame, shown
from dragoman.bridge.context import Context
from dragoman.bridge.effects import RESULT
from dragoman.bridge.ids import number_of
from dragoman.errors import Refusal
from dragoman_specs.names import META_SUBSCRIPTION_ID, PROGRESS_TOKEN

_LISTEN = "subscriptions/listen"


class _Flight(Struct):
    client_id: bytes
    method: str
    token: Raw | None


class ModernRelay:
    """One relayed connection to a modern server; ``number`` is its session, None while there is no process."""

    def __init__(self, context: Context, number: int | None = None) -> None:
        self._context = context
        self.number = number
        self._flights: dict[int, _Flight] = {}

    @property
    def idle(self) -> bool:
        """Whether no request waits for an answer; streams do not count."""
        return all(flight.method == _LISTEN for flight in self._flights.values())

    @property
    def busy(self) -> bool:
        """Whether anything is in flight, streams included."""
        return bool(self._flights)

    def release(self) -> None:
        """End the process; the next request starts another."""
        if self.number is not None:
            self._context.close(self.number)
            self.number = None

    # -- from clients ----------------------------------------------------------------------------------------------

    def request(self, request: frame.Request) -> None:
        """A request; its id is the number of its exchange."""
        if self.number is None:
            self.number = self._context.ids.session()
            self._context.open(self.number)
        wire_id = self._context.ids.wire()
        params, token = request.params or Raw(b"{}"), None
        if PROGRESS_TOKEN.encode() in bytes(params):
            params, token = _with_token(params, Raw(b"%d" % wire_id))
        self._flights[wire_id] = _Flight(request.id, request.method, token)
        self._context.to_server(self.number, frame.request(b"%d" % wire_id, request.method, bytes(params)))

    def gone(self, client_id: bytes) -> None:
        """The client closed its stream."""
        wire_id = next((number for number, flight in self._flights.items() if flight.client_id == client_id), None)
        if wire_id is not None:
            del self._flights[wire_id]
            self._cancel(wire_id, "the client closed the stream")

    def _cancel(self, wire_id: int, reason: str) -> None:
        if self.number is not None:
            params = frame.encode({"requestId": wire_id, "reason": reason})
            self._context.to_server(self.number, frame.notification("notifications/cancelled", params))

    # -- from the server -------------------------------------------------------------------------------------------

    def from_server(self, line: bytes) -> None:
        """A line of the server's."""
        message = frame.parse(line, lenient=True)
        if isinstance(message, frame.Result | frame.Failure):
            self._answered(message)
        elif isinstance(message, frame.Notification):
            self._notified(message)
        elif isinstance(message, frame.Request) and self.number is not None:
            self._context.refuse_server(self.number, message.id, errors.unknown_method(message.method))
        elif isinstance(message, frame.Malformed):
            self._broken(line, errors.unreadable_answer(message.message))
        elif isinstance(message, list):
            self._context.loss("pr0416_no_batching", "a batch from a server whose revision has none")

    def _answered(self, answer: frame.Result | frame.Failure) -> None:
        wire_id = number_of(answer.id)
        if wire_id is None and answer.id is None and len(self._flights) == 1:
            wire_id = next(iter(self._flights))
        flight = self._flights.pop(wire_id, None) if wire_id is not None else None
        if flight is None:
            self._context.log(effects.DEBUG, "the server has answered a request that was cancelled, or none")
            return
        self._context.served = True
        if isinstance(answer, frame.Failure):
            self._context.respond(flight.client_id, "error", bytes(answer.error))
        else:
            result = self._stamped(answer.result, flight) if flight.method == _LISTEN else answer.result
            self._context.respond(flight.client_id, "result", result)

    def _stamped(self, holder: Raw, flight: _Flight) -> bytes:
        """Params or a result with the subscription id that the client knows."""
        members = frame.members(holder) or {}
        meta = frame.members(members.get("_meta")) or {}
        meta[META_SUBSCRIPTION_ID] = Raw(self._context.spoken(flight.client_id))
        return frame.encode({**members, "_meta": Raw(frame.encode(meta))})

    def _notified(self, note: frame.Notification) -> None:
        params = frame.members(note.params) or {}
        meta = frame.members(params.get("_meta")) or {}
        if note.method == "notifications/progress":
            flight = self._flight(params.get(PROGRESS_TOKEN))
            if flight is not None and flight.token is not None:
                self._context.note(flight.client_id, note.method, frame.encode({**params, PROGRESS_TOKEN: flight.token}))
        elif note.method == "notifications/cancelled":
            wire_id = number_of(bytes(params.get("requestId", Raw(b"null"))))
            flight = self._flights.pop(wire_id, None) if wire_id is not None else None
            if flight is not None:
                self._context.to_client(b"", flight.client_id, RESULT)
        elif META_SUBSCRIPTION_ID in meta:
            flight = self._flight(meta[META_SUBSCRIPTION_ID])
            if flight is not None:
                self._context.note(flight.client_id, note.method, self._stamped(note.params or Raw(b"{}"), flight))
        else:
            flight = next((flight for flight in self._flights.values() if flight.method != _LISTEN), None)
            if flight is not None:
                self._context.note(flight.client_id, note.method, None if note.params is None else bytes(note.params))
        if flight is None:
            self._context.loss("notification", f"{note.method}, which belongs to no request in flight")

    def _flight(self, token: Raw | None) -> _Flight | None:
        number = number_of(None if token is None else bytes(token))
        return None if number is None else self._flights.get(number)

    def too_long(self, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""
        self._broken(head, errors.answer_too_long(size), whole=False)

    def _broken(self, line: bytes, refusal: Refusal, *, whole: bool = True) -> None:
        if not looks_like_frame(line):
            self._context.noise(shown(line))
            return
        self._context.log(effects.WARNING, f"the server sent a line that is no valid message: {shown(line)}")
        numbers = [number_of(text) for text in ids_in(line, whole=whole)]
        wire_id = next((number for number in numbers if number in self._flights), None)
        if wire_id is None and len(self._flights) == 1 and not is_call(line):
            wire_id = next(iter(self._flights))
        if wire_id is None or is_call(line):
            self._context.loss("framing", f"{refusal.message}; whose it was could not be told")
        else:
            self._context.respond(self._flights.pop(wire_id).client_id, "error", refusal.encode())

    # -- ends ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Streams end with their result."""
        for wire_id, flight in list(self._flights.items()):
            if flight.method == _LISTEN:
                del self._flights[wire_id]
                self._context.respond(flight.client_id, "result", self._stamped(Raw(b'{"resultType":"complete"}'), flight))
                self._cancel(wire_id, "the bridge is shutting down")

    def give_up(self, refusal: Refusal) -> None:
        """Answer every request in flight with an error."""
        for flight in self._flights.values():
            self._context.respond(flight.client_id, "error", refusal.encode())
        self._flights.clear()

    def lost(self, reason: str) -> None:
        """The process is gone; the next request starts another."""
        self.number = None
        self._context.unserved = True
        self._context.log(effects.ERROR, f"the server's process has ended: {reason}")
        self.give_up(errors.server_ended(reason))


def _with_token(params: Raw, token: Raw) -> tuple[Raw, Raw | None]:
    """Params with another progress token, and the one that was there."""
    members = frame.members(params) or {}
    meta = frame.members(members.get("_meta")) or {}
    theirs = meta.get(PROGRESS_TOKEN)
    if theirs is None:
        return params, None
    meta[PROGRESS_TOKEN] = token
    return Raw(frame.encode({**members, "_meta": Raw(frame.encode(meta))})), theirs

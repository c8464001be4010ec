"""A modern server behind a modern client: requests go on as they came, under ids of ours.

Many clients share the one channel to the server, each with ids and progress tokens of its own choice, so these, and the
subscription ids that are made of them, are exchanged on the way and put back on the way home; all else stays as it is
written. Closing a stream becomes the ``notifications/cancelled`` that stdio demands (2026-07-28, basic/patterns/cancellation).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.broken import ids_in, is_call, looks_like_frame, shown
from dragoman.bridging.context import Context
from dragoman.bridging.effects import RESULT
from dragoman.bridging.era import discover_params
from dragoman.bridging.ids import number_of
from dragoman.bridging.patience import Patience
from dragoman.bridging.session import LOST, READY, Waiter
from dragoman.bridging.tools import Tools
from dragoman.errors import Refusal
from dragoman_specs.names import LOG_LEVELS, META_LOG_LEVEL, META_SUBSCRIPTION_ID, PROGRESS_TOKEN

_LISTEN = "subscriptions/listen"
_TOKEN, _LEVEL = PROGRESS_TOKEN.encode(), META_LOG_LEVEL.encode()


class _Flight(Struct):
    client_id: bytes
    method: str
    token: Raw | None
    level: str | None
    acknowledged: bool = False


class ModernRelay:
    """One relayed connection to a modern server; ``number`` is its session, None while there is no process."""

    def __init__(self, context: Context, number: int | None = None) -> None:
        self._context = context
        self.number = number
        self.tools = Tools(lambda text: context.log(effects.WARNING, text))
        self._flights: dict[int, _Flight] = {}
        self._by_client: dict[bytes, int] = {}
        self._has_worked = False  # this process
        self._own: dict[int, Waiter] = {}
        self._late: dict[int, Callable[[], None]] = {}
        self._patience: Patience[int] = Patience(context, "late")

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

    # -- requests of our own: what ``Tools`` asks ----------------------------------------------------------------------

    @property
    def phase(self) -> str:
        """Whether there is a process to ask."""
        return LOST if self.number is None else READY

    def when_ready(self, step: Callable[[], None]) -> None:
        """A modern server is ready from the start."""
        self._open()
        step()

    def declares(self, *path: str) -> bool:
        """Nobody has asked it; a server without tools answers with an error."""
        return True

    def request(
        self, method: str, params: bytes, waiter: Waiter, *, patience: float | None = None, late: Callable[[], None] | None = None
    ) -> int:
        """A request of the bridge's own, like that of ``Session``."""
        wire_id = self._context.ids.wire()
        self._own[wire_id] = waiter
        if late is not None:
            self._late[wire_id] = late
        if patience is not None:
            self._context.timer(f"own:{wire_id}", patience)
        members = {**(frame.members(Raw(params)) or {}), **(frame.members(Raw(discover_params())) or {})}
        self._context.to_server(self._open(), frame.request(b"%d" % wire_id, method, frame.encode(members)))
        return wire_id

    def sweep(self) -> None:
        """Requests of clients that were not answered in time."""
        for wire_id in self._patience.expired():
            flight = self._take(wire_id)
            if flight is None:
                continue
            refusal = errors.server_slow(flight.method, self._context.options.request_timeout or 0.0)
            self._cancel(wire_id, refusal.message)
            self._context.respond(flight.client_id, "error", refusal.encode())

    def late(self, wire_id: int) -> None:
        """A request of the bridge's own was not answered in time."""
        late = self._late.pop(wire_id, None)
        if late is not None:
            if wire_id in self._own:
                late()
            return
        waiter = self._own.pop(wire_id, None)
        if waiter is not None:
            self._cancel(wire_id, "no answer in time")
            waiter(frame.Failure(b"%d" % wire_id, Raw(errors.server_fault("The server did not answer in time").encode())))

    # -- from clients ----------------------------------------------------------------------------------------------

    def forward(self, request: frame.Request) -> None:
        """A request; its id is the number of its exchange."""
        session = self._open()
        wire_id = self._context.ids.wire()
        params, token, level = request.params or Raw(b"{}"), None, None
        text = bytes(params)
        if _TOKEN in text or _LEVEL in text:
            params, token, level = _exchanged(params, Raw(b"%d" % wire_id))
            text = bytes(params)
        self._flights[wire_id] = _Flight(request.id, request.method, token, level)
        self._by_client[request.id] = wire_id
        if request.method != _LISTEN:
            self._patience.begin(wire_id)
        self._context.to_server(session, frame.request(b"%d" % wire_id, request.method, text), request.id)

    def _open(self) -> int:
        if self.number is None:
            self.number = self._context.ids.session()
            self._has_worked = False
            self._context.open(self.number)
        return self.number

    def gone(self, client_id: bytes) -> None:
        """The client closed its stream."""
        wire_id = self._by_client.get(client_id)
        if wire_id is not None:
            self._take(wire_id)
            self._cancel(wire_id, "the client closed the stream")

    def notify(self, note: frame.Notification) -> None:
        """A notification that 2026-07-28 knows nothing of goes on, if there is a server to hear it."""
        if self.number is None:
            self._context.loss("notification", f"{note.method[:100]} from a client while no server runs")
        else:
            self._context.to_server(self.number, frame.notification(note.method, None if note.params is None else bytes(note.params)))

    def _take(self, wire_id: int) -> _Flight | None:
        """A request that waits no longer."""
        flight = self._flights.pop(wire_id, None)
        self._patience.end(wire_id)
        if flight is not None:
            self._by_client.pop(flight.client_id, None)
        return flight

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
            # A client must write no responses (2026-07-28, basic/transports/stdio): there is no way to answer.
            self._context.invalid(f"a request of its own, {message.method[:100]}, which servers of 2026-07-28 have not")
        elif isinstance(message, frame.Malformed):
            self._broken(line, errors.unreadable_answer(message.message))
        elif isinstance(message, list):
            self._context.loss("pr0416_no_batching", "a batch from a server whose revision has none")

    def _answered(self, answer: frame.Result | frame.Failure) -> None:
        wire_id = number_of(answer.id)
        if wire_id is None and answer.id is None and len(self._flights) == 1:
            wire_id = next(iter(self._flights))
        waiter = self._own.pop(wire_id, None) if wire_id is not None else None
        if waiter is not None:
            waiter(answer)
            return
        flight = self._take(wire_id) if wire_id is not None else None
        if flight is None:
            self._context.log(effects.DEBUG, "the server has answered a request that was cancelled, or none")
            return
        self._has_worked = True
        self._context.worked()
        if isinstance(answer, frame.Failure):
            self._context.respond(flight.client_id, "error", bytes(answer.error))
        else:
            result = self._stamped(answer.result, flight) if flight.method == _LISTEN else answer.result
            if flight.method == "tools/list":
                self.tools.learn(answer.result)
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
            self._patience.alive(number_of(bytes(params.get(PROGRESS_TOKEN, Raw(b"0")))) or 0)
            flight = self._flight(params.get(PROGRESS_TOKEN))
            if flight is not None and flight.token is not None:
                self._context.note(flight.client_id, note.method, frame.encode({**params, PROGRESS_TOKEN: flight.token}))
        elif note.method == "notifications/cancelled":
            flight = self._flight(params.get("requestId"))
            if flight is not None and flight.method == _LISTEN:  # a server must cancel nothing else
                self._take(self._by_client[flight.client_id])
                self._context.to_client(b"", flight.client_id, RESULT)
            else:
                flight = None
        elif META_SUBSCRIPTION_ID in meta:
            if note.method == "notifications/tools/list_changed":
                self.tools.forget()
            flight = self._flight(meta[META_SUBSCRIPTION_ID])
            if flight is not None:
                flight.acknowledged = True
                self._context.note(flight.client_id, note.method, self._stamped(note.params or Raw(b"{}"), flight))
        else:
            flight = self._owner(note.method, params)
            if flight is not None:
                self._context.note(flight.client_id, note.method, None if note.params is None else bytes(note.params))
        if flight is None:
            self._context.loss("notification", f"{note.method}, which belongs to no request in flight")

    def _owner(self, method: str, params: dict[str, Raw]) -> _Flight | None:
        """Whose a notification is that names nobody: a log message's, the oldest request's that asked for its level."""
        owner = self._flights.get(number_of(self._context.about) or 0)
        if owner is not None and owner.method != _LISTEN:
            return owner
        flights = [flight for flight in self._flights.values() if flight.method != _LISTEN]
        if method != "notifications/message":
            return flights[0] if len(flights) == 1 else None
        level = frame.text(params.get("level"))
        severity = LOG_LEVELS.index(level) if level in LOG_LEVELS else len(LOG_LEVELS)
        return next((flight for flight in flights if flight.level in LOG_LEVELS and LOG_LEVELS.index(flight.level) <= severity), None)

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
        self._context.invalid(f"a line that is no valid message: {shown(line)}")
        numbers = [number_of(text) for text in ids_in(line, whole=whole)]
        wire_id = next((number for number in numbers if number in self._flights), None)
        if not numbers and len(self._flights) == 1 and not is_call(line):
            wire_id = next(iter(self._flights))
        if wire_id is None or is_call(line):
            self._context.loss("framing", f"{refusal.message}; whose it was could not be told")
        else:
            flight = self._take(wire_id)
            if flight is not None:
                self._context.respond(flight.client_id, "error", refusal.encode())

    # -- ends ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Streams end with their result."""
        for wire_id, flight in list(self._flights.items()):
            if flight.method == _LISTEN:
                self._take(wire_id)
                if not flight.acknowledged:  # it comes first, and promises nothing any more
                    params = self._stamped(Raw(b'{"notifications":{}}'), flight)
                    self._context.note(flight.client_id, "notifications/subscriptions/acknowledged", params)
                self._context.respond(flight.client_id, "result", self._stamped(Raw(b'{"resultType":"complete"}'), flight))
                self._cancel(wire_id, "the bridge is shutting down")

    def give_up(self, refusal: Refusal) -> None:
        """Answer every request in flight with an error."""
        for wire_id, flight in list(self._flights.items()):
            self._take(wire_id)
            self._context.respond(flight.client_id, "error", refusal.encode())

    def lost(self, reason: str) -> None:
        """The process is gone; the next request starts another."""
        self.number = None
        self._own.clear()
        self._late.clear()
        if not self._has_worked:
            self._context.failed(errors.server_ended(reason).message)
        self._context.unserved = True
        self._context.log(effects.ERROR, errors.ending(reason))
        self.give_up(errors.server_ended(reason))
        self.tools.session_lost()


def _exchanged(params: Raw, token: Raw) -> tuple[Raw, Raw | None, str | None]:
    """Params with another progress token, if they have one; the one that was there; the log level asked for."""
    members = frame.members(params) or {}
    meta = frame.members(members.get("_meta")) or {}
    level = frame.text(meta.get(META_LOG_LEVEL))
    theirs = meta.get(PROGRESS_TOKEN)
    if theirs is None:
        return params, None, level
    meta[PROGRESS_TOKEN] = token
    return Raw(frame.encode({**members, "_meta": Raw(frame.encode(meta))})), theirs, level

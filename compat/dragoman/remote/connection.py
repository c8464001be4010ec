"""One connection to a server behind a URL: requests out, answers and streams in (basic/transports of every revision).

Theory of operation. The core speaks to a *connection* as it does to a server's stdin and stdout: lines in, lines out. Each
line becomes an HTTP request, a *flight*. A flight that carries requests is done when all of them are answered, wherever the
answers come from; one that comes to nothing is answered here, so that nobody waits for what cannot come. Whether a request may
be sent a second time depends on what is known of the first: one that was never delivered, or was put off by the server (429,
503), always; one that may have been carried out, only if that does no harm.

What differs between the eras is in ``modern``, ``legacy`` and ``two_endpoints``. The shell carries out ``Send``, ``Abort`` and
``Finish``, and tells what becomes of each exchange.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging.broken import shown
from dragoman.bridging.effects import DEBUG, WARNING, CancelTimer
from dragoman.errors import Refusal
from dragoman.remote import troubles
from dragoman.remote.effects import NO_CREDENTIALS, UNSENT, Abort, Heard, RemoteEffect, Trouble
from dragoman.remote.flight import CALL, NOTE, RESUME, Flight
from dragoman.remote.sse_reader import Event, SseReader, TooLong
from dragoman.remote.wire import SLOW, Wire
from dragoman_specs.methods import METHODS

Fields = dict[str, str]

PAUSES = (0.25, 1.0, 2.0)
"""Before a request that was not delivered is sent again, in seconds."""
LONGEST_PAUSE = 60.0
"""A server that asks for a longer one is not waited for."""
_LOST_ON_THE_WAY = (502, 503, 504)
_BOM = b"\xef\xbb\xbf"


class Connection(Wire):
    """See the module. Every entry point returns the effects to carry out, in order; ``now`` is monotonic time in seconds."""

    own_stream_only = False
    """Whether a stream carries no answer but that of its own request; a legacy server may answer on any stream of its session."""

    # -- entry points ----------------------------------------------------------------------------------------------

    def open(self, now: float) -> list[RemoteEffect]:
        """Once, before anything else."""
        self.now = now
        self._opened()
        return self._take()

    def follow(self, other: Connection) -> None:
        """Take the place of another connection: its numbers are not used again."""
        self._next = max(self._next, other._next)

    def take_number(self) -> int:
        """A number for an exchange that is somebody else's."""
        self._next += 1
        return self._next

    def from_core(self, line: bytes, now: float) -> list[RemoteEffect]:
        """A line for the server, without its newline."""
        self.now = now
        if self.closing:
            return self._take()
        message = frame.parse(line)
        if message is None or isinstance(message, frame.Malformed):
            self.loss("framing", "a line for the server that is no message")
        else:
            self._from_core(message, line)
        return self._take()

    def head(self, exchange: int, status: int, fields: Fields, now: float) -> list[RemoteEffect]:
        """The answer to an exchange begins; names of ``fields`` are in lower case."""
        self.now = now
        flight = self._flights.get(exchange)
        if flight is not None:
            flight.status, flight.fields = status, fields
            if 200 <= status < 300 and fields.get("content-type", "").lower().startswith("text/event-stream"):
                flight.reader = SseReader(self.options.max_line)
                if flight.kind == NOTE:
                    self._accepted(flight)  # what it says on a stream is heard, but not waited for
            self._begun(flight)
        return self._take()

    def data(self, exchange: int, data: bytes, now: float) -> list[RemoteEffect]:
        """Bytes of its body."""
        self.now = now
        flight = self._flights.get(exchange)
        if flight is None or self.closing:  # what is said to a farewell concerns nobody
            return self._take()
        if flight.due is not None and self.options.patience is not None:
            self._alive(flight, self.options.patience)
        if flight.reader is None:
            flight.size += len(data)
            if flight.size <= self.options.max_line:
                flight.body.append(data)
            else:
                self._too_much(exchange, flight)
        else:
            for event in flight.reader.feed(data):
                if self._flights.get(exchange) is not flight:
                    break
                self._event(flight, event)
            if flight.reader.too_much and flight.ids and self._flights.get(exchange) is flight:
                self.refuse(flight, errors.answer_too_long(flight.reader.too_much))
                self.drop(flight)
        return self._take()

    def _too_much(self, exchange: int, flight: Flight) -> None:
        """A body over the limit is not read to its end, which may never come."""
        del self._flights[exchange]
        self.emit(Abort(exchange))
        self._whole(flight)

    def ended(self, exchange: int, now: float) -> list[RemoteEffect]:
        """The answer is complete."""
        self.now = now
        flight = self._flights.pop(exchange, None)
        if flight is not None:
            if flight.reader is not None:
                self._stream_over(flight, "the stream ended")
            else:
                self._whole(flight)
        return self._take()

    def failed(self, exchange: int, trouble: Trouble, now: float) -> list[RemoteEffect]:
        """The exchange came to nothing, or its answer broke off."""
        self.now = now
        flight = self._flights.pop(exchange, None)
        if flight is not None:
            if flight.reader is not None:
                self._stream_over(flight, trouble.text)
            else:
                self._undelivered(flight, trouble)
        return self._take()

    def on_timer(self, key: str, now: float) -> list[RemoteEffect]:
        """A timer is due."""
        self.now = now
        if self.closing:
            return self._take()
        flight = self._waiting.pop(key, None)
        if flight is not None:
            self._relaunch(flight)
        elif key == SLOW:
            self._give_up_slow()
        else:
            self._on_timer(key)
        return self._take()

    def close(self, now: float) -> list[RemoteEffect]:
        """The core is done with this connection."""
        self.now = now
        self.closing = True
        for key in self._waiting:
            self.emit(CancelTimer(key))
        self._waiting.clear()
        self._by_id.clear()
        flights, self._flights = self._flights, {}
        for exchange in flights:
            self.emit(Abort(exchange))
        self._closed()
        return self._take()

    # -- what each era does in its own way -----------------------------------------------------------------------------

    def _opened(self) -> None:
        """The connection begins."""

    def _closed(self) -> None:
        """It ends."""

    def _from_core(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        raise NotImplementedError

    def _begun(self, flight: Flight) -> None:
        """The head of an answer is there."""

    def _asked(self, flight: Flight, request: frame.Request, line: bytes) -> None:
        """The server asks something on a stream."""

    def _noted(self, note: frame.Notification) -> None:
        """A notification goes by."""

    def _learn(self, flight: Flight, answer: frame.Result, line: bytes) -> bytes:
        """A result goes by: its line, changed where it must be."""
        return line

    def _fault(self, flight: Flight, answer: frame.Failure | None, body: bytes) -> bool:
        """An answer that failed, as a message or as a status alone; True: it is sent again, or another connection sends it."""
        return False

    def _stream_over(self, flight: Flight, why: str) -> None:
        """A stream has ended."""
        raise NotImplementedError

    def _accepted(self, flight: Flight) -> None:
        """A 2xx without a message."""
        if flight.ids:
            self.refuse(flight, troubles.no_message(flight.status, b"", flight.fields, flight.what))
        else:
            self._over(flight)

    def _on_timer(self, key: str) -> None:
        """A timer of the era's own."""

    def _relaunch(self, flight: Flight) -> None:
        """A flight has waited for its time."""
        self.launch(flight)

    def is_harmless(self, flight: Flight) -> bool:
        """Whether carrying a flight out twice does no harm: it changes nothing at the server, or sets what was set."""
        if flight.kind not in (CALL, RESUME):
            return True
        return flight.request is not None and flight.method != "tools/call" and flight.method in METHODS

    # -- flights -------------------------------------------------------------------------------------------------------

    def _undelivered(self, flight: Flight, trouble: Trouble) -> None:
        if trouble.kind == UNSENT and not trouble.final and flight.tries < len(PAUSES):
            flight.tries += 1
            self.later(flight, PAUSES[flight.tries - 1])
        elif trouble.kind in (UNSENT, NO_CREDENTIALS) or flight.kind != CALL:
            self.give_up(flight, troubles.unreachable(trouble))
        elif not flight.resent and self.is_harmless(flight):
            flight.resent = True
            self._relaunch(flight)
        else:
            self.give_up(flight, troubles.broken_off(flight.what, trouble.text))

    def give_up(self, flight: Flight, refusal: Refusal) -> None:
        """It came to nothing for good."""
        if flight.ids:
            self.refuse(flight, refusal)
        else:
            self.log(WARNING, f"{flight.what} could not be sent: {refusal.message}")
            self._over(flight)

    # -- answers -------------------------------------------------------------------------------------------------------

    def _whole(self, flight: Flight) -> None:
        """A body that is no stream, complete."""
        body = b"".join(flight.body)
        good = 200 <= flight.status < 300
        if flight.size > self.options.max_line:
            self.give_up(flight, errors.answer_too_long(flight.size))
            return
        message = frame.parse(body, lenient=True) if body else None
        messages = [item for item in (message if isinstance(message, list) else [message]) if item is not None]
        if good and (not messages or flight.kind == NOTE):
            self._accepted(flight)
        elif not flight.ids or _says_nothing(messages) or _is_challenged(flight):
            self._no_answer(flight, body)
        elif not good and self._put_off(flight):
            pass
        else:
            self._hear_all(flight, messages, b"" if isinstance(message, list) else body)

    def _hear_all(self, flight: Flight, messages: list[frame.Frame], body: bytes) -> None:
        """The messages of a whole body. Requests of a batch that it leaves out will not be answered any more."""
        again = flight.again
        for item in messages:
            if isinstance(item, frame.Failure) and item.id is None and len(flight.ids) > 1:
                for client_id in list(flight.ids.values()):  # it is about the batch
                    self._heard(flight, frame.Failure(client_id, item.error), b"")
            else:
                self._heard(flight, item, body)
        if flight.ids and flight.again == again:
            self.refuse(flight, troubles.no_message(flight.status, body, flight.fields, flight.what, self.options.redact))

    def _no_answer(self, flight: Flight, body: bytes) -> None:
        """A status without a message that anybody waits for."""
        good = 200 <= flight.status < 300
        if good:
            self.give_up(flight, troubles.no_message(flight.status, body, flight.fields, flight.what, self.options.redact))
        elif not self._put_off(flight) and not self._fault(flight, None, body):
            self.give_up(flight, troubles.answered(flight.status, body, flight.fields, flight.what, self.options.redact))

    def _put_off(self, flight: Flight) -> bool:
        """429, and 503 with a time to come back: it was not carried out. Any other 503 may tell of a lost connection, as 502 and 504 do."""
        is_put_off = flight.status == 429 or (flight.status == 503 and "retry-after" in flight.fields)
        if is_put_off and flight.tries < len(PAUSES):
            asked = _seconds(flight.fields.get("retry-after", ""))
            delay = PAUSES[flight.tries] if asked is None else asked
            if delay > LONGEST_PAUSE:
                return False
            flight.tries += 1
            self.log(DEBUG, f"{flight.what} was put off with status {flight.status}: again in {delay:g} s")
            self.later(flight, delay)
            return True
        if flight.status in _LOST_ON_THE_WAY and not flight.resent and self.is_harmless(flight):
            flight.resent = True
            self.later(flight, PAUSES[0])
            return True
        return False

    def _event(self, flight: Flight, event: Event | TooLong) -> None:
        """One event of a stream."""
        if isinstance(event, TooLong):
            if flight.ids:
                self.refuse(flight, errors.answer_too_long(event.size))
                self._settle(flight)
            else:
                self.loss("framing", f"a message of {event.size} bytes on the server's event stream, more than --max-line allows")
            return
        if not event.data or event.name not in (b"", b"message"):
            return
        message = frame.parse(event.data, lenient=True)
        if isinstance(message, list):
            for item in message:
                self._heard(flight, item, b"")
        elif message is not None:
            self._heard(flight, message, event.data)

    def _heard(self, flight: Flight, message: frame.Frame, line: bytes) -> None:
        """A message of the server's; ``line`` is empty for an entry of a batch."""
        if isinstance(message, frame.Result | frame.Failure):
            self._answered(flight, message, line)
        elif isinstance(message, frame.Notification):
            self._noted(message)
            self.emit(Heard(one_line(line or frame.notification(message.method, _bytes(message.params))), flight.about))
        elif isinstance(message, frame.Request):
            self._asked(flight, message, one_line(line or frame.request(message.id, message.method, _bytes(message.params) or b"{}")))
        else:
            self.log(WARNING, f"the server sent what is no message: {shown(line)}")
            self.loss("framing", "an event of the server's that is no message")

    def _answered(self, flight: Flight, answer: frame.Result | frame.Failure, line: bytes) -> None:
        key = b"" if answer.id is None else frame.id_key(answer.id)
        owner = self._by_id.get(key)
        if owner is not None and owner is not flight and self.own_stream_only:
            self.loss("framing", "an answer on the stream of another request, which it cannot be for")
            return
        if owner is None and len(flight.ids) == 1 and key not in self._taken_back:
            # It is the answer to this request and to no other, whatever the server made of its id.
            key, owner, line = next(iter(flight.ids)), flight, b""
        if owner is None:
            self.log(DEBUG, "the server has answered a request that was cancelled, or none")
            return
        if isinstance(answer, frame.Failure) and self._fault(owner, answer, b""):
            return
        client_id = owner.ids.pop(key)
        self._by_id.pop(key, None)
        if owner.waiter is not None:
            owner.waiter(answer)
        else:
            whole = one_line(line) or _line_of(answer, client_id)
            self.emit(Heard(self._learn(owner, answer, whole) if isinstance(answer, frame.Result) else whole, owner.about))
        if not owner.ids:
            self._settle(owner)


def _says_nothing(messages: list[frame.Frame]) -> bool:
    return not messages or any(isinstance(item, frame.Malformed) for item in messages)


def _is_challenged(flight: Flight) -> bool:
    """A refusal that says what to do; what it says in its body is less."""
    return flight.status in troubles.REFUSED and "www-authenticate" in flight.fields


def one_line(text: bytes) -> bytes:
    """A message on one line, without a byte order mark. A line feed within JSON stands between its tokens only."""
    text = text.removeprefix(_BOM).rstrip(b"\r\n")
    return text.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in text or b"\r" in text else text


def _bytes(params: Raw | None) -> bytes | None:
    return None if params is None else bytes(params)


def _line_of(answer: frame.Result | frame.Failure, client_id: bytes) -> bytes:
    if isinstance(answer, frame.Result):
        return one_line(frame.result(client_id, bytes(answer.result))[:-1])
    return one_line(frame.failure(client_id, bytes(answer.error))[:-1])


def _seconds(retry_after: str) -> float | None:
    """``Retry-After`` in seconds (RFC 9110, section 10.2.3); its other form, a date, needs a clock that agrees with the server's."""
    text = retry_after.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

"""One legacy session: a client that opened with ``initialize``, and the server process that is its own.

Theory of operation (2025-11-25, basic/transports#session-management, and the same page of the two revisions before). What the
client says is relayed unchanged; where the server's words go is ``delivery``'s to decide. A lost connection cancels nothing.

A session is OPENING until the server has answered ``initialize``, LIVE while it has a process, ASLEEP when the process was
ended to make room, WAKING while a new one is shown what the old one knew: the handshake, the log level, the subscriptions.
ENDED sessions are forgotten, and their id is answered 404, which tells the client to begin anew. The death of a server's
process ends its session: what it knew of the client is gone.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.context import Context
from dragoman.bridging.effects import NOTE, ToClient
from dragoman.bridging.legacy_end import LegacyEnd
from dragoman.http.delivery import Delivery
from dragoman.http.exchange import Exchange
from dragoman.http.flights import Batch, Flight, Flights
from dragoman.http.memory import Memory
from dragoman.http.reading import progress_token, readdressed, refusal_of, split
from dragoman.http.shared import Shared
from dragoman.http.streams import Stream
from dragoman_specs.version import Version

OPENING, LIVE, ASLEEP, WAKING, ENDED = "opening", "live", "asleep", "waking", "ended"
BATCHING = Version.V2025_03_26
POLLING = Version.V2025_11_25


class LegacySession:
    """See the module. ``ended`` is called once; ``two_endpoints``: HTTP+SSE of 2024-11-05, where one stream carries everything."""

    def __init__(
        self, shared: Shared, number: int, principal: bytes, session_id: str, ended: Callable[[LegacySession], None], *, two_endpoints: bool
    ) -> None:
        self.number = number
        self.principal = principal
        self.id = session_id
        self.context = Context(
            shared.options, shared.ids, shared.sealer, shared.wall, principal, shared.restarts(principal), shared.verdict
        )
        self.phase = OPENING
        self.two_endpoints = two_endpoints
        self.used_at = 0.0
        self._shared = shared
        self._ended = ended
        self._flights = Flights(self.context, "late")
        self._server = LegacyEnd(self.context, self._told)
        self._memory = Memory(self.context.ids)
        self._delivery = Delivery(self.context, self._flights, self._server.refuse_question, two_endpoints=two_endpoints)

    # -- facts -----------------------------------------------------------------------------------------------------

    @property
    def revision(self) -> Version | None:
        """What was agreed; None before that."""
        return self._server.revision

    @property
    def idle(self) -> bool:
        """Whether no request waits for an answer."""
        return not self._flights

    @property
    def needs_process(self) -> bool:
        """Whether the next message starts a server process."""
        return self._server.number is None

    @property
    def watched(self) -> bool:
        """Whether any client holds a stream of the session open."""
        return self._delivery.connected

    # -- from the client ---------------------------------------------------------------------------------------------

    def initialize(self, exchange: Exchange, request: frame.Request, line: bytes) -> None:
        """The handshake, which begins the session; ``line`` offers a revision that has one."""
        offered = frame.parse(line)
        self._memory.handshake = (offered.params if isinstance(offered, frame.Request) else None) or Raw(b"{}")
        self._flights.add(Flight(request.id, request.method, self._answering(exchange), None), limited=False)
        self._to_server(request, line)
        self._start_timer()

    def message(self, exchange: Exchange, message: frame.Frame, line: bytes) -> None:
        """A single message by POST."""
        self.used_at = self.context.now
        if not isinstance(message, frame.Request):
            self._said(message, line)
            exchange.respond(202)
        elif self._is_free(exchange, [message]):
            stream = self._answering(exchange)
            self._flights.add(Flight(message.id, message.method, stream, progress_token(message.params)))
            self._forward(message, line)
            self._claim(stream)

    def batch(self, exchange: Exchange, items: list[frame.Frame], line: bytes) -> None:
        """A batch: its messages go on one by one, which every server understands, and are answered together (basic/index#batching)."""
        self.used_at = self.context.now
        requests = [item for item in items if isinstance(item, frame.Request)]
        answers = [refusal_of(item) for item in items if isinstance(item, frame.Malformed)]
        if not requests and not answers:
            exchange.respond(202)
        elif self._is_free(exchange, requests):
            stream = self._answering(exchange)
            together = Batch(answers, len(requests) + len(answers))
            for request in requests:
                self._flights.add(Flight(request.id, request.method, stream, progress_token(request.params), together))
            if not requests:
                self._batched(Flight(b"null", "", stream, None, together))
            self._claim(stream)
        else:
            return
        for item, raw in zip(items, split(line), strict=True):
            if isinstance(item, frame.Request):
                self._forward(item, raw)
            elif not isinstance(item, frame.Malformed):
                self._said(item, raw)

    def _said(self, message: frame.Frame, line: bytes) -> None:
        """A notification, or an answer to a question."""
        if isinstance(message, frame.Notification) and message.method == "notifications/cancelled":
            self._cancelled(message)
        elif isinstance(message, frame.Result | frame.Failure) and not self._delivery.answered(frame.id_key(message.id or b"null")):
            self.context.loss("id", "an answer of the client's to no question, or to one that was ended")
            return
        self._forward(message, line)

    def _is_free(self, exchange: Exchange, requests: list[frame.Request]) -> bool:
        if (taken := self._flights.taken(requests)) is not None:
            exchange.answer(frame.failure(taken, errors.id_in_use().encode()), 400)
        return taken is None

    def _cancelled(self, note: frame.Notification) -> None:
        """The client takes a request back: its stream ends, unless others of a batch still wait on it."""
        flight = self._flights.take_back(note)
        if flight is None or self.two_endpoints:
            return
        if flight.batch is None:
            flight.stream.end()
        else:
            self._batched(flight)

    def _answering(self, exchange: Exchange) -> Stream:
        """Where the answer to a POST goes."""
        exchange.owner = self
        if not self.two_endpoints or self._delivery.main is None:
            return self._delivery.open(exchange)
        exchange.respond(202, b"Accepted", ((b"content-type", b"text/plain"),))
        return self._delivery.main

    def _claim(self, stream: Stream) -> None:
        if self.phase != OPENING:
            self._delivery.claim(stream)

    def begin_stream(self, exchange: Exchange) -> None:
        """An answer takes long: its stream begins."""
        stream = self._delivery.of(exchange)
        if stream is not None:
            stream.begin()

    def listen(self, exchange: Exchange, last_event: tuple[int, int] | None) -> bool:
        """A GET: the session's stream, or one that goes on where it was lost; False if that has nothing more."""
        self.used_at = self.context.now
        exchange.owner = self
        return self._delivery.get(exchange, last_event)

    def gone(self, exchange: Exchange) -> None:
        """A connection was closed, which cancels nothing (basic/transports#sending-messages-to-the-server)."""
        stream = self._delivery.of(exchange)
        if stream is None:
            return
        self.used_at = self.context.now
        if not stream.detach() and any(flight.stream is stream for flight in self._flights):
            stream.forsaken = True
        if self.two_endpoints and stream is self._delivery.main:
            self.end("the client closed its event stream")
        elif self.phase == OPENING and not self.two_endpoints:
            self.end("the client left before it was told the session's id")

    # -- to the server ---------------------------------------------------------------------------------------------

    def _forward(self, message: frame.Frame, line: bytes) -> None:
        if self.phase == ASLEEP and self._server.stateless:
            self.phase = LIVE
        if self.phase in (ASLEEP, WAKING):
            self._memory.held.append((message, line))
            if self.phase == ASLEEP:
                self._wake()
            return
        self._to_server(message, line)

    def _to_server(self, message: frame.Frame, line: bytes) -> None:
        self._memory.note(message)
        self._server.from_client(message, line)

    def _wake(self) -> None:
        self.phase = WAKING
        self.context.log(effects.DEBUG, "a legacy session is used again: its server is started anew")
        line = self._memory.hello()
        message = frame.parse(line)
        assert isinstance(message, frame.Request)
        self._to_server(message, line)
        self._start_timer()

    def _awake(self, answer: frame.Frame | list[frame.Frame]) -> None:
        self.context.cancel_timer("start")
        if not isinstance(answer, frame.Result):
            self.end("its server was started anew and did not accept the handshake that it had accepted before")
            return
        self.phase = LIVE
        held, self._memory.held = self._memory.held, []
        for line in self._memory.restored():
            message = frame.parse(line)
            if message is not None and not isinstance(message, list):
                self._to_server(message, line)
        for waiting, line in held:
            if not isinstance(waiting, frame.Notification) or waiting.method != "notifications/initialized":  # sent just now
                self._to_server(waiting, line)
        self._delivery.look_again(self._memory.announced())

    def _start_timer(self) -> None:
        if self._shared.options.start_timeout:
            self.context.timer("start", self._shared.options.start_timeout)

    # -- from the server -------------------------------------------------------------------------------------------

    def from_server(self, _session: int, line: bytes) -> None:
        """A line of the server's; a batch of it is taken apart, since its messages may belong to different streams."""
        for raw in split(line) if line.lstrip()[:1] == b"[" else (line,):
            if raw is not line and raw.lstrip()[:1] == b"[":
                self.context.loss("framing", "an entry of a batch that is no message")
            else:
                self._server.from_server(raw)

    def server_too_long(self, _session: int, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""
        self._server.too_long(head, size)

    def _told(self, message: frame.Frame | list[frame.Frame], line: bytes, answered: bytes | None, about: bytes | None) -> None:
        """What the relay passes on."""
        if answered is not None:
            self._answered(frame.id_key(answered), message, line)
        elif isinstance(message, frame.Request) and message.method == "ping":
            self.context.to_server(self._server.number or 0, frame.result(message.id, b"{}"))
        elif isinstance(message, frame.Request | frame.Notification):
            self._delivery.tell(message, line, about, hold=self.phase == OPENING and not self.two_endpoints)
        elif isinstance(message, frame.Result | frame.Failure):
            self._stray(message)

    def _stray(self, answer: frame.Result | frame.Failure) -> None:
        """An answer under another id than its request's."""
        flight = self._flights.owner(answer.id)
        if answer.id is not None and self._flights.taken_back.pop(frame.id_key(answer.id), b"") is None:
            self.context.log(effects.DEBUG, "the server has answered a request that was cancelled")
            return
        if flight is None:
            self.context.loss("id", "an answer of the server's to no request in flight")
            return
        self._server.forget(flight.client_id)
        self._answered(flight.key, answer, readdressed(answer, flight.client_id))

    def _answered(self, key: bytes, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        if self._memory.is_hello(key):
            self._awake(message)
            return
        flight = self._flights.pop(key)
        self.used_at = self.context.now
        if flight is None:
            return  # the answer to what was restored
        if flight.method == "initialize" and self.phase == OPENING:
            self._opened(flight, message, line)
        elif flight.batch is not None:
            flight.batch.answers.append(line.rstrip(b"\n"))
            self._batched(flight)
        else:
            self._delivery.answer(flight, line)

    def _opened(self, flight: Flight, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        self.context.cancel_timer("start")
        if isinstance(message, frame.Result):
            self.phase = LIVE
            self._memory.opened(message.result)
            flight.stream.primed = self._delivery.primed = self.revision is POLLING
            exchange = flight.stream.exchange
            if exchange is not None and not self.two_endpoints:
                exchange.headers = (*exchange.headers, (b"mcp-session-id", self.id.encode()))
        self._delivery.answer(flight, line)
        if self.phase != LIVE:
            self.end("its server refused initialize")

    def _batched(self, flight: Flight) -> None:
        """Answer a batch when the last of its answers is there."""
        if flight.batch is None or len(flight.batch.answers) < flight.batch.expected:
            return
        if flight.batch.answers:
            self._delivery.answer(flight, b"[%b]\n" % b",".join(flight.batch.answers))
        else:
            flight.stream.end()

    def deliver(self, effect: ToClient) -> None:
        """An error of the relay's own: the server died, or its answer could not be read."""
        if effect.owner is not None and effect.kind != NOTE:
            self._answered(frame.id_key(effect.owner), [], effect.data)

    # -- time and ends -----------------------------------------------------------------------------------------------

    def on_timer(self, key: str) -> None:
        """The handshake takes too long, or questions waited too long for a stream."""
        if key == "asked":
            self._delivery.expire()
        elif key == "late":
            self._too_late()
        elif key.startswith("down-"):
            kind, _, number = key.partition(":")
            self._server.on_timer(kind, int(number or 0))
        elif self.phase in (OPENING, WAKING):
            why = "its server did not answer the handshake"
            self.context.log(effects.ERROR, f"a legacy session ends: {why}")
            self.end(why, errors.server_never_started(self._shared.options.start_timeout or 0.0))

    def _too_late(self) -> None:
        for flight in self._flights.overdue():
            if self._delivery.asks(flight):  # its client is being asked, and the server cannot be blamed for its silence
                self._flights.wait_on(flight)
                continue
            refusal = errors.server_slow(flight.method, self._shared.options.request_timeout or 0.0)
            if not self._memory.drop(flight.client_id):
                self._server.forget(flight.client_id)
                if not self._server.stateless:
                    params = frame.encode({"requestId": Raw(flight.client_id), "reason": refusal.message})
                    self.context.to_server(self._server.number or 0, frame.notification("notifications/cancelled", params))
            self._answered(flight.key, [], frame.failure(flight.client_id, refusal.encode()))

    def unused(self, since: float) -> float | None:
        """When the process was last used, if it does nothing for anybody."""
        is_quiet = not self._flights and not self._delivery.asking and self.used_at <= since
        is_quiet = is_quiet and not (self._memory.follows and self.watched)  # its client waits to hear of a resource
        return self.used_at if is_quiet and self.phase == LIVE and not self.two_endpoints else None

    def give_way(self, _since: float) -> None:
        """Give up the process; the session stays."""
        self._close_process()
        self.phase = ASLEEP

    def session_lost(self, _session: int, reason: str) -> None:
        """The process is gone: those who wait are told why, and the session ends."""
        if self._server.stateless:
            self._server.lost(reason)
            return
        self.context.log(effects.ERROR, f"the server's process of a legacy session has ended: {reason}")
        if self.phase in (OPENING, WAKING):
            self.context.failed(errors.server_ended(reason).message)
        self.context.unserved = True
        self._server.leave()
        self.end("its server has ended", errors.server_ended(reason))

    def end(self, why: str, refusal: errors.Refusal | None = None) -> None:
        """The session is over: by the client's DELETE, for want of use, or because its server is gone."""
        if self.phase == ENDED:
            return
        self.phase = ENDED
        self.context.log(effects.DEBUG, f"a legacy session ends: {why}")
        self._close_process()
        self.context.cancel_timer("start")
        self.context.cancel_timer("asked")
        told = refusal or errors.server_fault(f"The session has ended: {why}")
        for flight in self._flights:
            self._answered(flight.key, [], frame.failure(flight.client_id, told.encode()))
        self._delivery.end()
        self._ended(self)

    def _close_process(self) -> None:
        if self._server.number is not None:
            self.context.close(self._server.number)
        self._server.leave()

    def close(self) -> None:
        """The face is shutting down: the session's stream ends, calls in flight may finish."""
        if not self.two_endpoints:
            self._delivery.end_own()
        if self.idle:
            self.end("the bridge is shutting down")

    def give_up(self) -> None:
        """The drain time is over."""
        self.end("the bridge is shutting down", errors.shutting_down(self._shared.options.drain_timeout))

    def fault(self, exchange: Exchange, text: str) -> None:
        """A fault of ours, of which the client was told: nothing waits for it any more."""
        for flight in self._flights:
            if flight.stream.exchange is exchange:
                self._flights.pop(flight.key)

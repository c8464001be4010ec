"""The dual-era HTTP face: one endpoint for modern and legacy clients at the same time (basic/transports of every revision).

Theory of operation. A shell hands over whole HTTP requests under numbers of its own, *exchanges*, and carries out the effects:
what to answer, what to write to which server process. Behind the face are *parts*, each with memories and processes that
nobody else can reach: a ``ModernSide`` a principal, a ``LegacySession`` a legacy client. Timers and processes are known to
the face by the part that they belong to.

Server processes are counted: one more than ``max_sessions`` is only started if one that has done nothing for a while can be
ended for it, else the request is answered 503. Legacy sessions survive that, asleep; modern ones have nothing to lose but what
their server kept in its head.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman import __version__, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.context import Context
from dragoman.bridging.effects import CancelTimer, CloseSession, Finished, OpenSession, SetTimer, ToClient
from dragoman.bridging.ids import Ids
from dragoman.bridging.options import LONGEST_DRAIN, Options
from dragoman.bridging.sealing import AeadSealer
from dragoman.http.doors import Doors
from dragoman.http.effects import Begin, Chunk, End, HttpEffect, Respond
from dragoman.http.exchange import BEATS, Exchange
from dragoman.http.legacy import ENDED, LegacySession
from dragoman.http.modern import ModernSide
from dragoman.http.options import HttpOptions
from dragoman.http.rejection import Rejection
from dragoman.http.request import HttpRequest
from dragoman.http.shared import Part, Shared, named

_FACE = "face"
_LEAST = 2
_FORGOTTEN = 60.0  # a principal that holds nothing is forgotten after so long


class HttpFace:
    """See the module. ``instance``, ``random``, ``wall_clock``, ``key``: see ``DualFace``. ``ValueError``: an option means nothing."""

    def __init__(
        self,
        options: Options,
        http: HttpOptions,
        instance: str,
        random: Callable[[int], bytes],
        wall_clock: Callable[[], float],
        key: bytes | None,
    ) -> None:
        options = options.changed(isolate_capabilities=True, process_per_call=http.isolation == "session", max_sessions=http.max_sessions)
        self.shared = Shared(options, http, Ids(instance), AeadSealer(key, random), wall_clock, random)
        self.exchanges = self.shared.exchanges
        self.closing = False
        self.now = 0.0
        self._options = options
        self._http = http
        self._own = Context(options, self.shared.ids, self.shared.sealer, wall_clock)
        self._parts: dict[int, Part] = {}
        self._processes: dict[int, Part] = {}
        self._next_part = 0
        self._sides: dict[bytes, ModernSide] = {}
        self.sessions: dict[str, LegacySession] = {}
        self._headless: dict[int, tuple[Exchange, float]] = {}
        self._timers: set[str] = set()
        self._finished = False
        self._last_output = self._closed_at = 0.0
        self._out: list[HttpEffect] = []
        self._doors = Doors(self)
        self.shared.has_room = self.room
        self.shared.watch = self._watch
        if http.forward_authorization and http.isolation == "shared":
            raise ValueError("forward_authorization passes each caller's credentials on, so isolation cannot be 'shared'")
        if options.process_per_call and http.max_sessions < _LEAST:
            raise ValueError("isolation 'session' needs max_sessions of at least 2: one process a call, and one for lists")

    # -- entry points ----------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[HttpEffect]:
        """The face is up."""
        self.now = self._last_output = now
        return self._done()

    def head(self, request: HttpRequest) -> Rejection | int:
        """Judge a request before its body is read: the answer that ends it, or how many bytes of body to read."""
        return self._doors.head(request)

    def request(self, number: int, request: HttpRequest, body: bytes, now: float) -> list[HttpEffect]:
        """A complete request, under a number that is never used twice."""
        self.now = now
        exchange = self._doors.exchange(number, request, self._emit)
        self.exchanges[number] = exchange
        try:
            self._doors.request(exchange, request, body)
        except Exception as fault:  # noqa: BLE001 - a fault of ours costs one request, and that one gets an answer
            self._fault(fault)
            exchange.answer(frame.failure(exchange.client_id, errors.own_fault(type(fault).__name__).encode()), 500)
            owner = exchange.owner
            if isinstance(owner, ModernSide | LegacySession):
                self._guarded(owner, lambda: owner.fault(exchange, "it was answered"))
        self._watch(exchange)
        return self._done()

    def gone(self, number: int, now: float) -> list[HttpEffect]:
        """The client closed the connection before the answer was complete, or takes nothing of it."""
        self.now = now
        exchange = self.exchanges.pop(number, None)
        self._headless.pop(number, None)
        if exchange is not None and not exchange.done:
            exchange.done = True
            owner = exchange.owner
            if isinstance(owner, ModernSide | LegacySession):
                self._guarded(owner, lambda: owner.gone(exchange))
        return self._done()

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[HttpEffect]:
        """One line of a server's, without its newline; ``about``: the id of the request on whose stream it came, where there are such."""
        self.now = self._last_output = now
        part = self._processes.get(session)
        if part is None:
            return self._done()
        context = part.context
        context.now, context.about = now, about
        try:
            part.from_server(session, line)
        except Exception as fault:  # noqa: BLE001 - a fault of ours costs that step, nothing else
            context.batch = None
            self._fault(fault)
        context.about = None
        self.drain(part)
        return self._done()

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[HttpEffect]:
        """A line of a server's over the limit was skipped."""
        return self._server(session, now, lambda part: part.server_too_long(session, head, size))

    def session_lost(self, session: int, reason: str, now: float) -> list[HttpEffect]:
        """A server's process has ended, or could not be started."""
        effects_ = self._server(session, now, lambda part: part.session_lost(session, reason))
        self._processes.pop(session, None)
        return effects_

    def on_timer(self, key: str, now: float) -> list[HttpEffect]:
        """A timer has run out."""
        self.now = now
        owner, _, rest = key.partition("|")
        if owner == _FACE:
            self._timers.discard(rest)
            self._on_own_timer(rest)
        elif (part := self._parts.get(int(owner))) is not None:
            self._guarded(part, lambda: part.on_timer(rest))
        return self._done()

    def close(self, now: float) -> list[HttpEffect]:
        """The end begins: streams end, what is in flight may finish; ``Finished`` says when."""
        self.now = now
        if not self.closing:
            self.closing = True
            self._last_output = self._closed_at = now
            for part in list(self._parts.values()):
                self._guarded(part, part.close)
            self.timer("drain", self._options.drain_timeout)
        return self._done()

    def set_era(self, era: str) -> None:
        """What the server speaks, where that is found out before the first request (a server behind a URL)."""
        self._options.server_era = era

    def begin_anew(self, now: float) -> list[HttpEffect]:
        """The server is of another era: what is in flight fails, sessions end, so that their clients begin anew."""
        self.now = now
        for session in list(self.sessions.values()):
            self._guarded(session, lambda: session.end("the server is another one now"))  # noqa: B023 - called at once
        for side in list(self._sides.values()):
            self._guarded(side, side.leave)
            del self._sides[side.principal]
            self._parts.pop(side.number, None)
        self.shared.verdict.modern = False
        return self._done()

    def caller(self, request: HttpRequest) -> tuple[str, str | None]:
        """For whom a request is, before it is served: see ``Doors``."""
        return self._doors.caller(request)

    def caller_of(self, session: int) -> tuple[str, str | None] | None:
        """For whom a session is: the principal's name, and its credentials, if they are passed on; None: it is over."""
        part = self._processes.get(session)
        return None if part is None else (self.shared.name_of(part.principal), self.shared.authorizations.get(part.principal))

    def health(self) -> dict[str, object]:
        """What ``GET /healthz`` tells: counts, and nothing about anybody."""
        return {
            "status": "closing" if self.closing else "ok",
            "version": __version__,
            "sessions": len(self.sessions),
            "processes": len(self._processes),
            "exchanges": len(self.exchanges),
        }

    # -- parts -----------------------------------------------------------------------------------------------------

    def side(self, principal: bytes) -> ModernSide | None:
        """The part that serves a principal's modern requests, if there is one."""
        side = self._sides.get(principal)
        if side is not None:
            side.context.now = side.used_at = self.now
        return side

    def open_side(self, principal: bytes) -> ModernSide:
        """That part, now."""
        side = self._sides[principal] = ModernSide(self.shared, self._part_number(), principal)
        self._parts[side.number] = side
        side.context.now = side.used_at = self.now
        return side

    def _part_number(self) -> int:
        self._next_part += 1
        self._sweep_later()
        return self._next_part

    def open_session(self, principal: bytes, *, two_endpoints: bool = False) -> LegacySession:
        """A legacy session, not yet initialized."""
        session_id = self.shared.random(24).hex()
        session = LegacySession(self.shared, self._part_number(), principal, session_id, self._ended, two_endpoints=two_endpoints)
        session.context.now = session.used_at = self.now
        self._parts[session.number] = self.sessions[session_id] = session
        return session

    def _ended(self, session: LegacySession) -> None:
        self.sessions.pop(session.id, None)

    def log(self, text: str) -> None:
        """A line for the operator who wants to know why a client is not served."""
        self._own.log(effects.DEBUG, text)

    def loss(self, change: str, detail: str) -> None:
        """Something of no part's could not be carried."""
        self._own.loss(change, detail)

    def room(self, wanted: int = 1) -> bool:
        """Whether so many more processes may be started; those that are idle are ended for them, the longest idle first."""
        while len(self._processes) + wanted + sum(part.context.opening for part in self._parts.values()) > self._http.max_sessions:
            since = self.now - self._http.hibernate_after
            unused = [(when, part) for part in self._parts.values() if (when := part.unused(since)) is not None]
            if not unused:
                return False
            part = min(unused, key=lambda entry: entry[0])[1]
            part.context.now = self.now
            part.give_way(since)
            self.drain(part)
        return True

    # -- effects ---------------------------------------------------------------------------------------------------

    def _server(self, session: int, now: float, step: Callable[[Part], None]) -> list[HttpEffect]:
        self.now = self._last_output = now
        part = self._processes.get(session)
        if part is not None:
            self._guarded(part, lambda: step(part))
        return self._done()

    def _guarded(self, part: Part, step: Callable[[], None]) -> None:
        """One step of a part, and what it wants done; a fault of ours costs that step, nothing else."""
        part.context.now = self.now
        try:
            step()
        except Exception as fault:  # noqa: BLE001 - see the docstring
            part.context.batch = None
            self._fault(fault)
        self.drain(part)

    def drain(self, part: Part) -> None:
        """Take over what a part wants done."""
        out = self._out
        for effect in part.context.take():
            kind = type(effect)
            if kind is ToClient:
                part.deliver(effect)  # type: ignore[arg-type]
            elif kind is SetTimer or kind is CancelTimer:
                out.append(named(part.number, effect))
            else:
                if isinstance(effect, OpenSession):
                    self._processes[effect.session] = part
                elif isinstance(effect, CloseSession):
                    self._processes.pop(effect.session, None)
                out.append(effect)  # type: ignore[arg-type]
        if part.context.pending:
            self.drain(part)
        elif isinstance(part, LegacySession) and part.phase == ENDED:
            self._parts.pop(part.number, None)

    def _emit(self, effect: Begin | Chunk | End | Respond) -> None:
        self._out.append(effect)
        kind = type(effect)
        if kind is not Chunk:
            self._headless.pop(effect.exchange, None)
            if kind is Begin:
                if self._http.keepalive:
                    self.timer("beat", self._http.keepalive / BEATS)
            else:
                self.exchanges.pop(effect.exchange, None)

    def _done(self) -> list[HttpEffect]:
        if self.closing and not self._finished:
            self._end()
        out, self._out = self._out, []
        own = self._own.take()
        return [*out, *own] if own else out  # type: ignore[list-item]

    def _end(self) -> None:
        for session in list(self.sessions.values()):
            if session.idle:
                session.context.now = self.now
                session.end("the bridge is shutting down")
                self.drain(session)
        if all(part.idle for part in self._parts.values()) and not self.exchanges:
            self._finished = True
            contexts = [self._own, *(part.context for part in self._parts.values())]
            failed = any(context.unserved for context in contexts) and not any(context.served for context in contexts)
            self._out.append(Finished(1 if failed else 0))

    def _fault(self, fault: Exception) -> None:
        import traceback

        self._own.log(effects.ERROR, f"internal fault: {type(fault).__name__}: {fault}")
        self._own.log(effects.DEBUG, "".join(traceback.format_exception(fault)))

    # -- time ------------------------------------------------------------------------------------------------------

    def timer(self, name: str, delay: float) -> None:
        """A timer of the face's own, unless it runs already."""
        if name not in self._timers:
            self._timers.add(name)
            self._out.append(SetTimer(f"{_FACE}|{name}", self.now + delay))

    def _watch(self, exchange: Exchange) -> None:
        if exchange.takes_stream and exchange.method != "initialize" and not (exchange.done or exchange.begun or exchange.held):
            self._headless[exchange.number] = (exchange, self.now + self._http.header_wait)
            self.timer("headers", self._http.header_wait)

    def _sweep_later(self) -> None:
        self.timer("sweep", min(60.0, max(1.0, self._http.session_ttl / 4)))

    def _on_own_timer(self, name: str) -> None:
        if name == "headers":
            self._begin_waiting()
        elif name == "beat":
            for exchange in self.exchanges.values():
                exchange.beat()
            if any(exchange.begun for exchange in self.exchanges.values()):
                self.timer("beat", self._http.keepalive / BEATS)
        elif name == "sweep":
            self._sweep()
        elif name == "drain":
            self._drain_over()

    def _begin_waiting(self) -> None:
        """Answers whose status nobody can wait for any longer begin as streams."""
        for number, (exchange, due) in list(self._headless.items()):
            if due > self.now:
                self.timer("headers", due - self.now)
                return
            self._headless.pop(number, None)
            owner = exchange.owner
            if isinstance(owner, LegacySession):
                owner.begin_stream(exchange)
            else:
                exchange.begin()

    def _sweep(self) -> None:
        """End what nobody has used for ``session_ttl``."""
        since = self.now - self._http.session_ttl
        for session in list(self.sessions.values()):
            if session.used_at <= since and not session.watched:
                session.context.now = self.now
                session.end("it was not used for longer than --session-ttl")
                self.drain(session)
        for side in list(self._sides.values()):
            side.context.now = self.now
            while side.unused(since) is not None:
                side.give_way(since)
            self.drain(side)
            if side.used_at <= self.now - _FORGOTTEN and side.empty:
                del self._sides[side.principal]
                del self._parts[side.number]
        if self._parts:
            self._sweep_later()

    def _drain_over(self) -> None:
        quiet_at = min(self._last_output + self._options.drain_timeout, self._closed_at + LONGEST_DRAIN * self._options.drain_timeout)
        if quiet_at > self.now:
            self.timer("drain", quiet_at - self.now)
            return
        for part in list(self._parts.values()):
            self._guarded(part, part.give_up)
        refusal = errors.shutting_down(self._options.drain_timeout).encode()
        for exchange in list(self.exchanges.values()):
            if exchange.client_id is not None:
                exchange.answer(frame.failure(exchange.client_id, refusal))
            exchange.end()

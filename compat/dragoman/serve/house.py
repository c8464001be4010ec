"""Where the core lives under asyncio: requests and time into it, its effects out.

Theory of operation. Everything runs in the thread of one event loop. Whatever happens (a request, a server's line, a timer) is
told to the core at once, and its effects are carried out at once; what they write to servers is sent at the end of the loop's
turn, so that the frames of many requests share one system call. One call of the loop at most is set, for the first timer.
A fault of ours costs one request, never the others: it is told to the operator, and to that client as an internal error.

The end: the core is told to close, finishes what is in flight and says ``Finished``; then every server goes down its ladder.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from dragoman import errors, frame
from dragoman.bridging.effects import ERROR, WARNING, CancelTimer, CloseSession, Finished, Loss, OpenSession, SetTimer, ToServer
from dragoman.bridging.effects import Log as LogEffect
from dragoman.errors import Refusal
from dragoman.http.effects import Begin, Chunk, End, HttpEffect, Respond
from dragoman.http.rejection import Rejection, rpc
from dragoman.http.request import HttpRequest
from dragoman.io.command import CannotStart
from dragoman.io.lines import TooLong
from dragoman.io.log import Log
from dragoman.io.timers import Timers
from dragoman.serve.answer import Answer, Receive
from dragoman.serve.events import LoopEvents
from dragoman.serve.servers import Servers
from dragoman_specs.names import INTERNAL_ERROR

if TYPE_CHECKING:
    from dragoman.io.opener import Opener
    from dragoman.serve.core import Core
    from dragoman.serve.remote import Remote

_LOOKS = 6  # in that time
_QUICK = 0.05  # an answer that comes within this needs nobody to look out for the client's leaving
_HURRY = 0.2  # the grace of each rung of the servers' ladder after a second signal
_LAST_WORDS = 10  # times as long, at the end, for a slow reader of stderr


class House:
    """Drives one core in the running loop. The application (``Bridge``) brings it requests."""

    client_stall = 30.0  # a client that sends nothing of its body, or takes nothing of its answer, for so long is given up

    def __init__(self, core: Core, launcher: Opener, log_level: int, max_line: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.ticks = 0
        self.finished = asyncio.Event()  # the core has nothing more to say
        self.status = 0
        self._core = core
        events = LoopEvents(self.loop, self.happened)
        self._stderr = events.outlet(2, owned=False)
        self.log = Log(self._stderr, log_level)
        self.servers = Servers(self.loop, launcher, self, self.log, events, max_line)
        self._timers = Timers()
        self._call: asyncio.TimerHandle | None = None
        self._called_at = 0.0
        self._answers: dict[int, Answer] = {}
        self._last_number = 0
        self._new: list[tuple[Answer, Receive]] = []  # to be looked at soon: has the client left?
        self._later: deque[Callable[[], None]] = deque()  # for the end of the turn: the core is not to be asked while it is heard
        self._turning = False
        self._is_asking = False
        self._ticking: asyncio.TimerHandle | None = None
        self._empty: asyncio.Future[None] | None = None
        self._closing = False
        self.asking: Answer | None = None  # whose request is being carried on just now, where that is known
        self.remote: Remote | None = None  # a server behind a URL, until its era is known
        self._early: asyncio.Task[Any] | None = None
        self._carriers: dict[type[Any], Callable[[Any], None]] = {
            Respond: lambda effect: self._put(effect, len(effect.body), last=True),
            Begin: self._begin,
            Chunk: lambda effect: self._put(effect, len(effect.data), last=False),
            End: lambda effect: self._put(effect, 0, last=True),
            ToServer: self._to_server,
            OpenSession: self._open,
            CloseSession: lambda effect: self.servers.close(effect.session),
            SetTimer: lambda effect: self._timers.set(effect.key, effect.at),
            CancelTimer: lambda effect: self._timers.cancel(effect.key),
            LogEffect: lambda effect: self.log.say(effect.level, effect.text),
            Loss: lambda effect: self.log.loss(effect.change, effect.detail),
            Finished: self._finished,
        }

    def start(self) -> None:
        """Begin."""
        if self.remote is not None and not self.remote.waits_for_callers:
            self._early = self.loop.create_task(self.remote.ready())  # found out ahead of the first request
        self.servers.prepare()
        self._ask(self._core.start, monotonic())

    # -- requests

    def admit(self) -> Answer:
        """The answer for a request that has come in, served by the running task."""
        self._last_number += 1
        answer = Answer(self._last_number, self.ticks, self.loop)
        self._answers[answer.number] = answer
        if self._ticking is None:
            self._ticking = self.loop.call_later(self.client_stall / _LOOKS, self._tick)
        return answer

    def head(self, request: HttpRequest) -> Rejection | int:
        """Whether its body may come."""
        try:
            return self._core.head(request)
        except Exception as fault:  # noqa: BLE001 - a fault of ours must cost one request, not the others
            self.fault("head", fault)
            return internal_error(b"")

    def begin_anew(self) -> None:
        """The server is another: nothing of what was agreed on with it holds."""
        if not self.finished.is_set():
            self._ask(self._core.begin_anew, monotonic())

    def caller(self, request: HttpRequest) -> tuple[str, str | None]:
        """For whom a request is: the principal's name, and its credentials, if they are passed on."""
        return self._core.caller(request)

    def request(self, answer: Answer, request: HttpRequest, body: bytes, receive: Receive) -> None:
        """The whole request is there."""
        answer.asked = True
        if self.finished.is_set():
            answer.put(_closed(answer.number), 0)
            answer.complete = True
        elif not self._ask_for(answer, request, body):
            self._later.append(partial(self._leave, answer.number))
            self._fail(answer, body)
        elif answer.pending:
            if len(self._answers) == 1:  # nobody else's frame could come with it
                self.servers.flush()
            self._new.append((answer, receive))
            if len(self._new) == 1:
                self.loop.call_later(_QUICK, self._look, 0)

    def _ask_for(self, answer: Answer, request: HttpRequest, body: bytes) -> bool:
        self.asking = answer
        try:
            return self._ask(self._core.request, answer.number, request, body, monotonic())
        finally:
            self.asking = None

    def _to_server(self, effect: ToServer) -> None:
        owner = None if effect.owner is None else self._answers.get(int(effect.owner))
        if owner is None or owner is self.asking or owner.context is None:
            self.servers.write(effect.session, effect.data)
            return
        before, self.asking = self.asking, owner  # it had to wait for something
        try:
            owner.context.run(self.servers.write, effect.session, effect.data)
        finally:
            self.asking = before

    def release(self, answer: Answer) -> None:
        """The request has been served, or its client is gone."""
        del self._answers[answer.number]
        answer.close()
        if answer.asked and not answer.complete:
            self._leave(answer.number)

    def _leave(self, number: int) -> None:
        if not self.finished.is_set():
            self._ask(self._core.gone, number, monotonic())

    def _fail(self, answer: Answer, body: bytes) -> None:
        """A fault of ours: the client is told, if it was told nothing yet."""
        if answer.begun:
            answer.give_up("a fault in answering it")
        elif not answer.complete:
            rejection = internal_error(body)
            answer.put(Respond(answer.number, rejection.status, rejection.headers, rejection.body), 0)
            answer.complete = True

    def _begin(self, effect: Begin) -> None:
        answer = self._answers.get(effect.exchange)
        if answer is not None:
            answer.begun = True
            answer.put(effect, 0)

    def _put(self, piece: Respond | Chunk | End, size: int, *, last: bool) -> None:
        answer = self._answers.get(piece.exchange)
        if answer is None:
            return
        if answer.put(piece, size):
            answer.complete = answer.complete or last
        else:
            answer.give_up("it takes its answer too slowly")

    def _look(self, seen: int) -> None:
        """The first ``seen`` answers have had their time; the rest came since the last look."""
        due, self._new = self._new[:seen], self._new[seen:]
        for answer, receive in due:
            if not answer.complete:
                answer.watch(receive, body_read=True)
        if self._new:
            self.loop.call_later(_QUICK, self._look, len(self._new))

    def _tick(self) -> None:
        """Now and then: who has been waiting for its client for too long?"""
        self.ticks += 1
        oldest = self.ticks - _LOOKS - 1
        for answer in list(self._answers.values()):
            if answer.since is not None and answer.since <= oldest:
                answer.give_up("it has sent and taken nothing for too long")
        self._ticking = self.loop.call_later(self.client_stall / _LOOKS, self._tick) if self._answers else None

    def gave_up(self, answer: Answer) -> None:
        """The coroutine that serves a client has stopped, as it was told to."""
        self.log.say(WARNING, f"a client was dropped: {answer.stalled}")
        self.happened()

    # -- the core

    def _ask(self, method: Callable[..., list[HttpEffect]], *arguments: object) -> bool:
        self.happened()
        before, self._is_asking = self._is_asking, True
        try:
            carriers = self._carriers
            for effect in method(*arguments):
                carriers[type(effect)](effect)
        except Exception as fault:  # noqa: BLE001 - a fault of ours must cost one request, not the others
            self.fault(method.__name__, fault)
            return False
        finally:
            self._is_asking = before
        return True

    def fault(self, where: str, fault: Exception) -> None:
        """Something of ours has failed: for the operator."""
        self.log.say(ERROR, f"internal fault in {where}: {type(fault).__name__}: {fault}")
        self.log.trace()
        self.happened()

    def _open(self, effect: OpenSession) -> None:
        if self.finished.is_set():
            return
        try:
            self.servers.open(effect.session)
        except CannotStart as fault:
            self._later.append(partial(self.session_lost, effect.session, f"could not be started: {fault}"))

    def _finished(self, effect: Finished) -> None:
        self.status = effect.status
        self.finished.set()
        self._timers = Timers()
        for answer in self._answers.values():
            if answer.asked and not answer.complete:
                answer.put(End(answer.number) if answer.begun else _closed(answer.number), 0)
                answer.complete = True

    def from_server(self, session: int, line: bytes | TooLong, about: bytes | None = None) -> None:
        """A line of a server, for the core."""
        if self.finished.is_set():
            return
        if self._is_asking:
            self._later.append(partial(self.from_server, session, line, about))
        elif isinstance(line, bytes):
            self._ask(self._core.from_server, session, line, monotonic(), about)
        else:
            self._ask(self._core.server_too_long, session, line.head, line.size, monotonic())

    def session_lost(self, session: int, reason: str) -> None:
        """A server that cannot answer any more, for the core."""
        if self._is_asking:
            self._later.append(partial(self.session_lost, session, reason))
        elif not self.finished.is_set():
            self._ask(self._core.session_lost, session, reason, monotonic())

    # -- the loop

    def happened(self) -> None:
        """There may be something to send, or another time to be called at: see to it at the end of this turn of the loop."""
        if not self._turning:
            self._turning = True
            self.loop.call_soon(self._turn)

    def _turn(self) -> None:
        while self._later:
            self._later.popleft()()
        self._turning = False
        self.servers.flush()
        self.log.flush()
        self._set_call()
        if self._empty is not None and not self.servers.running and not self._empty.done():
            self._empty.set_result(None)

    def _set_call(self) -> None:
        due = self._timers.next()
        of_servers = self.servers.due()
        if of_servers is not None and (due is None or of_servers < due):
            due = of_servers
        if due is None or (self._call is not None and self._called_at <= due):
            return
        if self._call is not None:
            self._call.cancel()
        self._called_at = due
        self._call = self.loop.call_later(max(0.0, due - monotonic()), self._on_time)

    def _on_time(self) -> None:
        self._call = None
        now = monotonic()
        self.servers.tick(now)
        while not self.finished.is_set() and (key := self._timers.pop(now)) is not None:
            self._ask(self._core.on_timer, key, now)
        self.happened()

    # -- the end

    def begin_shutdown(self) -> None:
        """No more requests will come: streams end, calls may finish."""
        if not self._closing:
            self._closing = True
            if not self._ask(self._core.close, monotonic()):
                self._finished(Finished(1))  # a core that cannot even end must not keep the process

    def hurry(self) -> None:
        """Wait for nothing any more."""
        self.begin_shutdown()
        if not self.finished.is_set():
            self._finished(Finished(0))
        self.servers.end(_HURRY)
        self.happened()

    def abandon(self) -> None:
        """The loop is dead: all that can still be done is to close the servers' stdin."""
        self.servers.abandon()

    async def close(self, stats: bool) -> None:
        """End in order; afterwards no process, descriptor or call of the loop is left."""
        self.begin_shutdown()
        await self.finished.wait()
        self.servers.end()
        self._empty = self.loop.create_future()
        self.happened()
        await self._empty
        if self._early is not None:
            self._early.cancel()
        if self.remote is not None:
            await self.remote.server.close()
        for call in (self._call, self._ticking):
            if call is not None:
                call.cancel()
        if stats:
            self.log.tell(self.log.summary())
        self.log.flush()
        for _ in range(_LAST_WORDS):
            if self._stderr.backlog:
                await asyncio.sleep(_QUICK)
        self._stderr.abort()


def internal_error(body: bytes) -> Rejection:
    """What a client is told of a fault of ours."""
    parsed = frame.parse(body) if body else None
    return rpc(500, parsed.id if isinstance(parsed, frame.Request) else None, Refusal(INTERNAL_ERROR, "Internal error"))


def _closed(number: int) -> Respond:
    rejection = rpc(503, None, errors.going_down(), (b"retry-after", b"5"))
    return Respond(number, rejection.status, rejection.headers, rejection.body)

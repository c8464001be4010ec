"""UpgradeServer: a legacy server (2024-11-05 … 2025-11-25) shown to a client of 2026-07-28.

Theory of operation. The client speaks statelessly: every request carries its envelope. Behind the bridge is one session,
opened by the first request with that request's capabilities and kept warm; ``--isolate-capabilities`` keeps one a
capability set. A request becomes a ``Call``; all calls run at the same time on their session, under wire ids of ours.

Three registries: ``_waiting`` maps ids of client requests in flight to their calls (a duplicate id is refused);
``session.pending`` maps wire ids to what waits for the server's answer; ``Parking`` holds calls whose client has been
asked something. A client request is answered exactly once, by ``_respond``, or is cancelled and hears nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from dragoman import chain, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.answers import LISTS, Answers
from dragoman.bridging.calls import DONE, PARKED, QUEUED, RUNNING, Call, Offers
from dragoman.bridging.context import Context
from dragoman.bridging.cursors import unwrap
from dragoman.bridging.deadlines import Deadlines
from dragoman.bridging.discover import discover_result
from dragoman.bridging.envelope import Envelope, EnvelopeReader
from dragoman.bridging.hearing import Hearing
from dragoman.bridging.listens import Listens
from dragoman.bridging.notes import Notes
from dragoman.bridging.parking import Parking
from dragoman.bridging.pool import Pool
from dragoman.bridging.session import READY, Session
from dragoman.bridging.tools import Tools
from dragoman.errors import Refusal
from dragoman_specs.methods import ASKS, is_removed_core


class UpgradeServer:
    """The bridge itself; see the module. ``on_modern`` is told of a session whose server turned out to be modern."""

    def __init__(self, context: Context, on_modern: Callable[[Session], None]) -> None:
        self.context = context
        self._on_modern = on_modern
        self._reader = EnvelopeReader()
        self._waiting: dict[bytes, Call] = {}
        self.closing = False
        self.proven = context.options.server_era != "auto"  # that the server is a legacy one
        self.pool = Pool(self)
        self.notes = Notes(self)
        self.parking = Parking(self)
        self.listens = Listens(self)
        self.answers = Answers(self)
        self.tools = Tools(lambda text: context.log(effects.WARNING, text))
        self.deadlines = Deadlines(self)
        self.hearing = Hearing(self)

    # -- from the client -------------------------------------------------------------------------------------------

    def read(self, request: frame.Request) -> Envelope | Refusal:
        """The envelope of a request."""
        return self._reader.read(request.params)

    def from_client(self, request: frame.Request, envelope: Envelope) -> None:
        """A modern request whose envelope is good."""
        key = frame.id_key(request.id)
        method = request.method
        if key in self._waiting or key in self.listens:
            self.context.refuse(request.id, errors.id_in_use())
        elif method == "server/discover":
            self.when_known(request, envelope, lambda call, session: self._respond(call, "result", discover_result(session)))
        elif method == "subscriptions/listen":
            self.listens.open(request, key, envelope)
        elif (unserved := errors.unserved_method(method)) is not None:
            self.context.refuse(request.id, unserved)
        elif method in ASKS and ("requestState" in envelope.params or "inputResponses" in envelope.params):
            self.parking.retry(request, envelope)
        else:
            self.start(request, envelope, None)

    def when_known(self, request: frame.Request, envelope: Envelope, step: Callable[[Call, Session], None]) -> None:
        """Run ``step`` for a request that concerns no server process, once it is known that the server is a legacy one."""
        call = Call(self.context.ids.call(), request.method, envelope, request.id)
        session = call.session = self.pool.for_lists(envelope)
        self._waiting[frame.id_key(request.id)] = call

        def ready() -> None:
            if call.status == DONE:
                return
            if session.phase != READY:
                self._refuse_call(call, session)
            else:
                step(call, session)

        session.when_ready(ready)

    def notification(self, note: frame.Notification, *, only_ours: bool) -> bool:
        """A notification from the client; False if it is about nothing of ours (``only_ours``: another era is spoken too)."""
        if note.method != "notifications/cancelled":
            # Modern clients send no other; what a vendor adds goes to the server, if there is one to hear it.
            session = self.pool.anyone()
            if only_ours or session is None or session.phase != READY or is_removed_core(note.method):
                return False
            params = frame.members(note.params) or {}
            stripped = chain.params_to_server(note.method, params, session.revision)
            session.notify(note.method, None if note.params is None else frame.encode(stripped))
            return True
        params = frame.members(note.params) or {}
        target = bytes(params.get("requestId", Raw(b"null")))
        if not frame.valid_id(target):
            return False
        return self._cancel(frame.id_key(target), params.get("reason"))

    def client_gone(self, key: bytes, grace: float) -> None:
        """The stream of a request is closed, which is its cancellation (basic/patterns/cancellation#transport-specific-cancellation).

        A retry may only have lost its stream: its call, with all the answers that were given, lives ``grace`` seconds on for
        the same retry to come again.
        """
        call = self._waiting.get(key)
        if call is not None and call.used_state and call.waiters == [key]:
            del self._waiting[key]
            call.waiters = []
            self.context.timer(f"grace:{call.number}", grace)
        else:
            self._cancel(key, Raw(b'"the client closed the stream"'))

    def grace_over(self, number: int) -> None:
        """The time for a lost retry to come again is over."""
        call = self.parking.resumed(number)
        if call is not None and not call.waiters:
            self.parking.drop_questions(call)
            self.abandon(call, "the client closed the stream")

    def _cancel(self, key: bytes, reason: Raw | None) -> bool:
        if self.listens.cancel(key):
            return True
        call = self._waiting.pop(key, None)
        if call is None:
            return False
        call.waiters = [waiter for waiter in call.waiters if frame.id_key(waiter) != key]
        if not call.waiters:
            self.parking.drop_questions(call)
            why = frame.text(reason) or "cancelled by the client"
            self.context.log(effects.DEBUG, f"{call.method} was cancelled: {why}")
            self.abandon(call, why)
        return True

    def start(self, request: frame.Request, envelope: Envelope, offers: Offers | None) -> None:
        """A fresh call; ``offers`` are answers to questions that it may ask (a retry without state is legal)."""
        call = Call(self.context.ids.call(), request.method, envelope, request.id)
        if offers:
            call.offers = offers
        self._waiting[frame.id_key(request.id)] = call
        call.session = self.pool.for_call(envelope) if call.may_ask else self.pool.for_lists(envelope)
        if call.session.phase == READY:
            self.launch(call)
        else:
            call.session.when_ready(lambda: self.launch(call))

    def admit_waiter(self, call: Call, request: frame.Request, envelope: Envelope) -> None:
        """Another request of the client's waits for this call."""
        call.waiters.append(request.id)
        call.tokens[request.id] = envelope.progress_token
        self._waiting[frame.id_key(request.id)] = call

    # -- to the server ---------------------------------------------------------------------------------------------

    def launch(self, call: Call) -> None:
        """The session is ready (or has failed): the call starts, or waits for its turn."""
        if call.status == DONE:
            return
        session: Session = call.session
        if session.phase != READY:
            self._refuse_call(call, session)
            return
        call.status = QUEUED
        if call.may_ask and self.parking.asking.claim(call):
            # The server waits for an answer that no call of its own needs: it gets that first, then this call.
            call.unsent = True
            self.parking.park(call)
            return
        if not session.turns.admit(call):
            return
        self.admitted(call)

    def run_again(self, call: Call) -> None:
        """Start a call anew whose first run has ended (an accepted URL elicitation), on whatever session is there now."""
        call.status = QUEUED
        call.last_progress = None
        call.session = self.pool.for_call(call)
        call.session.when_ready(lambda: self.launch(call))

    def admitted(self, call: Call) -> None:
        """The call's turn has come."""
        if call.log_level is None:
            self._send(call)
        else:
            self.notes.with_level(call, lambda: self._send(call))

    def _send(self, call: Call) -> None:
        session: Session = call.session
        if call.status == DONE:
            return
        if session.phase != READY:
            self._refuse_call(call, session)
            return
        params = call.params
        if "cursor" in params and call.method in LISTS:
            cursor = unwrap(params["cursor"], session, self.context.ids.instance)
            if cursor is None:
                self.fail(call, errors.cursor_expired())
                return
            params = {**params, "cursor": cursor}
        wire_id = call.wire_id = call.token = self.context.ids.wire()
        meta = call.meta
        if call.asks_progress is not None:
            meta = {**meta, "progressToken": Raw(b"%d" % wire_id)}
        if meta:
            params = {**params, "_meta": Raw(frame.encode(meta))}
        params = chain.params_to_server(call.method, params, session.revision)
        params = self.answers.as_task(call, params)
        session.pending[wire_id] = call
        call.status = RUNNING
        self.deadlines.alive(call)
        self.context.to_server(session.number, frame.request(b"%d" % wire_id, call.method, frame.encode(params)))

    # -- answers ---------------------------------------------------------------------------------------------------

    def deliver(self, call: Call, member: str, *value: bytes | memoryview) -> None:
        """The call's outcome, in parts: to everybody who waits, or kept while nobody does."""
        if call.status == PARKED:
            self.parking.outcome(call, member, b"".join(value))
            return
        self._respond(call, member, *value)

    def _respond(self, call: Call, member: str, *value: bytes | memoryview) -> None:
        for waiter in call.waiters:
            self.context.respond(waiter, member, *value)
            self._waiting.pop(frame.id_key(waiter), None)
        call.waiters = []
        self.parking.done(call, member, value)
        self._ended(call)

    def fail(self, call: Call, refusal: Refusal) -> None:
        """Answer everybody who waits with an error."""
        self._respond(call, "error", refusal.encode())

    def dismiss(self, call: Call, value: bytes) -> None:
        """Answer everybody who waits without ending the call (``input_required``)."""
        for waiter in call.waiters:
            self.context.respond(waiter, "result", value)
            self._waiting.pop(frame.id_key(waiter), None)
        call.waiters = []

    def input_required(self, call: Call, inputs: bytes) -> bytes:
        """The ``InputRequiredResult`` of a call's present round."""
        return self.answers.stamp(
            call.session, b'"resultType":"input_required","inputRequests":%b,"requestState":%b' % (inputs, frame.encode(call.state))
        )

    def deliver_refusal(self, call: Call, text: str) -> None:
        """The user said no: a tool error that a model can read, or an error."""
        if call.method == "tools/call":
            body = b'"resultType":"complete","content":%b,"isError":true' % frame.encode([{"type": "text", "text": text}])
            self.deliver(call, "result", self.answers.stamp(call.session, body))
        else:
            self.deliver(call, "error", errors.server_fault(text).encode())

    def _ended(self, call: Call) -> None:
        call.status = DONE
        self.parking.asking.ended(call)
        self.turn_over(call)
        if call.session is not None:
            if call.log_level is not None:
                self.notes.released(call.session)
            call.session.used_at = self.context.now
            self.pool.finished(call.session)

    def turn_over(self, call: Call) -> None:
        """The call no longer holds its lane: the next one starts."""
        if call.lane is not None and call.session.phase == READY:
            following = call.session.turns.release(call)
            if following is not None:
                self.admitted(following)

    def abandon(self, call: Call, reason: str) -> None:
        """Nobody waits any more: the server is told, a late answer is ignored."""
        session: Session = call.session
        if session.pending.pop(call.wire_id, None) is not None and session.phase == READY:
            self.answers.cancel(call, reason)
        session.turns.forget(call)
        self.parking.abandoned(call)
        self._ended(call)
        self.pool.settled(session)

    def _refuse_call(self, call: Call, session: Session) -> None:
        if not session.is_modern:
            self.fail(call, session.refusal)

    def refuse_failed(self, client_id: bytes, session: Session) -> None:
        """Answer a request whose session came to nothing."""
        if not session.is_modern:
            self.context.refuse(client_id, session.refusal)

    # -- life ------------------------------------------------------------------------------------------------------

    def session_ended(self, session: Session) -> None:
        """The server's process is gone: everybody who waits hears of it, with its exit status and last words.

        Those who wait for the handshake are in ``session.held`` and hear of it there.
        """
        held = session.held
        mine = [call for call in self._waiting.values() if call.session is session and not (held and call.status == QUEUED)]
        session.pending.clear()
        session.turns.clear()
        for call in dict.fromkeys(mine):
            if call.status != DONE:
                call.questions.clear()
                self.fail(call, session.refusal)
        self.parking.session_lost(session)
        self.notes.session_lost(session)
        if not session.single_use:
            self.tools.session_lost()
        if not self.closing:
            self.listens.session_lost(session)

    def session_closed(self, session: Session) -> None:
        """A session is closed by us: nothing of it is kept."""
        self.parking.asking.session_lost(session)
        self.notes.session_lost(session)
        self.listens.session_closed(session)
        if not session.single_use:
            self.tools.session_lost()

    def close(self) -> None:
        """The client has closed its side: parked calls and streams end at once, what is in flight may finish."""
        self.closing = True
        self.listens.close()
        self.parking.close()

    def give_up(self, call: Call, refusal: Refusal) -> None:
        """The server took too long: the client gets an error, the server is told."""
        call.session.pending.pop(call.wire_id, None)
        self.answers.cancel(call, refusal.message)
        self.parking.drop_questions(call)
        self.fail(call, refusal)
        self.pool.settled(call.session)

    def give_up_all(self, refusal: Refusal | None = None) -> None:
        """Nobody is waited for any more: the drain time is over, if ``refusal`` says nothing else."""
        refusal = refusal or errors.shutting_down(self.context.options.drain_timeout)
        calls = list(dict.fromkeys(self._waiting.values()))
        # Those that were never sent go first, so that none of them gets the turn of one that ends here.
        for call in [call for call in calls if call.status != RUNNING]:
            call.session.turns.forget(call)
            self.fail(call, refusal)
        for call in [call for call in calls if call.status == RUNNING]:
            self.give_up(call, refusal)

    def fault(self, client_id: bytes, text: str) -> None:
        """A fault of ours while a request was read: it gets an answer all the same."""
        call = self._waiting.pop(frame.id_key(client_id), None)
        if call is not None:
            call.waiters = [waiter for waiter in call.waiters if waiter != client_id]
        self.context.refuse(client_id, errors.own_fault(text))

    def holds(self, client_id: bytes) -> bool:
        """Whether a client request of this id (its key) waits for an answer, or is a stream."""
        return client_id in self._waiting or client_id in self.listens

    @property
    def idle(self) -> bool:
        """Whether no client request waits for an answer."""
        return not self._waiting

    # -- lookups ---------------------------------------------------------------------------------------------------

    def session_for(self, caller: Envelope) -> Session:
        """The session that serves lists and streams of a request."""
        return self.pool.for_lists(caller)

    def calls_on(self, session: Any) -> list[Call]:
        """Calls in flight at a session's server, parked ones included."""
        return list(session.calls())

    def by_token(self, session: Session, token: int) -> Call | None:
        """A call that runs as a task keeps its progress token while its wire id changes."""
        return next((call for call in session.calls() if call.token == token), None)

    def may_run_again(self, method: str, envelope: Envelope) -> bool:
        """Whether a call whose place was lost may simply be run again (``--replay``, or the tool is listed as harmless)."""
        harmless = method == "tools/call" and self.tools.is_harmless(frame.text(envelope.params.get("name")))
        return self.context.options.replay or harmless

    def modern(self, session: Session) -> None:
        """The server refused ``initialize`` and answered ``server/discover``."""
        self._on_modern(session)

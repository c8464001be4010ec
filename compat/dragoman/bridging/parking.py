"""sep2322_mrtr: questions of a legacy server become ``input_required`` rounds (2026-07-28, basic/patterns/mrtr).

Theory of operation. A question is attached to the running call it most likely belongs to; with none running it is held
for the next call that may ask. After a short quiet window all questions of the call go out together: every waiting client
request is answered ``input_required``, and the call is PARKED. The client's retry brings ``requestState`` back, sealed
by us and new each round; the answers go to the server's questions by their own ids, and the call waits for its response
again. Each call keeps waiting for its own response, so a question carried by the wrong call is still answered right.

What a retry can find: the call parked on exactly this state (resume); the state that was used last, with the same
answers (an honest re-issue after a lost stream: join the running call, or get what it got); anything else is refused, and
``data.reason`` says which: tampered, foreign, replayed, expired, cancelled, server_exited, restarted, unknown.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.asking import Asking
from dragoman.bridging.calls import DONE, PARKED, RUNNING, Call, Offers
from dragoman.bridging.capabilities import covers
from dragoman.bridging.envelope import Envelope
from dragoman.bridging.questions import answer_result, expired_answer, invalid_answer, missing_url_elicitation
from dragoman.bridging.sealing import State, digest_of, read_state

if TYPE_CHECKING:
    from dragoman.bridging.upgrade_server import UpgradeServer

ROUNDS_THAT_CLIENTS_ALLOW = 10
_REMEMBERED = 64
_REMEMBERED_BYTES = 16 << 20
_ENDED = 1024
_MAY_RUN_AGAIN = frozenset({"expired", "server_exited", "restarted", "unknown"})
_WHY = {
    "tampered": "requestState is not one that this bridge has issued to this caller, or was changed on the way: "
    "send it back byte for byte, under the same credentials",
    "foreign": "requestState belongs to another request: retry the call that it was issued for, with the same name and arguments",
    "replayed": "requestState was used before: it is good for one set of answers; use the one of the newest answer",
    "expired": "the question's time ran out, or too many calls waited, so the call is no longer held: call again without requestState",
    "cancelled": "the call was cancelled and is no longer held: call again without requestState",
    "server_exited": "the server's process has ended, so the call is no longer held: call again without requestState",
    "restarted": "the bridge was restarted, so the call is no longer held: call again without requestState",
    "unknown": "the call is no longer held: call again without requestState",
}


class Parking:
    """All parked calls of one bridge and the memory of those that ended."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._parked: OrderedDict[int, Call] = OrderedDict()
        self._resumed: dict[int, Call] = {}
        self._remembered: OrderedDict[int, Call] = OrderedDict()
        self._ended: OrderedDict[int, str] = OrderedDict()
        self.asking = Asking(bridge, self.park)

    def __len__(self) -> int:
        return len(self._parked)

    # -- out: input_required ---------------------------------------------------------------------------------------

    def park(self, call: Call) -> None:
        """Answer everybody who waits for this call with its open questions."""
        inputs = {key: Raw(question.request) for key, question in call.questions.items()}
        self._park(call, frame.encode(inputs))

    def park_for_rerun(self, call: Call, inputs: dict[str, bytes]) -> None:
        """-32042: nothing runs any more; an accepted retry runs the call again (2025-11-25, client/elicitation)."""
        call.rerun = tuple(inputs)
        self._park(call, frame.encode({key: Raw(request) for key, request in inputs.items()}))

    def _park(self, call: Call, inputs: bytes) -> None:
        call.rounds += 1
        if call.rounds == ROUNDS_THAT_CLIENTS_ALLOW + 1:
            asker = call.tool()[1]
            self._context.log(effects.WARNING, f"{asker!r} asks for the {call.rounds}th time; most clients give up after 10 rounds")
        expiry = self._context.wall() + self._context.question_timeout
        state = State(
            call=call.number,
            instance=self._context.ids.instance,
            round=call.rounds,
            expiry=expiry,
            request=digest_of(call.method, call.params),
            questions={key: question.digest for key, question in call.questions.items()},
        )
        call.state = self._context.sealer.seal(state.encode(), self._context.principal)
        call.inputs = self._bridge.input_required(call, inputs)
        call.status = PARKED
        self._resumed.pop(call.number, None)
        self._parked[call.number] = call
        self._bridge.dismiss(call, call.inputs)
        self._context.timer(f"park:{call.number}", self._context.question_timeout)
        self._bridge.turn_over(call)
        if self._bridge.closing:
            self.release(call, "cancelled")
        while len(self._parked) > self._context.options.max_parked:
            oldest = next(iter(self._parked.values()))
            limit = self._context.options.max_parked
            self._context.loss("sep2322_mrtr", f"more than {limit} calls wait for answers: the oldest was released")
            self.release(oldest, "expired")

    # -- in: the retry -----------------------------------------------------------------------------------------------

    def retry(self, request: frame.Request, envelope: Envelope) -> None:
        """A request that carries ``requestState`` or ``inputResponses``."""
        state_raw = envelope.params.pop("requestState", None)
        answers_raw = envelope.params.pop("inputResponses", None)
        answers = {} if answers_raw is None or bytes(answers_raw) == b"null" else frame.members(answers_raw)
        if answers is None:
            self._context.refuse(request.id, errors.invalid_params("inputResponses must be an object of answers by key"))
            return
        if state_raw is None or bytes(state_raw) == b"null":
            self._bridge.start(request, envelope, {key: (answer, None) for key, answer in answers.items()})
            return
        text = frame.text(state_raw)
        if text is None:
            self._context.refuse(request.id, errors.invalid_params("requestState must be a string"))
            return
        state = self._open(text)
        found = "tampered" if state is None else self._find(state, text, request.method, envelope, answers)
        if isinstance(found, Call):
            self._resume(found, text, request, envelope, answers)
        elif state is not None and found in _MAY_RUN_AGAIN and self._bridge.may_run_again(request.method, envelope):
            self._context.log(effects.INFO, f"a retry of {request.method} came too late ({found}): the call is run again")
            given: Offers = {key: (answer, state.questions.get(key, "")) for key, answer in answers.items()}
            self._bridge.start(request, envelope, given)
        elif state is None and not self._bridge.proven:
            # It may be the state of a modern server behind us, which gets it back as it is.
            refusal = errors.lost_state(found, _WHY[found])
            self._bridge.when_known(request, envelope, lambda call, _session: self._bridge.fail(call, refusal))
        else:
            self._context.refuse(request.id, errors.lost_state(found, _WHY[found]))

    def _find(self, state: State, text: str, method: str, envelope: Envelope, answers: dict[str, Raw]) -> Call | str:
        if state.request != digest_of(method, envelope.params):
            return "foreign"
        if state.instance != self._context.ids.instance:
            return "expired" if state.expired(self._context.wall()) else "restarted"
        call = self._parked.get(state.call) or self._resumed.get(state.call) or self._remembered.get(state.call)
        if call is None:
            return self._ended.get(state.call, "unknown")
        if call.state == text and call.status == PARKED:
            return call
        same = call.used_state == text and call.answered_with == frame.encode(answers)
        if same and covers(envelope.capabilities, call.capabilities):  # one that declares less is another request
            return call
        return "replayed"

    def _open(self, text: str) -> State | None:
        opened = self._context.sealer.open(text, self._context.principal)
        return None if opened is None else read_state(opened)

    def _resume(self, call: Call, text: str, request: frame.Request, envelope: Envelope, answers: dict[str, Raw]) -> None:
        if call.used_state == text:
            self._join(call, request, envelope)
            return
        call.used_state = text
        call.answered_with = frame.encode(answers)
        call.wear(envelope)
        del self._parked[call.number]
        self._context.cancel_timer(f"park:{call.number}")
        if envelope.progress_token not in call.tokens.values():
            call.last_progress = None
        call.tokens.clear()
        self._bridge.admit_waiter(call, request, envelope)
        if call.outcome is not None:
            self._flush(call)
            self._answer(call, answers)
            self.asking.ended(call)
            self._remember(call)
            self._bridge.deliver(call, *call.outcome)
            return
        call.status = RUNNING
        self._bridge.deadlines.alive(call)
        self._resumed[call.number] = call
        self._flush(call)
        if call.rerun:
            self._answer_rerun(call, answers)
            return
        if call.unsent:
            self._go_on(call, answers)
        else:
            # A retry may ask for more logs than the request before it: the level is set before the server goes on.
            self._bridge.notes.with_level(call, lambda: self._go_on(call, answers))

    def _go_on(self, call: Call, answers: dict[str, Raw]) -> None:
        if call.status != RUNNING:
            return
        self._answer(call, answers)
        self.asking.check(call)
        if not call.unsent:
            self.asking.claim(call)
            if call.questions:
                self.asking.schedule(call)
        elif call.questions:
            self.park(call)
        else:
            call.unsent = False
            self._bridge.run_again(call)

    def _join(self, call: Call, request: frame.Request, envelope: Envelope) -> None:
        """The same retry again: its first answer was lost on the way."""
        if call.status == PARKED:
            self._context.respond(request.id, "result", call.inputs)
        elif call.status == DONE and call.outcome is not None:
            self._context.respond(request.id, *call.outcome)
        else:
            self._bridge.admit_waiter(call, request, envelope)
            if self.asking.claim(call):  # asked while nobody was there to be told
                self.asking.schedule(call)

    def _answer(self, call: Call, answers: dict[str, Raw]) -> None:
        for key, question in list(call.questions.items()):
            answer = answers.get(key)
            if answer is None:
                continue
            fault = invalid_answer(question, answer)
            if fault is not None:
                self._context.log(effects.WARNING, f"the answer {key!r} is not valid ({fault}): asked again")
                continue
            del call.questions[key]
            self.asking.answer(call.session, question, answer_result(question, answer, call.session.revision))

    def _answer_rerun(self, call: Call, answers: dict[str, Raw]) -> None:
        actions: list[str | None] = []
        for key in call.rerun:
            answer = answers.get(key)
            members = frame.members(answer) if answer is not None else None
            actions.append(frame.text(members.get("action")) if members else None)
        if any(action in ("decline", "cancel") for action in actions):
            call.rerun = ()
            self._bridge.deliver_refusal(call, "The user declined to open the page that this call needs.")
        elif all(action == "accept" for action in actions):
            call.rerun = ()
            self._bridge.run_again(call)
        elif (missing := missing_url_elicitation(call.capabilities)) is not None:
            self._bridge.deliver(call, "error", errors.missing_capability(missing).encode())
        else:
            members = frame.members(Raw(call.inputs)) or {}
            self._park(call, bytes(members["inputRequests"]))

    def _flush(self, call: Call) -> None:
        tail, call.tail = call.tail, type(call.tail)()
        for method, params in tail:
            self._bridge.notes.replay(call, method, params)

    # -- ends --------------------------------------------------------------------------------------------------------

    def outcome(self, call: Call, member: str, value: bytes) -> None:
        """The server has answered a parked call: kept for the retry. A question it carries may be another call's, so it stays."""
        call.outcome = (member, value)

    def done(self, call: Call, member: str, value: tuple[bytes | memoryview, ...]) -> None:
        """A call that has ended; one that was parked before is remembered for an identical re-issue."""
        call.status = DONE
        if self._resumed.pop(call.number, None) is not None:
            call.outcome = (member, b"".join(value))
            self._remember(call)

    def _remember(self, call: Call) -> None:
        call.status = DONE
        if call.outcome is not None and len(call.outcome[1]) > _REMEMBERED_BYTES:
            self._note_end(call.number, "replayed")
            return
        self._remembered[call.number] = call
        size = sum(len(kept.outcome[1]) for kept in self._remembered.values() if kept.outcome)
        while self._remembered and (len(self._remembered) > _REMEMBERED or size > _REMEMBERED_BYTES):
            number, dropped = self._remembered.popitem(last=False)
            size -= len(dropped.outcome[1]) if dropped.outcome else 0
            self._note_end(number, "replayed")

    def abandoned(self, call: Call) -> None:
        """A call that was resumed has been cancelled: the same retry again does not find it."""
        if self._resumed.pop(call.number, None) is not None:
            self._note_end(call.number, "cancelled")

    def release(self, call: Call, reason: str) -> None:
        """Nobody will answer: tell the server, cancel the call, remember why."""
        self._parked.pop(call.number, None)
        self._resumed.pop(call.number, None)
        self._context.cancel_timer(f"park:{call.number}")
        self.drop_questions(call)
        self._note_end(call.number, reason)
        self._bridge.abandon(call, f"the question was not answered in time ({reason})" if reason == "expired" else reason)

    def drop_questions(self, call: Call) -> None:
        """Answer a call's open questions for a client that will not."""
        for key in list(call.questions):
            question = call.questions.pop(key)
            if call.session.phase == "ready":
                call.session.answer(question.wire_id, *expired_answer(question))
            self.asking.forget(question)

    def on_timer(self, number: int) -> None:
        """A parked call's time is up."""
        call = self._parked.get(number)
        if call is not None:
            self.release(call, "expired")

    def session_lost(self, session: object) -> None:
        """Every call parked on a dead session is gone; one whose outcome is known stays."""
        for call in [call for call in self._parked.values() if call.session is session]:
            call.questions.clear()
            if call.outcome is None and not call.rerun and not call.unsent:
                self.release(call, "server_exited")
        self.asking.session_lost(session)

    def close(self) -> None:
        """The client is gone: nobody will retry."""
        for call in list(self._parked.values()):
            self.release(call, "cancelled")

    def _note_end(self, number: int, reason: str) -> None:
        self._ended[number] = reason
        if len(self._ended) > _ENDED:
            self._ended.popitem(last=False)

    def resumed(self, number: int) -> Call | None:
        """A call that runs on after a round."""
        return self._resumed.get(number)

    def on_session(self, session: object) -> bool:
        """Whether any call is parked on this session (such a session is never replaced)."""
        return any(call.session is session for call in self._parked.values())

    def withdrawn(self, session: object, wire_id: bytes) -> None:
        """The server has cancelled a question of its own."""
        for call in (*self._parked.values(), *self._bridge.calls_on(session)):
            for key, question in list(call.questions.items()):
                if question.wire_id == wire_id:
                    del call.questions[key]
                    self.asking.forget(question)
                    return
        self.asking.withdrawn(session, wire_id)

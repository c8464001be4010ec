"""Which call carries a question, and when it goes out (sep2322_mrtr; the stdio channel does not say whose it is, HTTP does).

One running call that may ask: that one. Several: hints first (the progress token or the task it names), then calls whose
tool is known to ask, then any; of these the oldest that has no question yet, else the oldest. None: the question is held
for the next call, which is then asked before it is sent. Questions outside what the caller declared are refused one by one.
Those that arrive together go out together, once the server has been quiet for ``question_window`` seconds, or after five
such windows when it never is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dragoman import errors, frame
from dragoman.bridging.calls import RUNNING, Call
from dragoman.bridging.ids import number_of
from dragoman.bridging.questions import (
    Question,
    Refusal,
    answer_result,
    expired_answer,
    invalid_answer,
    merge_capabilities,
    missing_capability,
    read_question,
    unique_key,
)
from dragoman_specs.names import INVALID_PARAMS, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from dragoman.bridging.session import Session
    from dragoman.bridging.upgrade_server import UpgradeServer

_HELD = 16
_WINDOWS = 5
_QUESTIONS = 64


class _Held(Struct):
    question: Question
    at: float


class Asking:
    """Questions between the server's request and the round that carries them; ``park`` sends a round."""

    def __init__(self, bridge: UpgradeServer, park: Callable[[Call], None]) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._park = park
        self._asking: dict[int, Call] = {}
        self._held: dict[int, deque[_Held]] = {}
        self._open: set[tuple[int, bytes]] = set()

    def ask(self, session: Session, request: frame.Request) -> None:
        """The server asks."""
        key = (session.number, frame.id_key(request.id))
        if key in self._open:
            self._context.refuse_server(session.number, request.id, errors.id_in_use())
            return
        question = read_question(request.id, request.method, request.params, {})
        if isinstance(question, Refusal):
            self._context.refuse_server(session.number, request.id, question)
            return
        self._open.add(key)
        question.session, question.params = session.number, request.params
        call = self._carrier(session, question)
        if call is None:
            self._hold(session, _Held(question, self._context.now))
        else:
            self._attach(call, question)

    def _carrier(self, session: Session, question: Question) -> Call | None:
        running = [call for call in session.calls() if call.may_ask and call.status == RUNNING and call.waiters]
        token = number_of(question.progress_token)
        owner = number_of(self._context.about)
        if owner is not None:  # it came on the stream of a request
            mine = [call for call in running if call.wire_id == owner]
            running = mine or running
        for call in running:
            if (token is not None and token == call.token) or (question.task_id is not None and question.task_id == call.task_id):
                return call
        likely = [call for call in running if session.turns.asks(call)] or running
        # One that has no question yet first: many calls of a new tool would else all ask through the oldest of them.
        return next((call for call in likely if not call.questions), likely[0] if likely else None)

    def _attach(self, call: Call, question: Question) -> None:
        session: Session = call.session
        if question.method == "sampling/createMessage":
            # What is left of includeContext depends on this client's capabilities.
            again = read_question(question.wire_id, question.method, question.params, call.capabilities)
            if isinstance(again, Question):
                again.session, again.params = question.session, question.params
                question = again
        if self._refused(call, question):
            return
        if len(call.questions) >= _QUESTIONS:
            self.answer(session, question, errors.server_fault(f"More than {_QUESTIONS} questions of one call are open"))
            return
        key = unique_key(question, call.keys)
        call.keys.add(key)
        offer = call.offers.pop(key, None)
        if offer is not None and offer[1] in (None, question.digest) and invalid_answer(question, offer[0]) is None:
            self.answer(session, question, answer_result(question, offer[0], session.revision))
            return
        for loss in question.losses:
            self._context.loss(loss.change, loss.detail)
        call.questions[key] = question
        self.schedule(call)

    def _refused(self, call: Call, question: Question) -> bool:
        """Refuse a question that the client did not declare; False if it did."""
        missing = missing_capability(question, call.capabilities)
        if missing is None:
            return False
        if call.status == RUNNING and not call.unsent:  # what was asked before the call was sent cannot be why it fails
            call.refused = merge_capabilities(call.refused, missing)
        # An undeclared mode of elicitation is -32602 (2025-11-25, client/elicitation#error-handling); what the client lacks
        # altogether it has no method for.
        lacking = question.method != "elicitation/create" and question.method.split("/")[0] not in call.capabilities
        why = f"The client did not declare the capability for {question.method}: {_named(missing)}"
        self.answer(call.session, question, Refusal(METHOD_NOT_FOUND if lacking else INVALID_PARAMS, why))
        return True

    def check(self, call: Call) -> None:
        """A retry may declare less than the request before it: what it does not declare is not asked again (basic/patterns/mrtr)."""
        for key, question in list(call.questions.items()):
            if self._refused(call, question):
                del call.questions[key]

    def answer(self, session: Session, question: Question, answer: bytes | Refusal) -> None:
        """Send an answer, or why there is none, to the server."""
        self.forget(question)
        if session.phase != "ready":
            return
        if isinstance(answer, Refusal):
            session.answer(question.wire_id, "error", answer.encode())
        else:
            session.answer(question.wire_id, "result", answer)

    def forget(self, question: Question) -> None:
        """The question is answered, withdrawn or void: its id may be used again."""
        self._open.discard((question.session, frame.id_key(question.wire_id)))

    # -- the window ------------------------------------------------------------------------------------------------

    def schedule(self, call: Call) -> None:
        """Let the round go out when the server is quiet."""
        if call.number not in self._asking:
            self._asking[call.number] = call
            call.asked_at = self._context.now
            self._context.timer(f"ask:{call.number}", self._context.options.question_window)

    def on_timer(self, number: int) -> None:
        """The window of a call has passed."""
        call = self._asking.get(number)
        if call is None:
            return
        window = self._context.options.question_window
        quiet_at = call.session.last_output + window
        if quiet_at > self._context.now and self._context.now < call.asked_at + _WINDOWS * window:
            self._context.timer(f"ask:{number}", quiet_at - self._context.now)
            return
        del self._asking[number]
        if call.status == RUNNING and call.waiters and call.questions:
            call.session.turns.remember(call)
            self._park(call)

    def ended(self, call: Call) -> None:
        """The call was answered or given up while its questions waited for their round: they were another's.

        A server does not answer a call whose question is open, so such a question goes to the next candidate.
        """
        if self._asking.pop(call.number, None) is not None:
            self._context.cancel_timer(f"ask:{call.number}")
        for key in list(call.questions):
            question = call.questions.pop(key)
            other = self._carrier(call.session, question)
            if other is None:
                self._hold(call.session, _Held(question, self._context.now))
            else:
                self._attach(other, question)

    # -- held ------------------------------------------------------------------------------------------------------

    def _hold(self, session: Session, held: _Held) -> None:
        waiting = self._held.setdefault(session.number, deque())
        if len(waiting) >= _HELD:
            why = "No call is running that could carry this question, and too many are waiting for one"
            self.answer(session, held.question, errors.server_fault(why))
            return
        waiting.append(held)
        self._context.timer(f"held:{session.number}", waiting[0].at + self._context.question_timeout - self._context.now)

    def claim(self, call: Call) -> bool:
        """The call takes the questions that waited for one; True if its client has to be asked."""
        for held in self._held.pop(call.session.number, ()):
            self._attach(call, held.question)
        return bool(call.questions)

    def on_held_timer(self, session: Session) -> None:
        """Held questions that nobody came for."""
        waiting = self._held.get(session.number)
        while waiting and waiting[0].at + self._context.question_timeout <= self._context.now:
            question = waiting.popleft().question
            self.forget(question)
            session.answer(question.wire_id, *expired_answer(question))
        if waiting:
            self._context.timer(f"held:{session.number}", waiting[0].at + self._context.question_timeout - self._context.now)

    def withdrawn(self, session: Any, wire_id: bytes) -> None:
        """The server takes back a question that is still held."""
        waiting = self._held.get(session.number)
        for held in list(waiting or ()):
            if held.question.wire_id == wire_id and waiting is not None:
                waiting.remove(held)
                self.forget(held.question)

    def session_lost(self, session: Any) -> None:
        """Nobody is left to answer."""
        self._held.pop(session.number, None)
        self._open = {entry for entry in self._open if entry[0] != session.number}


def _named(capabilities: dict[str, Any]) -> str:
    return ", ".join(f"{name}.{sub}" if sub else name for name, subs in capabilities.items() for sub in (subs or {"": None}))

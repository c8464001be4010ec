"""What a legacy server says, handed to the part that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import chain, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.broken import shown
from dragoman.bridging.calls import Call
from dragoman.bridging.listens import LIST_CHANGES
from dragoman.bridging.notes import MESSAGE, PROGRESS
from dragoman.bridging.session import Session
from dragoman_specs.methods import METHODS
from dragoman_specs.version import Version

if TYPE_CHECKING:
    from dragoman.bridging.upgrade_server import UpgradeServer

_CHANGED = {method for _, method in LIST_CHANGES.values()}
_QUESTIONS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
_ANSWERS = (frame.Result, frame.Failure)
BATCHING = Version.V2025_03_26
_UPDATED = "notifications/resources/updated"
_SWALLOWED = frozenset({"notifications/elicitation/complete", "notifications/tasks/status"})


class Hearing:
    """Reads a server's frames for one bridge."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context

    def hear(self, number: int, message: frame.Frame, line: bytes) -> None:
        """One frame of a legacy server's."""
        session = self._bridge.pool.by_number(number)
        if session is None:
            return
        session.last_output = self._context.now
        if isinstance(message, _ANSWERS):
            self._answered(session, message)
        elif isinstance(message, frame.Notification):
            self._notified(session, message)
        elif isinstance(message, frame.Request):
            self._asked(session, message)
        elif isinstance(message, frame.Malformed):
            self._bridge.answers.malformed(session, message, line)

    def hear_batch(self, number: int, items: list[frame.Frame], line: bytes) -> None:
        """A batch, which only 2025-03-26 knows: what can be answered at once is answered as one (basic/index#batching)."""
        session = self._bridge.pool.by_number(number)
        if session is None:
            return
        if all(isinstance(item, frame.Malformed) for item in items):
            self._context.noise(shown(line))
            return
        if session.revision is not BATCHING:
            self._context.loss("pr0416_no_batching", "a batch from a server whose revision has none: its messages were taken one by one")
        else:
            self._context.batch = []
        try:
            for item in items:
                self._hear_entry(number, item, line)
        finally:
            answers, self._context.batch = self._context.batch, None
            if answers:
                self._context.to_server(number, b"[%b]\n" % b",".join(answers))

    def _hear_entry(self, number: int, item: frame.Frame, line: bytes) -> None:
        if not isinstance(item, frame.Malformed):
            self.hear(number, item, line)
        elif item.id is not None:
            self.hear(number, item, b'{"id":%b}' % item.id)
        else:
            self._context.loss("framing", f"an entry of a batch that is no message: {item.message}")

    def _answered(self, session: Session, answer: frame.Result | frame.Failure) -> None:
        wire_id = self._bridge.answers.owner(session, answer.id)
        entry = session.pending.pop(wire_id, None) if wire_id is not None else None
        if entry is None and self._bridge.answers.is_late(session, answer.id):
            self._context.log(effects.DEBUG, "the server has answered a request that was cancelled or had timed out")
        elif entry is None:
            self._context.loss("id", "an answer of the server's to no request in flight")
        elif isinstance(entry, Call):
            self._call_answered(entry, answer)
        else:
            entry(answer)
        self._bridge.pool.settled(session)

    def _call_answered(self, call: Call, answer: frame.Result | frame.Failure) -> None:
        try:
            self._bridge.answers.answered(call, answer)
        except Exception as fault:
            # The answer is no longer in ``pending``: without this nobody would ever hear of the call again.
            self._bridge.deliver(call, "error", errors.own_fault(type(fault).__name__).encode())
            raise

    def _asked(self, session: Session, request: frame.Request) -> None:
        if request.method == "ping":
            session.answer(request.id, "result", b"{}")
        elif request.method in _QUESTIONS:
            self._question(session, request)
        else:
            self._context.refuse_server(session.number, request.id, errors.unknown_method(request.method))

    def _question(self, session: Session, request: frame.Request) -> None:
        try:
            self._bridge.parking.asking.ask(session, request)
        except Exception as fault:
            self._context.refuse_server(session.number, request.id, errors.own_fault(type(fault).__name__))
            raise

    def _notified(self, session: Session, note: frame.Notification) -> None:
        params = frame.members(note.params)
        if params is None:
            self._context.loss("notification", f"{note.method} whose params are no object")
        elif note.method == PROGRESS:
            self._bridge.notes.progress(session, params)
        elif note.method == MESSAGE:
            self._bridge.notes.message(session, note.params or Raw(b"{}"))
        elif note.method in _CHANGED or note.method == _UPDATED:
            self._changed(session, note.method, params)
        elif note.method == "notifications/cancelled":
            self._bridge.parking.withdrawn(session, bytes(params.get("requestId", Raw(b"null"))))
        elif note.method not in _SWALLOWED:
            self._unknown_note(session, note)

    def _changed(self, session: Session, method: str, params: dict[str, Raw]) -> None:
        shaped = chain.notification_to_client(
            Raw(frame.encode(params)), chain.Crossing(method, session.revision, b"", session.server_capabilities)
        )
        if isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
        elif method == _UPDATED:
            self._bridge.listens.updated(session, frame.members(Raw(shaped.raw)) or {})
        else:
            if method == "notifications/tools/list_changed":
                self._bridge.tools.forget()
            self._bridge.listens.changed(session, method, frame.members(Raw(shaped.raw)) or {})

    def _unknown_note(self, session: Session, note: frame.Notification) -> None:
        running = [call for call in session.calls() if call.waiters]
        crossing = chain.Crossing(note.method, session.revision, b"", session.server_capabilities)
        shaped = chain.notification_to_client(note.params or Raw(b""), crossing)
        if note.method in METHODS:
            self._context.loss("notification", f"{note.method}, which is not a server's to send")
        elif isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
        elif len(running) == 1:
            self._context.note(running[0].waiters[-1], note.method, shaped.raw or None)
        else:
            self._context.loss("notification", f"{note.method}, which belongs to no one call")

    def too_long(self, number: int, head: bytes, size: int) -> None:
        """A line of the server's over the limit: its owner hears of it, the session goes on."""
        session = self._bridge.pool.by_number(number)
        if session is not None:
            session.last_output = self._context.now
            self._bridge.answers.broken(session, head, errors.answer_too_long(size), whole=False)

"""A client's request on its way through a legacy session, and the order in which such calls may start.

Theory of operation. A call is QUEUED until its session is ready and its turn has come, RUNNING while the server works on
it and a client waits, PARKED while the client has been answered ``input_required`` and nobody waits, DONE at its end.
The server sees one request for the whole of it; the client sees one request a round.

Over stdio a question of a legacy server does not say which call it belongs to. So a tool that has asked before is
remembered, and its calls start one after another: the next when the one before has asked (is parked) or has ended.
Everything else stays concurrent, and a parked call holds nobody up.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.envelope import Envelope
from dragoman.bridging.questions import Question
from dragoman_specs.methods import ASKS

QUEUED, RUNNING, PARKED, DONE = "queued", "running", "parked", "done"
TAIL_LIMIT = 100
_ASKERS = 1024

Lane = tuple[str, str]
Offers = dict[str, tuple[Raw, str | None]]
"""Answers by key that came before their question, each with the digest of the question it was given for (None: any)."""


class Call:
    """One logical call; ``waiters`` are the JSON-RPC ids of client requests that wait for its answer."""

    __slots__ = (
        "answered_with", "asked_at", "capabilities", "client_info", "deadline", "inputs", "keys", "lane", "last_progress", "log_level",
        "meta", "method", "name", "number", "offers", "outcome", "params", "questions", "refused", "rerun", "rounds", "sent_as_task",
        "session", "started", "state", "status", "tail", "task_id", "token", "tokens", "unsent", "uri", "used_state", "waiters", "wire_id",
    )  # fmt: skip

    def __init__(self, number: int, method: str, envelope: Envelope, client_id: bytes) -> None:
        self.number = number
        self.method = method
        self.waiters = [client_id]
        self.params = envelope.params
        self.name = frame.text(envelope.params.get("name"))
        self.uri = frame.text(envelope.params.get("uri"))
        self.tokens = {client_id: envelope.progress_token}
        self.wear(envelope)
        self.status = QUEUED
        self.session: Any = None
        self.wire_id = 0
        self.token = 0
        self.sent_as_task = False
        self.lane: Lane | None = None
        self.started = 0.0
        self.deadline = 0.0
        self.last_progress: float | None = None
        self.task_id: str | None = None
        self.tail: deque[tuple[str, bytes]] = deque()
        self.outcome: tuple[str, bytes] | None = None
        # Questions: those not yet answered by key, every key ever used, answers that came before they were asked,
        # capabilities that were missing, the keys of URL elicitations after which the call runs again, and
        # whether the call waits for an answer before it is even sent.
        self.questions: dict[str, Question] = {}
        self.keys: set[str] = set()
        self.offers: Offers = {}
        self.refused: dict[str, Any] = {}
        self.rerun: tuple[str, ...] = ()
        self.unsent = False
        self.asked_at = 0.0
        # Rounds: the present requestState with the answer it came in, and the one before with what it was answered with.
        self.rounds = 0
        self.state = ""
        self.inputs = b""
        self.used_state = ""
        self.answered_with = b""

    def wear(self, envelope: Envelope) -> None:
        """Take over what belongs to one request of the client's: capabilities, log level, foreign ``_meta`` keys."""
        self.meta = envelope.meta
        self.capabilities = envelope.capabilities
        self.client_info = envelope.client_info
        self.log_level = envelope.log_level

    @property
    def asks_progress(self) -> tuple[bytes, bytes] | None:
        """The newest request that waits and has a progress token: its id and the token."""
        for waiter in reversed(self.waiters):
            token = self.tokens.get(waiter)
            if token is not None:
                return waiter, token
        return None

    @property
    def may_ask(self) -> bool:
        """Whether a question can be told to this call's client."""
        return self.method in ASKS

    def tool(self) -> Lane:
        """What is remembered of a tool, prompt or resource that asks."""
        return (self.method, self.name or self.uri or "")


class Turns:
    """Decides which calls of one session may start (see the module's theory of operation)."""

    __slots__ = ("_askers", "_running", "_strict", "_waiting")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._askers: set[Lane] = set()
        self._running: dict[Lane, Call] = {}
        self._waiting: dict[Lane, deque[Call]] = {}

    def asks(self, call: Call) -> bool:
        """Whether this call's tool is known to ask."""
        return call.tool() in self._askers

    def remember(self, call: Call) -> None:
        """This call has asked: from now on its tool's calls start one after another."""
        if len(self._askers) >= _ASKERS:
            self._askers.clear()
        self._askers.add(call.tool())

    def admit(self, call: Call) -> bool:
        """True if the call may start now; else it is kept and comes back from ``release``."""
        lane = self._lane(call)
        if lane is None:
            return True
        if lane in self._running:
            self._waiting.setdefault(lane, deque()).append(call)
            return False
        call.lane = lane
        self._running[lane] = call
        return True

    def release(self, call: Call) -> Call | None:
        """The call has asked or ended: the next one of its lane, already admitted."""
        lane = call.lane
        if lane is None or self._running.get(lane) is not call:
            return None
        call.lane = None
        waiting = self._waiting.get(lane)
        if not waiting:
            self._waiting.pop(lane, None)
            del self._running[lane]
            return None
        following = waiting.popleft()
        following.lane = lane
        self._running[lane] = following
        return following

    def forget(self, call: Call) -> None:
        """Drop a call that may still wait for its turn."""
        for waiting in self._waiting.values():
            if call in waiting:
                waiting.remove(call)

    def clear(self) -> None:
        """Nobody gets a turn any more."""
        self._running.clear()
        self._waiting.clear()

    def _lane(self, call: Call) -> Lane | None:
        if not call.may_ask:
            return None
        if self._strict:
            return ("", "")
        tool = call.tool()
        return tool if tool in self._askers else None

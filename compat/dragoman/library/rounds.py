"""Questions in the middle of a handler, with nothing kept between two rounds (2026-07-28, basic/patterns/mrtr).

Theory of operation. A question ends the handler's run; the client gets ``input_required`` with a sealed ``requestState`` that holds
every answer so far. The retry runs the handler again from its start, in whichever process it lands: what was asked before is
answered at once from the state, the present answers come with the request, and the run goes on to the next question or to its end. So
a handler does before a question nothing that must not be done twice, or does it through ``Context.once``, whose outcome is in the
state too. An answer counts for the very question that it was given to: where a later run asks another one, it is asked.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.bridging.sealing import Sealer, digest
from dragoman.library.errors import ProtocolError
from dragoman.library.questions import Question
from dragoman_specs.names import INVALID_PARAMS

LIFE = 3600.0
"""Seconds that a client has for an answer."""
_MOST = 64


class Asked(BaseException):
    """Ends a run: these questions, by their keys, have to be answered first. Not for handlers to catch."""

    def __init__(self, questions: dict[str, Question[Any]]) -> None:
        super().__init__("the client is asked")
        self.questions = questions


class Rounds:
    """The answers that one run of a handler has. ``bound`` names the request and its principal, ``wall`` is epoch seconds."""

    def __init__(self, sealer: Sealer, bound: bytes, wall: float) -> None:
        self._sealer = sealer
        self._bound = bound
        self._wall = wall
        self._given: dict[str, tuple[str, Any]] = {}  # a question's digest, and its answer
        self._done: dict[str, Any] = {}
        self._put: dict[str, str] = {}  # digests of the questions that the client was asked last
        self._keys: set[str] = set()
        self._numbers: dict[str, int] = {}
        self.fresh: dict[str, Any] = {}
        self.is_first = True  # the client brought no state
        self.pending: dict[str, Question[Any]] = {}

    def resume(self, state: str) -> bool:
        """Take up the state that the client brought back; False if it is none, is another's, or has expired."""
        payload = self._sealer.open(state, self._bound)
        if payload is None:
            return False
        try:
            expiry, self._given, self._done, self._put = msgspec.json.decode(payload)
        except (msgspec.MsgspecError, TypeError, ValueError):  # sealed by another version of this program
            return False
        return bool(self._wall < expiry)

    def state(self) -> str:
        """What the client is to bring back."""
        put = {key: _digest_of(question) for key, question in self.pending.items()}
        return self._sealer.seal(msgspec.json.encode((self._wall + LIFE, self._given, self._done, put)), self._bound)

    def ask(self, questions: tuple[Question[Any], ...]) -> list[Any]:
        """The answers, if they are all there; else the run ends here. Raises ``ProtocolError`` for an answer that does not fit."""
        named = {self._key(question): question for question in questions}
        answers: dict[str, Any] = {}
        for key, question in named.items():
            raw = self._answer_to(key, _digest_of(question), named=question.name is not None)
            if raw is not None:
                answers[key] = _read(key, question, raw)
        missing = {key: question for key, question in named.items() if key not in answers}
        if missing:
            self.pending.update(missing)
            raise Asked(missing)
        return [answers[key] for key in named]

    def _answer_to(self, key: str, asked: str, *, named: bool) -> dict[str, Any] | None:
        raw: Any = None
        if key in self._given and self._given[key][0] == asked:
            raw = self._given[key][1]
        elif self._put.get(key) == asked or (named and self.is_first):  # a key of the author's says itself what it answers
            raw = self.fresh.get(key)
        if not isinstance(raw, dict):
            return None
        self._given[key] = (asked, raw)
        return raw

    def _key(self, question: Question[Any]) -> str:
        if len(self._keys) >= _MOST:
            raise RuntimeError(f"a call asks at most {_MOST} questions")
        key = question.name
        if key is None:
            self._numbers[question.kind] = number = self._numbers.get(question.kind, 0) + 1
            key = f"{question.kind}-{number}"
        if key in self._keys:
            raise ValueError(f"two questions of one call have the key {key!r}")
        self._keys.add(key)
        return key

    def outcome(self, name: str) -> tuple[bool, Any]:
        """Whether something was done in an earlier run, and what came of it."""
        return name in self._done, self._done.get(name)

    def done(self, name: str, value: Any) -> Any:
        """Something was done; its outcome as a later run gets it. Raises ``TypeError`` for one that has no form in JSON."""
        self._done[name] = msgspec.json.decode(msgspec.json.encode(value))
        return self._done[name]


def _read(key: str, question: Question[Any], raw: dict[str, Any]) -> Any:
    try:
        return question.read(raw)
    except ValueError as fault:
        raise ProtocolError(
            INVALID_PARAMS, f"Invalid params: the answer to {key} ({question.method}) does not fit the question: {fault}"
        ) from None


def _digest_of(question: Question[Any]) -> str:
    return digest(question.method, msgspec.json.encode(question.params(), order="sorted"))

"""A legacy client's request on its way through a modern server, and its rounds of questions (2026-07-28, basic/patterns/mrtr).

Theory of operation. The client sees one request; the server sees one a round, each under a new id. ``input_required`` ends a
round: every entry becomes a real request to the client, and when all are answered the call goes out again with the answers
under their keys and ``requestState`` byte for byte. A round without entries only asks for patience, and is paced. Between two
rounds the server holds nothing, so nothing is lost when its process ends.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from dragoman import frame
from dragoman.bridging.questions import Question
from dragoman_specs.names import META_MODERN, PROGRESS_TOKEN

ROUNDS = 32
"""The specification leaves the bound to the client; most stop at 10, and no honest server needs more than this."""
PACE = 0.25


def members_of(result: Raw) -> dict[str, Raw] | None:
    """None for what is no object, or nested too deeply: the chain says so."""
    try:
        return frame.members(result)
    except RecursionError:
        return None


_COMPLETE = Raw(b'"complete"')


def result_type(result: dict[str, Raw] | None) -> Any:
    """What a result says it is, by its members; one that says nothing is complete (2026-07-28, basic/index#result-responses).

    So is what is no object: the chain says so.
    """
    said = None if result is None else result.get("resultType")
    return "complete" if said is None or said == _COMPLETE else frame.tree(said)


class Asked(Struct, eq=False):
    """One question at the client: the key of its answer, what was asked, and the id of what is to be opened in a browser, if it is that."""

    key: str
    question: Question
    params: Raw | None
    elicitation_id: str | None

    @property
    def method(self) -> str:
        """Of the request."""
        return self.question.method


class DownCall:
    """One request of the client's. ``wire_id`` is that of the present round, 0 between two."""

    __slots__ = (
        "answers",
        "client_id",
        "last_progress",
        "meta",
        "method",
        "misfit",
        "name",
        "number",
        "opened",
        "params",
        "questions",
        "rounds",
        "state",
        "token",
        "uri",
        "wire_id",
    )

    def __init__(self, number: int, request: frame.Request, params: dict[str, Raw]) -> None:
        self.number = number
        self.client_id = request.id
        self.method = request.method
        meta = frame.members(params.pop("_meta", None)) or {}
        params.pop("task", None)  # of 2025-11-25, where a server that does not declare tasks ignores it
        self.meta = {key: value for key, value in meta.items() if key not in META_MODERN}
        self.token = self.meta.pop(PROGRESS_TOKEN, None)
        self.params = params
        self.name = frame.text(params.get("name"))
        self.uri = frame.text(params.get("uri"))
        self.last_progress: float | None = None
        self.wire_id = 0
        self.rounds = 0
        self.state: Raw | None = None
        self.questions: dict[int, Asked] = {}
        self.answers: dict[str, Raw] = {}
        self.opened: list[str] = []  # ids of URL elicitations that the user consented to
        self.misfit = ""  # what was wrong with an answer of the last round

    def request(self, wire_id: int, stamps: dict[str, Raw]) -> bytes:
        """The line of the next round; what was answered goes with it, once."""
        self.wire_id = wire_id
        meta = {**self.meta, **stamps}
        if self.token is not None:
            meta[PROGRESS_TOKEN] = Raw(b"%d" % wire_id)
        params = {**self.params, "_meta": Raw(frame.encode(meta))}
        if self.answers:
            params["inputResponses"] = Raw(frame.encode(self.answers))
        if self.state is not None:
            params["requestState"] = self.state
        self.answers = {}
        return frame.request(b"%d" % wire_id, self.method, frame.encode(params))

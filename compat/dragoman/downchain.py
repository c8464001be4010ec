"""The chain of changes the other way: what a frame of a 2026-07-28 server becomes for a legacy client, and its answers for the server.

Pure and stateless, as ``dragoman.chain`` is: a value goes in with the facts of its crossing (``revision`` is the client's),
the translated text comes out with its losses, or a ``Fault`` that names what is wrong. The steps for a method, part and
revision are compiled once.

Theory of operation of results: a modern result always holds words that must not reach a legacy client, so there is no path
without taking it apart; but it is taken apart at its top level only. One scan validates the text, one finds its members,
the steps leave some out, and what is left is put together from views of the text that came in: of a big result nothing is
decoded, and nothing copied before the frame is built. What is malformed is mended to the shapes of 2026-07-28 first, so the
steps see what they know.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, EVERY, Crossing, Fault, Loss, Members, Notes, Part, Shaped, Step
from dragoman.changes.down import DOWN
from dragoman.shape import AREA, Unmendable, questions
from dragoman_specs import version
from dragoman_specs.names import INTERNAL_ERROR
from dragoman_specs.version import Version

__all__ = [
    "answer_to_modern",
    "capabilities_to_legacy",
    "error_to_legacy",
    "notification_to_legacy",
    "question_to_legacy",
    "result_to_legacy",
]

# Methods that anything knows by name. The others come from the peers: they share one entry, so that no cache grows by them.
_NAMED: Final = frozenset(shape.RESULTS).union(*(names for change in DOWN for names, _, _ in change.down_steps))
_BIG: Final = 64 * 1024
"""From here on a text is put together from views; below, one encoding is faster."""


# --- compiling ---


@cache
def _compile(part: Part, method: str, revision: Version) -> tuple[Step, ...]:
    """The steps of the changes that ``revision`` does not have yet."""
    newer = version.ALL[version.ALL.index(revision) + 1 :]
    changes = [change for change in DOWN if change.since in newer]
    if part is Part.ANSWER:
        changes.reverse()
    hung = [row for change in changes for row in change.down_steps]
    return tuple(step for names, of, step in hung if of is part and (EVERY in names or method in names))


def _run(part: Part, members: Members, crossing: Crossing, notes: Notes) -> Members | Fault:
    for step in _compile(part, crossing.method if crossing.method in _NAMED else EVERY, crossing.revision):
        stepped = step(members, crossing, notes)
        if isinstance(stepped, Fault):
            return stepped
        members = stepped
    return members


def _done(source: Raw, before: Members, after: Members, crossing: Crossing, notes: Notes) -> Shaped | Fault:
    """The text of the members; the one that came in when nothing was done to it."""
    losses = notes.losses()
    if crossing.strict:
        for loss in losses:
            if loss.change == AREA:
                return Fault(AREA, loss.detail)
    if after is before and shape.show(source) == "an object":
        return Shaped(b"", losses, memoryview(source))
    if len(memoryview(source)) < _BIG:
        return Shaped(frame.encode(after), losses)
    pieces: list[bytes | memoryview] = []
    for name, value in after.items():
        pieces += (b"," + frame.encode(name) + b":", memoryview(value))
    return Shaped(b"{", losses, None, (pieces[0][1:], *pieces[1:], b"}") if pieces else (b"}",))


def _too_deep(method: str) -> Fault:
    return Fault(AREA, f"{method}: nested too deeply")


def _members(value: Raw, what: str, crossing: Crossing, notes: Notes) -> Members | Fault:
    """The members of an object; null counts as one without any."""
    members = frame.members(value)
    if members is not None:
        return members
    what_is, was = ("are", "were") if what == "params" else ("is", "was")
    if shape.show(value) == "null":
        notes.add(AREA, f"{crossing.method}: the {what} {was} null, taken as empty")
        return {}
    return Fault(AREA, f"{crossing.method}: the {what} {what_is} {shape.show(value)}, not an object")


# --- results ---


@cache
def _scanner(method: str) -> msgspec.json.Decoder[shape.Result]:
    return msgspec.json.Decoder(shape.RESULTS.get(method, shape.Result))


def result_to_legacy(result: Raw, crossing: Crossing, members: Members | None = None) -> Shaped | Fault:
    """The whole ``result`` of a request: a complete one, or one without a type, which counts as complete; and its members, if known."""
    try:
        return _result(result, crossing, members)
    except RecursionError:
        return _too_deep(crossing.method)


def _result(result: Raw, crossing: Crossing, known: Members | None) -> Shaped | Fault:
    notes = Notes()
    members = _members(result, "result", crossing, notes) if known is None else known
    if isinstance(members, Fault):
        return members
    try:
        _scanner(crossing.method if crossing.method in _NAMED else EVERY).decode(result)
        mended = members
    except msgspec.MsgspecError:
        try:
            mended = _mended(members, crossing, notes)
        except Unmendable as fault:
            return Fault(AREA, f"{crossing.method}: {fault}")
    stepped = _run(Part.RESULT, mended, crossing, notes)
    if isinstance(stepped, Fault):
        return stepped
    held = shape.ITEMS.get(crossing.method)
    if held is not None:
        listed = _items(stepped[held], crossing, notes)
        if isinstance(listed, Fault):
            return listed
        if listed is not stepped[held]:
            stepped = {**stepped, held: listed}
    return _done(result, members, stepped, crossing, notes)


def _mended(members: Members, crossing: Crossing, notes: Notes) -> Members:
    """The nearest valid result. Raises ``Unmendable``."""
    kind = shape.RESULTS.get(crossing.method, shape.Result)
    # A legacy server's null means "none", which is how the shape has it; a modern one's may be the value (server/tools#structured-content).
    value = members.get("structuredContent", ABSENT)
    if crossing.method != "tools/call" or shape.show(value) != "null":
        return shape.mend_members(members, kind, crossing, notes)
    rest = {name: held for name, held in members.items() if name != "structuredContent"}
    return {**shape.mend_members(rest, kind, crossing, notes), "structuredContent": value}


def _items(listed: Raw, crossing: Crossing, notes: Notes) -> Raw | Fault:
    """The items of a list, each stepped through; the same object when no step had anything to do."""
    out: list[Any] = []
    changed = False
    for item in shape.items(listed) or ():
        members = frame.members(item) or {}
        stepped = _run(Part.TOOL, members, crossing, notes)
        if isinstance(stepped, Fault):
            return stepped
        changed |= stepped is not members
        out.append(item if stepped is members else stepped)
    return shape.raw(out) if changed else listed


# --- errors, notifications, capabilities ---


def error_to_legacy(error: Raw, crossing: Crossing) -> Shaped:
    """The whole ``error`` of a request; always a valid error object."""
    notes = Notes()
    try:
        members = shape.mend_error(error, crossing.method, notes)
    except RecursionError:
        deep = _too_deep(crossing.method).message
        return Shaped(frame.error(INTERNAL_ERROR, deep), (Loss(AREA, deep),))
    stepped = _run(Part.ERROR, members, crossing, notes)
    assert not isinstance(stepped, Fault)
    losses = notes.losses()
    return Shaped(bytes(error)) if stepped is members and not losses else Shaped(frame.encode(stepped), losses)


@cache
def _note_scanner(method: str) -> msgspec.json.Decoder[shape.Bare]:
    return msgspec.json.Decoder(shape.NOTIFICATIONS.get(method, shape.Bare))


def notification_to_legacy(params: Raw, crossing: Crossing) -> Shaped | Fault:
    """The params of a notification; empty text stands for no params. Tokens are the bridge's."""
    try:
        return _notification(params, crossing)
    except RecursionError:
        return _too_deep(crossing.method)


def _notification(params: Raw, crossing: Crossing) -> Shaped | Fault:
    given = bytes(params)
    kind = shape.NOTIFICATIONS.get(crossing.method, shape.Bare)
    try:
        decoder = _note_scanner(crossing.method if crossing.method in shape.NOTIFICATIONS else EVERY)
        fits = True
        if decoder.decode(given or b"{}").meta is UNSET:
            return Shaped(given)
    except msgspec.MsgspecError:
        fits = False
    notes = Notes()
    members = _members(params if given else Raw(b"{}"), "params", crossing, notes)
    if isinstance(members, Fault):
        return members
    try:
        mended = members if fits else shape.mend_members(members, kind, crossing, notes)
    except Unmendable as fault:
        return Fault(AREA, f"{crossing.method}: {fault}")
    stepped = _run(Part.NOTIFICATION, mended, crossing, notes)
    if isinstance(stepped, Fault):
        return stepped
    return _done(params, members, stepped, crossing, notes)


def capabilities_to_legacy(capabilities: Raw, revision: Version) -> tuple[bytes, tuple[Loss, ...]]:
    """The server's capabilities of ``server/discover`` as those of an InitializeResult, JSON text."""
    try:
        return _capabilities(capabilities, revision)
    except RecursionError:
        return b"{}", (Loss(AREA, "capabilities: nested too deeply, taken as none"),)


def _capabilities(capabilities: Raw, revision: Version) -> tuple[bytes, tuple[Loss, ...]]:
    notes = Notes()
    members = frame.members(capabilities)
    if members is None:
        notes.add(AREA, f"capabilities: {shape.show(capabilities)}, not an object, taken as none")
        return b"{}", notes.losses()
    stepped = _run(Part.CAPABILITIES, members, Crossing("initialize", revision), notes)
    assert not isinstance(stepped, Fault)
    return frame.encode(shape.mend_capabilities(stepped, notes)), notes.losses()


# --- questions and answers ---


def question_to_legacy(method: str, params: Raw | None, revision: Version, elicitation_id: str) -> Shaped | Fault:
    """An entry of ``inputRequests`` as the params of a request to the client; empty text stands for no params."""
    crossing = Crossing(method, revision, elicitation_id=elicitation_id)
    try:
        return _question(Raw(b"{}") if params is None else params, crossing)
    except RecursionError:
        return _too_deep(method)


def _question(params: Raw, crossing: Crossing) -> Shaped | Fault:
    notes = Notes()
    members = _members(params, "params", crossing, notes)
    if isinstance(members, Fault):
        return members
    kind = questions.kind_of(crossing.method, members)
    if kind is None:
        return Fault("sep2322_mrtr", f"{crossing.method[:100]}: nothing that a server may ask")
    try:
        mended = members if shape.fits(params, kind) else shape.mend_members(members, kind, crossing, notes, nulls_only=True)
    except Unmendable as fault:
        return Fault(AREA, f"{crossing.method}: {fault}")
    stepped = _run(Part.QUESTION, mended, crossing, notes)
    if isinstance(stepped, Fault):
        return stepped
    return _done(params, members, stepped, crossing, notes) if stepped else Shaped(b"", notes.losses())


def answer_to_modern(method: str, question: Raw | None, answer: Raw, revision: Version) -> Shaped | Fault:
    """The client's result as an entry of ``inputResponses``. A ``Fault`` is the client's."""
    crossing = Crossing(method, revision, question=Raw(b"{}") if question is None else question)
    try:
        return _answer(answer, crossing)
    except RecursionError:
        return _too_deep(method)


def _answer(answer: Raw, crossing: Crossing) -> Shaped | Fault:
    notes = Notes()
    members = frame.members(answer)
    if members is None:
        return Fault(AREA, f"{crossing.method}: the answer is {shape.show(answer)}, not an object")
    kind = shape.ANSWERS.get(crossing.method, shape.Bare)
    try:
        mended = members if shape.fits(answer, kind) else shape.mend_members(members, kind, crossing, notes, nulls_only=True)
    except Unmendable as fault:
        return Fault(AREA, f"{crossing.method}: {fault}")
    stepped = _run(Part.ANSWER, mended, crossing, notes)
    return stepped if isinstance(stepped, Fault) else _done(answer, members, stepped, crossing, notes)

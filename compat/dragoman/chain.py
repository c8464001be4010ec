"""The chain of changes: what one frame of a legacy server becomes for a 2026-07-28 client, and the client's for the server.

Pure and stateless: a value goes in with the facts of its crossing, the translated text comes out with its losses, or a
``Fault`` that names what is wrong. The steps for a method, part and revision are compiled once.

Theory of operation of results, the hot path: one msgspec scan both validates the text and sees whether it holds a member
that the changes write (``shape.STAMPED``). If it is valid and holds none, what the steps make of an *empty* result is all
that they would add, so that text, computed once, is put before the server's own. Hence a rule for steps on a RESULT: they
look only at those members and at what makes a result malformed, and what they add depends on the method, the revision,
the server's identity and the list TTL alone. Anything else is taken apart, stepped through, mended and put together.
Steps on a NOTIFICATION likewise look only at ``_meta``.

A text that the frame reader could still take may be nested too deeply here, a few Python frames further down: that is a
fault of its sender like any other.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, EVERY, Change, Crossing, Fault, Loss, Members, Notes, Part, Shaped, Step
from dragoman.changes import ALL
from dragoman.shape import AREA, Unmendable
from dragoman_specs import version
from dragoman_specs.names import INTERNAL_ERROR
from dragoman_specs.version import Version

__all__ = [
    "Crossing",
    "Fault",
    "Loss",
    "Shaped",
    "answer_to_server",
    "capabilities_to_client",
    "describe",
    "error_to_client",
    "find",
    "implementation_to_client",
    "notification_to_client",
    "params_to_server",
    "result_to_client",
]

_BY_ID: Final = {change.id: change for change in ALL}
# Methods that anything knows by name. The others come from the peers: they share one entry, so that no cache grows by them.
_NAMED: Final = frozenset(shape.RESULTS).union(*(names for change in ALL for names, _, _ in change.steps))
_FROM_CLIENT: Final = frozenset((Part.PARAMS, Part.ANSWER))
# A rule for steps on PARAMS: they look at these members only, so that most requests are not stepped through at all.
_LOOKED_AT: Final = frozenset(("_meta", "inputResponses", "requestState", "task"))
_PREFIXES_KEPT: Final = 64


def find(change_id: str) -> Change | None:
    """The change of a loss or fault; None for an area."""
    return _BY_ID.get(change_id)


def describe(change_id: str) -> str:
    """A change's id and revision for a log line; an area as it is."""
    change = _BY_ID.get(change_id)
    return change_id if change is None else str(change)


# --- compiling ---


@cache
def _compile(part: Part, method: str, revision: Version) -> tuple[Step, ...]:
    """The steps of the changes that ``revision`` does not have yet."""
    newer = version.ALL[version.ALL.index(revision) + 1 :]
    changes = [change for change in ALL if change.since in newer]
    if part in _FROM_CLIENT:
        changes.reverse()
    hung = [row for change in changes for row in change.steps]
    return tuple(step for names, of, step in hung if of is part and (EVERY in names or method in names))


def _steps(part: Part, crossing: Crossing) -> tuple[Step, ...]:
    method = crossing.method
    return _compile(part, method if method in _NAMED else EVERY, crossing.revision)


def _run(steps: tuple[Step, ...], members: Members, crossing: Crossing, notes: Notes) -> Members | Fault:
    for step in steps:
        stepped = step(members, crossing, notes)
        if isinstance(stepped, Fault):
            return stepped
        members = stepped
    return members


def _done(raw: bytes, crossing: Crossing, notes: Notes) -> Shaped | Fault:
    losses = notes.losses()
    if crossing.strict:
        for loss in losses:
            if loss.change == AREA:
                return Fault(AREA, loss.detail)
    return Shaped(raw, losses)


def _too_deep(method: str) -> Fault:
    return Fault(AREA, f"{method}: nested too deeply")


# --- results ---


@cache
def _scanner(method: str) -> msgspec.json.Decoder[shape.Result]:
    return msgspec.json.Decoder(shape.RESULTS.get(method, shape.Result))


def result_to_client(result: Raw, crossing: Crossing) -> Shaped | Fault:
    """The whole ``result`` of a request."""
    try:
        return _result(result, crossing)
    except RecursionError:
        return _too_deep(crossing.method)


def _result(result: Raw, crossing: Crossing) -> Shaped | Fault:
    method = crossing.method if crossing.method in _NAMED else EVERY
    try:
        plain = _scanner(method).decode(result).is_plain()
    except msgspec.MsgspecError:
        return _rebuild(result, crossing, fits=False)
    if not plain or method in shape.ITEMS:
        return _rebuild(result, crossing, fits=True)
    return _splice(_prefix(method, crossing), result)


_prefixes: dict[tuple[str, Version, bytes], bytes] = {}


def _prefix(method: str, crossing: Crossing) -> bytes:
    """What the changes add to any result, as the text of an object without its closing brace."""
    key = (method, crossing.revision, crossing.server_info)
    prefix = None if crossing.list_ttl_ms else _prefixes.get(key)
    if prefix is None:
        added = _run(_steps(Part.RESULT, crossing), {}, crossing, Notes())
        assert not isinstance(added, Fault)
        prefix = frame.encode(added)[:-1]
        if not crossing.list_ttl_ms:
            if len(_prefixes) >= _PREFIXES_KEPT:
                _prefixes.clear()
            _prefixes[key] = prefix
    return prefix


def _splice(prefix: bytes, result: Raw) -> Shaped:
    """``prefix`` and the members of ``result``, not copied yet."""
    text = memoryview(result)
    start = 0
    while text[start] != 0x7B:  # "{"
        start += 1
    start += 1
    while text[start] in b" \t\r\n":
        start += 1
    is_bare = text[start] == 0x7D or len(prefix) == 1
    return Shaped(prefix if is_bare else prefix + b",", (), text[start:])


def _rebuild(result: Raw, crossing: Crossing, *, fits: bool) -> Shaped | Fault:
    """Take a result apart that is malformed, carries members which changes write, or is a list whose items they reshape."""
    notes = Notes()
    members = frame.members(result)
    if bytes(result) == b"null":
        notes.add(AREA, f"{crossing.method}: the result was null, taken as empty")
        members = {}
    if members is None:
        return Fault(AREA, f"{crossing.method}: the result is {shape.show(result)}, not an object")
    stepped = _run(_steps(Part.RESULT, crossing), members, crossing, notes)
    if isinstance(stepped, Fault):
        return stepped
    # What was added comes first, as on the hot path; the server's own members keep their order.
    stepped = {name: stepped[name] for name in shape.STAMPED if name in stepped and name not in members} | stepped
    if not fits:
        try:
            stepped = shape.mend_members(stepped, shape.RESULTS.get(crossing.method, shape.Result), crossing, notes)
        except Unmendable as fault:
            return Fault(AREA, f"{crossing.method}: {fault}")
    held = shape.ITEMS.get(crossing.method)
    if held is not None:
        listed = _items(stepped[held], crossing, notes)
        if isinstance(listed, Fault):
            return listed
        stepped = {**stepped, held: listed}
    return _done(frame.encode(stepped), crossing, notes)


def _items(listed: Raw, crossing: Crossing, notes: Notes) -> Raw | Fault:
    """The items of a list, each stepped through; the same object when no step had anything to do."""
    steps = _steps(Part.TOOL, crossing)
    out: list[Any] = []
    changed = False
    for item in shape.items(listed) or ():
        members = frame.members(item) or {}
        stepped = _run(steps, members, crossing, notes)
        if isinstance(stepped, Fault):
            return stepped
        changed |= stepped is not members
        out.append(item if stepped is members else stepped)
    return shape.raw(out) if changed else listed


# --- errors, notifications, identity ---


def error_to_client(error: Raw, crossing: Crossing) -> Shaped:
    """The whole ``error`` of a request; always a valid error object."""
    notes = Notes()
    try:
        members = shape.mend_error(error, crossing.method, notes)
    except RecursionError:
        return Shaped(frame.error(INTERNAL_ERROR, _too_deep(crossing.method).message), (Loss(AREA, _too_deep(crossing.method).message),))
    stepped = _run(_steps(Part.ERROR, crossing), members, crossing, notes)
    assert not isinstance(stepped, Fault)
    return Shaped(frame.encode(stepped), notes.losses())


@cache
def _note_scanner(method: str) -> msgspec.json.Decoder[shape.Bare]:
    return msgspec.json.Decoder(shape.NOTIFICATIONS.get(method, shape.Bare))


def notification_to_client(params: Raw, crossing: Crossing) -> Shaped | Fault:
    """The params of a notification; empty text stands for no params. Tokens and subscription ids are the bridge's."""
    try:
        return _notification(params, crossing)
    except RecursionError:
        return _too_deep(crossing.method)


def _notification(params: Raw, crossing: Crossing) -> Shaped | Fault:
    if not bytes(params):
        params = Raw(b"{}")
    kind = shape.NOTIFICATIONS.get(crossing.method, shape.Bare)
    try:
        decoder = _note_scanner(crossing.method if crossing.method in shape.NOTIFICATIONS else EVERY)
        fits = True
        if decoder.decode(params).meta is UNSET:
            return Shaped(bytes(params))
    except msgspec.MsgspecError:
        fits = False
    notes = Notes()
    members = frame.members(params)
    if bytes(params) == b"null":
        notes.add(AREA, f"{crossing.method}: the params were null, taken as empty")
        members = {}
    if members is None:
        return Fault(AREA, f"{crossing.method}: the params are {shape.show(params)}, not an object")
    try:
        mended = members if fits else shape.mend_members(members, kind, crossing, notes)
    except Unmendable as fault:
        return Fault(AREA, f"{crossing.method}: {fault}")
    stepped = _run(_steps(Part.NOTIFICATION, crossing), mended, crossing, notes)
    return stepped if isinstance(stepped, Fault) else _done(frame.encode(stepped), crossing, notes)


def capabilities_to_client(capabilities: Raw, revision: Version = version.LATEST_LEGACY) -> tuple[dict[str, Any], tuple[Loss, ...]]:
    """The server's capabilities of a handshake, without those that a modern client can't use."""
    notes = Notes()
    members = frame.members(capabilities)
    if members is None:
        notes.add(AREA, f"capabilities: {shape.show(capabilities)}, not an object, taken as none")
        return {}, notes.losses()
    crossing = Crossing("initialize", revision)
    stepped = _run(_steps(Part.CAPABILITIES, crossing), members, crossing, notes)
    assert not isinstance(stepped, Fault)
    try:
        return shape.mend_capabilities(stepped, notes), notes.losses()
    except RecursionError:
        return {}, (Loss(AREA, "capabilities: nested too deeply, taken as none"),)


def implementation_to_client(info: Raw | None) -> tuple[bytes, tuple[Loss, ...]]:
    """A valid ``Implementation``; empty if nothing in ``info`` names anybody."""
    if info is not None and shape.fits(info, shape.Implementation):
        return bytes(info), ()
    notes = Notes()
    value = ABSENT if info is None else info
    members: Members | None = {"name": value} if shape.show(value) == "a string" else frame.members(value)
    try:
        mended = shape.mend_members(members or {}, shape.Implementation, Crossing("serverInfo", version.LATEST_LEGACY), notes)
    except Unmendable:
        return b"", (Loss(AREA, "serverInfo: names nobody, results are not stamped with it"),)
    return frame.encode(mended), notes.losses()


# --- from the client ---


def answer_to_server(method: str, answer: Raw, revision: Version) -> Shaped | Fault:
    """The client's answer to the server's question ``method``. A ``Fault`` of the area "shape" is the client's: ask again."""
    try:
        return _answer(method, answer, revision)
    except RecursionError:
        return _too_deep(method)


def _answer(method: str, answer: Raw, revision: Version) -> Shaped | Fault:
    crossing = Crossing(method, revision)
    notes = Notes()
    members = frame.members(answer)
    if members is None:
        return Fault(AREA, f"{method}: the answer is {shape.show(answer)}, not an object")
    kind = shape.ANSWERS.get(method, shape.Bare)
    try:
        mended = members if shape.fits(answer, kind) else shape.mend_members(members, kind, crossing, notes, nulls_only=True)
    except Unmendable as fault:
        return Fault(AREA, f"{method}: {fault}")
    stepped = _run(_steps(Part.ANSWER, crossing), mended, crossing, notes)
    if isinstance(stepped, Fault):
        return stepped
    return Shaped(bytes(answer) if stepped is members else frame.encode(stepped), notes.losses())


def params_to_server(method: str, params: dict[str, Raw], revision: Version) -> dict[str, Raw]:
    """The params of a request without what a legacy server must not see; the same object when there is nothing of it."""
    if _LOOKED_AT.isdisjoint(params):
        return params
    crossing = Crossing(method, revision)
    stepped = _run(_steps(Part.PARAMS, crossing), params, crossing, Notes())
    assert not isinstance(stepped, Fault)
    return stepped

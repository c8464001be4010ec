"""SEP-2575: ``_meta`` says on every message what the handshake said once (2026-07-28, basic/index#_meta).

Results name the server, whose identity was in its handshake. Requests lose the keys that a legacy server does not know;
``progressToken``, the trace keys and foreign keys are carried in both directions. Towards a legacy client every key with the
specification's prefix is taken out: an extension's too, because none was agreed on.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, EVERY, Change, Crossing, Members, Notes, Part
from dragoman_specs.names import META_MODERN, META_PREFIX, META_SERVER_INFO, PROGRESS_TOKEN
from dragoman_specs.version import Version

CHANGE = Change("sep2575_envelope", since=Version.V2026_07_28)


@CHANGE.upgrade(EVERY, Part.RESULT)
def name_the_server(result: Members, crossing: Crossing, notes: Notes) -> Members:
    """Add ``serverInfo``; a server's own claim under that name counts only if the handshake gave none."""
    present = result.get("_meta", ABSENT)
    meta = frame.members(None if present is ABSENT else present)
    if meta is None:
        notes.add(CHANGE.id, f"a result whose _meta was {shape.show(present)}, left out")
        meta = {}
    if crossing.server_info:
        return {**result, "_meta": shape.raw({**meta, META_SERVER_INFO: Raw(crossing.server_info)})}
    if META_SERVER_INFO in meta and not shape.fits(meta[META_SERVER_INFO], shape.Implementation):
        meta = {name: value for name, value in meta.items() if name != META_SERVER_INFO}
    elif present is ABSENT or frame.members(present) is not None:
        return result
    return _with_meta(result, meta)


@CHANGE.upgrade(EVERY, Part.PARAMS)
def no_envelope(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Take the modern keys out of a request's ``_meta``, and ``_meta`` out when nothing is left."""
    return _without_modern_keys(params)


@CHANGE.upgrade(EVERY, Part.ANSWER)
def no_envelope_in_answers(answer: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """The same for an answer to a question."""
    return _without_modern_keys(answer)


def _without_modern_keys(members: Members) -> Members:
    if "_meta" not in members:
        return members
    meta = frame.members(members["_meta"]) or {}
    kept = {name: value for name, value in meta.items() if name not in META_MODERN}
    return members if kept and len(kept) == len(meta) else _with_meta(members, kept)


def _with_meta(members: Members, meta: Members) -> Members:
    if meta:
        return {**members, "_meta": shape.raw(meta)}
    return {name: value for name, value in members.items() if name != "_meta"}


@CHANGE.downgrade(EVERY, Part.RESULT)
def no_envelope_in_results(result: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Take the reserved keys out of a result's ``_meta``, and ``_meta`` out when nothing is left."""
    return _without_reserved_keys(result, "a result", notes)


@CHANGE.downgrade(EVERY, Part.NOTIFICATION)
def no_envelope_in_notifications(params: Members, _crossing: Crossing, notes: Notes) -> Members:
    """The same for a notification."""
    return _without_reserved_keys(params, "a notification", notes)


@CHANGE.downgrade(EVERY, Part.QUESTION)
def no_envelope_in_questions(question: Members, _crossing: Crossing, notes: Notes) -> Members:
    """The same for a question. Nor may the client tell of its progress: a modern server could not hear it."""
    return _without_reserved_keys(question, "a question", notes, PROGRESS_TOKEN)


@CHANGE.downgrade(EVERY, Part.ANSWER)
def no_reserved_keys_in_answers(answer: Members, _crossing: Crossing, notes: Notes) -> Members:
    """The same for a legacy client's answer: under the prefix it can have meant nothing that a modern server knows."""
    return _without_reserved_keys(answer, "an answer", notes)


def _without_reserved_keys(members: Members, what: str, notes: Notes, other: str = META_PREFIX) -> Members:
    present = members.get("_meta")
    if present is None:
        return members
    meta = frame.members(present)
    if meta is None:
        notes.add(CHANGE.id, f"{what} whose _meta was {shape.show(present)}, left out")
        meta = {}
    kept = {name: value for name, value in meta.items() if not name.startswith(META_PREFIX) and name != other}
    return members if kept and len(kept) == len(meta) else _with_meta(members, kept)

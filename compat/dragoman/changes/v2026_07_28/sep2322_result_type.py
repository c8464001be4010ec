"""SEP-2322: every result says its type (2026-07-28, basic/index#resulttype).

A legacy result is always the final one. What a legacy server writes under that name means nothing, so it is overwritten;
dual-era servers are known to leak theirs. Answers of the client are bare objects without the word.

A legacy client is told complete results only, without the word; a result that says nothing is complete. One of a type that
nobody agreed on is invalid.
"""

from __future__ import annotations

from typing import Final

from msgspec import Raw

from dragoman import frame, shape
from dragoman.change import EVERY, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep2322_result_type", since=Version.V2026_07_28)

COMPLETE: Final = Raw(b'"complete"')


@CHANGE.upgrade(EVERY, Part.RESULT)
def complete(result: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Say that the result is complete."""
    said = result.get("resultType", COMPLETE)
    if bytes(said) != b'"complete"':
        notes.add(CHANGE.id, "a legacy result with a resultType of its own, which was overwritten")
    return {**result, "resultType": COMPLETE}


@CHANGE.upgrade(EVERY, Part.ANSWER)
def no_type(answer: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """A legacy server knows no result type."""
    return answer if "resultType" not in answer else {name: value for name, value in answer.items() if name != "resultType"}


@CHANGE.downgrade(EVERY, Part.RESULT)
def not_said(result: Members, crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Take the type out; refuse what is not complete."""
    said = result.get("resultType")
    if said is None:
        return result
    if frame.text(said) != "complete":
        told = bytes(said).decode()[:50] if shape.show(said) == "a string" else shape.show(said)
        return Fault(CHANGE.id, f"{crossing.method}: the result's type is {told}, which is none that was agreed on")
    return {name: value for name, value in result.items() if name != "resultType"}

"""SEP-2322: every result says its type (2026-07-28, basic/index#resulttype).

A legacy result is always the final one. What a legacy server writes under that name means nothing, so it is overwritten;
dual-era servers are known to leak theirs. Answers of the client are bare objects without the word.
"""

from __future__ import annotations

from typing import Final

from msgspec import Raw

from dragoman.change import EVERY, Change, Crossing, Members, Notes, Part
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

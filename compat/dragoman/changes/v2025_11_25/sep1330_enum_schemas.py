"""SEP-1330: a form may have multiple-choice properties, answered with a list of strings (2025-11-25, client/elicitation).

An older server can't have asked for one. A list of one is told as its string, any other fails the question.
"""

from __future__ import annotations

from dragoman import frame, shape
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep1330_enum_schemas", since=Version.V2025_11_25)


@CHANGE.upgrade("elicitation/create", Part.ANSWER)
def single_choice(answer: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Unwrap lists of one string; refuse other lists."""
    values = frame.members(answer.get("content", ABSENT)) or {}
    fixed = values
    for name, value in values.items():
        chosen = shape.items(value)
        if chosen is None:
            continue
        if len(chosen) != 1:
            return Fault(CHANGE.id, f"the client chose {len(chosen)} values for {name!r}, the server's revision takes one")
        fixed = {**fixed, name: chosen[0]}
    return answer if fixed is values else {**answer, "content": shape.raw(fixed)}

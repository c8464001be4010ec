"""SEP-2322: questions are answered by calling again (2026-07-28, basic/patterns/mrtr).

The members of a retry are for whoever asked, which is the bridge: a legacy server must not see them. On methods outside
the core the same names are the vendor's own. A legacy client must not see what a result asks: questions reach it as requests.
"""

from __future__ import annotations

from typing import Final

from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman_specs.methods import ROWS
from dragoman_specs.version import Version

CHANGE = Change("sep2322_mrtr", since=Version.V2026_07_28)

RETRY: Final = ("inputResponses", "requestState")
ASKED: Final = ("inputRequests", "requestState")
CORE: Final = tuple(row.name for row in ROWS if row.sender == "client" and row.kind == "request")


@CHANGE.upgrade(CORE, Part.PARAMS)
def no_retry(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave out the members of a retry."""
    if "inputResponses" not in params and "requestState" not in params:
        return params
    return {name: value for name, value in params.items() if name not in RETRY}


@CHANGE.downgrade(CORE, Part.RESULT)
def no_questions(result: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Leave out what a complete result has no business to ask."""
    if "inputRequests" not in result and "requestState" not in result:
        return result
    notes.add(CHANGE.id, "a complete result with questions or their state, left out")
    return {name: value for name, value in result.items() if name not in ASKED}

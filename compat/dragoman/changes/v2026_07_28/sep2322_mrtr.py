"""SEP-2322: questions are answered by calling again (2026-07-28, basic/patterns/mrtr).

The members of a retry are for whoever asked, which is the bridge: a legacy server must not see them. On methods outside
the core the same names are the vendor's own.
"""

from __future__ import annotations

from typing import Final

from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman_specs.methods import ROWS
from dragoman_specs.version import Version

CHANGE = Change("sep2322_mrtr", since=Version.V2026_07_28)

RETRY: Final = ("inputResponses", "requestState")
CORE: Final = tuple(row.name for row in ROWS if row.sender == "client" and row.kind == "request")


@CHANGE.upgrade(CORE, Part.PARAMS)
def no_retry(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave out the members of a retry."""
    if "inputResponses" not in params and "requestState" not in params:
        return params
    return {name: value for name, value in params.items() if name not in RETRY}

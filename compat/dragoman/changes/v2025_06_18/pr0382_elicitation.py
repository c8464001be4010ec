"""PR 382: a server may ask the user to fill in a form (2025-06-18, client/elicitation).

A client of an earlier revision has no such request, so it can't declare the capability, and a server that asks all the same
is refused.
"""

from __future__ import annotations

from typing import Final

from dragoman.change import Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE: Final = Change("pr0382_elicitation", since=Version.V2025_06_18)


@CHANGE.downgrade("elicitation/create", Part.QUESTION)
def no_forms(_question: Members, _crossing: Crossing, _notes: Notes) -> Fault:
    """Refuse to ask."""
    return Fault(CHANGE.id, "the server asked the user for something, which the client's revision does not know")

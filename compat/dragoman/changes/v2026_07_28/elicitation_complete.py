"""URL elicitations have no id any longer (2026-07-28, client/elicitation; 2025-11-25, client/elicitation#url-mode-elicitation-requests).

A client of 2025-11-25 must be given one, by which ``notifications/elicitation/complete`` would name it. It is the bridge's,
whatever the server wrote under that name.
"""

from __future__ import annotations

from typing import Final

from dragoman import frame, shape
from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE: Final = Change("elicitation_complete", since=Version.V2026_07_28)


@CHANGE.downgrade("elicitation/create", Part.QUESTION)
def name_the_elicitation(question: Members, crossing: Crossing, _notes: Notes) -> Members:
    """Add the id to URL mode."""
    if frame.text(question.get("mode")) != "url":
        return question
    return {**question, "elicitationId": shape.raw(crossing.elicitation_id)}

"""SEP-1036: an elicitation is a form or a URL (2025-11-25, client/elicitation#url-mode-elicitation-requests).

A client of an earlier revision has forms only, and no word for saying so.
"""

from __future__ import annotations

from typing import Final

from dragoman import frame
from dragoman.change import Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE: Final = Change("sep1036_url_elicitation", since=Version.V2025_11_25)


@CHANGE.downgrade("elicitation/create", Part.QUESTION)
def forms_only(question: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse a URL, and leave out that it is a form."""
    if "mode" not in question:
        return question
    if frame.text(question["mode"]) == "url":
        return Fault(CHANGE.id, "the server asked to open a URL, which the client's revision does not know")
    return {name: value for name, value in question.items() if name != "mode"}

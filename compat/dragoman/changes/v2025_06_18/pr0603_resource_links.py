"""PR 603: content may hold ``resource_link`` blocks (2025-06-18, server/tools#resource-links).

A reader of an earlier revision knows no such block and may reject the whole result, so the link is told as text: what it is
called, where it is and what it is said to be.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman import frame
from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman.shape.retold import retell_blocks, retell_messages
from dragoman_specs.version import Version

CHANGE: Final = Change("pr0603_resource_links", since=Version.V2025_06_18)

_TAG: Final = "resource_link"


@CHANGE.downgrade("tools/call", Part.RESULT)
def links_as_text(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Tell the links of a tool result."""
    return retell_blocks(result, _TAG, _as_text)


@CHANGE.downgrade("prompts/get", Part.RESULT)
def linked_messages_as_text(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Tell the links of a prompt."""
    return retell_messages(result, _TAG, _as_text)


def _as_text(link: Members, _number: int) -> list[Any]:
    name, uri = frame.text(link["name"]), frame.text(link["uri"])
    title, description = frame.text(link.get("title")), frame.text(link.get("description"))
    text = f"Resource {title} ({name}): {uri}" if title and title != name else f"Resource {name}: {uri}"
    told: dict[str, Any] = {"type": "text", "text": f"{text}\n{description}" if description else text}
    return [{**told, "annotations": link["annotations"]} if "annotations" in link else told]

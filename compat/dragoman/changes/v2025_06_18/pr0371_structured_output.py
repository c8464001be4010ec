"""PR 371: tools may have structured output (2025-06-18, server/tools#structured-content).

A client of an earlier revision looks at the content alone. Where the server has not told the value as text too, as the page
asks of it, the JSON is told here. The schema of an output that never comes is not listed.
"""

from __future__ import annotations

from typing import Final

from dragoman import shape
from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman.shape.fixes import block_as_text
from dragoman.shape.retold import tags
from dragoman_specs.version import Version

CHANGE: Final = Change("pr0371_structured_output", since=Version.V2025_06_18)


@CHANGE.downgrade("tools/call", Part.RESULT)
def output_as_text(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave the value out, after telling it in a text block if there is none."""
    value = result.get("structuredContent")
    if value is None:
        return result
    kept = {name: held for name, held in result.items() if name != "structuredContent"}
    # To most servers null is no value, and to nobody is its text of use.
    if shape.show(value) == "null" or "text" in tags(kept["content"]):
        return kept
    return {**kept, "content": shape.raw([*(shape.items(kept["content"]) or ()), block_as_text(value)])}


@CHANGE.downgrade("tools/list", Part.TOOL)
def no_output_schema(tool: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave the schema out."""
    return tool if "outputSchema" not in tool else {name: held for name, held in tool.items() if name != "outputSchema"}

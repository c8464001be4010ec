"""SEP-1577: a sample may hold several blocks, tool use and tool results (2025-11-25, client/sampling).

For an older server the content of an answer is one block, text or media: a list of one is unwrapped, anything that has no
such form fails the question instead of being cut down in silence.
"""

from __future__ import annotations

from dragoman import frame, shape
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep1577_sampling_tools", since=Version.V2025_11_25)


@CHANGE.upgrade("sampling/createMessage", Part.ANSWER)
def one_block(answer: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Unwrap the only block; refuse several, none, and tools."""
    content = answer.get("content", ABSENT)
    blocks = shape.items(content)
    if blocks is not None:
        if len(blocks) != 1:
            return Fault(CHANGE.id, f"the client answered with {len(blocks)} content blocks, the server's revision takes one")
        content = blocks[0]
    tag = frame.text((frame.members(content) or {}).get("type"))
    if tag in {"tool_use", "tool_result"}:
        return Fault(CHANGE.id, f"the client answered with {tag}, which the server's revision does not know")
    return answer if blocks is None else {**answer, "content": content}

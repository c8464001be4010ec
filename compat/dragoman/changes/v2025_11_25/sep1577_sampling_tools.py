"""SEP-1577: a sample may hold several blocks, tool use and tool results (2025-11-25, client/sampling).

For an older server the content of an answer is one block, text or media: a list of one is unwrapped, anything that has no
such form fails the question instead of being cut down in silence. Likewise for an older client that is asked: several
blocks are as many messages, and with tools there is no such question.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman import frame, shape
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep1577_sampling_tools", since=Version.V2025_11_25)

_TOOLS: Final = frozenset(("tools", "toolChoice"))


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


@CHANGE.downgrade("sampling/createMessage", Part.QUESTION)
def plain_messages(question: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse tools; several blocks are told as a message for each, by the same speaker."""
    if shape.items(question.get("tools", ABSENT)):
        return Fault(CHANGE.id, "the server asked for a sample with tools, which the client's revision does not know")
    out: list[Any] = []
    listed = shape.items(question["messages"]) or []
    for message in listed:
        members = frame.members(message) or {}
        content = members.get("content", ABSENT)
        blocks = shape.items(content)
        for block in [content] if blocks is None else blocks:
            tag = frame.text((frame.members(block) or {}).get("type"))
            if tag in {"tool_use", "tool_result"}:
                return Fault(CHANGE.id, f"the server asked for a sample after {tag}, which the client's revision does not know")
        out += [message] if blocks is None else [{**members, "content": block} for block in blocks]
    same = all(told is message for told, message in zip(out, listed, strict=False)) and len(out) == len(listed)
    if same and not question.keys() & _TOOLS:
        return question
    return {**{name: value for name, value in question.items() if name not in _TOOLS}, "messages": shape.raw(out)}

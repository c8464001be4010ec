"""Content blocks that an older reader does not know, told as blocks that it does.

Apart from ``fixes`` because only the steps towards a legacy client need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from dragoman import frame
from dragoman.change import ABSENT, Members
from dragoman.shape.fixes import items, raw

Retell = Callable[[Members, int], list[Any]]
"""What stands in for a block; the number counts the blocks so told."""


class _Tagged(Struct, gc=False):
    type: str = ""


_tags: Final = msgspec.json.Decoder(list[_Tagged]).decode


class _Message(Struct, gc=False):
    content: _Tagged


_messages: Final = msgspec.json.Decoder(list[_Message]).decode


def tags(content: Raw) -> list[str]:
    """The types of the blocks of a tool result, which is one scan and no copy."""
    return [block.type for block in _tags(content)]


def message_tags(messages: Raw) -> list[str]:
    """The same of messages that hold one block each."""
    return [message.content.type for message in _messages(messages)]


def retell_blocks(result: Members, tag: str, retell: Retell) -> Members:
    """The content of a tool result with other blocks in place of those of type ``tag``; the same object if there are none."""
    content = result.get("content", ABSENT)
    types = tags(content)
    if tag not in types:
        return result
    out: list[Any] = []
    count = 0
    for block, said in zip(items(content), types, strict=True):
        if said == tag:
            count += 1
            out += retell(frame.members(block) or {}, count)
        else:
            out.append(block)
    return {**result, "content": raw(out)}


def retell_messages(result: Members, tag: str, retell: Retell) -> Members:
    """The same for the messages of a prompt, which hold one block each: more blocks are more messages of the same speaker."""
    listed = result.get("messages", ABSENT)
    types = message_tags(listed)
    if tag not in types:
        return result
    out: list[Any] = []
    count = 0
    for message, said in zip(items(listed), types, strict=True):
        if said == tag:
            count += 1
            members = frame.members(message) or {}
            block = frame.members(members.get("content", ABSENT)) or {}
            out += [{**members, "content": other} for other in retell(block, count)]
        else:
            out.append(message)
    return {**result, "messages": raw(out)}

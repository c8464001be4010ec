"""A capability for argument completion (2025-03-26, server/utilities/completion#capabilities).

In 2024-11-05 the method existed and nothing announced it. A modern client asks only servers that declare it, so a server of
2024-11-05 that has something to complete, prompts or resources, is shown as one that may; if it can't, it says so itself.
A client of 2024-11-05 may ask any server, so nothing is lost to it with the word.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman.change import EVERY, Change, Crossing, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("completions_capability", since=Version.V2025_03_26)


@CHANGE.upgrade(EVERY, Part.CAPABILITIES)
def declare(capabilities: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Add ``completions`` beside prompts or resources."""
    if "completions" in capabilities or not capabilities.keys() & {"prompts", "resources"}:
        return capabilities
    return {**capabilities, "completions": Raw(b"{}")}


@CHANGE.downgrade(EVERY, Part.CAPABILITIES)
def not_declared(capabilities: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Leave ``completions`` out."""
    return capabilities if "completions" not in capabilities else {n: held for n, held in capabilities.items() if n != "completions"}

"""Audio content (2025-03-26, changelog: "Added support for audio data").

A server of 2024-11-05 that asked for a sample knows text and images. Audio can't be told as either, so the answer is
refused, and the question fails; results of such a server need nothing.
"""

from __future__ import annotations

from dragoman import frame
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("audio_content", since=Version.V2025_03_26)


@CHANGE.upgrade("sampling/createMessage", Part.ANSWER)
def no_audio(answer: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse a sample that is audio."""
    block = frame.members(answer.get("content", ABSENT)) or {}
    if frame.text(block.get("type")) == "audio":
        return Fault(CHANGE.id, "the client answered with audio, which the server's revision does not know")
    return answer

"""Audio content (2025-03-26, changelog: "Added support for audio data").

A server of 2024-11-05 that asked for a sample knows text and images. Audio can't be told as either, so the answer is
refused, and the question fails; results of such a server need nothing. A client of 2024-11-05 gets the sound of a result as
an embedded resource, after a note that says so. A sample that it is asked for has no room for one: that question is refused.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman import frame
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("audio_content", since=Version.V2025_03_26)

_TAG: Final = "audio"


@CHANGE.upgrade("sampling/createMessage", Part.ANSWER)
def no_audio(answer: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse a sample that is audio."""
    block = frame.members(answer.get("content", ABSENT)) or {}
    if frame.text(block.get("type")) == "audio":
        return Fault(CHANGE.id, "the client answered with audio, which the server's revision does not know")
    return answer


@CHANGE.downgrade("tools/call", Part.RESULT)
def audio_as_resource(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Embed the audio of a tool result."""
    from dragoman.shape.retold import retell_blocks

    return retell_blocks(result, _TAG, _embedded)


@CHANGE.downgrade("prompts/get", Part.RESULT)
def audio_messages_as_resources(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Embed the audio of a prompt."""
    from dragoman.shape.retold import retell_messages

    return retell_messages(result, _TAG, _embedded)


def _embedded(block: Members, number: int) -> list[Any]:
    kind = frame.text(block["mimeType"])
    uri = f"urn:audio:{number}"
    resource = {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": block["data"]}}
    kept = {name: block[name] for name in ("annotations", "_meta") if name in block}
    return [{"type": "text", "text": f"Audio ({kind}), embedded as the resource {uri}"}, {**resource, **kept}]


@CHANGE.downgrade("sampling/createMessage", Part.QUESTION)
def no_audio_asked(question: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Refuse to ask for a sample that follows audio."""
    from dragoman.shape.retold import message_tags

    if _TAG in message_tags(question["messages"]):
        return Fault(CHANGE.id, "the server asked for a sample after audio, which the client's revision does not know")
    return question

"""The repairs that know what a member means. Everything else that is malformed is left out, or is a fault.

A fix gets the member's JSON text (``ABSENT`` if there is none) and the members beside it, and answers with a value that
fits, with one that the walk can go on with, or with the same object when it knows no better. Each is here because servers
in the field send it: nulls for "none", bare strings for text blocks, maps without ``type`` for schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Raw

from dragoman import frame
from dragoman.change import ABSENT, Crossing, Members
from dragoman.shape import parts, wholes
from dragoman_specs.names import LOG_LEVELS

Fix = Callable[[Raw, Members, Crossing], Raw]

EMPTY_TEXT: Final = Raw(b'""')
_EMPTY_LIST: Final = Raw(b"[]")
_TRUE: Final = Raw(b"true")


def first(raw: Raw) -> str:
    """The first character of a JSON text, which tells its type; empty for an absent one."""
    return bytes(raw)[:1].decode("ascii", "replace")


def raw(value: Any) -> Raw:
    """The JSON text of a value."""
    return Raw(frame.encode(value))


def _missing(value: Raw) -> bool:
    return first(value) in {"", "n"}


items: Final = msgspec.json.Decoder(list[Raw]).decode
"""The items of an array, each as it was written."""


def items_or_none(value: Raw) -> list[Raw] | None:
    """The same; None for what is no array."""
    return items(value) if first(value) == "[" else None


def json_as_text(value: Raw) -> Raw:
    """A JSON string that holds the JSON text of ``value``."""
    return raw(bytes(value).decode())


# --- lists ---


def none_is_empty(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """No list, or null, is an empty one; a single object stands for a list of one."""
    if _missing(value):
        return _EMPTY_LIST
    return raw([value]) if first(value) == "{" else value


def one_is_a_list(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """``contents``: no repair for a missing list, because an empty one would be ambiguous (server/resources#error-handling)."""
    return raw([value]) if first(value) == "{" else value


def cursor_is_text(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """A cursor is an opaque string; a number is told by its digits."""
    return json_as_text(value) if first(value) in "-0123456789" and value is not ABSENT else value


# --- content blocks ---


def blocks(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """``content`` of a tool result: a bare string is a text block, one block is a list of one, none is an empty list."""
    if first(value) == '"':
        return raw([{"type": "text", "text": value}])
    return none_is_empty(value, _beside, _crossing)


def block(value: Raw, tags: frozenset[str]) -> Raw:
    """One content block that fits none: a bare string, no ``type``, or a type that no reader knows."""
    if first(value) == '"':
        return raw({"type": "text", "text": value})
    members = frame.members(value)
    if members is None:
        return block_as_text(value)
    tag = frame.text(members.get("type"))
    if tag in tags:
        return value
    guess = _guess_tag(members) if tag is None else None
    return block_as_text(value) if guess is None else raw({**members, "type": guess})


def block_as_text(value: Raw) -> Raw:
    """The last resort: a text block that holds the JSON of what can't be told as itself."""
    return raw({"type": "text", "text": json_as_text(value)})


def _guess_tag(members: Members) -> str | None:
    if parts.is_text(members.get("text", ABSENT)):
        return "text"
    if first(members.get("resource", ABSENT)) == "{":
        return "resource"
    if parts.is_text(members.get("data", ABSENT)):
        kind = (frame.text(members.get("mimeType")) or "").partition("/")[0]
        return kind if kind in {"image", "audio"} else None
    return "resource_link" if parts.is_text(members.get("uri", ABSENT)) else None


def text_of_block(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """``text``: none is empty, any other value is told as its JSON."""
    if _missing(value):
        return EMPTY_TEXT
    return value if first(value) == '"' else json_as_text(value)


def unknown_mime_type(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """Images and audio need a MIME type; this one says that it is not known (RFC 2046, 4.5.1)."""
    return raw("application/octet-stream") if _missing(value) else value


# --- resources ---


def contents(value: Raw, crossing: Crossing) -> Raw:
    """What a resource holds: the URI asked for stands in for a missing one, JSON for text that is no string."""
    if first(value) == '"':
        members: Members | None = {"text": value}
    else:
        members = frame.members(value)
    if members is None:
        return value
    fixed = dict(members)
    if not parts.is_text(fixed.get("uri", ABSENT)) and crossing.uri is not None:
        fixed["uri"] = raw(crossing.uri)
    if not parts.is_text(fixed.get("text", ABSENT)) and not parts.is_text(fixed.get("blob", ABSENT)):
        fixed["text"] = text_of_block(fixed.get("text", ABSENT), fixed, crossing)
    return value if fixed == members and first(value) == "{" else raw(fixed)


def name_of_resource(value: Raw, beside: Members, _crossing: Crossing) -> Raw:
    """A resource without a name goes by its title, else by its URI."""
    stand_ins = (beside.get(member, ABSENT) for member in ("title", "uri", "uriTemplate"))
    return next((other for other in stand_ins if parts.is_text(other)), value) if _missing(value) else value


# --- tools, prompts, completion ---


def input_schema(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """Arguments are always an object, so the root says so (server/tools#tool)."""
    members = frame.members(value) if first(value) == "{" else {}
    return raw({**(members or {}), "type": "object"})


def truth(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """``isError`` of another type: what is not plainly false is an error, so that none passes for a success."""
    if _missing(value):
        return value
    return raw(bytes(value).strip(b'"').lower() not in {b"false", b"no", b"0", b""})


def messages(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """A message holds one block: one with a list of blocks is told as a message for each; a bare string as the user's."""
    if first(value) == '"':
        value = raw([value])
    if first(value) != "[":
        return none_is_empty(value, _beside, _crossing)
    out: list[Any] = []
    for item in items(value):
        members = frame.members(item)
        held = (members or {}).get("content", ABSENT)
        if members is not None and first(held) == "[":
            out += [{**members, "content": one} for one in items(held)]
        else:
            out.append({"role": "user", "content": item} if first(item) == '"' else item)
    return raw(out)


def role(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """Only users and assistants speak in a prompt; "system" and others are the user's side of it."""
    return raw("assistant" if (frame.text(value) or "").lower() in {"assistant", "model", "ai"} else "user")


def completion(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """At most 100 values, and ``hasMore`` where there are others (server/utilities/completion)."""
    if _missing(value):
        return raw({"values": _EMPTY_LIST})
    if first(value) == "[":
        value = raw({"values": value})
    members = frame.members(value)
    if members is None or first(members.get("values", ABSENT)) != "[":
        return value
    values = items(members["values"])
    return value if len(values) <= 100 else raw({**members, "values": values[:100], "hasMore": _TRUE})


# --- notifications and identity ---

_LEVELS: Final = {"trace": "debug", "verbose": "debug", "warn": "warning", "err": "error", "crit": "critical", "fatal": "critical"}
_LEVELS_MORE: Final = {"panic": "emergency", "emerg": "emergency"}


def log_level(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """Levels are RFC 5424's, in lower case; loggers of many languages have other words for them."""
    word = (frame.text(value) or "").lower()
    word = _LEVELS.get(word) or _LEVELS_MORE.get(word) or word
    return raw(word) if word in LOG_LEVELS else value


def log_data(value: Raw, beside: Members, _crossing: Crossing) -> Raw:
    """Some servers name the data ``message``."""
    return beside.get("message", Raw(b"null")) if value is ABSENT else value


def unknown_version(value: Raw, _beside: Members, _crossing: Crossing) -> Raw:
    """Versions are for display; a number is told by its digits."""
    return json_as_text(value) if first(value) in "-0123456789" and value is not ABSENT else raw("unknown")


def name_of_peer(value: Raw, beside: Members, _crossing: Crossing) -> Raw:
    """A peer without a name goes by its title."""
    title = beside.get("title", ABSENT)
    return title if parts.is_text(title) else value


MEMBERS: Final[dict[tuple[type, str], Fix]] = {
    (wholes.ToolPage, "tools"): none_is_empty,
    (wholes.PromptPage, "prompts"): none_is_empty,
    (wholes.ResourcePage, "resources"): none_is_empty,
    (wholes.TemplatePage, "resourceTemplates"): none_is_empty,
    (wholes.ToolResult, "content"): blocks,
    (wholes.ToolResult, "isError"): truth,
    (wholes.PromptResult, "messages"): messages,
    (parts.PromptMessage, "role"): role,
    (wholes.ReadResult, "contents"): one_is_a_list,
    (wholes.CompleteResult, "completion"): completion,
    (parts.Completion, "values"): none_is_empty,
    (parts.Tool, "inputSchema"): input_schema,
    (parts.TextBlock, "text"): text_of_block,
    (parts.ImageBlock, "mimeType"): unknown_mime_type,
    (parts.AudioBlock, "mimeType"): unknown_mime_type,
    (parts.LinkBlock, "name"): name_of_resource,
    (parts.Resource, "name"): name_of_resource,
    (parts.ResourceTemplate, "name"): name_of_resource,
    (wholes.LogMessage, "level"): log_level,
    (wholes.LogMessage, "data"): log_data,
    (parts.Implementation, "name"): name_of_peer,
    (parts.Implementation, "version"): unknown_version,
    **{(page, "nextCursor"): cursor_is_text for page in (wholes.ToolPage, wholes.PromptPage, wholes.ResourcePage, wholes.TemplatePage)},
}

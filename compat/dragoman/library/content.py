"""Content blocks, and what handlers return as results of 2026-07-28.

A handler returns what is natural in Python: texts become text blocks, values become structured content with their JSON beside it as
text, and dicts with a ``type`` are blocks as they are (server/tools#tool-result). What is none of these is a fault of the handler's.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

Content = dict[str, Any]
_BLOCKS = ("text", "image", "audio", "resource_link", "resource")
_MEMBERS = {"text": ("text",), "image": ("data", "mimeType"), "audio": ("data", "mimeType"), "resource_link": ("uri", "name")}
_RESULT = {"content", "structuredContent", "isError", "resultType", "_meta"}
_VALUES = 100


class WrongType(Exception):
    """A handler returned what no result can be made of."""


def text(value: str) -> Content:
    """A text block."""
    return {"type": "text", "text": value}


def image(data: bytes, mime_type: str) -> Content:
    """An image block; ``data`` is the image itself."""
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime_type}


def audio(data: bytes, mime_type: str) -> Content:
    """An audio block; ``data`` is the sound itself. Clients of 2024-11-05 get it as an embedded resource."""
    return {"type": "audio", "data": base64.b64encode(data).decode(), "mimeType": mime_type}


def resource(uri: str, value: str | bytes, mime_type: str | None = None) -> Content:
    """A resource in the result itself: a text, or bytes."""
    return {"type": "resource", "resource": contents(uri, value, mime_type)}


def resource_link(uri: str, name: str, mime_type: str | None = None) -> Content:
    """A link to a resource. Clients before 2025-06-18 get it as text."""
    return {"type": "resource_link", "uri": uri, "name": name, **({"mimeType": mime_type} if mime_type else {})}


def contents(uri: str, value: str | bytes, mime_type: str | None = None) -> Content:
    """Contents of a resource (server/resources#resource-contents)."""
    shown: Content = {"uri": uri, **({"mimeType": mime_type} if mime_type else {})}
    return {**shown, "text": value} if isinstance(value, str) else {**shown, "blob": base64.b64encode(value).decode()}


def message(role: str, content: str | Content) -> Content:
    """A message of a prompt (server/prompts#promptmessage), or for ``Sample``; ``role`` is "user" or "assistant"."""
    return {"role": role, "content": text(content) if isinstance(content, str) else content}


def tool_result(value: Any, dump: Callable[[Any], Any] | None) -> dict[str, Any]:
    """A ``CallToolResult``. ``dump`` makes JSON of a value of the declared return type; None: it declares none. Raises ``WrongType``."""
    if isinstance(value, dict) and isinstance(value.get("content"), list) and (dump is None or value.keys() <= _RESULT):
        return _whole(value, dump)
    if dump is not None:
        return _structured(_dumped(value, dump))
    blocks = _blocks(value)
    if blocks is not None:
        return {"content": blocks}
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return _structured(to_jsonable_python(value))
    except (PydanticSerializationError, ValueError, RecursionError):
        raise WrongType(f"returned {type(value).__name__}, which is neither content nor has a form in JSON") from None


def _whole(value: dict[str, Any], dump: Callable[[Any], Any] | None) -> dict[str, Any]:
    """A result as the handler has made it."""
    if value.get("resultType", "complete") != "complete":
        raise WrongType("returned a result that is not complete; a question is asked with Context.ask")
    blocks = _blocks(value["content"])
    if blocks is None:
        raise WrongType("returned a result whose content is not a list of blocks")
    if dump is not None and not value.get("isError"):
        return {**value, "content": blocks, "structuredContent": _dumped(value.get("structuredContent"), dump)}
    return {**value, "content": blocks}


def _dumped(value: Any, dump: Callable[[Any], Any]) -> Any:
    try:
        return dump(value)
    except (ValueError, RecursionError) as fault:
        raise WrongType(f"returned what does not fit its declared type: {fault}") from None


def _structured(value: Any) -> dict[str, Any]:
    try:
        return {"content": [text(_json(value))], "structuredContent": value}
    except (ValueError, TypeError, RecursionError) as fault:
        raise WrongType(f"returned what has no form in JSON: {fault}") from None


def _blocks(value: Any) -> list[Content] | None:
    """Content; None for a value that is none."""
    if value is None:
        return []
    if isinstance(value, str):
        return [text(value)]
    if isinstance(value, dict) and value.get("type") in _BLOCKS:
        return [_checked(value)]
    if isinstance(value, list | tuple) and value:
        made = [_blocks(each) if isinstance(each, str | dict) else None for each in value]
        if None not in made:
            return [block for blocks in made for block in blocks or ()]
        if any(isinstance(each, dict) and each.get("type") in _BLOCKS for each in value):
            raise WrongType("returned a list of which some are content blocks and some are not")
        return None
    if isinstance(value, bool | int | float):
        return [text(str(value) if isinstance(value, float) else _json(value))]
    return [] if value == [] else None


def _checked(block: Content) -> Content:
    """A block that has what a block of its kind must have (schema#contentblock)."""
    if block["type"] == "resource":
        fits = _is_contents(block.get("resource"))
    else:
        fits = all(isinstance(block.get(member), str) for member in _MEMBERS[block["type"]])
    if not fits:
        raise WrongType(f"returned a block of the type {block['type']} that lacks what such a block has")
    return block


def _is_contents(held: Any) -> bool:
    """Whether it has what contents of a resource must have (schema#resourcecontents)."""
    if not isinstance(held, dict) or not isinstance(held.get("uri"), str):
        return False
    return isinstance(held.get("text"), str) or isinstance(held.get("blob"), str)


def resource_result(uri: str, mime_type: str | None, value: Any) -> dict[str, Any]:
    """A ``ReadResourceResult``: a text, bytes, or contents as they are."""
    if isinstance(value, dict) and isinstance(value.get("contents"), list):
        return {**value, **resource_result(uri, mime_type, value["contents"])}
    if isinstance(value, str | bytes | bytearray):
        return {"contents": [contents(uri, bytes(value) if isinstance(value, bytearray) else value, mime_type)]}
    if isinstance(value, list) and all(_is_contents(each) for each in value):
        return {"contents": value}
    if isinstance(value, list):
        raise WrongType("returned contents of which some lack what is expected of them: a uri, and a text or a blob")
    raise WrongType(f"returned {type(value).__name__}: a text, bytes or a list of contents was expected")


def prompt_result(description: str | None, value: Any) -> dict[str, Any]:
    """A ``GetPromptResult``: a text of the user's, or messages."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return {**value, "messages": [_message(each) for each in value["messages"]]}
    items = value if isinstance(value, list | tuple) else [value]
    return {**({"description": description} if description else {}), "messages": [_message(each) for each in items]}


def _message(value: Any) -> Content:
    if isinstance(value, str):
        return message("user", value)
    if isinstance(value, dict) and value.get("role") in ("user", "assistant"):
        held = value.get("content")
        if isinstance(held, str):
            return {**value, "content": text(held)}
        if isinstance(held, dict) and held.get("type") in _BLOCKS:
            return {**value, "content": _checked(held)}
    raise WrongType("returned what is no prompt: a text, a message (a role and a block), or a list of them was expected")


def completion_result(value: Any) -> dict[str, Any]:
    """A ``CompleteResult``: texts, of which a client is shown 100 at most (server/utilities/completion#completion-results)."""
    if isinstance(value, dict) and isinstance(value.get("completion"), dict):
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise WrongType(f"returned {type(value).__name__}: a list of texts was expected")
    return {"completion": {"values": list(value[:_VALUES]), "total": len(value), "hasMore": len(value) > _VALUES}}


def _json(value: Any) -> str:
    if type(value) is int:
        return str(value)
    return _encoder()(value)


@cache
def _encoder() -> Callable[[Any], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

"""Bare result objects of ``inputResponses``: are they answers, and what of them is the server's (2026-07-28, basic/patterns/mrtr).

An optional member that is null was not given: some clients write down every member that they know.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from dragoman import frame
from dragoman.bridging import asked
from dragoman.shape import ANSWERS

_ACTIONS = ("accept", "decline", "cancel")
_OPTIONAL = ("content", "stopReason", "_meta")
Members = dict[str, Raw]


def _given(answer: Raw) -> Members | None:
    members = frame.members(answer)
    return members and {name: value for name, value in members.items() if name not in _OPTIONAL or bytes(value) != b"null"}


def answer_fault(method: str, form: asked.Form | None, answer: Raw) -> str | None:
    """What keeps ``answer`` from being a result of ``method``; ``form`` is the form that it fills in, if it is one."""
    members = _given(answer)
    if members is None:
        return "it must be an object"
    if method == "elicitation/create":
        return _elicited_fault(members, form)
    value = asked.read(frame.encode(members), ANSWERS[method], "it")
    if isinstance(value, str):
        return value
    if method == "roots/list":
        foreign = next((root.uri for root in value.roots if not root.uri.startswith("file://")), None)
        return None if foreign is None else f"a root must be a file:// URI (client/roots#root), not {foreign}"
    return None


def _elicited_fault(members: Members, form: asked.Form | None) -> str | None:
    action = frame.text(members.get("action"))
    if action not in _ACTIONS:
        return "action must be accept, decline or cancel"
    if action != "accept" or form is None:
        return None
    if "content" not in members:
        # Nothing can be filled into a form without fields.
        return "content is missing" if form.properties else None
    return _content_fault(members["content"], form)


def _content_fault(raw: Raw, form: asked.Form) -> str | None:
    content = asked.read(raw, dict[str, Raw], "content")
    if isinstance(content, str):
        return content
    missing = [name for name in form.required or () if name not in content]
    if missing:
        return f"content.{missing[0]} is missing"
    for name, value in content.items():
        wanted = asked.read_property(form.properties[name], "") if name in form.properties else None
        if not _fits(asked.loads(value), wanted):
            return f"content.{name} is not what the form asks for: {_kind(wanted)}"
    return None


def _kind(wanted: asked.Property | str | None) -> str:
    return "string, number, boolean or array of strings" if wanted is None or isinstance(wanted, str) else str(wanted.__struct_config__.tag)


def _fits(value: Any, wanted: asked.Property | str | None) -> bool:
    strings = isinstance(value, list) and all(isinstance(item, str) for item in value)
    if isinstance(wanted, asked.StringProperty):
        return isinstance(value, str)
    if isinstance(wanted, asked.BooleanProperty):
        return isinstance(value, bool)
    if isinstance(wanted, asked.IntegerProperty):
        return type(value) is int
    if isinstance(wanted, asked.NumberProperty):
        return type(value) in {int, float}
    return strings if isinstance(wanted, asked.ArrayProperty) else strings or isinstance(value, str | int | float)


def plain_answer(method: str, mode: str, answer: Raw) -> Raw:
    """What of a valid answer answers the question; the same object if all of it does. The chain restates it for a revision."""
    members = frame.members(answer)
    kept = _given(answer) or {}
    if method == "elicitation/create":
        kept = _elicited(kept, mode)
    return answer if kept == members else Raw(frame.encode(kept))


def _elicited(members: Members, mode: str) -> Members:
    """Content belongs to an accepted form and to nothing else (2025-11-25 schema, ``ElicitResult``)."""
    if mode == "url":
        return {"action": members["action"]}
    if frame.text(members["action"]) == "accept":
        return {"content": Raw(b"{}"), **members}
    return {name: value for name, value in members.items() if name != "content"}

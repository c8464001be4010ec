"""SEP-1330: a form may have multiple-choice properties, answered with a list of strings (2025-11-25, client/elicitation).

An older server can't have asked for one. A list of one is told as its string, any other fails the question.

An older client is asked for a yes or no an option instead, and the list is put together again from its answers. Their names
follow from the question alone, so that nothing need be remembered. Options with titles of their own become ``enumNames``.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, Change, Crossing, Fault, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep1330_enum_schemas", since=Version.V2025_11_25)

_NOTHING: Final = Raw(b"{}")


@CHANGE.upgrade("elicitation/create", Part.ANSWER)
def single_choice(answer: Members, _crossing: Crossing, _notes: Notes) -> Members | Fault:
    """Unwrap lists of one string; refuse other lists."""
    values = frame.members(answer.get("content", ABSENT)) or {}
    fixed = values
    for name, value in values.items():
        chosen = shape.items(value)
        if chosen is None:
            continue
        if len(chosen) != 1:
            return Fault(CHANGE.id, f"the client chose {len(chosen)} values for {name!r}, the server's revision takes one")
        fixed = {**fixed, name: chosen[0]}
    return answer if fixed is values else {**answer, "content": shape.raw(fixed)}


@CHANGE.downgrade("elicitation/create", Part.QUESTION)
def one_question_an_option(question: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Ask for each option by itself, and write titled options as they were written before."""
    form = frame.members(question.get("requestedSchema", _NOTHING)) or {}
    properties = frame.members(form.get("properties", _NOTHING)) or {}
    several = _several(properties)
    out: dict[str, Any] = {}
    for name, value in properties.items():
        out |= _yes_or_no(name, value, several[name]) if name in several else {name: _titled_before(value)}
    if not several and all(out[name] is value for name, value in properties.items()):
        return question
    changed: dict[str, Any] = {**form, "properties": out}
    # A box that nobody ticked may well be missing from the answer.
    required = [name for name in shape.items(form.get("required", ABSENT)) or () if frame.text(name) not in several]
    if "required" in form:
        changed["required"] = required
    return {**question, "requestedSchema": shape.raw(changed)}


@CHANGE.downgrade("elicitation/create", Part.ANSWER)
def list_of_chosen(answer: Members, crossing: Crossing, _notes: Notes) -> Members:
    """Put the list together again, in the order of the options."""
    form = frame.members((frame.members(crossing.question) or {}).get("requestedSchema", _NOTHING)) or {}
    several = _several(frame.members(form.get("properties", _NOTHING)) or {})
    content = frame.members(answer["content"]) if "content" in answer else None
    if not several or content is None:
        return answer
    required = {frame.text(name) for name in shape.items(form.get("required", ABSENT)) or ()}
    flags = {flag for options in several.values() for flag in options}
    out: dict[str, Any] = {name: value for name, value in content.items() if name not in flags}
    for name, options in several.items():
        chosen = [value for flag, (value, _) in options.items() if bytes(content.get(flag, ABSENT)) == b"true"]
        if chosen or name in required:
            out[name] = chosen
    return {**answer, "content": shape.raw(out)}


def _several(properties: Members) -> dict[str, dict[str, tuple[str, str]]]:
    """For each multiple-choice property: the names of its questions, each with the option's value and title."""
    taken = set(properties)
    out: dict[str, dict[str, tuple[str, str]]] = {}
    for name, value in properties.items():
        members = frame.members(value) or {}
        if frame.text(members.get("type")) != "array":
            continue
        out[name] = {}
        for number, option in enumerate(_options(frame.members(members.get("items", _NOTHING)) or {}), 1):
            flag = f"{name}_{number}"
            while flag in taken:
                flag += "_"
            taken.add(flag)
            out[name][flag] = option
    return out


def _options(members: Members) -> list[tuple[str, str]]:
    """The values and titles of a choice: those of ``enum``, or of ``anyOf`` or ``oneOf``."""
    values = [frame.text(value) or "" for value in shape.items(members.get("enum", ABSENT)) or ()]
    titled = [frame.members(option) or {} for option in shape.items(members.get("anyOf", members.get("oneOf", ABSENT))) or ()]
    return [(value, value) for value in values] + [
        (frame.text(option.get("const")) or "", frame.text(option.get("title")) or frame.text(option.get("const")) or "")
        for option in titled
    ]


def _yes_or_no(name: str, value: Raw, options: dict[str, tuple[str, str]]) -> dict[str, Any]:
    asked = frame.tree(value) or {}
    limits = [f"{word} {asked[limit]}" for limit, word in (("minItems", "at least"), ("maxItems", "at most")) if limit in asked]
    told = [asked.get("description", ""), f"Choose {' and '.join(limits)}." if limits else ""]
    description = " ".join(text for text in told if text)
    out: dict[str, Any] = {}
    for flag, (option, title) in options.items():
        out[flag] = {"type": "boolean", "title": f"{asked.get('title') or name}: {title}"}
        if description:
            out[flag]["description"] = description
        if isinstance(asked.get("default"), list):
            out[flag]["default"] = option in asked["default"]
    return out


def _titled_before(value: Raw) -> Raw:
    members = frame.members(value) or {}
    if frame.text(members.get("type")) != "string" or "oneOf" not in members:
        return value
    options = _options({"oneOf": members["oneOf"]})
    rest = {name: held for name, held in members.items() if name != "oneOf"}
    return shape.raw({**rest, "enum": [option for option, _ in options], "enumNames": [title for _, title in options]})

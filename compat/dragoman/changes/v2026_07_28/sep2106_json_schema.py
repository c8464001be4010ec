"""SEP-2106: tool schemas are JSON Schema 2020-12, output is any JSON (2026-07-28, basic/index#json-schema-usage, server/tools).

Legacy servers send draft-04 to 2019-09, or no ``$schema``. That the root of ``inputSchema`` is an object schema is older
than this change, so it is the shape's to repair; here is the one place where a schema's dialect is brought up.

A legacy client knows structured output as an object with properties that are objects. Whatever a tool lists else is shown
as the property ``result`` of such an object, and its values likewise; references from the root then start there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from msgspec import Raw

from dragoman import frame, shape
from dragoman.change import ABSENT, Change, Crossing, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep2106_json_schema", since=Version.V2026_07_28)

SCHEMAS = ("inputSchema", "outputSchema")
WRAPPED: Final = "result"
_INSIDE: Final = f"#/properties/{WRAPPED}"
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef"))
# Keywords whose members are schemas under names of their own, and those that hold data, which may look like anything.
_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"))
_DATA: Final = frozenset(("const", "enum", "default", "examples"))
_CACHED: Final = 256
_ANYTHING, _NOTHING = Raw(b"{}"), Raw(b'{"not":{}}')


@CHANGE.upgrade("tools/list", Part.TOOL)
def schemas_of_tool(tool: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Bring both schemas of a tool up."""
    out = tool
    for member in SCHEMAS:
        schema = tool.get(member)
        if schema is not None:
            upgraded = upgrade_schema(schema, notes)
            out = out if upgraded is schema else {**out, member: upgraded}
    return out


def upgrade_schema(schema: Raw, notes: Notes) -> Raw:  # noqa: ARG001 - the draft upgrade will have something to note
    """One schema as 2020-12; the same object when there is nothing to do.

    The draft upgrade has its seam here. Until it is there a declared older dialect is relayed as declared, which the page
    allows ("Schemas MAY include a $schema field to specify a different dialect").
    """
    return schema


# --- for a legacy client ---


@CHANGE.downgrade("tools/list", Part.TOOL)
def object_schemas(tool: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Both schemas of a tool as object schemas."""
    out = tool
    for member in SCHEMAS:
        if member in tool:
            schema = tool[member]
            told = _wrapped(schema) if not _describes_object(frame.members(schema) or {}) else _of_plain_form(schema, member, notes)
            out = out if told is schema else {**out, member: told}
    return out


@CHANGE.downgrade("sampling/createMessage", Part.QUESTION)
def object_schemas_of_question(question: Members, crossing: Crossing, notes: Notes) -> Members:
    """The same for tools that a model may use."""
    listed = shape.items(question.get("tools", ABSENT)) or []
    told = [object_schemas(frame.members(tool) or {}, crossing, notes) for tool in listed]
    return question if told == [frame.members(tool) for tool in listed] else {**question, "tools": shape.raw(told)}


@CHANGE.downgrade("tools/call", Part.RESULT)
def object_output(result: Members, crossing: Crossing, notes: Notes) -> Members:
    """Wrap the value if its schema was, or if it is no object; null is a value only for a schema that lists more than objects."""
    value = result.get("structuredContent", ABSENT)
    if value is ABSENT:
        return result
    is_object = shape.show(value) == "an object"
    listed = bool(crossing.output_schema)
    is_other = listed and not _lists_objects(bytes(crossing.output_schema or b""))
    is_error = bytes(result.get("isError", ABSENT)) == b"true"
    if is_object and (is_error or not is_other):
        return result
    if shape.show(value) == "null" and (is_error or not is_other):
        return {name: held for name, held in result.items() if name != "structuredContent"}
    if listed and not is_other and not is_error:
        notes.add(shape.AREA, f"{crossing.method}: structuredContent was {shape.show(value)} where the tool lists an object, wrapped")
    return {**result, "structuredContent": Raw(b'{"%b":%b}' % (WRAPPED.encode(), value))}


@lru_cache(_CACHED)
def _lists_objects(schema: bytes) -> bool:
    return _describes_object(frame.members(Raw(schema)) or {})


def _describes_object(schema: Members) -> bool:
    return frame.text(schema.get("type")) == "object"


def _wrapped(schema: Raw) -> Raw:
    inside = frame.members(schema) or {}
    dialect = inside.pop("$schema", None)
    value = frame.tree(schema)
    rebased = _rebased(value)
    if rebased is not value:
        inside = {name: held for name, held in rebased.items() if name != "$schema"}
    head = {} if dialect is None else {"$schema": dialect}
    return shape.raw({**head, "type": "object", "properties": {WRAPPED: inside}, "required": [WRAPPED]})


def _rebased(schema: Any, *, names: bool = False) -> Any:
    """A schema whose references from the root start at its new place; the same object if there are none.

    A schema with an id of its own is what references within it start from, wherever it stands.
    """
    if isinstance(schema, list):
        listed = [_rebased(item) for item in schema]
        return schema if all(new is old for new, old in zip(listed, schema, strict=True)) else listed
    if not isinstance(schema, dict) or (not names and str(schema.get("$id", "#"))[:1] != "#"):
        return schema
    out = {}
    for keyword, held in schema.items():
        if names:
            out[keyword] = _rebased(held)
        elif keyword in _REFERENCES and isinstance(held, str) and (held == "#" or held[:2] == "#/"):
            out[keyword] = _INSIDE + held[1:]
        else:
            out[keyword] = held if keyword in _DATA else _rebased(held, names=keyword in _NAMED)
    return schema if all(out[keyword] is held for keyword, held in schema.items()) else out


def _of_plain_form(schema: Raw, member: str, notes: Notes) -> Raw:
    """An object schema whose ``properties`` are objects and whose ``required`` are names, as legacy schemas have it."""
    members = frame.members(schema) or {}
    out = members
    properties = frame.members(members.get("properties", _ANYTHING))
    if properties is None:
        notes.add(shape.AREA, f"tools/list: {member}.properties was {shape.show(members['properties'])}, left out")
        out = {name: held for name, held in out.items() if name != "properties"}
    elif any(shape.show(held) != "an object" for held in properties.values()):
        out = {**out, "properties": shape.raw({name: _as_object(held) for name, held in properties.items()})}
    if "required" in out and not shape.fits(out["required"], list[str]):
        notes.add(shape.AREA, f"tools/list: {member}.required was {shape.show(out['required'])}, left out")
        out = {name: held for name, held in out.items() if name != "required"}
    return schema if out is members else shape.raw(out)


def _as_object(schema: Raw) -> Raw:
    """``true`` and ``false`` are schemas too since draft-06; these say the same."""
    word = shape.show(schema)
    return schema if word == "an object" else _NOTHING if word == "false" else _ANYTHING

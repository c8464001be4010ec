"""The fields of a form (client/elicitation#requested-schema): flat, of the few types and formats that clients can show."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from dragoman.library.schemas import checker, schema_of

_FORMATS = ("email", "uri", "date", "date-time")
_FLAT = ("string", "number", "integer", "boolean")

Form = tuple[dict[str, Any], Callable[[Any], Any]]


def form_of(fields: Any) -> Form:
    """The schema of a form and what checks its content, from a class or a JSON Schema. Raises ``TypeError`` for what no form can have."""
    if isinstance(fields, dict):
        _look(fields)
        return fields, checker(fields, "the schema of a form")
    return _of_class(fields)


@lru_cache(256)
def _of_class(fields: Any) -> Form:
    whose = f"the form {getattr(fields, '__name__', fields)!s}"
    schema = schema_of(fields, whose)
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise TypeError(f"{whose} has no named fields")
    defined = schema.get("$defs", {})
    shown: dict[str, Any] = {
        "type": "object",
        "properties": {name: _field(each, defined) for name, each in properties.items()},
        **({"required": schema["required"]} if "required" in schema else {}),
    }
    _look(shown)
    return shown, checker(fields, whose)


def _field(shape: Any, defined: dict[str, Any]) -> dict[str, Any]:
    """A field without references, without null, which stands for one that may be left out, and without formats of other trades."""
    made = _resolved(shape, defined)
    choices = made.get("anyOf")
    if isinstance(choices, list):
        others = [each for each in choices if each.get("type") != "null"]
        if len(others) == 1 and len(choices) == 2:
            made = {**{name: value for name, value in made.items() if name != "anyOf"}, **_resolved(others[0], defined)}
            if made.get("default", ...) is None:
                del made["default"]
    if "items" in made:
        made = {**made, "items": _resolved(made["items"], defined)}
    if "format" in made and made["format"] not in _FORMATS:
        del made["format"]
    return made


def _resolved(shape: Any, defined: dict[str, Any]) -> dict[str, Any]:
    target = defined.get(str(shape.get("$ref", "")).removeprefix("#/$defs/"))
    return dict(shape) if target is None else {**target, **{name: value for name, value in shape.items() if name != "$ref"}}


def _look(schema: dict[str, Any]) -> None:
    """Whether it is one that clients can show. Raises ``TypeError``."""
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise TypeError('the schema of a form has "type": "object" and "properties" (client/elicitation#requested-schema)')
    for name, each in properties.items():
        fault = "is no schema" if not isinstance(each, dict) else _fault(each)
        if fault:
            raise TypeError(f"the field {name} of a form {fault} (client/elicitation#requested-schema)")


def _fault(field: dict[str, Any]) -> str | None:
    kind = field.get("type")
    if field.get("writeOnly"):
        return "is a secret, which a form must not ask for: ask with ElicitURL"
    if kind == "array":
        items = field.get("items")
        fits = isinstance(items, dict) and (isinstance(items.get("enum"), list) or isinstance(items.get("anyOf"), list))
        return None if fits else "is a list of anything: a form has lists of choices alone (items with enum or anyOf)"
    if kind not in _FLAT:
        return f"is of the type {kind!r}: a form has texts, numbers, yes and no, and choices"
    if "format" in field and field["format"] not in _FORMATS:
        return f"has the format {field['format']!r}: a form has {', '.join(_FORMATS)}"
    return None

"""Schemas from annotations, and values checked before anybody sees them (2026-07-28, server/tools#tool; JSON Schema 2020-12).

pydantic knows annotations, jsonschema-rs the schemas that authors write themselves; neither is imported before it is needed, and
neither fetches anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Annotated, Any, Never, NoReturn, Union, get_args, get_origin

_MOST_FAULTS, _LINE = 20, 500
_PLAIN = (str, bytes, dict, list, tuple, NoneType, Any, object, NoReturn, Never)


def adapter_of(annotation: Any, whose: str) -> Any:
    """Pydantic's ``TypeAdapter``. Raises ``TypeError`` that names ``whose`` type it cannot read."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        return TypeAdapter(annotation)
    except (PydanticUserError, NameError) as fault:
        raise TypeError(f"{whose} has a type that is not understood: {_first_line(fault)}") from None


def schema_of(annotation: Any, whose: str, *, written: bool = False) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a type; ``written``: of the values that are made from it. Raises ``TypeError``."""
    from pydantic.errors import PydanticUserError

    try:
        schema: dict[str, Any] = adapter_of(annotation, whose).json_schema(mode="serialization" if written else "validation")
    except PydanticUserError as fault:
        raise TypeError(f"{whose} has a type that JSON Schema has no words for: {_first_line(fault)}") from None
    return _clean(schema)


def _first_line(fault: Exception) -> str:
    return str(fault).splitlines()[0]


def _clean(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic makes up from names."""
    if isinstance(schema.get("properties"), dict):
        for name, each in schema["properties"].items():
            if isinstance(each, dict) and each.get("title") == name.replace("_", " ").title():
                del each["title"]
    schema.pop("title", None)
    for each in schema.get("$defs", {}).values():
        _clean(each)
    return schema


def checker(shape: Any, whose: str) -> Callable[[Any], Any]:
    """What checks values of a type, or against a JSON Schema; it raises ``ValueError`` with a line for each fault."""
    if isinstance(shape, dict):
        return _checks_schema(shape, whose)
    from pydantic import ValidationError

    validate = adapter_of(shape, whose).validator.validate_python

    def check(value: Any) -> Any:
        try:
            return validate(value)
        except ValidationError as fault:
            faults = fault.errors(include_url=False, include_context=False, include_input=False)
        raise ValueError(_told((each["loc"], each["msg"]) for each in faults))

    return check


def _checks_schema(schema: dict[str, Any], whose: str) -> Callable[[Any], Any]:
    import jsonschema_rs

    def fetch(uri: str) -> NoReturn:
        raise ValueError(f"{uri} is not fetched: a schema must stand on its own")

    try:
        validator = jsonschema_rs.validator_for(schema, retriever=fetch)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as fault:
        raise TypeError(f"{whose} is no JSON Schema that values can be checked against: {_first_line(fault)}") from None

    def check(value: Any) -> Any:
        try:
            if not validator.is_valid(value):
                raise ValueError(_told((each.instance_path, each.message) for each in validator.iter_errors(value)))
        except TypeError as fault:  # no JSON
            raise ValueError(str(fault)) from None
        return value

    return check


def _told(faults: Iterable[tuple[Iterable[Any], str]]) -> str:
    """What is wrong, a line for each."""
    lines = [f"{'.'.join(map(str, path))[:_LINE] or 'the whole'}: {message[:_LINE]}" for path, message in faults]
    more = [f"and {len(lines) - _MOST_FAULTS} more"] if len(lines) > _MOST_FAULTS else []
    return "\n".join(lines[:_MOST_FAULTS] + more)


def is_plain(annotation: Any) -> bool:
    """Whether a declared return type says no more than texts and blocks do, so that it makes no output schema."""
    if annotation in _PLAIN:
        return True
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return is_plain(arguments[0])
    if origin is dict:
        return arguments[1] in (Any, object)
    return origin in (Union, UnionType, list, tuple) and all(each is Ellipsis or is_plain(each) for each in arguments)


def writer(annotation: Any, whose: str) -> Callable[[Any], Any]:
    """What makes JSON of values of a declared return type. It raises ``ValueError`` for one that is none."""
    dump, check = adapter_of(annotation, whose).serializer.to_python, checker(annotation, whose)
    return lambda value: dump(check(value), mode="json", by_alias=True)

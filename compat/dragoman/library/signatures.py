"""What a handler takes and returns, read from its function, so that its mistakes are told when it is registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from dragoman.library.schemas import checker, schema_of

NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
"""Kinds of parameters that take no argument by its name."""
NOTHING = inspect.Parameter.empty
"""``Signature.returns`` of a function that declares no return type."""


class BadArguments(Exception):
    """Arguments that do not fit; the text is for the model, a line for each."""


class Signature:
    """What a function takes: ``schema`` for clients, ``read`` for a call, and ``returns``, its declared return type.

    ``context`` is the name of the parameter that gets the ``Context``. A ``given`` schema describes the arguments instead of the
    annotations, and the function gets them as they come. Raises ``TypeError`` for a function that no arguments can be told of.
    """

    __slots__ = ("_check", "_taken", "context", "named", "returns", "schema")

    def __init__(self, function: Callable[..., Any], given: dict[str, Any] | None, context_type: type) -> None:
        whose = name_of(function)
        hints = _hints(function)
        self.returns: Any = hints.get("return", NOTHING)
        parameters = _parameters(function)
        contexts = [each.name for each in parameters if _is_context(hints.get(each.name), context_type)]
        if len(contexts) > 1:
            raise TypeError(f"{whose} takes its context twice: as {' and '.join(contexts)}")
        if any(each.kind in NAMELESS for each in parameters if each.name in contexts):
            raise TypeError(f"{whose}: {contexts[0]} has to be a parameter that can be given by its name")
        self.context = contexts[0] if contexts else None
        self.named = [each for each in parameters if each.name != self.context]
        self._taken: frozenset[str] | None = None
        if given is not None:
            if given.get("type") != "object":
                raise TypeError(f'the schema of {whose} must have "type": "object" at its root (server/tools#tool)')
            self.schema, self._check = given, checker(given, f"the schema of {whose}")
            return
        for each in self.named:
            if each.kind in NAMELESS:
                raise TypeError(f"{whose}: {each} has no name that a client could give it; describe the arguments with a schema")
        shape = _shape(whose, self.named, hints)
        self.schema, self._check = _schema(shape, self.named, hints, whose), checker(shape, whose)

    def fit(self, whose: str) -> None:
        """Whether the function takes what its given schema lets through. Raises ``TypeError``."""
        nameless = [each.name for each in self.named if each.kind is each.POSITIONAL_ONLY and is_required(each)]
        if nameless:
            raise TypeError(f"{whose} takes {', '.join(nameless)} by position alone, and arguments have names")
        if any(each.kind is each.VAR_KEYWORD for each in self.named):
            return
        taken = {each.name: each for each in self.named if each.kind not in NAMELESS}
        unknown = sorted(set(self.schema.get("properties", {})) - set(taken))
        if unknown:
            raise TypeError(f"{whose} does not take what its schema describes: {', '.join(unknown)}")
        left_out = sorted(name for name in taken.keys() - set(self.schema.get("required", ())) if is_required(taken[name]))
        if left_out:
            raise TypeError(f"{whose} needs what its schema does not require: {', '.join(left_out)}")
        self._taken = frozenset(taken)

    def read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the function wants them. Raises ``BadArguments``."""
        try:
            read: dict[str, Any] = self._check(arguments)
        except ValueError as fault:
            raise BadArguments(str(fault)) from None
        if self._taken is not None and (unknown := sorted(read.keys() - self._taken)):
            raise BadArguments("\n".join(f"{name[:100]}: there is no such argument" for name in unknown[:20]))
        return read


def name_of(function: Callable[..., Any]) -> str:
    """How a function is called in error texts."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether it is, or is an object that is called as, a coroutine function."""
    while isinstance(function, partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    if isinstance(function, type) or not hasattr(function, "__call__"):  # noqa: B004 - callable() would tell mypy that this cannot be
        raise TypeError(f"{function!r} is no function")
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        raise TypeError(f"{name_of(function)} does not tell what it takes: wrap it in a function that does") from None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    inner: Any = function
    while isinstance(inner, partial):
        inner = inner.func
    if not (inspect.isroutine(inner) or isinstance(inner, type)) and callable(inner):
        inner = type(inner).__call__
    try:
        return get_type_hints(inner, include_extras=True)
    except Exception as fault:  # noqa: BLE001 - an annotation is an expression, and may raise anything
        raise TypeError(
            f"{name_of(function)} has an annotation that cannot be read at run time ({type(fault).__name__}: {fault}); "
            "what it names has to be imported outside of if TYPE_CHECKING"
        ) from None


def _is_context(hint: Any, context_type: type) -> bool:
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_context(get_args(hint)[0], context_type)
    return hint is context_type or (origin in (Union, UnionType) and any(_is_context(each, context_type) for each in get_args(hint)))


def _shape(name: str, parameters: list[inspect.Parameter], hints: dict[str, Any]) -> Any:
    """A ``TypedDict`` of the parameters: any name will do as a key, and what is left out is left to the function's own default."""
    from typing import NotRequired

    from pydantic import ConfigDict, with_config
    from pydantic.fields import FieldInfo
    from typing_extensions import TypedDict

    fields: dict[str, Any] = {}
    for each in parameters:
        annotation = hints.get(each.name, Any)
        if isinstance(each.default, FieldInfo):
            annotation = Annotated[annotation, each.default]
        fields[each.name] = annotation if is_required(each) else NotRequired[annotation]
    return with_config(ConfigDict(extra="forbid"))(TypedDict(name, fields))  # type: ignore[operator]


def _alias(parameter: inspect.Parameter, hint: Any) -> str | None:
    """The name that a ``Field`` gives it on the wire."""
    metadata = (*get_args(hint)[1:], parameter.default) if get_origin(hint) is Annotated else (parameter.default,)
    for each in metadata:
        alias = getattr(each, "validation_alias", None) or getattr(each, "alias", None)
        if isinstance(alias, str):
            return alias
    return None


def is_required(parameter: inspect.Parameter) -> bool:
    """Whether a client has to give it."""
    default = parameter.default
    return default is parameter.empty or (hasattr(default, "is_required") and bool(default.is_required()))


def _schema(shape: Any, parameters: list[inspect.Parameter], hints: dict[str, Any], whose: str) -> dict[str, Any]:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    schema = schema_of(shape, whose)
    properties = schema.setdefault("properties", {})
    for each in parameters:
        shown = _alias(each, hints.get(each.name)) or each.name
        if is_required(each) or shown not in properties:
            continue
        default = each.default
        if hasattr(default, "get_default"):  # a Field
            default = default.get_default(call_default_factory=True, validated_data={})
        try:
            properties[shown].setdefault("default", to_jsonable_python(default))
        except PydanticSerializationError:
            continue  # it has no form in JSON, and clients need not know it
    return schema

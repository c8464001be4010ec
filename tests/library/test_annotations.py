"""Input schemas from annotations: what clients are told of a function, and what the function gets."""

import enum
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Optional

import pytest
from pydantic import BaseModel, Field
from tests.library.peer import EVERY, MODERN, asynchronous, called, refused, told
from typing_extensions import TypedDict

from dragoman import Context, Server


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point(BaseModel):
    x: int
    y: int = 0


class Line(BaseModel):
    start: Point
    end: Point


@dataclass
class Size:
    width: int
    height: int = 1


class Range(TypedDict):
    low: int
    high: NotRequired[int]


def schema_of(function: Any) -> dict[str, Any]:
    server = Server("s")
    server.tool()(function)
    schema: dict[str, Any] = server.tools[function.__name__].shown["inputSchema"]
    assert schema.pop("type") == "object"
    assert schema.pop("additionalProperties") is False
    return schema


def one(annotation: Any, default: Any = ...) -> Any:
    """What is told of one parameter."""

    def function(value: annotation) -> str: ...
    def with_default(value: annotation = default) -> str: ...

    return schema_of(function if default is ... else with_default)["properties"]["value"]


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def ping() -> str: ...

    assert schema_of(ping) == {"properties": {}}


def test_a_parameter_without_an_annotation_may_be_anything() -> None:
    def echo(value, other=3) -> str: ...  # type: ignore[no-untyped-def]

    assert schema_of(echo) == {"properties": {"value": {}, "other": {"default": 3}}, "required": ["value"]}


def test_a_parameter_with_a_default_is_not_required_and_the_default_is_told() -> None:
    def add(a: int, b: int = 2, *, c: float = 0.5) -> str: ...

    assert schema_of(add) == {
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 2}, "c": {"type": "number", "default": 0.5}},
        "required": ["a"],
    }


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (date, {"type": "string", "format": "date"}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045 - the spelling is what is tested
        (
            Annotated[int, Field(ge=1, le=9, description="A digit.")],
            {"type": "integer", "minimum": 1, "maximum": 9, "description": "A digit."},
        ),
        (Annotated[str, Field(title="The Name", examples=["Ada"])], {"type": "string", "title": "The Name", "examples": ["Ada"]}),
        (Any, {}),
    ],
)
def test_an_annotation_becomes_its_schema_without_titles_that_nobody_wrote(annotation: Any, schema: dict[str, Any]) -> None:
    assert one(annotation) == schema


@pytest.mark.parametrize(
    ("annotation", "default", "schema"),
    [
        (int, Field(3, description="How many."), {"type": "integer", "default": 3, "description": "How many."}),
        (list[int], Field(default_factory=list), {"type": "array", "items": {"type": "integer"}, "default": []}),
        (Annotated[int, Field(description="d")], 4, {"type": "integer", "default": 4, "description": "d"}),
        (int | None, None, {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),
        (object, object(), {}),
    ],
)
def test_a_default_is_told_in_json_or_not_at_all(annotation: Any, default: Any, schema: dict[str, Any]) -> None:
    assert one(annotation, default) == schema


def test_a_field_without_a_default_is_required() -> None:
    def find(text: str = Field(description="What to find.")) -> str: ...

    assert schema_of(find) == {"properties": {"text": {"type": "string", "description": "What to find."}}, "required": ["text"]}


def test_enums_models_dataclasses_and_typed_dicts_are_definitions() -> None:
    def draw(colour: Colour, level: Level, line: Line, size: Size, span: Range) -> str: ...

    found = schema_of(draw)
    assert {name: found["properties"][name] for name in ("colour", "line", "size", "span")} == {
        "colour": {"$ref": "#/$defs/Colour"},
        "line": {"$ref": "#/$defs/Line"},
        "size": {"$ref": "#/$defs/Size"},
        "span": {"$ref": "#/$defs/Range"},
    }
    assert found["$defs"]["Colour"] == {"type": "string", "enum": ["red", "blue"]}
    assert found["$defs"]["Level"] == {"type": "integer", "enum": [1, 2]}
    assert found["$defs"]["Line"]["properties"] == {"start": {"$ref": "#/$defs/Point"}, "end": {"$ref": "#/$defs/Point"}}
    assert found["$defs"]["Point"]["properties"] == {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}
    assert found["$defs"]["Range"]["required"] == ["low"]


def test_the_context_is_no_argument_wherever_it_stands() -> None:
    def first(context: Context, a: int) -> str: ...
    def last(a: int, *, context: Context) -> str: ...
    def named_by_text(a: int, context: "Context") -> str: ...

    for function in (first, last, named_by_text):
        assert schema_of(function) == {"properties": {"a": {"type": "integer"}}, "required": ["a"]}


def test_an_alias_is_the_name_for_clients() -> None:
    def read(start: Annotated[int, Field(alias="from")], end: Annotated[int, Field(alias="to")] = 9) -> str: ...

    found = schema_of(read)
    assert sorted(found["properties"]) == ["from", "to"]
    assert found["properties"]["to"]["default"] == 9
    assert found["required"] == ["from"]


SERVER = Server("values", "1")


@SERVER.tool()
async def odd(json: str, schema: int, self_: bool, model_config: str, copy: str, class_: int = 0, *, named: int = 1) -> str:
    return f"{json} {schema} {self_} {model_config} {copy} {class_} {named}"


@SERVER.tool()
def typed(colour: Colour, level: Level, line: Line, size: Size, span: Range, day: date) -> str:
    return f"{colour!r} {level!r} {line!r} {size!r} {span!r} {day!r}"


@SERVER.tool()
def filled(
    a: int = 2,
    b: Annotated[int, Field(ge=0)] = 3,
    c: int = Field(4),
    d: list[int] = Field(default_factory=lambda: [5]),  # noqa: B008 - as authors write it
    e: int | None = None,
) -> str:
    return f"{a} {b} {c} {d} {e}"


@SERVER.tool()
def aliased(start: Annotated[int, Field(alias="from")]) -> str:
    return str(start)


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_names_that_pydantic_keeps_for_itself_are_names_like_any(version: str) -> None:
    arguments = {"json": "j", "schema": 1, "self_": True, "model_config": "m", "copy": "c"}
    assert told(await called(SERVER, "odd", arguments, version=version)) == "j 1 True m c 0 1"
    assert told(await called(SERVER, "odd", {**arguments, "class_": 5, "named": 6}, version=version)) == "j 1 True m c 5 6"


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_the_function_gets_instances_of_what_it_is_annotated_with(version: str) -> None:
    arguments = {
        "colour": "red",
        "level": 2,
        "line": {"start": {"x": 1}, "end": {"x": 2, "y": 3}},
        "size": {"width": 4},
        "span": {"low": 5},
        "day": "2026-07-28",
    }
    assert told(await called(SERVER, "typed", arguments, version=version)) == (
        "<Colour.RED: 'red'> <Level.HIGH: 2> Line(start=Point(x=1, y=0), end=Point(x=2, y=3)) "
        "Size(width=4, height=1) {'low': 5} datetime.date(2026, 7, 28)"
    )


@asynchronous
async def test_what_is_left_out_is_the_default_of_any_kind() -> None:
    assert told(await called(SERVER, "filled")) == "2 3 4 [5] None"
    assert told(await called(SERVER, "filled", {"a": 7, "d": [], "e": None})) == "7 3 4 [] None"


@asynchronous
async def test_a_default_that_a_handler_changes_is_new_for_the_next_call() -> None:
    server = Server("s")

    @server.tool()
    def grow(items: list[int] = Field(default_factory=list)) -> str:  # noqa: B008 - as authors write it
        items.append(1)
        return str(items)

    assert told(await called(server, "grow")) == "[1]"
    assert told(await called(server, "grow")) == "[1]"


@asynchronous
async def test_an_aliased_argument_is_given_by_its_alias() -> None:
    assert told(await called(SERVER, "aliased", {"from": 3})) == "3"
    assert "from" in refused(await called(SERVER, "aliased", {"start": 3}))


@asynchronous
async def test_a_required_field_is_missed_like_any_argument() -> None:
    server = Server("s")

    @server.tool()
    def find(text: str = Field(description="What to find.")) -> str:
        return text

    assert refused(await called(server, "find", version=MODERN)) == "The arguments do not fit the schema of find:\ntext: Field required"

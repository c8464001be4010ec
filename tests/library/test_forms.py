"""Forms: which fields one can have, and that what is asked is a form for the schema of every revision that has them."""

import enum
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, create_model
from tests.library.peer import ASKED, Judged, asynchronous, told
from typing_extensions import TypedDict

from dragoman import Context, Elicit, Server


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Fields(TypedDict):
    name: str


@dataclass
class Data:
    name: str
    count: int = 1


class Foreign:
    pass


class Inner(BaseModel):
    x: int


def form_with(annotation: Any, default: Any = ...) -> dict[str, Any]:
    schema: dict[str, Any] = Elicit("?", create_model("Form", field=(annotation, default))).params()["requestedSchema"]
    return schema


FIELDS: list[tuple[Any, dict[str, Any], Any, str]] = [
    (str, {"type": "string"}, "a", "'a'"),
    (int, {"type": "integer"}, 3, "3"),
    (float, {"type": "number"}, 1.5, "1.5"),
    (bool, {"type": "boolean"}, True, "True"),
    (Colour, {"type": "string", "enum": ["red", "blue"]}, "red", "<Colour.RED: 'red'>"),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "a", "'a'"),
    (date, {"type": "string", "format": "date"}, "2026-07-28", "datetime.date(2026, 7, 28)"),
    (datetime, {"type": "string", "format": "date-time"}, "2026-07-28T01:02:03", "datetime.datetime(2026, 7, 28, 1, 2, 3)"),
    (
        Annotated[str, Field(min_length=2, max_length=9, title="The Name", description="D")],
        {"type": "string", "minLength": 2, "maxLength": 9, "title": "The Name", "description": "D"},
        "ab",
        "'ab'",
    ),
    (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}, 5, "5"),
]


@pytest.mark.parametrize(("annotation", "schema", "value", "read"), FIELDS)
def test_a_field_of_text_number_yes_and_no_or_choice_is_what_forms_have(annotation: Any, schema: Any, value: Any, read: str) -> None:
    assert form_with(annotation) == {"type": "object", "properties": {"field": schema}, "required": ["field"]}


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize(("annotation", "schema", "value", "read"), FIELDS)
@asynchronous
async def test_every_field_is_valid_where_it_is_asked_and_its_answer_is_read(
    version: str, annotation: Any, schema: Any, value: Any, read: str
) -> None:
    assert await answered(version, create_model("Form", field=(annotation, ...)), {"field": value}) == f"Form(field={read})"


async def answered(version: str, fields: Any, content: dict[str, Any]) -> str:
    """The value that a handler gets for a form that is filled in so."""
    server = Server("s")

    @server.tool()
    async def ask(context: Context) -> str:
        return repr((await context.ask(Elicit("?", fields))).value)

    async with Judged(server, version=version, answer=lambda *_: {"action": "accept", "content": content}) as client:
        return told(await client.call_tool("ask"))


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_dataclasses_and_typed_dicts_are_forms_too(version: str) -> None:
    assert await answered(version, Data, {"name": "a"}) == "Data(name='a', count=1)"
    assert await answered(version, Fields, {"name": "a"}) == "{'name': 'a'}"


@pytest.mark.parametrize("version", ASKED[1:])
@pytest.mark.parametrize("annotation", [list[Literal["a", "b"]], set[Colour]])
@asynchronous
async def test_several_choices_are_a_list_of_them_since_2025_11_25(version: str, annotation: Any) -> None:
    content = ["a"] if annotation == list[Literal["a", "b"]] else ["red"]
    assert await answered(version, create_model("Form", field=(annotation, ...)), {"field": content}) in (
        "Form(field=['a'])",
        "Form(field={<Colour.RED: 'red'>})",
    )


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_field_with_a_default_may_be_left_out(version: str) -> None:
    fields = create_model("Form", field=(str, "x"), other=(int, Field(3, description="d")))
    assert form_with(str, "x") == {"type": "object", "properties": {"field": {"type": "string", "default": "x"}}}
    assert await answered(version, fields, {}) == "Form(field='x', other=3)"
    assert await answered(version, fields, {"field": "y"}) == "Form(field='y', other=3)"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_field_that_may_be_none_is_one_that_may_be_left_out(version: str) -> None:
    fields = create_model("Form", name=(str, ...), nick=(Optional[str], None))  # noqa: UP045 - the spelling is what is tested
    assert await answered(version, fields, {"name": "a"}) == "Form(name='a', nick=None)"
    assert await answered(version, fields, {"name": "a", "nick": "b"}) == "Form(name='a', nick='b')"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_form_without_fields_is_a_plain_confirmation(version: str) -> None:
    assert await answered(version, create_model("Form"), {}) == "Form()"


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_what_no_form_can_say_is_checked_all_the_same(version: str) -> None:
    class Even(BaseModel):
        model_config = ConfigDict(title="Even numbers")
        number: Annotated[int, Field(multiple_of=2, gt=0)]
        code: Annotated[str, Field(pattern="^a")] = "a"

    assert await answered(version, Even, {"number": 4}) == "Even(number=4, code='a')"


@pytest.mark.parametrize("annotation", [Data, Inner, dict, Any, str | int, list[int], list[Inner], list[str]])
def test_a_field_that_no_form_has_is_a_type_error_that_names_it(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"field field .*a form has"):
        form_with(annotation)


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize(
    ("annotation", "value", "read"),
    [
        (time, "01:02:03", "datetime.time(1, 2, 3)"),
        (UUID, "12345678123456781234567812345678", "UUID('12345678-1234-5678-1234-567812345678')"),
        (Path, "/a", "PosixPath('/a')"),
        (bytes, "a", "b'a'"),
        (Literal["a"], "a", "'a'"),
        (Literal[1, 2], 1, "1"),
    ],
)
@asynchronous
async def test_a_field_of_a_format_that_forms_do_not_know_is_asked_without_it(version: str, annotation: Any, value: Any, read: str) -> None:
    assert "format" not in form_with(annotation)["properties"]["field"]
    assert await answered(version, create_model("Form", field=(annotation, ...)), {"field": value}) == f"Form(field={read})"


def test_a_secret_is_no_field_of_a_form() -> None:
    """What is secret must not pass through the client (client/elicitation#security-considerations)."""
    with pytest.raises(TypeError, match=r"field .* of a form is a secret.*ElicitURL"):
        form_with(SecretStr)


@pytest.mark.parametrize("fields", [str, list[int], 3, Foreign, int | str])
def test_what_has_no_named_fields_is_a_type_error(fields: Any) -> None:
    with pytest.raises(TypeError, match="form"):
        Elicit("?", fields)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "array"},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
        {"type": "object", "properties": {"a": {"type": "colour"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
    ],
)
def test_a_schema_that_is_no_form_is_a_type_error(schema: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Elicit("?", schema)


@pytest.mark.parametrize("version", ASKED[1:])
@asynchronous
async def test_a_schema_is_asked_as_it_is(version: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "size": {"type": "string", "title": "Size", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "mail": {"type": "string", "format": "email"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2},
        },
        "required": ["size"],
    }
    assert Elicit("?", schema).params()["requestedSchema"] == schema
    assert await answered(version, schema, {"size": "s", "tags": ["a"]}) == "{'size': 's', 'tags': ['a']}"

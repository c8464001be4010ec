"""What handlers return: blocks, values, whole results, and what no result can be made of."""

import base64
import dataclasses
import enum
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel
from tests.library.peer import ASKED, BEFORE, EVERY, MODERN, Judged, asynchronous, called, plain, refused, told, tracebacks
from typing_extensions import TypedDict

from dragoman import ProtocolError, Server, content

SOUND = base64.b64encode(b"\x00\xff").decode()


class Report(BaseModel):
    city: str
    high: float


class Row(TypedDict):
    name: str


@dataclasses.dataclass
class Size:
    width: int


class Colour(enum.Enum):
    RED = "red"


def returning(value: Any, annotation: Any = Any, **registered: Any) -> Server:
    server = Server("s", "1")

    def give() -> annotation:
        return value

    server.tool(**registered)(give)
    return server


async def given(value: Any, annotation: Any = Any, version: str = MODERN, **registered: Any) -> dict[str, Any]:
    return await called(returning(value, annotation, **registered), "give", version=version)


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        ("hello", [{"type": "text", "text": "hello"}]),
        ("", [{"type": "text", "text": ""}]),
        (None, []),
        ([], []),
        (content.text("a"), [{"type": "text", "text": "a"}]),
        (["a", content.text("b")], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (("a", "b"), [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (content.image(b"\x00\xff", "image/png"), [{"type": "image", "data": SOUND, "mimeType": "image/png"}]),
        (
            content.resource("note://a", "text", "text/plain"),
            [{"type": "resource", "resource": {"uri": "note://a", "mimeType": "text/plain", "text": "text"}}],
        ),
        (content.resource("note://a", b"\x00\xff"), [{"type": "resource", "resource": {"uri": "note://a", "blob": SOUND}}]),
    ],
)
@asynchronous
async def test_texts_and_blocks_are_content_in_every_revision(version: str, value: Any, blocks: list[Any]) -> None:
    assert await given(value, version=version) == {"content": blocks}


@pytest.mark.parametrize("version", EVERY[1:])
@asynchronous
async def test_audio_is_audio_since_2025_03_26(version: str) -> None:
    block = content.audio(b"\x00\xff", "audio/wav")
    assert await given(block, version=version) == {"content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]}


@asynchronous
async def test_audio_for_2024_11_05_is_an_embedded_resource_and_a_text_that_says_so() -> None:
    told_of, block = (await given(content.audio(b"\x00\xff", "audio/wav"), version="2024-11-05"))["content"]
    assert told_of["type"] == "text"
    assert "audio/wav" in told_of["text"]
    assert block["type"] == "resource"
    assert (block["resource"]["blob"], block["resource"]["mimeType"]) == (SOUND, "audio/wav")


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_link_is_a_link_since_2025_06_18_and_a_text_before(version: str) -> None:
    (block,) = (await given(content.resource_link("note://a", "A", "text/plain"), version=version))["content"]
    if version in ASKED:
        assert block == {"type": "resource_link", "uri": "note://a", "name": "A", "mimeType": "text/plain"}
    else:
        assert block["type"] == "text"
        assert "note://a" in block["text"]


VALUES: list[tuple[Any, Any, str, Any]] = [
    (int, 3, "3", 3),
    (float, 1.5, "1.5", 1.5),
    (bool, True, "true", True),
    (list[int], [1, 2], "[1,2]", [1, 2]),
    (int | None, None, "null", None),
    (Literal["a", "b"], "a", '"a"', "a"),
    (Colour, Colour.RED, '"red"', "red"),
    (date, date(2026, 7, 28), '"2026-07-28"', "2026-07-28"),
    (list[Report], [Report(city="Rome", high=1)], '[{"city":"Rome","high":1.0}]', [{"city": "Rome", "high": 1.0}]),
]
OBJECTS: list[tuple[Any, Any, str, Any]] = [
    (Report, Report(city="Řím", high=31.5), '{"city":"Řím","high":31.5}', {"city": "Řím", "high": 31.5}),
    (Report, {"city": "Rome", "high": 31}, '{"city":"Rome","high":31.0}', {"city": "Rome", "high": 31.0}),
    (Size, Size(3), '{"width":3}', {"width": 3}),
    (Row, {"name": "a"}, '{"name":"a"}', {"name": "a"}),
    (dict[str, int], {"a": 1}, '{"a":1}', {"a": 1}),
    (Annotated[Report, "seen"], Report(city="Rome", high=1), '{"city":"Rome","high":1.0}', {"city": "Rome", "high": 1.0}),
]


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(("annotation", "value", "text", "structured"), OBJECTS)
@asynchronous
async def test_an_object_of_a_declared_type_is_structured_content_where_the_revision_has_it(
    version: str, annotation: Any, value: Any, text: str, structured: Any
) -> None:
    expected = {"content": [{"type": "text", "text": text}]}
    if version in ASKED:
        expected["structuredContent"] = structured
    assert await given(value, annotation, version) == expected


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(("annotation", "value", "text", "structured"), VALUES)
@asynchronous
async def test_a_value_that_is_no_object_is_wrapped_in_one_where_the_revision_has_only_objects(
    version: str, annotation: Any, value: Any, text: str, structured: Any
) -> None:
    expected = {"content": [{"type": "text", "text": text}]}
    if version == MODERN:
        expected["structuredContent"] = structured
    elif version in ASKED:
        expected["structuredContent"] = {"result": structured}
    async with Judged(returning(value, annotation), version=version) as client:
        if value is None:  # a result without a value looks alike, until the client knows the schema
            await client.list_tools()
        assert plain(await client.call_tool("give")) == expected


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_declared_type_is_an_output_schema_where_the_revision_has_it(version: str) -> None:
    server = returning(3, int)

    @server.tool()
    def report() -> Report: ...

    async with Judged(server, version=version) as client:
        number, told_of = await client.list_tools()
    if version not in ASKED:
        assert "outputSchema" not in number
        assert "outputSchema" not in told_of
        return
    properties = {"city": {"type": "string"}, "high": {"type": "number"}}
    assert told_of["outputSchema"] == {"type": "object", "properties": properties, "required": ["city", "high"]}
    wrapped = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
    shown = number["outputSchema"]
    assert {name: shown[name] for name in shown if name in wrapped} == ({"type": "integer"} if version == MODERN else wrapped)


@pytest.mark.parametrize(
    "annotation", [str, None, Any, dict, dict[str, Any], list[dict[str, Any]], content.Content, str | content.Content, list[str], object]
)
@asynchronous
async def test_a_type_that_says_no_more_than_content_makes_no_output_schema(annotation: Any) -> None:
    async with Judged(returning("a", annotation)) as client:
        (tool,) = await client.list_tools()
        assert "outputSchema" not in tool
        assert plain(await client.call_tool("give")) == {"content": [{"type": "text", "text": "a"}]}


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize("value", [{"a": 1}, {"type": 3}, {"type": "house", "rooms": 2}])
@asynchronous
async def test_a_dict_of_no_declared_type_is_structured_content(version: str, value: Any) -> None:
    assert (await given(value, version=version))["structuredContent"] == value


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_whole_result_is_handed_on(version: str) -> None:
    whole = {"content": [content.text("no")], "isError": True}
    assert await given(whole, version=version) == whole
    assert whole == {"content": [content.text("no")], "isError": True}


@pytest.mark.parametrize("version", ASKED)
@asynchronous
async def test_a_whole_result_may_have_the_structured_content_of_the_output_schema(version: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    whole = {"content": [content.text("one")], "structuredContent": {"a": 1}}
    assert await given(whole, version=version, output_schema=schema) == whole
    assert (await given({"a": 1}, version=version, output_schema=schema))["structuredContent"] == {"a": 1}


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@pytest.mark.parametrize(
    ("annotation", "value", "registered"),
    [
        (int, "three", {}),
        (Report, {"city": "Rome"}, {}),
        (list[int], None, {}),
        (Any, {"a": "x"}, {"output_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}),
        (Any, object(), {}),
        (Any, [object()], {}),
        (Any, content.text(object()), {}),  # type: ignore[arg-type]
        (Any, {"content": [content.text(object())]}, {}),  # type: ignore[arg-type]
        (Any, {"type": "text"}, {}),
        (Any, "\ud800", {}),
        (Any, b"\xff", {}),
    ],
)
@asynchronous
async def test_what_no_result_can_be_made_of_is_a_tool_error_that_says_so(
    version: str, annotation: Any, value: Any, registered: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    text = refused(await given(value, annotation, version, **registered))
    assert text.startswith("The tool give is out of order: it returned ")
    assert len(tracebacks(caplog)) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@asynchronous
async def test_a_number_that_json_does_not_have_is_no_json_in_the_text_either(value: float) -> None:
    result = await given(value, float)
    if not result.get("isError"):
        assert told(result) == "null"


@pytest.mark.parametrize("number", [2**53 + 1, 2**64, 10**30])
@asynchronous
async def test_whole_numbers_of_any_size_leave_exactly(number: int) -> None:
    assert await given(number, int) == {"content": [{"type": "text", "text": str(number)}], "structuredContent": number}


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_result_as_big_as_the_server_allows_is_given_and_a_bigger_one_is_an_error(version: str) -> None:
    server = Server("s", max_result=10_000)

    @server.tool()
    def big(size: int) -> str:
        return "x" * size

    assert len(told(await called(server, "big", {"size": 9_000}, version=version))) == 9_000
    with pytest.raises(ProtocolError, match=r"more than the server allows \(10000\)") as refusal:
        await called(server, "big", {"size": 10_000}, version=version)
    assert refusal.value.code == -32603

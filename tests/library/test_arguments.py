"""Arguments that do not fit never reach a handler, and a model can read why; schemas that authors write themselves."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from tests.library.peer import BEFORE, EVERY, MODERN, Judged, asynchronous, called, once, refused, told

from dragoman import ProtocolError, Server


class Point(BaseModel):
    x: int
    y: int


RAN: list[Any] = []
SERVER = Server("arguments", "1")
GIVEN = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 2}, "days": {"$ref": "#/$defs/days"}},
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"days": {"type": "integer", "minimum": 1, "maximum": 14}},
}


@SERVER.tool()
def add(a: int, b: Annotated[int, Field(ge=0)] = 2) -> str:
    RAN.append((a, b))
    return str(a + b)


@SERVER.tool()
async def move(points: list[Point]) -> str:
    RAN.append(points)
    return "moved"


@SERVER.tool(schema=GIVEN)
def forecast(city: str, days: int = 3) -> str:
    RAN.append((city, days))
    return f"{city} {days}"


@SERVER.tool(schema={"type": "object", "properties": {"a": {"type": "integer"}}})
def open_ended(a: int = 0) -> str:
    return str(a)


@SERVER.tool(schema={"type": "object"})
async def anything(**arguments: Any) -> str:
    return repr(arguments)


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("tool", "arguments", "lines"),
    [
        ("add", {}, ["a: Field required"]),
        ("add", {"a": "x"}, ["a: Input should be a valid integer, unable to parse string as an integer"]),
        ("add", {"a": 1.5}, ["a: Input should be a valid integer, got a number with a fractional part"]),
        ("add", {"a": None}, ["a: Input should be a valid integer"]),
        ("add", {"a": 1, "b": -1}, ["b: Input should be greater than or equal to 0"]),
        (
            "add",
            {"a": "x", "c": 1},
            ["a: Input should be a valid integer, unable to parse string as an integer", "c: Extra inputs are not permitted"],
        ),
        ("move", {"points": [{"x": 1, "y": 2}, {"x": 1}]}, ["points.1.y: Field required"]),
        ("forecast", {}, ['the whole: "city" is a required property']),
        ("forecast", {"city": "X"}, ['city: "X" is shorter than 2 characters']),
        ("forecast", {"city": "Rome", "days": 15}, ["days: 15 is greater than the maximum of 14"]),
        ("forecast", {"city": "Rome", "hours": 1}, ["the whole: Additional properties are not allowed ('hours' was unexpected)"]),
    ],
)
@asynchronous
async def test_arguments_that_do_not_fit_are_a_tool_error_with_a_line_for_each(
    version: str, tool: str, arguments: dict[str, Any], lines: list[str]
) -> None:
    RAN.clear()
    text = refused(await called(SERVER, tool, arguments, version=version))
    assert text.splitlines() == [f"The arguments do not fit the schema of {tool}:", *lines]
    assert RAN == []


@asynchronous
async def test_of_many_faults_the_first_twenty_are_told_and_how_many_more_there_are() -> None:
    text = refused(await called(SERVER, "move", {"points": [{}] * 20}))
    assert len(text.splitlines()) == 22
    assert text.endswith("\nand 20 more")


@asynchronous
async def test_what_a_client_sent_is_not_repeated_to_any_length() -> None:
    text = refused(await called(SERVER, "forecast", {"city": "Rome", "days": "9" * 100_000}))
    assert len(text) < 2_000


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64, 10**30, -(10**30)])
@asynchronous
async def test_whole_numbers_of_any_size_arrive_exactly(number: int) -> None:
    assert told(await called(SERVER, "add", {"a": number, "b": 0})) == str(number)
    assert told(await called(SERVER, "anything", {"a": number})) == repr({"a": number})


@asynchronous
async def test_a_number_too_big_for_a_float_is_a_readable_error_or_infinite_but_always_an_answer() -> None:
    server = Server("s")

    @server.tool()
    def half(a: float) -> str:
        return str(a / 2)

    async with Judged(server) as client:
        client._say(
            b'{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"half","arguments":{"a":1e999},"_meta":'
            b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\n'
        )
        await client.call_tool("half", {"a": 3})
        assert any(b'"id":99' in line for line in client.heard)


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("arguments", [[], "a", 3, True])
@asynchronous
async def test_arguments_that_are_no_object_are_invalid_params(version: str, arguments: Any) -> None:
    async with Judged(SERVER, version=version) as client:
        with pytest.raises(ProtocolError, match="arguments must be an object") as refusal:
            await once(client, "tools/call", {"name": "add", "arguments": arguments})
    assert refusal.value.code == -32602


@asynchronous
async def test_arguments_may_be_left_out_where_none_are_required() -> None:
    async with Judged(SERVER) as client:
        assert told(await once(client, "tools/call", {"name": "anything"})) == "{}"
        assert told(await once(client, "tools/call", {"name": "open_ended"})) == "0"


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_a_given_schema_is_told_as_it_is_and_fits_are_handed_on(version: str) -> None:
    async with Judged(SERVER, version=version) as client:
        tools = {tool["name"]: tool for tool in await client.list_tools()}
        assert tools["forecast"]["inputSchema"] == GIVEN
        assert told(await client.call_tool("forecast", {"city": "Rome"})) == "Rome 3"
        assert told(await client.call_tool("forecast", {"city": "Rome", "days": 5})) == "Rome 5"
        assert told(await client.call_tool("anything", {"context": 1, "entry": [2]})) == "{'context': 1, 'entry': [2]}"


@asynchronous
async def test_an_argument_that_an_open_schema_lets_by_and_the_function_lacks_is_told_to_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = refused(await called(SERVER, "open_ended", {"a": 1, "b": 2}))
    assert "arguments do not fit" in text
    assert "b" in text.split()[-1] or "b:" in text
    assert caplog.records == []  # it is no fault of the server's


@pytest.mark.parametrize("uri", ["https://example.com/schema.json", "file:///etc/hostname", "http://127.0.0.1:9/x"])
def test_a_schema_that_refers_elsewhere_is_refused_and_nothing_is_fetched(uri: str) -> None:
    with pytest.raises(TypeError, match=r"not fetched: a schema must stand on its own"):
        Server("s").tool(schema={"type": "object", "properties": {"a": {"$ref": uri}}})(add)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "colour"}}},
        {"type": "object", "properties": 3},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"type": "object", "properties": {"a": object()}},
        {"$schema": "https://example.com/dialect", "type": "object"},
    ],
)
@pytest.mark.parametrize("which", ["schema", "output_schema"])
def test_a_broken_schema_is_refused_where_it_is_registered_by_the_name_of_the_function(schema: dict[str, Any], which: str) -> None:
    with pytest.raises(TypeError, match=r"no JSON Schema") as refusal:
        Server("s").tool(**{which: schema})(add)
    assert "add" in str(refusal.value)


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"properties": {}}, {"type": ["object", "null"]}])
def test_a_schema_of_arguments_that_is_none_of_an_object_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r'the schema of add must have "type": "object" at its root'):
        Server("s").tool(schema=schema)(add)


@asynchronous
async def test_an_older_dialect_is_checked_by_its_own_rules() -> None:
    server = Server("s")
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"pair": {"items": [{"type": "integer"}, {"type": "string"}]}},
        "required": ["pair"],
    }

    @server.tool(schema=schema)
    def pair(pair: list[Any]) -> str:
        return str(pair)

    assert told(await called(server, "pair", {"pair": [1, "a"]})) == "[1, 'a']"
    assert "pair.1" in refused(await called(server, "pair", {"pair": [1, 2]}))

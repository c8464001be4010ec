"""Any JSON goes in and comes out as it was, whatever the revision and whichever way a handler takes it."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.library.peer import ASKED, EVERY, Judged, asynchronous

from dragoman import Client, ProtocolError, Server

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8)
SERVER = Server("echo", "1")


@SERVER.tool(schema={"type": "object", "properties": {"value": {}}, "required": ["value"]})
async def given_schema(value: Any) -> dict[str, Any]:
    return {"value": value}


@SERVER.tool()
def annotated(value: Any) -> dict[str, Any]:
    return {"value": value}


@SERVER.tool(output_schema={"type": "object", "properties": {"value": {}}})
async def output_schema(value: Any) -> Any:
    return {"value": value}


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("tool", ["given_schema", "annotated", "output_schema"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(VALUES, min_size=1, max_size=8))
def test_any_value_comes_back_as_it_went(version: str, tool: str, values: list[Any]) -> None:
    echo(version, tool, values)


@asynchronous
async def echo(version: str, tool: str, values: list[Any]) -> None:
    async with Judged(SERVER, version=version) as client:
        for value in values:
            result = await client.call_tool(tool, {"value": value})
            assert json.loads(result["content"][0]["text"]) == {"value": value}
            if version in ASKED:
                assert result["structuredContent"] == {"value": value}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_nesting_is_carried_or_refused_at_once(version: str) -> None:
    async with Client(SERVER, version=version) as client:  # the oracle would look at it for hours
        for depth in (50, 200):
            result = await client.call_tool("given_schema", {"value": nested(depth)})
            assert result["content"][0]["text"].count("[") == depth
        refusals = set()
        for depth in range(300, 1000, 20):  # how deep Python goes depends on its stack, here and on the way
            try:
                await client.call_tool("given_schema", {"value": nested(depth)})
            except (ProtocolError, RecursionError) as refusal:
                refusals.add(str(refusal))
        assert refusals
        assert all("nested too deeply" in told or "recursion" in told for told in refusals)

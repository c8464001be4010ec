"""The official Python client uses each example, in each of its modes, over stdio (a process of its own), Streamable HTTP and HTTP+SSE.

It offers 2025-11-25 in legacy mode. What the other revisions see is in the tests named after the examples.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TextIO

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from tests.examples.conftest import ENVIRONMENT, ROOT

WAYS = ["stdio auto", "stdio legacy", "http auto", "http 2026-07-28", "http legacy", "sse legacy"]
NEGOTIATED = {"2026-07-28": "2026-07-28", "auto": "2026-07-28", "legacy": "2025-11-25"}
LIMIT = 20.0
NUMBERS = count(1)
Scenario = Callable[[Client], Awaitable[None]]
Run = Callable[[str, Scenario], None]


@pytest.fixture(params=WAYS)
def run(request: pytest.FixtureRequest, http_port: Callable[[str], int], tmp_path: Path) -> Run:
    """Runs a scenario with a client of an example."""
    transport, mode = request.param.split()

    async def converse(server: str, scenario: Scenario, errors: TextIO) -> None:
        made: Any = f"http://127.0.0.1:{http_port(server)}/mcp" if transport == "http" else None
        if transport == "sse":
            made = sse_client(f"http://127.0.0.1:{http_port(server)}/sse")
        elif transport == "stdio":
            command = StdioServerParameters(command=sys.executable, args=[f"examples/{server}.py"], env=dict(ENVIRONMENT), cwd=ROOT)
            made = stdio_client(command, errlog=errors)
        with anyio.fail_after(LIMIT):
            async with Client(made, mode=mode, elicitation_callback=agree) as client:
                assert client.protocol_version == NEGOTIATED[mode]
                await scenario(client)

    def start(server: str, scenario: Scenario) -> None:
        log = tmp_path / "stderr"
        with log.open("w", encoding="utf-8") as errors:
            anyio.run(converse, server, scenario, errors)
        assert log.read_text(encoding="utf-8") == ""

    return start


async def agree(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """A user who agrees to all but what is named ``keep``."""
    if "keep" in params.message:
        return types.ElicitResult(action="decline")
    return types.ElicitResult(action="accept", content={"delete": True})


def words(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@contextmanager
def refused(code: int) -> Iterator[None]:
    with pytest.raises(MCPError) as caught:
        yield
    assert caught.value.code == code


def test_verb_tutor(run: Run) -> None:
    async def scenario(client: Client) -> None:
        (tool,) = (await client.list_tools()).tools
        assert tool.input_schema["properties"]["verb"]["enum"] == ["be", "bring", "go", "sing", "write"]
        right = await client.call_tool("practise", {"verb": "sing", "form": "past", "guess": "sang"})
        assert words(right) == "Right: the past of sing is sang."
        wrong = await client.call_tool("practise", {"verb": "fly", "form": "past"})
        assert wrong.is_error

    run("verb_tutor", scenario)


def test_weather_stations(run: Run) -> None:
    async def scenario(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["list_stations", "latest_reading"]
        reading = await client.call_tool("latest_reading", {"station": "HBR"})
        measured = {"station": "HBR", "time": "2026-08-03T06:00:00Z", "temperature": 16.4, "wind": 7.2, "pressure": 1013.1}
        assert reading.structured_content == measured
        assert (await client.call_tool("list_stations", {"region": "hills"})).structured_content in (
            [{"code": "RDG", "name": "Upper Ridge", "region": "hills", "altitude": 840}],
            {"result": [{"code": "RDG", "name": "Upper Ridge", "region": "hills", "altitude": 840}]},
        )
        uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert uris == ["policy://units", "policy://gaps", "policy://style"]
        (policy,) = (await client.read_resource("policy://gaps")).contents
        assert isinstance(policy, types.TextResourceContents)
        assert policy.text.startswith("# Gaps\n")
        review = await client.get_prompt("review_code", {"code": "x = 0", "focus": "gaps"})
        assert [message.content.type for message in review.messages] == ["text", "resource"]

    run("weather_stations", scenario)


def test_shop_prices(run: Run) -> None:
    async def scenario(client: Client) -> None:
        cost = await client.call_tool("price", {"product": "bread", "quantity": 2})
        assert cost.structured_content == {"product": "bread", "quantity": 2, "total": "5.80", "currency": "EUR"}
        missing = await client.call_tool("price", {"product": "car"})
        assert (missing.is_error, words(missing)) == (True, "There is no car here. There is apple, bread, butter, coffee, honey.")
        with refused(-32602):
            await client.call_tool("prize", {})
        with refused(-32601):
            await client.get_prompt("greet", {})

    run("shop_prices", scenario)


def test_json_validator(run: Run) -> None:
    async def scenario(client: Client) -> None:
        is_modern = client.protocol_version == "2026-07-28"
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["validate", "add_schema", "delete_schema"]
        if is_modern:
            assert (listed.ttl_ms, listed.cache_scope) == (300_000, "public")
        verdict = await client.call_tool("validate", {"document": '["a", "a"]', "schema": "tags"})
        assert verdict.structured_content == {"valid": False, "faults": ['/: ["a","a"] has non-unique elements']}
        with refused(-32602 if is_modern else -32002):
            await client.read_resource("schema://nothing")
        number = next(NUMBERS)
        for name, said in ((f"keep-{number}", "kept"), (f"drop-{number}", "deleted")):
            await client.call_tool("add_schema", {"name": name, "schema": {"type": "null"}})
            deleted = await client.call_tool("delete_schema", {"name": name})
            assert words(deleted) == f"The schema {name} was {said}."

    run("json_validator", scenario)

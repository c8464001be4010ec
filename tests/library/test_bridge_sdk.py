"""Servers of the official SDK behind ``bridge``, for clients of every revision."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server as LowLevel
from mcp.server.mcpserver import Context as SdkContext
from mcp.server.mcpserver import MCPServer
from tests.library.http_clients import LEGACY, MODERN, WITHOUT_ELICITATION, next_of
from tests.library.http_hosts import bridged, greeted, sent, text_of

ALL = (*LEGACY, MODERN)
WITH_ELICITATION = ("2025-06-18", "2025-11-25", MODERN)


class Seen:
    """An application that notes the revision of what goes into another."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.revisions: set[str] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.revisions.add(dict(scope["headers"]).get(b"mcp-protocol-version", b"none").decode())
        await self.app(scope, receive, send)


SCHEMA = {"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]}


def low_level() -> Seen:
    async def tools(_: Any, __: Any) -> types.ListToolsResult:
        names = ("echo", "deploy")
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names])

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult | types.InputRequiredResult:
        if params.name == "echo":
            return types.CallToolResult(content=[types.TextContent(text=str((params.arguments or {}).get("text")))])
        if params.input_responses:
            chosen = params.input_responses["env"]
            return types.CallToolResult(content=[types.TextContent(text=f"deployed to {chosen.content['env']}")])
        asked = types.ElicitRequestFormParams(message="Deploy where?", requested_schema=SCHEMA)
        return types.InputRequiredResult(input_requests={"env": types.ElicitRequest(params=asked)}, request_state="half-way")

    server = LowLevel("low level", version="1", on_list_tools=tools, on_call_tool=call)
    return Seen(server.streamable_http_app())


def high_level() -> Seen:
    server = MCPServer("high level")

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def steps(context: SdkContext) -> str:
        for number in (1, 2, 3):
            await context.report_progress(number, 3)
        return "done"

    return Seen(server.streamable_http_app())


@pytest.mark.parametrize("lifespan", ["on", "off"])
@pytest.mark.parametrize("make", [low_level, high_level])
@pytest.mark.parametrize("version", ALL)
def test_server_of_the_official_sdk_serves_clients_of_every_revision_and_hears_only_the_modern_one(
    version: str, make: Any, lifespan: str
) -> None:
    async def run() -> None:
        inner = make()
        async with bridged(inner, lifespan) as (http, url):
            client = await greeted(version, http, url)
            assert (await client.request("tools/list"))["result"]["tools"][0]["name"] == "echo"
            assert text_of(await client.call("echo", text="hello")) == "hello"
        assert inner.revisions == {MODERN}

    asyncio.run(run())


@pytest.mark.parametrize("version", WITH_ELICITATION)
def test_question_of_the_official_low_level_server_has_the_same_outcome_for_every_revision_that_has_elicitation(version: str) -> None:
    async def run() -> None:
        async with bridged(low_level()) as (http, url):
            assert text_of(await (await greeted(version, http, url)).call("deploy")) == "deployed to staging"

    asyncio.run(run())


@pytest.mark.parametrize("version", WITHOUT_ELICITATION)
def test_question_of_the_official_low_level_server_is_a_tool_error_for_older_clients(version: str) -> None:
    async def run() -> None:
        async with bridged(low_level()) as (http, url):
            found = (await (await greeted(version, http, url)).call("deploy"))["result"]
            assert (found["isError"], "elicitation" in found["content"][0]["text"]) == (True, True)

    asyncio.run(run())


@pytest.mark.parametrize("version", ALL)
def test_progress_of_the_official_server_is_told_step_by_step(version: str) -> None:
    async def run() -> None:
        async with bridged(high_level()) as (http, url):
            client = await greeted(version, http, url)
            async with sent(client, "tools/call", 7, name="steps", arguments={}) as frames:
                found = [await next_of(frames) for _ in range(4)]
            assert [each["params"]["progress"] for each in found[:3]] == [1, 2, 3]
            assert text_of(found[3]) == "done"

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_and_official_server_meet_over_the_bridge(mode: str) -> None:
    async def elicited(_: object, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"env": "staging"})

    async def run() -> None:
        async with bridged(low_level()) as (http, url):
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=elicited) as client:
                assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN)
                assert (await client.call_tool("deploy", {})).content[0].text == "deployed to staging"

    asyncio.run(run())

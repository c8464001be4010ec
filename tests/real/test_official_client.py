"""The official Python client, in each of its modes, uses legacy servers of every revision through ``dragoman wrap``.

Each test runs real processes. Where a test also runs ``direct`` (the client's legacy mode on the server itself), the bridge must give the
client the same outcome as the server alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from harness import AUTO, DIRECT, LEGACY, MODERN, Link, Person, legacy, lines_to_client, peer, words
from mcp import Client, MCPError

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
OLDEST, LATEST = REVISIONS[0], REVISIONS[-1]
LinkTo = Callable[..., Link]
every_revision = pytest.mark.parametrize("revision", REVISIONS)
# auto differs from the pinned mode in its first request only, so revisions are not multiplied by it.
three_ways = pytest.mark.parametrize("how", [DIRECT, LEGACY, MODERN])
every_way = pytest.mark.parametrize("how", [DIRECT, LEGACY, AUTO, MODERN])
modern_ways = pytest.mark.parametrize("how", [AUTO, MODERN])


# ---------------------------------------------------------------------------------------------------------- tools


@every_revision
@three_ways
def test_tools_are_listed_and_called_whatever_the_revision(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[:3] == ["echo", "add", "show_meta"]
        assert ("structured" in names) == (revision >= "2025-06-18")
        assert words(await client.call_tool("echo", {"text": "grüße \u2028 ok"})) == "grüße \u2028 ok"
        assert words(await client.call_tool("add", {"a": 1.5, "b": 2})) == "3.5"
        failed = await client.call_tool("fails", {})
        assert failed.is_error
        assert words(failed) == "it did not work"
        assert client.protocol_version == {DIRECT: revision, LEGACY: revision}.get(how, MODERN)

    link(how, legacy(revision)).run(scenario)


@every_revision
@modern_ways
def test_discover_tells_the_handshake_of_the_server(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("echo", {"text": "x"})
        if how == AUTO:
            assert client.server_info is not None
            assert client.server_info.name == f"legacy-{revision}"
            assert client.instructions == f"A server of {revision}."
            assert client.server_capabilities.resources is not None
            assert client.server_capabilities.resources.subscribe
            assert client.server_capabilities.tools is not None
            assert client.server_capabilities.tools.list_changed

    link(how, legacy(revision)).run(scenario)


@every_revision
@pytest.mark.parametrize("code", ["-32602", "-32601"])
def test_unknown_tool_is_invalid_params_whatever_the_server_says(link: LinkTo, revision: str, code: str) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("no such tool", {})
        assert caught.value.code == -32602
        assert "no such tool" in caught.value.message

    link(MODERN, legacy(revision, "--unknown-tool", code)).run(scenario)


@every_revision
@three_ways
def test_every_block_of_the_revision_arrives(link: LinkTo, revision: str, how: str) -> None:
    kinds = ["text", "image", "resource", "resource"]
    kinds += ["audio"] if revision >= "2025-03-26" else []
    kinds += ["resource_link"] if revision >= "2025-06-18" else []

    async def scenario(client: Client) -> None:
        result = await client.call_tool("mixed", {})
        assert [block.type for block in result.content] == kinds
        embedded = result.content[3]
        assert isinstance(embedded, types.EmbeddedResource)
        assert isinstance(embedded.resource, types.BlobResourceContents)

    link(how, legacy(revision)).run(scenario)


@every_way
def test_structured_output_passes_the_clients_own_validation(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        await client.list_tools()
        result = await client.call_tool("structured", {})
        assert result.structured_content == {"temperature": 22.5, "conditions": "cloudy"}

    link(how, legacy("2025-06-18")).run(scenario)


def test_numbers_of_a_result_arrive_digit_by_digit(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("numbers", {})

    seen = link(MODERN, legacy("2025-06-18")).run(scenario)
    assert '"structuredContent":{"huge":1e400,"minus":-0.0,"cents":1.10,"big":123456789012345678901234567890}' in "".join(
        lines_to_client(seen)
    )


@every_way
def test_result_of_eight_megabytes_arrives_whole(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        result = await client.call_tool("big", {"size": 8_000_000})
        assert words(result) == "x" * 8_000_000

    link(how, legacy(LATEST)).run(scenario)


@three_ways
def test_64_calls_run_at_the_same_time_and_each_gets_its_own_answer(link: LinkTo, how: str) -> None:
    answers: dict[str, str] = {}

    async def scenario(client: Client) -> None:
        async def one(label: str) -> None:
            answers[label] = words(await client.call_tool("barrier", {"count": 64, "label": label}))

        async with anyio.create_task_group() as group:
            for number in range(64):
                group.start_soon(one, f"call-{number}")

    link(how, legacy(LATEST)).run(scenario)
    assert answers == {f"call-{number}": f"call-{number}" for number in range(64)}


@every_revision
def test_foreign_meta_reaches_the_server_and_reserved_keys_do_not(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        sent: Any = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "example.test/mine": {"a": [1]}}
        seen = json.loads(words(await client.call_tool("show_meta", {}, meta=sent)))
        assert seen == sent

    link(MODERN, legacy(revision)).run(scenario)


def test_handshake_carries_the_clients_name_and_restated_capabilities(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        said = json.loads(words(await client.call_tool("whoami", {})))
        assert said["clientInfo"] == {"name": "ada-host", "version": "7"}
        assert said["capabilities"]["elicitation"] == {"form": {}, "url": {}}
        assert said["capabilities"]["sampling"] == {}
        assert "listChanged" not in said["capabilities"]["roots"]

    info = types.Implementation(name="ada-host", version="7")
    link(MODERN, legacy(LATEST)).run(scenario, client_info=info, **Person().everything())


# ------------------------------------------------------------------------------------ resources, prompts, completion


@every_revision
@three_ways
def test_resources_are_paged_read_and_missed(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        third = await client.list_resources(cursor=second.next_cursor)
        listed = [resource.uri for page in (first, second, third) for resource in page.resources]
        assert [str(uri) for uri in listed] == ["demo://text", "demo://blob", "demo://asks", "demo://two", "demo://watched"]
        assert third.next_cursor is None
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "demo://item/{name}"
        (text,) = (await client.read_resource("demo://text")).contents
        assert isinstance(text, types.TextResourceContents)
        assert text.text == "some text: é \u2028 done"
        assert len((await client.read_resource("demo://two")).contents) == 2
        (blob,) = (await client.read_resource("demo://blob")).contents
        assert isinstance(blob, types.BlobResourceContents)
        (item,) = (await client.read_resource("demo://item/7")).contents
        assert isinstance(item, types.TextResourceContents)
        assert item.text == "item 7"

    link(how, legacy(revision)).run(scenario)


@every_revision
def test_resource_not_found_is_invalid_params_with_the_uri(link: LinkTo, revision: str) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("demo://nothing")
        assert caught.value.code == -32602
        assert caught.value.message == "Resource not found"
        assert caught.value.error.data == {"uri": "demo://nothing"}

    link(MODERN, legacy(revision)).run(scenario)


def test_resource_not_found_stays_32002_for_a_legacy_client(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("demo://nothing")
        assert caught.value.code == -32002

    link(LEGACY, legacy(LATEST)).run(scenario)


def test_cursor_the_server_never_gave_is_invalid_params(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.list_resources(cursor="made up")
        assert caught.value.code == -32602

    link(MODERN, legacy(LATEST)).run(scenario)


@every_revision
@three_ways
def test_prompts_and_completion(link: LinkTo, revision: str, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["simple", "greet", "asking", "illustrated"]
        greeting = await client.get_prompt("greet", {"name": "Ada", "tone": "loudly"})
        assert [message.role for message in greeting.messages] == ["user", "assistant"]
        pictures = await client.get_prompt("illustrated")
        assert [message.content.type for message in pictures.messages] == ["image", "resource"]
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("greet", {})
        assert caught.value.code == -32602
        reference = types.PromptReference(type="ref/prompt", name="greet")
        completed = await client.complete(reference, {"name": "name", "value": "al"})
        assert completed.completion.values == ["alpha", "alphabet"]

    link(how, legacy(revision)).run(scenario)


def test_completion_context_reaches_the_server(link: LinkTo) -> None:
    async def scenario(client: Client) -> None:
        reference = types.ResourceTemplateReference(type="ref/resource", uri="demo://item/{name}")
        completed = await client.complete(reference, {"name": "name", "value": "b"}, {"owner": "ada"})
        assert completed.completion.values == ["ada-beta"]

    link(MODERN, legacy("2025-06-18")).run(scenario)


# ------------------------------------------------------------------------------------------------------- other servers


@every_way
def test_hundred_line_server(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["shout", "count", "divide"]
        assert words(await client.call_tool("shout", {"text": "hello"})) == "HELLO"
        assert (await client.call_tool("divide", {"a": 1, "b": 0})).is_error
        assert words(await client.call_tool("count", {})) == "3"
        with pytest.raises(MCPError) as caught:
            await client.call_tool("nothing", {})
        assert caught.value.code == (-32602 if how in (AUTO, MODERN) else -32601)

    link(how, peer("hundred_lines.py")).run(scenario)


@every_way
def test_server_that_says_yes_to_everything(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["yes"]
        assert words(await client.call_tool("yes", {})) == "yes"

    link(how, peer("says_yes.py")).run(scenario)

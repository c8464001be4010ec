"""Servers that people run, as published in 2025, behind ``dragoman wrap`` and in front of the official client.

The npm packages are those of ``package.json`` here (``npm ci --prefix tests/real`` once, offline afterwards); where they are missing, tests
are skipped, or fail if ``DRAGOMAN_NODE_PACKAGES`` is set. The Python server is ``old_sdk_server.py`` under the official SDK 1.12.4, in an
environment of its own that is made once below pytest's cache folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import mcp_types as types
import pytest
from harness import AUTO, DIRECT, LEGACY, MODERN, Link, Person, words
from mcp import Client, MCPError

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]
HERE = Path(__file__).parent
LinkTo = Callable[..., Link]
MAKING = 400.0  # seconds, at most, until the first test with the old SDK has its environment and has run
every_way = pytest.mark.parametrize("how", [DIRECT, LEGACY, AUTO, MODERN])


def missing(what: str) -> NoReturn:
    """Skip the test, or fail where everything was to be there."""
    if os.environ.get("DRAGOMAN_NODE_PACKAGES"):
        pytest.fail(what)
    pytest.skip(what)


def published(name: str, *arguments: str) -> list[str]:
    """The command of a published server."""
    folder = HERE / "node_modules" / "@modelcontextprotocol" / f"server-{name}"
    node = shutil.which("node")
    if node is None:
        missing("node is not on this machine")
    if not folder.is_dir():
        missing(f"server-{name} is not installed: npm ci --prefix tests/real")
    return [node, str(folder / "dist" / "index.js"), *arguments]


@pytest.fixture(scope="session")
def old_sdk(pytestconfig: pytest.Config) -> list[str]:
    """The command of the server under the old Python SDK, whose environment is made on first use."""
    assert pytestconfig.cache is not None
    cache = Path(pytestconfig.cache.mkdir("old-sdk"))
    made = cache / f"mcp-1.12.4-{sys.version_info.major}.{sys.version_info.minor}"
    if not made.exists():
        make_environment(cache, made, "mcp==1.12.4", "pydantic==2.11.7")
    return [str(made / "bin" / "python"), str(HERE / "old_sdk_server.py")]


def make_environment(cache: Path, made: Path, *packages: str) -> None:
    """Made beside its place and moved there whole: several workers may be at it, and none sees half of it."""
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fresh = Path(folder) / "environment"
        install = [str(fresh / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        try:
            subprocess.run([sys.executable, "-m", "venv", str(fresh)], check=True, timeout=MAKING / 4)
            subprocess.run(install, check=True, timeout=MAKING / 2)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as fault:
            pytest.skip(f"{' '.join(packages)} could not be installed: {fault}")
        try:
            fresh.rename(made)
        except OSError:
            if not made.exists():  # else another worker was faster
                raise


# ------------------------------------------------------------------------------------------------------- filesystem


@every_way
def test_filesystem_server_reads_writes_and_lists(link: LinkTo, tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "hello.txt").write_text("grüße\n", encoding="utf-8")

    async def scenario(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "read_text_file" in names
        assert words(await client.call_tool("read_text_file", {"path": str(data / "hello.txt")})) == "grüße\n"
        await client.call_tool("write_file", {"path": str(data / "new.txt"), "content": "written"})
        assert "[FILE] new.txt" in words(await client.call_tool("list_directory", {"path": str(data)}))
        outside = await client.call_tool("read_text_file", {"path": "/etc/hostname"})
        assert outside.is_error

    link(how, published("filesystem", str(data))).run(scenario)
    assert (data / "new.txt").read_text(encoding="utf-8") == "written"


@pytest.mark.parametrize("how", [DIRECT, LEGACY, MODERN])
def test_filesystem_server_takes_its_directories_from_the_clients_roots(link: LinkTo, tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    data.mkdir()

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": data.as_uri()})])

    async def scenario(client: Client) -> None:
        # The server asks right after the handshake and checks the directories on its own time, so it may take some calls. A modern
        # client is asked in one of them: none may wait for the question.
        said = ""
        for _ in range(50):
            said = words(await client.call_tool("list_allowed_directories", {}))
            if str(data) in said:
                break
        assert str(data) in said

    link(how, published("filesystem")).run(scenario, list_roots_callback=roots)


# --------------------------------------------------------------------------------------------------------- everything


@every_way
def test_everything_server_tools(link: LinkTo, how: str) -> None:
    reported: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def scenario(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"echo", "add", "structuredContent"} <= set(names)
        assert words(await client.call_tool("echo", {"message": "hi"})) == "Echo: hi"
        long_run = {"duration": 0.2, "steps": 4}
        await client.call_tool("longRunningOperation", long_run, progress_callback=on_progress)
        kinds = [block.type for block in (await client.call_tool("getTinyImage", {})).content]
        assert kinds == ["text", "image", "text"]
        links = await client.call_tool("getResourceLinks", {"count": 2})
        assert [block.type for block in links.content] == ["text", "resource_link", "resource_link"]
        weather = await client.call_tool("structuredContent", {"location": "Paris"})
        assert weather.structured_content is not None
        annotated = await client.call_tool("annotatedMessage", {"messageType": "error"})
        assert isinstance(annotated.content[0], types.TextContent)
        assert annotated.content[0].annotations is not None
        with pytest.raises(MCPError):
            await client.call_tool("no such tool", {})

    link(how, published("everything")).run(scenario)
    assert reported == [1, 2, 3, 4]


@every_way
def test_everything_server_resources_prompts_and_completion(link: LinkTo, how: str) -> None:
    async def scenario(client: Client) -> None:
        page = await client.list_resources()
        seen = len(page.resources)
        while page.next_cursor is not None:
            page = await client.list_resources(cursor=page.next_cursor)
            seen += len(page.resources)
        assert seen == 100
        (text,) = (await client.read_resource("test://static/resource/1")).contents
        assert isinstance(text, types.TextResourceContents)
        (blob,) = (await client.read_resource("test://static/resource/2")).contents
        assert isinstance(blob, types.BlobResourceContents)
        prompt = await client.get_prompt("complex_prompt", {"temperature": "0.5", "style": "casual"})
        assert len(prompt.messages) == 3
        reference = types.PromptReference(type="ref/prompt", name="complex_prompt")
        assert (await client.complete(reference, {"name": "style", "value": "f"})).completion.values == ["formal", "friendly"]

    link(how, published("everything")).run(scenario)


@every_way
def test_everything_server_asks_the_person_the_model_and_for_roots(link: LinkTo, how: str) -> None:
    person = Person(content={"color": "red", "number": 7, "pets": "cats"})

    async def scenario(client: Client) -> None:
        listed = ""
        for _ in range(50):
            listed = words(await client.call_tool("listRoots", {}))
            if "file:///home/ada" in listed:
                break
        assert "file:///home/ada" in listed
        asked = await client.call_tool("startElicitation", {})
        assert isinstance(asked.content[1], types.TextContent)
        assert "Color: red\n- Number: 7\n- Pets: cats" in asked.content[1].text
        assert words(await client.call_tool("sampleLLM", {"prompt": "2 + 2?"})) == "LLM sampling result: four"

    link(how, published("everything")).run(scenario, **person.everything())


def test_everything_server_asks_the_model_before_it_grants_a_subscription(link: LinkTo) -> None:
    """Its ``resources/subscribe`` waits for a sampling answer, which only a call can carry: the listen must not wait for ever."""

    async def scenario(client: Client) -> None:
        async with client.listen(resource_subscriptions=["test://static/resource/1"]):
            assert words(await client.call_tool("echo", {"message": "free"})) == "Echo: free"

    link(MODERN, published("everything")).run(scenario, **Person().everything())


# ------------------------------------------------------------------------------------------------------------- memory


@every_way
def test_memory_server_remembers_over_calls(link: LinkTo, tmp_path: Path, how: str) -> None:
    async def scenario(client: Client) -> None:
        ada = {"name": "Ada", "entityType": "person", "observations": ["likes engines"]}
        await client.call_tool("create_entities", {"entities": [ada]})
        graph = json.loads(words(await client.call_tool("read_graph", {})))
        assert [{**ada, **entity} for entity in graph["entities"]] == [ada | graph["entities"][0]]
        assert graph["entities"][0]["name"] == "Ada"
        found = json.loads(words(await client.call_tool("search_nodes", {"query": "engines"})))
        assert [entity["name"] for entity in found["entities"]] == ["Ada"]

    server = ["env", f"MEMORY_FILE_PATH={tmp_path / 'memory.json'}", *published("memory")]
    link(how, server).run(scenario)


# ----------------------------------------------------------------------------------------------- the old Python SDK


@every_way
@pytest.mark.timeout(MAKING)
def test_server_under_the_old_python_sdk(link: LinkTo, old_sdk: list[str], how: str) -> None:
    reported: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("add", {"a": 2, "b": 3})) == "5"
        assert (await client.call_tool("add", {"a": "x", "b": 3})).is_error
        assert words(await client.call_tool("steps", {"count": 3}, progress_callback=on_progress)) == "done"
        assert words(await client.call_tool("book", {"day": "Monday"})) == "booked for Ada"
        assert words(await client.call_tool("poem", {})) == "four"
        (content,) = (await client.read_resource("notes://today")).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "note of today"
        prompt = await client.get_prompt("review", {"code": "x = 1"})
        assert len(prompt.messages) == 1
        with pytest.raises(MCPError):
            await client.read_resource("nothing://there")

    link(how, old_sdk).run(scenario, **Person().everything())
    assert reported == [1, 2, 3]


@pytest.mark.timeout(MAKING)
def test_log_of_the_old_python_sdk_comes_at_the_level_asked_for(link: LinkTo, old_sdk: list[str]) -> None:
    heard: list[tuple[str, Any]] = []

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.data))

    async def scenario(client: Client) -> None:
        await client.call_tool("chatter", {})

    link(MODERN, old_sdk).run(scenario, logging_callback=on_log, log_level="warning")
    assert heard == [("warning", "careful"), ("error", "broken")]

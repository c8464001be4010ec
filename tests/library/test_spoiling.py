"""What a handler must not be able to spoil for others: the loop, the client's words, the lines, what the client can do."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.library.peer import ALL, BEFORE, EVERY, MODERN, Judged, asynchronous, called

from dragoman import Client, Context, ProtocolError, ResourceNotFound, Server, content

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / root) for root in ("compat", "specs"))}
PROGRAM = """
import asyncio, subprocess, sys
from dragoman import Server, serve_stdio
server = Server("s", "1")
@server.tool()
async def leave() -> str:
    async def go(): sys.exit(9)
    async with asyncio.TaskGroup() as group: group.create_task(go())
@server.tool()
def interrupt() -> str: raise KeyboardInterrupt
@server.tool()
async def stop() -> str:
    asyncio.get_running_loop().stop()
    return "stopped"
@server.tool()
def read() -> str:
    return repr((sys.stdin.read(), subprocess.run(["cat"], capture_output=True, check=True).stdout))
sys.exit(serve_stdio(server))
"""
HANGS = """
import asyncio, sys
from contextlib import asynccontextmanager
from dragoman import Server, serve_stdio
@asynccontextmanager
async def life(server):
    await asyncio.sleep(1e6)
    yield
sys.exit(serve_stdio(Server("s", "1", lifespan=life)))
"""
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def conversation(program: str, *messages: Any) -> tuple[dict[Any, Any], int]:
    """Each message a line; what came under each id, and the exit status, once the client has closed its side."""
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    ran = subprocess.run(
        [sys.executable, "-c", program], input=lines, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=40
    )
    return {frame.get("id"): frame for frame in map(json.loads, ran.stdout.splitlines())}, ran.returncode


def call(number: int, name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {}, "_meta": META}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_handlers_that_try_to_end_the_process_end_their_own_call_alone() -> None:
    answers, status = conversation(PROGRAM, call(1, "leave"), call(2, "interrupt"), call(3, "stop"), call(4, "read"))
    assert [answers[number]["result"].get("isError", False) for number in (1, 2, 3, 4)] == [True, True, False, False]
    assert answers[3]["result"]["content"][0]["text"] == "stopped"
    assert status == 0


def test_handlers_and_their_children_read_nothing_of_the_clients() -> None:
    answers, _ = conversation(PROGRAM, call(1, "read"), call(2, "stop"), call(3, "read"))
    assert [answers[number]["result"]["content"][0]["text"] for number in (1, 3)] == ["('', b'')"] * 2
    assert answers[2]["result"]["content"][0]["text"] == "stopped"


def test_a_lifespan_that_hangs_does_not_keep_the_process() -> None:
    assert conversation(HANGS, call(1, "none"))[1] in (0, 1)


def test_an_array_in_2026_07_28_is_refused_at_once() -> None:
    answers, _ = conversation(PROGRAM, call(1, "stop"), [call(2, "stop")])
    assert answers[1]["result"]["content"][0]["text"] == "stopped"
    (refusal,) = [frame["error"]["code"] for frame in answers.values() if "error" in frame]
    assert refusal == -32600


@asynchronous
async def test_what_a_handler_does_to_the_clients_capabilities_is_its_own_matter() -> None:
    server, seen = Server("s"), []

    @server.tool()
    async def spoil(context: Context) -> str:
        seen.append(dict(context.capabilities))
        context.capabilities.clear()
        return "done"

    async with Judged(server, capabilities=ALL) as client:
        await client.call_tool("spoil")
        await client.call_tool("spoil")
    assert seen == [ALL, ALL]


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@asynchronous
async def test_raw_json_of_several_lines_is_one_line(version: str) -> None:
    server = Server("s")

    @server.tool()
    async def pretty(context: Context) -> dict[str, Any]:
        context.log("error", msgspec.Raw(b"[1,\n2]"))
        return {"content": [content.text("a")], "structuredContent": msgspec.Raw(b'{\n "a": 1\r\n}')}

    async with Judged(server, version=version, log_level="debug") as client:
        assert (await client.call_tool("pretty"))["structuredContent"] == {"a": 1}
        assert client.notifications.get_nowait()[1]["data"] == [1, 2]
        assert not any(b"\n" in line for line in client.heard)


@asynchronous
async def test_a_context_is_mute_once_its_call_is_answered() -> None:
    server, kept = Server("s"), []

    @server.tool()
    async def keep(context: Context) -> str:
        kept.append(context)
        context.progress(1)
        return "kept"

    heard: list[Any] = []
    async with Judged(server) as client:
        await client.call_tool("keep", on_progress=heard.append)
        kept[0].progress(2)
        await client.call_tool("keep", on_progress=heard.append)
    assert [each["progress"] for each in heard] == [1, 1]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_resource_that_is_missing_is_told_by_the_uri_that_was_asked_for(version: str) -> None:
    server = Server("s")

    @server.resource("note://{+path}", name="note")
    def note(path: str) -> str:
        raise ResourceNotFound(f"note://{path.partition('/')[0]}")

    async with Judged(server, version=version) as client:
        with pytest.raises(ProtocolError) as error:
            await client.read_resource("note://a/b")
    assert (error.value.code, error.value.data) == (-32602 if version == MODERN else -32002, {"uri": "note://a/b"})


@asynchronous
async def test_texts_in_a_whole_result_are_made_blocks() -> None:
    server = Server("s")
    server.tool("whole")(lambda: {"content": ["a", content.text("b")]})
    assert (await called(server, "whole"))["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


@pytest.mark.parametrize(
    "made", [{"role": "system", "content": "a"}, {"role": "user", "content": 5}, {"role": "user", "content": {"type": "image"}}]
)
@asynchronous
async def test_a_message_of_a_prompt_that_is_none_is_the_handlers_fault(made: Any) -> None:
    server = Server("s")
    server.prompt("ask")(lambda: [made])
    async with Judged(server) as client:
        with pytest.raises(ProtocolError, match=r"the handler returned") as error:
            await client.get_prompt("ask")
    assert error.value.code == -32603


def test_a_context_or_an_argument_that_can_only_be_given_by_position_is_a_type_error() -> None:
    def first(context: Context, /) -> str: ...

    def second(a: str, /) -> str: ...

    with pytest.raises(TypeError, match="given by its name"):
        Server("s").tool()(first)
    with pytest.raises(TypeError, match="by position alone"):
        Server("s").tool(schema={"type": "object", "properties": {}})(second)


@asynchronous
async def test_a_client_whose_answer_is_too_deep_to_be_read_is_told_so() -> None:
    server = Server("s")
    server.tool("deep")(lambda depth: {"content": [], "structuredContent": msgspec.Raw(b"[" * int(depth) + b"]" * int(depth))})
    async with Client(server) as client, asyncio.timeout(10):
        for depth in range(900, 1000, 3):
            try:
                await client.call_tool("deep", {"depth": depth})
            except ProtocolError as error:
                assert "deep" in str(error)  # noqa: PT017 - which of them are too deep depends on the stack


FLOODS = """
import asyncio, sys
from dragoman import Context, Server, serve_stdio
server = Server("s", "1")
@server.tool()
async def flood(context: Context) -> str:
    for number in range(60_000):
        context.log("error", "z" * 1000)
        if number % 50 == 0:
            await asyncio.sleep(0)
    sys.stderr.write("flooded\\n")
    return "done"
sys.exit(serve_stdio(server))
"""


def test_a_client_that_does_not_read_misses_logs_and_costs_no_memory_and_is_answered() -> None:
    meta = {**META, "io.modelcontextprotocol/logLevel": "debug"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "flood", "arguments": {}, "_meta": meta}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", FLOODS], env=ENVIRONMENT, **pipes) as process:  # type: ignore[call-overload]
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            assert process.stderr.readline() == b"flooded\n"  # 60 MB of logs, and not a line has been read
            process.stdin.close()
            lines = process.stdout.read().splitlines()
            told = process.stderr.read().decode()
            assert process.wait(20) == 0
        finally:
            process.kill()
    assert json.loads(lines[-1])["result"]["content"][0]["text"] == "done"
    assert 1000 < len(lines) < 30_000
    assert "log and progress messages of one call" in told

"""Legacy clients use a modern-only server through ``dragoman serve``: official ones, and two that a person would write in an hour.

As in ``test_acceptance.py`` both sides are tapped and judged; beside that the taps say which era was really spoken: sessions on the
client's side, and on the server's nothing but requests with the modern envelope. The server itself exits with 70 on any legacy word.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from acceptance import Report, Visit
from http_judge import judge_http
from http_tap import Tap
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from modern_side import ACCEPTED, LATEST, judge_modern_server, modern_only, server_was_modern
from raw_http import Connection, tool_call
from serving import Served

from faces import tapped
from oracle import JsonObject, Oracle

HERE = Path(__file__).parent
MODERN = "2026-07-28"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
DEADLINE = 45
every_revision = pytest.mark.parametrize("revision", REVISIONS)
both_refusals = pytest.mark.parametrize("refusal", ["-32022", "-32601"])
old_words = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


def through(
    folder: Path,
    oracle: Oracle,
    run: Callable[[str], Any],
    *options: str,
    server: tuple[str, ...] = (),
    path: str | None = None,
    revision: str = LATEST,
    strangers: int = 1,
) -> Any:
    """Start everything, let ``run`` do what it does at the URL, judge what passed and which eras were spoken; what ``run`` returned."""
    with Served(folder, modern_only(*server), *options) as served:
        tap = Tap(served.port)
        try:
            with tap:
                report = run(f"http://127.0.0.1:{tap.port}{served.path if path is None else path}")
                served.health_becomes(exchanges=1)  # the one that asks
        except BaseException as fault:
            fault.add_note("last exchanges:\n" + "\n".join(repr(record) for record in tap.records[-10:]))
            raise
    judge = judge_http(oracle, tap.records)
    if revision == MODERN:
        assert not judge.sessions
    else:
        assert {face.revision for face in (*judge.sessions.values(), *judge.endpoints.values())} == {revision}
    server_was_modern(judge_modern_server(oracle, tapped(served.server_tap)), strangers)
    assert "Traceback" not in served.stderr()
    assert "was shown a legacy word" not in served.stderr()
    return report


def with_python(
    mode: str, transport: Callable[[str], AbstractAsyncContextManager[Any]] = streamable_http_client
) -> Callable[[str], Report]:
    """The script in ``acceptance.py``."""

    async def visit(url: str) -> Report:
        with anyio.fail_after(DEADLINE):
            return await Visit().run(transport(url), mode)

    return lambda url: anyio.run(visit, url)


def with_node(kind: str) -> Callable[[str], Report]:
    """The script in ``acceptance.mjs``."""
    node = shutil.which("node")
    if node is None or not (HERE / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir():
        if os.environ.get("DRAGOMAN_NODE_PACKAGES"):
            pytest.fail("the node clients are not installed: npm ci --prefix tests/real_http")
        pytest.skip("the node clients are not installed: npm ci --prefix tests/real_http")

    def run(url: str) -> Report:
        command = [node, str(HERE / "acceptance.mjs"), kind, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        assert [line for line in done.stderr.splitlines() if line.startswith("onerror")] == []
        report: Report = json.loads(done.stdout)
        return report

    return run


def accepted(report: Report) -> Report:
    """The report without its long value, which is looked at."""
    assert len(report.pop("blob")) == 344
    return report


# ------------------------------------------------------------------------------------------------------- acceptance script


def test_modern_client_loses_nothing_by_passing_through(tmp_path: Path, oracle: Oracle) -> None:
    report = through(tmp_path, oracle, with_python(MODERN), revision=MODERN)
    assert accepted(report) == ACCEPTED | {"connect": MODERN, "missing": -32602, "ping": None}


@old_words
@both_refusals
def test_python_client_passes_the_acceptance_script(tmp_path: Path, oracle: Oracle, refusal: str) -> None:
    assert accepted(through(tmp_path, oracle, with_python("legacy"), server=("--refusal", refusal))) == ACCEPTED


@old_words
def test_python_client_passes_it_when_every_answer_is_a_stream(tmp_path: Path, oracle: Oracle) -> None:
    assert accepted(through(tmp_path, oracle, with_python("legacy"), "--header-wait", "0")) == ACCEPTED


@old_words
def test_python_client_passes_it_over_sse(tmp_path: Path, oracle: Oracle) -> None:
    assert accepted(through(tmp_path, oracle, with_python("legacy", sse_client), "--sse", path="/sse")) == ACCEPTED


@pytest.mark.real
def test_node_client_of_the_first_generation_passes_the_acceptance_script(tmp_path: Path, oracle: Oracle) -> None:
    assert accepted(through(tmp_path, oracle, with_node("v1"))) == ACCEPTED


@pytest.mark.real
def test_node_client_of_the_second_generation_that_stays_legacy(tmp_path: Path, oracle: Oracle) -> None:
    # This client shows every resource that is not there under the modern code, whatever it was sent.
    assert accepted(through(tmp_path, oracle, with_node("legacy"))) == ACCEPTED | {"missing": -32602}


@old_words
def test_clients_of_both_eras_use_one_endpoint_at_the_same_time(tmp_path: Path, oracle: Oracle) -> None:
    async def one(url: str, mode: str) -> Any:
        return (await Visit().run(streamable_http_client(url), mode))["connect"]

    async def both(url: str) -> list[Any]:
        with anyio.fail_after(DEADLINE):
            return await asyncio.gather(one(url, MODERN), one(url, "legacy"))

    assert through(tmp_path, oracle, lambda url: asyncio.run(both(url)), strangers=2) == [MODERN, LATEST]


@old_words
@pytest.mark.parametrize("modes", [["legacy", "legacy", MODERN], [MODERN, "legacy", "legacy"]], ids="-".join)
def test_era_of_the_server_is_found_out_once_for_all_clients(tmp_path: Path, oracle: Oracle, modes: list[str]) -> None:
    async def read(url: str, mode: str) -> str:
        async with Client(streamable_http_client(url), mode=mode) as client:
            return str((await client.read_resource("demo://text")).contents[0].uri)

    async def one_by_one(url: str) -> list[str]:
        with anyio.fail_after(DEADLINE):
            return [await read(url, mode) for mode in modes]

    assert through(tmp_path, oracle, lambda url: asyncio.run(one_by_one(url))) == ["demo://text"] * 3


def test_session_whose_process_made_room_goes_on_with_another(tmp_path: Path, oracle: Oracle) -> None:
    async def converse(url: str) -> list[Any]:
        port, _, path = url.removeprefix("http://127.0.0.1:").partition("/")
        async with asyncio.timeout(DEADLINE), Connection(int(port), f"/{path}") as first, Connection(int(port), f"/{path}") as second:
            await first.initialize(LATEST)
            await first.ask("POST", {"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "alert"}})
            await second.initialize("2025-03-26")
            said = [(await each.legacy_call(2, "log", {})).messages[-1] for each in (second, first, second)]
            for each in (first, second):
                await each.ask("DELETE")
            return [answer["result"]["content"][0]["text"] for answer in said]

    options = ("--max-sessions", "1", "--hibernate-after", "0")
    with Served(tmp_path, modern_only(), *options) as served, Tap(served.port) as tap:
        said = asyncio.run(converse(f"http://127.0.0.1:{tap.port}{served.path}"))
    # The level is the session's, and the bridge's to remember: no process was ever told it.
    assert said == ["logged at no level", "logged at alert", "logged at no level"]
    judge_http(oracle, tap.records)
    faces = judge_modern_server(oracle, tapped(served.server_tap))
    server_was_modern(faces)
    assert len(faces) > 1
    assert "was shown a legacy word" not in served.stderr()


def test_session_outlives_the_process_of_its_server(tmp_path: Path, oracle: Oracle) -> None:
    async def converse(url: str) -> list[JsonObject]:
        port, _, path = url.removeprefix("http://127.0.0.1:").partition("/")
        async with asyncio.timeout(DEADLINE), Connection(int(port), f"/{path}") as connection:
            await connection.initialize(LATEST)
            said = [(await connection.legacy_call(number, tool, {})).messages[-1] for number, tool in enumerate(("crash", "whoami"), 1)]
            await connection.ask("DELETE")
            return said

    crashed, called = through(tmp_path, oracle, lambda url: asyncio.run(converse(url)))
    assert crashed["error"]["code"] == -32603
    assert "crashing as asked" in crashed["error"]["message"]
    assert json.loads(called["result"]["content"][0]["text"])["clientInfo"] == {"name": "raw", "version": "1"}


def test_each_question_comes_on_the_stream_of_its_own_call(tmp_path: Path, oracle: Oracle) -> None:
    hello = {"protocolVersion": LATEST, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "raw", "version": "1"}}

    async def converse(url: str) -> list[str]:
        port, _, path = url.removeprefix("http://127.0.0.1:").partition("/")
        async with (
            asyncio.timeout(DEADLINE),
            Connection(int(port), f"/{path}") as one,
            Connection(int(port), f"/{path}") as other,
            Connection(int(port), f"/{path}") as third,
        ):
            begun = await third.ask("POST", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
            for each in (one, other, third):
                each.headers |= {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": LATEST}
            await third.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
            questions = []
            for number, each in enumerate((one, other), 1):
                each.send("POST", tool_call(number, "ask_form", {"fields": "one"}, None))
                await each.head()
                questions.append((await each.event())["id"])
            for question, name in zip(reversed(questions), ("Bob", "Ada"), strict=True):
                answer = {"action": "accept", "content": {"name": name}}
                await third.ask("POST", {"jsonrpc": "2.0", "id": question, "result": answer})
            ended = [await each.event() for each in (one, other)]
            await third.ask("DELETE")
            return [json.loads(answer["result"]["content"][0]["text"])["content"]["name"] for answer in ended]

    assert through(tmp_path, oracle, lambda url: asyncio.run(converse(url))) == ["Ada", "Bob"]


# ---------------------------------------------------------------------------------------------- clients written in an hour


def forty_lines(folder: Path, oracle: Oracle, revision: str, capabilities: str, *options: str) -> JsonObject:
    """What the client says that it was answered; all but what it was asked is looked at here."""

    def run(url: str) -> JsonObject:
        command = [sys.executable, str(HERE / "forty_lines_http.py"), revision, capabilities, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        report: JsonObject = json.loads(done.stdout)
        return report

    report: JsonObject = through(folder, oracle, run, *options, revision=revision)
    assert report["initialize"]["protocolVersion"] == revision
    assert report["initialize"]["serverInfo"]["name"] == "modern-only"
    assert report["tools"][:3] == ["echo", "add", "show_meta"]
    assert report["echo"]["content"] == [{"type": "text", "text": "grüße"}]
    info = json.loads(report["whoami"]["content"][0]["text"])["clientInfo"]
    assert info["name"] == "forty-lines"
    assert isinstance(info["version"], str)
    assert report["read"]["contents"][0]["text"] == "some text: é \u2028 done"
    assert report["ping"] == {}
    return report


@every_revision
def test_client_of_forty_lines_that_declares_nothing(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    asked = forty_lines(tmp_path, oracle, revision, "{}")["asked"]
    assert asked["isError"]
    assert "elicitation" in asked["content"][0]["text"]


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_client_of_forty_lines_that_never_answers_what_it_said_it_would(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    asked = forty_lines(tmp_path, oracle, revision, '{"elicitation": {}}', "--question-timeout", "0.5")["asked"]
    assert asked["isError"]
    assert "in time" in asked["content"][0]["text"]


@every_revision
@both_refusals
def test_client_that_sends_everything_before_it_reads(tmp_path: Path, oracle: Oracle, revision: str, refusal: str) -> None:
    requests: list[tuple[str, JsonObject]] = [
        ("tools/list", {}),
        ("logging/setLevel", {"level": "error"}),
        ("ping", {}),
        ("resources/subscribe", {"uri": "demo://watched"}),
        ("tools/call", {"name": "touch", "arguments": {"uri": "demo://nothing"}}),
        ("tools/call", {"name": "log", "arguments": {}}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
        ("resources/read", {"uri": "demo://nowhere"}),
    ]

    async def converse(url: str) -> list[JsonObject]:
        port, _, path = url.removeprefix("http://127.0.0.1:").partition("/")
        async with asyncio.timeout(DEADLINE), Connection(int(port), f"/{path}") as connection:
            await connection.initialize(revision)
            for number, (method, params) in enumerate(requests, 1):
                connection.send("POST", {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            answers = []
            for number in range(1, len(requests) + 1):
                status, headers = await connection.head()
                assert status == 200
                *_, answer = await connection._messages(headers)
                assert answer["id"] == number
                answers.append(answer)
            assert (await connection.ask("DELETE")).status in (200, 204)
            return answers

    answers = through(tmp_path, oracle, lambda url: asyncio.run(converse(url)), server=("--refusal", refusal), revision=revision)
    assert [answer.get("result") for answer in answers[1:4]] == [{}, {}, {}]
    assert answers[4]["result"]["content"][0]["text"] == "nobody subscribed"
    assert answers[5]["result"]["content"][0]["text"] == "logged at error"
    assert answers[6]["result"]["messages"][0]["content"]["text"] == "Greet Ada, kindly."
    assert answers[7]["error"]["code"] == -32002

"""Legacy clients use a modern-only server through ``dragoman wrap``: official ones, and two that a person would write in an hour.

Between client and bridge stands a tap, between bridge and server another. After each run everything that passed is judged, and the taps
say which era was really spoken: a handshake on the client's side, and on the server's nothing but requests with the modern envelope. The
server itself exits with 70 on any legacy word.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from acceptance import STEPS, Report, Visit
from harness import LEGACY, MODERN, PEERS, SOURCES, Link, Person, Seen, words
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from modern_side import ACCEPTED, LATEST, judge_modern_server, modern_only, server_was_modern, spoken_with_client
from pipe import Pipe

from faces import judge_client_side, tapped
from oracle import JsonObject, Oracle

HERE = Path(__file__).parent
NODE_CLIENTS = HERE.parent / "real_http"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
DEADLINE = 45
every_revision = pytest.mark.parametrize("revision", REVISIONS)
both_refusals = pytest.mark.parametrize("refusal", ["-32022", "-32601"])
old_words = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


class Way(Link):
    """A way through both taps to the modern-only server, judged for what it is."""

    def __init__(self, folder: Path, oracle: Oracle, *arguments: str, options: tuple[str, ...] = ()) -> None:
        super().__init__(folder, oracle, LEGACY, modern_only(*arguments), options)

    def judged(self, revision: str = LATEST) -> Seen:
        """Both sides, and the era of each."""
        seen = self.seen()
        try:
            spoken_with_client(judge_client_side(self.oracle, seen.client), revision)
            server_was_modern(judge_modern_server(self.oracle, seen.server))
            assert "Traceback" not in seen.stderr
            assert "was shown a legacy word" not in seen.stderr
        except BaseException as fault:
            fault.add_note("stderr:\n" + seen.stderr[-3000:])
            fault.add_note("last frames:\n" + "\n".join(f"{r['dir']:3} {r['line'][:400]}" for r in (*seen.client[-8:], *seen.server[-8:])))
            raise
        return seen

    def run(self, scenario: Callable[[Client], Any], **client: Any) -> Seen:
        """The official client carries out the scenario."""
        try:
            anyio.run(self._converse, scenario, client)
        except BaseException as fault:
            fault.add_note("stderr:\n" + self.seen().stderr[-3000:])
            raise
        return self.judged()

    def spoken(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Another client, which is given the command of the bridge."""
        environment = os.environ | {"PYTHONPATH": SOURCES}
        with (self.folder / "stderr").open("w", encoding="utf-8") as errors:
            return subprocess.run(
                [*command, *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
                timeout=DEADLINE,
                check=False,
            )


WayTo = Callable[..., Way]


@pytest.fixture
def way(tmp_path: Path, oracle: Oracle) -> WayTo:
    """``way(*server_arguments, options=…)``: to be used once."""
    return lambda *arguments, options=(): Way(tmp_path, oracle, *arguments, options=options)


# ------------------------------------------------------------------------------------------------------- acceptance script


def with_python(path: Way, mode: str) -> Report:
    """The script with the official Python client."""

    async def visit() -> Report:
        command, *arguments = path.command()
        parameters = StdioServerParameters(command=command, args=arguments, env={"PYTHONPATH": SOURCES})
        with anyio.fail_after(DEADLINE), (path.folder / "stderr").open("w", encoding="utf-8") as errors:
            return await Visit().run(stdio_client(parameters, errlog=errors), mode)

    try:
        report = anyio.run(visit)
    except BaseException as fault:
        fault.add_note("stderr:\n" + path.seen().stderr[-3000:])
        raise
    assert [step.__name__ for step in STEPS if step.__name__ != "blob"] == list(ACCEPTED)
    assert len(report.pop("blob")) == 344
    return report


def test_modern_client_loses_nothing_by_passing_through(way: WayTo) -> None:
    path = way()
    assert with_python(path, MODERN) == ACCEPTED | {"connect": MODERN, "missing": -32602, "ping": None}
    path.judged(MODERN)


@old_words
@both_refusals
def test_python_client_passes_the_acceptance_script(way: WayTo, refusal: str) -> None:
    path = way("--refusal", refusal)
    assert with_python(path, LEGACY) == ACCEPTED
    seen = path.judged()
    assert sum('"initialize"' in record["line"] for record in seen.server) == 1


@pytest.mark.real
def test_node_client_of_the_first_generation_passes_the_acceptance_script(way: WayTo) -> None:
    node = shutil.which("node")
    if node is None or not (NODE_CLIENTS / "node_modules" / "@modelcontextprotocol" / "sdk").is_dir():
        if os.environ.get("DRAGOMAN_NODE_PACKAGES"):
            pytest.fail("the node clients are not installed: npm ci --prefix tests/real_http")
        pytest.skip("the node clients are not installed: npm ci --prefix tests/real_http")
    path = way()
    done = path.spoken(node, str(NODE_CLIENTS / "acceptance.mjs"), "v1-stdio")
    assert done.returncode == 0, path.seen().stderr[-3000:]
    report: Report = json.loads(done.stdout)
    seen = path.judged()
    assert len(report.pop("blob")) == 344
    # This client forgets who wanted to be told of a call's progress as soon as it sees the response, but tells it of progress one turn
    # later: of what comes in one piece with the response nothing is told. So here the wire is the witness.
    assert [value for value in report["progress"] if value not in (0, 50, 100)] == ["progressed"]
    frames = [json.loads(record["line"]) for record in seen.client if record["dir"] == "out"]
    told = [frame["params"] for frame in frames if frame.get("method") == "notifications/progress"]
    assert [params["progress"] for params in told if "total" in params] == [0, 50, 100]
    assert report | {"progress": ACCEPTED["progress"]} == ACCEPTED


# ------------------------------------------------------------------------------------------------------- the official client


@old_words
def test_rounds_become_questions_and_their_answers_end_the_call(way: WayTo) -> None:
    person = Person()

    async def scenario(client: Client) -> None:
        three = json.loads(words(await client.call_tool("ask_three", {})))
        assert three[0] == {"action": "accept", "content": {"name": "Ada"}}
        assert three[1]["content"] == {"type": "text", "text": "four"}
        assert three[2] == {"roots": [{"uri": "file:///home/ada", "name": "home"}]}
        four = json.loads(words(await client.call_tool("ask_many", {"rounds": 4})))
        assert four == [{"action": "accept", "content": {"name": "Ada"}}] * 4

    way().run(scenario, **person.everything())
    assert [getattr(asked, "message", "model or roots") for asked in person.asked[3:]] == [f"Question {n}" for n in (1, 2, 3, 4)]


@old_words
def test_prompt_and_resource_may_ask_too(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        (contents,) = (await client.read_resource("demo://asks")).contents
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text == "roots: 1"
        (message,) = (await client.get_prompt("asking")).messages
        assert isinstance(message.content, types.TextContent)
        assert "four" in message.content.text

    way().run(scenario, **Person().everything())


@old_words
def test_rounds_with_nothing_to_ask_are_not_seen_by_the_client(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("come_again", {"rounds": 2})) == "came 3 times"

    seen = way().run(scenario)
    assert "requestState" not in "".join(record["line"] for record in seen.client)


@old_words
def test_client_that_can_answer_nothing_gets_an_error_of_the_tool_and_goes_on(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        for name, lacks in [("ask_form", "elicitation"), ("ask_sampling", "sampling"), ("ask_roots", "roots")]:
            # The server was told what the client can answer, and refuses by itself.
            refused = await client.call_tool(name, {"fields": "one"})
            assert refused.is_error
            assert lacks in words(refused)
        assert words(await client.call_tool("echo", {"text": "still here"})) == "still here"

    way().run(scenario)


@old_words
def test_client_that_answers_with_an_error_ends_its_call(way: WayTo) -> None:
    async def refuse(context: Any, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-1, message="the user is asleep")

    async def scenario(client: Client) -> None:
        result = await client.call_tool("ask_form", {"fields": "one"})
        assert result.is_error
        assert "the user is asleep" in words(result)
        assert words(await client.call_tool("echo", {"text": "still here"})) == "still here"

    way().run(scenario, elicitation_callback=refuse)


@old_words
def test_progress_of_one_token_spans_the_rounds(way: WayTo) -> None:
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def scenario(client: Client) -> None:
        await client.call_tool("ask_then_progress", {}, progress_callback=hear)

    way().run(scenario, **Person().everything())
    assert told == [1, 2, 3]


@old_words
def test_output_that_is_no_object_is_wrapped_as_its_schema_is(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "list_output"]
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        result = await client.call_tool("list_output", {})  # the client validates it against the schema
        assert result.structured_content == {"result": [1, 2, 3]}

    way().run(scenario)


@old_words
def test_level_that_nobody_set_asks_for_no_messages(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("log", {})) == "logged at no level"
        await client.set_logging_level("critical")
        assert words(await client.call_tool("log", {})) == "logged at critical"

    way().run(scenario)


@old_words
def test_foreign_meta_reaches_the_server_beside_the_envelope(way: WayTo) -> None:
    sent: Any = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "example.test/mine": {"a": [1]}}

    async def scenario(client: Client) -> None:
        seen = json.loads(words(await client.call_tool("show_meta", {}, meta=sent)))
        assert seen | sent == seen
        assert seen["io.modelcontextprotocol/clientInfo"] == {"name": "ada-host", "version": "7"}

    way().run(scenario, client_info=types.Implementation(name="ada-host", version="7"))


@old_words
def test_64_calls_run_at_the_same_time_and_each_gets_its_own_answer(way: WayTo) -> None:
    answers: dict[str, str] = {}

    async def scenario(client: Client) -> None:
        async def one(label: str) -> None:
            answers[label] = words(await client.call_tool("barrier", {"count": 64, "label": label}))

        async with anyio.create_task_group() as group:
            for number in range(64):
                group.start_soon(one, f"call-{number}")

    way().run(scenario)
    assert answers == {f"call-{number}": f"call-{number}" for number in range(64)}


@old_words
def test_server_that_dies_fails_its_call_and_is_started_again_as_what_it_is(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("crash", {})
        assert caught.value.code == -32603
        assert "crashing as asked" in caught.value.message
        assert words(await client.call_tool("echo", {"text": "again"})) == "again"

    seen = way().run(scenario)
    assert len({record["pid"] for record in seen.server}) == 2


@pytest.mark.parametrize("option", [("--server-era", "modern"), ("--probe",)], ids=" ".join)
def test_server_that_is_known_to_be_modern_is_shown_no_handshake(way: WayTo, option: tuple[str, ...]) -> None:
    async def scenario(client: Client) -> None:
        assert words(await client.call_tool("echo", {"text": "hello"})) == "hello"

    seen = way(options=option).run(scenario)
    assert not [record for record in seen.server if record["dir"] == "in" and '"initialize"' in record["line"]]


def test_operator_is_told_once_that_the_server_is_translated(way: WayTo) -> None:
    async def scenario(client: Client) -> None:
        await client.call_tool("echo", {"text": "hello"})

    seen = way(options=("--log-level", "info")).run(scenario)
    told = [line for line in seen.stderr.splitlines() if "refused" in line]
    assert len(told) == 1
    assert "translated" in told[0]


# ---------------------------------------------------------------------------------------------- clients written in an hour


def fallen_short(report: JsonObject, message: str) -> None:
    """The call that asks has ended with an error of the tool or of the call, which says why."""
    asked = report["asked"]
    assert asked.get("isError") or "code" in asked
    assert message in json.dumps(asked)


def forty_lines(path: Way, revision: str, capabilities: str) -> JsonObject:
    """What the client reports: everything it does but what it is asked."""
    done = path.spoken(sys.executable, str(HERE / "forty_lines.py"), revision, capabilities)
    assert done.returncode == 0, path.seen().stderr[-3000:]
    report: JsonObject = json.loads(done.stdout)
    path.judged(revision)
    assert report["initialize"]["protocolVersion"] == revision
    assert report["initialize"]["serverInfo"]["name"] == "modern-only"
    assert report["initialize"]["instructions"] == "Knows no handshake."
    assert report["tools"][:3] == ["echo", "add", "show_meta"]
    assert report["echo"]["content"] == [{"type": "text", "text": "grüße"}]
    info = json.loads(report["whoami"]["content"][0]["text"])["clientInfo"]
    assert info["name"] == "forty-lines"
    assert isinstance(info["version"], str)
    assert report["read"]["contents"][0]["text"] == "some text: é \u2028 done"
    assert report["ping"] == {}
    assert report["status"] == 0
    return report


@every_revision
def test_client_of_forty_lines_that_declares_nothing(way: WayTo, revision: str) -> None:
    fallen_short(forty_lines(way(), revision, "{}"), "elicitation")


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_client_of_forty_lines_that_never_answers_what_it_said_it_would(way: WayTo, revision: str) -> None:
    fallen_short(forty_lines(way(options=("--question-timeout", "0.5")), revision, '{"elicitation": {}}'), "in time")


@every_revision
@both_refusals
def test_client_that_sends_everything_before_it_reads(tmp_path: Path, oracle: Oracle, revision: str, refusal: str) -> None:
    tap = [sys.executable, str(PEERS / "tap.py"), str(tmp_path / "server.jsonl"), "--"]
    with Pipe(tmp_path, oracle, [*tap, *modern_only("--refusal", refusal)]) as pipe:
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "hurried"}}
        requests: list[tuple[str, JsonObject | None]] = [
            ("initialize", hello),
            ("tools/list", None),
            ("logging/setLevel", {"level": "error"}),
            ("ping", None),
            ("resources/subscribe", {"uri": "demo://watched"}),
            *(("tools/call", {"name": "barrier", "arguments": {"count": 5, "label": str(number)}}) for number in range(5)),
            ("tools/call", {"name": "touch", "arguments": {"uri": "demo://nothing"}}),
            ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
            ("resources/read", {"uri": "demo://nowhere"}),
        ]
        lines: list[JsonObject] = [
            {"id": number, "method": method, **({} if params is None else {"params": params})}
            for number, (method, params) in enumerate(requests, 1)
        ]
        lines.insert(1, {"method": "notifications/initialized"})
        for line in lines:
            pipe.write(json.dumps({"jsonrpc": "2.0", **line}))
        answers: dict[int, JsonObject] = {}
        while len(answers) < len(requests):
            frame = pipe.read()
            if "method" not in frame:
                answers[frame["id"]] = frame
        assert pipe.leave() == 0
        stderr = pipe.stderr()
    spoken_with_client(pipe.face, revision)
    server_was_modern(judge_modern_server(oracle, tapped(tmp_path / "server.jsonl")))
    assert "was shown a legacy word" not in stderr
    assert answers[1]["result"]["protocolVersion"] == revision
    assert answers[3]["result"] == answers[4]["result"] == answers[5]["result"] == {}
    assert [answers[6 + number]["result"]["content"][0]["text"] for number in range(5)] == list("01234")
    assert answers[11]["result"]["content"][0]["text"] == "nobody subscribed"
    assert answers[12]["result"]["messages"][0]["content"]["text"] == "Greet Ada, kindly."
    assert answers[13]["error"]["code"] == -32002

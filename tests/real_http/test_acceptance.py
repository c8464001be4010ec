"""The official clients carry out the acceptance script (``acceptance.py``) over HTTP against ``dragoman serve`` and legacy servers.

Between client and bridge stands a tap whose records are judged (``http_judge.py``), between bridge and server another, so a run proves
not only that the client was content, but that everything it was shown is valid for it. Afterwards nothing of the client is left in the
bridge.

The node packages are those of ``package.json`` here (``npm ci --prefix tests/real_http`` once, offline afterwards); where they are missing,
tests are skipped, or fail if ``DRAGOMAN_NODE_PACKAGES`` is set.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest
from acceptance import STEPS, Report, Visit
from harness import legacy
from http_judge import judge_http
from http_tap import Record, Tap
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from serving import Served

from faces import judge_server_side, tapped
from oracle import Oracle

HERE = Path(__file__).parent
MODERN = "2026-07-28"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
OLDEST, LATEST = REVISIONS[0], REVISIONS[-1]
DEADLINE = 45
Transport = Callable[[str], AbstractAsyncContextManager[Any]]
every_revision = pytest.mark.parametrize("revision", REVISIONS)
oldest_and_latest = pytest.mark.parametrize("revision", [OLDEST, LATEST])

MANY = ["demo://text", "demo://blob", "demo://asks", "demo://two", "demo://watched"]
SAMPLED = {"content": {"text": "four", "type": "text"}, "model": "small-1", "role": "assistant", "stopReason": "endTurn"}


def expected(version: str, revision: str) -> Report:
    """What the script reports to a client that negotiated ``version`` with a server of ``revision``."""
    forms = revision >= "2025-06-18"
    return {
        "connect": version,
        "whoami": "acceptance",
        "tools": [["echo", "add", "show_meta"], forms, False],
        "prompts": ["simple", "greet", "asking", "illustrated"],
        "resources": MANY,
        "templates": ["demo://item/{name}"],
        "plain": "grüße \u2028 ok",
        "structured": {"temperature": 22.5, "conditions": "cloudy"} if forms else None,
        "progress": [0, 50, 100, "progressed"],
        "log": ["error", "critical", "alert", "emergency"],
        "failed": [True, "it did not work"],
        "unknown": -32602,
        "text": "some text: é \u2028 done",
        "blob": base64.b64encode(bytes(range(256))).decode(),
        "missing": -32602 if version == MODERN else -32002,
        "prompt": ["Greet Ada, loudly.", "Hello!"],
        "completion": ["alpha", "alphabet"],
        "accepted": {"action": "accept", "content": {"name": "Ada"}} if forms else None,
        "declined": {"action": "decline"} if forms else None,
        "sampled": SAMPLED,
        "roots": {"roots": [{"name": "home", "uri": "file:///home/ada"}]},
        "list_changed": ["extra-1"],
        "updated": "demo://watched",
        "unsubscribed": "nobody subscribed",
        "cancelled": "1 cancelled",
        "together": ["a", "b"],
        "ping": None if version == MODERN else True,
    }


def accept(folder: Path, oracle: Oracle, revision: str, run: Callable[[str], Report]) -> Report:
    """The report of the script at the endpoint of Streamable HTTP."""
    return carry_out(folder, oracle, revision, run)[0]


def carry_out(
    folder: Path, oracle: Oracle, revision: str, run: Callable[[str], Report], path: str | None = None, *options: str
) -> tuple[Report, list[Record]]:
    """Start everything, let ``run`` carry out the script at the URL, look that nothing is left, judge what passed."""
    with Served(folder, legacy(revision), *options) as served:
        tap = Tap(served.port)
        try:
            with tap:
                report = run(f"http://127.0.0.1:{tap.port}{served.path if path is None else path}")
                served.health_becomes(exchanges=1)  # the one that asks
        except BaseException as fault:
            fault.add_note("last exchanges:\n" + "\n".join(repr(record) for record in tap.records[-10:]))
            raise
        if report["connect"] != MODERN:
            served.health_becomes(sessions=0)
    judge_http(oracle, tap.records)
    judge_server_side(oracle, tapped(served.server_tap))
    assert "Traceback" not in served.stderr()
    assert "was shown a modern word" not in served.stderr()
    assert "got a response to nothing" not in served.stderr()
    return report, tap.records


def missing(what: str) -> NoReturn:
    """Skip the test, or fail where everything was to be there."""
    if os.environ.get("DRAGOMAN_NODE_PACKAGES"):
        pytest.fail(what)
    pytest.skip(what)


def node_script(*words: str) -> list[str]:
    """The command that runs one of the scripts here."""
    node = shutil.which("node")
    if node is None:
        missing("node is not on this machine")
    if not (HERE / "node_modules" / "@modelcontextprotocol" / "client").is_dir():
        missing("the node clients are not installed: npm ci --prefix tests/real_http")
    script, *rest = words
    return [node, str(HERE / script), *rest]


def with_node(kind: str) -> Callable[[str], Report]:
    """The script in ``acceptance.mjs``."""
    node = shutil.which("node")
    if node is None:
        missing("node is not on this machine")
    if not (HERE / "node_modules" / "@modelcontextprotocol" / "client").is_dir():
        missing("the node clients are not installed: npm ci --prefix tests/real_http")

    def run(url: str) -> Report:
        done = subprocess.run(
            [node, str(HERE / "acceptance.mjs"), kind, url], capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        # The client tells of what it did not expect, such as the answer to a call that it had cancelled; one of them also of progress that
        # it threw away itself (see the last test).
        own = "unknown token" if kind == "v1-sse" else None
        errors = [line for line in done.stderr.splitlines() if line.startswith("onerror")]
        assert [line for line in errors if own is None or own not in line] == []
        report: Report = json.loads(done.stdout)
        return report

    return run


def with_python(
    mode: str, transport: Callable[[str], AbstractAsyncContextManager[Any]] = streamable_http_client
) -> Callable[[str], Report]:
    """The script in ``acceptance.py``."""

    async def visit(url: str) -> Report:
        with anyio.fail_after(DEADLINE):
            return await Visit().run(transport(url), mode)

    return lambda url: anyio.run(visit, url)


def test_every_step_has_one_expected_value() -> None:
    assert [step.__name__ for step in STEPS] == list(expected(MODERN, LATEST))


# ------------------------------------------------------------------------------------------------- Streamable HTTP, modern


@every_revision
def test_modern_python_client(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_python(MODERN)) == expected(MODERN, revision)


@oldest_and_latest
def test_python_client_that_finds_out_by_itself_is_modern(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_python("auto")) == expected(MODERN, revision)


@pytest.mark.real
@every_revision
def test_modern_node_client(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_node("modern")) == expected(MODERN, revision)


@pytest.mark.real
@oldest_and_latest
def test_node_client_that_finds_out_by_itself_is_modern(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_node("auto")) == expected(MODERN, revision)


# ------------------------------------------------------------------------------------------------- Streamable HTTP, legacy


@every_revision
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_legacy_python_client(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_python("legacy")) == expected(revision, revision)


@pytest.mark.real
@every_revision
def test_node_client_of_the_first_generation(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    assert accept(tmp_path, oracle, revision, with_node("v1")) == expected(revision, revision)


@pytest.mark.real
def test_node_client_of_the_second_generation_that_stays_legacy(tmp_path: Path, oracle: Oracle) -> None:
    report, records = carry_out(tmp_path, oracle, LATEST, with_node("legacy"))
    # This client shows every resource that is not there under the modern code, whatever it was sent.
    assert report == expected(LATEST, LATEST) | {"missing": -32602}
    answers = [json.loads(record.exchange.answer) for record in records if record.what == "body" and record.exchange.answer]
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32602, -32002]


# ---------------------------------------------------------------------------------------------------------- answers as streams


def mostly_streams(folder: Path, oracle: Oracle, run: Callable[[str], Report], version: str) -> None:
    report, records = carry_out(folder, oracle, LATEST, run, None, "--header-wait", "0")
    assert report == expected(version, LATEST)
    answers = [record.exchange for record in records if record.what == "ended" and record.exchange.status == 200]
    calls = [each for each in answers if b'"tools/call"' in each.body]
    # An answer that is there before the wait of no time is over is still JSON.
    assert len([each for each in calls if each.streams]) > len(calls) / 3


def test_modern_python_client_takes_answers_as_streams(tmp_path: Path, oracle: Oracle) -> None:
    mostly_streams(tmp_path, oracle, with_python(MODERN), MODERN)


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_legacy_python_client_takes_answers_as_streams(tmp_path: Path, oracle: Oracle) -> None:
    mostly_streams(tmp_path, oracle, with_python("legacy"), LATEST)


@pytest.mark.real
@pytest.mark.parametrize(("kind", "version"), [("modern", MODERN), ("v1", LATEST)])
def test_node_clients_take_answers_as_streams(tmp_path: Path, oracle: Oracle, kind: str, version: str) -> None:
    mostly_streams(tmp_path, oracle, with_node(kind), version)


@pytest.mark.real
def test_node_client_that_comes_back_after_an_error_finds_the_stream_at_its_end(tmp_path: Path, oracle: Oracle) -> None:
    command = node_script("comeback.mjs")
    with Served(tmp_path, legacy(LATEST), "--header-wait", "0") as served, Tap(served.port) as tap:
        url = f"http://127.0.0.1:{tap.port}{served.path}"
        done = subprocess.run([*command, url], capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    judge_http(oracle, tap.records)
    # With another status, or an empty stream, it would come back every second, for as long as it lives.
    assert json.loads(done.stdout) == {"code": -32602, "status": 405, "heard": True}


# --------------------------------------------------------------------------------------------------- HTTP+SSE of 2024-11-05


@oldest_and_latest
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_legacy_python_client_over_sse(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    report, _ = carry_out(tmp_path, oracle, revision, with_python("legacy", sse_client), "/sse", "--sse")
    assert report == expected(revision, revision)


@pytest.mark.real
@oldest_and_latest
def test_node_client_of_the_first_generation_over_sse(tmp_path: Path, oracle: Oracle, revision: str) -> None:
    report, records = carry_out(tmp_path, oracle, revision, with_node("v1-sse"), "/sse", "--sse")
    # This client forgets who wanted to be told of a call's progress as soon as it sees the response, but tells it of progress one turn
    # later: of what comes in one piece with the response nothing is told. So here the wire is the witness.
    assert [value for value in report["progress"] if value not in (0, 50, 100)] == ["progressed"]
    assert first_progress(records) == [0, 50, 100, "progressed"]
    assert report | {"progress": [0, 50, 100, "progressed"]} == expected(revision, revision)


def first_progress(records: list[Record]) -> list[Any]:
    """The progress of the call of ``progress`` on a stream, and the text of its result."""
    frames = [json.loads(record.event.data) for record in records if record.event is not None and record.event.kind == "message"]
    values = [frame["params"]["progress"] for frame in frames if frame.get("method") == "notifications/progress"]
    texts = [frame["result"]["content"][0]["text"] for frame in frames if "content" in frame.get("result", {})]
    return [*values[:3], *(text for text in texts if text == "progressed")]

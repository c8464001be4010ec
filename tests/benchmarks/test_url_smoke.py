"""The harness of ``make bench-url`` gets right answers, and notices wrong ones. What it says of speed is no matter for a test."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RUN = [sys.executable, "-W", "error", str(BENCHMARKS / "run_url.py"), "--quick"]

DIRECT = ["direct, legacy", "direct, modern"]
DRAGOMAN = [f"dragoman, {client} to {server}" for client in ("legacy", "modern") for server in ("legacy", "modern")]

# Started as dragoman is (wrap URL, serve --port PORT URL), it answers over stdin as it is told by its own name.
TALKERS = {
    "deaf": "pass",
    "id": 'input(); print(\'{"jsonrpc":"2.0","id":7,"result":{}}\')',
    "text": (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    frame = json.loads(line)\n"
        "    result = {'content': [{'type': 'text', 'text': 'another'}], 'resultType': 'complete'}\n"
        "    'id' in frame and print(json.dumps({'jsonrpc': '2.0', 'id': frame['id'], 'result': result}), flush=True)"
    ),
}


def outcome(*arguments: str) -> dict[str, Any]:
    ended = subprocess.run([*RUN, "--json", "--contenders", "direct,dragoman", *arguments], capture_output=True, timeout=150, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def measured(told: dict[str, Any]) -> dict[str, list[str]]:
    return {quantity: sorted(values) for quantity, values in told["figures"].items()}


@pytest.mark.timeout(160)  # a dozen starts, each compiled anew
def test_quick_run_of_wrap_gets_right_answers_in_every_combination_of_eras() -> None:
    told = outcome("--face", "wrap")
    assert sorted(told) == ["wrap"]
    both = sorted(DIRECT + DRAGOMAN)
    assert measured(told["wrap"]) == {
        "latency_p50": both,
        "latency_p99": both,
        "added_p50": sorted(DRAGOMAN),
        "added_p99": sorted(DRAGOMAN),
        "throughput": both,
        "processor": sorted(DRAGOMAN),
        "large_10": both,
        "rest": sorted(DRAGOMAN),
        "growth": sorted(DRAGOMAN),
        "cold": sorted(DRAGOMAN),
        "call": sorted(DRAGOMAN),
    }
    compared = [(target["subject"], target["against"]) for target in told["wrap"]["targets"] if target["quantity"] == "latency_p50"]
    assert compared == [
        ("dragoman, legacy to legacy", "direct, legacy"),
        ("dragoman, modern to legacy", "direct, legacy"),
        ("dragoman, legacy to modern", "direct, modern"),
        ("dragoman, modern to modern", "direct, modern"),
    ]


@pytest.mark.timeout(160)
def test_quick_run_of_serve_before_servers_that_stream_gets_right_answers_too() -> None:
    told = outcome("--face", "serve", "--only", "latency,load", "--stream")
    assert sorted(told) == ["serve"]
    quantities = ("driver", "growth", "latency_p50", "latency_p95", "memory", "processor", "throughput")
    assert measured(told["serve"]) == dict.fromkeys(quantities, sorted(DIRECT + DRAGOMAN))


def test_server_behind_refuses_what_a_bridge_forgot_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    behind = importlib.import_module("urlbench.behind")
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}'
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
    legacy, modern = behind.legacy(), behind.modern()
    told = {b"mcp-method": b"tools/call", b"mcp-name": b"echo", b"mcp-protocol-version": b"2026-07-28"}

    assert legacy(call, {})[0] == 400
    assert legacy(call, {b"mcp-session-id": b"session-1"})[0] == 400
    assert legacy(hello, {})[2] == [(b"mcp-session-id", b"session-1")]
    assert legacy(call, {b"mcp-session-id": b"session-1"})[:2] == (
        200,
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}\n',
    )
    assert [modern(call, {name: value for name, value in told.items() if name != left_out})[0] for left_out in told] == [400, 400, 400]
    assert modern(call, {**told, b"mcp-method": b"tools/list"})[0] == 400
    assert modern(call, told)[:2] == (
        200,
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}],"resultType":"complete"}}\n',
    )
    assert modern(b'{"jsonrpc":"2.0","id":2,"method":"initialize"}', {**told, b"mcp-method": b"initialize"})[0] == 404


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("deaf", "dragoman, legacy to legacy: no frame: b''"),
        ("id", "dragoman, legacy to legacy: no result for request 0"),
        ("text", "dragoman, legacy to legacy: wrong content for request 1"),
    ],
)
def test_bridge_that_answers_wrongly_fails_the_run_with_its_name(kind: str, fault: str, tmp_path: Path) -> None:
    talker = tmp_path / "talker.py"
    talker.write_text(TALKERS[kind])
    command = [*RUN, "--face", "wrap", "--contenders", "dragoman", "--only", "latency", "--dragoman", f"{sys.executable} {talker}"]
    ended = subprocess.run(command, capture_output=True, timeout=50, check=False)
    assert ended.returncode == 1
    assert f"WrongAnswerError: {fault}" in ended.stderr.decode()

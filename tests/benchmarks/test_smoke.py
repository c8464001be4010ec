"""The harness of ``make bench`` gets right answers. What it says of speed is no matter for a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CHILD = [sys.executable, "-I", "-S", str(BENCHMARKS / "tiny_server.py")]
RELAYED = [sys.executable, str(BENCHMARKS / "null_relay.py"), "--", *CHILD]

LINE = r"GET /v1/items/42 answered \"200 OK\" in 181 ms, src/server/routes/items.py:118 — cached, 81.2 KB\n"
CONVERSATION = [
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}',
    b'{ "id": 2, "method": "tools/call", "params": { "arguments": { "bytes": 101 }, "name": "blob" }, "jsonrpc": "2.0" }',
    b'{"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"id":9},"name":"echo","arguments":{"text":"hi"}},"id":3}',
    b'{"jsonrpc":"2.0","id":4,"method":"prompts/list"}',
]
ANSWERS = [
    '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1.0.0"}}}',
    '{"jsonrpc":"2.0","id":"a-1","result":{"content":[{"type":"text","text":"hi"}]}}',
    '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"' + LINE + '."}]}}',
    '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}}',
    '{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found"}}',
]


@pytest.mark.parametrize("command", [CHILD, RELAYED], ids=["bare", "relayed"])
def test_conversation_with_the_tiny_server_gives_its_constants(command: list[str]) -> None:
    said = b"".join(line + b"\n" for line in CONVERSATION)
    ended = subprocess.run(command, input=said, capture_output=True, timeout=30, check=True)
    assert ended.stdout.decode().splitlines() == ANSWERS
    assert ended.stderr == b""


def test_quick_run_against_the_null_relay_measures_every_quantity() -> None:
    command = [sys.executable, "-W", "error", str(BENCHMARKS / "run.py"), "--quick", "--json", "--contenders", "direct,null"]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=True)
    outcome = json.loads(ended.stdout)
    assert {quantity: sorted(values) for quantity, values in outcome["figures"].items() if quantity not in ("memory", "processor")} == {
        "latency_p50": ["direct", "null relay"],
        "latency_p95": ["direct", "null relay"],
        "added_p50": ["null relay"],
        "added_p95": ["null relay"],
        "throughput": ["direct", "null relay"],
        "large_1": ["direct", "null relay"],
        "large_10": ["direct", "null relay"],
        "cold": ["direct", "null relay"],
    }
    assert not any("met" in target for target in outcome["targets"])


def test_contender_that_answers_wrongly_fails_the_run_with_its_name() -> None:
    deaf = f"{sys.executable} -c pass"
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--quick", "--contenders", "dragoman", "--only", "latency", "--dragoman", deaf]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert b"WrongAnswerError: dragoman: no frame: b''" in ended.stderr

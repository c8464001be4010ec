"""The harness of ``make bench-library`` gets right answers, and judges what it says. What it says of speed is no matter for a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
KINDS = ("async", "sync", "large")


def outcome(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(BENCHMARKS / "run_library.py"), "--quick", "--json", *arguments]
    ended = subprocess.run(command, capture_output=True, timeout=150, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


@pytest.mark.timeout(160)  # a dozen starts, each compiled anew
def test_quick_run_gets_right_answers_from_all_servers_without_sessions() -> None:
    told = outcome("--only", "load,import", "--eras", "modern")
    peers = {"dragoman", "MCPServer", "MCPServer, JSON"}
    for kind in KINDS:
        assert set(told["figures"][f"rate_{kind}"]) == peers, kind
    assert set(told["figures"]["import_bare"]) == {"dragoman", "MCPServer"}
    assert all(value > 0 for values in told["figures"].values() for value in values.values())


def test_targets_of_a_whole_run_are_three_times_the_calls_and_a_third_of_the_import() -> None:
    sys.path[:0] = [str(BENCHMARKS)]
    try:
        from librarybench.report import targets
    finally:
        del sys.path[0]
    names = ("dragoman", "MCPServer", "MCPServer, JSON")
    values = {f"rate_{kind}": dict.fromkeys(names, 1.0) for kind in KINDS} | {"import_bare": dict.fromkeys(names, 1.0)}
    judged = [(each.quantity, each.against, each.bound, each.at_least) for each in targets([values], judged=True) if each.bound is not None]
    mine = [each for each in judged if each[1] == "MCPServer"]
    assert mine == [(f"rate_{kind}", "MCPServer", 3.0, True) for kind in KINDS] + [("import_bare", "MCPServer", 0.35, False)]
    assert all(each.bound is None for each in targets([values], judged=False))

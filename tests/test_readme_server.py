"""The complete server that README and docs/library.md show: it is short, it is typed, and it does what they say."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from dragoman import Client, Server

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"```python\n(import sys\n.*?)```", re.DOTALL)


def shown(name: str) -> str:
    found = BLOCK.search((ROOT / name).read_text(encoding="utf-8"))
    assert found is not None, f"{name} shows no server"
    return found[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "trains.py"
    file.write_text(shown("README.md"), encoding="utf-8")
    return file


@pytest.fixture
def server(path: Path) -> Server:
    spec = spec_from_file_location("trains", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["trains"] = module
    spec.loader.exec_module(module)
    found: Server = module.server
    return found


def aisle(method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert method == "elicitation/create"
    assert params["message"] == "Which seat on IC 1?"
    assert params["requestedSchema"]["properties"] == {"seat": {"type": "string", "enum": ["aisle", "window"]}}
    return {"action": "accept", "content": {"seat": "aisle"}}


def booked(server: Server, version: str) -> dict[str, Any]:
    async def book() -> dict[str, Any]:
        async with Client(server, version=version, answer=aisle) as client:
            return await client.call_tool("book", {"train": "IC 1"})

    return asyncio.run(book())


def test_server_of_the_readme_has_at_most_25_lines_and_is_that_of_the_docs():
    code = shown("README.md")
    assert len(code.splitlines()) <= 25
    assert code == shown("docs/library.md")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_client_that_can_be_asked_gets_the_same_booking(server: Server, version: str):
    assert booked(server, version)["content"] == [{"type": "text", "text": "IC 1: aisle"}]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26"])
def test_client_that_cannot_be_asked_gets_a_tool_error(server: Server, version: str):
    result = booked(server, version)
    assert result["isError"] is True
    assert "which lacks elicitation" in result["content"][0]["text"]


def test_it_is_a_program_for_stdio(path: Path):
    offered = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": offered}).encode() + b"\n"
    sources = os.pathsep.join(str(ROOT / name) for name in ("compat", "specs"))
    done = subprocess.run(
        [sys.executable, path], input=line, capture_output=True, timeout=30, check=True, env={**os.environ, "PYTHONPATH": sources}
    )
    assert b'"serverInfo":{"name":"trains","version":"1.0"}' in done.stdout
    assert done.stderr == b""


def test_its_types_hold_under_mypy_strict(path: Path):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, str(path)]
    env = {**os.environ, "MYPYPATH": os.pathsep.join(str(ROOT / name) for name in ("compat", "specs"))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=path.parent, env=env)
    assert done.returncode == 0, done.stdout

"""What examples/README.md tells a newcomer to type does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.examples.conftest import ENVIRONMENT, ROOT

README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
CONSOLES = re.findall(r"```console\n\$ (.+)\n… (.+) …\n```", README)
SERVERS = ["verb_tutor", "weather_stations", "shop_prices", "json_validator"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``python`` is this one, as in an environment that a newcomer has activated."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return {**ENVIRONMENT, "PATH": f"{tmp_path}:{ENVIRONMENT['PATH']}"}


def typed(command: str, environment: dict[str, str]) -> str:
    return output_of(["bash", "-c", command], ROOT, environment)


def output_of(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=20, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("command", "answer"), [pair for pair in CONSOLES if pair[0].startswith("echo")])
def test_lines_for_stdio_are_answered_as_shown(command: str, answer: str, environment: dict[str, str]) -> None:
    assert answer.removesuffix(",").strip() in typed(command, environment)


def test_the_line_for_http_is_answered_as_shown(http_port: Callable[[str], int], environment: dict[str, str]) -> None:
    ((command, answer),) = [pair for pair in CONSOLES if pair[0].startswith("curl")]
    shown = typed(command.replace(":8000/", f":{http_port('json_validator')}/"), environment)
    assert answer.removesuffix(",").strip() in shown


def test_every_server_is_tried_and_has_both_commands() -> None:
    assert len(CONSOLES) == 5
    for server in SERVERS:
        assert f"## {server}.py\n" in README
        assert f"`python examples/{server}.py`" in README
        assert f"`uvicorn --app-dir examples {server}:app`" in README
        assert any(f"python examples/{server}.py" in command for command, _ in CONSOLES)


def test_the_client_in_the_same_process_works_as_shown(environment: dict[str, str]) -> None:
    (code,) = re.findall(r"```python\n(.+?)```", README, re.DOTALL)
    shown = output_of([sys.executable, "-c", code], ROOT / "examples", environment)
    assert "'structuredContent': {'product': 'coffee', 'quantity': 3, 'total': '22.47', 'currency': 'EUR'}" in shown

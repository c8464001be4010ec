"""The installed suite: where it is, what runs it, and what it requires of a revision."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
ROOT = TESTS.parent
PACKAGES = HERE / "node_modules"
SUITE = PACKAGES / "@modelcontextprotocol" / "conformance"
LIMIT = 180.0
"""Seconds for one call of the suite."""


class Broken(Exception):
    """A run could not be carried out."""


def node() -> str:
    """The Node that npm brought for this platform, else one on the PATH that is new enough."""
    brought = PACKAGES / ".bin" / "node"
    if brought.exists():
        return str(brought)
    on_path = shutil.which("node")
    if on_path is not None:
        version = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").partition(".")[0]) >= 22:
            return on_path
    raise Broken("the suite needs Node 22 or newer, and npm brings none for this platform")


def requirements(revision: str) -> str:
    """The text of the suite's list of what a revision requires."""
    return (SUITE / "requirements" / f"{revision}.yaml").read_text("utf-8")


def call(arguments: list[str], folder: Path, said: TextIO) -> int:
    """Let the suite write its checks into ``folder``; the answer is its exit status."""
    command = [node(), str(SUITE / "dist" / "index.js"), *arguments, "--output-dir", str(folder.resolve())]
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
        timeout=LIMIT,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return done.returncode

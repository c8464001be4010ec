"""The helpers of the matrix stand here and beside the other clients; at the end the matrix is told as a table."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "real_sdk1")]

from sides import CLIENTS, SERVERS  # noqa: E402
from table import Marks, table  # noqa: E402

MARKS = "matrix"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    marks: Marks = {}
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.getreports(outcome):
            for name, value in getattr(report, "user_properties", []):
                if name == MARKS:
                    client, server, words = value
                    marks[client, server] = outcome if outcome != "passed" else f"ok {words}"
    if marks:
        terminalreporter.write_sep("=", "the matrix: what was agreed on with the client, and with the server")
        for line in table([each.label for each in CLIENTS], [each.label for each in SERVERS], marks):
            terminalreporter.write_line(line)

"""Fixtures for every test: the oracle, and one line in the summary when its schemas are not on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Test helpers (oracle, faces …) are imported by name; with importlib mode nothing else puts this folder on the path.
if str(Path(__file__).parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).parent))

from oracle import Oracle, spec_folder

ORACLE = Oracle(spec_folder())


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """Validates frames under the official schemas; where they are absent, under the written rules only."""
    return ORACLE


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once that frames were judged without the schemas."""
    if not ORACLE.present:
        terminalreporter.write_line("oracle: no specification schemas here (DRAGOMAN_SPEC): frames were checked by the written rules only")

"""Fixtures for every test: the oracle, and one line in the summary when its schemas are not on this machine."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from oracle import Oracle, spec_folder

# In CI the same examples every time; on a desk new ones, so that the tests go on searching.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

ORACLE = Oracle(spec_folder())


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """Validates frames under the official schemas; where they are absent, under the written rules only."""
    return ORACLE


def pytest_configure(config: pytest.Config) -> None:
    """Under nohup, or in a shell's background, these signals are ignored, and so they would be in every bridge that a test starts.

    A handler that does nothing leaves the run itself as deaf as it was, and exec turns it into the default for the bridge. Whoever
    only hands out tests to workers starts no bridge, and its workers come here themselves.
    """
    hands_out = bool(getattr(config.option, "numprocesses", None)) and not hasattr(config, "workerinput")
    for name in () if hands_out else ("SIGINT", "SIGHUP", "SIGTERM"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once that frames were judged without the schemas."""
    if not ORACLE.present:
        terminalreporter.write_line("oracle: no specification schemas here (DRAGOMAN_SPEC): frames were checked by the written rules only")

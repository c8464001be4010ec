"""What the field cases use: conversations without a transport, and real bridges in front of a small server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cases.wrapped import Wrapped
from tests.conversations.conftest import converse

from oracle import Oracle

__all__ = ["converse"]  # the fixture of tests/conversations serves here too

Wrap = Callable[..., Wrapped]


@pytest.fixture
def wrap(tmp_path: Path, oracle: Oracle) -> Iterator[Wrap]:
    """``wrap(quirk, *options)``: a bridge in front of a small server of that quirk, ended after the test."""
    started: list[Wrapped] = []

    def start(quirk: str = "plain", *options: str) -> Wrapped:
        folder = tmp_path / str(len(started))
        folder.mkdir(exist_ok=True)  # a test may have put something there for the server
        started.append(Wrapped(folder, oracle, quirk, *options))
        return started[-1]

    yield start
    for bridge in started:
        bridge.dispose()

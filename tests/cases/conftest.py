"""What the field cases use: conversations without a transport, and real bridges in front of a small server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cases.served import Served
from tests.cases.wrapped import Wrapped
from tests.conversations.conftest import converse

from oracle import Oracle

__all__ = ["converse"]  # the fixture of tests/conversations serves here too

Wrap = Callable[..., Wrapped]
Serve = Callable[..., Served]
Share = Callable[..., Served]


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


@pytest.fixture
def serve(tmp_path: Path, oracle: Oracle) -> Iterator[Serve]:
    """``serve(quirk, *options)``: an HTTP endpoint in front of a small server of that quirk, ended after the test."""
    started: list[Served] = []

    def start(quirk: str = "plain", *options: str, **environment: str) -> Served:
        folder = tmp_path / f"served-{len(started)}"
        folder.mkdir()
        started.append(Served(folder, oracle, quirk, *options, env=environment))
        return started[-1]

    yield start
    for bridge in started:
        bridge.dispose()


@pytest.fixture(scope="module")
def _houses(tmp_path_factory: pytest.TempPathFactory, oracle: Oracle) -> Iterator[Share]:
    started: dict[tuple[str, ...], Served] = {}

    def take(*words: str) -> Served:
        if words not in started:
            started[words] = Served(tmp_path_factory.mktemp("served"), oracle, *words)
        return started[words]

    yield take
    for bridge in started.values():
        bridge.dispose()


@pytest.fixture
def share(_houses: Share) -> Iterator[Share]:
    """``share(quirk, *options)``: as ``serve``, but one endpoint for all tests of a module that ask for the same; each begins anew."""
    taken: list[Served] = []

    def take(quirk: str = "plain", *options: str) -> Served:
        taken.append(_houses(quirk, *options))
        taken[-1].forget()
        return taken[-1]

    yield take
    for bridge in taken:
        bridge.hang_up()


@pytest.fixture
def served(share: Share) -> Served:
    """A plain endpoint that the tests of a module share; what was shown to its servers before is forgotten."""
    return share()

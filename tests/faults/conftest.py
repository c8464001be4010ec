"""``far`` starts scripted servers, ``wrap`` and ``serve`` put the program before them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from far import Answer, Far
from near import Served, Wrapped


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is started later is ended first: the program before its servers."""
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def far(stack: ExitStack) -> Callable[..., Far]:
    """``far(answer)``: a server, listening."""

    def start(answer: Answer, **settings: Any) -> Far:
        return stack.enter_context(Far(answer, **settings))

    return start


@pytest.fixture
def wrap(stack: ExitStack, tmp_path: Path) -> Callable[..., Wrapped]:
    """``wrap(url, *options, **environment)``."""

    def start(url: str, *options: str, **env: str) -> Wrapped:
        return stack.enter_context(Wrapped(tmp_path, url, *options, **env))

    return start


@pytest.fixture
def serve(stack: ExitStack, tmp_path: Path) -> Callable[..., Served]:
    """``serve(url, *options, **environment)``."""

    def start(url: str, *options: str, **env: str) -> Served:
        return stack.enter_context(Served(tmp_path, url, *options, **env))

    return start

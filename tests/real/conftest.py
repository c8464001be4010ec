"""Fixtures of the real-peer tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Link

from oracle import Oracle

LinkTo = Callable[..., Link]


@pytest.fixture
def link(tmp_path: Path, oracle: Oracle) -> LinkTo:
    """``link(how, server_command, *wrap_options)``: a way from the official client to that server."""

    def link_to(how: str, server: list[str], *options: str) -> Link:
        return Link(tmp_path, oracle, how, server, options)

    return link_to

"""What every conversation over HTTP gets: ``serve`` starts a face and checks it at the end, ``transcript`` compares what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversations.conftest import TranscriptExtension
from tests.http.web import Web

from oracle import Oracle

Serve = Callable[..., Web]


@pytest.fixture
def transcript(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """``assert web.transcript() == transcript``."""
    return snapshot.use_extension(TranscriptExtension)


@pytest.fixture
def serve(oracle: Oracle) -> Iterator[Serve]:
    """Starts faces, and shuts each down at the end: whatever was said, it finishes, and nobody is left without an answer.

    ``judged=False``: the oracle does not look, for conversations in which a peer breaks a rule that it needs.
    """
    started: list[Web] = []

    def start(*, judged: bool = True, **settings: Any) -> Web:
        web = Web(oracle=oracle if judged else None, **settings)
        started.append(web)
        return web

    yield start
    for web in started:
        web.end()

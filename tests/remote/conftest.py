"""``transcript`` compares what was said with the file beside the tests."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversations.conftest import TranscriptExtension


@pytest.fixture
def transcript(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """``assert leg.transcript() == transcript``."""
    return snapshot.use_extension(TranscriptExtension)

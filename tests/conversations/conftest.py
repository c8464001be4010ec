"""What every conversation test gets: ``converse`` starts one and checks it at the end, ``transcript`` compares what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from tests.conversation import Conversation

from oracle import Oracle

Converse = Callable[..., Conversation]


class TranscriptExtension(SingleFileSnapshotExtension):
    """One plain text file a conversation, one frame a line."""

    _write_mode = WriteMode.TEXT
    file_extension = _file_extension = "txt"

    def serialize(self, data: Any, **_options: Any) -> str:
        """The transcript as it is."""
        return f"{data}\n"


@pytest.fixture
def transcript(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """``assert talk.transcript() == transcript``."""
    return snapshot.use_extension(TranscriptExtension)


@pytest.fixture
def converse(oracle: Oracle) -> Iterator[Converse]:
    """Starts conversations. ``relayed=True``: lines go on as they came, so another peer answers for them. ``judged=False``:

    the oracle does not look, for conversations in which a peer breaks a rule that it needs (an id used twice, two eras at once).
    """
    started: list[tuple[Conversation, bool]] = []

    def start(*, relayed: bool = False, judged: bool = True, **settings: Any) -> Conversation:
        talk = Conversation(oracle=None if relayed or not judged else oracle, **settings)
        started.append((talk, relayed))
        return talk

    yield start
    for talk, relayed in started:
        if not relayed:
            talk.assert_sound()

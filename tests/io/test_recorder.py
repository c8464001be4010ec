"""Recordings: what the core heard and said, and that the file's troubles are nobody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.io.relay import Relay

from dragoman.bridging.effects import ERROR, Effect, Log, OpenSession, ToClient, ToServer
from dragoman.io.recorder import Recorder

FULL = Path("/dev/full")
STOPPED = Log(ERROR, "the recording stops here: No space left on device")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


def talk(core: Recorder) -> list[list[Effect]]:
    return [core.start(5.0), core.from_client(b'{"n": 1.0}', 5.5), core.from_server(1, b"no json", 6.0)]


SAID = [[], [OpenSession(1), ToServer(1, b'{"n": 1.0}\n')], [ToClient(b"no json\n")]]


def test_recording_changes_nothing_of_what_the_core_says(tmp_path: Path):
    with (tmp_path / "recording").open("wb") as file:
        assert talk(Recorder(Relay(), file)) == SAID


def test_recording_has_every_frame_in_order(tmp_path: Path):
    path = tmp_path / "recording"
    with path.open("wb") as file:
        talk(Recorder(Relay(), file))
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"at": 0.0, "who": "client>", "frame": {"n": 1.0}},
        {"at": 0.0, "event": "session 1 opens"},
        {"at": 0.0, "who": "server<", "session": 1, "frame": {"n": 1.0}},
        {"at": 0.5, "who": "server>", "session": 1, "text": "no json"},
        {"at": 0.5, "who": "client<", "text": "no json"},
    ]


@needs_full
def test_full_disk_costs_no_frame_and_is_said_once():
    with FULL.open("wb") as file:
        assert talk(Recorder(Relay(), file)) == [[], [*SAID[1], STOPPED], SAID[2]]
        assert file.closed


@needs_full
def test_disk_that_fills_up_while_the_core_speaks_is_said_at_once():
    with FULL.open("wb") as file:
        core = Recorder(Relay(), file)
        assert core.client_too_long(b"head", 70_000, 1.0)[-1] == STOPPED
        assert core.session_lost(1, "gone", 2.0) == [ToClient(b"lost 1: gone\n")]

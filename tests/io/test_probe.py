"""The probe's verdict on every kind of answer, and on servers that give none."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from dragoman.io.events import default_events
from dragoman.io.launcher import Launcher
from dragoman.io.log import Log
from dragoman.io.probe import Probe, question, verdict


def answer(**members) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "dragoman-probe", **members}).encode()


def refusal(code, **members) -> bytes:
    return answer(error={"code": code, "message": "no", **members})


@pytest.mark.parametrize(
    "line",
    [
        b"Listening on stdio",
        b"",
        b"[]",
        b"[" * 100_000,
        answer()[:-5],
        answer(id=7, result={}),
        answer(method="ping"),
        b'{"method":"notifications/message"}',
    ],
)
def test_line_that_is_no_answer_decides_nothing(line):
    assert verdict(line) is None


@pytest.mark.parametrize(
    "line",
    [
        answer(result={"supportedVersions": ["2026-07-28"]}),
        answer(result={"supportedVersions": ["2025-11-25", "2026-07-28"]}),
        refusal(-32022, data={"supported": ["2026-07-28"], "requested": "2026-07-28"}),
        refusal(-32021, data={"requiredCapabilities": {"sampling": {}}}),
        refusal(-32020),
    ],
)
def test_modern_answer_is_modern(line):
    assert verdict(line)[0] == "modern"


@pytest.mark.parametrize(
    "line",
    [
        answer(result={}),
        answer(result=None),
        answer(result={"supportedVersions": []}),
        answer(result={"supportedVersions": ["2025-11-25"]}),
        answer(result={"supportedVersions": "2026-07-28"}),
        answer(result={"supportedVersions": ["zebra", 3]}),
        answer(),
        answer(error="no"),
        refusal(-32601),
        refusal(-32602),
        refusal(-32000),
        refusal("-32601"),
        refusal(-32022),
        refusal(-32022, data={"supported": ["2025-06-18"]}),
        refusal(-32021),
        refusal(-32021, data={"requiredCapabilities": ["sampling"]}),
    ],
)
def test_any_other_answer_is_legacy(line):
    assert verdict(line)[0] == "legacy"


def test_question_carries_the_whole_envelope():
    frame = json.loads(question())
    assert (frame["jsonrpc"], frame["id"], frame["method"]) == ("2.0", "dragoman-probe", "server/discover")
    meta = frame["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "dragoman"


def probed(code: str, timeout: float = 20.0) -> tuple[str, str]:
    events = default_events()
    with Path(os.devnull).open("wb") as nowhere:
        log = Log(events.outlet(nowhere.fileno(), owned=False), 20)
        launcher = Launcher([sys.executable, "-S", "-u", "-c", code], dict(os.environ), None, "the server")
        result = Probe(launcher, events, log).ask(timeout)
    with pytest.raises(ChildProcessError):  # the sibling is gone, and reaped
        os.waitpid(-1, os.WNOHANG)
    events.close()
    return result


def test_server_that_answers_late_and_noisily_is_heard():
    code = f"""
import sys
sys.stderr.write('e' * 300_000)
print('banner')
input()
print({answer(result={"supportedVersions": ["2026-07-28"]}).decode()!r})
input()
"""
    assert probed(code) == ("modern", "its server/discover names a modern revision")


def test_server_that_exits_is_legacy():
    assert probed("input(); raise SystemExit(1)") == ("legacy", "it exited on server/discover")


def test_server_that_hangs_is_legacy_after_the_time_out_and_killed():
    started = time.monotonic()
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
    assert probed(code, 0.3) == ("legacy", "it did not answer server/discover within 0.3 s")
    assert time.monotonic() - started < 5


def test_server_that_floods_is_legacy_after_the_time_out():
    assert probed("while True: print('x' * 1000)", 0.3)[0] == "legacy"

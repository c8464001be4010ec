"""``dragoman probe -- COMMAND``: real servers, healthy and odd ones, each told for what it is."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path

import pytest

from dragoman.bridging.diagnosis import Diagnosis, Step
from dragoman.io.events import default_events
from dragoman.io.launcher import Launcher
from dragoman.wrap.probe_command import Patience, ProcessTalk, diagnose_command

ROOT = Path(__file__).parents[2]
LEGACY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "push_server.py")]
MODERN_ONLY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "modern_only_server.py")]
DUAL = [sys.executable, "-m", "dragoman", "wrap", "--", *LEGACY]
OFFERED = "initialize, offering 2025-11-25"
ACCEPTED = Step(OFFERED, "a result with protocolVersion 2025-11-25", "it accepts the handshake")
DISCOVERED = Step("server/discover", "a result with supportedVersions 2026-07-28", "its server/discover names a modern revision")
UNASKED = "whether it speaks 2026-07-28 too was not asked; --modern-first does, with a process more"
# ``{}`` to everything, which proves neither era.
EMPTY = """
for line in sys.stdin:
    answer(line, result={})
"""
NO_HANDSHAKE = """
for line in sys.stdin:
    answer(line, error={"code": -32601, "message": "Method not found"})
"""
PRELUDE = """
import json, os, sys
def answer(line, **members):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line).get("id"), **members}), flush=True)
def shake(line, version="2025-06-18"):
    answer(line, result={"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "odd", "version": "1"}})
"""


def small(code: str) -> list[str]:
    return [sys.executable, "-S", "-c", PRELUDE + code]


def probed(
    command: list[str], *, start: float | None = 30.0, discover: float = 30.0, modern_first: bool = False, every: bool = False
) -> Diagnosis:
    """The diagnosis; every process that was started has ended and is reaped."""
    path = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))
    events = default_events()
    launcher = Launcher(command, {**os.environ, "PYTHONPATH": path}, None, "the server")
    found = diagnose_command(lambda: ProcessTalk(launcher, events), Patience(start, discover), modern_first=modern_first, every=every)
    events.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    return found


def test_legacy_server_is_met_with_one_question():
    found = probed(LEGACY)
    assert (found.era, found.why, found.transport, found.legacy_revision) == ("legacy", "it accepts initialize", "stdio", "2025-11-25")
    assert found.server_info == {"name": "push-server", "version": "1.0.0"}
    assert found.capabilities is not None
    assert found.capabilities["resources"] == {"subscribe": True}
    assert (found.steps, found.notes, found.advice, found.stderr, found.offers) == ([ACCEPTED], [UNASKED], [], [], {})


def test_modern_only_server_is_asked_on_in_the_same_process():
    found = probed(MODERN_ONLY)
    refusal = Step(OFFERED, "error -32022 Unsupported protocol version (supported: 2026-07-28)", "it refuses the handshake")
    assert (found.era, found.why) == ("modern", "it refuses initialize and answers server/discover")
    assert (found.steps, found.supported, found.negotiated) == ([refusal, DISCOVERED], ["2026-07-28"], None)
    assert (found.server_info, found.notes, found.advice) == ({"name": "modern-only", "version": "2.1.0"}, [], [])


def test_server_of_both_eras_is_legacy_as_the_bridge_takes_it():
    found = probed(DUAL)
    assert (found.era, found.steps, found.notes) == ("legacy", [ACCEPTED], [UNASKED])


def test_server_of_both_eras_is_seen_when_modern_comes_first():
    found = probed(DUAL, modern_first=True)
    assert (found.era, found.steps) == ("dual", [DISCOVERED, ACCEPTED])
    assert found.why == "it answers server/discover, and accepts initialize too"
    assert found.advice == ["modern clients are served from its legacy side; dragoman wrap --probe prefers its modern one"]
    assert found.notes == []


def test_legacy_server_that_exits_on_discover_is_started_again_for_the_handshake():
    found = probed(LEGACY, modern_first=True)
    died = Step("server/discover", "no answer: the server exited with status 70", "no sign of 2026-07-28")
    assert (found.era, found.steps, found.stderr) == ("legacy", [died, ACCEPTED], [])


def test_legacy_server_that_is_silent_on_discover_is_asked_on():
    code = """
for line in sys.stdin:
    if "initialize" in line:
        shake(line)
"""
    found = probed(small(code), discover=0.3, modern_first=True)
    silent = Step("server/discover", "no answer within 0.3 s", "no sign of 2026-07-28")
    assert (found.era, found.steps[0], found.legacy_revision) == ("legacy", silent, "2025-06-18")


def test_modern_only_server_with_modern_first_refuses_the_handshake():
    found = probed(MODERN_ONLY, modern_first=True)
    assert (found.era, found.steps[0], found.steps[1].means) == ("modern", DISCOVERED, "it refuses the handshake")


def test_every_revision_is_offered_to_a_process_of_its_own():
    found = probed(LEGACY, every=True)
    assert found.offers == {version: version for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")}
    fixed = probed([*LEGACY, "--revision", "2025-03-26"], every=True)
    assert set(fixed.offers.values()) == {"2025-03-26"}


def test_modern_only_server_is_offered_no_revision():
    assert probed(MODERN_ONLY, every=True).offers == {}


def test_refusal_that_names_a_revision_is_followed_by_that_offer():
    code = """
for line in sys.stdin:
    if "2025-03-26" in line:
        shake(line, "2025-03-26")
    else:
        answer(line, error={"code": -32602, "message": "Unsupported", "data": {"supported": ["2024-11-05", "2025-03-26"]}})
"""
    found = probed(small(code))
    refused = Step(OFFERED, "error -32602 Unsupported (supported: 2024-11-05, 2025-03-26)", "it may accept 2025-03-26")
    again = Step("initialize, offering 2025-03-26", "a result with protocolVersion 2025-03-26", "it accepts the handshake")
    assert (found.era, found.steps, found.accepts_handshake) == ("legacy", [refused, again], True)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (EMPTY, [(OFFERED, "an empty result"), ("server/discover", "an empty result")]),
        (NO_HANDSHAKE, [(OFFERED, "error -32601 Method not found"), ("server/discover", "error -32601 Method not found")]),
    ],
)
def test_server_that_answers_both_like_no_server_is_unknown(code, words):
    found = probed(small(code))
    assert (found.era, found.why) == ("unknown", "it answers neither initialize nor server/discover as an MCP server does")
    assert [(step.asked, step.answered) for step in found.steps] == words


def test_silent_server_is_given_up_and_what_it_needs_is_told():
    started = time.monotonic()
    found = probed(small("import time; sys.stderr.write('loading\\n'); sys.stderr.flush(); time.sleep(1000)"), start=0.6, discover=0.2)
    assert [step.answered for step in found.steps] == ["no answer within 0.6 s", "no answer within 0.2 s"]
    assert (found.era, found.stderr) == ("unknown", ["loading"])
    assert found.advice == [
        "if it needs longer to start: --start-timeout SECONDS",
        "if it cannot bear initialize as its first message: --modern-first",
    ]
    assert time.monotonic() - started < 10


def test_modern_server_that_is_silent_on_initialize_is_found_and_the_option_told():
    code = """
for line in sys.stdin:
    if "server/discover" in line:
        answer(line, result={"resultType": "complete", "supportedVersions": ["2026-07-28"]})
"""
    found = probed(small(code), start=0.3)
    assert (found.era, found.why) == ("modern", "it does not answer initialize and answers server/discover")
    assert found.advice == ["give dragoman --server-era modern: by itself it waits for the answer to initialize"]


def test_server_that_dies_is_told_with_its_last_words():
    code = "sys.stderr.write(''.join(f'line {n}\\n' for n in range(30)) + '\\x1b[31mred\\n'); sys.exit(3)"
    found = probed(small(code))
    assert [step.answered for step in found.steps] == ["no answer: the server exited with status 3"]
    assert (found.era, found.stderr) == ("unknown", [*(f"line {n}" for n in range(21, 30)), "\\u001b[31mred"])


def test_flood_on_stderr_holds_nobody_up():
    code = "sys.stderr.write('e' * 3_000_000 + '\\n')\nfor line in sys.stdin:\n    shake(line)"
    found = probed(small(code))
    assert (found.era, found.stderr) == ("legacy", [])


def test_text_on_stdout_is_passed_over_and_noted():
    code = "print('Listening on stdio')\nprint('really', flush=True)\nfor line in sys.stdin:\n    shake(line)"
    found = probed(small(code))
    assert found.era == "legacy"
    assert found.notes[0] == "it writes text on stdout, where only messages belong (passed over): Listening on stdio"


def test_questions_of_the_server_are_answered_before_it_answers():
    code = """
first = sys.stdin.readline()
for number, method in enumerate(["ping", "roots/list"]):
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method}), flush=True)
answers = [json.loads(sys.stdin.readline()) for _ in range(2)]
assert answers[0] == {"jsonrpc": "2.0", "id": 0, "result": {}}, answers
assert answers[1]["error"]["code"] == -32601, answers
shake(first)
sys.stdin.read()
"""
    assert probed(small(code)).era == "legacy"


def test_error_without_an_id_is_taken_as_the_answer():
    code = "sys.stdin.readline(); print(json.dumps({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'Parse error'}}))"
    found = probed(small(code))
    assert found.steps[0].answered == "error -32700 Parse error"


def test_answer_to_something_else_is_none():
    code = "sys.stdin.readline(); print(json.dumps({'jsonrpc': '2.0', 'id': 7, 'result': {'protocolVersion': '2025-06-18'}}))"
    assert probed(small(code)).era == "unknown"


def test_line_of_endless_length_is_noise():
    code = "print('x' * 17_000_000, flush=True)\nfor line in sys.stdin:\n    shake(line)"
    found = probed(small(code))
    noise = "it writes text on stdout, where only messages belong (passed over): " + "x" * 59 + "…"
    assert (found.era, found.notes[0]) == ("legacy", noise)


def test_command_that_does_not_exist_is_told():
    found = probed(["no-such-program-of-anybody"])
    assert (found.era, found.steps) == ("unknown", [])
    assert found.why == "the command cannot be started: command not found: no-such-program-of-anybody"


def test_server_that_leaves_a_grandchild_is_ended_whole(tmp_path):
    file = tmp_path / "pid"
    code = f"""
pid = os.fork()
if pid == 0:
    import signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)
open({str(file)!r}, "w").write(json.dumps(pid))
for line in sys.stdin:
    shake(line)
"""
    assert probed(small(code)).era == "legacy"
    assert gone_within(json.loads(file.read_text()), 5)


def gone_within(pid: int, seconds: float) -> bool:
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)

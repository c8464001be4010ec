"""The harness of ``make bench-http`` gets right answers, and notices wrong ones. What it says of speed is no matter for a test."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
RUN = [sys.executable, "-W", "error", str(BENCHMARKS / "run_http.py"), "--quick"]

FIGURES = ["cold", "driver", "growth", "large", "latency_p50", "latency_p95", "memory", "processor", "throughput"]

# Started as dragoman is (serve --port PORT -- SERVER...), it has one answer to whatever it is sent: the bytes of a file beside it.
TALKER = """
import pathlib, socketserver, sys
ANSWER = pathlib.Path(__file__).with_name("answer").read_bytes()
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(65536):
            self.request.sendall(ANSWER)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
Server(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
"""


def ok(frame: str) -> str:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(frame)}\r\n\r\n{frame}"


def outcome(*arguments: str) -> dict[str, dict[str, dict[str, float]]]:
    ended = subprocess.run([*RUN, "--json", *arguments], capture_output=True, timeout=50, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    told: dict[str, dict[str, dict[str, float]]] = json.loads(ended.stdout)
    return told


def test_quick_run_against_the_floor_measures_every_quantity() -> None:
    told = outcome("--contenders", "floor")
    assert {quantity: sorted(values) for quantity, values in told["figures"].items()} == {key: ["bare ASGI"] for key in FIGURES}
    assert not any("met" in target for target in told["targets"])


def test_quick_run_of_dragoman_beside_the_floor_judges_every_target_of_the_two() -> None:
    told = outcome("--contenders", "floor,dragoman,legacy")
    figures = {quantity: sorted(values) for quantity, values in told["figures"].items()}
    assert figures == {key: ["bare ASGI", "dragoman", "dragoman, sessions"] for key in FIGURES}
    judged = [target["against"] for target in told["targets"] if target.get("met") is not None]
    assert judged == ["bare ASGI"] * 3


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", "no result for request 0"),
        (ok('{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete"}}'), "no result for request 0"),
        (ok('{"jsonrpc":"2.0","id":0,"result":{}}'), "result 0 is not marked complete"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n0\r\n\r\n", "no chunk begins at 10"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", "a chunk is not as long as it says"),
        (ok('{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete"}}') + "{}", "the body is not as long as the head says"),
    ],
    ids=["status", "id", "unmarked", "no chunk", "wrong chunk", "more"],
)
def test_contender_that_answers_wrongly_fails_the_run_and_says_how(answer: str, fault: str, tmp_path: Path) -> None:
    talker = tmp_path / "talker.py"
    talker.write_text(TALKER)
    (tmp_path / "answer").write_bytes(answer.encode())
    command = [*RUN, "--contenders", "dragoman", "--only", "latency", "--dragoman", f"{sys.executable} {talker}"]
    ended = subprocess.run(command, capture_output=True, timeout=50, check=False)
    assert ended.returncode == 1
    assert f"WrongAnswerError: {fault}" in ended.stderr.decode()


def test_answer_with_another_text_is_told_from_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    contenders = importlib.import_module("httpbench.contenders")
    contender = contenders.Contender("legacy", [], modern=False)
    stream = 'id: 1\ndata: \n\nevent: message\ndata: {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}}\n\n'
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(stream)}\r\n\r\n{stream}".encode()
    contender.check(answer, 3, "hi")
    with pytest.raises(Exception, match="wrong content for request 3"):
        contender.check(answer, 3, "ho")
    with pytest.raises(Exception, match="no result for request 4"):
        contender.check(answer, 4, "hi")

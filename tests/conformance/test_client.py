"""The host of the client leg and its browser: that they do what a scenario needs, and tell when they could not."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.client_stdio import answer_to, example, filled_in

HERE = Path(__file__).parent
SERVER = HERE.parent / "fixtures" / "modern_only_http.py"
LIMIT = 60


@pytest.fixture
def server() -> Iterator[str]:
    """The URL of a server that ends on any word of an earlier revision."""
    process = subprocess.Popen([sys.executable, str(SERVER), "--strict"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.stdout.close()
        assert process.wait(LIMIT) == 0


def run(script: str, url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / script), url]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, **environment}, check=False)


def answers(transcript: str) -> dict[int, dict[str, Any]]:
    """What the host was answered, by the id of its request."""
    frames = [json.loads(line.removeprefix("host < ")) for line in transcript.splitlines() if line.startswith("host < ")]
    return {frame["id"]: frame for frame in frames if "method" not in frame}


def requests(transcript: str) -> dict[int, str]:
    frames = [json.loads(line.removeprefix("host > ")) for line in transcript.splitlines() if line.startswith("host > ")]
    return {frame["id"]: frame["params"].get("name", frame["method"]) for frame in frames if "method" in frame and "id" in frame}


def test_host_uses_everything_of_a_modern_server_and_every_answer_is_a_result(server: str) -> None:
    done = run("client_stdio.py", server)
    asked, answered = requests(done.stdout), answers(done.stdout)
    assert done.returncode == 0, done.stderr
    assert answered.keys() == asked.keys()
    results = {asked[number]: frame["result"] for number, frame in answered.items()}
    assert results["test_simple_text"]["content"] == [{"type": "text", "text": "This is a simple text response for testing."}]
    assert results["test_input_required_result_multiple_inputs"]["content"][0]["text"] == "A sentence. a word, of 1 root(s)"
    assert len(results) > 30


def test_calls_are_all_sent_before_the_first_question_is_answered(server: str) -> None:
    lines = run("client_stdio.py", server).stdout.splitlines()
    last_call = max(number for number, line in enumerate(lines) if '"tools/call"' in line)
    first_question = min(number for number, line in enumerate(lines) if '"elicitation/create"' in line)
    assert last_call < first_question


def test_host_fails_when_one_of_its_requests_is_answered_with_an_error(server: str) -> None:
    prescribed = {"toolCalls": [{"name": "no_such_tool", "arguments": {}}]}
    done = run("client_stdio.py", server, MCP_CONFORMANCE_CONTEXT=json.dumps(prescribed))
    assert done.returncode == 1
    assert [frame["error"]["code"] for frame in answers(done.stdout).values() if "error" in frame] == [-32602]


def test_host_fails_where_there_is_no_server() -> None:
    with contextlib.closing(socket.socket()) as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        done = run("client_stdio.py", f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/mcp")
    assert done.returncode == 1
    assert "error" in answers(done.stdout)[1]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "default": 30}, 30),
        ({"type": "boolean", "default": False}, False),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "X"}]}, "x"),
        ({"type": "integer"}, 3),
        ({}, "a word"),
    ],
)
def test_field_is_left_as_it_was_filled_in_or_gets_a_value_of_its_type(schema: dict[str, Any], value: object) -> None:
    assert example(schema) == value


def test_form_without_fields_is_sent_back_empty() -> None:
    assert filled_in({"type": "object"}) == {}


def test_question_that_no_host_of_its_time_knew_has_no_answer() -> None:
    assert answer_to("server/discover", {}) is None
    assert answer_to("ping", {}) == {}


class Pages(BaseHTTPRequestHandler):
    """``/authorize`` sends the browser on to ``/callback``, and everything else is a refusal."""

    def do_GET(self) -> None:
        self.server.visited.append(self.path)  # type: ignore[attr-defined]
        status = {"/authorize": 302, "/callback?code=1": 200}.get(self.path, 400)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/callback?code=1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Pages) as server:
        server.visited = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("page", "visited", "status"),
    [("/authorize", ["/authorize", "/callback?code=1"], 0), ("/elsewhere", ["/elsewhere"], 1)],
)
def test_browser_goes_where_it_is_sent_and_tells_of_a_bad_last_page(site: HTTPServer, page: str, visited: list[str], status: int) -> None:
    done = run("client_browser.py", f"http://127.0.0.1:{site.server_port}{page}")
    assert (site.visited, done.returncode) == (visited, status)  # type: ignore[attr-defined]

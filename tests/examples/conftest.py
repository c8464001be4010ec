"""Every example as a real process, and a client of each revision for it. A module of tests names its example by ``SERVER``.

A process over HTTP serves all tests of its example; over stdio a process has one client, so each revision has its own.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.examples.raw import LIMIT, WAYS, Http, Peer, Sse, Stdio, unexpected

from oracle import Oracle

ROOT = Path(__file__).resolve().parents[2]
SOURCES = os.pathsep.join(str(ROOT / name) for name in ("compat", "specs", "migrations"))
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")])), "PYTHONWARNINGS": "error"}
RUNNING = re.compile(r"Uvicorn running on http://127\.0\.0\.1:(\d+) ")


@contextmanager
def over_http(server: str) -> Iterator[int]:
    """The port of an example under uvicorn, as its README starts it. In the end nothing may stand in its log but its life."""
    command = [sys.executable, "-m", "uvicorn", "--app-dir", "examples", f"{server}:app", "--port", "0", "--no-access-log"]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stderr is not None
    log: list[str] = []
    ports: list[int] = []
    known = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            log.append(line)
            if (found := RUNNING.search(line)) is not None:
                ports.append(int(found[1]))
                known.set()
        known.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert known.wait(LIMIT)
        assert ports, "".join(log)
        yield ports[0]
    finally:
        process.terminate()
        try:
            status = process.wait(LIMIT)
        finally:
            process.kill()
            process.wait()
            reader.join(LIMIT)
            process.stderr.close()
    assert status == -signal.SIGTERM, "".join(log)
    assert [line for line in log if not line.startswith("INFO:")] == []


@contextmanager
def over_stdio(server: str, revision: str, oracle: Oracle) -> Iterator[Stdio]:
    """A client of an example's own process. In the end its status is 0 and it has written nothing to stderr."""
    command = [sys.executable, f"examples/{server}.py"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, text=True, encoding="utf-8", **pipes) as process:  # type: ignore[call-overload]
        try:
            peer = Stdio(oracle, revision, process)
            yield peer
            process.stdin.close()
            assert (process.wait(LIMIT), process.stderr.read()) == (0, "")
            peer.inbox.join()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def http_port() -> Iterator[Callable[[str], int]]:
    """The port of each example, started when it is first asked for."""
    ports: dict[str, int] = {}
    with ExitStack() as stack:

        def port(server: str) -> int:
            if server not in ports:
                ports[server] = stack.enter_context(over_http(server))
            return ports[server]

        yield port


@pytest.fixture(scope="module", params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """A transport and a revision. Of the module's scope, so that the tests of one way follow one another and share a process."""
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def stdio_peer(request: pytest.FixtureRequest, way: str, oracle: Oracle) -> Iterator[Stdio | None]:
    """The client of the module's example on stdio, where that is the way."""
    transport, revision = way.split()
    if transport != "stdio":
        yield None
        return
    with over_stdio(request.module.SERVER, revision, oracle) as peer:
        yield peer


@pytest.fixture
def peer(
    request: pytest.FixtureRequest, way: str, oracle: Oracle, http_port: Callable[[str], int], stdio_peer: Stdio | None
) -> Iterator[Peer]:
    """A client of each revision over each transport, for the module's example."""
    transport, revision = way.split()
    if stdio_peer is not None:
        stdio_peer.answer = unexpected
        stdio_peer.asked.clear()
        stdio_peer.told.clear()
        yield stdio_peer
        return
    made = (Http if transport == "http" else Sse)(oracle, revision, http_port(request.module.SERVER))
    yield made
    made.close()

"""The server leg: the suite is the client, and calls ``dragoman serve`` with a server of ours behind it, or a server on the library.

A server behind the bridge is started by it and spoken to over its stdio, or, where the run says so, it listens on a port of its own and
dragoman is given its URL. All are started on free ports and ended by SIGTERM; how they end is a part of the run.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from runs import Run
from suite import ROOT, TESTS, Broken, call, node

LISTENING, LISTENING_ITSELF = "dragoman: listening on ", "listening on "
FAULTS = ("Traceback", "was shown a modern word", "was shown a legacy word", "got a response to nothing")
START, STOP = 30.0, 20.0
ENDED = 128 + signal.SIGTERM
"""Its exit status after an orderly end by SIGTERM."""
HOST_ENDED = -signal.SIGTERM
"""The same of uvicorn: after an orderly end it lets the signal have its way."""


class Started:
    """A process that says in one line where it listens. A thread reads that stream of it to the end."""

    def __init__(self, name: str, command: list[str], prefix: str, stream: str, ends: tuple[int, ...]) -> None:
        self._name, self._prefix, self._ends = name, prefix, ends
        into = {"stdout": subprocess.DEVNULL, "stderr": None, stream: subprocess.PIPE}
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True, **into)
        self._stream = getattr(self._process, stream)
        self._lines: list[str] = []
        self._url: str | None = None
        self._listens = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._stream:
            self._lines.append(line)
            if line.startswith(self._prefix) and self._url is None:
                self._url = line.removeprefix(self._prefix).strip()
                self._listens.set()
        self._listens.set()

    def url(self) -> str:
        """Where it listens, as soon as it says so."""
        if not self._listens.wait(START) or self._url is None:
            raise Broken(f"{self._name} does not listen:\n{self.words()}")
        return self._url

    def words(self) -> str:
        return "".join(self._lines[-30:])

    def stop(self) -> list[str]:
        """End it in order; the answer is what was wrong with it."""
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return [f"{self._name} did not end within {STOP:.0f} seconds of SIGTERM"]
        self._reader.join(STOP)
        wrong = [line.strip() for line in self._lines if any(word in line for word in FAULTS)]
        return wrong + ([] if status in self._ends else [f"{self._name} exited with status {status}, not {self._ends[0]}"])


@contextlib.contextmanager
def behind(run: Run, wrong: list[str]) -> Iterator[list[str]]:
    """What to tell ``dragoman serve`` of its server: the command, or the URL of the one that was started; what is called directly is the
    command itself.
    """
    runs_it = node() if run.server.endswith(".mjs") else sys.executable
    command = [runs_it, str(TESTS / run.server), *run.arguments]
    if run.direct:
        yield command
        return
    if not run.by_url:
        yield ["--", *command]
        return
    if run.server.endswith(".mjs") and not (TESTS / run.server).with_name("node_modules").is_dir():
        raise Broken(f"the packages of {run.server} are not installed: npm ci --prefix tests/{Path(run.server).parent}")
    server = Started(run.server, command, "http://", "stdout", (0,))
    try:
        yield ["http://" + server.url()]
    finally:
        wrong += server.stop()


def called(run: Run, server: list[str]) -> Started:
    """What the suite calls."""
    if run.direct:
        return Started(run.server, server, LISTENING_ITSELF, "stderr", (HOST_ENDED,))
    command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *server]
    return Started("dragoman serve", command, LISTENING, "stderr", (ENDED,))


def measure(run: Run, folder: Path) -> list[str]:
    """Carry out one run; the answer is what was wrong beside the checks."""
    wrong: list[str] = []
    with behind(run, wrong) as server:
        face = called(run, server)
        try:
            with (folder / "suite.txt").open("w", encoding="utf-8") as said:
                # Its exit status is 1 where a required scenario fails, which some runs expect; what counts is what it wrote.
                call(["server", "--url", face.url(), "--requirements", run.requirements], folder, said)
        finally:
            wrong += face.stop()
            (folder / "bridge.txt").write_text(face.words(), encoding="utf-8")
    return wrong

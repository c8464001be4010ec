"""``dragoman serve`` as a process in front of real servers, and its application in hosts of other people's."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from tests.serve.wire import Answer, Connection

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))}
LEGACY = [sys.executable, "-S", str(ROOT / "tests" / "peers" / "legacy_server.py"), "--revision", "2025-11-25"]
HURRIED = Path(__file__).with_name("hurried.py")


class Served:
    """A running ``dragoman serve``; ``hurried`` names limits that are shortened for the test, see hurried.py."""

    def __init__(self, options: list[str], command: list[str], hurried: dict[str, float]) -> None:
        start = [str(HURRIED), *(f"{name}={value}" for name, value in hurried.items()), "--"] if hurried else ["-m", "dragoman"]
        words = [*start, "serve", "--port", "0", *options, "--", *command]
        self.process = subprocess.Popen([sys.executable, *words], stdin=-1, stdout=-1, stderr=-1, env=ENVIRONMENT, bufsize=0)
        self.told: list[str] = []
        self.url = self.listen_for("listening on ").partition("listening on ")[2]
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def listen_for(self, words: str) -> str:
        """Read stderr on to the first line that holds ``words``; the answer is that line."""
        for line in iter(self.process.stderr.readline, b""):
            self.told.append(line.decode().removesuffix("\n"))
            if words in self.told[-1]:
                return self.told[-1]
        raise AssertionError(f"the operator was not told {words!r}, but {self.told}")

    def connect(self, **options: int) -> Connection:
        return Connection(self.port, **options)

    def ask(self, data: bytes) -> Answer:
        """One request on a connection of its own."""
        with self.connect() as connection:
            return connection.ask(data)

    def children(self) -> dict[int, str]:
        """Its direct children, see ``children_of``."""
        return children_of(self.process.pid)

    def lets_in(self) -> bool:
        """Whether it still accepts connections."""
        try:
            self.connect().close()
        except ConnectionError:
            return False
        return True

    def descriptors(self) -> int:
        """How many are open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def memory(self) -> int:
        """The most bytes that it has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    def notify(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, list[str]]:
        """Send a signal and wait: the exit status, and all that was told on stderr."""
        self.notify(number)
        return self.wait()

    def wait(self) -> tuple[int, list[str]]:
        rest = self.process.stderr.read().decode()
        return self.process.wait(), [*self.told, *rest.splitlines()]

    def dispose(self) -> None:
        """After a test, whatever became of it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """``serve("--max-body", "1K", command=[...], HEAD_TIME=0.2)``: a running bridge, ended after the test."""
    running: list[Served] = []

    def start(*options: str, command: list[str] | None = None, **hurried: float) -> Served:
        running.append(Served(list(options), command or LEGACY, hurried))
        return running[-1]

    yield start
    for served in running:
        served.dispose()


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One bridge for the tests of a module that leave it as it was."""
    served = Served([], LEGACY, {})
    yield served
    served.dispose()


class Host:
    """uvicorn in a thread: somebody else's process around the application."""

    def __init__(self, app: object, **config: object) -> None:
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", access_log=False, **config))
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self) -> int:
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.01)
        return self._server.servers[0].sockets[0].getsockname()[1]

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def host() -> type[Host]:
    """``with host(app, lifespan="on") as port``."""
    return Host


def children_of(parent: int) -> dict[int, str]:
    """The direct children of a process by their pids, and the state of each ("Z": a zombie)."""
    found: dict[int, str] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, ppid = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if int(ppid) == parent:
            found[int(entry.parent.name)] = state
    return found


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether a process that is not ours is gone, or goes in time."""
    import select

    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended = bool(select.select([fd], [], [], seconds)[0])
    os.close(fd)
    return ended

"""Real bridges between this test and real servers."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RELAY = Path(__file__).with_name("relay.py")


class Process:
    """A process that this test did not start, held by a pidfd: its end can be waited for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def ends_within(self, seconds: float) -> bool:
        """Whether it ends in time."""
        ended = bool(select.select([self._fd], [], [], seconds)[0])
        os.close(self._fd)
        return ended


class Bridge:
    """A running relay (relay.py) or ``dragoman wrap``, and both ends of its streams."""

    def __init__(
        self, command: list[str], *, stderr: int = subprocess.PIPE, stdin: int = subprocess.PIPE, stdout: int = subprocess.PIPE
    ) -> None:
        path = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))
        self.process = subprocess.Popen(
            [sys.executable, *command], stdin=stdin, stdout=stdout, stderr=stderr, env={**os.environ, "PYTHONPATH": path}, bufsize=0
        )
        self._rest = b""

    def send(self, data: bytes) -> None:
        """Write all of ``data``."""
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def send_what_fits(self, data: bytes, patience: float = 0.3) -> int:
        """Write until nobody has taken anything for a while; the answer is how much went out."""
        assert self.process.stdin is not None
        fd = self.process.stdin.fileno()
        os.set_blocking(fd, False)
        view = memoryview(data)
        while view and select.select([], [fd], [], patience)[1]:
            view = view[os.write(fd, view) :]
        os.set_blocking(fd, True)
        return len(data) - len(view)

    def line(self) -> bytes:
        """The next line of stdout, without its newline; b"" at the end."""
        while b"\n" not in self._rest:
            data = self._read()
            if not data:
                return self._rest
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def rest(self) -> bytes:
        """Everything up to the end of stdout."""
        chunks = [self._rest]
        while data := self._read():
            chunks.append(data)
        self._rest = b""
        return b"".join(chunks)

    def take(self, size: int) -> bytes:
        """Exactly so many bytes (fewer at the end)."""
        chunks = [self._rest]
        left = size - len(self._rest)
        while left > 0 and (data := self._read()):
            chunks.append(data)
            left -= len(data)
        whole = b"".join(chunks)
        self._rest = whole[size:]
        return whole[:size]

    def end_input(self) -> None:
        """EOF on the bridge's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def finish(self) -> tuple[bytes, bytes, int]:
        """EOF, and what is left: stdout, stderr, status."""
        if self.process.stdin is not None:
            self.end_input()
        out = self.rest()
        err = self.process.stderr.read() if self.process.stderr is not None else b""
        return out, err, self.process.wait()

    def children(self) -> list[int]:
        """The pids of the bridge's direct children, zombies too."""
        return [int(pid) for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]

    def memory(self) -> int:
        """The most bytes that the bridge has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    def signal(self, number: int) -> None:
        """Send a signal to the bridge."""
        self.process.send_signal(number)

    def dispose(self) -> None:
        """After a test, whatever became of it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> bytes:
        assert self.process.stdout is not None
        return os.read(self.process.stdout.fileno(), 1 << 20)


Start = Callable[..., Bridge]


@pytest.fixture
def launched() -> Iterator[Callable[..., Bridge]]:
    """Starts a bridge from the interpreter's arguments; ends it after the test."""
    bridges: list[Bridge] = []

    def launch(command: list[str], **streams: int) -> Bridge:
        bridges.append(Bridge(command, **streams))
        return bridges[-1]

    yield launch
    for bridge in bridges:
        bridge.dispose()


@pytest.fixture(params=["poll", "threads"])
def relay(request: pytest.FixtureRequest, launched: Callable[..., Bridge]) -> Start:
    """``relay(code, "--max-line", "5")``: a bridge in front of the Python program ``code``, with both kinds of events."""

    def start(code: str = "", *options: str, command: list[str] | None = None, **streams: int) -> Bridge:
        kind = ["--threads"] if request.param == "threads" else []
        server = command if command is not None else [sys.executable, "-S", "-u", "-c", code]
        return launched([str(RELAY), *kind, *options, "--", *server], **streams)

    return start


@pytest.fixture
def held() -> Callable[[int], Process]:
    """Takes hold of a process by its pid."""
    return Process

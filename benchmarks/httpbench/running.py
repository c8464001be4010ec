"""A running contender: its port, its processes, what they cost, and the clients that talk to it."""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shared import WrongAnswerError

from . import wire
from .apps import LARGE_PATH, PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .contenders import Contender

PATIENCE = 120.0
"""Seconds after which a silent contender is killed, so that a run always ends."""

SERVER = b"tiny_server.py"


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port: int = line.getsockname()[1]
        return port


class Running:
    """One contender, started on a free port."""

    def __init__(self, contender: Contender) -> None:
        """Start it; what it says on standard error is kept for the case that it fails."""
        self.contender = contender
        self.port = free_port()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        command = [str(self.port) if word == "PORT" else word for word in contender.command]
        nowhere = subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=self._errors)

    def connect(self) -> socket.socket:
        """A connection, as soon as somebody listens."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return wire.connect(self.port)
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise WrongAnswerError(f"{self.contender.name} does not listen") from None
                time.sleep(0.001)

    def request(self, frame: dict[str, object], session: str | None, large: bool = False) -> bytes:
        """One frame as a POST of this contender's client; the floor has its big answer on a path of its own."""
        path = LARGE_PATH if large and self.contender.constant else PATH
        return wire.post(self.port, path, self.contender.headers(frame, session), frame)

    def first_answer(self, line: socket.socket) -> str | None:
        """Begin a conversation: the id of its session, if it has one."""
        _, data = wire.ask(line, self.request(self.contender.opening(), None))
        self.contender.result(data, 0)
        return wire.parsed(data).headers.get("mcp-session-id")

    def open(self, line: socket.socket) -> str | None:
        """Begin a conversation and end its handshake."""
        session = self.first_answer(line)
        if not self.contender.modern:
            _, data = wire.ask(line, self.request({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}, session))
            if wire.parsed(data).status != 202:
                raise WrongAnswerError(f"{self.contender.name} took no notification: {data[:300]!r}")
        return session

    def calls(self, first: int, count: int, text: str, session: str | None) -> list[bytes]:
        """``count`` small calls with the ids from ``first`` on."""
        made = (self.contender.call(number, "echo", {"text": text}) for number in range(first, first + count))
        return [self.request(frame, session) for frame in made]

    def resident(self) -> float | None:
        """The resident memory of the bridge's processes, not of the servers behind it, in MB; none where the system does not tell."""
        try:
            told = (Path(f"/proc/{pid}/status").read_text("ascii").splitlines() for pid in self._family())
            return sum(int(line.split()[1]) * 1024 / 1e6 for status in told for line in status if line.startswith("VmRSS"))
        except OSError:
            return None

    def processor_time(self) -> int | None:
        """Nanoseconds of processor time that all threads of the bridge's processes have used; none where the system does not tell."""
        try:
            paths = (path for pid in self._family() for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))
            return sum(int(path.read_text("ascii").split()[0]) for path in paths) or None
        except OSError:
            return None

    def _family(self) -> list[int]:
        """The process and its descendants, but for the tiny servers: some ASGI servers work in a process of their own."""
        found, new = [self.process.pid], [self.process.pid]
        while new:
            tasks = (path for pid in new for path in Path(f"/proc/{pid}/task").glob("*/children"))
            born = [int(word) for path in tasks for word in path.read_text("ascii").split()]
            new = [pid for pid in born if SERVER not in Path(f"/proc/{pid}/cmdline").read_bytes()]
            found += new
        return found

    def close(self) -> None:
        """Ask it to end, then wait; a contender that stays is killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._errors.close()

    def complaint(self) -> str:
        """The end of what the contender wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Kill the contender if it keeps its clients waiting too long; they then see their connections end."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

"""``dragoman serve`` as a process: started on a free port, found by the line that it writes when it listens, ended by SIGTERM.

Everything that it starts is looked for in ``/proc``, so that a process which outlives it is seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

from harness import PEERS, SOURCES
from pipe import gone_within

LISTENING = re.compile(r"dragoman: listening on http://127\.0\.0\.1:(\d+)(/\S*)")
START, STOP = 30.0, 15.0


class Served:
    """A context manager around ``dragoman serve OPTIONS -- SERVER``; leaving it asserts that nothing is left behind."""

    def __init__(self, folder: Path, server: list[str], *options: str, tapped: bool = True) -> None:
        self.errors = folder / "stderr"
        self.server_tap = folder / "server.jsonl"
        self.port, self.path = 0, ""
        self._server = server
        tap = [sys.executable, str(PEERS / "tap.py"), str(self.server_tap), "--"] if tapped else []
        self._command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, "--", *tap, *server]
        self._listening = threading.Event()

    def __enter__(self) -> Self:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))}
        self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(START) or not self.port:
            self.process.kill()
            self.process.wait()
            self._reader.join()
            raise AssertionError(f"no line says that it listens:\n{self.stderr()[-3000:]}")
        return self

    def _read(self) -> None:
        """Keep what it writes to stderr; the line that it listens is told once."""
        assert self.process.stderr is not None
        with self.process.stderr as source, self.errors.open("wb") as kept:
            for line in source:
                kept.write(line)
                kept.flush()
                found = LISTENING.match(line.decode("utf-8", "replace"))
                if found and not self._listening.is_set():
                    self.port, self.path = int(found[1]), found[2]
                    self._listening.set()
        self._listening.set()  # at its end nobody need wait any longer

    def __exit__(self, kind: object, fault: BaseException | None, *_: object) -> None:
        started = descendants(self.process.pid)
        try:
            status = self.stop()
        finally:
            if fault is not None:
                fault.add_note("stderr of dragoman serve:\n" + self.stderr()[-3000:])
        if fault is None:
            assert status == 143, self.stderr()[-3000:]  # ended by SIGTERM, in order
            assert [pid for pid in started if not gone_within(pid, 5)] == []

    def stop(self) -> int:
        """SIGTERM and the exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still there {STOP} s after SIGTERM") from None
        finally:
            self._reader.join()

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8", errors="replace") if self.errors.exists() else ""

    def url(self, path: str | None = None) -> str:
        return f"http://127.0.0.1:{self.port}{self.path if path is None else path}"

    def servers(self) -> list[int]:
        """The processes of the server that live now: those below the bridge that run its command and nothing before it."""
        return [pid for pid in descendants(self.process.pid) if command_line(pid) == self._server]

    def unreaped(self) -> list[int]:
        """Children of the bridge that have ended and that it has not asked for their status."""
        return [pid for pid, parent, state in processes() if parent == self.process.pid and state == "Z"]

    def descriptors(self) -> int:
        """How many files and connections the bridge holds open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def health(self) -> dict[str, Any]:
        with urllib.request.urlopen(self.url("/healthz"), timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def health_becomes(self, **counts: int) -> None:
        """Wait, bounded, until these counts are reported: what a client's leaving sets going takes a moment."""
        limit = time.monotonic() + 10
        found: dict[str, Any] = {}
        while time.monotonic() < limit:
            found = self.health()
            if found | counts == found:
                return
            time.sleep(0.02)
        raise AssertionError(f"{counts} is not reached: {found}")


def command_line(pid: int) -> list[str]:
    """The words of a process's command line; none when it is no more."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace").split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def processes() -> list[tuple[int, int, str]]:
    """Of every process that there is: its number, its parent's, and its state."""
    found: list[tuple[int, int, str]] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.append((int(stat.parent.name), int(parent), state))
    return found


def descendants(pid: int) -> list[int]:
    """The processes that descend from this one, zombies left out."""
    children: dict[int, list[int]] = {}
    for number, parent, state in processes():
        if state != "Z":
            children.setdefault(parent, []).append(number)
    found: list[int] = []
    todo = [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found

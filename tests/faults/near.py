"""``dragoman wrap URL`` and ``dragoman serve URL`` as processes, spoken to over pipes and sockets."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Self

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
SOURCES = os.pathsep.join(str(ROOT / name) for name in ("compat", "specs", "migrations"))
LIMIT = 25.0
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "near", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTENING = re.compile(r"dragoman: listening on (http://\S+)")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def environment(extra: dict[str, str]) -> dict[str, str]:
    """This one without its proxies, and with ``extra``."""
    kept = {name: value for name, value in os.environ.items() if name.upper() not in _PROXIES}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")])), **extra}


class Wrapped:
    """A context manager around ``dragoman wrap``: leaving it closes stdin, and asserts that it ends in order."""

    def __init__(self, folder: Path, url: str, *options: str, **env: str) -> None:
        self.errors = folder / "stderr"
        self.frames: list[Json] = []
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reading = threading.Event()
        self._reading.set()
        self._next = 0
        command = [sys.executable, "-m", "dragoman", "wrap", *options, url]
        with self.errors.open("wb") as errlog:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errlog, env=environment(env), bufsize=0
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        pieces: list[bytes] = []
        while True:
            self._reading.wait()
            data = self.process.stdout.read(1 << 16)
            if not data:
                break
            pieces.append(data)
            if b"\n" in data:
                *lines, last = b"".join(pieces).split(b"\n")
                pieces = [last]
                for line in lines:
                    self._lines.put(line)
        self._lines.put(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, fault: BaseException | None, *_: object) -> None:
        self._reading.set()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self._reader.join()
        self.process.stdout.close()
        if fault is not None:
            fault.add_note("stderr:\n" + self.stderr()[-3000:])
            return
        assert status == 0, f"status {status}: {self.stderr()[-3000:]}"
        assert "internal fault" not in self.stderr()
        assert "Traceback" not in self.stderr()

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def send(self, frame: Json) -> None:
        """One message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")

    def ask(self, method: str, params: Json | None = None) -> int:
        """A modern request; its id."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": {**(params or {}), "_meta": META}})
        return self._next

    def call(self, name: str, **arguments: Any) -> int:
        """A modern call of a tool; its id."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def legacy(self, method: str, params: Json | None = None) -> int:
        """A legacy request; its id."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}})
        return self._next

    def legacy_call(self, name: str, **arguments: Any) -> int:
        return self.legacy("tools/call", {"name": name, "arguments": arguments})

    def initialize(self) -> Json:
        """The handshake of a legacy client."""
        found = self.answer(
            self.legacy("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "near", "version": "1"}})
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def line(self, limit: float = LIMIT) -> bytes:
        """The next line; fails when none comes in time, or at the end."""
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            raise AssertionError(f"no line in {limit} s; so far: {self.frames}") from None
        assert line, f"the bridge has ended: {self.stderr()[-2000:]}"
        return line

    def frame(self, limit: float = LIMIT) -> Json:
        frame: Json = json.loads(self.line(limit))
        self.frames.append(frame)
        return frame

    def answer(self, own: int, limit: float = LIMIT) -> Json:
        """The answer to a request; what else comes is kept in ``frames``."""
        deadline = time.monotonic() + limit
        found = next((frame for frame in self.frames if frame.get("id") == own and "method" not in frame), None)
        while found is None:
            frame = self.frame(max(0.0, deadline - time.monotonic()))
            found = frame if frame.get("id") == own and "method" not in frame else None
        return found

    def said(self, own: int) -> str:
        """The text that a call came to."""
        answer = self.answer(own)
        assert "result" in answer, answer
        return str(answer["result"]["content"][0]["text"])

    def error(self, own: int) -> Json:
        answer = self.answer(own)
        assert "error" in answer, answer
        return dict(answer["error"])

    def note(self, method: str, limit: float = LIMIT) -> Json:
        """The first notification of a method."""
        deadline = time.monotonic() + limit
        while True:
            found = next((frame for frame in self.frames if frame.get("method") == method), None)
            if found is not None:
                return found
            self.frame(max(0.0, deadline - time.monotonic()))

    def stop_reading(self) -> None:
        """Take nothing more, but for what was asked for already."""
        self._reading.clear()

    def go_on_reading(self) -> None:
        self._reading.set()

    def memory(self) -> int:
        """Resident bytes, the most there ever were."""
        return most_memory(self.process.pid)


def most_memory(pid: int) -> int:
    """The most resident bytes that a process ever had; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


class Served:
    """``dragoman serve URL``; leaving it sends SIGTERM."""

    def __init__(self, folder: Path, url: str, *options: str, **env: str) -> None:
        command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, url]
        self.errors = folder / "stderr"
        self.url = ""
        self._listening = threading.Event()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(env))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as source, self.errors.open("wb") as kept:
            for line in source:
                kept.write(line)
                kept.flush()
                found = LISTENING.match(line.decode("utf-8", "replace"))
                if found:
                    self.url = found[1]
                    self._listening.set()
        self._listening.set()

    def __enter__(self) -> Self:
        self._listening.wait(LIMIT)
        if not self.url:
            self.process.kill()
            self.process.wait()
            self._reader.join()
            raise AssertionError(f"no line says that it listens:\n{self.stderr()[-3000:]}")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._reader.join()
        assert "Traceback" not in self.stderr()
        assert "internal fault" not in self.stderr()

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def post(self, method: str, params: Json | None = None, **fields: str) -> tuple[int, dict[str, str], Json]:
        """A modern request: status, fields and message."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": META}}).encode()
        named = {"mcp-name": str((params or {})["name"])} if "name" in (params or {}) else {}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **named,
            **{name.replace("_", "-"): value for name, value in fields.items()},
        }
        asked = urllib.request.Request(self.url, body, headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Plain())
        with opener.open(asked, timeout=LIMIT) as answer:
            given = {name.lower(): value for name, value in answer.headers.items()}
            data = answer.read()
        if given.get("content-type", "").startswith("text/event-stream"):
            data = next(line[5:] for line in reversed(data.split(b"\n")) if line.startswith(b"data:"))
        return answer.status, given, json.loads(data)


class _Plain(urllib.request.HTTPErrorProcessor):
    """Statuses are answers."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

"""A raw client: writes lines to a process and reads lines with a deadline, judging every frame as it comes.

Used where the official client would hide what matters (exact bytes, ids, order) or cannot survive it (nesting, malformed results).
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from harness import SOURCES

from faces import ClientFace
from oracle import JsonObject, Oracle

ENVELOPE: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "pipe", "version": "1"},
}
DEADLINE = 20.0


class Pipe:
    """``dragoman wrap -- SERVER`` as a process, spoken to line by line. A context manager: leaving it ends the process."""

    def __init__(self, folder: Path, oracle: Oracle, server: list[str], options: tuple[str, ...] = ()) -> None:
        self.face = ClientFace(oracle)
        self.errors = folder / "stderr"
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._next = 0
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))}
        command = [sys.executable, "-m", "dragoman", "wrap", *options, "--", *server]
        with self.errors.open("wb") as errlog:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errlog, env=environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, fault: BaseException | None, *_: object) -> None:
        if fault is not None:
            fault.add_note("stderr:\n" + self.stderr()[-3000:])
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def stderr(self) -> str:
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def write(self, line: str) -> None:
        """Write one line as it is."""
        assert self.process.stdin is not None
        self.face.from_client(line)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: JsonObject | None = None, meta: JsonObject | None = None) -> int:
        """Send a modern request and return its id."""
        self._next += 1
        whole = {**(params or {}), "_meta": ENVELOPE | (meta or {})}
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": whole}))
        return self._next

    def maybe_line(self) -> bytes:
        """The next line as it came, empty at the end of the stream; silence is a failure."""
        try:
            return self._lines.get(timeout=DEADLINE)
        except queue.Empty:
            raise AssertionError(f"no frame within {DEADLINE} s") from None

    def line(self) -> bytes:
        """The next line as it came; the end of the stream is a failure too."""
        line = self.maybe_line()
        assert line, "the bridge closed its stdout"
        return line

    def read(self) -> JsonObject:
        """The next frame, judged."""
        line = self.line()
        self.face.to_client(line)
        frame: JsonObject = json.loads(line)
        return frame

    def response(self, request_id: Any) -> JsonObject:
        """Read on until this request is answered."""
        while True:
            frame = self.read()
            if "method" not in frame and frame.get("id") == request_id:
                return frame

    def ask(self, method: str, params: JsonObject | None = None, meta: JsonObject | None = None) -> JsonObject:
        return self.response(self.send(method, params, meta))

    def call(self, tool: str, meta: JsonObject | None = None, **arguments: Any) -> JsonObject:
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, meta)

    def leave(self) -> int:
        """Close stdin and wait: the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(DEADLINE)


def alive(pid: int) -> bool:
    """True while the process exists and is no zombie."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone_within(pid: int, seconds: float) -> bool:
    """Wait, bounded, until a process that is not our child has gone: there is nothing to wait on but its absence."""
    limit = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not alive(pid)

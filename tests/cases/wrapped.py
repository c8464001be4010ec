"""``dragoman wrap`` as a process in front of ``small_server.py``, every frame to the client judged by the oracle."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.io.conftest import Bridge, Process

from faces import ClientFace
from oracle import JsonObject, Oracle

SERVER = Path(__file__).with_name("small_server.py")
META: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wrapped(Bridge):
    """The bridge, a modern client's words for it, and what the servers behind it were shown."""

    def __init__(self, folder: Path, oracle: Oracle, quirk: str, *options: str) -> None:
        self.seen_at = folder / "seen"
        self._face = ClientFace(oracle)
        self._next = 0
        server = [sys.executable, "-S", str(SERVER), str(self.seen_at), quirk]
        super().__init__(["-m", "dragoman", "wrap", *options, "--", *server])

    # -- the client ------------------------------------------------------------------------------------------------

    def write(self, line: bytes) -> None:
        """One line as it is."""
        self._face.from_client(line)
        self.send(line + b"\n")

    def frame(self, frame: JsonObject) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False).encode())

    def request(self, method: str, **params: Any) -> int:
        """A modern request; the answer is its id."""
        self._next += 1
        self.frame({"id": self._next, "method": method, "params": {**params, "_meta": META}})
        return self._next

    def read(self) -> JsonObject:
        """The next frame to the client; the end of the stream is a failure."""
        line = self.line()
        assert line, "the bridge closed its stdout"
        self._face.to_client(line)
        frame: JsonObject = json.loads(line)
        return frame

    def call(self, tool: str, **arguments: Any) -> int:
        return self.request("tools/call", name=tool, arguments=arguments)

    def said(self, tool: str, **arguments: Any) -> str:
        """Call a tool that answers with one text, and that text."""
        number = self.call(tool, **arguments)
        answer = self.read()
        assert answer.get("id") == number, answer
        return str(answer["result"]["content"][0]["text"])

    # -- the servers -------------------------------------------------------------------------------------------------

    def seen(self) -> list[JsonObject]:
        """What the servers wrote down, in order."""
        return [json.loads(line) for line in self.seen_at.read_text("utf-8").splitlines()] if self.seen_at.exists() else []

    def shown_to(self, pid: int) -> list[str]:
        """The methods that one process was shown."""
        return [json.loads(entry["line"])["method"] for entry in self.seen() if entry["pid"] == pid and "line" in entry]

    def shown_to_others(self, pid: int) -> list[str]:
        """The methods that all other processes were shown."""
        lines = [entry["line"] for entry in self.seen() if entry["pid"] != pid and "line" in entry]
        return [json.loads(line)["method"] for line in lines]

    # -- the operator --------------------------------------------------------------------------------------------------

    def told(self, words: str) -> str:
        """Read stderr on to the first line that holds ``words``; the answer is that line."""
        assert self.process.stderr is not None
        for line in iter(self.process.stderr.readline, b""):
            if words.encode() in line:
                return str(line.decode())
        raise AssertionError(f"the operator was not told: {words}")


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether a process that is not ours is gone, or goes in time."""
    try:
        return Process(pid).ends_within(seconds)
    except ProcessLookupError:
        return True

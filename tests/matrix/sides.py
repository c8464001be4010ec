"""The two sides of the matrix: the clients with their transports, and the servers with theirs.

A side is a list, so that every cell there is can be told by the product of both. HTTP+SSE exists for legacy peers only: it is the transport
of 2024-11-05, and the server that speaks it here is of that revision, which knows neither structured results nor forms.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness import MODERN, legacy
from modern_side import LATEST, modern_only

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
OLDEST = "2024-11-05"


class Near(NamedTuple):
    """A client: who made it, its transport, and what it speaks. ``kind`` is what ``acceptance.mjs`` calls it; none for Python."""

    maker: str
    transport: str
    era: str
    kind: str | None = None

    @property
    def label(self) -> str:
        return f"{self.maker}, {self.era}, {self.transport}"


class Far(NamedTuple):
    """A server: its transport, the one revision that it speaks, and its command, which for HTTP prints the URL."""

    transport: str
    revision: str
    command: list[str]

    @property
    def era(self) -> str:
        return "modern" if self.revision == MODERN else "legacy"

    @property
    def label(self) -> str:
        return f"{self.era}, {self.transport}"


def script(name: str, *words: str) -> list[str]:
    return [sys.executable, str(FIXTURES / name), "--offers", "demo", "--strict", *words]


CLIENTS = (
    Near("python", "stdio", "modern"),
    Near("python", "http", "modern"),
    Near("python", "stdio", "legacy"),
    Near("python", "http", "legacy"),
    Near("python", "sse", "legacy"),
    Near("node 2", "http", "modern", "modern"),
    Near("node 1", "stdio", "legacy", "v1-stdio"),
    Near("node 1", "http", "legacy", "v1"),
    Near("node 1", "sse", "legacy", "v1-sse"),
)
SERVERS = (
    Far("stdio", LATEST, legacy(LATEST)),
    Far("http", LATEST, script("push_http.py", "--revision", LATEST)),
    Far("sse", OLDEST, script("push_http.py", "--revision", OLDEST, "--transport", "sse")),
    Far("stdio", MODERN, modern_only()),
    Far("http", MODERN, script("modern_only_http.py")),
)


@contextmanager
def listening(server: Far, errors: Path) -> Iterator[str]:
    """The URL of a server of HTTP while it runs; it must not have ended by itself, as strict servers do on a wrong word."""
    with (
        errors.open("w", encoding="utf-8") as kept,
        subprocess.Popen(server.command, stdout=subprocess.PIPE, stderr=kept, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), errors.read_text(encoding="utf-8")
            yield url
            assert process.poll() is None, errors.read_text(encoding="utf-8")
        finally:
            process.terminate()

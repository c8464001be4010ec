"""The same three tools, written for dragoman's library and for the official SDK's ``MCPServer``, run by the same uvicorn.

    python servers.py dragoman|sdk|sdk-json|sdk-stateless PORT

Each is written as its own documentation shows it. Both make a result of ``add`` that has a text and structured content, and one of
``text`` that is but a text (``MCPServer`` would say it twice unless it is told not to). ``MCPServer`` is told to log warnings only, as
dragoman does by itself: its own default is a line or more for every session.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

PATH = "/mcp"

CONFIGURATIONS = {
    "sdk": {},
    "sdk-json": {"json_response": True},
    "sdk-stateless": {"json_response": True, "stateless_http": True},
}
"""``MCPServer`` as it comes (legacy sessions, answers as event streams), with plain answers, and as is advised without sessions."""


async def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


def add_sync(a: int, b: int) -> int:
    """The sum of two numbers, by a function that is not async: it runs in a thread."""
    return a + b


async def text(size: int) -> str:
    """A text of so many characters."""
    return "x" * size


def dragoman() -> Any:
    from dragoman import Server, asgi

    server = Server("bench", "1")
    for function in (add, add_sync, text):
        server.tool()(function)
    return asgi(server, path=PATH)


def sdk(configuration: str) -> Any:
    from mcp.server import MCPServer

    server = MCPServer("bench", log_level="WARNING")
    for function in (add, add_sync):
        server.tool()(function)
    server.tool(structured_output=False)(text)
    return server.streamable_http_app(streamable_http_path=PATH, **CONFIGURATIONS[configuration])  # type: ignore[arg-type]


def main() -> None:
    sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
    from httpbench.apps import run_uvicorn

    which, port = sys.argv[1], int(sys.argv[2])
    run_uvicorn(dragoman() if which == "dragoman" else sdk(which), port)


if __name__ == "__main__":
    main()

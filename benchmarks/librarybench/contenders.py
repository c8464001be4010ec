"""Who is measured, and what its clients ask: 2026-07-28 without sessions, and 2025-11-25 with them.

``MCPServer`` is measured as it comes, which is what the targets are about, and in every other configuration that its documentation
names: of those, the one that does best is compared, too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from httpbench.contenders import Contender
from httpbench.running import Running
from shared import HERE, WrongAnswerError

if TYPE_CHECKING:
    import socket

    from httpbench.wire import Headers

SERVERS = HERE / "librarybench" / "servers.py"
VERSION = "2025-11-25"


class Peer(Contender):
    """A server of either library. Its legacy client names the version with every request but the first, session or not."""

    def headers(self, frame: dict[str, object], session: str | None) -> Headers:
        """See ``Contender.headers``."""
        told = super().headers(frame, session)
        return told if self.modern or frame["method"] == "initialize" else {"MCP-Protocol-Version": VERSION, **told}


def peer(name: str, server: str, modern: bool, share: int = 1) -> Peer:
    return Peer(name, [sys.executable, str(SERVERS), server, "PORT"], modern, share=share)


DRAGOMAN, SDK, SDK_JSON = "dragoman", "MCPServer", "MCPServer, JSON"
DRAGOMAN_SESSIONS, SDK_SESSIONS, SDK_SESSIONS_JSON = "dragoman, sessions", "MCPServer, sessions", "MCPServer, sessions, JSON"
SDK_STATELESS = "MCPServer, no sessions, JSON"
"""For legacy clients it makes everything anew with each request, and gives out no session."""

PEERS = (
    peer(DRAGOMAN, "dragoman", modern=True),
    peer(SDK, "sdk", modern=True, share=2),
    peer(SDK_JSON, "sdk-stateless", modern=True),
    peer(DRAGOMAN_SESSIONS, "dragoman", modern=False),
    peer(SDK_SESSIONS, "sdk", modern=False, share=4),
    peer(SDK_SESSIONS_JSON, "sdk-json", modern=False),
    peer(SDK_STATELESS, "sdk-stateless", modern=False, share=2),
)
"""The slower configurations get fewer calls under load, so that a run ends; what counts is what they do in a second."""

AGAINST = {DRAGOMAN: (SDK, (SDK_JSON,)), DRAGOMAN_SESSIONS: (SDK_SESSIONS, (SDK_SESSIONS_JSON, SDK_STATELESS))}
"""Whom each of dragoman's two faces is compared with: ``MCPServer`` as it comes, and tuned."""

ERAS = {"modern": True, "legacy": False}
"""The words of the command line."""

SIZE = 100_000
LONG = "x" * SIZE


class Tool(NamedTuple):
    """One kind of call: what is asked for, and how many get as far as one of the cheapest kind."""

    called: str
    share: int

    def arguments(self, number: int) -> dict[str, object]:
        """Every call of a run has its own, so that no answer of another one is right."""
        return {"size": SIZE} if self.called == "text" else {"a": number, "b": 1}

    def check(self, contender: Contender, data: bytes, number: int) -> None:
        """``data`` answers the call ``number`` of this tool."""
        result = contender.result(data, number)
        told = LONG if self.called == "text" else str(number + 1)
        structured = None if self.called == "text" else number + 1
        given = result.get("structuredContent")
        if isinstance(given, dict):  # MCPServer always wraps a bare value, dragoman does for legacy clients
            given = given.get("result")
        if result.get("content") != [{"type": "text", "text": told}] or given != structured or result.get("isError"):
            raise WrongAnswerError(f"wrong result for request {number}: {data[:400]!r}")


TOOLS = {"async": Tool("add", 1), "sync": Tool("add_sync", 2), "large": Tool("text", 4)}
"""By the end of the names of their quantities."""


class Asked(Running):
    """A running server, and the requests to its tools."""

    def tool_calls(self, tool: Tool, first: int, count: int, session: str | None) -> list[bytes]:
        """``count`` calls with the ids from ``first`` on."""
        numbers = range(first, first + count)
        return [self.request(self.contender.call(number, tool.called, tool.arguments(number)), session) for number in numbers]

    def opened(self, line: socket.socket, count: int) -> list[str | None]:
        """So many conversations, begun on one connection."""
        return [self.open(line) for _ in range(count)]

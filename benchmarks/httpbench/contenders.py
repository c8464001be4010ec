"""Who is measured, how each is started on a port, and which words its client speaks.

Modern words are those of 2026-07-28: no handshake, ``_meta`` on every request and the headers that mirror it (basic/transports/
streamable-http, request metadata). Legacy words are those of 2025-11-25: every connection opens a session of its own and names it
with each request (basic/transports, session management). The floor answers whatever it is asked.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from shared import CHILD, HERE, WrongAnswerError, dragoman_command

from . import wire

FLOOR, MODERN, LEGACY = "bare ASGI", "dragoman", "dragoman, sessions"
NPM, NPM_MODERN, FASTMCP = "npm mcp-proxy, sessions", "npm mcp-proxy", "fastmcp, sessions"
PROXIES = {"floor": FLOOR, "dragoman": MODERN, "legacy": LEGACY, "npm-modern": NPM_MODERN, "npm": NPM, "fastmcp": FASTMCP}
"""Contenders by the words that the command line uses."""

SERVERS = ("uvicorn", "granian", "hypercorn")
"""The ASGI servers that ``--servers`` compares: each with a constant behind it, and with dragoman's application."""

CLIENT = {"name": "httpbench", "version": "1.0.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
APPS = HERE / "httpbench" / "apps.py"


class Contender(NamedTuple):
    """One command that answers on the port that takes the place of ``PORT`` in it."""

    name: str
    command: list[str]
    modern: bool = True
    constant: bool = False
    """Gives one answer to everything, so its id and text are not looked at."""
    share: int = 1
    """Gets a request where others get so many: for those that would make a run take an hour."""

    def opening(self) -> dict[str, object]:
        """The first request of a conversation; its id is 0."""
        method, params = ("server/discover", {"_meta": META}) if self.modern else ("initialize", INITIALIZE)
        return {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}

    def call(self, number: int, tool: str, arguments: dict[str, object]) -> dict[str, object]:
        """One ``tools/call`` with ``number`` as its id."""
        params: dict[str, object] = {"name": tool, "arguments": arguments}
        if self.modern:
            params["_meta"] = META
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}

    def headers(self, frame: dict[str, object], session: str | None) -> wire.Headers:
        """What the revision wants beside the media types."""
        if self.modern:
            told = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": str(frame["method"])}
            params = frame["params"]
            assert isinstance(params, dict)
            return {**told, "Mcp-Name": params["name"]} if "name" in params else told
        return {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session} if session else {}

    def result(self, data: bytes, number: int) -> dict[str, object]:
        """The result in an answer, which has to be one to the request ``number``."""
        answer = wire.parsed(data)
        frame = wire.frame_in(answer)
        if (
            answer.status != 200
            or not isinstance(frame, dict)
            or "result" not in frame
            or (frame.get("id") != number and not self.constant)
        ):
            raise WrongAnswerError(f"no result for request {number}: {data[:300]!r}")
        result: dict[str, object] = frame["result"]
        if self.modern and result.get("resultType") != "complete":
            raise WrongAnswerError(f"result {number} is not marked complete: {data[:300]!r}")
        return result

    def check(self, data: bytes, number: int, text: str) -> None:
        """``data`` answers call ``number`` with one text block that holds ``text``."""
        if self.result(data, number).get("content") != [{"type": "text", "text": text}]:
            raise WrongAnswerError(f"wrong content for request {number}: {data[:300]!r}")


def app(python: str, server: str, name: str) -> list[str]:
    """The command that runs one of the applications of ``apps.py`` on an ASGI server."""
    return [python, str(APPS), server, name, "PORT"]


def proxies(dragoman: str | None, mcp_proxy: str | None, fastmcp: str | None) -> dict[str, Contender | None]:
    """The floor, dragoman and the other bridges by name; none for one that is not here to be measured."""
    bridge, node = dragoman_command(dragoman), shutil.which("node")
    serve = [*bridge, "serve", "--port", "PORT", "--", *CHILD] if bridge else None
    script = Path(mcp_proxy or "") / "node_modules" / "mcp-proxy" / "dist" / "bin" / "mcp-proxy.mjs"
    npm = [node, str(script), "--server", "stream", "--host", "127.0.0.1", "--port", "PORT", "--", *CHILD] if mcp_proxy and node else None
    if not script.exists():
        npm = None
    return {
        FLOOR: Contender(FLOOR, app(sys.executable, "uvicorn", "constant"), constant=True),
        MODERN: Contender(MODERN, serve) if serve else None,
        LEGACY: Contender(LEGACY, serve, modern=False) if serve else None,
        NPM_MODERN: Contender(NPM_MODERN, npm) if npm else None,
        NPM: Contender(NPM, npm, modern=False) if npm else None,
        FASTMCP: Contender(FASTMCP, app(fastmcp, "fastmcp", "proxy"), modern=False, share=20) if fastmcp else None,
    }


def servers(python: str) -> dict[str, Contender | None]:
    """Each ASGI server twice, run by the interpreter of an environment that has them all."""
    found: dict[str, Contender | None] = {}
    for server in SERVERS:
        found[server] = Contender(f"{server}, constant", app(python, server, "constant"), constant=True)
        found[f"{server}-bridge"] = Contender(server, app(python, server, "bridge"))
    return {contender.name: contender for contender in found.values() if contender}

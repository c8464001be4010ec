"""Who is measured, how each is started, and which words its client speaks.

A relay that copies lines is asked in the legacy words of the server behind it; a bridge is asked in modern words, every
request with its ``_meta``, as the 2026-07-28 revision demands (basic/index). The arguments of a call are the same.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from shared import CHILD, HERE, dragoman_command

DIRECT, NULL, DRAGOMAN, UPLIFT = "direct", "null relay", "dragoman", "mcp-uplift"
NAMES = {"direct": DIRECT, "null": NULL, "dragoman": DRAGOMAN, "uplift": UPLIFT}
"""Contenders by the words that the command line uses."""

# mcp-uplift refuses 64 requests in flight and lines over 4 MiB unless told otherwise.
UPLIFT_LIMITS = ["--max-in-flight", "1024", "--max-line-bytes", "67108864", "--max-buffer-bytes", "134217728"]

CLIENT = {"name": "relaybench", "version": "1.0.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT,
}


class Contender(NamedTuple):
    """One command that shows the tiny server to its client."""

    name: str
    command: list[str]
    modern: bool

    def opening(self) -> list[bytes]:
        """The frames that begin a conversation. Only the first one is answered."""
        if self.modern:
            return [_frame(method="server/discover", id=0, params={"_meta": META})]
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        return [_frame(method="initialize", id=0, params=params), _frame(method="notifications/initialized")]

    def call(self, number: int, tool: str, arguments: dict[str, object]) -> bytes:
        """One ``tools/call`` with ``number`` as its id."""
        params: dict[str, object] = {"name": tool, "arguments": arguments}
        if self.modern:
            params["_meta"] = META
        return _frame(id=number, method="tools/call", params=params)


def _frame(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode() + b"\n"


def uplift_command(given: str | None) -> list[str] | None:
    """The way to start mcp-uplift from the checkout ``given``; none without one, or without Node."""
    node = shutil.which("node")
    script = Path(given or "") / "src" / "cli.js"
    return [node, str(script), *UPLIFT_LIMITS] if given and node and script.exists() else None


def contenders(dragoman: str | None, uplift: str | None) -> dict[str, Contender | None]:
    """Every contender by name; none for one that is not here to be measured."""
    bridge, other = dragoman_command(dragoman), uplift_command(uplift)
    return {
        DIRECT: Contender(DIRECT, CHILD, modern=False),
        NULL: Contender(NULL, [sys.executable, str(HERE / "null_relay.py"), "--", *CHILD], modern=False),
        DRAGOMAN: Contender(DRAGOMAN, [*bridge, "wrap", "--", *CHILD], modern=True) if bridge else None,
        UPLIFT: Contender(UPLIFT, [*other, "--", *CHILD], modern=True) if other else None,
    }

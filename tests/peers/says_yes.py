#!/usr/bin/env python3
"""A legacy server that answers ``{}`` to every method it does not know, ``server/discover`` included.

Such servers exist, and ``{}`` proves nothing: a ``server/discover`` result without ``supportedVersions`` is no modern server.
``resources/list``, ``prompts/list`` and ``completion/complete`` are unknown to it too, so their empty answers lack required members.
"""

from __future__ import annotations

from typing import Any

from peer_wire import Wire


def known(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a method this server knows, else the empty object."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "says-yes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": "yes", "inputSchema": {"type": "object"}}]}
    if method == "tools/call" and params.get("name") == "yes":
        return {"content": [{"type": "text", "text": "yes"}]}
    return {}


def main() -> None:
    wire = Wire()
    for frame in wire.frames():
        if isinstance(frame, dict) and "id" in frame and "method" in frame:
            wire.result(frame["id"], known(frame["method"], frame.get("params") or {}))


if __name__ == "__main__":
    main()

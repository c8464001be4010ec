"""Requests on the wire that the tests of this folder share."""

from __future__ import annotations

import json
from typing import Any

from tests.cases.served import BOTH, Fields, Served, head
from tests.cases.wrapped import META

from oracle import JsonObject

ASKS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
ACCEPTED = {"env": {"action": "accept", "content": {"env": "prod"}}}
BYE = head("GET", "/healthz", {"Host": "localhost", "Connection": "close"})
"""A request after which the connection ends."""


def frame(method: str, **params: Any) -> bytes:
    """A modern request, as the body of a POST."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}).encode()


def fields(method: str, name: str | None = None) -> dict[str, Any]:
    """The fields of a modern POST, without any about its body."""
    own = {"Host": "localhost", "Content-Type": "application/json", "Accept": BOTH}
    return {**own, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}


def post(body: bytes, own: Fields) -> bytes:
    """A whole POST on the wire."""
    return head("POST", "/mcp", {**own, "Content-Length": str(len(body))}) + body


def call_of(tool: str) -> bytes:
    """A whole call of a tool on the wire: served wherever it is read as a request."""
    return post(frame("tools/call", name=tool, arguments={}), fields("tools/call", tool))


def called(served: Served) -> list[str]:
    """The tools that servers were shown calls of."""
    return [str(params["name"]) for params in served.shown("tools/call")]


def initialize(revision: str = "2025-06-18") -> JsonObject:
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    return {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}

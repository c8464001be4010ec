#!/usr/bin/env python3
"""The server everybody writes first: ``initialize``, ``tools/list``, ``tools/call``, and -32601 for everything else.

It answers the client's own protocol version back, whatever it is, knows no ``ping``, never declares ``listChanged``, and says "method
not found" for an unknown tool, as many small servers do (tools/call of a declared capability, so the *name* is what is not found).
"""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [
    {
        "name": "shout",
        "description": "Say it loudly",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {"name": "count", "description": "Count the calls so far", "inputSchema": {"type": "object"}},
    {"name": "divide", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}},
]
calls: list[str] = []


def text(words: str, is_error: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": words}]}
    if is_error:
        result["isError"] = True
    return result


def shout(arguments: dict[str, Any]) -> dict[str, Any]:
    return text(str(arguments["text"]).upper())


def count(arguments: dict[str, Any]) -> dict[str, Any]:
    return text(str(len(calls)))


def divide(arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return text(str(arguments["a"] / arguments["b"]))
    except ZeroDivisionError as fault:
        return text(str(fault), is_error=True)


def answer(method: str, params: dict[str, Any]) -> tuple[str, Any]:
    """The member to answer with and its value."""
    if method == "initialize":
        return "result", {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hundred-lines", "version": "0.1"},
        }
    if method == "tools/list":
        return "result", {"tools": TOOLS}
    if method == "tools/call":
        calls.append(params["name"])
        tool = {"shout": shout, "count": count, "divide": divide}.get(params["name"])
        if tool is not None:
            return "result", tool(params.get("arguments") or {})
    return "error", {"code": -32601, "message": "Method not found"}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        member, value = answer(request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], member: value}), flush=True)


if __name__ == "__main__":
    main()

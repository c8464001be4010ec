"""A small server of the legacy era (2025-06-18), as thousands were written: handshake, two tools, one question.

It speaks MCP over stdio with nothing but the standard library, and knows no word of 2026-07-28. ``deploy`` asks the user
for an environment in the middle of the call, the way legacy servers do: with a request of its own to the client.
"""

from __future__ import annotations

import json
import sys
from typing import Any

Json = dict[str, Any]
TOOLS = [
    {
        "name": "greet",
        "description": "Greets somebody.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
    {
        "name": "deploy",
        "description": "Deploys a service, after asking where to.",
        "inputSchema": {"type": "object", "properties": {"service": {"type": "string"}}, "required": ["service"]},
    },
]
QUESTION = {
    "message": "Deploy to which environment?",
    "requestedSchema": {
        "type": "object",
        "properties": {"environment": {"type": "string", "enum": ["staging", "production"]}},
        "required": ["environment"],
    },
}


def send(frame: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def text(words: str) -> Json:
    return {"content": [{"type": "text", "text": words}]}


def deploy(request: Json) -> Json:
    token = request["params"].get("_meta", {}).get("progressToken")
    if token is not None:
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2}})
    send({"id": "ask-1", "method": "elicitation/create", "params": QUESTION})
    answer = json.loads(sys.stdin.readline())["result"]
    if answer["action"] != "accept":
        return text("Nothing was deployed.")
    return text(f"Deployed {request['params']['arguments']['service']} to {answer['content']['environment']}.")


def answer(request: Json) -> Json | None:
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        server = {"name": "deployer", "version": "1.4.0"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params["name"] == "greet":
        return text(f"Hello, {params['arguments']['name']}!")
    if method == "tools/call" and params["name"] == "deploy":
        return deploy(request)
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request)
        if result is None:
            send({"id": request["id"], "error": {"code": -32601, "message": f"Method not found: {request['method']}"}})
        else:
            send({"id": request["id"], "result": result})


if __name__ == "__main__":
    main()

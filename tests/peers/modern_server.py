#!/usr/bin/env python3
"""A small modern-only server (2026-07-28): stateless, ``server/discover``, ``_meta`` demanded on every request.

``initialize`` is answered with -32022 naming the versions it speaks (basic/versioning page); with ``--refusal -32601`` the method is simply
unknown, with ``--refusal -32602`` the envelope is missed first: all three are found in the field. A request without the
two required ``_meta`` keys gets -32602. ``ask`` answers ``input_required`` and checks the retry; ``change`` notifies the open listens.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from peer_wire import JsonObject, Refused, Wire

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
INFO = {PREFIX + "serverInfo": {"name": "modern", "version": "2.0"}}
ANY = {"type": "object"}
QUESTION = {
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
}
WHOLE_LIST: JsonObject = {"ttlMs": 1000, "cacheScope": "public"}


class Server:
    """No sessions: the only memory is the open listens."""

    def __init__(self, refusal: int) -> None:
        self.wire = Wire()
        self.refusal = refusal
        self.listens: dict[Any, JsonObject] = {}

    def run(self) -> None:
        for frame in self.wire.frames():
            if not isinstance(frame, dict) or "method" not in frame:
                self.wire.send({"jsonrpc": "2.0", "error": {"code": -32600, "message": "no request"}})
            elif "id" in frame:
                self.request(frame)
            elif frame["method"] == "notifications/cancelled":
                self.listens.pop(frame["params"]["requestId"], None)

    def request(self, frame: JsonObject) -> None:
        try:
            result = self.answer(frame, frame.get("params") or {})
        except Refused as refused:
            self.wire.error(frame["id"], refused.code, refused.message, refused.data)
            return
        if result is not None:
            result.setdefault("resultType", "complete")
            result.setdefault("_meta", INFO)
            self.wire.result(frame["id"], result)

    def answer(self, frame: JsonObject, params: JsonObject) -> JsonObject | None:
        method = frame["method"]
        if method == "initialize" and self.refusal != -32602:
            supported: JsonObject = {"supported": [VERSION], "requested": str(params.get("protocolVersion"))}
            if self.refusal == -32022:
                raise Refused(-32022, "Unsupported protocol version", supported)
            raise Refused(-32601, "Method not found")
        check_envelope(params.get("_meta", {}))
        handler = METHODS.get(method)
        if handler is None:
            raise Refused(-32601, "Method not found")
        return handler(self, frame["id"], params)

    def tell(self, kind: str, method: str) -> None:
        """Notify every listen that asked for ``kind``."""
        for listen, filters in self.listens.items():
            if filters.get(kind):
                self.wire.notify(method, {"_meta": {PREFIX + "subscriptionId": listen}})


def check_envelope(meta: JsonObject) -> None:
    """basic/index#meta: protocolVersion and clientCapabilities are required on every request."""
    missing = [key for key in ("protocolVersion", "clientCapabilities") if PREFIX + key not in meta]
    if missing:
        raise Refused(-32602, f"_meta lacks {', '.join(PREFIX + key for key in missing)}")
    version = meta[PREFIX + "protocolVersion"]
    if version != VERSION:
        raise Refused(-32022, "Unsupported protocol version", {"supported": [VERSION], "requested": version})


def discover(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "completions": {}}
    return {"supportedVersions": [VERSION], "capabilities": capabilities, "instructions": "Modern only.", **WHOLE_LIST}


def list_tools(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    tools: list[JsonObject] = [{"name": name, "inputSchema": ANY} for name in ("echo", "ask", "change", "list_output", "meta")]
    tools[3]["outputSchema"] = {"type": "array", "items": {"type": "integer"}}
    return {"tools": tools, **WHOLE_LIST}


def call_tool(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    name, arguments = params.get("name"), params.get("arguments") or {}
    if name == "echo":
        return text(str(arguments.get("text", "")))
    if name == "meta":
        return text(str(sorted(params["_meta"])))
    if name == "list_output":
        return {**text("[1, 2]"), "structuredContent": [1, 2]}
    if name == "change":
        server.tell("toolsListChanged", "notifications/tools/list_changed")
        return text("changed")
    if name == "ask":
        return ask(params)
    raise Refused(-32602, f"Unknown tool: {name}")


def ask(params: JsonObject) -> JsonObject:
    """Two legs: a form, then its answer, provided that the state came back byte for byte."""
    if "inputResponses" not in params:
        return {"resultType": "input_required", "inputRequests": {"who": QUESTION}, "requestState": "state-é-1"}
    if params.get("requestState") != "state-é-1":
        raise Refused(-32602, "requestState was changed")
    return text(str(params["inputResponses"]["who"]))


def text(words: str) -> JsonObject:
    return {"content": [{"type": "text", "text": words}]}


def list_resources(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    return {"resources": [{"uri": "modern://one", "name": "one"}], **WHOLE_LIST}


def read_resource(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    uri = params.get("uri")
    if uri != "modern://one":
        raise Refused(-32602, "Resource not found", {"uri": uri})
    return {"contents": [{"uri": uri, "text": "one"}], **WHOLE_LIST}


def list_templates(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    return {"resourceTemplates": [], **WHOLE_LIST}


def list_prompts(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    return {"prompts": [{"name": "hello"}], **WHOLE_LIST}


def get_prompt(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    if params.get("name") != "hello":
        raise Refused(-32602, f"Unknown prompt: {params.get('name')}")
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]}


def complete(server: Server, request_id: Any, params: JsonObject) -> JsonObject:
    return {"completion": {"values": [params["argument"]["value"] + "!"]}}


def listen(server: Server, request_id: Any, params: JsonObject) -> None:
    """Acknowledge, then keep the stream open until it is cancelled (basic/patterns/subscriptions page)."""
    wanted = {key: value for key, value in params.get("notifications", {}).items() if key == "toolsListChanged"}
    server.listens[request_id] = wanted
    meta = {PREFIX + "subscriptionId": request_id}
    server.wire.notify("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": wanted})


METHODS: dict[str, Callable[[Server, Any, JsonObject], JsonObject | None]] = {
    "server/discover": discover,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "subscriptions/listen": listen,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="A modern-only MCP server over stdio.")
    parser.add_argument("--refusal", type=int, choices=(-32022, -32601, -32602), default=-32022, help="how initialize is refused")
    Server(parser.parse_args().refusal).run()


if __name__ == "__main__":
    main()

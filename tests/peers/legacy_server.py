#!/usr/bin/env python3
"""A legacy stdio server of one exact revision, written by hand from the specification and strict about it.

Theory of operation
===================
``--revision R`` fixes the revision: ``initialize`` is always answered with R, capabilities, tools and content hold only words of R, and
a frame that holds a word of 2026-07-28 ends the process with status 70 and one line on stderr. So a bridge that leaks a modern word
cannot pass a test by luck. Requests other than ``ping`` before ``notifications/initialized`` are refused with -32600 (lifecycle page:
a client should not send them), and the server asks nothing before it either.

The main thread reads. ``ping``, ``initialize``, ``logging/setLevel`` and the list and subscription requests are answered by it in
order; ``tools/call``, ``prompts/get`` and ``resources/read`` run in a thread each, because they may wait: for an answer of the client, for
another call, or for ever. Shared state changes under one condition (``changed``), and waiting is always ``wait_for`` on it: no
timeouts, no polling. A cancelled call is answered nothing (utilities/cancellation page) and wakes up whoever waits in it.

The tools are in ``legacy_tools.py``, resources, prompts and completion in ``legacy_content.py``, the strictness in ``legacy_words.py``.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable
from typing import Any

import legacy_content
import legacy_tools
from legacy_words import REVISIONS, has, modern_word
from peer_wire import LEAK, Call, Gone, JsonObject, Questions, Refused, Wire

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603


class Server:
    """The state of one session. Everything mutable is guarded by ``changed``."""

    def __init__(self, revision: str, unknown_tool: int, ask_on_start: bool) -> None:
        self.revision = revision
        self.unknown_tool = unknown_tool
        self.ask_on_start = ask_on_start
        self.wire = Wire()
        self.changed = threading.Condition()
        self.questions = Questions(self.wire, self.changed)
        self.client: JsonObject = {}
        self.ready = False
        self.level = "info"
        self.subscribed: set[str] = set()
        self.calls: dict[Any, Call] = {}
        self.cancelled: list[Any] = []
        self.counters: dict[str, int] = {}
        self.extra_tools = 0
        self.start_answer: JsonObject | None = None

    def has(self, since: str) -> bool:
        return has(self.revision, since)

    def client_can(self, *path: str) -> bool:
        """True when the client declared the capability; ``elicitation: {}`` means form mode."""
        found: Any = self.client.get("capabilities", {})
        if path == ("elicitation", "form"):
            forms = found.get("elicitation")
            return forms is not None and (not forms or "form" in forms)
        for member in path:
            if not isinstance(found, dict) or member not in found:
                return False
            found = found[member]
        return True

    def log(self, level: str, data: Any, logger: str = "peer") -> None:
        """Emit ``notifications/message`` at or above the level asked for (server/utilities/logging page)."""
        if LEVELS.index(level) >= LEVELS.index(self.level):
            self.wire.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def bump(self, counter: str, by: int = 1) -> int:
        """Change a shared counter and wake whoever waits for it."""
        with self.changed:
            self.counters[counter] = self.counters.get(counter, 0) + by
            self.changed.notify_all()
            return self.counters[counter]

    def run(self) -> None:
        for frame in self.wire.frames():
            self.take(frame)
        self.wire.leave(0)

    def take(self, frame: Any) -> None:
        """One line from the client: a frame, or in 2025-03-26 a batch of them (basic/index#batching)."""
        if isinstance(frame, list) and frame and self.revision == "2025-03-26":
            for item in frame:
                self.take_one(item)
        else:
            self.take_one(frame)

    def take_one(self, frame: Any) -> None:
        if not isinstance(frame, dict) or frame.get("jsonrpc") != "2.0":
            self.wire.error(None, INVALID_REQUEST, "not a JSON-RPC 2.0 message")
            return
        word = modern_word(frame)
        if word is not None:
            self.wire.leave(LEAK, f"legacy server {self.revision} was shown a modern word: {word}: {frame}")
        if "method" not in frame:
            if not self.questions.answered(frame):
                self.wire.leave(LEAK, f"legacy server {self.revision} got a response to nothing it asked: {frame}")
        elif "id" in frame:
            self.request(frame["id"], frame["method"], frame.get("params") or {})
        else:
            self.notification(frame["method"], frame.get("params") or {})

    def notification(self, method: str, params: JsonObject) -> None:
        if method == "notifications/initialized":
            self.ready = True
            if self.ask_on_start:
                threading.Thread(target=self.ask_at_start, daemon=True).start()
        elif method == "notifications/cancelled":
            with self.changed:
                call = self.calls.get(params.get("requestId"))
                if call is not None:
                    call.cancelled = True
                    self.cancelled.append(call.id)
                    self.changed.notify_all()

    def ask_at_start(self) -> None:
        """A question outside any call: some servers list the roots right after ``initialized``."""
        answer = self.questions.ask(None, "roots/list")
        with self.changed:
            self.start_answer = answer
            self.changed.notify_all()

    def request(self, request_id: Any, method: str, params: JsonObject) -> None:
        if method not in ("initialize", "ping") and not self.ready:
            self.wire.error(request_id, INVALID_REQUEST, f"{method} came before notifications/initialized")
        elif method in SLOW:
            call = Call(request_id, params, self.changed)
            with self.changed:
                self.calls[request_id] = call
            threading.Thread(target=self.answer, args=(call, SLOW[method]), daemon=True).start()
        else:
            self.answer(Call(request_id, params, self.changed), QUICK.get(method, unknown_method))

    def answer(self, call: Call, handler: Callable[[Server, Call], JsonObject]) -> None:
        """Run one handler and answer with what it returns; nothing after a cancellation."""
        outcome: Callable[[], None]
        try:
            result = handler(self, call)
            outcome = lambda: self.wire.result(call.id, result)  # noqa: E731 - decided here, sent once below
        except Gone:
            outcome = lambda: None  # noqa: E731
        except Refused as refused:
            code, message, data = refused.code, refused.message, refused.data
            outcome = lambda: self.wire.error(call.id, code, message, data)  # noqa: E731
        with self.changed:
            self.calls.pop(call.id, None)
        if not call.cancelled:
            outcome()


def unknown_method(server: Server, call: Call) -> JsonObject:
    raise Refused(METHOD_NOT_FOUND, "Method not found")


def initialize(server: Server, call: Call) -> JsonObject:
    """Answer with our own revision whatever was asked for (basic/lifecycle#version-negotiation)."""
    if server.client:
        raise Refused(INVALID_REQUEST, "already initialized")
    server.client = call.params
    capabilities: JsonObject = {
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": True},
    }
    if server.has("2025-03-26"):
        capabilities["completions"] = {}
    return {
        "protocolVersion": server.revision,
        "capabilities": capabilities,
        "serverInfo": {"name": f"legacy-{server.revision}", "version": "1.2.3"},
        "instructions": f"A server of {server.revision}.",
    }


def ping(server: Server, call: Call) -> JsonObject:
    return {}


def set_level(server: Server, call: Call) -> JsonObject:
    level = call.params.get("level")
    if level not in LEVELS:
        raise Refused(INVALID_PARAMS, f"unknown level {level!r}")
    server.level = level
    return {}


def subscribe(server: Server, call: Call) -> JsonObject:
    server.subscribed.add(call.params["uri"])
    return {}


def unsubscribe(server: Server, call: Call) -> JsonObject:
    server.subscribed.discard(call.params["uri"])
    return {}


def list_tools(server: Server, call: Call) -> JsonObject:
    return {"tools": legacy_tools.listed(server)}


def call_tool(server: Server, call: Call) -> JsonObject:
    tool = legacy_tools.find(server, call.params.get("name"))
    if tool is None:
        raise Refused(server.unknown_tool, f"Unknown tool: {call.params.get('name')}")
    return tool(server, call)


def list_resources(server: Server, call: Call) -> JsonObject:
    page = legacy_content.resource_page(server, call.params.get("cursor"))
    if page is None:
        raise Refused(INVALID_PARAMS, f"unknown cursor {call.params['cursor']!r}")
    return page


def list_templates(server: Server, call: Call) -> JsonObject:
    return {"resourceTemplates": legacy_content.templates(server)}


def read_resource(server: Server, call: Call) -> JsonObject:
    uri = call.params.get("uri")
    contents = legacy_content.read(server, call, uri)
    if contents is None:
        raise Refused(-32002, "Resource not found", {"uri": uri})
    return {"contents": contents}


def list_prompts(server: Server, call: Call) -> JsonObject:
    return {"prompts": legacy_content.prompts(server)}


def get_prompt(server: Server, call: Call) -> JsonObject:
    result = legacy_content.prompt(server, call)
    if isinstance(result, str):
        raise Refused(INVALID_PARAMS, result)
    return result


def complete(server: Server, call: Call) -> JsonObject:
    return {"completion": legacy_content.completion(call.params)}


QUICK: dict[str, Callable[[Server, Call], JsonObject]] = {
    "initialize": initialize,
    "ping": ping,
    "logging/setLevel": set_level,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "tools/list": list_tools,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "prompts/list": list_prompts,
    "completion/complete": complete,
}
SLOW: dict[str, Callable[[Server, Call], JsonObject]] = {
    "tools/call": call_tool,
    "resources/read": read_resource,
    "prompts/get": get_prompt,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="A strict legacy MCP server over stdio.")
    parser.add_argument("--revision", choices=REVISIONS, required=True)
    parser.add_argument("--unknown-tool", type=int, choices=(-32602, -32601), default=-32602, help="error code for an unknown tool")
    parser.add_argument("--ask-on-start", action="store_true", help="ask for the roots right after notifications/initialized")
    options = parser.parse_args()
    Server(options.revision, options.unknown_tool, options.ask_on_start).run()


if __name__ == "__main__":
    main()

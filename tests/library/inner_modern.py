"""An MCP server of 2026-07-28 and of nothing else, as an ASGI application on the standard library alone: no name of dragoman's in it.

It records what it is asked, and refuses what no client of its revision would send.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

Json = dict[str, Any]
REVISION = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
TOOLS = ("echo", "deploy", "slow", "never", "crash", "half", "steps", "who")
CHALLENGE = b'Bearer resource_metadata="http://auth.example/.well-known/oauth-protected-resource"'


class Inner:
    """The application. ``seen``: the JSON of each request; ``fields``: its header fields; ``wrong``: what was wrong with any of them."""

    def __init__(self, *, fault: str = "", token: str = "", lifespan: bool = True) -> None:
        self.seen: list[Json] = []
        self.fields: list[dict[str, str]] = []
        self.wrong: list[str] = []
        self.life: list[str] = []
        self.cancelled = asyncio.Event()
        self.fault = fault  # of its lifespan
        self._token = token  # without which nobody is served
        self._knows_lifespan = lifespan
        self._listening: dict[int, tuple[Any, Json]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert scope["type"] == "http"
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"] != "/mcp":
            await plain(send, 404, b"no such page")
        elif scope["method"] != "POST":
            self.wrong.append(scope["method"])
            await plain(send, 405, b"only POST")
        elif self._token and fields.get("authorization") != f"Bearer {self._token}":
            self.fields.append(fields)
            await plain(send, 401, b"who are you?", (b"www-authenticate", CHALLENGE))
        else:
            await self._answer(json.loads(body), fields, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:
        if not self._knows_lifespan:
            raise RuntimeError("what is a lifespan?")
        await receive()
        if self.fault:
            await send({"type": "lifespan.startup.failed", "message": self.fault})
            return
        self.life.append("started")
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.life.append("stopped")
        await send({"type": "lifespan.shutdown.complete"})

    def _judge(self, message: Json, fields: dict[str, str]) -> None:
        """Is it a request of 2026-07-28 (basic/index#meta, basic/transports/streamable-http#standard-request-headers)?"""
        method, params = message["method"], message.get("params", {})
        meta = params.get("_meta", {})
        named = params.get("name", params.get("uri"))
        checks = {
            "id": "id" in message,
            "version": meta.get(VERSION) == REVISION,
            "capabilities": isinstance(meta.get(CAPABILITIES), dict),
            "mcp-protocol-version": fields.get("mcp-protocol-version") == REVISION,
            "mcp-method": fields.get("mcp-method") == method,
            "mcp-name": fields.get("mcp-name") == named,
            "session": "mcp-session-id" not in fields,
            "accept": fields.get("accept") == "application/json, text/event-stream",
        }
        self.wrong += [f"{method}: {name}" for name, fine in checks.items() if not fine]

    async def _answer(self, message: Json, fields: dict[str, str], receive: Any, send: Any) -> None:
        self.seen.append(message)
        self.fields.append(fields)
        self._judge(message, fields)
        method, params = message["method"], message.get("params", {})
        if method == "server/discover":
            await result(
                send, message, {"supportedVersions": [REVISION], "capabilities": {"tools": {"listChanged": True}}, **FRESH, **SELF}
            )
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            await result(send, message, {"tools": tools, **FRESH})
        elif method == "tools/call" and params["name"] in TOOLS:
            await getattr(self, f"_{params['name']}")(message, receive, send)
        elif method == "subscriptions/listen":
            await self._listen(message, receive, send)
        else:
            known = method == "tools/call"
            error = {"code": -32602, "message": "Unknown tool"} if known else {"code": -32601, "message": f"Method not found: {method}"}
            body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            await plain(send, 400 if known else 404, json.dumps(body).encode(), (b"content-type", b"application/json"))

    # -- its tools

    async def _echo(self, message: Json, receive: Any, send: Any) -> None:
        await text(send, message, str(message["params"].get("arguments", {}).get("text")))

    async def _who(self, message: Json, receive: Any, send: Any) -> None:
        await text(send, message, str(self.fields[-1].get("authorization")))

    async def _deploy(self, message: Json, receive: Any, send: Any) -> None:
        params = message["params"]
        if "elicitation" not in params["_meta"][CAPABILITIES]:
            error = {"code": -32021, "message": "elicitation is needed", "data": {"requiredCapabilities": {"elicitation": {}}}}
            body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            await plain(send, 400, json.dumps(body).encode(), (b"content-type", b"application/json"))
        elif "inputResponses" in params:
            assert params["requestState"] == "half-way"
            await text(send, message, f"deployed to {params['inputResponses']['env']['content']['env']}")
        else:
            schema = {"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]}
            asked = {"mode": "form", "message": "Deploy where?", "requestedSchema": schema}
            inputs = {"env": {"method": "elicitation/create", "params": asked}}
            await result(send, message, {"resultType": "input_required", "inputRequests": inputs, "requestState": "half-way"})

    async def _slow(self, message: Json, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.5)
        await text(send, message, "at last")

    async def _never(self, message: Json, receive: Any, send: Any) -> None:
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self.cancelled.set()

    async def _crash(self, message: Json, receive: Any, send: Any) -> None:
        raise ZeroDivisionError("secret detail")

    async def _half(self, message: Json, receive: Any, send: Any) -> None:
        """Begins a stream, and fails."""
        await begin(send)
        await event(send, progress(message, 1))
        raise ZeroDivisionError("secret detail")

    async def _steps(self, message: Json, receive: Any, send: Any) -> None:
        """Answers in a stream, in pieces that are cut anywhere."""
        await begin(send)
        for number in (1, 2, 3):
            await event(send, progress(message, number))
        done = {"resultType": "complete", "content": [{"type": "text", "text": "d\u00f6ne"}]}
        data = framed({"jsonrpc": "2.0", "id": message["id"], "result": done})
        for at in range(0, len(data), 7):
            await send({"type": "http.response.body", "body": data[at : at + 7], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _listen(self, message: Json, receive: Any, send: Any) -> None:
        await begin(send)
        wanted = message["params"]["notifications"]
        meta = {SUBSCRIPTION: message["id"]}
        granted = {"notifications": {"toolsListChanged": True} if wanted.get("toolsListChanged") else {}, "_meta": meta}
        await event(send, {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": granted})
        key = len(self.seen)
        self._listening[key] = (send, meta)
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            del self._listening[key]

    async def change(self) -> None:
        """Tell all that listen."""
        for send, meta in list(self._listening.values()):
            await event(send, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}})

    @property
    def listening(self) -> int:
        """How many do."""
        return len(self._listening)


FRESH = {"ttlMs": 0, "cacheScope": "private"}
SELF = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "inner", "version": "1"}}}


def progress(message: Json, number: int) -> Json:
    token = message["params"]["_meta"].get("progressToken", "none")
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": number}}


def framed(message: Json) -> bytes:
    return b"event: message\ndata: " + json.dumps(message, ensure_ascii=False).encode() + b"\n\n"


async def begin(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})


async def event(send: Any, message: Json) -> None:
    await send({"type": "http.response.body", "body": framed(message), "more_body": True})


async def plain(send: Any, status: int, body: bytes, *fields: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*fields, (b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


async def result(send: Any, message: Json, body: Json) -> None:
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", **body}}
    await plain(send, 200, json.dumps(answer).encode(), (b"content-type", b"application/json"))


async def text(send: Any, message: Json, words: str) -> None:
    await result(send, message, {"content": [{"type": "text", "text": words}]})

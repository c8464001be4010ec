"""The server behind the URL: ``behind.py legacy|modern json|stream PORT``, the answers of ``tiny_server`` over Streamable HTTP.

An ASGI application without a framework on uvicorn, so that it costs what the floor of ``run_http.py`` costs. It is strict where a bridge
could cheat: a legacy request has to name a session that was opened (2025-11-25, basic/transports#session-management), a modern one has to
repeat its revision, method and name in its headers (2026-07-28, basic/transports/streamable-http#request-metadata).
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE)]

from httpbench.apps import lifespan, run_uvicorn  # noqa: E402  found beside this script only now
from tiny_server import answer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from httpbench.apps import Receive, Send

    Answer = tuple[int, bytes, list[tuple[bytes, bytes]]]
    Respond = Callable[[bytes, dict[bytes, bytes]], Answer]

DISCOVERED = (
    b'{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private",'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tiny","version":"1.0.0"}}}'
)
LISTED = b'{"tools":[', b'{"ttlMs":0,"cacheScope":"private","tools":['


def refusal(status: int, text: bytes) -> Answer:
    return status, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"' + text + b'"}}', []


def legacy() -> Respond:
    """Sessions of 2025-11-25. They are only counted: nothing is kept for one."""
    numbers = count(1)
    opened: set[bytes] = set()

    def respond(body: bytes, fields: dict[bytes, bytes]) -> Answer:
        if b'"method":"initialize"' in body:
            session = b"session-%d" % next(numbers)
            opened.add(session)
            return 200, answer(body), [(b"mcp-session-id", session)]
        if fields.get(b"mcp-session-id") not in opened:
            return refusal(400, b"no session")
        reply = answer(body)
        return (200 if reply else 202), reply, []

    return respond


def modern() -> Respond:
    """Requests of 2026-07-28, each on its own."""

    def respond(body: bytes, fields: dict[bytes, bytes]) -> Answer:
        method = fields.get(b"mcp-method", b"")
        named = b"mcp-name" in fields or method != b"tools/call"
        if b'"' + method + b'"' not in body or not named or fields.get(b"mcp-protocol-version") != b"2026-07-28":
            return refusal(400, b"the headers do not repeat the body")
        if method == b"initialize":
            return refusal(404, b"this revision has no handshake")
        reply = answer(body)
        if b',"error":{"code":-32601' in reply[:300]:
            return 404, reply, []
        if method == b"server/discover":
            head, mark, _ = reply.partition(b',"result":')
            reply = head + mark + DISCOVERED + b"}\n"
        elif method == b"tools/list":
            reply = reply.replace(*LISTED, 1)
        if reply and method != b"server/discover":
            reply = reply[:-3] + b',"resultType":"complete"}}\n'
        return (200 if reply else 202), reply, []

    return respond


def application(respond: Respond, stream: bool) -> Callable[[dict[str, Any], Receive, Send], Awaitable[None]]:
    """The endpoint; with ``stream`` every answer is an event stream of one event, as servers made with an SDK have it."""
    kind = b"text/event-stream" if stream else b"application/json"

    async def endpoint(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        status, reply, fields = 405, b"", []
        if scope["method"] == "POST":
            status, reply, fields = respond(body, dict(scope["headers"]))
        elif scope["method"] == "DELETE":
            status = 200
        if stream and status == 200 and reply:
            reply = b"event: message\ndata: " + reply + b"\n"
        fields = [(b"content-type", kind if status == 200 else b"application/json"), (b"content-length", b"%d" % len(reply)), *fields]
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": reply})

    return endpoint


def main() -> None:
    era, kind, port = sys.argv[1:4]
    run_uvicorn(application(legacy() if era == "legacy" else modern(), kind == "stream"), int(port))


if __name__ == "__main__":
    main()

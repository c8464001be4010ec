"""An HTTP server in the test's own process that answers as the test says, and ``dragoman wrap URL`` in front of it."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.cases.wrapped import META, Wrapped
from tests.io.conftest import Bridge

from faces import ClientFace
from oracle import JsonObject, Oracle

DISCOVERED: JsonObject = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "far", "version": "1"}},
}
HELD: JsonObject = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
LISTED: JsonObject = {"resultType": "complete", **HELD, "ttlMs": 0, "cacheScope": "private"}
TOLD: JsonObject = {"content": [{"type": "text", "text": "done"}]}


class Seen(NamedTuple):
    """A request that reached the server; ``fields`` have lower-case names."""

    verb: str
    fields: dict[str, str]
    body: JsonObject

    @property
    def method(self) -> str:
        """What was asked: the method of the message, or the verb where there is none."""
        return str(self.body.get("method", self.verb))


class Reply(NamedTuple):
    """What is answered; ``body`` is text, or a value to be told as JSON."""

    status: int = 200
    body: Any = ""
    fields: Mapping[str, str] = MappingProxyType({})


Answering = Callable[[Seen], Reply]


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A bridge that was ended in the middle is no news."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Far:
    """The server, in a thread; ``answering`` may be changed at any time."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.seen: list[Seen] = []
        self._http = _Listener(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/mcp"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def methods(self) -> list[str]:
        """What was asked, in order."""
        return [seen.method for seen in list(self.seen)]

    def asked(self, method: str) -> list[Seen]:
        """The requests of one method."""
        return [seen for seen in list(self.seen) if seen.method == method]

    def close(self) -> None:
        """Take no more connections."""
        self._http.shutdown()
        self._http.server_close()


def _handler(far: Far) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _take(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            seen = Seen(self.command, {name.lower(): value for name, value in self.headers.items()}, body)
            far.seen.append(seen)
            reply = far.answering(seen)
            is_text = isinstance(reply.body, str)
            data = reply.body.encode() if is_text else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            kind = {} if not data else {"Content-Type": "text/plain" if is_text else "application/json"}
            for name, value in {**kind, **reply.fields, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET = do_DELETE = _take  # noqa: N815 - the names that the library looks for

        def log_message(self, *_: Any) -> None:
            """Requests are no news."""

    return Handler


# -- servers ---------------------------------------------------------------------------------------------------------------


def result(seen: Seen, value: Any, **fields: str) -> Reply:
    """A good answer."""
    named = {name.replace("_", "-"): text for name, text in fields.items()}
    return Reply(200, {"jsonrpc": "2.0", "id": seen.body["id"], "result": value}, named)


def refused(seen: Seen, status: int, code: int, message: str, **data: Any) -> Reply:
    """A JSON-RPC error with the id of its request."""
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return Reply(status, {"jsonrpc": "2.0", "id": seen.body.get("id"), "error": error})


def modern(seen: Seen) -> Reply:
    """A server of 2026-07-28 and of nothing else."""
    if seen.verb != "POST":
        return Reply(405)
    if seen.fields.get("mcp-protocol-version") != "2026-07-28" or seen.fields.get("mcp-method") != seen.method:
        return refused(seen, 400, -32020, "Header mismatch")
    results = {"server/discover": DISCOVERED, "tools/list": LISTED, "tools/call": {"resultType": "complete", **TOLD}}
    return result(seen, results[seen.method]) if seen.method in results else refused(seen, 404, -32601, "Method not found")


def legacy(seen: Seen) -> Reply:
    """A server of 2025-06-18 with sessions, and without a stream to GET."""
    if seen.method == "initialize":
        hello = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}}
        return result(seen, hello, Mcp_Session_Id="s-1")
    if seen.verb == "GET":
        return Reply(405)
    if "id" not in seen.body:
        return Reply(202 if seen.verb == "POST" else 204)
    if seen.fields.get("mcp-session-id") != "s-1":
        return refused(seen, 400, -32600, "Missing session ID")
    results = {"tools/list": HELD, "tools/call": TOLD, "ping": {}}
    return result(seen, results[seen.method]) if seen.method in results else refused(seen, 200, -32601, "Method not found")


def on_discover(answer: Callable[[Seen], Reply], other: Answering = legacy) -> Answering:
    """A server that answers discovery in a way of its own, and everything else as ``other``."""
    return lambda seen: answer(seen) if seen.method == "server/discover" else other(seen)


# -- the bridge ------------------------------------------------------------------------------------------------------------


class Near(Wrapped):
    """``dragoman wrap URL`` and a client of either era."""

    def __init__(self, oracle: Oracle, url: str, *options: str) -> None:
        self._face = ClientFace(oracle)
        self._next = 0
        Bridge.__init__(self, ["-m", "dragoman", "wrap", *options, url])

    def asks(self, method: str, **params: Any) -> JsonObject:
        """The answer to a modern request."""
        number = self.request(method, **params)
        return self._answer(number)

    def greets(self, revision: str = "2025-11-25") -> JsonObject:
        """The answer to a legacy client's handshake."""
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": META["io.modelcontextprotocol/clientInfo"]}
        answer = self.says("initialize", **hello)
        self.frame({"method": "notifications/initialized"})
        return answer

    def says(self, method: str, **params: Any) -> JsonObject:
        """The answer to a legacy request."""
        self._next += 1
        self.frame({"id": self._next, "method": method, "params": params})
        return self._answer(self._next)

    def _answer(self, number: int) -> JsonObject:
        while True:
            frame = self.read()
            if frame.get("id") == number and "method" not in frame:
                return frame

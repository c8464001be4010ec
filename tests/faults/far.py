"""A server behind a URL whose every byte is scripted: plain sockets on asyncio, in a thread of its own, and no HTTP library.

``Far`` listens, can be closed and opened again on the same port, and can cut its connections off. What it answers is a function of
the request, ``async def answer(request, wire)``; ``modern`` and ``legacy`` make such functions for servers that behave, with tools
that need not: each is such a function too.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

Json = dict[str, Any]
SERVER = {"name": "far", "version": "1"}
TEXT_STREAM = "text/event-stream"


class Request:
    """One request, as it came."""

    def __init__(self, method: str, target: str, fields: dict[str, str], body: bytes) -> None:
        self.method, self.target, self.fields, self.body = method, target, fields, body

    @property
    def frame(self) -> Json:
        return json.loads(self.body) if self.body else {}

    @property
    def what(self) -> str:
        """The method of its message, of HTTP where there is none, ``answer`` for a response."""
        return self.frame.get("method", "answer") if self.body else self.method

    @property
    def tool(self) -> str | None:
        frame = self.frame
        return frame["params"]["name"] if frame.get("method") == "tools/call" else None


class Wire:
    """What a script writes to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def raw(self, data: bytes) -> None:
        """Exactly these bytes, on their way before this returns. Other connections have their turn, however much is written."""
        self.writer.write(data)
        await self.writer.drain()
        await asyncio.sleep(0)

    async def pieces(self, *pieces: bytes, pause: float = 0.01) -> None:
        """Bytes that arrive in separate segments: each is given the time to be read before the next is sent."""
        for piece in pieces:
            await self.raw(piece)
            await asyncio.sleep(pause)

    async def head(self, status: int, *fields: str) -> None:
        lines = "".join(f"{field}\r\n" for field in fields)
        await self.raw(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())

    async def body(self, body: bytes, status: int = 200, kind: str = "application/json", *fields: str) -> None:
        """A whole answer."""
        lines = "".join(f"{field}\r\n" for field in (f"Content-Type: {kind}", f"Content-Length: {len(body)}", *fields))
        await self.raw(f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode() + body)

    async def json(self, frame: Any, status: int = 200, *fields: str) -> None:
        await self.body(json.dumps(frame).encode(), status, "application/json", *fields)

    async def nothing(self, status: int, *fields: str) -> None:
        await self.head(status, "Content-Length: 0", *fields)

    async def stream(self, *fields: str) -> None:
        """The head of a stream in chunked coding."""
        await self.head(200, f"Content-Type: {TEXT_STREAM}", "Transfer-Encoding: chunked", *fields)

    async def chunk(self, data: bytes) -> None:
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def event(self, frame: Any, *lines: str) -> None:
        data = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
        await self.chunk("".join(f"{line}\n" for line in lines).encode() + b"data: " + data + b"\n\n")

    async def end(self) -> None:
        """The end of chunked coding."""
        await self.raw(b"0\r\n\r\n")

    async def hang(self) -> None:
        """Say nothing until the client goes."""
        await self.reader.read()

    def reset(self) -> None:
        """Cut the connection off with RST."""
        reset(self.writer)

    def close(self) -> None:
        self.writer.close()


Answer = Callable[[Request, Wire], Awaitable[None]]


class Far:
    """See the module. A context manager; ``seen`` are the requests in their order.

    A request with a body of more than ``most`` bytes is answered 413 before it is read, and the connection closed or reset.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        open: bool = True,  # noqa: A002
        most: int = 1 << 30,
        refuses: str = "close",
    ) -> None:
        self.answer = answer
        self._most, self._refuses = most, refuses
        self.seen: list[Request] = []
        self.port = 0
        self._arrived = threading.Condition()
        self._host, self._tls, self._opens = host, tls, open
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def url(self, path: str = "/mcp", host: str | None = None) -> str:
        shown = host or (f"[{self._host}]" if ":" in self._host else self._host)
        return f"http{'s' if self._tls else ''}://{shown}:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        if self._opens:
            self.open()
        else:
            with socket.socket() as probe:
                probe.bind((self._host, 0))
                self.port = probe.getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)

    def open(self) -> None:
        """Listen, on the same port as before."""
        self._run(self._open())

    def shut(self) -> None:
        """Listen no more, and cut every connection off."""
        self._run(self._shut())

    def cut(self) -> None:
        """Cut every connection off; new ones are taken."""
        self._loop.call_soon_threadsafe(self._cut)

    def wait(self, what: str, count: int = 1, limit: float = 20.0) -> Request:
        """The ``count``-th request of a kind, once it has come."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.of(what)) >= count, limit), f"{what} {count} never came: {self.whats()}"
        return self.of(what)[count - 1]

    def of(self, what: str) -> list[Request]:
        return [request for request in self.seen if request.what == what]

    def whats(self) -> list[str]:
        return [request.what for request in self.seen]

    # -- in the loop

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._talk, self._host, self.port, ssl=self._tls, limit=1 << 24, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._cut()

    def _cut(self) -> None:
        for writer in list(self._writers):
            reset(writer)

    async def _stop(self) -> None:
        await self._shut()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for what was closed to be closed

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):  # the end of the test, too
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read(reader, self._most)) is not None:
                with self._arrived:
                    self.seen.append(request)
                    self._arrived.notify_all()
                await self.answer(request, Wire(reader, writer))
                if writer.is_closing():
                    break
        except TooBig:
            await Wire(reader, writer).nothing(413, "Connection: close")
            if self._refuses == "reset":
                reset(writer)


def reset(writer: asyncio.StreamWriter) -> None:
    plain = writer.get_extra_info("socket")
    if plain is not None and not writer.is_closing():
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class TooBig(Exception):
    """A body that is not read."""


async def read(reader: asyncio.StreamReader, most: int) -> Request | None:
    """The next request of a connection."""
    try:
        start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = start.split(" ")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(fields.get("content-length", 0))
    if length > most:
        raise TooBig
    body = await reader.readexactly(length)
    return Request(method, target, fields, body)


# --- servers that behave -------------------------------------------------------------------------------------------------


def result(request: Request, value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request.frame["id"], "result": value}


def content(request: Request, text: str) -> Json:
    """The result of a call, of either era."""
    modern = "_meta" in request.frame["params"] and "io.modelcontextprotocol/protocolVersion" in request.frame["params"]["_meta"]
    return result(request, {**({"resultType": "complete"} if modern else {}), "content": [{"type": "text", "text": text}]})


async def echo(request: Request, wire: Wire) -> None:
    """A tool that says what it was told."""
    await wire.json(content(request, request.frame["params"]["arguments"].get("text", "")))


def listing(tools: dict[str, Answer], harmless: tuple[str, ...]) -> list[Json]:
    hints = {"annotations": {"readOnlyHint": True}}
    return [{"name": name, "inputSchema": {"type": "object"}, **(hints if name in harmless else {})} for name in tools]


def modern(*, harmless: tuple[str, ...] = (), listen: Answer | None = None, **tools: Answer) -> Answer:
    """A server of 2026-07-28; there is always the tool ``echo``."""
    every = {"echo": echo, **tools}
    cached = {"ttlMs": 0, "cacheScope": "private"}
    capabilities = {"tools": {"listChanged": True}}

    async def answer(request: Request, wire: Wire) -> None:
        what = request.what
        if request.method != "POST":
            await wire.nothing(405)
        elif what == "server/discover":
            found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "serverInfo": SERVER}
            await wire.json(result(request, {**found, **cached}))
        elif what == "tools/list":
            await wire.json(result(request, {"resultType": "complete", "tools": listing(every, harmless), **cached}))
        elif what == "tools/call":
            await every[request.tool or ""](request, wire)
        elif what == "subscriptions/listen" and listen is not None:
            await listen(request, wire)
        elif "id" in request.frame:
            await wire.json({"jsonrpc": "2.0", "id": request.frame["id"], "error": {"code": -32601, "message": "none"}}, 404)
        else:
            await wire.nothing(202)

    return answer


class Legacy:
    """A server of 2025-11-25 with sessions, which it can forget."""

    def __init__(self, *, harmless: tuple[str, ...] = (), get: Answer | None = None, **tools: Answer) -> None:
        self.every = {"echo": echo, **tools}
        self.harmless, self.get = harmless, get
        self.sessions: set[str] = set()
        self.begun = 0

    def forget(self) -> None:
        self.sessions.clear()

    async def __call__(self, request: Request, wire: Wire) -> None:
        what, frame = request.what, request.frame
        if what == "initialize":
            self.begun += 1
            self.sessions.add(f"session-{self.begun}")
            capabilities = {"tools": {"listChanged": True}, "logging": {}}
            found = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": SERVER}
            await wire.json(result(request, found), 200, f"Mcp-Session-Id: session-{self.begun}")
        elif "mcp-session-id" not in request.fields:
            await wire.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Bad Request: no session"}}, 400)
        elif request.fields["mcp-session-id"] not in self.sessions:
            await wire.nothing(404)
        elif request.method == "GET":
            await (self.get(request, wire) if self.get else wire.nothing(405))
        elif request.method == "DELETE":
            await wire.nothing(204)
        elif what == "tools/list":
            await wire.json(result(request, {"tools": listing(self.every, self.harmless)}))
        elif what == "tools/call":
            await self.every[request.tool or ""](request, wire)
        elif "id" in frame and "method" in frame:
            await wire.json(result(request, {}))
        else:
            await wire.nothing(202)

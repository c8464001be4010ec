"""Clients of every revision over HTTP and stdio, written by hand, and the way to one of several workers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import httpx2
from tests.serve.conftest import ENVIRONMENT

Json = dict[str, Any]
Answer = Callable[[str, Json], Json]

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
WITHOUT_ELICITATION = ("2024-11-05", "2025-03-26")
WORKER = Path(__file__).with_name("worker_server.py")
LIMIT = 20.0


class Balancer(httpx2.AsyncBaseTransport):
    """Requests to workers in turn, but those of one session to the worker that opened it.

    ``seen``: the method of each request and the worker that answered it, by its header ``x-worker``.
    """

    def __init__(self, *ports: int) -> None:
        self.seen: list[tuple[str, str]] = []
        self._turns = cycle(ports)
        self._homes: dict[str, int] = {}
        self._inner = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=None))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        session = request.headers.get("mcp-session-id") or request.url.params.get("session")
        port = self._homes[session] if session in self._homes else next(self._turns)
        request.url = request.url.copy_with(port=port)
        request.headers["host"] = f"127.0.0.1:{port}"
        response = await self._inner.handle_async_request(request)
        opened = response.headers.get("mcp-session-id")
        if opened is not None:
            self._homes[opened] = port
        body = json.loads(request.content or b"{}") if request.method == "POST" else {}
        self.seen.append((body.get("method", request.method), response.headers.get("x-worker", "")))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def meta_of(capabilities: Json) -> Json:
    """What every modern request carries."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }


def says_yes(method: str, params: Json) -> Json:
    """An answer to a question of ours, as its message has it."""
    content = {"env": "staging"} if params["message"] == "Deploy where?" else {"sure": True}
    return {"action": "accept", "content": content}


class Raw:
    """A client of one revision. What it is asked goes to ``answer``; notifications on a request's stream are in ``told``."""

    def __init__(self, version: str, answer: Answer = says_yes) -> None:
        self.version = version
        self.told: list[Json] = []
        self.asked: list[Json] = []
        self.capabilities: Json = {} if version in WITHOUT_ELICITATION else {"elicitation": {}}
        self._answer = answer
        self._last = 0

    def exchange(self, message: Json) -> AsyncIterator[Json]:
        """Send a request; the frames that come until its answer, or further."""
        raise NotImplementedError

    async def say(self, message: Json) -> None:
        """Send what is no request."""
        raise NotImplementedError

    async def greet(self) -> Json:
        """The handshake, or discovery."""
        found = await self.greet_once()
        if self.version != MODERN:
            assert found["result"]["protocolVersion"] == self.version, found
            await self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    async def greet_once(self) -> Json:
        """Its first request, and the answer."""
        if self.version == MODERN:
            return await self.request("server/discover")
        offered = {"protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": {"name": "by hand", "version": "1"}}
        return await self.request("initialize", offered)

    async def request(self, method: str, params: Json | None = None) -> Json:
        """One request and its answer, a frame."""
        self._last += 1
        number = self._last
        sent = dict(params or {})
        if self.version == MODERN:
            sent["_meta"] = {**meta_of(self.capabilities), **sent.get("_meta", {})}
        async with asyncio.timeout(LIMIT):
            async for frame in self.exchange({"jsonrpc": "2.0", "id": number, "method": method, "params": sent}):
                if "method" not in frame:
                    assert frame.get("id") in (number, None), frame
                    return frame
                if "id" not in frame:
                    self.told.append(frame)
                    continue
                self.asked.append(frame)
                await self.say({"jsonrpc": "2.0", "id": frame["id"], "result": self._answer(frame["method"], frame["params"])})
        raise AssertionError(f"the stream of {method} ended without an answer")

    async def call(self, tool: str, **arguments: Any) -> Json:
        """The answer to a call, once all questions in its middle are answered."""
        params: Json = {"name": tool, "arguments": arguments}
        found = await self.request("tools/call", params)
        while found.get("result", {}).get("resultType") == "input_required":
            found = await self.request("tools/call", {**params, **self.answered(found["result"])})
        return found

    def answered(self, result: Json) -> Json:
        """What a retry adds to its request."""
        self.asked += result["inputRequests"].values()
        answers = {key: self._answer(each["method"], each["params"]) for key, each in result["inputRequests"].items()}
        return {"inputResponses": answers, "requestState": result["requestState"]}


class RawHttp(Raw):
    """Over Streamable HTTP; 2024-11-05 has no such transport, but its clients find it in servers that offer it."""

    def __init__(self, version: str, http: httpx2.AsyncClient, url: str, answer: Answer = says_yes, headers: Json | None = None) -> None:
        super().__init__(version, answer)
        self.http = http
        self.url = url
        self.session: str | None = None
        self.statuses: list[int] = []
        self._headers = headers or {}

    def fields(self, message: Json) -> dict[str, str]:
        """The header fields of a message."""
        fields = {"accept": "application/json, text/event-stream", "content-type": "application/json", **self._headers}
        if self.version == MODERN:
            params = message.get("params", {})
            fields |= {"mcp-protocol-version": MODERN, "mcp-method": message["method"]}
            target = params.get("name", params.get("uri"))
            return fields if target is None else {**fields, "mcp-name": target}
        if self.session is not None:
            fields["mcp-session-id"] = self.session
            if self.version not in WITHOUT_ELICITATION:
                fields["mcp-protocol-version"] = self.version
        return fields

    async def exchange(self, message: Json) -> AsyncIterator[Json]:
        async with self.http.stream("POST", self.url, json=message, headers=self.fields(message)) as response:
            self.statuses.append(response.status_code)
            self.session = response.headers.get("mcp-session-id", self.session)
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                async for frame in events(response):
                    yield frame
            else:
                yield json.loads(await response.aread())

    async def say(self, message: Json) -> None:
        response = await self.http.post(self.url, json=message, headers=self.fields(message))
        assert response.status_code == 202, response.text

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[AsyncIterator[Json]]:
        """The stream that a legacy client opens by GET, for what belongs to no request."""
        fields = {**self.fields({}), "accept": "text/event-stream"}
        async with self.http.stream("GET", self.url, headers=fields) as response:
            assert response.status_code == 200, response.status_code
            yield events(response)


class RawSse(Raw):
    """Over the two endpoints of 2024-11-05."""

    def __init__(self, version: str, http: httpx2.AsyncClient, root: str, answer: Answer = says_yes) -> None:
        super().__init__(version, answer)
        self._http = http
        self._root = root
        self._target = ""
        self._frames: AsyncIterator[Json]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Self]:
        """Open the stream, and learn the other endpoint."""
        async with self._http.stream("GET", f"{self._root}/sse", headers={"accept": "text/event-stream"}) as response:
            lines = response.aiter_lines()
            async for line in lines:
                if line.startswith("data: "):
                    self._target = urljoin(f"{self._root}/sse", line[6:])
                    break
            self._frames = frames_of(lines)
            yield self

    async def exchange(self, message: Json) -> AsyncIterator[Json]:
        await self.say(message)
        while True:
            yield await anext(self._frames)

    async def say(self, message: Json) -> None:
        response = await self._http.post(self._target, json=message)
        assert response.status_code == 202, response.text


class RawStdio(Raw):
    """Over the pipes of a process."""

    def __init__(self, version: str, pipes: Worker, answer: Answer = says_yes) -> None:
        super().__init__(version, answer)
        self.pipes = pipes.process

    async def exchange(self, message: Json) -> AsyncIterator[Json]:
        await self.say(message)
        while line := await self.line():
            yield json.loads(line)

    async def say(self, message: Json) -> None:
        await self.write(json.dumps(message).encode())

    async def write(self, line: bytes) -> None:
        """Anything, as a line."""

        def write() -> None:
            self.pipes.stdin.write(line + b"\n")
            self.pipes.stdin.flush()

        await asyncio.to_thread(write)

    async def line(self) -> bytes:
        """What comes next on its stdout; b"" at the end."""
        return await asyncio.to_thread(self.pipes.stdout.readline)


def frames_of(lines: AsyncIterator[str]) -> AsyncIterator[Json]:
    """The JSON of server-sent events; those without data are passed over."""

    async def found() -> AsyncIterator[Json]:
        async for line in lines:
            if line.startswith("data: "):
                yield json.loads(line[6:])

    return found()


def events(response: httpx2.Response) -> AsyncIterator[Json]:
    """The frames of an event stream."""
    return frames_of(response.aiter_lines())


async def next_of(frames: AsyncIterator[Json]) -> Json:
    """The next frame, within the limit of every wait here."""
    async with asyncio.timeout(LIMIT):
        return await anext(frames)


class Worker:
    """A process of worker_server.py. ``told``: what it has written to stderr, by lines."""

    def __init__(self, kind: str, name: str, *options: str) -> None:
        words = [sys.executable, str(WORKER), kind, name, *options]
        self.process = subprocess.Popen(words, stdin=-1, stdout=-1, stderr=-1, env=ENVIRONMENT)
        self.told: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in iter(self.process.stderr.readline, b""):
            with self._news:
                self.told.append(line.decode().rstrip("\n"))
                self._news.notify_all()

    @cached_property
    def port(self) -> int:
        """Where it listens, over HTTP."""
        line = self.process.stdout.readline()
        assert line.startswith(b"port "), self.told
        return int(line.split()[1])

    async def hears(self, text: str, times: int = 1, seconds: float = LIMIT) -> None:
        """Wait until it has told this."""

        def wait() -> bool:
            with self._news:
                return self._news.wait_for(lambda: sum(text in line for line in self.told) >= times, seconds)

        assert await asyncio.to_thread(wait), f"it has not told {text!r}, but {self.told}"

    async def wait(self, seconds: float = LIMIT) -> int:
        """Its exit status, once all that it told is there."""
        status = await asyncio.to_thread(self.process.wait, seconds)
        await asyncio.to_thread(self._reader.join)
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):  # what it has not taken
                stream.close()

"""A small HTTP/1.1 client on asyncio streams: one kept-alive connection, JSON or Server-Sent Events, nothing that costs time.

Used where hundreds of clients must be one process; it understands what ``dragoman serve`` sends, and fails on anything else.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple, Self

JsonObject = dict[str, Any]
PREFIX = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
ENVELOPE: JsonObject = {
    PREFIX + "protocolVersion": MODERN,
    PREFIX + "clientCapabilities": {},
    PREFIX + "clientInfo": {"name": "raw", "version": "1"},
}
CALL_HEADERS = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call"}


class Answer(NamedTuple):
    """Status, header fields (names in lower case) and the messages in their order."""

    status: int
    headers: dict[str, str]
    messages: list[JsonObject]


class Connection:
    """One connection; requests on it follow one another."""

    def __init__(self, port: int, path: str) -> None:
        self._port, self._path = port, path
        self.headers: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def ask(self, method: str, message: JsonObject | None = None, **headers: str) -> Answer:
        """Send a request and read its answer to the end. Names of headers are given with underscores."""
        self.send(method, message, **headers)
        status, found = await self.head()
        return Answer(status, found, await self._messages(found))

    def send(self, method: str, message: JsonObject | None = None, **headers: str) -> None:
        body = b"" if message is None else json.dumps(message).encode()
        fields = {
            "Host": f"127.0.0.1:{self._port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
            **self.headers,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._writer.write(f"{method} {self._path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    async def head(self) -> tuple[int, dict[str, str]]:
        """Status and header fields: they come when an answer is complete, or a stream has begun."""
        start, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()[:-1]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(start.split()[1]), headers

    async def event(self) -> JsonObject:
        """The next message of a stream whose head was read; every event is one chunk here."""
        while True:
            size = int(await self._reader.readline(), 16)
            data = (await self._reader.readexactly(size + 2))[:-2]
            assert size, "the stream has ended"
            found = data_of(data)
            if found:
                return found[0]

    async def _messages(self, headers: dict[str, str]) -> list[JsonObject]:
        body = await self._body(headers)
        if headers.get("content-type", "").startswith("text/event-stream"):
            return data_of(body)
        return [json.loads(body)] if body else []

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", 0)))
        body = b""
        while size := int(await self._reader.readline(), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readline()
        return body

    async def call(self, number: Any, tool: str, arguments: JsonObject) -> Answer:
        """A modern call of a tool."""
        return await self.ask("POST", tool_call(number, tool, arguments, ENVELOPE), **CALL_HEADERS, Mcp_Name=tool)

    async def initialize(self, revision: str) -> None:
        """Open a legacy session, which all later requests then belong to."""
        named = {"capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        params = {"protocolVersion": revision, **named}
        answer = await self.ask("POST", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert answer.status == 200, answer
        self.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        self.headers["MCP-Protocol-Version"] = answer.messages[0]["result"]["protocolVersion"]
        answer = await self.ask("POST", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert answer.status == 202, answer

    async def legacy_call(self, number: Any, tool: str, arguments: JsonObject, meta: JsonObject | None = None) -> Answer:
        """A call in the session."""
        return await self.ask("POST", tool_call(number, tool, arguments, meta))


def data_of(stream: bytes) -> list[JsonObject]:
    """The messages of whole events of one data line each."""
    lines = stream.decode().split("\n")
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and line[5:].strip()]


def tool_call(number: Any, tool: str, arguments: JsonObject, meta: JsonObject | None) -> JsonObject:
    params: JsonObject = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}

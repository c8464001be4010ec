"""HTTP as bytes: requests written by hand, answers read from the socket. Standard library only, and nothing of the bridge."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any, Self

JsonObject = dict[str, Any]

REVISION = "2026-07-28"
META: JsonObject = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def head(method: str, path: str, *fields: str, version: str = "1.1") -> bytes:
    """A request's head."""
    return "".join(f"{line}\r\n" for line in (f"{method} {path} HTTP/{version}", "Host: localhost", *fields, "")).encode("latin-1")


def post(body: bytes, *fields: str, path: str = "/mcp", version: str = "1.1") -> bytes:
    """A whole POST."""
    accepts = ("Content-Type: application/json", "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}")
    return head("POST", path, *accepts, *fields, version=version) + body


def modern_fields(method: str, params: JsonObject) -> list[str]:
    name = params.get("name") or params.get("uri")
    return [f"MCP-Protocol-Version: {REVISION}", f"Mcp-Method: {method}", *([f"Mcp-Name: {name}"] if name else [])]


def modern_body(method: str, number: int = 1, **params: Any) -> bytes:
    """A modern request as JSON; ``meta`` adds to its ``_meta``."""
    meta = {**META, **params.pop("meta", {})}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}).encode()


def modern(method: str, *fields: str, number: int = 1, path: str = "/mcp", version: str = "1.1", **params: Any) -> bytes:
    """A whole modern POST."""
    body = modern_body(method, number, **params)
    return post(body, *modern_fields(method, params), *fields, path=path, version=version)


def call(tool: str, *fields: str, number: int = 1, path: str = "/mcp", meta: JsonObject | None = None, **arguments: Any) -> bytes:
    """A whole modern ``tools/call``."""
    return modern("tools/call", *fields, number=number, path=path, name=tool, arguments=arguments, meta=meta or {})


@dataclass
class Answer:
    """What a server said."""

    status: int
    fields: dict[str, str]
    body: bytes = b""

    @property
    def frame(self) -> JsonObject:
        """The JSON body."""
        frame: JsonObject = json.loads(self.body)
        return frame

    @property
    def text(self) -> str:
        """The text of a tool's result."""
        return str(self.frame["result"]["content"][0]["text"])


class Connection:
    """One TCP connection."""

    def __init__(self, port: int, host: str = "127.0.0.1", *, receive_buffer: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(30)
        self._rest = b""
        self._events = b""
        try:
            self.socket.connect((host, port))
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, data: bytes) -> Answer:
        """Send a request, read the whole answer."""
        self.send(data)
        return self.answer()

    def answer(self) -> Answer:
        """A whole answer, its body by length, by chunks or to the end."""
        answer = self.head()
        if answer.status in (204, 304):
            return answer
        if "content-length" in answer.fields:
            answer.body = self._exactly(int(answer.fields["content-length"]))
        elif answer.fields.get("transfer-encoding") == "chunked":
            answer.body = b"".join(iter(self.chunk, b""))
        else:
            answer.body = self.rest()
        return answer

    def head(self) -> Answer:
        """Only the head of an answer; interim answers are kept out."""
        first, *lines = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        status = int(first.split()[1])
        if status == 100:
            return self.head()
        return Answer(status, {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)})

    def interim(self) -> bytes:
        """An interim answer, as it is."""
        return self._until(b"\r\n\r\n")

    def chunk(self) -> bytes:
        """The next chunk; b"" is the end of a chunked body."""
        size = int(self._until(b"\r\n"), 16)
        data = self._exactly(size)
        assert self._exactly(2) == b"\r\n"
        return data

    def event(self) -> JsonObject:
        """The JSON of the next server-sent event of a chunked answer; comments are passed over."""
        while True:
            while b"\n\n" not in self._events:
                data = self.chunk()
                assert data, "the stream ended"
                self._events += data
            event, _, self._events = self._events.partition(b"\n\n")
            lines = [line[6:] for line in event.splitlines() if line.startswith(b"data: ")]
            if lines:
                frame: JsonObject = json.loads(lines[0])
                return frame

    def rest(self) -> bytes:
        """Everything up to the end; a reset is an end too."""
        chunks = [self._rest]
        self._rest = b""
        self._events = b""
        try:
            while data := self.socket.recv(1 << 20):
                chunks.append(data)
        except ConnectionResetError:
            pass
        return b"".join(chunks)

    @property
    def ended(self) -> bool:
        """Whether the server has closed, or does so now, without another byte."""
        return self.rest() == b""

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            self._more()
        data, _, self._rest = self._rest.partition(mark)
        return data

    def _exactly(self, size: int) -> bytes:
        chunks = [self._rest]
        left = size - len(self._rest)
        while left > 0:
            chunks.append(data := self.socket.recv(1 << 20))
            assert data, "the server closed the connection"
            left -= len(data)
        whole = b"".join(chunks)
        self._rest = whole[size:]
        return whole[:size]

    def _more(self) -> None:
        data = self.socket.recv(1 << 20)
        assert data, f"the server closed the connection after {self._rest!r}"
        self._rest += data

"""``dragoman serve`` as a process in front of ``small_server.py``: raw HTTP over sockets, every frame to a client judged by the oracle.

``Served`` is the process, ``Caller`` is one client of it (its credentials, its legacy session), ``Reply`` is an answer that is read as far
as a test asks for it. What was sent and what came are judged frame by frame; a modern request is judged alone, since nothing connects
two of them, and those of a legacy session together.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cases.reply import Reply, text_of
from tests.cases.wrapped import META
from tests.io.conftest import ROOT

from dragoman.http.headers import encode_value
from faces import ClientFace
from oracle import LEGACY, RESERVED, JsonObject, Oracle

SERVER = Path(__file__).with_name("small_server.py")
PATIENCE = 10.0
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
BOTH = "application/json, text/event-stream"
_LISTENING = re.compile(rb"dragoman: listening on http://(\S+):([0-9]+)(/\S*)\n")
Value = str | bytes | None | list[str | bytes]
Fields = Mapping[str, Value]
"""Header fields over those that a client sends by itself: None takes one away, a list sends one several times."""


class Served:
    """The bridge, and what the servers behind it were shown."""

    def __init__(self, folder: Path, oracle: Oracle, quirk: str = "plain", *options: str, env: Mapping[str, str] | None = None) -> None:
        self.oracle = oracle
        self.seen_at = folder / "seen"
        self._forgotten = 0
        self._replies: list[Reply] = []
        self._lines: list[bytes] = []
        self._listens = threading.Event()
        self.host, self.port, self.path = "", 0, ""
        source = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))
        server = [sys.executable, "-S", str(SERVER), str(self.seen_at), quirk]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, "--", *server],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": source, **(env or {})},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._listens.wait(PATIENCE)
        if not self.port:
            self.dispose()
            raise AssertionError(f"it does not listen: {self.stderr()}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.append(line)
            found = _LISTENING.match(line)
            if found and not self.port:
                self.host, self.port, self.path = found[1].decode(), int(found[2]), found[3].decode()
                self._listens.set()
        self._listens.set()

    # -- clients ---------------------------------------------------------------------------------------------------

    def caller(self, authorization: str | None = None, **fields: str) -> Caller:
        """A client; ``fields`` are sent with each of its requests, names with underscores."""
        own = {} if authorization is None else {"Authorization": authorization}
        return Caller(self, {**own, **{name.replace("_", "-"): value for name, value in fields.items()}})

    def connect(self) -> socket.socket:
        return socket.create_connection((self.host.strip("[]"), self.port), PATIENCE)

    def raw(self, data: bytes) -> list[Reply]:
        """Every answer that ``data`` gets on a connection of its own, up to its end: the last request should ask for that."""
        with self.connect() as connection:
            with suppress(ConnectionError, TimeoutError):  # it may be refused before it is all there
                connection.sendall(data)
            source = connection.makefile("rb")
            replies = []
            while (reply := Reply.read(None, source)) is not None:
                reply.finish()
                replies.append(reply)
            source.close()
            return replies

    def health(self) -> JsonObject:
        return self.caller().send("GET", "/healthz").json()

    # -- the servers -------------------------------------------------------------------------------------------------

    def seen(self) -> list[JsonObject]:
        """What the servers wrote down since ``forget``, in order."""
        lines = self.seen_at.read_text("utf-8").splitlines() if self.seen_at.exists() else []
        return [json.loads(line) for line in lines[self._forgotten :]]

    def forget(self) -> None:
        """A new beginning: clients go, and only what comes from now on is looked at."""
        self.hang_up()
        self._forgotten += len(self.seen())

    def hold(self, reply: Reply) -> Reply:
        """An answer whose connection is to be closed at last, read or not."""
        self._replies.append(reply)
        return reply

    def hang_up(self) -> None:
        """Every client closes its connections."""
        for reply in self._replies:
            reply.close()
        self._replies.clear()

    def frames(self, pid: int | None = None) -> list[JsonObject]:
        """The frames that the servers, or one of them, were shown."""
        return [json.loads(entry["line"]) for entry in self.seen() if "line" in entry and pid in (None, entry["pid"])]

    def shown(self, method: str | None = None, pid: int | None = None) -> list[JsonObject]:
        """The params of every request and notification of that method."""
        return [frame.get("params", {}) for frame in self.frames(pid) if method in (None, frame.get("method"))]

    def methods(self, pid: int | None = None) -> list[str]:
        return [frame["method"] for frame in self.frames(pid) if "method" in frame]

    def children(self) -> list[int]:
        """The processes that it has started and not yet buried."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text("ascii").split()]

    def memory(self) -> int:
        """The most bytes that it has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    # -- the operator --------------------------------------------------------------------------------------------------

    def stderr(self) -> str:
        return b"".join(self._lines).decode("utf-8", "replace")

    def stop(self) -> int:
        """SIGTERM; the answer is the exit status, and stderr is whole then."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status

    def dispose(self) -> None:
        """After the tests, whatever became of it."""
        self.hang_up()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGINT)  # a second signal: nobody waits for calls that no test reads any more
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()


class Caller:
    """One client. ``session`` is its legacy session, once there is one."""

    def __init__(self, served: Served, fields: Mapping[str, str]) -> None:
        self.served = served
        self.fields = dict(fields)
        self.session: str | None = None
        self._face = ClientFace(served.oracle)
        self._next = 0

    # -- HTTP --------------------------------------------------------------------------------------------------------

    def send(self, method: str, target: str | None = None, fields: Fields | None = None, body: bytes = b"") -> Reply:
        """A request, with Host and what ``fields`` say."""
        return self._send(method, self.served.path if target is None else target, fields or {}, body, None)

    def _send(self, method: str, target: str, fields: Fields, body: bytes, face: ClientFace | None) -> Reply:
        own: dict[str, Value] = {"Host": f"{self.served.host}:{self.served.port}", **self.fields}
        if method == "POST":
            own |= {"Content-Type": "application/json", "Accept": BOTH, "Content-Length": str(len(body))}
        connection = self.served.connect()
        with suppress(ConnectionError):  # it may be refused before it is all there, and the answer says why
            connection.sendall(head(method, target, {**own, **fields}) + body)
        source = connection.makefile("rb")
        reply = None
        try:
            reply = Reply.read(face, source, connection)
        finally:
            if reply is None:
                source.close()
                connection.close()
        assert reply is not None, "the connection was closed without an answer"
        return self.served.hold(reply)

    def post(self, message: JsonObject | list[JsonObject] | bytes, fields: Fields | None = None, *, target: str | None = None) -> Reply:
        """A message as it is."""
        body = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
        face = self._judging(message, fields or {})
        for frame in message if isinstance(message, list) else [message]:
            face.from_client(frame if isinstance(frame, bytes) else json.dumps(frame))
        return self._send("POST", self.served.path if target is None else target, self._of_session(fields), body, face)

    def _judging(self, message: object, fields: Fields) -> ClientFace:
        params = message.get("params") if isinstance(message, dict) else None
        meta = params.get("_meta") if isinstance(params, dict) else None
        is_modern = isinstance(meta, dict) and RESERVED + "protocolVersion" in meta
        if self.session is not None and not is_modern:
            return self._face
        face = ClientFace(self.served.oracle)
        version = fields.get("MCP-Protocol-Version")
        if not is_modern and isinstance(version, str) and version in LEGACY:
            face.revision = version
        if isinstance(message, dict) and message.get("method") == "initialize":
            self._face = face
        return face

    def _of_session(self, fields: Fields | None) -> Fields:
        return {**({} if self.session is None else {"Mcp-Session-Id": self.session}), **(fields or {})}

    # -- a modern client -----------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        *,
        id: Any = None,  # noqa: A002
        meta: JsonObject | None = None,
        fields: Fields | None = None,
        **params: Any,
    ) -> Reply:
        """A modern request with the headers that belong to it; ``fields`` change them."""
        self._next += 1
        envelope = META if meta is None else {**META, **meta}
        own: dict[str, Value] = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
        if method in NAMES:
            own["Mcp-Name"] = encode_value(params[NAMES[method]])
        frame = {"jsonrpc": "2.0", "id": self._next if id is None else id, "method": method, "params": {**params, "_meta": envelope}}
        return self.post(frame, {**own, **(fields or {})})

    def call(self, tool: str, *, fields: Fields | None = None, meta: JsonObject | None = None, **arguments: Any) -> Reply:
        return self.request("tools/call", fields=fields, meta=meta, name=tool, arguments=arguments)

    def said(self, tool: str, **arguments: Any) -> str:
        """Call a tool that answers with one text, and that text."""
        return text_of(self.call(tool, **arguments).json())

    # -- a legacy client -------------------------------------------------------------------------------------------------

    def initialize(self, revision: str = "2025-06-18", fields: Fields | None = None, **capabilities: Any) -> JsonObject:
        """Open a legacy session, in which this client's further requests are; the answer is the result."""
        params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "old", "version": "1"}}
        reply = self.post({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}, fields)
        answer = reply.json()
        assert reply.status == 200, answer
        self.session = reply.field("mcp-session-id")
        assert self.tell("notifications/initialized").status == 202
        result: JsonObject = answer["result"]
        return result

    def ask(self, method: str, *, id: Any = None, fields: Fields | None = None, **params: Any) -> Reply:  # noqa: A002
        """A legacy request."""
        self._next += 1
        return self.post({"jsonrpc": "2.0", "id": self._next if id is None else id, "method": method, "params": params}, fields)

    def tell(self, method: str, **params: Any) -> Reply:
        """A notification."""
        return self.post({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def get(self, fields: Fields | None = None, target: str | None = None) -> Reply:
        """The stream of the session."""
        own: dict[str, Value] = {"Accept": "text/event-stream"}
        path = self.served.path if target is None else target
        return self._send("GET", path, {**own, **self._of_session(fields)}, b"", self._face)

    def delete(self) -> Reply:
        return self.send("DELETE", None, self._of_session(None))


def head(method: str, target: str, fields: Fields) -> bytes:
    """The head of a request on the wire, without its body."""
    lines = [f"{method} {target} HTTP/1.1".encode()]
    for name, value in fields.items():
        values = value if isinstance(value, list) else [] if value is None else [value]
        lines += [name.encode() + b": " + (each.encode("latin-1") if isinstance(each, str) else each) for each in values]
    return b"\r\n".join(lines) + b"\r\n\r\n"

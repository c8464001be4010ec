"""A legacy client in front of a server of 2026-07-28, on stdio and without a transport: its words, and judges at both ends."""

# ruff: noqa: A002 - ``id`` is what the member is called on the wire

from __future__ import annotations

import json
from typing import Any

from modern_side import ModernServerFace
from tests.conversation import CLIENT, META, Conversation, Json

from faces import ClientFace
from oracle import Invalid, Oracle

DISCOVERED: Json = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True},
        "logging": {},
    },
    "ttlMs": 0,
    "cacheScope": "private",
}
DONE: Json = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
SEEN: Json = {"content": DONE["content"]}
"""``DONE`` as a legacy client sees it."""
EVERYTHING: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {"listChanged": True}}
NAME: Json = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM: Json = {"method": "elicitation/create", "params": {"message": "Name?", "requestedSchema": NAME}}
LINK: Json = {"method": "elicitation/create", "params": {"mode": "url", "message": "Sign in", "url": "https://example.com/in"}}
SAMPLE: Json = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "2+2"}}], "maxTokens": 5},
}
ROOTS: Json = {"method": "roots/list"}
SAID: Json = {"action": "accept", "content": {"name": "Ada"}}


class Lowered(Conversation):
    """One such connection. ``judged=False``: a peer breaks a rule that a judge needs."""

    def __init__(self, oracle: Oracle, *, judged: bool = True, **options: Any) -> None:
        super().__init__(oracle=None, **{"server_era": "modern", **options})
        if judged:
            self.judge = DownJudge(oracle)  # type: ignore[assignment]

    # -- the client ------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json | None = None, *, id: Any) -> None:
        """A request."""
        self.client_frame(asked(method, params, id=id))

    def tells(self, method: str, params: Json | None = None) -> None:
        """A notification."""
        self.client_frame({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def run(self, *, id: Any, name: str = "deploy", **members: Any) -> None:
        """A ``tools/call``."""
        self.request("tools/call", {"name": name, "arguments": {}, **members}, id=id)

    def says(self, id: Any, result: Any) -> None:
        """The answer to a question."""
        self.client_frame({"jsonrpc": "2.0", "id": id, "result": result})

    def greets(self, revision: str = "2025-11-25", capabilities: Json | None = None, discovered: Json | None = None) -> None:
        """The handshake, and what answers it."""
        declared = EVERYTHING if capabilities is None else capabilities
        self.request("initialize", {"protocolVersion": revision, "capabilities": declared, "clientInfo": CLIENT}, id="hello")
        self.reply("server/discover", DISCOVERED if discovered is None else discovered)

    def questions(self) -> list[Json]:
        """What the client was asked, oldest first."""
        return [frame for frame in self.to_client if "method" in frame and "id" in frame]

    def asked_since(self, count: int) -> list[Json]:
        """The questions after the first so many."""
        return self.questions()[count:]

    # -- the server ------------------------------------------------------------------------------------------------

    def asks_back(self, method: str = "tools/call", **members: Any) -> None:
        """The newest request of a method is answered with ``input_required``."""
        self.reply(method, {"resultType": "input_required", **members})

    def acknowledges(self, listen: Json | None = None, **changed: Any) -> Json:
        """The newest stream, or another, is acknowledged: as it was asked for, but for what the keywords say."""
        stream = self.requests("subscriptions/listen")[-1] if listen is None else listen
        granted = {**stream["params"]["notifications"], **changed}
        self.note("notifications/subscriptions/acknowledged", {"notifications": granted, "_meta": on(stream)})
        return stream


class DownJudge:
    """The oracle at both ends of such a conversation; it is asked as ``Judge`` is."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._client = ClientFace(oracle)
        self._servers: dict[int, ModernServerFace] = {}

    def from_client(self, line: bytes) -> None:
        """What the client writes gives the answers their meaning."""
        for item in _entries(line):
            self._client.from_client(item)

    def to_client(self, line: bytes) -> None:
        """The bridge writes to the client."""
        if line.startswith(b"[") and self._client.revision != "2025-03-26":
            raise Invalid(f"a batch to a client of {self._client.revision}: {line!r}")
        for item in _entries(line):
            self._client.to_client(item)

    def from_server(self, session: int, line: bytes) -> None:
        """What the server writes, valid or not."""
        for item in _entries(line):
            self._server(session).from_server(item)

    def to_server(self, session: int, line: bytes) -> None:
        """The bridge writes to the server."""
        self._server(session).to_server(line)

    def _server(self, session: int) -> ModernServerFace:
        return self._servers.setdefault(session, ModernServerFace(self._oracle))


def _entries(line: bytes) -> list[bytes]:
    """The objects of a line or batch."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, list):
        return [line] if isinstance(value, dict) else []
    return [json.dumps(item).encode() for item in value if isinstance(item, dict)]


def asked(method: str, params: Json | None = None, *, id: Any) -> Json:
    """A request's frame."""
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def on(stream: Json) -> Json:
    """The ``_meta`` of what comes on a stream."""
    return {f"{META}subscriptionId": stream["id"]}

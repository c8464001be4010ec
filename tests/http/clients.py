"""Clients of the legacy revisions, as a conversation over HTTP needs them: what a session's requests have in common."""

# ruff: noqa: A002 - ``id`` is what the member is called on the wire

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.conversation import ALL_CAPABILITIES, CLIENT
from tests.http.answer import Answer

if TYPE_CHECKING:
    from tests.http.web import Web

Json = dict[str, Any]


class LegacyClient:
    """A client of a handshake revision, with one session on a face."""

    def __init__(self, web: Web, *, principal: str | None = None, capabilities: Json | None = None, **headers: Any) -> None:
        self.web = web
        self.capabilities = ALL_CAPABILITIES if capabilities is None else capabilities
        self.headers = {**headers, **({} if principal is None else {"authorization": f"Bearer {principal}"})}
        self.session: str | None = None
        self.revision = ""

    def initialize(self, revision: str = "2025-11-25", *, id: Any = 0) -> Answer:
        """The handshake; the session id and the revision are taken from the answer."""
        params = {"protocolVersion": revision, "capabilities": self.capabilities, "clientInfo": CLIENT}
        answer = self.post({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
        self.met(answer)
        return answer

    def met(self, answer: Answer) -> None:
        """Take over what the answer to ``initialize`` brought, if it is there."""
        if not answer.done or "result" not in answer.last:
            return
        self.session = answer.headers["mcp-session-id"]
        self.revision = answer.result["protocolVersion"]
        if answer.face is not None:
            self.web._clients[self.session] = answer.face
        # Revisions before 2025-06-18 know no version header.
        if self.revision >= "2025-06-18":
            self.headers["mcp_protocol_version"] = self.revision

    @property
    def fields(self) -> dict[str, Any]:
        return self.headers if self.session is None else {**self.headers, "mcp_session_id": self.session}

    def post(self, frame: Any, **headers: Any) -> Answer:
        """A POST of anything."""
        return self.web.post(frame, **{**self.fields, **headers})

    def ask(self, method: str, params: Json | None = None, *, id: Any, **headers: Any) -> Answer:
        """A request."""
        return self.post({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}, **headers)

    def call(self, name: str = "deploy", *, id: Any, meta: Json | None = None, **headers: Any) -> Answer:
        """A ``tools/call``."""
        return self.ask("tools/call", {"name": name, "arguments": {}, **({} if meta is None else {"_meta": meta})}, id=id, **headers)

    def note(self, method: str, params: Json | None = None, **headers: Any) -> Answer:
        """A notification."""
        return self.post({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}, **headers)

    def cancel(self, id: Any) -> Answer:
        """Take back a request."""
        return self.note("notifications/cancelled", {"requestId": id})

    def answer(self, id: Any, result: Json) -> Answer:
        """An answer to a question of the server's."""
        return self.post({"jsonrpc": "2.0", "id": id, "result": result})

    def get(self, last_event_id: str | None = None, **headers: Any) -> Answer:
        """The session's stream, or one that goes on."""
        more = {} if last_event_id is None else {"last_event_id": last_event_id}
        return self.web.send("GET", **{**self.fields, **more, **headers})

    def delete(self, **headers: Any) -> Answer:
        """The end of the session."""
        return self.web.send("DELETE", **{**self.fields, **headers})


class OldClient:
    """A client of 2024-11-05: one stream, and an endpoint to post to."""

    def __init__(self, web: Web, **headers: Any) -> None:
        self.web = web
        self.headers = headers
        self.stream = web.send("GET", "/sse", **headers)
        self.endpoint = ""
        if self.stream.begun:
            assert self.stream.events[0].name == "endpoint"
            self.endpoint = self.stream.events[0].data
            if self.stream.face is not None:
                web._clients[self.endpoint.partition("=")[2]] = self.stream.face

    def post(self, frame: Any, **headers: Any) -> Answer:
        """A POST to the endpoint."""
        path, _, query = self.endpoint.partition("?")
        return self.web.post(frame, f"/{path}", query=query, **{**self.headers, **headers})

    def initialize(self, revision: str = "2024-11-05", *, id: Any = 0) -> Answer:
        """The handshake."""
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        return self.post({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})

    def ask(self, method: str, params: Json | None = None, *, id: Any) -> Answer:
        """A request."""
        return self.post({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})

    def note(self, method: str, params: Json | None = None) -> Answer:
        """A notification."""
        return self.post({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

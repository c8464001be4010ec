"""Conversations without a transport: a client's lines and a server's lines go in, every frame that comes out is recorded.

``Conversation`` drives the real core (``DualFace``) with a clock, ids and secrets handed in, so that a transcript repeats
exactly and can be snapshotted. It reads like a conversation, one frame a line:

    client >  …        the client wrote this          server <  …   the bridge wrote this to the server
    client <  …        the bridge answered            server >  …   the server wrote this
    * …                open, close, timers that fired, log lines, losses
"""

# ruff: noqa: A001, A002 - ``id`` is what the member is called on the wire

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from dragoman.bridging import effects
from dragoman.bridging.face import DualFace
from dragoman.bridging.options import Options

if TYPE_CHECKING:
    from oracle import Oracle

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ALL_CAPABILITIES = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}, "roots": {}}
MODERN_WORDS = [
    f"{META}{name}".encode() for name in ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "serverInfo", "subscriptionId")
]
CLIENT = {"name": "tester", "version": "1.0"}
SERVER = {"name": "old-server", "version": "0.9"}
Json = dict[str, Any]


def envelope(capabilities: Json | None = None, **extra: Any) -> Json:
    """The ``_meta`` of a modern request; ``extra`` are further keys, ``logLevel`` gets its prefix."""
    meta: Json = {
        f"{META}protocolVersion": MODERN,
        f"{META}clientInfo": CLIENT,
        f"{META}clientCapabilities": {} if capabilities is None else capabilities,
    }
    for key, value in extra.items():
        meta[f"{META}{key}" if key == "logLevel" else key] = value
    return meta


class Conversation:
    """One connection to a client, with the servers behind it; see the module."""

    def __init__(
        self,
        *,
        revision: str = "2025-11-25",
        capabilities: Json | None = None,
        oracle: Oracle | None = None,
        key: bytes | None = b"k" * 32,
        instance: str = "i1",
        **options: Any,
    ) -> None:
        counter = itertools.count(1)
        self._ids = itertools.count(1)
        self.revision = revision
        self.server_capabilities = {"tools": {"listChanged": True}} if capabilities is None else capabilities
        self.judge = None if oracle is None else Judge(oracle)
        self.now = 1000.0
        self.log: list[str] = []
        self.to_client: list[Json] = []
        self.to_server: list[Json] = []
        self.lines_to_client: list[bytes] = []
        self.lines_to_server: list[bytes] = []
        self.opened: list[int] = []
        self.closed: list[int] = []
        self.dead: set[int] = set()
        self.asked_by_client: list[Json] = []
        self.losses: list[str] = []
        self.finished: int | None = None
        self.session = 0
        self.timers: dict[str, float] = {}
        self._methods: dict[Any, str] = {}
        self.face = DualFace(
            Options(**options), instance, lambda size: next(counter).to_bytes(size, "big"), lambda: 1_800_000_000.0 + self.now, key
        )
        self._carry(self.face.start(self.now))

    # -- the client ------------------------------------------------------------------------------------------------

    def client(
        self, method: str, params: Json | None = None, *, id: Any = None, meta: Json | None = None, capabilities: Json | None = None
    ) -> None:
        """A modern request with its envelope (``meta`` replaces it)."""
        if id is None:
            id = next(self._ids)
        full = {**(params or {}), "_meta": envelope(ALL_CAPABILITIES if capabilities is None else capabilities) if meta is None else meta}
        self.client_frame({"jsonrpc": "2.0", "id": id, "method": method, "params": full})

    def call(
        self,
        name: str,
        arguments: Json | None = None,
        *,
        id: Any,
        meta: Json | None = None,
        capabilities: Json | None = None,
        **members: Any,
    ) -> None:
        """A ``tools/call``; further members (``inputResponses``, ``requestState``) as keywords."""
        self.client("tools/call", {"name": name, "arguments": arguments or {}, **members}, id=id, meta=meta, capabilities=capabilities)

    def listen(self, *, id: Any, **notifications: Any) -> None:
        """A ``subscriptions/listen``; the filter as keywords."""
        self.client("subscriptions/listen", {"notifications": notifications}, id=id)

    def cancel(self, id: Any, reason: str | None = None) -> None:
        """The client takes back a request."""
        params = {"requestId": id} if reason is None else {"requestId": id, "reason": reason}
        self.client_frame({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def client_frame(self, frame: Any) -> None:
        """Any frame of the client's."""
        self.client_line(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode())

    def client_line(self, line: bytes) -> None:
        """Any line of the client's."""
        self._record("client >  ", line)
        self._note_requests(line)
        if self.judge is not None:
            self.judge.from_client(line)
        self._carry(self.face.from_client(line, self.now))

    def client_line_too_long(self, head: bytes, size: int) -> None:
        """The shell skipped a line of the client's that was over the limit."""
        self.log.append(f"* a line of {size} bytes from the client is skipped; it begins {head[:80].decode()!r}")
        if (found := re.search(rb'"id":(\d+)', head)) is not None:
            stand_in = b'{"jsonrpc":"2.0","id":%b,"method":"?"}' % found[1]
            self._note_requests(stand_in)
            if self.judge is not None:
                self.judge.from_client(stand_in)
        self._carry(self.face.client_too_long(head, size, self.now))

    def client_closes(self) -> None:
        """End of the client's input."""
        self.log.append("* the client closes its side")
        self._carry(self.face.client_closed(self.now))

    # -- the server ------------------------------------------------------------------------------------------------

    def handshake(self, **result: Any) -> None:
        """The server answers the ``initialize`` that waits."""
        answer = {"protocolVersion": self.revision, "capabilities": self.server_capabilities, "serverInfo": SERVER, **result}
        self.reply("initialize", answer)

    def meet(self, *, capabilities: Json | None = None, **result: Any) -> None:
        """Discovery and handshake, so that the session is ready."""
        self.client("server/discover", id="hello", capabilities=capabilities)
        self.handshake(**result)

    def requests(self, method: str) -> list[Json]:
        """The frames of a method that the servers have seen, oldest first."""
        return [frame for frame in self.to_server if frame.get("method") == method]

    def pending(self, method: str) -> Any:
        """The wire id of the newest request of a method that the server has seen."""
        return next(frame["id"] for frame in reversed(self.requests(method)) if "id" in frame)

    def reply(self, method: str, result: Any, *, session: int | None = None) -> None:
        """The server answers the newest request of a method."""
        self.server_frame({"jsonrpc": "2.0", "id": self.pending(method), "result": result}, session=session)

    def reply_error(self, method: str, code: Any, message: str, data: Any = None) -> None:
        """The server answers the newest request of a method with an error."""
        error = {"code": code, "message": message} if data is None else {"code": code, "message": message, "data": data}
        self.server_frame({"jsonrpc": "2.0", "id": self.pending(method), "error": error})

    def ask(self, id: Any, method: str, params: Json | None = None) -> None:
        """A request of the server's."""
        self.server_frame({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})})

    def ask_form(self, id: Any, message: str, **properties: Json) -> None:
        """A form elicitation; properties as keywords."""
        schema = {"type": "object", "properties": properties}
        self.ask(id, "elicitation/create", {"message": message, "requestedSchema": schema})

    def note(self, method: str, params: Json | None = None) -> None:
        """A notification of the server's."""
        self.server_frame({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def server_frame(self, frame: Any, *, session: int | None = None) -> None:
        """Any frame of the server's."""
        self.server_line(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode(), session=session)

    def server_line(self, line: bytes, *, session: int | None = None) -> None:
        """Any line of the server's."""
        speaker = self.session if session is None else session
        self._record("   server >  ", line, speaker)
        if self.judge is not None:
            self.judge.from_server(speaker, line)
        self._carry(self.face.from_server(speaker, line, self.now))

    def server_line_too_long(self, head: bytes, size: int) -> None:
        """The shell skipped a line of the server's that was over the limit."""
        self.log.append(f"* a line of {size} bytes from the server is skipped; it begins {head[:80].decode()!r}")
        self._carry(self.face.server_too_long(self.session, head, size, self.now))

    def server_dies(self, reason: str = "exited with status 3", *, session: int | None = None) -> None:
        """The server's process ends."""
        self.log.append(f"* the server {reason}")
        dying = self.session if session is None else session
        self.dead.add(dying)
        self._carry(self.face.session_lost(dying, reason, self.now))

    # -- time ------------------------------------------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        """Let time pass; due timers fire in order."""
        self.log.append(f"* {seconds:g} seconds pass")
        until = self.now + seconds
        while True:
            due = min(((at, key) for key, at in self.timers.items() if at <= until), default=None)
            if due is None:
                break
            self.now = max(due[0], self.now)
            del self.timers[due[1]]
            self._carry(self.face.on_timer(due[1], self.now))
        self.now = until

    def window(self) -> None:
        """The quiet time after which questions go out."""
        self.pass_time(0.5)

    # -- what came out ---------------------------------------------------------------------------------------------

    def answer_to(self, id: Any) -> Json:
        """The one answer to a client request (there must be exactly one)."""
        answers = [frame for frame in self.to_client if frame.get("id") == id and type(frame.get("id")) is type(id)]
        assert len(answers) == 1, f"{len(answers)} answers to {id!r}"
        return answers[0]

    def result_of(self, id: Any) -> Json:
        """The result of a client request."""
        return self.answer_to(id)["result"]  # type: ignore[no-any-return]

    def error_of(self, id: Any) -> Json:
        """The error of a client request."""
        return self.answer_to(id)["error"]  # type: ignore[no-any-return]

    def notes(self, method: str) -> list[Json]:
        """The params of every notification of a method that the client got."""
        return [frame.get("params", {}) for frame in self.to_client if frame.get("method") == method]

    def answers_of_client(self, id: Any) -> list[Json]:
        """What the server got for a request of its own."""
        return [frame for frame in self.to_server if "method" not in frame and frame.get("id") == id]

    def assert_sound(self) -> None:
        """What holds for every conversation with a modern client in front of a legacy server."""
        asked: list[str] = [json.dumps(request["id"]) for request in self.asked_by_client]
        for frame in self.to_client:
            assert "id" not in frame or "method" not in frame, f"a request to a modern client: {frame}"
            if frame.get("id") is not None:
                assert json.dumps(frame["id"]) in asked, f"an answer to nobody: {frame}"
                asked.remove(json.dumps(frame["id"]))
        probes = [line for line in self.lines_to_server if b'"server/discover"' not in line]
        for line in probes:
            spoken = [word for word in MODERN_WORDS if word in line]
            assert not spoken, f"modern words to a legacy server: {spoken} in {line!r}"
        for frame in self.to_server:
            extra = {"inputResponses", "requestState"} & set(frame.get("params", {}))
            assert not extra, f"modern members to a legacy server: {extra} in {frame}"

    def transcript(self) -> str:
        """Everything said so far."""
        return "\n".join(self.log)

    def _carry(self, wanted: list[effects.Effect]) -> None:
        for effect in wanted:
            self._handlers[type(effect)](self, effect)

    def _on_client(self, effect: effects.ToClient) -> None:
        assert effect.data.endswith(b"\n")
        assert effect.data.count(b"\n") == 1
        self._record("client <  ", effect.data[:-1])
        frame = json.loads(effect.data)
        if self.judge is not None:
            self.judge.to_client(effect.data[:-1])
        self.lines_to_client.append(effect.data[:-1])
        self.to_client += frame if isinstance(frame, list) else [frame]

    def _on_server(self, effect: effects.ToServer) -> None:
        assert effect.data.endswith(b"\n")
        assert effect.data.count(b"\n") == 1
        assert effect.session in self.opened
        assert effect.session not in self.closed, f"written to a closed session: {effect.data!r}"
        assert effect.session not in self.dead, f"written to a dead session: {effect.data!r}"
        self._record("   server <  ", effect.data[:-1], effect.session)
        if self.judge is not None:
            self.judge.to_server(effect.session, effect.data[:-1])
        self.lines_to_server.append(effect.data[:-1])
        frame = json.loads(effect.data)
        self.to_server += frame if isinstance(frame, list) else [frame]

    def _on_open(self, effect: effects.OpenSession) -> None:
        self.session = effect.session
        self.opened.append(effect.session)
        self.log.append(f"* session {effect.session} opens")

    def _on_close(self, effect: effects.CloseSession) -> None:
        assert effect.session in self.opened
        assert effect.session not in self.closed
        self.closed.append(effect.session)
        self.log.append(f"* session {effect.session} is closed")

    def _on_timer(self, effect: effects.SetTimer) -> None:
        self.timers[effect.key] = effect.at

    def _on_cancel(self, effect: effects.CancelTimer) -> None:
        self.timers.pop(effect.key, None)

    def _on_log(self, effect: effects.Log) -> None:
        if effect.level <= effects.DEBUG:
            return
        self.log.append(f"* log: {effect.text}")

    def _on_loss(self, effect: effects.Loss) -> None:
        self.losses.append(effect.detail)
        self.log.append(f"* loss ({effect.change}): {effect.detail}")

    def _on_finish(self, effect: effects.Finished) -> None:
        self.finished = effect.status
        self.log.append(f"* finished with status {effect.status}")

    _handlers: ClassVar[dict[type, Callable[[Conversation, Any], None]]] = {
        effects.ToClient: _on_client,
        effects.ToServer: _on_server,
        effects.OpenSession: _on_open,
        effects.CloseSession: _on_close,
        effects.SetTimer: _on_timer,
        effects.CancelTimer: _on_cancel,
        effects.Log: _on_log,
        effects.Loss: _on_loss,
        effects.Finished: _on_finish,
    }

    def _note_requests(self, line: bytes) -> None:
        try:
            value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            return
        items = value if isinstance(value, list) else [value]
        self.asked_by_client += [item for item in items if isinstance(item, dict) and "id" in item]

    def _record(self, who: str, line: bytes, session: int = 0) -> None:
        if len(self.opened) > 1 and session:
            who = who.replace("server", f"server {session}")
        try:
            shown = json.dumps(_brief(json.loads(line)), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            shown = line.decode(errors="backslashreplace")
        self.log.append(who + (shown if len(shown) < 600 else shown[:600] + "…"))


class Judge:
    """The oracle at both ends: every frame of the bridge must be valid for its receiver, and in its place."""

    def __init__(self, oracle: Oracle) -> None:
        from faces import ClientFace

        self._oracle = oracle
        self._client = ClientFace(oracle)
        self._servers: dict[int, Any] = {}
        self._probed: set[int] = set()

    def from_client(self, line: bytes) -> None:
        """What the client writes gives the answers their meaning."""
        for item in _items(line):
            self._client.from_client(item)

    def to_client(self, line: bytes) -> None:
        """The bridge writes to the client."""
        self._client.to_client(line)

    def from_server(self, session: int, line: bytes) -> None:
        """What a server writes; batches are taken apart."""
        for item in _items(line):
            self._server(session).from_server(item)

    def to_server(self, session: int, line: bytes) -> None:
        """The bridge writes to a server. One that is asked ``server/discover`` has refused ``initialize`` and is no longer judged."""
        if b'"server/discover"' in line:
            self._probed.add(session)
        elif session not in self._probed:
            face = self._server(session)
            assert not line.startswith(b"[") or face.revision == "2025-03-26", f"a batch to a server of {face.revision}: {line!r}"
            for item in _items(line):
                face.to_server(item)

    def _server(self, session: int) -> Any:
        from faces import ServerFace

        return self._servers.setdefault(session, ServerFace(self._oracle))


def _items(line: bytes) -> list[bytes]:
    """The objects of a line or batch whose id, if there is one, can be an id."""
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return []
    if isinstance(value, dict):
        return [line.removeprefix(b"\xef\xbb\xbf")] if isinstance(value.get("id", ""), str | int) else []
    items = value if isinstance(value, list) else []
    return [json.dumps(item).encode() for item in items if isinstance(item, dict) and isinstance(item.get("id", ""), str | int)]


def _brief(value: Any) -> Any:
    """Without what repeats in every frame: the envelope, the identity, the seal."""
    if isinstance(value, list):
        return [_brief(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        if key == "jsonrpc":
            continue
        if key == "requestState" and isinstance(item, str) and len(item) > 60:
            out[key] = "<sealed>"
        elif key == "_meta" and item == envelope(ALL_CAPABILITIES):
            out[key] = "<envelope>"
        elif key == "_meta" and item == {f"{META}serverInfo": SERVER}:
            out[key] = "<server>"
        else:
            out[key] = _brief(item)
    return out

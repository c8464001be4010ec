"""Conversations with the HTTP face without a transport: requests and a server's lines go in, all that comes out is recorded.

``Web`` drives the real core (``HttpFace``) with a clock, ids and secrets handed in, so that a transcript repeats exactly and
can be snapshotted. Behind each process that the core starts stands a scripted server (``auto``: the result of a
method, or a function of its params; the handshake and the list of tools are answered unless ``auto`` says None). It reads
like a conversation; ``[3]`` is the third HTTP request and whatever belongs to its answer:

    [3] >  POST /mcp  mcp-method: tools/call    the client's request: the fields that matter, then its body
    [3] <  200 text/event-stream                the answer's head
    [3] <  data: {…}                            an event of its stream, or its JSON body
    [3] <  end                                  the stream ends in order
       server 1 <  {…}                          the bridge wrote this to the server process 1
       server 1 >  {…}                          the server wrote this
    * …                                         processes, timers that fired, log lines, losses

What must hold for every conversation is checked while it runs: an exchange is answered once and in order, a stream is well
formed, every frame is valid for its receiver (``faces.py``), and nothing is written to a process that is gone.
"""

# ruff: noqa: A002 - ``id`` is what the member is called on the wire

from __future__ import annotations

import itertools
import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from tests.conversation import ALL_CAPABILITIES, META, MODERN, SERVER, _brief, _items, envelope
from tests.http.answer import Answer, read_event
from tests.http.clients import LegacyClient

from dragoman.bridging import effects
from dragoman.bridging.options import Options
from dragoman.http.effects import Begin, Chunk, End, HttpEffect, Respond
from dragoman.http.face import HttpFace
from dragoman.http.options import HttpOptions
from dragoman.http.rejection import Rejection
from dragoman.http.request import HttpRequest

if TYPE_CHECKING:
    from oracle import Oracle

Json = dict[str, Any]
Auto = Mapping[str, Any]
TOOLS = [{"name": "deploy", "inputSchema": {"type": "object"}}]
_HTTP_OPTIONS = frozenset(HttpOptions.__slots__)
_QUIET = {b"host", b"content-type", b"accept"}
_USUAL = {b"content-type": b"application/json", b"accept": b"application/json, text/event-stream", b"host": b"localhost"}
_SESSION_ID = re.compile(r"[0-9a-f]{48}")
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Web:
    """An HTTP face, its clients and its servers; see the module."""

    def __init__(
        self,
        *,
        revision: str = "2025-11-25",
        capabilities: Json | None = None,
        tools: list[Json] | None = None,
        auto: Auto | None = None,
        oracle: Oracle | None = None,
        key: bytes | None = b"k" * 32,
        instance: str = "i1",
        **options: Any,
    ) -> None:
        counter = itertools.count(1)
        self._numbers = itertools.count(1)
        self._ids = itertools.count(1)
        self.revision = revision
        self.server_capabilities = {"tools": {"listChanged": True}} if capabilities is None else capabilities
        usual = {"initialize": self.handshake(), "tools/list": {"tools": TOOLS if tools is None else tools}}
        self.auto = {method: result for method, result in {**usual, **(auto or {})}.items() if result is not None}
        self.oracle = oracle
        self.now = 1000.0
        self.log: list[str] = []
        self.answers: dict[int, Answer] = {}
        self.to_server: dict[int, list[Json]] = {}
        self.opened: list[int] = []
        self.closed: list[int] = []
        self.dead: set[int] = set()
        self.losses: list[str] = []
        self.warnings: list[str] = []
        self.logged: list[str] = []
        self.finished: int | None = None
        self.timers: dict[str, float] = {}
        self._servers: dict[int, Any] = {}
        self._modern: set[int] = set()
        self._judged: set[tuple[int, str | None]] = set()
        self._clients: dict[str, Any] = {}
        self._todo: deque[tuple[int, Json]] = deque()
        self._carrying = False
        http = {name: options.pop(name) for name in list(options) if name in _HTTP_OPTIONS}
        self.face = HttpFace(
            Options(**options),
            HttpOptions(**http),
            instance,
            lambda size: next(counter).to_bytes(size, "big"),
            lambda: 1_800_000_000.0 + self.now,
            key,
        )
        self._carry(self.face.start(self.now))

    def handshake(self, **members: Any) -> Json:
        """The answer to ``initialize``."""
        return {"protocolVersion": self.revision, "capabilities": self.server_capabilities, "serverInfo": SERVER, **members}

    # -- requests, raw ---------------------------------------------------------------------------------------------

    def send(
        self,
        method: str,
        path: str = "/mcp",
        body: bytes = b"",
        *,
        fields: list[tuple[str, str]] | None = None,
        local: bool = True,
        query: str = "",
        **headers: str | None,
    ) -> Answer:
        """Any HTTP request. Keywords are fields, with underscores for hyphens; None takes a usual one away. ``fields`` come after them."""
        lines = dict(_USUAL) if method == "POST" else {b"host": b"localhost", b"accept": b"text/event-stream"}
        for name, value in headers.items():
            key = name.replace("_", "-").encode()
            lines.pop(key, None)
            if value is not None:
                lines[key] = value.encode()
        pairs = [*lines.items(), *((name.lower().encode(), value.encode("latin-1")) for name, value in fields or ())]
        request = HttpRequest(method, path, query.encode(), pairs, local)
        number = next(self._numbers)
        answer = self.answers[number] = Answer(number, request)
        self._record_request(number, request, body)
        found = self.face.head(request)
        if isinstance(found, Rejection):
            self._respond(answer, Respond(number, found.status, found.headers, found.body))
            return answer
        assert len(body) <= found, "the shell would not have read this body"
        self._meet(answer, body)
        self._carry(self.face.request(number, request, body, self.now))
        return answer

    def post(self, frame: Any, path: str = "/mcp", **headers: Any) -> Answer:
        """A POST of a message."""
        body = frame if isinstance(frame, bytes) else json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode()
        return self.send("POST", path, body, **headers)

    def leave(self, answer: Answer) -> None:
        """The client closes the connection."""
        self.log.append(f"[{answer.number}] *  the client closes the connection")
        answer.gone = True
        self._carry(self.face.gone(answer.number, self.now))

    # -- a modern client ---------------------------------------------------------------------------------------------

    def ask(
        self,
        method: str,
        params: Json | None = None,
        *,
        id: Any = None,
        meta: Json | None = None,
        capabilities: Json | None = None,
        principal: str | None = None,
        **headers: Any,
    ) -> Answer:
        """A modern request with its envelope and its fields; ``headers`` are added, or replace them."""
        own = next(self._ids) if id is None else id
        carried = envelope(ALL_CAPABILITIES if capabilities is None else capabilities) if meta is None else meta
        full = {**(params or {}), "_meta": carried}
        fields: dict[str, Any] = {"mcp_protocol_version": MODERN, "mcp_method": method}
        if method in NAMES and NAMES[method] in full:
            fields["mcp_name"] = full[NAMES[method]]
        fields["authorization"] = None if principal is None else f"Bearer {principal}"
        return self.post({"jsonrpc": "2.0", "id": own, "method": method, "params": full}, **{**fields, **headers})

    @staticmethod
    def meta(**extra: Any) -> Json:
        """An envelope with everything declared; ``extra`` are further keys, ``logLevel`` gets its prefix."""
        return envelope(ALL_CAPABILITIES, **extra)

    def call(self, name: str, arguments: Json | None = None, *, members: Json | None = None, **settings: Any) -> Answer:
        """A modern ``tools/call``; ``members`` are further ones of its params."""
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}, **(members or {})}, **settings)

    def retry(self, answer: Answer, answers: Json, **settings: Any) -> Answer:
        """The same request again, with the state of its answer and answers to its questions."""
        first = json.loads(answer.sent)["params"]
        params = {name: value for name, value in first.items() if name not in ("_meta", "requestState", "inputResponses")}
        params |= {"requestState": answer.result["requestState"], "inputResponses": answers}
        return self.ask(json.loads(answer.sent)["method"], params, **settings)

    def listen(self, *, id: Any = None, principal: str | None = None, filters: Json | None = None, **settings: Any) -> Answer:
        """A ``subscriptions/listen``."""
        wanted = {"toolsListChanged": True} if filters is None else filters
        return self.ask("subscriptions/listen", {"notifications": wanted}, id=id, principal=principal, **settings)

    def legacy(self, revision: str = "2025-11-25", **settings: Any) -> LegacyClient:
        """A legacy client that has initialized."""
        client = LegacyClient(self, **settings)
        client.initialize(revision)
        client.note("notifications/initialized")
        return client

    # -- the servers -------------------------------------------------------------------------------------------------

    @property
    def process(self) -> int:
        """The newest process."""
        return self.opened[-1]

    @property
    def alive(self) -> list[int]:
        """The processes that run."""
        return [number for number in self.opened if number not in self.closed and number not in self.dead]

    def requests(self, method: str, process: int | None = None) -> list[Json]:
        """The frames of a method that a process (or any) has seen, oldest first."""
        frames = [self.to_server[process]] if process is not None else list(self.to_server.values())
        return [frame for seen in frames for frame in seen if frame.get("method") == method]

    def pending(self, method: str, process: int | None = None) -> Any:
        """The id of the newest request of a method that the process has seen."""
        return self.requests(method, self.process if process is None else process)[-1]["id"]

    def reply(self, method: str, result: Any, *, process: int | None = None, id: Any = None) -> None:
        """The server answers the newest request of a method, or the one of an id."""
        own = self.pending(method, process) if id is None else id
        self.say({"jsonrpc": "2.0", "id": own, "result": result}, process=process)

    def reply_error(self, method: str, code: int, message: str, *, process: int | None = None) -> None:
        """The server answers the newest request of a method with an error."""
        self.say({"jsonrpc": "2.0", "id": self.pending(method, process), "error": {"code": code, "message": message}}, process=process)

    def question(self, id: Any, method: str, params: Json | None = None, *, process: int | None = None) -> None:
        """A request of the server's."""
        self.say({"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}, process=process)

    def form(self, id: Any, message: str = "Which?", *, process: int | None = None, **properties: Json) -> None:
        """A form elicitation of the server's; properties as keywords."""
        schema = {"type": "object", "properties": properties or {"env": {"type": "string"}}}
        self.question(id, "elicitation/create", {"message": message, "requestedSchema": schema}, process=process)

    def tell(self, method: str, params: Json | None = None, *, process: int | None = None) -> None:
        """A notification of the server's."""
        self.say({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}, process=process)

    def answers_to(self, id: Any, process: int | None = None) -> list[Json]:
        """What the server got for a request of its own."""
        seen = self.to_server[self.process if process is None else process]
        return [frame for frame in seen if "method" not in frame and frame.get("id") == id]

    def say(self, frame: Any, *, process: int | None = None) -> None:
        """Any frame of the server's."""
        self.say_line(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode(), process=process)

    def say_line(self, line: bytes, *, process: int | None = None) -> None:
        """Any line of the server's."""
        speaker = self.process if process is None else process
        self._record(f"   server {speaker} >  ", line)
        if self.oracle is not None:
            for item in _items(line):
                self._server(speaker).from_server(item)
        self._carry(self.face.from_server(speaker, line, self.now))

    def say_too_much(self, head: bytes, size: int, *, process: int | None = None) -> None:
        """The shell skipped a line of the server's that was over the limit."""
        speaker = self.process if process is None else process
        self.log.append(f"* a line of {size} bytes from server {speaker} is skipped; it begins {head[:80].decode()!r}")
        self._carry(self.face.server_too_long(speaker, head, size, self.now))

    def die(self, reason: str = "exited with status 3", *, process: int | None = None) -> None:
        """The server's process ends."""
        dying = self.process if process is None else process
        self.log.append(f"* server {dying} {reason}")
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

    def shut_down(self) -> None:
        """The operator ends the bridge."""
        self.log.append("* the bridge is told to shut down")
        self._carry(self.face.close(self.now))

    def end(self) -> None:
        """After any conversation: the face keeps nothing that is over, shuts down in time, and leaves nobody without a complete answer."""
        if self.finished is None:
            health = self.face.health()
            open_ = [answer for answer in self.answers.values() if not answer.done and not answer.gone]
            assert (health["exchanges"], health["processes"]) == (len(open_), len(self.alive))
            self.shut_down()
            self.pass_time(3600)
        assert self.finished in (0, 1), "the face never finished"
        left = [answer.number for answer in self.answers.values() if not answer.done and not answer.gone]
        assert not left, f"never answered: {left}\n{self.transcript()}"

    # -- what came out ---------------------------------------------------------------------------------------------

    def transcript(self) -> str:
        """Everything said so far."""
        return "\n".join(self.log)

    def _carry(self, wanted: list[HttpEffect]) -> None:
        for effect in wanted:
            self._handlers[type(effect)](self, effect)
        if self._carrying:
            return
        self._carrying = True
        try:
            while self._todo:
                process, frame = self._todo.popleft()
                if process in self.alive:
                    self.say(frame, process=process)
        finally:
            self._carrying = False

    def _answer(self, number: int) -> Answer:
        answer = self.answers[number]
        assert not answer.done, f"[{number}] is answered already"
        assert not answer.gone, f"[{number}]: something is said to a client that is gone"
        return answer

    def _respond(self, answer: Answer, effect: Respond) -> None:
        assert not answer.begun, f"[{answer.number}] has begun as a stream"
        answer.status, answer.body, answer.done = effect.status, effect.body, True
        self._head(answer, effect)
        if effect.body and answer.headers.get("content-type") == "application/json":
            assert b"\n" not in effect.body.removesuffix(b"\n"), f"JSON on more than one line: {effect.body!r}"
            self._record(f"[{answer.number}] <  ", effect.body)
            if answer.request.path == "/mcp":
                self._to_client(answer, effect.body.strip())
        elif effect.body:
            self.log.append(f"[{answer.number}] <  {effect.body.decode().strip()}")

    def _head(self, answer: Answer, effect: Respond | Begin) -> None:
        assert len({name for name, _ in effect.headers}) == len(effect.headers), f"a field twice: {effect.headers}"
        answer.headers = {name.decode(): value.decode() for name, value in effect.headers}
        kind = answer.headers.get("content-type", "")
        shown = "  ".join(
            f"{name}: {value}" for name, value in answer.headers.items() if name in ("mcp-session-id", "retry-after", "allow")
        )
        self.log.append(_masked(f"[{answer.number}] <  {effect.status} {kind}  {shown}").rstrip())

    def _on_respond(self, effect: Respond) -> None:
        self._respond(self._answer(effect.exchange), effect)

    def _on_begin(self, effect: Begin) -> None:
        answer = self._answer(effect.exchange)
        assert not answer.begun
        answer.begun, answer.status = True, effect.status
        self._head(answer, effect)
        assert effect.status == 200
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-store"

    def _on_chunk(self, effect: Chunk) -> None:
        answer = self._answer(effect.exchange)
        assert answer.begun, f"[{effect.exchange}]: a piece before the head"
        assert effect.data.endswith(b"\n\n")
        assert b"\r" not in effect.data
        answer.chunks.append(effect.data)
        for text in effect.data.decode().split("\n\n")[:-1]:
            event = read_event(text)
            if event is None:
                self.log.append(f"[{effect.exchange}] <  :")
                continue
            marks = "".join(f"{name}: {value}  " for name, value in zip(("id", "event", "retry"), event[1:], strict=True) if value)
            self._record(f"[{effect.exchange}] <  {marks}data: ", event.data.encode())
            # What was judged when it was sent first may be replayed.
            if event.data and event.name != "endpoint" and (event.id is None or (id(answer.face), event.id) not in self._judged):
                self._judged.add((id(answer.face), event.id))
                self._to_client(answer, event.data.encode())

    def _on_end(self, effect: End) -> None:
        answer = self._answer(effect.exchange)
        assert answer.begun, f"[{effect.exchange}]: an end before the head"
        answer.done = answer.ended = True
        self.log.append(f"[{effect.exchange}] <  end")

    def _on_server(self, effect: effects.ToServer) -> None:
        assert effect.data.endswith(b"\n")
        assert effect.data.count(b"\n") == 1
        assert effect.session in self.opened
        assert effect.session not in self.closed, f"written to a closed process: {effect.data!r}"
        assert effect.session not in self.dead, f"written to a dead process: {effect.data!r}"
        line = effect.data[:-1]
        self._record(f"   server {effect.session} <  ", line)
        frame = json.loads(line)
        if self.oracle is not None:
            self._judge_to_server(effect.session, line)
        frames = frame if isinstance(frame, list) else [frame]
        self.to_server[effect.session] += frames
        for item in frames:
            if "id" in item and item.get("method") in self.auto:
                found = self.auto[item["method"]]
                result = found(item.get("params", {})) if callable(found) else found
                self._todo.append((effect.session, {"jsonrpc": "2.0", "id": item["id"], "result": result}))

    def _on_open(self, effect: effects.OpenSession) -> None:
        assert effect.session not in self.opened
        self.opened.append(effect.session)
        self.to_server[effect.session] = []
        self.log.append(f"* server {effect.session} is started")

    def _on_close(self, effect: effects.CloseSession) -> None:
        assert effect.session in self.opened
        assert effect.session not in self.closed
        assert effect.session not in self.dead
        self.closed.append(effect.session)
        self.log.append(f"* server {effect.session} is ended")

    def _on_timer(self, effect: effects.SetTimer) -> None:
        self.timers[effect.key] = effect.at

    def _on_cancel(self, effect: effects.CancelTimer) -> None:
        self.timers.pop(effect.key, None)

    def _on_log(self, effect: effects.Log) -> None:
        assert "internal fault" not in effect.text, f"{effect.text}\n{self.transcript()}"
        self.logged.append(effect.text)
        if effect.level > effects.DEBUG:
            self.warnings.append(effect.text)
            self.log.append(f"* log: {effect.text}")

    def _on_loss(self, effect: effects.Loss) -> None:
        self.losses.append(effect.detail)
        self.log.append(f"* loss ({effect.change}): {effect.detail}")

    def _on_finish(self, effect: effects.Finished) -> None:
        assert self.finished is None
        self.finished = effect.status
        self.log.append(f"* finished with status {effect.status}")

    _handlers: ClassVar[dict[type, Callable[[Web, Any], None]]] = {
        Respond: _on_respond,
        Begin: _on_begin,
        Chunk: _on_chunk,
        End: _on_end,
        effects.ToServer: _on_server,
        effects.OpenSession: _on_open,
        effects.CloseSession: _on_close,
        effects.SetTimer: _on_timer,
        effects.CancelTimer: _on_cancel,
        effects.Log: _on_log,
        effects.Loss: _on_loss,
        effects.Finished: _on_finish,
    }

    # -- judging -----------------------------------------------------------------------------------------------------

    def _meet(self, answer: Answer, body: bytes) -> None:
        """Choose who judges what this exchange is told: a legacy session is one client, every other exchange is one of its own."""
        answer.sent = body
        if self.oracle is None:
            return
        from faces import ClientFace

        fields = dict(answer.request.headers)
        query = re.search(rb"session_id=([0-9a-f]+)", answer.request.query)
        named = fields.get(b"mcp-session-id", query[1] if query else b"").decode()
        answer.face = self._clients[named] if named in self._clients and not is_modern(body) else ClientFace(self.oracle)
        for item in _items(body):
            answer.face.from_client(item)

    def _to_client(self, answer: Answer, line: bytes) -> None:
        if self.oracle is None or answer.face is None:
            return
        batch = line.startswith(b"[")
        assert not batch or answer.face.revision == "2025-03-26", f"a batch to a client of {answer.face.revision}: {line!r}"
        for item in _items(line) if batch else [line]:
            if answer.face.revision != MODERN and b'"id"' not in item and b'"error"' in item:
                self.oracle.check_to_client(item, None, "2025-11-25")  # every revision allows an error without an id as an HTTP body
            else:
                answer.face.to_client(item)

    def _server(self, process: int) -> Any:
        from faces import ServerFace

        assert self.oracle is not None
        return self._servers.setdefault(process, ServerFace(self.oracle))

    def _judge_to_server(self, process: int, line: bytes) -> None:
        first = not self.to_server[process]
        if b'"server/discover"' in line or (first and b'"initialize"' not in line):
            self._modern.add(process)
        if process in self._modern:
            assert self.oracle is not None
            self.oracle.check_to_server(line, MODERN)
            return
        face = self._server(process)
        assert not line.startswith(b"[") or face.revision == "2025-03-26", f"a batch to a server of {face.revision}: {line!r}"
        for item in _items(line):
            face.to_server(item)

    # -- recording ---------------------------------------------------------------------------------------------------

    def _record_request(self, number: int, request: HttpRequest, body: bytes) -> None:
        shown = [
            f"{name.decode()}: {value.decode('latin-1')}" for name, value in request.headers if name not in _QUIET or _unusual(name, value)
        ]
        query = f"?{request.query.decode()}" if request.query else ""
        self.log.append(_masked(f"[{number}] >  {request.method} {request.path}{query}  {'  '.join(shown)}").rstrip())
        if body:
            self._record(f"[{number}] >  ", body)

    def _record(self, who: str, line: bytes) -> None:
        try:
            shown = json.dumps(_brief(json.loads(line)), ensure_ascii=False, separators=(",", ":")) if line else ""
        except (ValueError, RecursionError):
            shown = line.decode(errors="backslashreplace").strip()
        self.log.append(_masked(who + (shown if len(shown) < 600 else shown[:600] + "…")).rstrip())


def is_modern(body: bytes) -> bool:
    """Whether a request or notification names a revision in its ``_meta``."""
    try:
        return f"{META}protocolVersion" in json.loads(body)["params"]["_meta"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def _unusual(name: bytes, value: bytes) -> bool:
    return value not in (_USUAL.get(name), b"text/event-stream")


def _masked(text: str) -> str:
    """Session ids, which are counters here, as such."""
    return _SESSION_ID.sub(lambda found: f"<session {int(found[0], 16)}>", text)

"""Conversations of the client leg with a server, without a network: the core's lines and the server's answers go in, all that comes out
is recorded.

``Leg`` drives the real connection (``Remote``) with a clock handed in. It reads like a conversation; ``[3]`` is the third HTTP
request and whatever belongs to its answer:

    core >  {…}                                a line for the server
    [3] >  POST  mcp-session-id: s1  {…}       what is sent: the method, the fields, the body
    [3] <  200 application/json  {…}           the server's answer, or its head
    [3] <  id: 7  data: {…}                    an event of its stream
    [3] <  end                                 the stream ends
    core <  {…}                                a line of the server's for the core
    * …                                        time, log lines, losses, exchanges that are cut off

What must hold for every conversation is checked while it runs: a line is one line and one message, a request is answered once,
no exchange is spoken of after its end, and after the end of all nothing is said but goodbye.
"""

# ruff: noqa: A002 - ``id`` is what the member is called on the wire

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any, ClassVar

from dragoman.bridging.effects import DEBUG, CancelTimer, Log, Loss, SetTimer
from dragoman.bridging.era import LEGACY, MODERN
from dragoman.remote.effects import BROKEN, Abort, Doubt, Finish, Heard, Lost, RemoteEffect, Send, Trouble
from dragoman.remote.options import RemoteOptions
from dragoman.remote.remote import Remote

Json = dict[str, Any]
URL = "http://server.test/mcp"
CLIENT = {"name": "tester", "version": "1"}
SERVER = {"name": "far", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}


def text(frame: Any) -> bytes:
    """A frame as JSON text; bytes are what they are."""
    return frame if isinstance(frame, bytes) else json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode()


def result(id: Any, value: Any = None) -> Json:
    return {"jsonrpc": "2.0", "id": id, "result": {} if value is None else value}


def failure(id: Any, code: int, message: str, **data: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **({"data": data} if data else {})}}


def request(id: Any, method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def note(method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}


class Exchange:
    """One HTTP request, as the server sees it."""

    def __init__(self, send: Send) -> None:
        self.number = send.exchange
        self.method = send.method
        self.fields = {name.lower(): value for name, value in send.headers}
        assert len(self.fields) == len(send.headers), f"a field twice: {send.headers}"
        self.body = send.body
        self.url = send.url

    @property
    def frame(self) -> Any:
        return json.loads(self.body)

    @property
    def what(self) -> str:
        """The method of the message, or of HTTP where there is none."""
        if not self.body:
            return self.method
        frame = self.frame
        return "batch" if isinstance(frame, list) else str(frame.get("method", "answer"))


class Leg:
    """See the module."""

    def __init__(
        self, era: str = LEGACY, *, url: str = URL, max_line: int = 1 << 20, two_endpoints: bool = False, patience: float | None = None
    ) -> None:
        self.now = 1000.0
        self.remote = Remote(RemoteOptions("i1", url, max_line, two_endpoints, patience), era)
        self.log: list[str] = []
        self.sent: list[Exchange] = []
        self.open: dict[int, Exchange] = {}
        self.aborted: set[int] = set()
        self.finished: set[int] = set()
        self.heard: list[Json] = []
        self.about: list[bytes | None] = []
        self.logged: list[str] = []
        self.losses: list[str] = []
        self.timers: dict[str, float] = {}
        self.lost: str | None = None
        self.doubts: list[str] = []
        self.closed = False
        self._asked: dict[bytes, int] = {}
        self._ids = itertools.count(1)
        self._carry(self.remote.open(self.now))

    # -- the core ----------------------------------------------------------------------------------------------------

    def core(self, frame: Any) -> None:
        """A line for the server."""
        line = text(frame)
        self.log.append(f"core >  {_shown(line)}")
        for item in _items(line):
            if "method" in item and "id" in item:
                key = text(item["id"])
                self._asked[key] = self._asked.get(key, 0) + 1
            elif item.get("method") == "notifications/cancelled":
                self._asked.pop(text(item.get("params", {}).get("requestId")), None)
        self._carry(self.remote.from_core(line, self.now))

    def ask(self, method: str, params: Json | None = None, *, id: Any = None) -> Exchange | None:
        """A request of the core's, and the exchange that it was sent in at once, if any. With ``_meta`` towards a modern server."""
        before = len(self.sent)
        own = next(self._ids) if id is None else id
        self.core(request(own, method, params))
        return self.sent[-1] if len(self.sent) > before else None

    def tell(self, method: str, params: Json | None = None) -> None:
        """A notification of the core's."""
        self.core(note(method, params))

    def cancel(self, id: Any) -> None:
        """The core takes back a request."""
        self.tell("notifications/cancelled", {"requestId": id})

    def close(self) -> None:
        """The core is done."""
        self.log.append("core *  close")
        self._asked.clear()
        effects = self.remote.close(self.now)
        self.closed = True
        self._carry(effects)

    def handshake(
        self, *, session: str | None = "s1", version: str = "2025-11-25", stream: Any = 405, capabilities: Json | None = None
    ) -> None:
        """The whole of it. ``stream``: what GET is answered, a status; None: not at all, yet."""
        self.core(request(0, "initialize", {**HELLO, "protocolVersion": version}))
        self.welcome(0, session=session, version=version, capabilities=capabilities)
        self.tell("notifications/initialized")
        self.accept()
        if stream is not None:
            self.answer(status=stream)

    def welcome(self, id: Any = None, *, session: str | None = "s1", version: str = "2025-11-25", capabilities: Json | None = None) -> None:
        """The newest exchange, a handshake, succeeds."""
        fields = {} if session is None else {"mcp_session_id": session}
        own = self.last.frame["id"] if id is None else id
        found = {"protocolVersion": version, "capabilities": capabilities or {}, "serverInfo": SERVER}
        self.answer(result(own, found), **fields)

    # -- the server --------------------------------------------------------------------------------------------------

    @property
    def last(self) -> Exchange:
        """The newest exchange that is still open."""
        return self.open[max(self.open)]

    def named(self, what: str) -> Exchange:
        """The newest open exchange of a method."""
        return next(exchange for exchange in reversed(list(self.open.values())) if exchange.what == what)

    def whats(self) -> list[str]:
        """What was sent, in order."""
        return [exchange.what for exchange in self.sent]

    def answer(self, frame: Any = b"", *, status: int = 200, to: Exchange | None = None, kind: str | None = None, **fields: str) -> None:
        """A whole answer; names of fields with underscores."""
        exchange = to or self.last
        body = text(frame)
        given = {name.replace("_", "-"): value for name, value in fields.items()}
        if kind is not None or body:
            given["content-type"] = kind or "application/json"
        self.log.append(f"[{exchange.number}] <  {status} {'  '.join(map(': '.join, given.items()))}  {_shown(body)}".rstrip())
        self._carry(self.remote.head(exchange.number, status, given, self.now))
        for piece in (body[:3], body[3:]):
            if piece and exchange.number in self.open:
                self._carry(self.remote.data(exchange.number, piece, self.now))
        if exchange.number in self.open:
            self._gone(exchange)
            self._carry(self.remote.ended(exchange.number, self.now))

    def accept(self, to: Exchange | None = None) -> None:
        """202, as to every notification and response."""
        self.answer(status=202, to=to)

    def stream(self, to: Exchange | None = None, **fields: str) -> Exchange:
        """An answer begins as a stream."""
        exchange = to or self.last
        given = {"content-type": "text/event-stream", **{name.replace("_", "-"): value for name, value in fields.items()}}
        self.log.append(f"[{exchange.number}] <  200 text/event-stream")
        self._carry(self.remote.head(exchange.number, 200, given, self.now))
        return exchange

    def event(
        self, exchange: Exchange, frame: Any = None, *, id: str | None = None, name: str | None = None, retry: int | None = None
    ) -> None:
        """An event of a stream."""
        lines = [f"event: {name}"] if name is not None else []
        lines += [f"id: {id}"] if id is not None else []
        lines += [f"retry: {retry}"] if retry is not None else []
        data = b"" if frame is None else b"data: " + text(frame).replace(b"\n", b"\ndata: ") + b"\n"
        raw = "".join(f"{line}\n" for line in lines).encode() + data + b"\n"
        self.log.append(f"[{exchange.number}] <  {'  '.join([*lines, ''])}data: {_shown(text(frame or b''))}")
        self._carry(self.remote.data(exchange.number, raw, self.now))

    def data(self, exchange: Exchange, data: bytes) -> None:
        """Any bytes of a body."""
        self._carry(self.remote.data(exchange.number, data, self.now))

    def head(self, exchange: Exchange, status: int, **fields: str) -> None:
        """Any head."""
        self.log.append(f"[{exchange.number}] <  {status}")
        self._carry(self.remote.head(exchange.number, status, {name.replace("_", "-"): value for name, value in fields.items()}, self.now))

    def end(self, exchange: Exchange) -> None:
        """The server ends an answer in order."""
        self.log.append(f"[{exchange.number}] <  end")
        self._gone(exchange)
        self._carry(self.remote.ended(exchange.number, self.now))

    def fail(self, exchange: Exchange | None = None, kind: str = BROKEN, text: str = "connection reset", *, final: bool = False) -> None:
        """An exchange breaks."""
        exchange = exchange or self.last
        self.log.append(f"[{exchange.number}] *  {kind}: {text}")
        self._gone(exchange)
        self._carry(self.remote.failed(exchange.number, Trouble(kind, text, final), self.now))

    # -- time --------------------------------------------------------------------------------------------------------

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
            self._carry(self.remote.on_timer(due[1], self.now))
        self.now = until

    @property
    def next_timer(self) -> float | None:
        """Seconds until a timer fires."""
        return round(min(self.timers.values()) - self.now, 6) if self.timers else None

    # -- what came out -----------------------------------------------------------------------------------------------

    def transcript(self) -> str:
        return "\n".join(self.log)

    def answers(self, id: Any) -> list[Json]:
        """What the core was told in answer to a request."""
        return [frame for frame in self.heard if "method" not in frame and frame.get("id") == id]

    def error(self, id: Any) -> Json:
        """The only answer to a request, which is an error."""
        (found,) = self.answers(id)
        return found["error"]  # type: ignore[no-any-return]

    @property
    def waiting(self) -> set[bytes]:
        """The ids (JSON text) of requests that are not answered."""
        return {key for key, count in self._asked.items() if count}

    def _gone(self, exchange: Exchange) -> None:
        if exchange.number not in self.finished:
            assert exchange.number in self.open, f"[{exchange.number}] is over already\n{self.transcript()}"
            del self.open[exchange.number]

    def _carry(self, effects: list[RemoteEffect]) -> None:
        for effect in effects:
            self._handlers[type(effect)](self, effect)

    def _on_send(self, effect: Send) -> None:
        exchange = Exchange(effect)
        assert all(exchange.number > other.number for other in self.sent), "a number twice"
        assert self.lost is None, "something is sent after the connection is lost"
        assert not self.closed or exchange.method == "DELETE", f"something is sent after the end: {exchange.what}"
        assert exchange.method in ("POST", "GET", "DELETE")
        assert bool(exchange.body) == (exchange.method == "POST")
        assert b"\n" not in exchange.body
        self.sent.append(exchange)
        self.open[exchange.number] = exchange
        fields = "  ".join(f"{name}: {value}" for name, value in exchange.fields.items())
        url = f" {exchange.url}" if exchange.url else ""
        self.log.append(f"[{exchange.number}] >  {exchange.method}{url}  {fields}  {_shown(exchange.body)}".rstrip())

    def _on_abort(self, effect: Abort) -> None:
        assert effect.exchange in self.open, f"[{effect.exchange}] is cut off after its end"
        del self.open[effect.exchange]
        self.aborted.add(effect.exchange)
        self.log.append(f"[{effect.exchange}] *  cut off")

    def _on_finish(self, effect: Finish) -> None:
        assert effect.exchange in self.open, f"[{effect.exchange}] is finished after its end"
        del self.open[effect.exchange]
        self.finished.add(effect.exchange)
        self.log.append(f"[{effect.exchange}] *  enough")

    def _on_heard(self, effect: Heard) -> None:
        assert not self.closed, f"heard after the end: {effect.line!r}"
        assert self.lost is None, f"heard after the connection is lost: {effect.line!r}"
        assert b"\n" not in effect.line
        assert b"\r" not in effect.line
        frame = json.loads(effect.line)
        assert isinstance(frame, dict)
        self.log.append(f"core <  {_shown(effect.line)}")
        self.heard.append(frame)
        self.about.append(effect.about)
        if "method" not in frame:
            key = text(frame["id"])
            assert self._asked.get(key, 0) > 0, f"an answer to no request, or a second one: {frame}\n{self.transcript()}"
            self._asked[key] -= 1

    def _on_lost(self, effect: Lost) -> None:
        assert self.lost is None, "lost twice"
        assert not self.closed
        self.lost = effect.reason
        self._asked.clear()
        self.log.append(f"* lost: {effect.reason}")

    def _on_doubt(self, effect: Doubt) -> None:
        assert not self.doubts, "doubted twice"
        self.doubts.append(effect.why)
        self.log.append(f"* doubt: {effect.why}")

    def _on_set(self, effect: SetTimer) -> None:
        assert effect.at >= self.now
        self.timers[effect.key] = effect.at

    def _on_cancel(self, effect: CancelTimer) -> None:
        self.timers.pop(effect.key, None)

    def _on_log(self, effect: Log) -> None:
        self.logged.append(effect.text)
        if effect.level > DEBUG:
            self.log.append(f"* log: {effect.text}")

    def _on_loss(self, effect: Loss) -> None:
        self.losses.append(effect.detail)
        self.log.append(f"* loss ({effect.change}): {effect.detail}")

    _handlers: ClassVar[dict[type, Callable[[Leg, Any], None]]] = {
        Send: _on_send,
        Abort: _on_abort,
        Finish: _on_finish,
        Heard: _on_heard,
        Lost: _on_lost,
        Doubt: _on_doubt,
        SetTimer: _on_set,
        CancelTimer: _on_cancel,
        Log: _on_log,
        Loss: _on_loss,
    }


class ModernLeg(Leg):
    """Towards a server of 2026-07-28: requests carry their envelope."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(MODERN, **settings)

    def ask(self, method: str, params: Json | None = None, *, id: Any = None) -> Exchange | None:
        return super().ask(method, {**(params or {}), "_meta": META}, id=id)

    def call(self, name: str, arguments: Json | None = None, *, id: Any = None) -> Exchange | None:
        """A call of a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}}, id=id)

    def knows(self, *tools: Json) -> None:
        """A list of the tools has gone by."""
        self.ask("tools/list", id="list")
        self.answer(result("list", {"resultType": "complete", "tools": list(tools), "ttlMs": 0, "cacheScope": "private"}))


def tool(name: str, *, harmless: bool = False, schema: Json | None = None) -> Json:
    """A tool as lists show it."""
    hints = {"annotations": {"readOnlyHint": True}} if harmless else {}
    return {"name": name, "inputSchema": schema or {"type": "object"}, **hints}


def _items(line: bytes) -> list[Json]:
    try:
        found = json.loads(line)
    except ValueError:
        return []
    return [item for item in (found if isinstance(found, list) else [found]) if isinstance(item, dict)]


def _shown(line: bytes) -> str:
    found = line.decode(errors="backslashreplace")
    return found if len(found) < 400 else found[:400] + "…"

"""Judges what an HTTP client of the bridge was shown: every frame under the official schemas, and the rules of the transports themselves.

The rules, each with its page (basic/transports of the revisions; streamable-http is 2026-07-28's):

* a modern request is answered on its own response: one response, nothing after it, no session (streamable-http#receiving-messages);
* a legacy response comes on the stream of its request or on a resumed one, never on a free GET stream (2025-11-25,
  #listening-for-messages-from-the-server);
* a message accepted without an answer is 202 with no body (#sending-messages-to-the-server);
* the session id is visible ASCII, and given with the answer to ``initialize`` alone (2025-11-25, #session-management);
* in a modern JSON answer -32601 is status 404, the header and capability errors are 400 (streamable-http#server-validation, basic/index);
* a stream forbids proxies to buffer it (streamable-http#receiving-messages);
* HTTP+SSE: the first event is ``endpoint``, every message comes on that stream, a POST is only accepted (2024-11-05, #http-with-sse).

``ClientFace`` judges the frames: one face a modern request, since nothing connects two of them, and one face a legacy session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urljoin

from http_tap import Event, Exchange, Record

from faces import ClientFace
from oracle import RESERVED, Invalid, JsonObject, Oracle

STATUS = {-32601: 404, -32020: 400, -32021: 400, -32022: 400, -32700: 400, -32600: 400}


class HttpJudge:
    """Feed it the records in order; it raises ``Invalid``."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.sessions: dict[str, ClientFace] = {}
        self.endpoints: dict[str, ClientFace] = {}
        self.faces: dict[Exchange, ClientFace] = {}
        self.answered: dict[Exchange, int] = {}

    def take(self, record: Record) -> None:
        exchange = record.exchange
        try:
            if record.what == "asked":
                self._asked(exchange)
            elif record.what == "answered":
                self._head(exchange)
            elif record.event is not None:
                self._event(exchange, record.event)
            elif record.what == "body":
                self._body(exchange)
        except Invalid as fault:
            fault.add_note(f"in the exchange {exchange}")
            raise

    def _asked(self, exchange: Exchange) -> None:
        face = self.faces[exchange] = self._face(exchange)
        for frame in exchange.frames():
            face.from_client(json.dumps(frame))

    def _face(self, exchange: Exchange) -> ClientFace:
        """The face of a modern request is its own; those of a legacy session share one."""
        if exchange.target in self.endpoints:
            return self.endpoints[exchange.target]
        if not is_modern(exchange):
            return self.sessions.get(exchange.headers.get("mcp-session-id", ""), ClientFace(self.oracle))
        return ClientFace(self.oracle)

    def _head(self, exchange: Exchange) -> None:
        session = exchange.answer_headers.get("mcp-session-id")
        opens = any(frame.get("method") == "initialize" for frame in exchange.frames())
        if session is not None and opens:
            if not session or not all("!" <= sign <= "~" for sign in session):
                raise Invalid(f"a session id is visible ASCII: {session!r}")
            if session in self.sessions:
                raise Invalid(f"a session id is given once: {session}")
            self.sessions[session] = self.faces[exchange]
        elif session is not None and (is_modern(exchange) or session not in self.sessions):
            raise Invalid(f"a session id {session!r} for no initialize")
        if exchange.streams and exchange.answer_headers.get("x-accel-buffering") != "no":
            raise Invalid("a stream without X-Accel-Buffering: no")
        if exchange.status == 202 and requests(exchange) and not self._on_sse(exchange):
            raise Invalid("202 for a request, which so is never answered")

    def _on_sse(self, exchange: Exchange) -> bool:
        return exchange.target in self.endpoints

    def _event(self, exchange: Exchange, event: Event) -> None:
        if event.kind == "endpoint":
            if exchange.method != "GET" or exchange.events[0] is not event:
                raise Invalid("endpoint is the first event of a GET stream of 2024-11-05")
            self.endpoints[urljoin(exchange.target, event.data)] = self.faces[exchange]
        elif event.kind != "message":
            raise Invalid(f"an event of type {event.kind}")
        elif event.data:
            self._frames(exchange, event.data)

    def _body(self, exchange: Exchange) -> None:
        if exchange.status == 202:
            if exchange.answer and not self._on_sse(exchange):
                raise Invalid("202 has no body")
            return
        if exchange.target == "/healthz" or (exchange.method != "POST" and not exchange.answer):
            return
        if exchange.answer_headers.get("content-type", "").split(";")[0] == "application/json":
            self._frames(exchange, exchange.answer.decode("utf-8"))
        elif exchange.status == 200 and exchange.method == "POST":
            raise Invalid("a request is answered with application/json or text/event-stream")

    def _frames(self, exchange: Exchange, text: str) -> None:
        """Judge a message, or the messages of a batch."""
        try:
            found = json.loads(text)
        except ValueError as fault:
            raise Invalid(f"no JSON: {text[:300]!r}") from fault
        if isinstance(found, list) and (is_modern(exchange) or not found):
            raise Invalid("a batch that nobody may send")
        for frame in found if isinstance(found, list) else [found]:
            if self.answered.get(exchange) and exchange.method == "POST" and not isinstance(found, list):
                raise Invalid(f"a message after the response: {text[:300]}")
            # Not decoded here: the oracle reads the text itself, more strictly than json does.
            self.faces[exchange].to_client(json.dumps(frame) if isinstance(found, list) else text)
            if "method" not in frame:
                self._response(exchange, frame)

    def _response(self, exchange: Exchange, frame: JsonObject) -> None:
        if exchange.method == "POST":
            if frame.get("id") is not None and frame["id"] not in requests(exchange):
                raise Invalid(f"a response on the stream of another request: {frame}")
            self.answered[exchange] = self.answered.get(exchange, 0) + 1
        elif exchange.streams and "last-event-id" not in exchange.headers and exchange.events[0].kind != "endpoint":
            raise Invalid(f"a response on a free GET stream: {frame}")
        code = frame.get("error", {}).get("code")
        if is_modern(exchange) and not exchange.streams and code in STATUS and exchange.status != STATUS[code]:
            raise Invalid(f"{code} is status {STATUS[code]}, not {exchange.status}")
        if is_modern(exchange) and "result" in frame and exchange.status != 200:
            raise Invalid(f"a result with status {exchange.status}")


def requests(exchange: Exchange) -> list[Any]:
    """The ids of the requests in a POST."""
    return [frame["id"] for frame in exchange.frames() if "id" in frame and "method" in frame]


def is_modern(exchange: Exchange) -> bool:
    """True for a POST whose message holds the modern envelope."""
    params = [frame.get("params") for frame in exchange.frames()]
    metas = [each.get("_meta") for each in params if isinstance(each, dict)]
    return any(isinstance(meta, dict) and RESERVED + "protocolVersion" in meta for meta in metas)


def judge_http(oracle: Oracle, records: Iterable[Record]) -> HttpJudge:
    """Judge everything that passed a tap."""
    judge = HttpJudge(oracle)
    for record in records:
        judge.take(record)
    return judge

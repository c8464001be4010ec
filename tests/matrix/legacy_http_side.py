"""A judge of what the bridge sends to a legacy server that is reached by its URL, from the records of ``http_tap.Tap``.

The rules, each with its page (basic/transports of the revisions):

* every message is a POST of its own, a batch only in 2025-03-26; both forms of an answer are accepted (2025-11-25,
  #sending-messages-to-the-server);
* GET accepts a stream (#listening-for-messages-from-the-server);
* the session that was given is named from then on, and is ended by DELETE in the end (#session-management);
* from 2025-06-18 on everything after the handshake names the revision that was agreed on (#protocol-version-header);
* a session has no field of 2026-07-28 (streamable-http#request-metadata is that revision's);
* HTTP+SSE: GET comes first, and messages go to the endpoint that it names (2024-11-05, #http-with-sse).

``ServerFace`` judges the frames: one face a session. Outside of sessions a client asks what the server is (2026-07-28, basic/versioning):
such a request is modern and must be refused. How often that was tried is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin

from http_tap import Exchange, Record
from wire import told

from faces import ServerFace
from oracle import MODERN, Invalid, Oracle

MODERN_FIELDS = ("mcp-method", "mcp-name", "mcp-param-")
NAMES_REVISION = "2025-06-18"
HAS_BATCHES = "2025-03-26"
BOTH_FORMS = {"application/json", "text/event-stream"}


class Session(NamedTuple):
    """One session, and whether it is a pair of endpoints."""

    face: ServerFace
    paired: bool


class LegacyHttpJudge:
    """Feed it the records in order; it raises ``Invalid``."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.sessions: dict[str, Session] = {}
        self.of: dict[Exchange, Session] = {}
        self.deleted: list[str] = []
        self.discovers = 0
        self.refused_handshakes = 0

    def take(self, record: Record) -> None:
        exchange = record.exchange
        try:
            if record.what == "asked":
                self._asked(exchange)
            elif record.what == "answered":
                self._head(exchange)
            elif record.event is not None and record.event.kind == "endpoint":
                target = urljoin(exchange.target, record.event.data)
                self.sessions[target] = self.of[exchange] = Session(ServerFace(self.oracle), True)
            elif exchange in self.of:
                for frame in told(record):
                    self.of[exchange].face.from_server(json.dumps(frame))
        except Invalid as fault:
            fault.add_note(f"in the exchange {exchange}")
            raise

    def _asked(self, exchange: Exchange) -> None:
        session = self.sessions.get(exchange.headers.get("mcp-session-id", exchange.target))
        if session is not None:
            self._within(exchange, session)
        elif "mcp-session-id" in exchange.headers:
            raise Invalid("a session that was never given, or that has ended")
        elif exchange.method == "POST":
            self._outside(exchange)
        elif exchange.method != "GET" or "text/event-stream" not in accepted(exchange):
            raise Invalid("without a session there is nothing but a message to send, and a stream to get")

    def _within(self, exchange: Exchange, session: Session) -> None:
        """Fields, frames, and the end of a session."""
        self.of[exchange] = session
        if any(field.startswith(MODERN_FIELDS) for field in exchange.headers):
            raise Invalid("a field of a later revision in a session")
        if not session.paired:
            named = exchange.headers.get("mcp-protocol-version")
            if named != session.face.revision and (named is not None or session.face.revision >= NAMES_REVISION):
                raise Invalid(f"the revision {named} is named where {session.face.revision} was agreed on")
            if exchange.method == "GET" and "text/event-stream" not in accepted(exchange):
                raise Invalid("GET accepts a stream")
        if exchange.method == "DELETE":
            self.deleted.append(exchange.headers["mcp-session-id"])
            del self.sessions[self.deleted[-1]]
        elif exchange.method == "POST":
            self._message(exchange, session)

    def _message(self, exchange: Exchange, session: Session) -> None:
        frames = exchange.frames()
        if not frames or (exchange.body.lstrip().startswith(b"[") and session.face.revision != HAS_BATCHES):
            raise Invalid("a message is a POST of its own")
        if not session.paired and not accepted(exchange) >= BOTH_FORMS:
            raise Invalid("JSON and streams are both accepted")
        for frame in frames:
            session.face.to_server(json.dumps(frame))

    def _outside(self, exchange: Exchange) -> None:
        """A handshake, or the question what the server is."""
        frames = exchange.frames()
        if not accepted(exchange) >= BOTH_FORMS:
            raise Invalid("JSON and streams are both accepted")
        if [frame.get("method") for frame in frames] == ["initialize"]:
            if any(field.startswith(MODERN_FIELDS) for field in exchange.headers):
                raise Invalid("a field of a later revision in a handshake")
            self.of[exchange] = Session(ServerFace(self.oracle), False)
            self.of[exchange].face.to_server(json.dumps(frames[0]))
        elif [frame.get("method") for frame in frames] == ["server/discover"]:
            self.oracle.check_to_server(frames[0], MODERN)
            self.discovers += 1
        else:
            raise Invalid("a message outside of a session")

    def _head(self, exchange: Exchange) -> None:
        given = exchange.answer_headers.get("mcp-session-id")
        opens = exchange.method == "POST" and exchange in self.of and "mcp-session-id" not in exchange.headers
        if not opens or self.of[exchange].paired:
            return
        if exchange.status == 200 and given is not None:
            self.sessions[given] = self.of[exchange]
        else:
            self.refused_handshakes += 1
            del self.of[exchange]


def accepted(exchange: Exchange) -> set[str]:
    return {each.split(";")[0].strip() for each in exchange.headers.get("accept", "").split(",")}


def judge_legacy_http_server(oracle: Oracle, records: Iterable[Record]) -> LegacyHttpJudge:
    """Judge everything that passed a tap in front of one legacy server, to the end of its last session."""
    judge = LegacyHttpJudge(oracle)
    for record in records:
        judge.take(record)
    left = [name for name, session in judge.sessions.items() if not session.paired]
    if left:
        raise Invalid(f"sessions that nobody ended: {left}")
    return judge

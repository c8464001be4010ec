"""Whatever a server answers, in whatever order and pieces: no exception, one answer a request, nobody forgotten, nothing after the end.

``Leg`` asserts on the way that each request is answered at most once and that nothing is said after the end. Here: a request
that is not answered has somebody working on it (an open exchange, or a timer), and once the server fails for good, all are answered.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.remote.leg import HELLO, META, SERVER, Leg, ModernLeg, note, request, result, text

from dragoman.bridging.era import LEGACY
from dragoman.remote.effects import BROKEN, SILENT, UNSENT

METHODS = ["tools/call", "tools/list", "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "x/y"]
STATUSES = [200, 200, 200, 200, 202, 204, 301, 400, 400, 401, 403, 404, 404, 405, 429, 500, 502, 503, 504]
KINDS = ["application/json", "text/event-stream", "text/event-stream; charset=utf-8", "text/html", ""]
FIELDS = st.dictionaries(
    st.sampled_from(["mcp-session-id", "retry-after", "www-authenticate"]),
    st.sampled_from(["", "s1", "s2", "0", "3", "100", "Bearer"]),
    max_size=2,
)
PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"\n",
            b"\r\n",
            b"\n\n",
            b"data: ",
            b"id: 1\n\n",
            b"id: 2\n\n",
            b"id:\n\n",
            b"retry: 0\n",
            b"retry: 99999999\n",
            b": c\n\n",
            b"event: endpoint\ndata: /m\n\n",
            b"event: endpoint\ndata: http://[\n\n",
            b"event: endpoint\ndata: //evil/\n\n",
            b"\xef\xbb\xbf",
            b'data: {"method":"notifications/tools/list_changed"}\n\n',
            b'{"id":null,"error":{"code":-32000,"message":"m"}}',
            b"[]",
            b'data: {"id":"q","method":"roots/list"}\n\n',
            b'{"id":1,"result":3}',
            b"<html>",
            b"[1",
            b"x" * 3000,
        ]
    ),
)
ERRORS = [
    {"code": -32020, "message": "differs"},
    {"code": -32022, "message": "revision", "data": {"supported": ["2026-07-28"], "requested": "x"}},
    {"code": -32600, "message": "Session not found"},
    {"code": -32601, "message": "none"},
]
INVALID = {"x-mcp-header": "é"}
RESULTS = [
    {},
    {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": SERVER},
    {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": SERVER},
    {
        "tools": [{"name": "a", "inputSchema": {}}, {"name": "b", "inputSchema": {"properties": {"x": {"x-mcp-header": "é"}}}}],
        "nextCursor": "n",
    },
    {"tools": [{"name": "a", "inputSchema": {}, "annotations": {"readOnlyHint": True}}]},
]
CORE = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(METHODS)),
    st.tuples(st.just("note"), st.sampled_from(["notifications/initialized", "notifications/x"])),
    st.tuples(st.just("cancel"), st.integers(0, 8)),
    st.tuples(st.just("reply"), st.sampled_from(["q", 1])),
    st.tuples(st.just("batch"), st.lists(st.sampled_from(METHODS), min_size=1, max_size=3)),
    st.tuples(st.just("line"), st.binary(max_size=8)),
)
IDS = ["same", "same", "text", "none", "first", "last"]
PICK = st.integers(0, 5)
SERVER_DOES = st.one_of(
    st.tuples(st.just("head"), PICK, st.sampled_from(STATUSES), st.sampled_from(KINDS), FIELDS),
    st.tuples(st.just("data"), PICK, PIECES),
    st.tuples(
        st.just("frame"), PICK, st.sampled_from(RESULTS + ERRORS), st.sampled_from(["same", "same", "text", "none", "first", "last"])
    ),
    st.tuples(st.just("end"), PICK),
    st.tuples(st.just("fail"), PICK, st.sampled_from([UNSENT, BROKEN, SILENT]), st.booleans()),
    st.tuples(st.just("whole"), PICK, st.sampled_from(STATUSES), st.sampled_from(RESULTS + ERRORS), FIELDS),
    st.tuples(st.just("time"), st.sampled_from([0.1, 0.3, 1.1, 5.0, 70.0])),
)
STEPS = st.lists(st.one_of(CORE, SERVER_DOES, SERVER_DOES), max_size=40)


class Play:
    """Carries out steps on a leg."""

    def __init__(self, kind: str, *, begun: bool) -> None:
        self.kind = kind
        self.leg = (
            ModernLeg(max_line=2000, patience=20)
            if kind == "modern"
            else Leg(LEGACY, max_line=2000, two_endpoints=kind == "two endpoints", patience=20)
        )
        self.begun: dict[int, str] = {}
        self.next = 1
        if kind == "legacy" and begun:
            self.leg.handshake(stream=None, capabilities={"tools": {"listChanged": True}})
        elif kind != "modern":
            self.leg.core(request(0, "initialize", HELLO))
        if kind == "two endpoints" and begun:
            stream = self.leg.stream()
            self.begun[stream.number] = "text/event-stream"
            self.leg.event(stream, b"/messages", name="endpoint")
            self.leg.event(stream, result(0, RESULTS[2]))

    def step(self, step) -> None:
        getattr(self, step[0])(*step[1:])
        self.check()

    def check(self) -> None:
        leg = self.leg
        if leg.lost is None and not leg.open and not leg.timers:
            assert leg.waiting == set(), f"nobody works on {leg.waiting}\n{leg.transcript()}"

    # the core

    def params(self, method):
        own = {"name": "a", "uri": "file:///a", "level": "error", "notifications": {}}
        return {**own, "_meta": META} if self.kind == "modern" else own

    def ask(self, method) -> None:
        self.next += 1
        self.core(request(self.next if self.next % 2 else f"r{self.next}", method, self.params(method)))

    def core(self, frame) -> None:
        if self.leg.lost is None:
            self.leg.core(frame)

    def note(self, method) -> None:
        self.core(note(method))

    def cancel(self, back) -> None:
        number = self.next - back
        self.core(note("notifications/cancelled", {"requestId": number if number % 2 else f"r{number}"}))

    def reply(self, own) -> None:
        self.core(result(own))

    def batch(self, methods) -> None:
        if self.kind != "modern":
            self.next += len(methods)
            ids = range(self.next - len(methods) + 1, self.next + 1)
            self.core(
                [request(own if own % 2 else f"r{own}", method, self.params(method)) for own, method in zip(ids, methods, strict=True)]
            )

    def line(self, line) -> None:
        if not line.strip().startswith(b"{") and not line.strip().startswith(b"["):
            self.core(line.replace(b"\n", b" "))

    # the server

    def pick(self, number):
        exchanges = list(self.leg.open.values())
        return exchanges[number % len(exchanges)] if exchanges else None

    def head(self, number, status, kind, fields) -> None:
        exchange = self.pick(number)
        if exchange is not None and exchange.number not in self.begun:
            self.begun[exchange.number] = kind
            given = {**fields, "content-type": kind} if kind else fields
            self.leg.head(exchange, status, **{name.replace("-", "_"): value for name, value in given.items()})

    def data(self, number, piece) -> None:
        exchange = self.pick(number)
        if exchange is not None and exchange.number in self.begun:
            self.leg.data(exchange, piece)

    def own_id(self, exchange, which):
        frames = json.loads(exchange.body) if exchange.body else {}
        frames = frames if isinstance(frames, list) else [frames]
        ids = [frame["id"] for frame in frames if "id" in frame]
        asked = [json.loads(key) for key in self.leg.waiting]
        ids = {"same": ids[:1], "text": [str(own) for own in ids[:1]], "none": [], "first": asked[:1], "last": asked[-1:]}[which]
        return ids[0] if ids else None

    def message(self, exchange, value, which):
        own = self.own_id(exchange, which)
        return {"jsonrpc": "2.0", "id": own, "error": value} if "code" in value else result(own, value)

    def frame(self, number, value, which) -> None:
        exchange = self.pick(number)
        if exchange is not None and exchange.number in self.begun:
            body = text(self.message(exchange, value, which))
            self.leg.data(exchange, b"data: " + body + b"\n\n" if "event-stream" in self.begun[exchange.number] else body)

    def end(self, number) -> None:
        exchange = self.pick(number)
        if exchange is not None and exchange.number in self.begun:
            self.leg.end(exchange)

    def fail(self, number, kind, final) -> None:
        exchange = self.pick(number)
        if exchange is not None:
            self.leg.fail(exchange, kind, final=final)

    def whole(self, number, status, value, fields) -> None:
        exchange = self.pick(number)
        if exchange is not None and exchange.number not in self.begun:
            given = {name.replace("-", "_"): value for name, value in fields.items()}
            self.leg.answer(self.message(exchange, value, "same"), status=status, to=exchange, **given)

    def time(self, seconds) -> None:
        self.leg.pass_time(seconds)

    def out(self) -> None:
        """The server fails for good."""
        leg = self.leg
        for _ in range(200):
            if leg.lost is not None or not leg.waiting:
                return
            for exchange in list(leg.open.values()):
                if exchange.number not in leg.open:
                    continue
                if exchange.number in self.begun or exchange.method != "GET":
                    leg.fail(exchange, BROKEN, final=True)
                else:
                    leg.answer(status=405, to=exchange)
                self.check()
            leg.pass_time(70)
            self.check()
        raise AssertionError(f"never answered: {leg.waiting}\n{leg.transcript()}")


@pytest.mark.parametrize("kind", ["legacy", "modern", "two endpoints"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(begun=st.booleans(), steps=STEPS, close=st.booleans(), late=STEPS)
def test_whatever_a_server_does_every_request_is_answered_once_or_is_worked_on(kind, begun, steps, close, late):
    play = Play(kind, begun=begun)
    for step in steps:
        play.step(step)
    if not close:
        play.out()
    if play.leg.lost is None:
        play.leg.close()
    heard = len(play.leg.heard)
    play.begun.clear()
    for step in late:  # the assertions of the leg hold: nothing is heard or sent any more
        if step[0] not in {"ask", "note", "cancel", "reply", "batch", "line"}:
            getattr(play, step[0])(*step[1:])
        elif step[0] == "ask":
            assert play.leg.remote.from_core(text(request("late", step[1])), play.leg.now) == []
    assert len(play.leg.heard) == heard

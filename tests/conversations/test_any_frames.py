"""Any frames in any order: nothing is raised, and every request of the client's is answered exactly once.

Unknown members of a result survive.

A drawn script mixes valid, half-valid and broken lines of the client and the server, ids used twice, answers to nobody,
deaths and time. What must hold whatever comes: the core never raises; each line out is one frame; an id comes back exactly as
it was written; a request has one answer unless it was cancelled, within the time limits; after the end none is left waiting.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.conversation import ALL_CAPABILITIES, META, SERVER, Conversation, envelope

from oracle import Oracle, spec_folder

ORACLE = Oracle(spec_folder())
IDS = st.sampled_from([0, 1, 2, 3, "1", "a", "", 2**53 + 1, -7])
NAMES = st.sampled_from(["asker", "quiet", "deploy"])
SCRAP: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "uri", "name", "params", "_meta", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
CLEAN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FORM = {"message": "m", "requestedSchema": {"type": "object", "properties": {"env": {"type": "string"}}}}
ANSWERS = st.sampled_from(
    [
        {"env": {"action": "accept", "content": {"env": "x"}}},
        {"env": {"action": "decline"}},
        {"env": {"action": "maybe"}},
        {"roots-1": {"roots": []}},
        {},
        None,
        7,
    ]
)
RESULTS = st.sampled_from(
    [
        {"content": [{"type": "text", "text": "t"}], "com.example/kept": [1.5, None]},
        {"content": [], "isError": True},
        {"tools": [{"name": "asker", "inputSchema": {}, "annotations": {"readOnlyHint": True}}], "nextCursor": "c"},
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "logging": {}, "resources": {"subscribe": True}},
            "serverInfo": SERVER,
        },
        {"protocolVersion": "2025-03-26", "capabilities": {}},
        {"supportedVersions": ["2025-11-25"]},
        {"task": {"taskId": "t", "status": "working"}},
        {},
        None,
        "x",
    ]
)
ERRORS = st.sampled_from(
    [
        {"code": -32601, "message": "Method not found"},
        {"code": -32602, "message": "Unsupported protocol version", "data": {"supported": ["2024-11-05"]}},
        {
            "code": -32042,
            "message": "m",
            "data": {"elicitations": [{"mode": "url", "url": "https://a/", "message": "m", "elicitationId": "e"}]},
        },
        {"code": -32002, "message": "m"},
        {"code": "x"},
        "text",
    ]
)
METAS = st.sampled_from(
    [
        envelope(ALL_CAPABILITIES),
        envelope(ALL_CAPABILITIES, progressToken="p", logLevel="info"),
        envelope({}, progressToken=1, logLevel="debug"),
        envelope({"roots": {}}),
        {**envelope(), f"{META}protocolVersion": "2099-01-01"},
        {f"{META}protocolVersion": "2026-07-28"},
        {},
        None,
    ]
)
REQUESTS = st.sampled_from(
    [
        ("tools/call", {"name": "asker", "arguments": {}}),
        ("tools/call", {"name": "quiet", "arguments": {"x": 1}}),
        ("prompts/get", {"name": "p"}),
        ("resources/read", {"uri": "a:b"}),
        ("tools/list", {}),
        ("tools/list", {"cursor": "i1.1.c"}),
        ("server/discover", {}),
        ("subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]}}),
        ("subscriptions/listen", {"notifications": []}),
        ("ping", {}),
        ("com.example/x", {"cursor": 1}),
    ]
)
CLIENT_GARBAGE = st.sampled_from(
    [
        b"",
        b"{",
        b"[]",
        b"[1]",
        b"null",
        b'"x"',
        b"\xff",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":null,"method":"x"}',
        b"{}",
        b"[" * 2000,
    ]
)
SERVER_GARBAGE = st.sampled_from(
    [
        b"",
        b"hello",
        b"[1]",
        b"[]",
        b"3",
        b'{"jsonrpc":"2.0","id":2,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":3,"result":"\xff"}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":7}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{}}]',
    ]
)
NOTES = st.sampled_from(
    [
        ("notifications/progress", {"progressToken": 2, "progress": 1}),
        ("notifications/progress", {"progressToken": "3", "progress": 1e400}),
        ("notifications/progress", {"progressToken": 4}),
        ("notifications/message", {"level": "error", "data": 1}),
        ("notifications/message", {"level": 5}),
        ("notifications/tools/list_changed", None),
        ("notifications/resources/updated", {"uri": "a:1"}),
        ("notifications/cancelled", {"requestId": "q"}),
        ("notifications/cancelled", None),
        ("com.example/note", {"x": [1.5]}),
    ]
)
QUESTIONS = st.sampled_from(
    [
        ("elicitation/create", FORM),
        ("elicitation/create", {}),
        ("roots/list", None),
        ("roots/list", {"_meta": {"progressToken": 2}}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1, "includeContext": "thisServer"}),
        ("ping", None),
        ("tools/list", {}),
    ]
)
STEPS = st.one_of(
    st.tuples(st.just("request"), IDS, REQUESTS, METAS),
    st.tuples(st.just("request"), IDS, REQUESTS, st.just(envelope(ALL_CAPABILITIES))),
    st.tuples(st.just("park"), IDS, st.booleans()),
    st.tuples(st.just("park"), IDS, st.booleans()),
    st.tuples(st.just("retry"), IDS, st.integers(0, 2), ANSWERS),
    st.tuples(st.just("retry"), IDS, st.integers(0, 2), ANSWERS),
    st.tuples(st.just("retry"), IDS, st.integers(0, 2), ANSWERS),
    st.tuples(st.just("finish")),
    st.tuples(st.just("cancel"), IDS),
    st.tuples(st.just("client line"), CLIENT_GARBAGE | SCRAP),
    st.tuples(st.just("shake hands")),
    st.tuples(st.just("answer"), st.integers(0, 3), RESULTS),
    st.tuples(st.just("answer"), st.integers(0, 3), RESULTS),
    st.tuples(st.just("fail"), st.integers(0, 3), ERRORS),
    st.tuples(st.just("ask"), st.sampled_from([1, "q", 2]), QUESTIONS),
    st.tuples(st.just("note"), NOTES),
    st.tuples(st.just("server line"), SERVER_GARBAGE | SCRAP),
    st.tuples(st.just("die")),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.5, 2, 40, 700])),
    st.tuples(st.just("too long"), st.sampled_from([b'{"jsonrpc":"2.0","id":2,"result":"aaa', b"aaa"])),
)
ROUNDS = st.one_of(
    st.tuples(st.just("park"), IDS, st.just(True)),
    st.tuples(st.just("park"), st.integers(100, 999), st.booleans()),
    st.tuples(st.just("retry"), st.integers(100, 999), st.integers(0, 2), ANSWERS),
    st.tuples(st.just("retry"), st.integers(100, 999), st.integers(0, 1), st.just({"env": {"action": "decline"}})),
    st.tuples(st.just("retry"), st.integers(100, 999), st.just(0), st.just({"env": {"action": "decline"}})),
    st.tuples(st.just("cancel newest")),
    st.tuples(st.just("finish")),
    st.tuples(st.just("fail"), st.integers(0, 3), ERRORS),
    st.tuples(st.just("ask"), st.sampled_from(["q", "r"]), QUESTIONS),
    st.tuples(st.just("note"), NOTES),
    st.tuples(st.just("die")),
    st.tuples(st.just("shake hands")),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.5, 2, 40])),
    STEPS,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "one_call_per_session": st.booleans(),
        "isolate_capabilities": st.booleans(),
        "replay": st.booleans(),
        "max_parked": st.just(1),
        "max_sessions": st.just(1),
        "list_ttl_ms": st.just(5),
        "strict": st.booleans(),
    },
)


class Script:
    """Plays steps and remembers what the client has written."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.talk = Conversation(request_timeout=60, start_timeout=30, question_timeout=100, **options)
        self.open: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()
        self.seen = 0
        self.asked = 0
        self.replies: list[dict[str, Any]] = []

    def play(self, step: tuple[Any, ...]) -> None:
        kind, rest = step[0], step[1:]
        getattr(self, "on_" + kind.replace(" ", "_"))(*rest)
        self.settle()

    def settle(self) -> None:
        """Take note of the answers that came out."""
        for frame in self.talk.to_client[self.seen :]:
            own = json.dumps(frame.get("id"))
            asked = {request.get("method") for request in self.talk.asked_by_client if json.dumps(request["id"]) == own}
            ORACLE.check_to_client(frame, asked.pop() if len(asked) == 1 else None)
            if "method" in frame:
                continue
            assert ("result" in frame) is not ("error" in frame), frame
            if "id" not in frame:
                continue
            assert self.open[own] + self.cancelled[own] > 0, f"an answer to nobody: {frame}"
            # A request that reuses the id of a cancelled one: the answer is the newer one's.
            (self.open if self.open[own] else self.cancelled)[own] -= 1
        self.seen = len(self.talk.to_client)

    def send(self, frame: dict[str, Any]) -> None:
        self.open[json.dumps(frame["id"])] += 1
        self.talk.client_frame(frame)

    def on_request(self, own: Any, request: tuple[str, dict[str, Any]], meta: Any) -> None:
        method, params = request
        self.send({"jsonrpc": "2.0", "id": own, "method": method, "params": {**params, "_meta": meta}})

    def on_retry(self, own: Any, which: int, answers: Any) -> None:
        rounds = [frame for frame in self.talk.to_client if frame.get("result", {}).get("resultType") == "input_required"]
        state = rounds[-1 - which % len(rounds)]["result"]["requestState"] if rounds else "none"
        params = {"name": "asker", "arguments": {}, "requestState": state, "inputResponses": answers, "_meta": envelope(ALL_CAPABILITIES)}
        self.send({"jsonrpc": "2.0", "id": own, "method": "tools/call", "params": params})
        error = self.talk.to_client[-1].get("error", {}) if self.talk.to_client else {}  # before any server was met it waits
        event(f"retry: {(error.get('data') or {}).get('reason', 'refused') if error else 'taken'}" if rounds else "retry of nothing")

    def on_park(self, own: Any, quiet: bool) -> None:
        """A call that asks; with ``quiet`` the window passes too."""
        self.on_request(
            own, ("tools/call", {"name": "asker", "arguments": {}}), envelope(ALL_CAPABILITIES, progressToken="p", logLevel="info")
        )
        self.asked += 1
        self.on_ask(f"q{self.asked}", ("elicitation/create", FORM))
        if quiet:
            self.on_wait(0.5)

    def on_finish(self) -> None:
        """The server answers its oldest call rightly, if it has one left."""
        answered = {frame.get("id") for frame in self.replies}
        left = [frame["id"] for frame in self.talk.requests("tools/call") if frame["id"] not in answered]
        if left:
            self.replies.append({"id": left[0]})
            self.talk.server_frame({"jsonrpc": "2.0", "id": left[0], "result": {"content": []}})

    def on_cancel(self, own: Any) -> None:
        key = json.dumps(own)
        self.cancelled[key] += self.open.pop(key, 0)
        self.talk.cancel(own)

    def on_client_line(self, line: Any) -> None:
        if isinstance(line, bytes):
            self.talk.client_line(line)
            return
        # Scraps of JSON that are no request: whatever they hold as id may be echoed once in a refusal.
        if isinstance(line, dict) and isinstance(line.get("id"), str | int) and not isinstance(line.get("id"), bool):
            self.cancelled[json.dumps(line["id"])] += 1
        self.talk.client_frame(line)

    def on_shake_hands(self) -> None:
        waiting = self.waiting()
        if waiting and self.talk.to_server[-1].get("method") == "initialize":
            self.talk.handshake()

    def on_cancel_newest(self) -> None:
        left = list(+self.open)
        if left:
            self.on_cancel(json.loads(left[-1]))

    def waiting(self) -> list[Any]:
        return [frame["id"] for frame in self.talk.to_server if "method" in frame and "id" in frame]

    def on_answer(self, which: int, result: Any) -> None:
        ids = self.waiting()
        if ids:
            self.talk.server_frame({"jsonrpc": "2.0", "id": ids[-1 - which % len(ids)], "result": result})

    def on_fail(self, which: int, error: Any) -> None:
        ids = self.waiting()
        if ids:
            self.talk.server_frame({"jsonrpc": "2.0", "id": ids[-1 - which % len(ids)], "error": error})

    def on_ask(self, own: Any, question: tuple[str, Any]) -> None:
        if self.talk.opened:
            self.talk.ask(own, *question)

    def on_note(self, note: tuple[str, Any]) -> None:
        if self.talk.opened:
            self.talk.note(*note)

    def on_server_line(self, line: Any) -> None:
        if not self.talk.opened:
            return
        if isinstance(line, bytes):
            self.talk.server_line(line)
        else:
            self.talk.server_frame(line)

    def on_die(self) -> None:
        if self.talk.opened:
            self.talk.server_dies()

    def on_wait(self, seconds: float) -> None:
        self.talk.pass_time(seconds)

    def on_too_long(self, head: bytes) -> None:
        if self.talk.opened:
            self.talk.server_line_too_long(head, 99_000_000)

    def end(self) -> None:
        """Every time limit passes: only streams may still be open. The client closes: after the drain time they are not."""
        self.talk.pass_time(5000)
        self.settle()
        streams = {json.dumps(frame["id"]) for frame in self.talk.asked_by_client if frame.get("method") == "subscriptions/listen"}
        left = {own for own, count in self.open.items() if count > 0} - streams
        assert not left, f"not answered in time: {left}\n{self.talk.transcript()}"
        self.talk.client_closes()
        self.settle()
        self.talk.pass_time(1000)
        self.settle()
        left = +self.open
        assert not left, f"never answered: {dict(left)}\n{self.talk.transcript()}"
        assert self.talk.finished in (0, 1)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(options=OPTIONS, steps=st.lists(STEPS, min_size=1, max_size=40))
def test_any_frames_leave_no_request_unanswered(options: dict[str, Any], steps: list[tuple[Any, ...]]) -> None:
    play(Script(options), steps)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(options=OPTIONS, steps=st.lists(ROUNDS, min_size=12, max_size=40))
def test_any_rounds_leave_no_request_unanswered(options: dict[str, Any], steps: list[tuple[Any, ...]]) -> None:
    script = Script(options)
    script.on_request("hello", ("server/discover", {}), envelope(ALL_CAPABILITIES))
    script.talk.handshake()
    play(script, steps)


@settings(max_examples=100, deadline=None)
@given(members=st.dictionaries(st.text(max_size=8).map("com.example/{}".format), CLEAN, min_size=1, max_size=3))
def test_unknown_members_of_a_result_survive(members: dict[str, Any]) -> None:
    talk = Conversation()
    talk.meet()
    talk.call("t", id=1)
    talk.reply("tools/call", {"content": [], **members})
    kept = {name: value for name, value in talk.result_of(1).items() if name in members}
    assert kept == members


def play(script: Script, steps: list[tuple[Any, ...]]) -> None:
    for step in steps:
        script.play(step)
    script.end()
    for line in script.talk.lines_to_server:
        assert f"{META}clientCapabilities".encode() not in line or b'"server/discover"' in line

"""Anything in any order between a legacy client and a server of 2026-07-28: nothing is raised, and every request has one answer.

What must hold whatever comes: each frame is valid for its receiver, and a question is a request with an id of its own; an id comes back
as it was written; a request has one answer unless it was cancelled; a batch goes only to a client that knows batches; when the
client has left and the time for what is in flight is over, nobody waits, and the bridge is done.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conversations.lowered import DONE, EVERYTHING, FORM, LINK, ROOTS, SAID, SAMPLE, Lowered, asked, on

from oracle import LEGACY, MODERN, Oracle, spec_folder

ORACLE = Oracle(spec_folder())
IDS = st.sampled_from([1, 2, 3, "1", "a", "", 2**53 + 1, -7])
REQUESTS = st.sampled_from(
    [
        ("tools/call", {"name": "deploy", "arguments": {}}),
        ("tools/call", {"name": "deploy", "arguments": {}, "_meta": {"progressToken": "t"}}),
        ("prompts/get", {"name": "p"}),
        ("resources/read", {"uri": "a:b"}),
        ("tools/list", {}),
        ("resources/subscribe", {"uri": "a:1"}),
        ("resources/subscribe", {"uri": "a:2"}),
        ("resources/unsubscribe", {"uri": "a:1"}),
        ("logging/setLevel", {"level": "info"}),
        ("logging/setLevel", {"level": 1}),
        ("ping", None),
        ("server/discover", {}),
        ("vendor/run", {"x": 1}),
        ("tools/call", []),
    ]
)
NOTES = st.sampled_from(
    [
        ("notifications/initialized", None),
        ("notifications/roots/list_changed", None),
        ("notifications/cancelled", None),
        ("notifications/cancelled", {"requestId": None}),
    ]
)
ANSWERS = st.sampled_from([SAID, {"action": "decline"}, {"action": "maybe"}, {"roots": []}, {}, [], None, "error"])
RESULTS: st.SearchStrategy[Any] = st.sampled_from(
    [
        DONE,
        {"content": []},
        {**DONE, "structuredContent": [1]},
        {"resultType": "complete", "tools": [{"name": "deploy", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}}]},
        {"resultType": "input_required", "inputRequests": {"f": FORM, "r": ROOTS}, "requestState": "s"},
        {"resultType": "input_required", "inputRequests": {"f": FORM}},
        {"resultType": "input_required", "inputRequests": {"l": LINK, "s": SAMPLE}},
        {"resultType": "input_required", "requestState": "wait"},
        {"resultType": "input_required"},
        {"resultType": "input_required", "inputRequests": [], "requestState": 1},
        {"resultType": "input_required", "inputRequests": {"x": {"method": "vendor/ask"}}},
        {"resultType": "task"},
        {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}}},
        {},
        None,
        "x",
    ]
)
ERRORS = st.sampled_from(
    [
        {"code": -32601, "message": "Method not found"},
        {"code": -32602, "message": "m", "data": {"uri": "a:b"}},
        {"code": -32021, "message": "m", "data": {"requiredCapabilities": {}}},
        {"code": "x"},
        "text",
    ]
)
NEWS = st.sampled_from(
    [
        ("notifications/tools/list_changed", {}),
        ("notifications/resources/updated", {"uri": "a:1"}),
        ("notifications/message", {"level": "error", "data": 1}),
        ("notifications/message", {"level": 5}),
        ("notifications/vendor/news", {"x": [1.5]}),
        ("notifications/cancelled", {}),
    ]
)
SERVER_LINES = st.sampled_from(
    [
        b"hello",
        b"[1]",
        b"[]",
        b'{"jsonrpc":"2.0","id":2,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":3,"result":"\xff"}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","id":"q","method":"roots/list"}',
        b'{"jsonrpc":"2.0","id":4,"result":{},"result":{"content":[]}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":7}',
    ]
)
CLIENT_LINES = st.sampled_from(
    [b"", b"{", b"[]", b"[1]", b"null", b"\xff", b'{"jsonrpc":"2.0"}', b"{}", b'{"jsonrpc":"2.0","id":99,"result":{}}']
)
WHICH = st.integers(0, 3)
ENTRIES = st.one_of(st.tuples(IDS, REQUESTS), NOTES)
STEPS = st.one_of(
    st.tuples(st.just("request"), IDS, REQUESTS),
    st.tuples(st.just("request"), IDS, REQUESTS),
    st.tuples(st.just("batch"), st.lists(ENTRIES, max_size=4)),
    st.tuples(st.just("tell"), NOTES),
    st.tuples(st.just("cancel"), IDS),
    st.tuples(st.just("say"), WHICH, ANSWERS),
    st.tuples(st.just("say"), WHICH, ANSWERS),
    st.tuples(st.just("client_line"), CLIENT_LINES),
    st.tuples(st.just("answer"), WHICH, RESULTS),
    st.tuples(st.just("answer"), WHICH, RESULTS),
    st.tuples(st.just("answer"), WHICH, RESULTS),
    st.tuples(st.just("fail"), WHICH, ERRORS),
    st.tuples(st.just("acknowledge"), st.booleans()),
    st.tuples(st.just("acknowledge"), st.booleans()),
    st.tuples(st.just("news"), NEWS),
    st.tuples(st.just("progress"), WHICH, st.sampled_from([1, 2.5, "x", None])),
    st.tuples(st.just("server_line"), SERVER_LINES),
    st.tuples(st.just("too_long"), st.sampled_from([b'{"jsonrpc":"2.0","id":2,"result":"aaa', b"aaa"])),
    st.tuples(st.just("die")),
    st.tuples(st.just("wait"), st.sampled_from([0.3, 2, 40, 700])),
)


class Script:
    """Plays steps, and looks at everything that comes out."""

    def __init__(self, revision: str) -> None:
        self.talk = Lowered(ORACLE, judged=False, request_timeout=60, start_timeout=30, question_timeout=100)
        self.revision = revision
        self.open: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()
        self.methods: dict[str, set[str]] = {}
        self.seen = [0, 0, 0]
        self.met = False
        self.send(
            asked(
                "initialize", {"protocolVersion": revision, "capabilities": EVERYTHING, "clientInfo": {"name": "c", "version": "1"}}, id=0
            )
        )

    def play(self, step: tuple[Any, ...]) -> None:
        getattr(self, f"on_{step[0]}")(*step[1:])
        self.settle()

    def settle(self) -> None:
        """Judge what came out since the last time."""
        talk, seen = self.talk, self.seen
        for line in talk.lines_to_client[seen[0] :]:
            assert not line.startswith(b"[") or self.revision == "2025-03-26"
        for frame in talk.to_client[seen[1] :]:
            self._to_client(frame)
        for frame in talk.to_server[seen[2] :]:
            ORACLE.check_to_server(frame, MODERN)
        self.seen = [len(talk.lines_to_client), len(talk.to_client), len(talk.to_server)]
        assert "internal fault" not in talk.transcript(), talk.transcript()

    def _to_client(self, frame: Any) -> None:
        own = json.dumps(frame.get("id"))
        methods = self.methods.get(own, set())
        self.met |= own == "0" and "result" in frame
        revision = self.revision if self.met else LEGACY[-1]  # nobody knows which before the handshake is over
        ORACLE.check_to_client(frame, next(iter(methods)) if "method" not in frame and len(methods) == 1 else None, revision)
        if "method" in frame or frame.get("id") is None:
            return
        assert self.open[own] + self.cancelled[own] > 0, f"an answer to nobody: {frame}\n{self.talk.transcript()}"
        (self.open if self.open[own] else self.cancelled)[own] -= 1

    def send(self, frame: Any) -> None:
        for item in frame if isinstance(frame, list) else [frame]:
            if "id" in item:
                own = json.dumps(item["id"])
                # A batch that is refused as a whole answers none of its requests; before the handshake is over none is taken.
                refused = isinstance(frame, list) and (self.revision != "2025-03-26" or not self.met)
                (self.cancelled if refused else self.open)[own] += 1
                self.methods.setdefault(own, set()).add(item["method"])
        self.talk.client_frame(frame)

    def on_request(self, own: Any, request: tuple[str, Any]) -> None:
        self.send(asked(*request, id=own))

    def on_batch(self, entries: list[Any]) -> None:
        frames = []
        for first, second in entries:
            is_note = isinstance(first, str) and first.startswith("notifications/")
            params = {} if not is_note or second is None else {"params": second}
            frames.append({"jsonrpc": "2.0", "method": first, **params} if is_note else asked(*second, id=first))
        self.send(frames)

    def on_tell(self, note: tuple[str, Any]) -> None:
        self.talk.tells(*note)

    def on_cancel(self, own: Any) -> None:
        key = json.dumps(own)
        self.cancelled[key] += self.open.pop(key, 0)
        self.talk.cancel(own)

    def on_say(self, which: int, answer: Any) -> None:
        questions = self.talk.questions()
        if not questions:
            return
        own = questions[-1 - which % len(questions)]["id"]
        if answer == "error":
            self.talk.client_frame({"jsonrpc": "2.0", "id": own, "error": {"code": -1, "message": "no"}})
        else:
            self.talk.says(own, answer)

    def on_client_line(self, line: bytes) -> None:
        self.talk.client_line(line)

    def waiting(self) -> list[Any]:
        return [frame["id"] for frame in self.talk.to_server if "method" in frame and "id" in frame]

    def on_answer(self, which: int, result: Any) -> None:
        ids = self.waiting()
        self.talk.server_frame({"jsonrpc": "2.0", "id": ids[-1 - which % len(ids)], "result": result})

    def on_fail(self, which: int, error: Any) -> None:
        ids = self.waiting()
        self.talk.server_frame({"jsonrpc": "2.0", "id": ids[-1 - which % len(ids)], "error": error})

    def on_acknowledge(self, whole: bool) -> None:
        if self.talk.requests("subscriptions/listen"):
            self.talk.acknowledges(**({} if whole else {"resourceSubscriptions": ["a:1"]}))

    def on_news(self, news: tuple[str, Any]) -> None:
        streams = self.talk.requests("subscriptions/listen")
        named = {"requestId": streams[-1]["id"]} if streams and news[0].endswith("cancelled") else {}
        self.talk.note(news[0], {**news[1], **named, **({"_meta": on(streams[-1])} if streams else {})})

    def on_progress(self, which: int, value: Any) -> None:
        ids = self.waiting()
        self.talk.note("notifications/progress", {"progressToken": ids[-1 - which % len(ids)], "progress": value})

    def on_server_line(self, line: bytes) -> None:
        self.talk.server_line(line)

    def on_too_long(self, head: bytes) -> None:
        self.talk.server_line_too_long(head, 99_000_000)

    def on_die(self) -> None:
        if self.talk.session not in self.talk.dead:
            self.talk.server_dies()

    def on_wait(self, seconds: float) -> None:
        self.talk.pass_time(seconds)

    def end(self) -> None:
        """The client leaves; what is in flight has its time, and then nobody waits."""
        self.talk.client_closes()
        self.talk.pass_time(10_000)
        self.settle()
        left = {own for own, count in self.open.items() if count > 0}
        assert not left, f"never answered: {left}\n{self.talk.transcript()}"
        assert self.talk.finished in (0, 1)


@given(st.sampled_from(LEGACY), st.booleans(), st.lists(STEPS, max_size=40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_request_has_one_answer_whatever_comes(revision: str, greeted: bool, steps: list[tuple[Any, ...]]) -> None:
    script = Script(revision)
    if greeted:
        script.play(
            (
                "answer",
                0,
                {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}}},
            )
        )
        script.play(("tell", ("notifications/initialized", None)))
    for step in steps:
        script.play(step)
    script.end()

"""Any HTTP requests and any server lines in any order: nothing is raised, and every exchange is answered once and whole.

What must hold whatever comes: the core never raises, and no fault of ours is logged; each exchange gets exactly one complete
answer unless its client has left; nothing follows an end; nothing is written to a process that is gone; whoever is unknown has
no effect; and what one principal says, or is told, is never told to another. ``Web`` checks the order of effects by itself.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.conversation import ALL_CAPABILITIES, CLIENT, MODERN, SERVER, envelope
from tests.conversations.test_any_frames import ANSWERS, ERRORS, FORM, METAS, NOTES, QUESTIONS, REQUESTS, RESULTS, SCRAP, SERVER_GARBAGE
from tests.http.answer import Answer
from tests.http.web import NAMES, Web, is_modern

from oracle import Oracle, spec_folder

ORACLE = Oracle(spec_folder())
IDS = st.sampled_from([0, 1, 2, "1", "a", 2**53 + 1])
DISCOVERED = {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
WHO = st.sampled_from(["A", "B", None])
SLOT = st.integers(0, 3)
BODIES = st.sampled_from(
    [
        b"",
        b"{",
        b"[]",
        b"[1]",
        b"null",
        b"\xff",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":null,"method":"x"}',
        b'{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}},7,{"jsonrpc":"2.0","id":2,"method":"ping"}]',
        b'[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]',
        b'[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}]',
        b"[" * 3000,
    ]
)
VALUES = st.sampled_from(
    ["", "x", "1", "1-1", "2-0", "0" * 48, MODERN, "2025-11-25", "2025-03-26", "2099-01-01", "tools/call", "=?base64?eA==?="]
)
FIELDS = st.dictionaries(
    st.sampled_from(["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id", "mcp-param-r", "origin"]),
    VALUES,
    max_size=4,
)
ACCEPTS = st.sampled_from([None, "application/json", "text/event-stream", "text/html", "*/*"])
PATHS = st.sampled_from(["/mcp", "/mcp", "/mcp/", "/sse", "/messages", "/healthz", "/x"])
VERBS = st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT"])
REVISIONS = st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN, "2099-01-01"])
STEPS = st.one_of(
    st.tuples(st.just("ask"), WHO, IDS, REQUESTS, METAS, ACCEPTS),
    st.tuples(st.just("ask"), WHO, IDS, REQUESTS, st.just(envelope(ALL_CAPABILITIES)), st.none()),
    st.tuples(st.just("call"), WHO, IDS),
    st.tuples(st.just("call"), WHO, IDS),
    st.tuples(st.just("park"), WHO, IDS),
    st.tuples(st.just("retry"), WHO, IDS, SLOT, ANSWERS),
    st.tuples(st.just("retry"), WHO, IDS, SLOT, ANSWERS),
    st.tuples(st.just("listen"), WHO, IDS),
    st.tuples(st.just("initialize"), WHO, REVISIONS),
    st.tuples(st.just("initialize"), WHO, REVISIONS),
    st.tuples(st.just("say"), WHO, SLOT, IDS, REQUESTS, ACCEPTS),
    st.tuples(st.just("say"), WHO, SLOT, IDS, REQUESTS, st.none()),
    st.tuples(st.just("post"), WHO, SLOT, BODIES, ACCEPTS),
    st.tuples(st.just("get"), WHO, SLOT, st.sampled_from([None, "1-0", "2-0", "3-1", "2-5", "x"])),
    st.tuples(st.just("delete"), WHO, SLOT),
    st.tuples(st.just("old"), WHO),
    st.tuples(st.just("old say"), WHO, SLOT, IDS, st.sampled_from(["initialize", "tools/call", "ping"])),
    st.tuples(st.just("raw"), VERBS, PATHS, BODIES | SCRAP.map(lambda scrap: json.dumps(scrap).encode()), FIELDS),
    st.tuples(st.just("leave"), SLOT),
    st.tuples(st.just("leave"), SLOT),
    st.tuples(st.just("shake hands"), SLOT),
    st.tuples(st.just("shake hands"), SLOT),
    st.tuples(st.just("finish"), SLOT),
    st.tuples(st.just("finish"), SLOT),
    st.tuples(st.just("answer"), SLOT, SLOT, RESULTS | st.just(DISCOVERED)),
    st.tuples(st.just("fail"), SLOT, SLOT, ERRORS),
    st.tuples(st.just("question"), SLOT, st.sampled_from([1, "q", 2]), QUESTIONS),
    st.tuples(st.just("note"), SLOT, NOTES),
    st.tuples(st.just("line"), SLOT, SERVER_GARBAGE | SCRAP.map(lambda scrap: json.dumps(scrap).encode())),
    st.tuples(st.just("too long"), SLOT, st.sampled_from([b'{"jsonrpc":"2.0","id":2,"result":"aaa', b"aaa"])),
    st.tuples(st.just("die"), SLOT),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.5, 6, 40, 400])),
    st.tuples(st.just("close"), st.integers(0, 20)),
)
WARM_STEPS = st.one_of(
    st.tuples(st.just("call"), WHO, IDS),
    st.tuples(st.just("park"), WHO, IDS),
    st.tuples(st.just("park"), WHO, IDS),
    st.tuples(st.just("retry"), WHO, IDS, SLOT, ANSWERS),
    st.tuples(st.just("retry"), WHO, IDS, SLOT, st.just({"env": {"action": "decline"}})),
    st.tuples(st.just("say"), WHO, SLOT, st.integers(10, 99), REQUESTS, ACCEPTS),
    st.tuples(st.just("say"), WHO, SLOT, st.integers(10, 99), REQUESTS, st.none()),
    st.tuples(st.just("post"), WHO, SLOT, BODIES, st.none()),
    st.tuples(st.just("get"), WHO, SLOT, st.none()),
    st.tuples(st.just("come back"), WHO),
    st.tuples(st.just("come back"), WHO),
    st.tuples(st.just("shake hands"), SLOT),
    st.tuples(st.just("finish"), SLOT),
    st.tuples(st.just("finish"), SLOT),
    st.tuples(st.just("question"), SLOT, st.sampled_from(["q", "r"]), QUESTIONS),
    st.tuples(st.just("note"), SLOT, NOTES),
    st.tuples(st.just("leave"), SLOT),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.5, 6])),
    STEPS,
)
OPTIONS = st.fixed_dictionaries(
    {"sse": st.just(True)},
    optional={
        "isolation": st.sampled_from(["principal", "session", "shared"]),
        "server_era": st.sampled_from(["auto", "legacy", "modern"]),
        "max_sessions": st.sampled_from([2, 3]),
        "hibernate_after": st.sampled_from([1.0, 300.0]),
        "session_ttl": st.sampled_from([5.0, 100.0]),
        "header_wait": st.sampled_from([0.0, 5.0]),
        "keepalive": st.sampled_from([0, 15]),
        "max_parked": st.just(1),
        "one_call_per_session": st.booleans(),
        "replay": st.booleans(),
        "strict": st.booleans(),
    },
)


PRINCIPALS = {sha256(b"Bearer A").digest(): "A", sha256(b"Bearer B").digest(): "B", b"anonymous": None, b"everybody": None}


def mark(who: str | None) -> str:
    """What a principal says in all of its requests, and its servers in all of their words."""
    return f"marker-of-{who}"


class Script:
    """Plays steps. Every word of a principal's, and of the servers behind it, carries its marker."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.web = Web(auto={"initialize": None, "tools/list": None}, request_timeout=60, start_timeout=30, question_timeout=100, **options)
        self.shared = options.get("isolation") == "shared"
        self.owners: dict[int, str | None] = {}
        self.of_process: dict[int, str | None] = {}
        self.sessions: list[tuple[str, str | None, Answer]] = []
        self.asked = 0

    # -- keeping track -------------------------------------------------------------------------------------------------

    def play(self, step: tuple[Any, ...]) -> None:
        kind, rest = step[0], step[1:]
        getattr(self, "on_" + kind.replace(" ", "_"))(*rest)

    def took(self, answer: Answer, who: str | None) -> Answer:
        """Remember whose exchange it was, and whose the processes are that it started."""
        self.owners[answer.number] = who
        return answer

    def process(self, which: int) -> int | None:
        alive = self.web.alive
        return alive[which % len(alive)] if alive else None

    def waiting(self, process: int) -> list[dict[str, Any]]:
        return [frame for frame in self.web.to_server[process] if "method" in frame and "id" in frame]

    def token(self, who: str | None) -> str | None:
        return None if who is None else f"Bearer {who}"

    # -- modern clients ------------------------------------------------------------------------------------------------

    def send(self, who: str | None, own: Any, method: str, params: Any, meta: Any, accept: str | None = None) -> Answer:
        fields: dict[str, Any] = {"mcp_protocol_version": MODERN, "mcp_method": method, "authorization": self.token(who)}
        if accept is not None:
            fields["accept"] = accept
        name = params.get(NAMES.get(method, "?"))
        if name is not None:
            fields["mcp_name"] = name
        frame = {"jsonrpc": "2.0", "id": own, "method": method, "params": {**params, "com.example/mark": mark(who), "_meta": meta}}
        return self.took(self.web.post(frame, **fields), who)

    def on_ask(self, who: str | None, own: Any, request: tuple[str, dict[str, Any]], meta: Any, accept: str | None) -> None:
        self.send(who, own, *request, meta, accept)

    def on_call(self, who: str | None, own: Any) -> Answer:
        meta = envelope(ALL_CAPABILITIES, progressToken="p", logLevel="info")
        return self.send(who, own, "tools/call", {"name": "asker", "arguments": {}}, meta)

    def on_park(self, who: str | None, own: Any) -> None:
        self.on_call(who, own)
        for which in range(len(self.web.alive)):
            self.on_shake_hands(which)
        self.asked += 1
        for which in range(len(self.web.alive)):
            self.on_question(which, f"q{self.asked}", ("elicitation/create", FORM))
        self.on_wait(0.5)

    def on_retry(self, who: str | None, own: Any, which: int, answers: Any) -> None:
        rounds = [
            frame["result"]["requestState"]
            for answer in self.web.answers.values()
            if answer.done
            for frame in answer.frames[-1:]
            if isinstance(frame, dict) and isinstance(frame.get("result"), dict) and "requestState" in frame["result"]
        ]
        state = rounds[-1 - which % len(rounds)] if rounds else "none"
        params = {"name": "asker", "arguments": {}, "requestState": state, "inputResponses": answers}
        self.send(who, own, "tools/call", params, envelope(ALL_CAPABILITIES))

    def on_listen(self, who: str | None, own: Any) -> None:
        filters = {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]}
        self.send(who, own, "subscriptions/listen", {"notifications": filters}, envelope(ALL_CAPABILITIES))

    # -- legacy clients ------------------------------------------------------------------------------------------------

    def session(self, which: int) -> str:
        known = [answer.headers["mcp-session-id"] for _, _, answer in self.sessions if "mcp-session-id" in answer.headers]
        return known[which % len(known)] if known else "0" * 48

    def owner_of(self, session: str) -> str | None:
        return next((who for _, who, answer in self.sessions if answer.headers.get("mcp-session-id") == session), None)

    def on_initialize(self, who: str | None, revision: str) -> None:
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT, "com.example/mark": mark(who)}
        frame = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = self.took(self.web.post(frame, authorization=self.token(who)), who)
        self.sessions.append((revision, who, answer))

    def on_say(self, who: str | None, which: int, own: Any, request: tuple[str, dict[str, Any]], accept: str | None) -> None:
        method, params = request
        frame = {"jsonrpc": "2.0", "id": own, "method": method, "params": {**params, "com.example/mark": mark(who)}}
        more = {} if accept is None else {"accept": accept}
        self.took(self.web.post(frame, mcp_session_id=self.session(which), authorization=self.token(who), **more), who)

    def on_post(self, who: str | None, which: int, body: bytes, accept: str | None) -> None:
        more = {} if accept is None else {"accept": accept}
        self.took(self.web.post(body, mcp_session_id=self.session(which), authorization=self.token(who), **more), who)

    def on_get(self, who: str | None, which: int, last: str | None) -> None:
        more = {} if last is None else {"last_event_id": last}
        self.took(self.web.send("GET", mcp_session_id=self.session(which), authorization=self.token(who), **more), who)

    def on_come_back(self, who: str | None) -> None:
        """Resume the newest stream of a session that broke off, from its first event."""
        lost = [answer for answer in self.web.answers.values() if answer.gone and any(told.id for told in answer.events)]
        if lost:
            session = next(value.decode() for name, value in lost[-1].request.headers if name == b"mcp-session-id")
            fields = {"mcp_session_id": session, "authorization": self.token(who), "last_event_id": lost[-1].events[0].id}
            self.took(self.web.send("GET", **fields), who)

    def on_delete(self, who: str | None, which: int) -> None:
        session = self.session(which)
        before = set(self.web.face.sessions)
        self.took(self.web.send("DELETE", mcp_session_id=session, authorization=self.token(who)), who)
        if who != self.owner_of(session) and not self.shared:
            assert set(self.web.face.sessions) == before, "a session was ended by somebody else"

    def on_old(self, who: str | None) -> None:
        self.took(self.web.send("GET", "/sse", authorization=self.token(who)), who)

    def on_old_say(self, who: str | None, which: int, own: Any, method: str) -> None:
        endpoints = [answer.events[0].data for answer in self.web.answers.values() if answer.request.path == "/sse" and answer.begun]
        query = endpoints[which % len(endpoints)].partition("?")[2] if endpoints else "session_id=0"
        params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": CLIENT, "name": "t", "com.example/mark": mark(who)}
        frame = {"jsonrpc": "2.0", "id": own, "method": method, "params": params}
        self.took(self.web.post(frame, "/messages", query=query, authorization=self.token(who)), who)

    def on_raw(self, verb: str, path: str, body: bytes, fields: dict[str, str]) -> None:
        self.took(self.web.send(verb, path, body if verb == "POST" else b"", fields=list(fields.items())), None)

    def on_leave(self, which: int) -> None:
        open_ = [answer for answer in self.web.answers.values() if not answer.done and not answer.gone]
        if open_:
            self.web.leave(open_[-1 - which % len(open_)])

    # -- servers: all they say carries the marker of those they serve ---------------------------------------------------

    def owner_of_process(self, process: int) -> str | None:
        """Whose it is, by the face's own account: what comes of that is told by the markers."""
        if process not in self.of_process:
            principal = self.web.face._processes[process].principal  # type: ignore[attr-defined]
            self.of_process[process] = PRINCIPALS[principal]
        return self.of_process[process]

    def marked(self, process: int, value: Any) -> Any:
        own = mark(self.owner_of_process(process))
        return {**value, "com.example/mark": own} if isinstance(value, dict) else value

    def on_shake_hands(self, which: int) -> None:
        process = self.process(which)
        if process is None or not self.web.to_server[process]:
            return
        first = self.web.to_server[process][0]
        if first.get("method") == "initialize" and len(self.web.to_server[process]) == 1:
            revision = first["params"].get("protocolVersion", "2025-11-25")
            capabilities = {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}}
            result = {"protocolVersion": revision, "capabilities": capabilities, "serverInfo": SERVER}
            self.web.say({"jsonrpc": "2.0", "id": first["id"], "result": self.marked(process, result)}, process=process)
            for frame in self.waiting(process)[1:]:
                if frame["method"] == "tools/list" and process in self.web.alive:
                    self.web.say({"jsonrpc": "2.0", "id": frame["id"], "result": {"tools": []}}, process=process)

    def on_finish(self, which: int) -> None:
        process = self.process(which)
        if process is None:
            return
        calls = [frame for frame in self.waiting(process) if frame["method"] in ("tools/call", "tools/list", "resources/subscribe")]
        for frame in calls[-2:]:
            if process in self.web.alive:
                result: Any = {"tools": []} if frame["method"] == "tools/list" else {"content": []}
                self.web.say({"jsonrpc": "2.0", "id": frame["id"], "result": self.marked(process, result)}, process=process)

    def on_answer(self, which: int, back: int, result: Any) -> None:
        process = self.process(which)
        frames = self.waiting(process) if process is not None else []
        if process is not None and frames:
            own = frames[-1 - back % len(frames)]["id"]
            self.web.say({"jsonrpc": "2.0", "id": own, "result": self.marked(process, result)}, process=process)

    def on_fail(self, which: int, back: int, error: Any) -> None:
        process = self.process(which)
        frames = self.waiting(process) if process is not None else []
        if process is not None and frames:
            own = frames[-1 - back % len(frames)]["id"]
            self.web.say({"jsonrpc": "2.0", "id": own, "error": self.marked(process, error)}, process=process)

    def on_question(self, which: int, own: Any, question: tuple[str, Any]) -> None:
        process = self.process(which)
        if process is not None:
            method, params = question
            self.web.question(own, method, self.marked(process, params or {}), process=process)

    def on_note(self, which: int, note: tuple[str, Any]) -> None:
        process = self.process(which)
        if process is not None:
            method, params = note
            self.web.tell(method, self.marked(process, params or {}), process=process)

    def on_line(self, which: int, line: bytes) -> None:
        process = self.process(which)
        if process is not None:
            self.web.say_line(line, process=process)

    def on_too_long(self, which: int, head: bytes) -> None:
        process = self.process(which)
        if process is not None:
            self.web.say_too_much(head, 99_000_000, process=process)

    def on_die(self, which: int) -> None:
        process = self.process(which)
        if process is not None:
            self.web.die(process=process)

    def on_wait(self, seconds: float) -> None:
        self.web.pass_time(seconds)

    def on_close(self, chance: int) -> None:
        if chance == 0 and self.web.finished is None:
            self.web.shut_down()

    # -- the end -------------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """All that is promised, at the end; ``Web.end`` looks whether everybody was answered."""
        if self.web.finished is None:
            self.web.pass_time(5000)
            self.settle()
        self.web.end()
        self.judge()
        if not self.shared:
            self.look_for_leaks()

    def judge(self) -> None:
        """Frames for a modern client are valid, unless a modern server is behind: then its frames are its own."""
        if self.has_relay:
            return
        for answer in self.web.answers.values():
            if is_modern(answer.sent) and answer.request.path.rstrip("/") == "/mcp":
                for frame in answer.frames:
                    ORACLE.check_to_client(frame, json.loads(answer.sent).get("method"))

    def look_for_leaks(self) -> None:
        """What one principal said, or was told, is nowhere else."""
        for answer in self.web.answers.values():
            told = (answer.body + answer.text).decode(errors="replace")
            others = [who for who in ("A", "B", None) if who != self.owners[answer.number] and mark(who) in told]
            assert not others, f"[{answer.number}] of {self.owners[answer.number]} is told what is of {others}\n{self.web.transcript()}"
        for process, frames in self.web.to_server.items():
            found = [who for who in ("A", "B", None) if mark(who) in json.dumps(frames)]
            assert len(found) <= 1, f"server {process} hears of {found}\n{self.web.transcript()}"

    @property
    def has_relay(self) -> bool:
        """Whether a server was, or turned out to be, modern."""
        return self.web.face.shared.options.server_era == "modern" or any("it is modern" in text for text in self.web.logged)

    def settle(self) -> None:
        """After every time limit only streams may wait, and what is relayed, for which the servers alone set limits."""
        for answer in self.web.answers.values():
            if answer.done or answer.gone:
                continue
            method = json.loads(answer.sent).get("method") if answer.sent.startswith(b"{") else None
            is_legacy = not is_modern(answer.sent)
            assert is_legacy or self.has_relay or method == "subscriptions/listen", (
                f"[{answer.number}] waits for ever\n{self.web.transcript()}"
            )


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(options=OPTIONS, steps=st.lists(STEPS, min_size=1, max_size=40))
def test_any_requests_and_lines_leave_no_exchange_unanswered(options: dict[str, Any], steps: list[tuple[Any, ...]]) -> None:
    play(Script(options), steps)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(options=OPTIONS, steps=st.lists(WARM_STEPS, min_size=12, max_size=40))
def test_any_requests_to_servers_that_are_up_leave_no_exchange_unanswered(options: dict[str, Any], steps: list[tuple[Any, ...]]) -> None:
    """Sessions of two principals, modern requests beside them, and lines that mostly make sense."""
    script = Script({**options, "max_sessions": 8})
    for who, revision in (("A", "2025-03-26"), ("B", "2025-11-25")):
        script.on_initialize(who, revision)
        script.on_call(who, 1)
    for which in range(4):
        script.on_shake_hands(which)
    play(script, steps)


def play(script: Script, steps: list[tuple[Any, ...]]) -> None:
    for step in steps:
        if script.web.finished is None:
            script.play(step)
    for answer in script.web.answers.values():
        event(kind_of(answer))
    script.end()


def kind_of(answer: Answer) -> str:
    """What became of an exchange, for the statistics."""
    era = "modern" if is_modern(answer.sent) else "legacy"
    last = answer.frames[-1] if answer.frames else None
    code = last.get("error", {}).get("code") if isinstance(last, dict) and isinstance(last.get("error"), dict) else None
    return f"{era} {answer.request.method} {answer.status} {'stream' if answer.begun else 'whole'} {code or ''}"

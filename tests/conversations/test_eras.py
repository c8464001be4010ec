"""Which era the client speaks, and which the server (translation: which era is the server; stdio)."""

from __future__ import annotations

import json

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, SERVER, envelope
from tests.conversations.conftest import Converse

DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}
LEGACY_INITIALIZE = (
    b'{ "jsonrpc": "2.0",  "id": 0, "method": "initialize", "params": {"protocolVersion":"2025-06-18",'
    b'"capabilities":{}, "clientInfo":{"name":"old","version":"1.0"}} }'
)
LEGACY_INITIALIZED = b'{"method":"notifications/initialized","jsonrpc":"2.0"}'
TEXT = {"content": [{"type": "text", "text": "done"}]}


def modern_line(method: str, number: int, **params: object) -> bytes:
    """A request as no encoder of ours would write it."""
    body = {"params": {**params, "_meta": envelope()}, "method": method, "id": number, "jsonrpc": "2.0"}
    return json.dumps(body, indent=None, separators=(" ,  ", " : ")).encode()


def legacy_answer(revision: str) -> dict[str, object]:
    return {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": SERVER}


# -- a modern server ---------------------------------------------------------------------------------------------------


def test_server_that_refuses_initialize_and_knows_discover_is_modern_and_relayed(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    first = modern_line("server/discover", 1)
    second = modern_line("tools/call", 2, name="echo", arguments={"x": 1})
    talk.client_line(first)
    talk.client_line(second)
    talk.reply_error("initialize", -32601, "Method not found: initialize")
    probe = talk.requests("server/discover")[0]
    assert probe["params"]["_meta"][f"{META}protocolVersion"] == "2026-07-28"
    assert talk.to_client == []
    talk.reply("server/discover", DISCOVERED)
    assert talk.lines_to_server[-2:] == [first, second]
    assert talk.opened == [1]
    answer = b'{"id" : 2, "result" : {"resultType":"complete","content":[]}, "jsonrpc":"2.0"}'
    talk.server_line(answer)
    assert talk.lines_to_client == [answer]
    third = modern_line("resources/list", 3)
    talk.client_line(third)
    assert talk.lines_to_server[-1] == third
    assert talk.transcript() == transcript


def test_server_whose_unsupported_version_error_names_modern_revisions_is_modern(converse: Converse) -> None:
    talk = converse(relayed=True)
    line = modern_line("tools/list", 1)
    talk.client_line(line)
    talk.reply_error("initialize", -32602, "Invalid params")
    talk.reply_error("server/discover", -32022, "Unsupported protocol version", {"supported": ["2026-07-28"], "requested": "x"})
    assert talk.lines_to_server[-1] == line


def test_listen_that_waits_for_the_verdict_is_relayed_to_a_modern_server(converse: Converse) -> None:
    talk = converse(relayed=True)
    line = modern_line("subscriptions/listen", 1, notifications={"toolsListChanged": True})
    talk.client_line(line)
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert talk.lines_to_server[-1] == line
    assert talk.to_client == []


def test_request_cancelled_before_the_verdict_is_not_relayed(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(modern_line("tools/call", 1, name="slow", arguments={}))
    talk.client_line(modern_line("tools/call", 2, name="echo", arguments={}))
    talk.cancel(1)
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert [frame["id"] for frame in talk.requests("tools/call")] == [2]


def test_request_refused_before_the_verdict_is_not_relayed_too(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(modern_line("tools/list", 1))
    talk.client_line(modern_line("ping", 2))
    assert talk.error_of(2)["code"] == -32601
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert talk.requests("ping") == []


def test_duplicate_id_before_the_verdict_leaves_the_first_request_to_be_relayed(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(modern_line("tools/call", 1, name="first", arguments={}))
    talk.client_line(modern_line("tools/call", 1, name="second", arguments={}))
    assert talk.error_of(1)["code"] == -32600
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert [frame["params"]["name"] for frame in talk.requests("tools/call")] == ["first"]


@pytest.mark.parametrize(
    "discovered",
    [
        {"result": {}},
        {"result": {"supportedVersions": ["2025-11-25"]}},
        {"result": {"supportedVersions": "2026-07-28"}},
        {"result": None},
        {"error": {"code": -32022, "message": "x", "data": {"supported": ["2025-11-25"], "requested": "2026-07-28"}}},
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": {"code": -32603, "message": "2026-07-28"}},
    ],
)
def test_answer_to_discover_that_names_no_modern_revision_leaves_the_refusal_of_initialize(converse: Converse, discovered: object) -> None:
    talk = converse()
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32603, "license expired")
    talk.server_frame({"jsonrpc": "2.0", "id": talk.pending("server/discover"), **discovered})  # type: ignore[dict-item]
    assert talk.error_of(1)["code"] == -32603
    assert "license expired" in talk.error_of(1)["message"]
    assert talk.closed == [1]


def test_server_known_as_modern_is_relayed_from_the_first_line(converse: Converse) -> None:
    talk = converse(relayed=True, server_era="modern")
    line = modern_line("tools/list", 1)
    talk.client_line(line)
    assert talk.lines_to_server == [line]


def test_server_known_as_legacy_is_not_asked_for_discover(converse: Converse) -> None:
    talk = converse(server_era="legacy")
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32601, "no")
    assert talk.requests("server/discover") == []
    assert talk.error_of(1)["code"] == -32603


def test_modern_server_that_dies_fails_its_calls_and_the_next_starts_it_again(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(modern_line("tools/list", 1))
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    talk.server_dies("exited with status 9: out of memory")
    assert talk.error_of(1)["code"] == -32603
    assert "status 9: out of memory" in talk.error_of(1)["message"]
    line = modern_line("tools/list", 2)
    talk.client_line(line)
    assert talk.opened == [1, 2]
    assert talk.lines_to_server[-1] == line


# -- a legacy client -----------------------------------------------------------------------------------------------------


def test_legacy_client_is_relayed_byte_for_byte(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    assert talk.lines_to_server == [LEGACY_INITIALIZE]
    answer = json.dumps({"result": legacy_answer("2025-06-18"), "id": 0, "jsonrpc": "2.0"}, indent=None).encode()
    talk.server_line(answer)
    assert talk.lines_to_client == [answer]
    call = b'{"jsonrpc":"2.0", "id":"a\\u0062", "method":"tools/call", "params":{"name":"n","arguments":{"x":1e400,"y":1.10}}}'
    for line in (LEGACY_INITIALIZED, call):
        talk.client_line(line)
        assert talk.lines_to_server[-1] == line
    question = b'{"jsonrpc":"2.0","method":"sampling/createMessage" , "id":7 ,"params":{}}'
    talk.server_line(question)
    assert talk.lines_to_client[-1] == question
    reply = b'{"id":7,"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}'
    talk.client_line(reply)
    assert talk.lines_to_server[-1] == reply
    result = b'{"jsonrpc":"2.0","id":"a\\u0062","result":{ "content":[],  "isError":false }}'
    talk.server_line(result)
    assert talk.lines_to_client[-1] == result
    talk.client_line(b'{"jsonrpc":"2.0","id":9,"method":"ping"}')
    assert talk.lines_to_server[-1] == b'{"jsonrpc":"2.0","id":9,"method":"ping"}'
    assert talk.transcript() == transcript


def test_legacy_line_endings_and_byte_order_mark_are_cleaned(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(b"\xef\xbb\xbf" + LEGACY_INITIALIZE + b"\r")
    assert talk.lines_to_server == [LEGACY_INITIALIZE]
    talk.server_line(b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}\r')
    assert talk.lines_to_client == [b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}']


def test_legacy_batches_of_march_2025_go_through_whole(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE.replace(b"2025-06-18", b"2025-03-26"))
    talk.reply("initialize", legacy_answer("2025-03-26"))
    batch = b'[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","method":"notifications/initialized"}]'
    talk.client_line(batch)
    assert talk.lines_to_server[-1] == batch
    answer = b'[ {"jsonrpc":"2.0","id":1,"result":{}} ]'
    talk.server_line(answer)
    assert talk.lines_to_client[-1] == answer
    talk.client_closes()
    assert talk.finished == 0
    assert talk.transcript() == transcript


@pytest.mark.parametrize(
    ("revision", "has_null"), [("2024-11-05", True), ("2025-03-26", True), ("2025-06-18", True), ("2025-11-25", False)]
)
def test_unreadable_line_of_a_legacy_client_is_answered_in_its_revision(converse: Converse, revision: str, has_null: bool) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.reply("initialize", legacy_answer(revision))
    said = len(talk.to_server)
    talk.client_line(b"{nonsense")
    assert talk.to_client[-1]["error"]["code"] == -32700
    assert ("id" in talk.to_client[-1]) is has_null
    assert talk.to_client[-1].get("id") is None
    assert len(talk.to_server) == said


def test_text_on_stdout_never_reaches_a_legacy_client(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_line(b"Server v1.2 listening")
    talk.server_line(b"")
    assert talk.to_client == []
    assert any("Server v1.2 listening" in line for line in talk.log if line.startswith("* log"))


def test_broken_answer_reaches_its_owner_at_a_legacy_client(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.reply("initialize", legacy_answer("2025-06-18"))
    talk.client_line(b'{"jsonrpc":"2.0","id":"a","method":"tools/list"}')
    talk.client_line(b'{"jsonrpc":"2.0","id":"b","method":"tools/list"}')
    talk.server_line(b'{"jsonrpc":"2.0","id":"b","result":{"x":NaN}}')
    assert talk.error_of("b")["code"] == -32603
    talk.server_line_too_long(b'{"jsonrpc":"2.0","id":"a","result":{"x":"aaaa', 99_000_000)
    assert talk.error_of("a")["code"] == -32603


def test_legacy_server_that_dies_fails_what_is_in_flight_and_ends_the_connection(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.reply("initialize", legacy_answer("2025-06-18"))
    talk.client_line(LEGACY_INITIALIZED)
    talk.client_line(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    talk.client_line(b'{"jsonrpc":"2.0","id":"1","method":"tools/list"}')
    talk.server_dies("exited with status 3: Traceback: KeyError")
    for number in (1, "1"):
        assert talk.error_of(number)["code"] == -32603
        assert "status 3: Traceback: KeyError" in talk.error_of(number)["message"]
    assert talk.finished == 1
    assert talk.transcript() == transcript


def test_legacy_server_that_cannot_start_fails_initialize_and_the_client_may_try_again(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_dies("could not be started: no such file")
    assert "no such file" in talk.error_of(0)["message"]
    assert talk.finished is None
    talk.client_line(LEGACY_INITIALIZE)
    assert talk.opened == [1, 2]


def test_refused_initialize_of_a_legacy_client_comes_back_as_the_server_wrote_it(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    refusal = b'{"jsonrpc":"2.0","id":0,"error":{"code":-32602, "message":"Unsupported protocol version"}}'
    talk.server_line(refusal)
    talk.reply_error("server/discover", -32601, "Method not found")  # it might have been a modern one
    assert talk.lines_to_client == [refusal]
    assert talk.finished is None


# -- both on one connection ------------------------------------------------------------------------------------------------


def test_initialize_after_discover_is_served_by_a_process_of_its_own(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    talk.client("server/discover", id="d")
    talk.handshake()
    talk.client_line(LEGACY_INITIALIZE)
    assert talk.closed == [1]
    assert talk.opened == [1, 2]
    assert talk.lines_to_server[-1] == LEGACY_INITIALIZE
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")})
    assert talk.result_of(0) == legacy_answer("2025-06-18")
    assert talk.transcript() == transcript


def test_initialize_while_discover_waits_leaves_both_to_be_answered(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client("server/discover", id="d")
    talk.client_line(LEGACY_INITIALIZE)
    assert talk.opened == [1, 2]
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": legacy_answer("2025-06-18")}, session=1)
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")}, session=2)
    assert talk.result_of("d")["supportedVersions"] == ["2026-07-28"]
    assert talk.result_of(0)["protocolVersion"] == "2025-06-18"


def test_both_eras_are_served_on_one_connection(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(relayed=True)
    talk.call("modern", id=1)
    talk.handshake()
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")}, session=2)
    talk.client_line(LEGACY_INITIALIZED)
    talk.client_line(b'{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"legacy"}}')
    talk.server_frame({"jsonrpc": "2.0", "id": "1", "result": {"content": []}}, session=2)
    wire_id = next(frame["id"] for frame in talk.requests("tools/call") if frame["params"]["name"] == "modern")
    talk.server_frame({"jsonrpc": "2.0", "id": wire_id, "result": TEXT}, session=1)
    assert talk.result_of("1") == {"content": []}
    assert talk.result_of(1)["resultType"] == "complete"
    assert talk.result_of(1)["content"] == TEXT["content"]
    assert talk.closed == []
    assert talk.transcript() == transcript


def test_modern_request_after_a_legacy_handshake_gets_a_session_of_its_own(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")})
    talk.client("tools/list", id=1)
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(1)["resultType"] == "complete"


def test_mark_in_an_argument_of_a_legacy_call_changes_nothing(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")})
    line = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":{"io.modelcontextprotocol/protocolVersion":"x"}}}'
    )
    talk.client_line(line)
    assert talk.lines_to_server[-1] == line


def test_initialize_that_carries_modern_meta_is_still_a_legacy_handshake(converse: Converse) -> None:
    talk = converse(relayed=True)
    params = {**legacy_answer("2025-11-25"), "clientInfo": {"name": "c", "version": "1"}, "_meta": envelope()}
    talk.client_frame({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert talk.to_client == []
    assert talk.requests("initialize")[0]["params"]["clientInfo"]["name"] == "c"


def test_refused_modern_request_does_not_stand_in_the_way_of_a_legacy_handshake(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client("server/discover", id="d", meta={**envelope(), f"{META}protocolVersion": "2099-01-01"})
    assert talk.error_of("d")["code"] == -32022
    talk.client_line(LEGACY_INITIALIZE)
    assert talk.lines_to_server == [LEGACY_INITIALIZE]
    assert talk.opened == [1]


def test_cancellation_by_a_legacy_client_is_relayed_and_that_by_a_modern_one_translated(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.call("modern", id=5)
    talk.handshake()
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_frame({"jsonrpc": "2.0", "id": 0, "result": legacy_answer("2025-06-18")}, session=2)
    talk.client_line(b'{"jsonrpc":"2.0","id":6,"method":"tools/list"}')
    talk.cancel(6)
    assert talk.to_server[-1]["params"] == {"requestId": 6}
    talk.cancel(5)
    wire_id = next(frame["id"] for frame in talk.requests("tools/call"))
    assert talk.to_server[-1]["params"]["requestId"] == wire_id


# -- what else was going on when the server turned out to be modern ----------------------------------------------------------


def test_other_sessions_are_closed_when_the_server_turns_out_to_be_modern(converse: Converse) -> None:
    talk = converse(relayed=True, isolate_capabilities=True)
    talk.client("tools/list", id=1, capabilities={})
    talk.client("tools/list", id=2, capabilities={"roots": {}})
    assert talk.opened == [1, 2]
    first = talk.requests("initialize")[0]["id"]
    talk.server_frame({"jsonrpc": "2.0", "id": first, "error": {"code": -32601, "message": "no"}}, session=1)
    talk.reply("server/discover", DISCOVERED, session=1)
    assert [frame["id"] for frame in talk.requests("tools/list")] == [1, 2]
    assert talk.closed == [2]


def test_successor_of_a_session_that_is_modern_is_not_started(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client("tools/list", id=1, capabilities={})
    talk.call("deploy", id=2)
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert [frame["method"] for frame in talk.to_server[2:]] == ["tools/list", "tools/call"]
    assert talk.opened == [1]
    assert talk.closed == []


def test_end_before_the_verdict_waits_for_what_is_relayed(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client("tools/list", id=1)
    talk.client_closes()
    talk.reply_error("initialize", -32601, "no")
    talk.reply("server/discover", DISCOVERED)
    assert talk.finished is None
    talk.server_frame({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "tools": []}})
    assert talk.finished == 0


def test_relayed_request_that_was_cancelled_is_not_answered_when_the_server_dies(converse: Converse) -> None:
    talk = converse(relayed=True, server_era="modern")
    talk.call("slow", id=1)
    talk.cancel(1)
    assert talk.to_server[-1]["params"] == {"requestId": 1}
    talk.server_dies()
    assert talk.to_client == []


def test_relayed_stream_is_told_of_the_death_of_its_server(converse: Converse) -> None:
    talk = converse(relayed=True, server_era="modern")
    talk.listen(id="s", toolsListChanged=True)
    talk.server_dies("exited with status 1")
    assert talk.error_of("s")["code"] == -32603


# -- a modern server that is silent, and one that asks before it answers -------------------------------------------------------


def test_modern_server_that_never_answers_discovery_fails_the_handshake_in_time(converse: Converse) -> None:
    talk = converse(relayed=True, server_era="modern", start_timeout=10)
    talk.client_line(LEGACY_INITIALIZE)
    talk.pass_time(11)
    assert talk.error_of(0)["code"] == -32603
    assert "10 seconds" in talk.error_of(0)["message"]


def test_answer_of_the_client_to_a_ping_before_the_handshake_is_not_held_back(converse: Converse) -> None:
    talk = converse(relayed=True)
    talk.client_line(LEGACY_INITIALIZE)
    talk.server_line(b'{"jsonrpc":"2.0","id":"p","method":"ping"}')
    talk.client_line(b'{"jsonrpc":"2.0","id":"p","result":{}}')
    assert talk.lines_to_server[-1] == b'{"jsonrpc":"2.0","id":"p","result":{}}'

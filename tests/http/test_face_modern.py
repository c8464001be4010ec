"""Modern requests of one principal: rounds, mirrored headers, processes (2026-07-28; translation: multi round-trip, HTTP)."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.http.answer import Answer
from tests.http.conftest import Serve
from tests.http.web import Json, Web

DONE = {"content": [{"type": "text", "text": "done"}]}
PROD = {"env": {"action": "accept", "content": {"env": "prod"}}}
DEV = {"env": {"action": "accept", "content": {"env": "dev"}}}


def parked(web: Web, **settings: Any) -> Answer:
    """A call that has asked for its environment."""
    call = web.call("deploy", {"x": 1}, **settings)
    web.form("q1")
    web.window()
    assert call.result["resultType"] == "input_required"
    return call


# -- rounds ------------------------------------------------------------------------------------------------------------


def test_a_round_is_json_and_frees_the_connection(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    assert (call.status, call.headers["content-type"]) == (200, "application/json")
    assert web.face.health()["exchanges"] == 0


def test_progress_of_a_parked_call_comes_at_the_start_of_the_retry_under_its_token(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = parked(web, id=1, meta=web.meta(progressToken="first"))
    token = web.requests("tools/call")[0]["params"]["_meta"]["progressToken"]
    web.tell("notifications/progress", {"progressToken": token, "progress": 1})
    again = web.retry(call, PROD, id=2, meta=web.meta(progressToken="second"))
    web.reply("tools/call", DONE)
    assert [frame.get("method") for frame in again.frames] == ["notifications/progress", None]
    assert again.notes("notifications/progress")[0]["progressToken"] == "second"
    assert web.transcript() == transcript


def test_a_state_opens_only_for_the_request_that_it_was_issued_for(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    state = call.result["requestState"]
    foreign = web.call("deploy", {"x": 2}, members={"requestState": state, "inputResponses": PROD})
    assert (foreign.status, foreign.code, foreign.error["data"]["reason"]) == (200, -32602, "foreign")
    other = web.call("other", {"x": 1}, members={"requestState": state, "inputResponses": PROD})
    assert other.error["data"]["reason"] == "foreign"
    assert web.answers_to("q1") == []


@pytest.mark.parametrize("change", [lambda s: s + "A", lambda s: s[:-2], lambda s: "x", lambda s: s.swapcase(), lambda s: s[1:]])
def test_a_changed_state_is_refused(serve: Serve, change: Any) -> None:
    web = serve()
    call = parked(web, id=1)
    again = web.call("deploy", {"x": 1}, members={"requestState": change(call.result["requestState"]), "inputResponses": PROD})
    assert (again.code, again.error["data"]["reason"]) == (-32602, "tampered")
    assert web.answers_to("q1") == []


def test_a_retry_whose_stream_was_lost_is_joined_by_the_same_retry_again(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = parked(web, id=1)
    lost = web.retry(call, PROD, id=2)
    web.leave(lost)
    assert web.requests("notifications/cancelled") == []
    web.pass_time(9)
    again = web.retry(call, PROD, id=3)
    web.pass_time(60)
    assert len(web.answers_to("q1")) == 1
    web.reply("tools/call", DONE)
    assert again.result["content"] == DONE["content"]
    assert len(web.requests("tools/call")) == 1
    assert web.transcript() == transcript


def test_a_retry_whose_stream_was_lost_is_cancelled_when_nobody_comes_back(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.leave(web.retry(call, PROD, id=2))
    web.pass_time(11)
    assert len(web.requests("notifications/cancelled")) == 1
    again = web.retry(call, PROD, id=3)
    assert (again.code, again.error["data"]["reason"]) == (-32602, "cancelled")


def test_an_answer_that_comes_while_the_retry_is_lost_waits_for_it(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.leave(web.retry(call, PROD, id=2))
    web.reply("tools/call", DONE)
    again = web.retry(call, PROD, id=3)
    assert again.result["content"] == DONE["content"]
    assert len(web.requests("tools/call")) == 1


def test_a_question_that_comes_while_the_retry_is_lost_waits_for_it(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.leave(web.retry(call, PROD, id=2))
    web.form("q2", "Sure?", sure={"type": "boolean"})
    web.window()
    again = web.retry(call, PROD, id=3)
    web.window()
    assert list(again.result["inputRequests"]) == ["sure"]
    last = web.retry(again, {"sure": {"action": "decline"}}, id=4)
    assert web.answers_to("q2")[0]["result"] == {"action": "decline"}
    web.reply("tools/call", DONE)
    assert last.result["content"] == DONE["content"]


def test_a_retry_with_other_answers_is_a_replay(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.retry(call, PROD, id=2)
    again = web.retry(call, DEV, id=3)
    assert (again.code, again.error["data"]["reason"]) == (-32602, "replayed")
    assert len(web.answers_to("q1")) == 1


def test_an_answered_retry_again_gets_the_same_answer_and_runs_nothing(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.retry(call, PROD, id=2)
    web.reply("tools/call", DONE)
    again = web.retry(call, PROD, id="again")
    assert (again.last["id"], again.result["content"]) == ("again", DONE["content"])
    assert len(web.requests("tools/call")) == 1


def test_two_identical_retries_at_once_both_get_the_answer(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    one, two = web.retry(call, PROD, id=7), web.retry(call, PROD, id=7)
    web.reply("tools/call", DONE)
    assert one.result == two.result


def test_one_of_two_identical_retries_leaves_and_the_other_is_answered(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    one, two = web.retry(call, PROD, id=7), web.retry(call, PROD, id=7)
    web.leave(one)
    web.pass_time(100)
    web.reply("tools/call", DONE)
    assert two.result["content"] == DONE["content"]


def test_a_parked_call_keeps_its_process(serve: Serve) -> None:
    web = serve(session_ttl=100, hibernate_after=10, question_timeout=600)
    parked(web, id=1)
    web.pass_time(500)
    assert web.closed == []


def test_a_parked_call_that_nobody_resumes_is_released(serve: Serve) -> None:
    web = serve(question_timeout=60)
    call = parked(web, id=1)
    web.pass_time(61)
    assert web.answers_to("q1")[0]["result"] == {"action": "cancel"}
    assert len(web.requests("notifications/cancelled")) == 1
    assert web.retry(call, PROD).error["data"]["reason"] == "expired"


def test_a_call_whose_server_died_while_its_client_was_asked_says_so(serve: Serve) -> None:
    web = serve()
    call = parked(web, id=1)
    web.die()
    again = web.retry(call, PROD)
    assert (again.code, again.error["data"]["reason"]) == (-32602, "server_exited")


def test_a_tool_that_is_listed_as_harmless_is_run_again_instead(serve: Serve) -> None:
    web = serve(tools=[{"name": "deploy", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}])
    call = parked(web, id=1)
    web.die()
    again = web.retry(call, PROD)
    web.form("q2")
    web.window()
    assert web.answers_to("q2")[0]["result"]["content"] == {"env": "prod"}
    web.reply("tools/call", DONE)
    assert again.result["content"] == DONE["content"]


def test_a_state_from_before_a_restart_says_so(serve: Serve) -> None:
    call = parked(serve(instance="before"), id=1)
    web = serve(instance="after")
    state = call.result["requestState"]
    answer = web.call("deploy", {"x": 1}, members={"requestState": state, "inputResponses": PROD})
    assert (answer.code, answer.error["data"]["reason"]) == (-32602, "restarted")


def test_answers_without_a_state_are_a_fresh_call(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", {"x": 1}, members={"inputResponses": PROD})
    web.form("q1")
    web.window()
    assert web.answers_to("q1")[0]["result"] == {"action": "accept", "content": {"env": "prod"}}
    web.reply("tools/call", DONE)
    assert call.result["resultType"] == "complete"


def test_a_stream_that_has_begun_ends_with_its_round(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", {"x": 1}, id=1)
    web.pass_time(6)
    web.form("q1")
    web.window()
    assert call.is_stream
    assert call.ended
    assert call.result["resultType"] == "input_required"


# -- mirrored arguments ------------------------------------------------------------------------------------------------

MIRROR = {
    "name": "query",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "shard": {"type": "integer", "x-mcp-header": "Shard"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "where": {"type": "object", "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}}},
        },
    },
}
PLAIN: Json = {"name": "plain", "inputSchema": {"type": "object"}}


def encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None}, {}),
        ({"region": "eu"}, {"mcp_param_region": "eu"}),
        ({"region": "eu"}, {"mcp_param_region": encoded("eu")}),
        ({"region": "köln"}, {"mcp_param_region": encoded("köln")}),
        ({"region": ""}, {"mcp_param_region": ""}),
        ({"shard": 42}, {"mcp_param_shard": "42"}),
        ({"shard": 42}, {"mcp_param_shard": "42.0"}),
        ({"dry": True}, {"mcp_param_dry": "true"}),
        ({"where": {"tenant": "t"}}, {"mcp_param_tenant": "t"}),
        ({"region": "eu"}, {"mcp_param_region": "eu", "mcp_param_unknown": "x"}),
    ],
)
def test_headers_that_mirror_the_arguments_let_the_call_through(serve: Serve, arguments: Json, headers: dict[str, str]) -> None:
    web = serve(tools=[MIRROR])
    call = web.call("query", arguments, **headers)
    web.reply("tools/call", DONE)
    assert call.status == 200
    assert web.requests("tools/call")[0]["params"]["arguments"] == arguments


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({"region": "eu"}, {"mcp_param_region": "us"}),
        ({"region": "eu"}, {"mcp_param_region": "EU"}),
        ({"region": "eu"}, {"mcp_param_region": "=?base64?ZXU?="}),
        ({"region": None}, {"mcp_param_region": "eu"}),
        ({}, {"mcp_param_region": "eu"}),
        ({"shard": 42}, {"mcp_param_shard": "43"}),
        ({"shard": 9007199254740993}, {"mcp_param_shard": "9007199254740992"}),
        ({"dry": True}, {"mcp_param_dry": "True"}),
        ({"where": {"tenant": "t"}}, {}),
    ],
)
def test_headers_that_do_not_mirror_the_arguments_are_a_mismatch(serve: Serve, arguments: Json, headers: dict[str, str]) -> None:
    web = serve(tools=[MIRROR])
    call = web.call("query", arguments, id="m", **headers)
    assert (call.status, call.code, call.last["id"]) == (400, -32020, "m")
    assert web.requests("tools/call") == []


def test_all_pages_are_listed_before_the_first_call_and_once(serve: Serve, transcript: SnapshotAssertion) -> None:
    pages = {None: {"tools": [PLAIN], "nextCursor": "2"}, "2": {"tools": [], "nextCursor": ""}, "": {"tools": [MIRROR]}}
    web = serve(auto={"tools/list": lambda params: pages[params.get("cursor")]})
    assert web.call("query", {"region": "eu"}, id=1).code == -32020
    good = web.call("query", {"region": "eu"}, id=2, mcp_param_region="eu")
    web.reply("tools/call", DONE)
    assert good.status == 200
    assert len(web.requests("tools/list")) == 3
    assert web.transcript() == transcript


def test_calls_that_come_while_the_tools_are_listed_wait_for_one_listing(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    calls = [web.call("query", {"region": "eu"}, id=1) for _ in range(3)]
    web.reply("tools/list", {"tools": [MIRROR]})
    assert [call.code for call in calls] == [-32020] * 3
    assert len(web.requests("tools/list")) == 1


def test_a_changed_list_is_read_again_before_the_next_call(serve: Serve) -> None:
    pages: list[Json] = [{"tools": [PLAIN]}, {"tools": [{**MIRROR, "name": "plain"}]}]
    web = serve(auto={"tools/list": lambda _params: pages.pop(0)})
    web.call("plain", {"region": "eu"})
    assert len(web.requests("tools/call")) == 1
    web.tell("notifications/tools/list_changed")
    assert web.call("plain", {"region": "eu"}).code == -32020
    assert len(web.requests("tools/list")) == 2


def test_a_list_that_changes_while_it_is_read_is_read_again(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    call = web.call("query", {"region": "eu"})
    web.reply("tools/list", {"tools": [MIRROR], "nextCursor": "2"})
    web.tell("notifications/tools/list_changed")
    web.reply("tools/list", {"tools": [PLAIN]})
    assert len(web.requests("tools/list")) == 3
    web.reply("tools/list", {"tools": [MIRROR]})
    assert call.code == -32020


def test_a_client_that_lists_after_a_mismatch_and_mirrors_anew_is_served(serve: Serve) -> None:
    """So does the specification tell it to (streamable-http#client-behavior); not every server tells of a changed list."""
    old = {"name": "query", "inputSchema": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Old"}}}}
    pages: list[Json] = [{"tools": [old]}, {"tools": [MIRROR]}]
    web = serve(capabilities={"tools": {}}, auto={"tools/list": lambda _params: pages.pop(0)})
    assert web.call("query", {"region": "eu"}, mcp_param_region="eu").code == -32020
    assert web.ask("tools/list").status == 200
    call = web.call("query", {"region": "eu"}, mcp_param_region="eu")
    web.reply("tools/call", DONE)
    assert call.status == 200


def test_a_tool_with_an_invalid_annotation_counts_as_having_none(serve: Serve) -> None:
    tool = {"name": "odd", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "no token"}}}}
    web = serve(tools=[tool])
    call = web.call("odd", {"a": "x"})
    web.reply("tools/call", DONE)
    assert call.status == 200
    assert sum("x-mcp-header" in warning for warning in web.warnings) == 1


def test_a_server_without_tools_is_not_asked_for_them(serve: Serve) -> None:
    web = serve(capabilities={"prompts": {}})
    call = web.call("deploy")
    web.reply_error("tools/call", -32601, "no tools")
    assert web.requests("tools/list") == []
    assert call.status == 404


def test_a_server_that_never_lists_its_tools_is_called_all_the_same(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    call = web.call("deploy")
    web.pass_time(6)
    web.reply("tools/call", DONE)
    assert call.result["content"] == DONE["content"]


# -- discovery ---------------------------------------------------------------------------------------------------------


def test_discovery_tells_the_revision_that_is_served_here_and_what_the_server_can(serve: Serve) -> None:
    web = serve(capabilities={"tools": {"listChanged": True}})
    answer = web.ask("server/discover")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.result["supportedVersions"] == ["2026-07-28"]
    assert answer.result["capabilities"]["tools"] == {"listChanged": True}


# -- processes ---------------------------------------------------------------------------------------------------------


def test_requests_of_one_principal_share_a_warm_process(serve: Serve) -> None:
    web = serve()
    for _ in range(5):
        call = web.call("deploy")
        web.reply("tools/call", DONE)
        assert call.status == 200
    assert web.opened == [1]


def test_the_death_of_the_process_is_told_to_every_call_and_the_next_starts_another(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    calls = [web.call("deploy", id=number) for number in (1, 2)]
    web.die("exited with status 3; its last words: boom")
    assert [(call.status, call.code) for call in calls] == [(200, -32603)] * 2
    assert "boom" in calls[0].error["message"]
    call = web.call("deploy", id=3)
    web.reply("tools/call", DONE)
    assert call.status == 200
    assert web.opened == [1, 2]
    assert web.transcript() == transcript


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "subscriptions/listen"])
def test_a_server_that_dies_in_its_handshake_fails_the_request_that_started_it(serve: Serve, method: str) -> None:
    web = serve(auto={"initialize": None})
    answer = web.ask(method, {"notifications": {}} if method == "subscriptions/listen" else {})
    web.die("could not be started: no such file")
    assert answer.code == -32603
    assert web.opened == [1]


def test_a_server_that_dies_in_its_handshake_is_not_started_again_for_the_same_call(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    call = web.call("deploy")
    web.die()
    assert web.opened == [1]
    assert call.code == -32603


def test_a_server_that_refuses_the_handshake_fails_the_call_at_once(serve: Serve) -> None:
    web = serve(auto={"initialize": None}, server_era="legacy")
    call = web.call("deploy")
    web.reply_error("initialize", -32603, "no licence")
    assert web.opened == [1]
    assert call.code == -32603
    assert "no licence" in call.error["message"]


def test_a_server_that_dies_while_its_tools_are_listed_fails_the_call_or_runs_it_once_on_another(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    call = web.call("deploy")
    web.die()
    if not call.done:
        web.reply("tools/call", DONE)
    assert call.done
    assert len(web.requests("tools/call")) <= 1


def test_a_server_that_never_answers_the_handshake_is_given_up(serve: Serve) -> None:
    web = serve(auto={"initialize": None}, start_timeout=10)
    answer = web.ask("tools/list")
    web.pass_time(11)
    assert answer.code == -32603
    assert web.alive == []


def test_a_call_without_an_answer_is_given_up_and_cancelled(serve: Serve) -> None:
    web = serve(request_timeout=30)
    call = web.call("deploy")
    web.pass_time(31)
    assert call.code == -32603
    assert len(web.requests("notifications/cancelled")) == 1


def test_an_idle_process_is_ended_after_the_time_to_live(serve: Serve) -> None:
    web = serve(session_ttl=100)
    web.ask("tools/list")
    web.pass_time(300)
    assert web.closed == [1]
    assert web.ask("tools/list").status == 200


def test_a_busy_process_is_not_ended_however_long_it_takes(serve: Serve) -> None:
    web = serve(session_ttl=100, request_timeout=None)
    call = web.call("deploy")
    web.pass_time(10_000)
    assert web.closed == []
    web.reply("tools/call", DONE)
    assert call.result["content"] == DONE["content"]


def test_lines_that_are_no_message_cost_nobody_an_answer(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    for line in (b"hello", b"", b"{", b"[]", b"3"):
        web.say_line(line)
    assert not call.done
    web.reply("tools/call", DONE)
    assert call.status == 200


def test_an_answer_that_cannot_be_read_fails_its_call_alone(serve: Serve) -> None:
    web = serve()
    one, two = web.call("deploy", id=1), web.call("deploy", id=2)
    web.say_line(b'{"jsonrpc":"2.0","id":%d,"result":{"x":NaN}}' % web.requests("tools/call")[0]["id"])
    assert (one.status, one.code) == (200, -32603)
    assert not two.done


def test_a_broken_answer_to_a_cancelled_call_fails_no_other(serve: Serve) -> None:
    web = serve()
    gone, other = web.call("deploy", id=1), web.call("deploy", id=2)
    web.leave(gone)
    web.say_line(b'{"jsonrpc":"2.0","id":%d,"result":{"x":NaN}}' % web.requests("tools/call")[0]["id"])
    assert not other.done


def test_a_line_over_the_limit_fails_its_call_alone(serve: Serve) -> None:
    web = serve()
    one, two = web.call("deploy", id=1), web.call("deploy", id=2)
    web.say_too_much(b'{"jsonrpc":"2.0","id":%d,"result":{"x":"aaaa' % web.requests("tools/call")[0]["id"], 99_000_000)
    assert (one.status, one.code) == (200, -32603)
    assert not two.done


def test_a_ping_of_the_servers_is_answered_here(serve: Serve) -> None:
    web = serve()
    web.call("deploy")
    web.question("p", "ping")
    assert web.answers_to("p") == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


def test_a_batch_of_the_servers_is_heard_and_answered_as_one(serve: Serve) -> None:
    web = serve(revision="2025-03-26")
    one, two = web.call("deploy", id=1), web.call("deploy", id=2)
    ids = [frame["id"] for frame in web.requests("tools/call")]
    web.say(
        [
            {"jsonrpc": "2.0", "id": "p", "method": "ping"},
            *({"jsonrpc": "2.0", "id": number, "result": DONE} for number in ids),
            {"jsonrpc": "2.0", "id": "r", "method": "ping"},
        ]
    )
    assert (one.status, two.status) == (200, 200)
    assert web.log[-1].endswith('<  [{"id":"p","result":{}},{"id":"r","result":{}}]')


# -- a process for each call -------------------------------------------------------------------------------------------


def test_with_isolation_by_session_each_call_has_a_process_that_ends_with_it(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve(isolation="session")
    one, two = web.call("deploy", id=1), web.call("deploy", id=2)
    processes = [number for number in web.opened if web.requests("tools/call", number)]
    assert len(processes) == 2
    for number in processes:
        web.reply("tools/call", DONE, process=number)
    assert (one.status, two.status) == (200, 200)
    assert set(processes) <= set(web.closed)
    assert web.transcript() == transcript


def test_with_isolation_by_session_a_parked_call_keeps_its_process_until_it_is_over(serve: Serve) -> None:
    web = serve(isolation="session")
    call = web.call("deploy", {"x": 1})
    own = web.process
    web.form("q1", process=own)
    web.window()
    assert own not in web.closed
    again = web.retry(call, PROD)
    assert web.answers_to("q1", own)[0]["result"]["content"] == {"env": "prod"}
    web.reply("tools/call", DONE, process=own)
    assert again.status == 200
    assert own in web.closed


@pytest.mark.parametrize("end", ["leave", "expire", "die", "time out"])
def test_with_isolation_by_session_no_process_is_left_when_a_call_ends_otherwise(serve: Serve, end: str) -> None:
    web = serve(isolation="session", request_timeout=30, question_timeout=60)
    call = web.call("deploy", {"x": 1})
    own = web.process
    if end == "leave":
        web.leave(call)
    elif end == "die":
        web.die(process=own)
    elif end == "time out":
        web.pass_time(31)
    else:
        web.form("q1", process=own)
        web.window()
        web.pass_time(61)
    assert own not in web.alive


def test_with_isolation_by_session_a_lost_retry_keeps_its_process_for_its_grace(serve: Serve) -> None:
    web = serve(isolation="session")
    call = web.call("deploy", {"x": 1})
    own = web.process
    web.form("q1", process=own)
    web.window()
    web.leave(web.retry(call, PROD))
    web.pass_time(5)
    assert own in web.alive
    web.pass_time(6)
    assert own not in web.alive


def test_with_isolation_by_session_calls_share_nothing_and_lists_share_a_process(serve: Serve) -> None:
    web = serve(isolation="session")
    web.ask("tools/list")
    web.ask("tools/list")
    assert web.opened == [1]
    web.call("deploy")
    web.call("deploy")
    assert len({frame["id"] for frame in web.requests("tools/call")}) == 2
    assert len(web.opened) == 3


def test_with_isolation_by_session_one_process_is_too_few(serve: Serve) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        serve(isolation="session", max_sessions=1)


@pytest.mark.parametrize("allowed", [2, 3])
def test_with_isolation_by_session_no_more_processes_run_than_allowed(serve: Serve, allowed: int) -> None:
    web = serve(isolation="session", max_sessions=allowed)
    statuses = [web.call("deploy").status for _ in range(5)]
    assert len(web.alive) <= allowed
    assert statuses[-1] == 503


def test_with_isolation_by_session_calls_that_waited_for_the_list_of_tools_do_not_exceed_the_limit_together(serve: Serve) -> None:
    web = serve(isolation="session", max_sessions=2, auto={"tools/list": None})
    calls = [web.call("deploy") for _ in range(3)]
    web.reply("tools/list", {"tools": []})
    assert len(web.alive) == 2
    assert min((call.done, call.status) for call in calls) == (False, 0)
    assert all(call.status == 503 or call.code == -32603 for call in calls if call.done)


# -- no more processes than allowed ------------------------------------------------------------------------------------


def test_one_process_more_than_allowed_is_503_and_says_when_to_come_again(serve: Serve) -> None:
    web = serve(max_sessions=2)
    web.call("deploy", capabilities={})
    web.call("deploy", capabilities={"roots": {}})
    late = web.call("deploy", id="late", capabilities={"sampling": {}})
    assert (late.status, late.last["id"]) == (503, "late")
    assert int(late.headers["retry-after"]) > 0
    assert web.opened == [1, 2]


def test_a_request_that_needs_no_new_process_is_served_when_all_are_in_use(serve: Serve) -> None:
    web = serve(max_sessions=1)
    web.call("deploy")
    assert web.ask("tools/list").status == 200


def test_a_process_that_has_been_idle_gives_way(serve: Serve) -> None:
    web = serve(max_sessions=1, hibernate_after=300)
    web.ask("tools/list", capabilities={})
    assert web.ask("tools/list", capabilities={"roots": {}}).status == 503
    web.pass_time(301)
    assert web.ask("tools/list", capabilities={"roots": {}}).status == 200
    assert web.closed == [1]


def test_a_stream_whose_process_died_waits_for_room(serve: Serve) -> None:
    web = serve(max_sessions=1)
    listen = web.listen(capabilities={})
    web.die()
    call = web.call("deploy", capabilities={"roots": {}})
    web.pass_time(100)
    assert len(web.alive) == 1
    assert not listen.done
    web.reply("tools/call", DONE)
    assert call.result["content"] == DONE["content"]


def test_a_process_that_holds_something_gives_no_way(serve: Serve) -> None:
    web = serve(max_sessions=1, hibernate_after=1)
    web.listen()
    web.pass_time(100)
    assert web.ask("tools/list", capabilities={}).status == 503
    assert web.closed == []


def test_a_cursor_of_a_process_that_is_gone_is_expired(serve: Serve) -> None:
    web = serve(auto={"tools/list": {"tools": [], "nextCursor": "next"}})
    cursor = web.ask("tools/list").result["nextCursor"]
    assert web.ask("tools/list", {"cursor": cursor}).status == 200
    assert web.requests("tools/list")[-1]["params"]["cursor"] == "next"
    web.die()
    answer = web.ask("tools/list", {"cursor": cursor})
    assert (answer.status, answer.code) == (200, -32602)

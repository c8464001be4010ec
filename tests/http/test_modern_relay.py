"""A server that speaks only 2026-07-28 behind the face: requests are relayed, ids, tokens and subscription ids exchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, MODERN
from tests.http.answer import Answer
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

DONE: Json = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
DISCOVERED: Json = {
    "resultType": "complete",
    "supportedVersions": [MODERN],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}
LISTED: Json = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}
PROMPTS: Json = {"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "private"}
REFUSED = (-32601, "Method not found: initialize")


def modern(serve: Serve, **settings: Any) -> Web:
    """Behind it a server that is known to be modern."""
    return serve(server_era="modern", auto={"initialize": None, "tools/list": LISTED}, **settings)


def discovering(serve: Serve, **settings: Any) -> Web:
    """Behind it a server that turns out to be modern."""
    return serve(auto={"initialize": None, "tools/list": LISTED}, **settings)


def turn_out(web: Web) -> None:
    """The server refuses ``initialize`` and answers ``server/discover``."""
    web.reply_error("initialize", *REFUSED)
    web.reply("server/discover", DISCOVERED, id=web.requests("server/discover")[0]["id"])


# -- one request -------------------------------------------------------------------------------------------------------


def test_a_request_goes_through_with_its_envelope(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = modern(serve)
    call = web.call("deploy", {"x": 1}, id="a")
    sent = web.requests("tools/call")[0]
    assert sent["params"] == {"name": "deploy", "arguments": {"x": 1}, "_meta": web.meta()}
    assert sent["id"] != "a"
    web.reply("tools/call", DONE)
    assert (call.status, call.last["id"], call.result) == (200, "a", DONE)
    assert web.requests("initialize") == []
    assert web.transcript() == transcript


def test_params_and_result_are_not_rewritten(serve: Serve) -> None:
    web = modern(serve)
    meta = json.dumps(web.meta())
    call = web.post(
        b'{"jsonrpc":"2.0","id":1,"method":"com.example/x","params":{"n":9007199254740993, "z" :1.50,"_meta":%b}}' % meta.encode(),
        mcp_protocol_version=MODERN,
        mcp_method="com.example/x",
    )
    assert web.to_server[1][0]["params"]["n"] == 9007199254740993
    web.say_line(
        b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","n":9007199254740993, "z" :1.50}}' % web.to_server[1][0]["id"]
    )
    assert b'{"resultType":"complete","n":9007199254740993, "z" :1.50}' in call.body


@pytest.mark.parametrize(
    ("code", "status"), [(-32601, 404), (-32020, 400), (-32021, 400), (-32022, 400), (-32602, 200), (-32603, 200), (7, 200)]
)
def test_an_error_has_the_status_that_the_specification_gives_it(serve: Serve, code: int, status: int) -> None:
    web = modern(serve)
    data = {"requiredCapabilities": {}} if code == -32021 else {"supported": [MODERN], "requested": "x"}
    answer = web.ask("com.example/x")
    own = web.pending("com.example/x")
    web.say({"jsonrpc": "2.0", "id": own, "error": {"code": code, "message": "m", "data": data}})
    assert (answer.status, answer.code) == (status, code)


def test_a_question_is_the_servers_own_input_required(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    asked = {"resultType": "input_required", "requestState": "s", "inputRequests": {"r": {"method": "roots/list"}}}
    web.reply("tools/call", asked)
    assert call.result == asked
    again = web.call("deploy", members={"requestState": "s", "inputResponses": {"r": {"roots": []}}})
    assert web.requests("tools/call")[-1]["params"]["requestState"] == "s"
    web.reply("tools/call", DONE)
    assert again.result == DONE


def test_the_ladder_is_ours_all_the_same(serve: Serve) -> None:
    web = modern(serve)
    assert web.ask("ping").status == 404
    assert web.ask("tools/list", mcp_method="other").code == -32020
    assert web.opened == []


def test_arguments_that_headers_mirror_are_compared(serve: Serve) -> None:
    tool = {"name": "query", "inputSchema": {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "R"}}}}
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": {**LISTED, "tools": [tool]}})
    call = web.call("query", {"r": "eu"}, mcp_param_r="us")
    assert (call.status, call.code) == (400, -32020)
    assert web.requests("tools/call") == []


# -- many clients, one channel -----------------------------------------------------------------------------------------


def test_clients_with_the_same_ids_and_tokens_are_told_apart(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = modern(serve)
    one = web.call("deploy", id=1, meta=web.meta(progressToken="t"))
    two = web.call("deploy", id=1, meta=web.meta(progressToken="t"))
    first, second = web.requests("tools/call")
    tokens = [frame["params"]["_meta"]["progressToken"] for frame in (first, second)]
    assert tokens[0] != tokens[1]
    web.tell("notifications/progress", {"progressToken": tokens[1], "progress": 2})
    web.tell("notifications/progress", {"progressToken": tokens[0], "progress": 1})
    web.reply("tools/call", {**DONE, "for": 2}, id=second["id"])
    web.reply("tools/call", {**DONE, "for": 1}, id=first["id"])
    assert [(answer.frames[0]["params"], answer.result["for"]) for answer in (one, two)] == [
        ({"progressToken": "t", "progress": 1}, 1),
        ({"progressToken": "t", "progress": 2}, 2),
    ]
    assert web.transcript() == transcript


@pytest.mark.parametrize("token", ["t", 7, "7", 0, ""])
def test_a_progress_token_comes_back_with_its_type(serve: Serve, token: str | int) -> None:
    web = modern(serve)
    call = web.call("deploy", meta=web.meta(progressToken=token))
    own = web.requests("tools/call")[0]["params"]["_meta"]["progressToken"]
    web.tell("notifications/progress", {"progressToken": own, "progress": 1, "message": "m"})
    assert [json.dumps(note["progressToken"]) for note in call.notes("notifications/progress")] == [json.dumps(token)]


def test_progress_for_nobody_is_counted(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    for token in ("t", 999, None, 1.5):
        web.tell("notifications/progress", {"progressToken": token, "progress": 1})
    assert call.frames == []
    assert len(web.losses) == 4


def test_a_log_message_goes_to_a_request_that_asked_for_it(serve: Serve) -> None:
    web = modern(serve)
    quiet = web.call("deploy")
    asking = web.call("deploy", meta=web.meta(logLevel="info"))
    web.tell("notifications/message", {"level": "error", "data": 1})
    assert (len(quiet.frames), len(asking.frames)) == (0, 1)


def test_a_log_message_below_the_level_that_was_asked_for_goes_to_nobody(serve: Serve) -> None:
    web = modern(serve)
    asking = web.call("deploy", meta=web.meta(logLevel="error"))
    web.tell("notifications/message", {"level": "info", "data": 1})
    assert asking.frames == []
    web.tell("notifications/message", {"level": "error", "data": 2})
    assert len(asking.frames) == 1


def test_a_log_message_that_nobody_asked_for_is_counted(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    web.tell("notifications/message", {"level": "error", "data": 1})
    assert call.frames == []
    assert len(web.losses) == 1


# -- streams -----------------------------------------------------------------------------------------------------------


def acknowledge(web: Web, listen: Answer | None = None, **granted: Any) -> Any:
    """The server acknowledges its newest stream; returns its id there."""
    own = web.pending("subscriptions/listen")
    stamp = {f"{META}subscriptionId": own}
    web.tell("notifications/subscriptions/acknowledged", {"notifications": granted or {"toolsListChanged": True}, "_meta": stamp})
    return own


@pytest.mark.parametrize("id", [1, "1", "s", 2**53 + 1])
def test_subscription_ids_are_exchanged_with_their_type(serve: Serve, id: Any) -> None:  # noqa: A002
    web = modern(serve)
    listen = web.listen(id=id)
    own = acknowledge(web)
    web.tell("notifications/tools/list_changed", {"_meta": {f"{META}subscriptionId": own, "com.example/x": 1}})
    web.reply("subscriptions/listen", {"resultType": "complete", "_meta": {f"{META}subscriptionId": own}})
    stamps = [frame.get("params", frame.get("result"))["_meta"][f"{META}subscriptionId"] for frame in listen.frames]
    assert [json.dumps(stamp) for stamp in stamps] == [json.dumps(id)] * 3
    assert listen.frames[1]["params"]["_meta"]["com.example/x"] == 1
    assert listen.ended


def test_two_streams_with_the_same_id_are_told_apart(serve: Serve) -> None:
    web = modern(serve)
    one, two = web.listen(id="s"), web.listen(id="s")
    first, second = (frame["id"] for frame in web.requests("subscriptions/listen"))
    for own in (first, second):
        stamp = {f"{META}subscriptionId": own}
        web.tell("notifications/subscriptions/acknowledged", {"notifications": {"toolsListChanged": True}, "_meta": stamp})
    web.tell("notifications/tools/list_changed", {"_meta": {f"{META}subscriptionId": second}})
    assert (len(one.frames), len(two.frames)) == (1, 2)


def test_closing_a_stream_cancels_it_at_the_server(serve: Serve) -> None:
    web = modern(serve)
    listen = web.listen(id="s")
    own = acknowledge(web)
    web.leave(listen)
    assert web.requests("notifications/cancelled")[0]["params"]["requestId"] == own


def test_the_servers_end_of_a_stream_ends_the_connection(serve: Serve) -> None:
    web = modern(serve)
    listen = web.listen(id="s")
    own = acknowledge(web)
    web.tell("notifications/cancelled", {"requestId": own, "reason": "enough"})
    assert listen.ended
    assert [frame.get("method") for frame in listen.frames] == ["notifications/subscriptions/acknowledged"]


def test_at_shutdown_streams_end_with_their_result_and_are_cancelled_at_the_server(serve: Serve) -> None:
    web = modern(serve)
    listen = web.listen(id="s")
    own = acknowledge(web)
    web.shut_down()
    assert listen.result == {"resultType": "complete", "_meta": {f"{META}subscriptionId": "s"}}
    assert web.requests("notifications/cancelled")[0]["params"]["requestId"] == own


# -- ends --------------------------------------------------------------------------------------------------------------


def test_closing_the_connection_cancels_the_request_at_the_server(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy", id="x")
    web.leave(call)
    assert web.requests("notifications/cancelled")[0]["params"]["requestId"] == web.pending("tools/call")
    web.reply("tools/call", DONE)
    assert web.losses == []


def test_the_death_of_the_process_is_told_and_the_next_request_starts_another(serve: Serve) -> None:
    web = modern(serve)
    call, listen = web.call("deploy"), web.listen()
    acknowledge(web)
    web.die()
    assert call.code == -32603
    assert listen.ended
    again = web.call("deploy")
    web.reply("tools/call", DONE)
    assert again.result == DONE
    assert web.opened == [1, 2]


def test_a_request_without_an_answer_is_given_up_and_cancelled(serve: Serve) -> None:
    web = modern(serve, request_timeout=30)
    call, listen = web.call("deploy"), web.listen()
    acknowledge(web)
    web.pass_time(100)
    assert call.code == -32603
    assert [note["params"]["requestId"] for note in web.requests("notifications/cancelled")] == [web.pending("tools/call")]
    assert not listen.done


def test_a_broken_answer_fails_its_own_request(serve: Serve) -> None:
    web = modern(serve)
    one, two = web.call("deploy"), web.call("deploy")
    web.say_line(b'{"jsonrpc":"2.0","id":%d,"result":{"x":NaN}}' % web.requests("tools/call")[0]["id"])
    assert one.code == -32603
    assert not two.done
    web.say_too_much(b'{"jsonrpc":"2.0","id":%d,"result":{"x":"aaa' % web.requests("tools/call")[1]["id"], 99_000_000)
    assert two.code == -32603


def test_a_request_of_the_servers_is_not_answered_but_told(serve: Serve) -> None:
    web = serve(server_era="modern", judged=False, auto={"initialize": None, "tools/list": LISTED})
    call = web.call("deploy")
    web.question("q", "roots/list")
    assert web.answers_to("q") == []
    assert any("roots/list, which servers of 2026-07-28 have not" in text for text in web.warnings)
    web.reply("tools/call", DONE)
    assert call.status == 200


def test_a_process_that_has_been_idle_gives_way_and_ends_in_time(serve: Serve) -> None:
    web = modern(serve, max_sessions=1, hibernate_after=300, session_ttl=1000, request_timeout=None)
    call = web.call("deploy", principal="A")
    web.pass_time(10_000)
    assert web.call("deploy", principal="B").status == 503
    web.reply("tools/call", DONE)
    assert call.result == DONE
    web.pass_time(301)
    assert web.call("deploy", principal="B").status == 0
    assert web.closed == [1]


def test_principals_have_processes_of_their_own(serve: Serve) -> None:
    web = modern(serve)
    one, two = web.call("deploy", principal="A"), web.call("deploy", principal="B")
    assert web.opened == [1, 2]
    web.reply("tools/call", DONE, process=2)
    assert two.done
    assert not one.done


# -- found out ---------------------------------------------------------------------------------------------------------


def test_a_server_that_turns_out_to_be_modern_is_relayed_on_the_same_process(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = discovering(serve)
    answers = [web.call("deploy", id=1), web.ask("prompts/list", id=1), web.listen(id=1)]
    turn_out(web)
    assert web.opened == [1]
    sent = [frame["method"] for frame in web.to_server[1] if "id" in frame]
    assert sorted(sent) == ["initialize", "prompts/list", "server/discover", "subscriptions/listen", "tools/call", "tools/list"]
    web.reply("tools/call", DONE)
    assert answers[0].result == DONE
    assert web.transcript() == transcript


def test_what_was_given_up_before_is_not_relayed(serve: Serve) -> None:
    web = discovering(serve)
    gone, stays = web.ask("prompts/list", id=1), web.ask("resources/list", id=1)
    web.leave(gone)
    turn_out(web)
    assert web.requests("prompts/list") == []
    web.reply("resources/list", {"resultType": "complete", "resources": [], "ttlMs": 0, "cacheScope": "private"})
    assert stays.status == 200


def test_a_state_of_the_servers_own_waits_for_the_verdict(serve: Serve) -> None:
    web = discovering(serve)
    retry = web.ask("prompts/get", {"name": "p", "requestState": "servers-own", "inputResponses": {}})
    assert not retry.done
    turn_out(web)
    assert web.requests("prompts/get")[0]["params"]["requestState"] == "servers-own"
    web.reply("prompts/get", {"resultType": "complete", "messages": []})
    assert retry.status == 200


def test_what_was_answered_before_the_verdict_is_not_relayed(serve: Serve) -> None:
    web = discovering(serve)
    web.ask("prompts/list")
    answered = web.ask("prompts/get", {"name": "p", "inputResponses": []})
    assert answered.code == -32602
    turn_out(web)
    assert web.requests("prompts/get") == []


def test_requests_with_other_capabilities_wait_for_the_same_verdict(serve: Serve) -> None:
    web = discovering(serve)
    one = web.ask("prompts/list", capabilities={})
    two = web.ask("prompts/list", capabilities={"roots": {}})
    assert web.opened == [1, 2]
    own = web.requests("initialize", 1)[0]["id"]
    web.say({"jsonrpc": "2.0", "id": own, "error": {"code": REFUSED[0], "message": REFUSED[1]}}, process=1)
    web.say({"jsonrpc": "2.0", "id": web.requests("server/discover", 1)[0]["id"], "result": DISCOVERED}, process=1)
    assert web.closed == [2]
    for frame in web.requests("prompts/list", 1):
        web.say(
            {"jsonrpc": "2.0", "id": frame["id"], "result": {"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "private"}},
            process=1,
        )
    assert (one.status, two.status) == (200, 200)


def test_a_legacy_client_of_a_modern_server_is_served_by_translation(serve: Serve) -> None:
    web = discovering(serve)
    client = LegacyClient(web)
    answer = client.initialize()
    web.reply_error("initialize", *REFUSED)
    web.reply("server/discover", DISCOVERED)
    client.met(answer)
    assert answer.result["protocolVersion"] == "2025-11-25"
    client.note("notifications/initialized")
    call = client.call(id=7)
    web.reply("tools/call", DONE)
    assert call.result == {"content": DONE["content"]}
    assert client.ask("ping", id=8).result == {}


def test_a_server_that_refuses_both_is_told_in_its_own_words(serve: Serve) -> None:
    web = discovering(serve)
    answer = web.ask("prompts/list")
    web.reply_error("initialize", -32603, "no licence")
    web.reply_error("server/discover", -32603, "no licence")
    assert answer.code == -32603
    assert "no licence" in answer.error["message"]


# -- its tools ---------------------------------------------------------------------------------------------------------


def mirroring(header: str) -> Json:
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": header}}}
    return {**LISTED, "tools": [{"name": "query", "inputSchema": schema}]}


def test_a_client_that_lists_after_a_mismatch_and_mirrors_anew_is_served(serve: Serve) -> None:
    """So does the specification tell it to (streamable-http#client-behavior)."""
    pages = [mirroring("Old"), mirroring("New")]
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": lambda _params: pages.pop(0)})
    assert web.call("query", {"r": "eu"}, mcp_param_new="eu").code == -32020
    assert web.ask("tools/list").status == 200
    call = web.call("query", {"r": "eu"}, mcp_param_new="eu")
    web.reply("tools/call", DONE)
    assert call.result == DONE


def test_a_changed_list_is_read_again_before_the_next_call(serve: Serve) -> None:
    pages = [mirroring("Old"), mirroring("New")]
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": lambda _params: pages.pop(0)})
    web.listen()
    own = acknowledge(web)
    assert not web.call("query", {"r": "eu"}, mcp_param_old="eu").done
    web.tell("notifications/tools/list_changed", {"_meta": {f"{META}subscriptionId": own}})
    assert web.call("query", {"r": "eu"}, mcp_param_old="eu").code == -32020
    assert len(web.requests("tools/list")) == 2


def test_a_process_that_dies_while_its_tools_are_listed_is_not_started_again_for_nothing(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": None})
    call = web.call("deploy")
    web.die()
    if web.alive:
        web.reply("tools/call", DONE)
        assert call.result == DONE
    else:
        assert call.code == -32603


def test_a_server_that_does_not_list_its_tools_is_called_all_the_same(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": None})
    call = web.call("deploy")
    web.pass_time(6)
    web.reply("tools/call", DONE)
    assert call.result == DONE
    assert web.requests("notifications/cancelled") == []  # what it lists is learnt when it comes


def test_a_broken_list_of_tools_fails_no_request(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": None})
    prompts = web.ask("prompts/list")
    web.call("deploy")
    web.say_line(b'{"jsonrpc":"2.0","id":%d,"result":{"x":NaN}}' % web.pending("tools/list"))
    assert not prompts.done


# -- what the server should not say ------------------------------------------------------------------------------------


def test_a_batch_is_counted_and_answers_nobody(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    web.say([{"jsonrpc": "2.0", "id": web.pending("tools/call"), "result": DONE}])
    assert not call.done
    assert len(web.losses) == 1


def test_text_that_is_no_message_reaches_nobody(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    for line in (b"hello", b"", b"{", b"3"):
        web.say_line(line)
    assert not call.done


def test_an_answer_without_an_id_belongs_to_the_only_request_in_flight(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    web.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "m"}})
    assert call.code == -32603


def test_a_notification_of_the_servers_own_goes_to_the_only_request_in_flight(serve: Serve) -> None:
    web = modern(serve)
    call = web.call("deploy")
    web.tell("com.example/x", {"y": 1})
    assert call.notes("com.example/x") == [{"y": 1}]
    web.call("deploy")
    web.tell("com.example/x", {"y": 2})
    assert len(web.losses) == 1


def test_a_notification_of_the_clients_own_is_202(serve: Serve) -> None:
    web = modern(serve)
    web.call("deploy")
    note = {"jsonrpc": "2.0", "method": "com.example/x", "params": {"_meta": web.meta()}}
    assert web.post(note, mcp_protocol_version=MODERN).status == 202


def test_at_shutdown_a_request_in_flight_may_finish_or_is_told(serve: Serve) -> None:
    web = modern(serve)
    one, two = web.call("deploy"), web.call("deploy")
    web.shut_down()
    web.reply("tools/call", DONE, id=web.requests("tools/call")[0]["id"])
    assert one.result == DONE
    web.pass_time(11)
    assert two.code == -32603
    assert web.finished == 0


def test_at_shutdown_a_call_that_waits_for_the_list_of_tools_is_told(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": None})
    call = web.call("deploy")
    web.shut_down()
    web.pass_time(11)
    assert call.code == -32603

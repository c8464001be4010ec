"""Where one exchange could cost another its answer, or lose one without a word: limits, kept streams, statuses."""

from __future__ import annotations

from tests.http.conftest import Serve
from tests.http.test_modern_relay import DONE, modern
from tests.http.test_streams import begin, running, step

TEXT = {"content": DONE["content"]}


# -- a modern server behind ----------------------------------------------------------------------------------------------


def test_a_modern_server_that_cancels_a_call_is_not_believed(serve: Serve) -> None:
    web = modern(serve, judged=False)
    calls = [web.call("deploy", id=number) for number in (1, 2)]
    web.tell("notifications/cancelled", {"requestId": web.requests("tools/call")[0]["id"]})
    assert len(web.losses) == 1
    for call, request in zip(calls, web.requests("tools/call"), strict=True):
        web.say({"jsonrpc": "2.0", "id": request["id"], "result": DONE})
        assert call.result == DONE


def test_time_limits_go_on_after_it(serve: Serve) -> None:
    web = modern(serve, judged=False, request_timeout=60)
    first, second = web.call("deploy", id=1), web.call("deploy", id=2)
    web.tell("notifications/cancelled", {"requestId": web.requests("tools/call")[0]["id"]})
    web.pass_time(61)
    assert (first.code, second.code) == (-32603, -32603)


def test_a_stream_that_was_not_acknowledged_is_so_before_it_ends(serve: Serve) -> None:
    web = modern(serve, judged=False)
    listen = web.listen(id="l")
    web.shut_down()
    assert [frame.get("method", "result") for frame in listen.frames] == ["notifications/subscriptions/acknowledged", "result"]
    assert listen.frames[0]["params"]["notifications"] == {}


def test_what_a_client_notifies_goes_on_to_a_modern_server_too(serve: Serve) -> None:
    web = modern(serve, judged=False)
    web.call("deploy")
    note = {"jsonrpc": "2.0", "method": "notifications/vendor", "params": {"x": 1}}
    assert web.post(note, mcp_protocol_version="2026-07-28").status == 202
    assert web.requests("notifications/vendor")[0]["params"] == {"x": 1}


def test_what_a_client_notifies_before_there_is_a_server_is_recorded_as_lost(serve: Serve) -> None:
    web = serve()
    web.post({"jsonrpc": "2.0", "method": "notifications/vendor"}, mcp_protocol_version="2026-07-28")
    assert web.losses == ["notifications/vendor from a client that no server was started for"]


# -- statuses ----------------------------------------------------------------------------------------------------------


def test_an_error_with_a_status_of_its_own_is_json_whatever_the_client_accepts(serve: Serve) -> None:
    web = serve(tools=[{"name": "deploy", "inputSchema": {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "R"}}}}])
    call = web.call("deploy", {"r": "x"}, accept="text/event-stream")
    assert (call.status, call.code, call.headers["content-type"]) == (400, -32020, "application/json")


def test_a_mismatch_has_its_status_though_the_server_took_long_to_start(serve: Serve) -> None:
    tools = [{"name": "deploy", "inputSchema": {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "R"}}}}]
    web = serve(header_wait=1, tools=tools, auto={"initialize": None})
    call = web.call("deploy", {"r": "x"})
    web.pass_time(3)
    web.reply("initialize", web.handshake())
    assert (call.status, call.code) == (400, -32020)


def test_a_list_that_comes_late_is_learnt_from(serve: Serve) -> None:
    schema = {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "R"}}}
    web = serve(auto={"tools/list": None})
    first = web.call("deploy", {"r": "x"}, id=1)
    web.pass_time(6)
    web.reply("tools/call", TEXT)
    assert first.result["content"] == TEXT["content"]
    web.reply("tools/list", {"tools": [{"name": "deploy", "inputSchema": schema}]})
    assert web.call("deploy", {"r": "x"}, id=2).code == -32020
    assert any("has not answered tools/list" in text for text in web.warnings)


# -- legacy sessions ---------------------------------------------------------------------------------------------------


def test_an_answer_that_was_not_fetched_yet_outlives_many_later_calls(serve: Serve) -> None:
    web, client = begin(serve)
    lost = running(client, "lost")
    step(web, 1, "lost")
    web.leave(lost)
    web.reply("tools/call", TEXT, id="lost")
    for number in range(1, 60):
        later = running(client, number)
        step(web, 1, number)
        web.reply("tools/call", TEXT, id=number)
        assert later.done
    again = client.get(lost.events[0].id)
    assert [frame.get("result") for frame in again.frames if "result" in frame] == [TEXT]


def test_one_open_question_does_not_lift_the_time_limit_of_other_calls(serve: Serve) -> None:
    web, client = begin(serve, request_timeout=60)
    asking = running(client, 1)
    step(web, 1, 1)
    web.question("q", "roots/list")
    other = running(client, 2)
    web.pass_time(61)
    assert other.code == -32603
    assert not asking.done


def test_a_question_that_is_never_answered_is_ended_and_its_call_then_too(serve: Serve) -> None:
    web, client = begin(serve, request_timeout=60, question_timeout=100)
    asking = running(client, 1)
    web.question("q", "roots/list")
    web.pass_time(101)
    assert web.answers_to("q")[0]["error"]["message"] == "The client did not answer in time"
    web.pass_time(61)
    assert asking.last["error"]["code"] == -32603


def test_progress_of_a_finished_call_is_lost_and_not_anothers(serve: Serve) -> None:
    web, client = begin(serve)
    running(client, 1)
    web.reply("tools/call", TEXT, id=1)
    other = running(client, 2)
    step(web, 5, 1)
    web.reply("tools/call", TEXT, id=2)
    assert [frame for frame in other.frames if "method" in frame] == []
    assert web.losses == ["notifications/progress for no request in flight"]


def test_a_resumed_stream_of_the_session_is_its_own_again(serve: Serve) -> None:
    web, client = begin(serve)
    first = client.get()
    web.tell("notifications/tools/list_changed")
    web.leave(first)
    second = client.get()
    resumed = client.get(first.events[-1].id)
    web.leave(second)
    web.tell("notifications/tools/list_changed")
    assert [frame["method"] for frame in resumed.frames] == ["notifications/tools/list_changed"]

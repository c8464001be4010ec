"""One request and the form of its answer (2026-07-28, basic/transports/streamable-http#receiving-messages; translation across HTTP)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, MODERN
from tests.http.answer import Answer
from tests.http.conftest import Serve
from tests.http.web import Web

DONE = {"content": [{"type": "text", "text": "done"}]}
NO_TOOLS: dict[str, Any] = {"tools": []}


def progress(web: Web, value: float) -> None:
    """Progress of the newest call, under its token."""
    token = web.requests("tools/call")[-1]["params"]["_meta"]["progressToken"]
    web.tell("notifications/progress", {"progressToken": token, "progress": value})


def watched(web: Web, **settings: Any) -> Answer:
    """A call that asks for progress and logs."""
    return web.call("deploy", meta=web.meta(progressToken="p", logLevel="info"), **settings)


# -- one JSON object ---------------------------------------------------------------------------------------------------


def test_a_result_that_comes_first_is_one_json_object(serve: Serve) -> None:
    web = serve()
    call = watched(web, id=1)
    web.reply("tools/call", DONE)
    assert (call.status, call.headers["content-type"], call.begun) == (200, "application/json", False)
    assert json.loads(call.body)["result"]["content"] == DONE["content"]


def test_nothing_is_sent_before_the_first_message(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    web.pass_time(4.9)
    assert (call.status, call.begun) == (0, False)


def test_answers_are_not_to_be_stored_by_anything_on_the_way(serve: Serve) -> None:
    web = serve()
    assert web.ask("tools/list").headers["cache-control"] == "no-store"
    assert web.listen().headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("server_error", "status", "code"),
    [
        ((-32602, "bad"), 200, -32602),
        ((-32603, "bad"), 200, -32603),
        ((-32000, "bad"), 200, -32000),
        ((5, "bad"), 200, 5),
        ((-32601, "no completion"), 404, -32601),
        ((-32021, "private"), 200, -32603),
        ((-32020, "private"), 200, -32603),
    ],
)
def test_an_error_inside_a_request_keeps_200_but_for_an_unknown_method(
    serve: Serve, server_error: tuple[int, str], status: int, code: int
) -> None:
    web = serve()
    answer = web.ask("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}})
    web.reply_error("completion/complete", *server_error)
    assert (answer.status, answer.code) == (status, code)


def test_an_unknown_tool_is_no_unknown_method(serve: Serve) -> None:
    web = serve()
    call = web.call("nothing")
    web.reply_error("tools/call", -32601, "no such tool")
    assert (call.status, call.code) == (200, -32602)


def test_a_capability_that_was_missing_is_400(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", capabilities={})
    web.form("q")
    assert web.answers_to("q")[0]["error"]["code"] == -32602
    web.reply("tools/call", {"content": [], "isError": True})
    assert (call.status, call.code) == (400, -32021)
    assert call.error["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}}


# -- a stream ----------------------------------------------------------------------------------------------------------


def test_a_notification_that_comes_first_begins_a_stream(serve: Serve) -> None:
    web = serve()
    call = watched(web, id=1)
    progress(web, 1)
    assert (call.status, call.is_stream, call.done) == (200, True, False)
    web.tell("notifications/message", {"level": "info", "data": "half"})
    web.reply("tools/call", DONE)
    assert [frame.get("method") for frame in call.frames] == ["notifications/progress", "notifications/message", None]
    assert call.ended


def test_a_stream_has_no_event_ids_because_it_cannot_be_resumed(serve: Serve) -> None:
    web = serve()
    call = watched(web)
    progress(web, 1)
    web.reply("tools/call", DONE)
    assert [(event.id, event.retry, event.name) for event in call.events] == [(None, None, None)] * 2


def test_an_error_after_the_stream_has_begun_rides_on_it_with_200(serve: Serve) -> None:
    web = serve()
    call = watched(web, capabilities={})
    progress(web, 1)
    web.reply_error("tools/call", -32603, "boom")
    assert (call.status, call.is_stream, call.code) == (200, True, -32603)


def test_an_answer_that_takes_long_begins_as_a_stream(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = web.call("deploy", id=1)
    web.pass_time(5)
    assert (call.status, call.begun, call.frames) == (200, True, [])
    web.reply("tools/call", DONE)
    assert call.ended
    assert call.result["content"] == DONE["content"]
    assert web.transcript() == transcript


@pytest.mark.parametrize("wait", [0.5, 20.0])
def test_the_wait_for_the_first_message_is_the_operators(serve: Serve, wait: float) -> None:
    web = serve(header_wait=wait)
    call = web.call("deploy")
    web.pass_time(wait - 0.1)
    assert not call.begun
    web.pass_time(0.1)
    assert call.begun


def test_each_request_waits_from_its_own_beginning(serve: Serve) -> None:
    web = serve()
    first = web.call("deploy")
    web.pass_time(3)
    second = web.call("deploy")
    web.pass_time(2)
    assert (first.begun, second.begun) == (True, False)
    web.pass_time(3)
    assert second.begun


def test_an_unknown_method_after_the_wait_rides_on_the_stream(serve: Serve) -> None:
    web = serve()
    answer = web.ask("com.example/slow")
    web.pass_time(6)
    web.reply_error("com.example/slow", -32601, "Method not found")
    assert (answer.status, answer.code) == (200, -32601)


def test_each_message_is_one_line_even_if_the_server_wrote_carriage_returns(serve: Serve) -> None:
    web = serve()
    call = watched(web)
    progress(web, 1)
    own = web.pending("tools/call")
    web.say_line(b'{"jsonrpc":"2.0",\r"id":%d,\r"result":{"content":[],\r"x":"a\\nb"}}' % own)
    assert call.result["x"] == "a\nb"
    assert [len(chunk.splitlines()) for chunk in call.chunks] == [2, 2]


def test_a_quiet_stream_gets_a_comment_now_and_then(serve: Serve) -> None:
    web = serve(keepalive=15)
    listen = web.listen()
    web.pass_time(100)
    assert 5 <= listen.comments <= 7
    assert len(listen.frames) == 1


def test_a_stream_that_is_not_quiet_needs_no_comment(serve: Serve) -> None:
    web = serve(keepalive=15)
    call = watched(web)
    for step in range(1, 10):
        progress(web, step)
        web.pass_time(10)
    assert call.comments == 0


def test_without_keep_alive_there_are_no_comments(serve: Serve) -> None:
    web = serve(keepalive=0)
    listen = web.listen()
    web.pass_time(1000)
    assert listen.comments == 0


def test_no_comment_follows_the_end(serve: Serve) -> None:
    web = serve()
    call = watched(web)
    progress(web, 1)
    web.reply("tools/call", DONE)
    pieces = len(call.chunks)
    web.pass_time(100)
    assert len(call.chunks) == pieces


def test_a_json_answer_that_waits_gets_no_comments(serve: Serve) -> None:
    web = serve(header_wait=1000)
    web.listen()
    call = web.call("deploy")
    web.pass_time(100)
    assert call.chunks == []


# -- what the client takes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", [None, "", "*/*", "application/json, text/event-stream", "text/event-stream;q=0.5, application/*"])
def test_a_client_that_takes_both_may_get_either(serve: Serve, accept: str | None) -> None:
    web = serve()
    call = watched(web, accept=accept)
    progress(web, 1)
    web.reply("tools/call", DONE)
    assert call.is_stream


def test_a_client_that_takes_json_only_gets_json_however_long_it_takes(serve: Serve) -> None:
    web = serve()
    call = watched(web, accept="application/json")
    progress(web, 1)
    web.pass_time(100)
    assert not call.begun
    web.reply("tools/call", DONE)
    assert (call.status, call.headers["content-type"]) == (200, "application/json")
    assert len(web.losses) == 1


def test_a_client_that_takes_events_only_gets_a_stream(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", accept="text/event-stream")
    web.reply("tools/call", DONE)
    assert call.is_stream
    assert call.ended


def test_a_client_that_takes_neither_is_406(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", id=4, accept="text/html")
    assert (call.status, call.last["id"]) == (406, 4)
    assert web.opened == []


def test_a_listen_for_a_client_that_takes_no_events_is_406(serve: Serve) -> None:
    web = serve()
    listen = web.listen(id="s", accept="application/json")
    assert (listen.status, listen.last["id"]) == (406, "s")
    assert web.opened == []


@pytest.mark.parametrize("kind", [None, "text/plain", "application/json; charset=latin-1", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type_is_415(serve: Serve, kind: str | None) -> None:
    web = serve()
    assert web.call("deploy", content_type=kind).status == 415


def test_a_compressed_body_is_415(serve: Serve) -> None:
    web = serve()
    assert web.call("deploy", content_encoding="gzip").status == 415
    assert web.ask("tools/list", content_encoding="identity").status == 200


# -- the client leaves -------------------------------------------------------------------------------------------------


def test_closing_the_connection_cancels_the_request(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = watched(web, id=1)
    progress(web, 1)
    web.leave(call)
    (cancelled,) = web.requests("notifications/cancelled")
    assert cancelled["params"]["requestId"] == web.pending("tools/call")
    web.reply("tools/call", DONE)
    assert len(call.frames) == 1
    assert web.losses == []
    assert web.transcript() == transcript


def test_closing_before_the_stream_has_begun_cancels_too(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    web.leave(call)
    assert len(web.requests("notifications/cancelled")) == 1
    web.pass_time(10)
    assert not call.begun


def test_closing_one_request_leaves_the_others_alone(serve: Serve) -> None:
    web = serve()
    first, second = web.call("deploy", id=1), web.call("deploy", id=1)
    web.leave(first)
    web.reply("tools/call", DONE)
    assert second.result["content"] == DONE["content"]


def test_closing_while_the_server_starts_means_that_the_call_is_never_sent(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    call = web.call("deploy")
    web.leave(call)
    web.reply("initialize", web.handshake())
    assert web.requests("tools/call") == []
    assert web.requests("notifications/cancelled") == []


def test_closing_while_the_tools_are_listed_means_that_the_call_is_never_sent(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    call = web.call("deploy")
    web.leave(call)
    web.reply("tools/list", NO_TOOLS)
    assert web.requests("tools/call") == []


def test_closing_after_the_answer_means_nothing(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    web.reply("tools/call", DONE)
    web.leave(call)
    assert web.requests("notifications/cancelled") == []


def test_closing_twice_means_nothing(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    web.leave(call)
    web.leave(call)
    assert len(web.requests("notifications/cancelled")) == 1


def test_a_cancellation_by_post_ends_the_one_request_of_that_id(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", id="x")
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x", "_meta": web.meta()}}
    assert web.post(note, mcp_protocol_version=MODERN).status == 202
    assert call.done
    assert len(web.requests("notifications/cancelled")) == 1


def test_a_cancellation_by_post_takes_nobodys_request_when_two_have_the_id(serve: Serve) -> None:
    web = serve()
    first, second = web.call("deploy", id=1), web.call("deploy", id=1)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": web.meta()}}
    assert web.post(note, mcp_protocol_version=MODERN).status == 202
    assert not first.done
    assert not second.done
    assert web.requests("notifications/cancelled") == []


@pytest.mark.parametrize("target", [None, "other", 1.5, [], {"x": 1}])
def test_a_cancellation_by_post_of_nothing_is_202(serve: Serve, target: Any) -> None:
    web = serve()
    call = web.call("deploy", id="x")
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": target, "_meta": web.meta()}}
    assert web.post(note, mcp_protocol_version=MODERN).status == 202
    assert not call.done


# -- clients of one principal ------------------------------------------------------------------------------------------


def test_two_clients_with_the_same_ids_get_their_own_answers(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    first = watched(web, id=1)
    second = watched(web, id=1)
    one, two = (frame["id"] for frame in web.requests("tools/call"))
    web.tell("notifications/progress", {"progressToken": two, "progress": 2})
    web.tell("notifications/progress", {"progressToken": one, "progress": 1})
    web.reply("tools/call", {"content": [], "for": "second"}, id=two)
    web.reply("tools/call", {"content": [], "for": "first"}, id=one)
    assert first.notes("notifications/progress") == [{"progressToken": "p", "progress": 1}]
    assert second.notes("notifications/progress") == [{"progressToken": "p", "progress": 2}]
    assert (first.result["for"], second.result["for"]) == ("first", "second")
    assert web.opened == [1]
    assert web.transcript() == transcript


def test_clients_of_other_capabilities_have_a_process_of_their_own(serve: Serve) -> None:
    web = serve()
    web.call("deploy", capabilities={})
    web.call("deploy", capabilities={"roots": {}})
    web.call("deploy", capabilities={})
    assert [frame["params"]["capabilities"] for frame in web.requests("initialize")] == [{}, {"roots": {}}]


def test_a_log_message_goes_to_one_stream_only(serve: Serve) -> None:
    web = serve(
        capabilities={"tools": {}, "logging": {}},
        auto={**Web().auto, "initialize": Web(capabilities={"tools": {}, "logging": {}}).handshake(), "logging/setLevel": {}},
    )
    quiet = web.call("deploy", id=1)
    first = watched(web, id=1)
    second = watched(web, id=1)
    web.tell("notifications/message", {"level": "info", "data": "x"})
    assert len(first.frames) + len(second.frames) == 1
    assert quiet.frames == []


# -- listens -----------------------------------------------------------------------------------------------------------

RESOURCES = {"resources": {"subscribe": True, "listChanged": True}, "tools": {"listChanged": True}}
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


SUBSCRIBES = {"resources/subscribe": {}, "resources/unsubscribe": {}}


@pytest.mark.parametrize("id", [1, "1", 2**53 + 1, "", "ü"])
def test_the_subscription_id_is_the_requests_id_with_its_type(serve: Serve, id: Any) -> None:  # noqa: A002
    web = serve()
    listen = web.listen(id=id)
    web.tell("notifications/tools/list_changed")
    web.shut_down()
    stamps = [frame.get("params", frame.get("result"))["_meta"][f"{META}subscriptionId"] for frame in listen.frames]
    assert [json.dumps(stamp) for stamp in stamps] == [json.dumps(id)] * 3


def test_the_acknowledgement_comes_first_even_if_something_changes_before(serve: Serve) -> None:
    web = serve(capabilities=RESOURCES)
    listen = web.listen(filters={"toolsListChanged": True, "resourceSubscriptions": ["a:b"]})
    web.tell("notifications/tools/list_changed")
    assert listen.frames == []
    web.reply("resources/subscribe", {})
    assert [frame["method"] for frame in listen.frames] == [ACKNOWLEDGED, "notifications/tools/list_changed"]


def test_only_what_was_asked_for_goes_to_a_listen(serve: Serve) -> None:
    web = serve(capabilities=RESOURCES, auto=SUBSCRIBES)
    tools = web.listen(filters={"toolsListChanged": True})
    uris = web.listen(filters={"resourceSubscriptions": ["a:1"]})
    web.tell("notifications/resources/updated", {"uri": "a:1"})
    web.tell("notifications/resources/list_changed")
    web.tell("notifications/tools/list_changed")
    assert [frame["method"] for frame in tools.frames] == [ACKNOWLEDGED, "notifications/tools/list_changed"]
    assert [frame["method"] for frame in uris.frames] == [ACKNOWLEDGED, "notifications/resources/updated"]


def test_progress_and_logs_never_go_to_a_listen(serve: Serve) -> None:
    web = serve()
    listen = web.listen()
    call = watched(web)
    progress(web, 1)
    web.tell("notifications/message", {"level": "info", "data": 1})
    assert len(listen.frames) == 1
    assert len(call.frames) == 2


def test_closing_a_listen_unsubscribes_what_nobody_else_follows(serve: Serve) -> None:
    web = serve(capabilities=RESOURCES, auto=SUBSCRIBES)
    first = web.listen(filters={"resourceSubscriptions": ["a:1", "a:2"]})
    web.listen(filters={"resourceSubscriptions": ["a:2"]})
    web.leave(first)
    assert [frame["params"]["uri"] for frame in web.requests("resources/unsubscribe")] == ["a:1"]
    assert web.requests("notifications/cancelled") == []


def test_a_listen_with_a_wrong_filter_is_an_error(serve: Serve) -> None:
    web = serve()
    listen = web.listen(filters={"toolsListChanged": "yes"})
    assert (listen.done, listen.code) == (True, -32602)


def test_a_listen_outlives_the_servers_process(serve: Serve) -> None:
    web = serve()
    listen = web.listen()
    web.die()
    assert not listen.done
    web.pass_time(2)
    assert web.opened == [1, 2]
    assert [frame["method"] for frame in listen.frames] == [ACKNOWLEDGED, "notifications/tools/list_changed"]


def test_a_listen_keeps_its_servers_process(serve: Serve) -> None:
    web = serve(session_ttl=100, hibernate_after=10)
    web.listen()
    web.pass_time(10_000)
    assert web.closed == []


def test_listens_hold_a_process_but_not_one_each(serve: Serve) -> None:
    web = serve()
    listens = [web.listen(id=1) for _ in range(200)]
    assert web.opened == [1]
    web.tell("notifications/tools/list_changed")
    assert {len(listen.frames) for listen in listens} == {2}

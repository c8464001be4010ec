"""Paths, methods, the gate, and the two endpoints of 2024-11-05 (basic/transports of every revision)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.http.clients import LegacyClient, OldClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

from dragoman.http.request import HttpRequest

DONE = {"content": [{"type": "text", "text": "done"}]}
ROOTS: Json = {"roots": []}
READ = [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/healthz")]


# -- paths and methods -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/mcp/x", "/MCP", "/sse", "/messages", "/.well-known/oauth-protected-resource"])
def test_other_paths_are_404(serve: Serve, path: str) -> None:
    web = serve()
    assert web.send("POST", path, b"{}").status == 404
    assert web.send("GET", path).status == 404


def test_a_slash_at_the_end_of_the_path_means_nothing(serve: Serve) -> None:
    web = serve()
    assert web.ask("tools/list", path="/mcp/").status == 200


def test_the_endpoint_is_where_the_operator_puts_it(serve: Serve) -> None:
    web = serve(path="/tools")
    assert web.ask("tools/list", path="/tools").status == 200
    assert web.ask("tools/list").status == 404


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE", "BREW"])
def test_other_methods_are_405_and_told_which_there_are(serve: Serve, method: str) -> None:
    web = serve()
    answer = web.send(method)
    assert answer.status == 405
    assert {"POST", "GET", "DELETE"} <= set(answer.headers["allow"].split(", "))


def test_health_tells_counts_and_starts_nothing(serve: Serve) -> None:
    web = serve()
    before = json.loads(web.send("GET", "/healthz").body)
    assert (before["status"], before["processes"], before["sessions"]) == ("ok", 0, 0)
    web.legacy()
    web.call("deploy")
    after = json.loads(web.send("GET", "/healthz").body)
    assert (after["processes"], after["sessions"]) == (2, 1)
    assert web.send("POST", "/healthz", b"{}").status == 405


def test_health_under_a_name_that_is_not_ours_tells_that_it_is_well_and_no_more(serve: Serve) -> None:
    answer = serve().send("GET", "/healthz", host="203.0.113.9", local=False)
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})


def test_health_while_shutting_down_is_503(serve: Serve) -> None:
    web = serve()
    web.call("deploy")
    web.shut_down()
    answer = web.send("GET", "/healthz")
    assert (answer.status, json.loads(answer.body)["status"]) == (503, "closing")


def test_how_much_of_a_body_is_read_is_the_operators_and_none_without_a_message(serve: Serve) -> None:
    web = serve(max_body=1000)
    fields = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    allowed = [web.face.head(HttpRequest(method, path, b"", fields, True)) for method, path in READ]
    assert allowed == [1000, 0, 0, 0]


# -- the gate ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"host": "evil.example"}, {"origin": "null"}, {"host": None}])
def test_a_foreign_page_or_name_is_403_whatever_the_method(serve: Serve, method: str, headers: dict[str, Any]) -> None:
    web = serve()
    answer = web.send(method, body=b"{}" if method == "POST" else b"", **headers)
    assert answer.status == 403
    assert web.opened == []


def test_a_page_of_this_machine_may_call_and_read(serve: Serve) -> None:
    web = serve()
    answer = web.ask("tools/list", origin="http://localhost:3000")
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "http://localhost:3000")
    listen = web.listen(origin="http://localhost:3000")
    assert listen.headers["access-control-allow-origin"] == "http://localhost:3000"


@pytest.mark.parametrize("field", ["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-x", "content-type"])
def test_a_field_that_stands_twice_is_400_even_with_equal_values(serve: Serve, field: str) -> None:
    web = serve()
    answer = web.call("deploy", mcp_session_id="a", mcp_param_x="1", fields=[(field, "1")])
    assert answer.status == 400
    assert web.opened == []


def test_a_preflight_is_answered_for_an_allowed_page_only(serve: Serve) -> None:
    web = serve()
    good = web.send("OPTIONS", origin="http://localhost:3000", access_control_request_headers="mcp-param-region, x-other")
    assert good.status == 204
    assert "mcp-param-region" in good.headers["access-control-allow-headers"]
    assert "x-other" not in good.headers["access-control-allow-headers"]


# -- 2024-11-05 --------------------------------------------------------------------------------------------------------


def begin(serve: Serve, **settings: Any) -> tuple[Web, OldClient]:
    web = serve(revision="2024-11-05", sse=True, **settings)
    client = OldClient(web)
    client.initialize()
    client.note("notifications/initialized")
    return web, client


def test_the_first_event_names_the_endpoint(serve: Serve) -> None:
    web = serve(sse=True)
    stream = web.send("GET", "/sse")
    (event,) = stream.events
    assert event.name == "endpoint"
    assert event.data.startswith("messages?session_id=")
    assert (event.id, event.retry) == (None, None)


def test_a_stream_starts_no_process_before_initialize(serve: Serve) -> None:
    web = serve(sse=True)
    OldClient(web)
    assert web.opened == []


def test_everything_comes_on_the_one_stream(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("tools/call", {"name": "deploy", "_meta": {"progressToken": 1}}, id=1)
    web.tell("notifications/progress", {"progressToken": 1, "progress": 1})
    web.question("q", "roots/list")
    assert client.post({"jsonrpc": "2.0", "id": "q", "result": ROOTS}).status == 202
    web.reply("tools/call", DONE)
    web.tell("notifications/tools/list_changed")
    assert [event.name for event in client.stream.events] == ["endpoint"] + ["message"] * 5
    assert [frame.get("method", "answer") for frame in client.stream.frames] == [
        "answer",
        "notifications/progress",
        "roots/list",
        "answer",
        "notifications/tools/list_changed",
    ]
    assert web.answers_to("q")[0]["result"] == ROOTS


def test_a_question_before_the_answer_to_initialize_goes_out_at_once(serve: Serve) -> None:
    web = serve(sse=True, revision="2024-11-05", auto={"initialize": None})
    client = OldClient(web)
    client.initialize()
    web.tell("notifications/message", {"level": "info", "data": 1})
    assert len(client.stream.frames) == 1


def test_closing_the_stream_ends_the_session_and_its_process(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("tools/call", {"name": "deploy"}, id=1)
    web.leave(client.stream)
    assert web.alive == []
    assert client.ask("ping", id=2).status == 404


def test_the_death_of_the_process_ends_the_stream_with_answers(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("tools/call", {"name": "deploy"}, id=1)
    web.die()
    assert client.stream.frames[-1]["error"]["code"] == -32603
    assert client.stream.ended
    assert client.ask("ping", id=2).status == 404


@pytest.mark.parametrize(("body", "status"), [(b"", 400), (b"{", 400), (b"3", 400), (b"[]", 400), (b"[1]", 400)])
def test_what_is_no_message_is_400(serve: Serve, body: bytes, status: int) -> None:
    web, client = begin(serve)
    before = len(web.to_server[1])
    assert client.post(body).status == status
    assert len(web.to_server[1]) == before


def test_an_error_without_a_request_has_the_id_null_that_this_revision_knows(serve: Serve) -> None:
    _, client = begin(serve)
    for body in (b"", b"{", b"3"):
        frame = client.post(body).last
        assert frame["id"] is None
        assert frame["error"]["code"] in (-32700, -32600)


def test_an_id_in_flight_is_400(serve: Serve) -> None:
    _, client = begin(serve)
    assert client.ask("tools/call", {"name": "deploy"}, id=1).status == 202
    assert client.ask("tools/call", {"name": "deploy"}, id=1).status == 400


def test_a_cancelled_request_is_passed_on_and_the_stream_stays(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("tools/call", {"name": "deploy"}, id=1)
    assert client.note("notifications/cancelled", {"requestId": 1}).status == 202
    assert len(web.requests("notifications/cancelled")) == 1
    assert not client.stream.done


@pytest.mark.parametrize("query", ["", "session_id=", "session_id=0", "session_id=" + "0" * 48, "sessionId=1", "x=%00"])
def test_an_unknown_session_is_404(serve: Serve, query: str) -> None:
    web, _ = begin(serve)
    assert web.send("POST", "/messages", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', query=query).status == 404


def test_sessions_of_one_transport_are_unknown_to_the_other(serve: Serve) -> None:
    web = serve(sse=True)
    old = OldClient(web)
    client = LegacyClient(web)
    client.session = old.endpoint.partition("=")[2]
    assert [answer.status for answer in (client.call(id=1), client.get(), client.delete())] == [404] * 3
    new = web.legacy()
    old.endpoint = f"messages?session_id={new.session}"
    assert old.ask("ping", id=1).status == 404


def test_the_endpoints_take_one_method_each(serve: Serve) -> None:
    web = serve(sse=True)
    post = web.send("POST", "/sse", b"{}")
    assert (post.status, post.headers["allow"]) == (405, "GET")
    get = web.send("GET", "/messages")
    assert (get.status, get.headers["allow"]) == (405, "POST")
    assert web.send("DELETE", "/sse").status == 405


def test_the_stream_is_for_those_who_take_events(serve: Serve) -> None:
    web = serve(sse=True)
    assert web.send("GET", "/sse", accept="application/json").status == 406


def test_the_gate_stands_before_these_too(serve: Serve) -> None:
    web = serve(sse=True)
    assert web.send("GET", "/sse", origin="https://evil.example").status == 403
    assert web.send("POST", "/messages", b"{}", host="evil.example").status == 403


def test_no_more_processes_run_than_allowed(serve: Serve) -> None:
    web = serve(sse=True, max_sessions=2, revision="2024-11-05")
    clients = [OldClient(web) for _ in range(5)]
    statuses = [client.initialize().status for client in clients]
    assert statuses == [202, 202, 503, 503, 503]
    assert len(web.alive) == 2


def test_a_session_whose_stream_is_open_is_not_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve, max_sessions=1)
    web.pass_time(100_000)
    assert OldClient(web).initialize().status == 503
    client.ask("tools/list", id=1)
    assert client.stream.frames[-1]["id"] == 1


def test_a_newer_client_may_use_them_and_negotiate(serve: Serve) -> None:
    web = serve(sse=True, revision="2025-06-18")
    client = OldClient(web)
    client.initialize("2025-06-18")
    assert client.stream.frames[0]["result"]["protocolVersion"] == "2025-06-18"
    client.note("notifications/initialized")
    client.ask("tools/list", id=1)
    assert client.stream.frames[-1]["id"] == 1


def test_a_quiet_stream_gets_comments(serve: Serve) -> None:
    web, client = begin(serve)
    web.pass_time(100)
    assert client.stream.comments >= 5

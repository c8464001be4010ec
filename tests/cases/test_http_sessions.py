"""Field cases about legacy sessions over HTTP, their streams and their ends (2025-11-25, basic/transports; 2024-11-05, the same page)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from tests.cases.conftest import Serve, Share
from tests.cases.reply import text_of
from tests.cases.served import Caller, Served

ASKS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
ACCEPTED = {"action": "accept", "content": {"env": "prod"}}


def opened(served: Served, **capabilities: Any) -> Caller:
    caller = served.caller()
    caller.initialize(**capabilities)
    return caller


def said(caller: Caller, tool: str, **arguments: Any) -> str:
    """What a tool answers to a legacy client."""
    return text_of(caller.ask("tools/call", name=tool, arguments=arguments).json())


# -- a session and its server --------------------------------------------------------------------------------------------------------


def test_b161_calls_of_one_client_reach_one_server(served: Served) -> None:
    first, second = opened(served), opened(served)
    assert [said(first, "count") for _ in range(3)] == ["1", "2", "3"]
    assert said(second, "count") == "1"
    assert said(first, "count") == "4"


def test_b161_calls_of_one_modern_caller_reach_one_server(served: Served) -> None:
    first, second = served.caller("Bearer one"), served.caller("Bearer two")
    assert [first.said("count") for _ in range(3)] == ["1", "2", "3"]
    assert second.said("count") == "1"
    assert first.said("count") == "4"


def test_b093_two_callers_have_a_server_each(served: Served) -> None:
    first, second = served.caller("Bearer one"), served.caller("Bearer two")
    assert first.said("pid") != second.said("pid")
    assert first.said("pid") == first.said("pid")


def test_b088_session_whose_server_is_gone_is_unknown_and_another_can_begin(served: Served) -> None:
    caller = opened(served)
    assert caller.delete().status == 204
    gone = caller.ask("tools/list", id=5)
    assert (gone.status, gone.json()["id"]) == (404, 5)
    caller.session = None
    caller.initialize()
    assert caller.ask("tools/list").status == 200


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
def test_b090_unknown_session_is_404_which_makes_a_client_begin_anew(served: Served, verb: str) -> None:
    caller = opened(served)
    caller.session = "old"
    reply = {"POST": lambda: caller.ask("tools/list"), "GET": caller.get, "DELETE": caller.delete}[verb]()
    assert reply.status == 404


# -- questions to a legacy client ------------------------------------------------------------------------------------------------------


def test_b073_legacy_client_is_given_the_session_that_a_question_needs(served: Served) -> None:
    caller = opened(served, elicitation={})
    assert caller.session is not None
    messages = caller.ask("tools/call", id=7, name="ask", arguments={}).messages()
    question = next(messages)
    assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Where?")
    assert caller.post({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPTED}).status == 202
    answer = next(messages)
    assert answer["id"] == 7
    assert json.loads(text_of(answer)) == ACCEPTED
    assert list(messages) == []


def test_b073_call_outside_a_session_is_refused_aloud(served: Served) -> None:
    """A fresh server that knows nothing of its client would take a tool away without a word."""
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
    reply = served.caller().post(call, {"MCP-Protocol-Version": "2025-11-25"})
    assert reply.status == 400
    assert "Send initialize first" in reply.error()["message"]
    assert served.shown("tools/call") == []


def test_b162_question_reaches_a_modern_client_that_has_no_session(served: Served) -> None:
    caller = served.caller()
    asked = caller.call("ask", meta=ASKS).json()["result"]
    assert asked["resultType"] == "input_required"
    answers = {"requestState": asked["requestState"], "inputResponses": {"env": ACCEPTED}}
    done = caller.request("tools/call", meta=ASKS, name="ask", arguments={}, **answers)
    assert json.loads(text_of(done.json())) == ACCEPTED


@pytest.mark.parametrize("answer", [ACCEPTED, {"action": "decline"}, {"action": "cancel"}])
def test_b074_answer_to_a_question_is_a_whole_result_and_reaches_the_server_as_one(served: Served, answer: Any) -> None:
    caller = served.caller()
    asked = caller.call("ask", meta=ASKS).json()["result"]
    answers = {"requestState": asked["requestState"], "inputResponses": {"env": answer}}
    done = caller.request("tools/call", meta=ASKS, name="ask", arguments={}, **answers)
    assert json.loads(text_of(done.json())) == answer


def test_b074_bare_content_is_no_answer_and_the_question_is_asked_again(served: Served) -> None:
    caller = served.caller()
    asked = caller.call("ask", meta=ASKS).json()["result"]
    answers = {"requestState": asked["requestState"], "inputResponses": {"env": {"env": "prod"}}}
    again = caller.request("tools/call", meta=ASKS, name="ask", arguments={}, **answers).json()["result"]
    assert (again["resultType"], set(again["inputRequests"])) == ("input_required", {"env"})


# -- streams -----------------------------------------------------------------------------------------------------------------------


def test_b091_second_stream_of_a_session_is_served_too_and_the_server_lives(served: Served) -> None:
    """A client may hold several (2025-11-25, basic/transports#multiple-connections); each message is on one of them."""
    caller = opened(served)
    pid = said(caller, "pid")
    streams = [caller.get(), caller.get()]
    assert [stream.status for stream in streams] == [200, 200]
    assert said(caller, "change") == "changed"
    assert said(caller, "pid") == pid
    assert caller.delete().status == 204
    assert [frame["method"] for stream in streams for frame in stream.messages()] == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream", "application/json", "text/html", None])
def test_b096_get_or_delete_without_a_session_is_405_whatever_it_accepts(served: Served, verb: str, accept: str | None) -> None:
    reply = served.caller().send(verb, None, {"Accept": accept})
    assert reply.status == 405
    assert reply.field("allow") == "POST, GET, DELETE, OPTIONS"


def test_b096_get_of_a_modern_client_is_405_too(served: Served) -> None:
    reply = served.caller().send("GET", None, {"Accept": "text/event-stream", "MCP-Protocol-Version": "2026-07-28"})
    assert reply.status == 405


def test_b098_endpoint_of_the_old_transport_stays_below_a_prefix_that_a_proxy_adds(share: Share) -> None:
    """A reference that is relative to /gw/plex/sse leads to /gw/plex/messages (RFC 3986, section 5)."""
    stream = share("plain", "--sse").caller().get(target="/sse")
    first = next(stream.events())
    assert first["event"] == "endpoint"
    assert first["data"].startswith("messages?session_id=")


def test_b098_old_transport_is_not_offered_unless_it_is_asked_for(served: Served) -> None:
    caller = served.caller()
    assert caller.get(target="/sse").status == 404
    assert caller.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, target="/messages?session_id=x").status == 404


# -- notifications of modern clients -------------------------------------------------------------------------------------------------


def test_b060_cancellation_by_post_is_accepted_and_ends_the_callers_own_request(serve: Serve) -> None:
    """basic/transports/streamable-http#sending-messages: 202 with no body, or an error; closing the stream would be the way."""
    caller = serve("plain", "--header-wait", "0.05").caller()
    held = caller.call("hang")
    assert held.streams
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    reply = caller.post(cancel, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/cancelled"})
    assert (reply.status, reply.body) == (202, b"")
    assert list(held.messages()) == []
    caller.said("echo", text="x")
    assert len(caller.served.shown("notifications/cancelled")) == 1


def test_b060_cancellation_of_somebody_elses_request_is_accepted_and_ends_nothing(serve: Serve) -> None:
    served = serve("plain", "--header-wait", "0.05")
    caller, stranger = served.caller("Bearer one"), served.caller("Bearer two")
    held = caller.call("hang")
    assert held.streams
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    reply = stranger.post(cancel, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/cancelled"})
    assert (reply.status, reply.body) == (202, b"")
    assert caller.said("echo", text="x") == "x"
    assert stranger.said("echo", text="y") == "y"
    assert served.shown("notifications/cancelled") == []


def test_b081_change_that_no_stream_asked_for_is_on_none(share: Share) -> None:
    caller = share("changes").caller()
    assert [frame["id"] for frame in caller.call("change").messages()] == [1]
    listen = caller.request("subscriptions/listen", notifications={"toolsListChanged": True})
    heard = listen.messages()
    assert next(heard)["method"] == "notifications/subscriptions/acknowledged"
    caller.said("change")
    assert [frame["method"] for frame in itertools.islice(heard, 1)] == ["notifications/tools/list_changed"]

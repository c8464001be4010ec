"""A server of 2026-07-28: fields, lists, cancellation by closing, and what follows each refusal (basic/transports/streamable-http)."""

from __future__ import annotations

import json

import pytest
from tests.remote.leg import META, ModernLeg, failure, note, request, result, tool

from dragoman.remote.effects import UNSENT, Heard

REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
OTHER = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Zone"}}}
TWICE = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}


def listed(*tools, **members):
    return {"resultType": "complete", "tools": list(tools), "ttlMs": 0, "cacheScope": "private", **members}


def fields(exchange):
    return {name: value for name, value in exchange.fields.items() if name.startswith("mcp-")}


# --- what is not touched ---


def test_requests_go_out_byte_for_byte():
    leg = ModernLeg()
    line = b'{"jsonrpc":"2.0", "id":1.0e0, "method":"prompts/list","params":{"_meta":{}}}'.replace(b"1.0e0", b'"x"')
    leg.core(line)
    assert leg.last.body == line
    assert leg.last.method == "POST"


def test_list_whose_tools_are_all_valid_comes_back_byte_for_byte():
    leg = ModernLeg()
    leg.ask("tools/list", id=1)
    line = b'{"id":1, "jsonrpc":"2.0", "result":{"tools": [{"name":"a","inputSchema":{"type":"object"}}], "resultType":"complete"}}'
    effects = leg.remote.head(leg.last.number, 200, {"content-type": "application/json"}, leg.now)
    effects += leg.remote.data(leg.last.number, line, leg.now)
    effects += leg.remote.ended(leg.last.number, leg.now)
    assert [effect.line for effect in effects if isinstance(effect, Heard)] == [line]


def test_no_session_and_no_standing_stream():
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    leg.answer(result(1, {"resultType": "complete"}), mcp_session_id="s1")
    leg.ask("prompts/list", id=2)
    leg.close()
    assert [exchange.method for exchange in leg.sent] == ["POST", "POST"]
    assert "mcp-session-id" not in leg.sent[1].fields


# --- fields ---


def test_request_repeats_revision_and_method():
    leg = ModernLeg()
    leg.ask("server/discover")
    assert fields(leg.last) == {"mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover"}


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("prompts/get", {"name": "Code review"}, "Code review"),
        ("resources/read", {"uri": "file:///é"}, "=?base64?ZmlsZTovLy/DqQ==?="),
    ],
)
def test_request_that_names_something_repeats_the_name(method, params, name):
    leg = ModernLeg()
    leg.ask(method, params)
    assert fields(leg.last)["mcp-name"] == name


def test_notification_repeats_its_method():
    leg = ModernLeg()
    leg.tell("notifications/x")
    assert fields(leg.last) == {"mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/x"}
    leg.accept()


def test_call_of_a_listed_tool_repeats_what_its_schema_marks():
    leg = ModernLeg()
    leg.knows(tool("a", schema=REGION))
    leg.call("a", {"region": "eu"})
    assert fields(leg.last) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "a",
        "mcp-param-region": "eu",
    }


def test_request_that_no_field_can_carry_is_refused_here():
    leg = ModernLeg()
    leg.ask("x\r\nevil: 1", id=1)
    assert leg.sent == []
    assert leg.error(1)["code"] == -32602


# --- tools that no list has shown ---


def test_first_call_of_a_tool_waits_for_a_list(transcript):
    leg = ModernLeg()
    leg.call("a", {"region": "eu"}, id=1)
    leg.call("b", id=2)
    assert leg.whats() == ["tools/list"]
    leg.answer(result(leg.last.frame["id"], listed(tool("a", schema=REGION), nextCursor="2")))
    leg.answer(result(leg.last.frame["id"], listed(tool("c"))))
    leg.answer(result(1, {"resultType": "complete", "content": []}), to=leg.open[3])
    leg.answer(result(2, {"resultType": "complete", "content": []}), to=leg.open[4])
    leg.call("nowhere", id=3)
    assert leg.whats() == ["tools/list", "tools/list", "tools/call", "tools/call", "tools/call"]
    assert leg.sent[2].fields["mcp-param-region"] == "eu"
    assert leg.transcript() == transcript
    assert len(leg.heard) == 2


def test_list_of_our_own_is_a_proper_request():
    leg = ModernLeg()
    leg.call("a")
    sent = leg.last.frame
    assert sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert fields(leg.last) == {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}


@pytest.mark.parametrize("how", ["error", "status", "unreachable", "nonsense", "stream"])
def test_call_goes_out_without_a_list_where_there_is_none(how):
    leg = ModernLeg()
    leg.call("a", {"region": "eu"}, id=1)
    own = leg.last
    if how == "error":
        leg.answer(failure(own.frame["id"], -32601, "no tools"), status=404)
    elif how == "status":
        leg.answer(status=403)
    elif how == "unreachable":
        leg.fail(kind=UNSENT, text="no", final=True)
    elif how == "nonsense":
        leg.answer(result(own.frame["id"], {"tools": 7}))
    else:
        leg.end(leg.stream())
        leg.end(leg.stream())
    assert leg.last.what == "tools/call"
    assert leg.heard == []


def test_list_that_takes_too_long_is_not_waited_for():
    leg = ModernLeg()
    leg.call("a", {"region": "eu"}, id=1)
    own = leg.last
    leg.pass_time(60)
    assert leg.last.what == "tools/call"
    leg.answer(result(own.frame["id"], listed(tool("a", schema=REGION))), to=own)
    leg.call("a", {"region": "eu"}, id=2)
    assert leg.last.fields["mcp-param-region"] == "eu"


def test_call_cancelled_while_the_list_is_read_is_not_sent():
    leg = ModernLeg()
    leg.call("a", id=1)
    own = leg.last
    leg.cancel(1)
    leg.answer(result(own.frame["id"], listed(tool("a"))), to=own)
    assert leg.whats() == ["tools/list"]


def test_end_while_the_list_is_read_sends_nothing_more():
    leg = ModernLeg()
    leg.call("a", id=1)
    leg.close()
    leg.pass_time(100)
    assert leg.whats() == ["tools/list"]


def test_list_is_read_again_once_it_has_changed():
    leg = ModernLeg()
    leg.knows(tool("a", schema=REGION))
    leg.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")
    leg.event(leg.stream(), note("notifications/tools/list_changed"))
    leg.call("a", {"region": "eu"}, id=1)
    assert leg.last.what == "tools/list"
    leg.answer(result(leg.last.frame["id"], listed(tool("a", schema=OTHER))))
    assert leg.last.fields["mcp-param-zone"] == "eu"


# --- invalid marks ---


def test_tools_with_invalid_marks_are_left_out_and_told_once():
    leg = ModernLeg()
    for number in (1, 2):
        leg.ask("tools/list", id=number)
        leg.answer(result(number, listed(tool("a"), tool("bad", schema=TWICE))))
    assert leg.answers(1) == [result(1, listed(tool("a")))]
    assert leg.answers(2) == [result(2, listed(tool("a")))]
    assert len([text for text in leg.logged if "'bad' is left out" in text]) == 1


@pytest.mark.parametrize("server_id", [1, "1", 77])
def test_list_without_its_invalid_tools_is_one_line_under_the_clients_id(server_id):
    leg = ModernLeg()
    leg.ask("tools/list", id=1)
    leg.answer(json.dumps(result(server_id, listed(tool("a"), tool("bad", schema=TWICE))), indent=2).encode())
    assert leg.answers(1) == [result(1, listed(tool("a")))]


# --- refusals ---


def test_field_that_differs_is_compared_with_a_new_list_once(transcript):
    leg = ModernLeg()
    leg.knows(tool("a", schema=REGION))
    leg.call("a", {"region": "eu"}, id=1)
    leg.answer(failure(1, -32020, "Mcp-Param-Zone header is missing"), status=400)
    leg.answer(result(leg.last.frame["id"], listed(tool("a", schema=OTHER))))
    assert leg.last.fields["mcp-param-zone"] == "eu"
    leg.answer(failure(1, -32020, "still"), status=400)
    assert leg.error(1)["message"] == "still"
    assert leg.transcript() == transcript


def test_calls_whose_fields_differ_wait_for_a_list_that_is_newer_than_both():
    leg = ModernLeg()
    leg.knows(tool("a", schema=REGION))
    leg.call("a", {"region": "eu"}, id=1)
    leg.call("a", {"region": "us"}, id=2)
    for number in (2, 3):
        leg.answer(failure(number - 1, -32020, "no"), status=400, to=leg.open[number])
    assert leg.whats()[3:] == ["tools/list"]
    leg.answer(result(leg.last.frame["id"], listed(tool("a", schema=REGION))))
    assert leg.whats()[3:] == ["tools/list", "tools/list"]
    leg.answer(result(leg.last.frame["id"], listed(tool("a", schema=OTHER))))
    assert sorted(exchange.fields["mcp-param-zone"] for exchange in leg.open.values()) == ["eu", "us"]


def test_refused_call_that_is_cancelled_while_the_list_is_read_is_not_sent():
    leg = ModernLeg()
    leg.knows(tool("a", schema=REGION))
    leg.call("a", {"region": "eu"}, id=1)
    leg.answer(failure(1, -32020, "no"), status=400)
    own = leg.last
    leg.cancel(1)
    leg.answer(result(own.frame["id"], listed(tool("a", schema=OTHER))), to=own)
    assert leg.whats().count("tools/call") == 1


def test_differing_field_of_anything_else_is_passed_on():
    leg = ModernLeg()
    leg.ask("prompts/get", {"name": "a"}, id=1)
    leg.answer(failure(1, -32020, "no"), status=400)
    assert leg.error(1)["code"] == -32020
    assert leg.whats() == ["prompts/get"]


@pytest.mark.parametrize(("supported", "sent"), [(["2026-07-28"], 2), (["2025-11-25"], 1), ([], 1), ("2026-07-28", 1)])
def test_revision_that_is_refused_is_tried_again_only_where_the_server_names_it(supported, sent):
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    for _ in range(sent):
        leg.answer(failure(1, -32022, "Unsupported", supported=supported, requested="2026-07-28"), status=400)
    assert leg.error(1)["code"] == -32022
    assert leg.whats() == ["prompts/list"] * sent


@pytest.mark.parametrize("code", [-32021, -32601, -32602, -32603])
def test_other_errors_are_passed_on(code):
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    leg.answer(failure(1, code, "m", d=1), status=404 if code == -32601 else 400)
    assert leg.error(1) == {"code": code, "message": "m", "data": {"d": 1}}


def test_404_begins_nothing():
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    leg.answer(status=404)
    assert leg.error(1)["data"] == {"status": 404}


def test_accepted_request_is_not_waited_for():
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    leg.accept()
    assert leg.error(1)["data"] == {"status": 202}


# --- what the revision does not have ---


def test_request_of_the_server_is_dropped_and_counted():
    leg = ModernLeg()
    leg.knows(tool("a"))
    leg.call("a", id=1)
    stream = leg.stream()
    leg.event(stream, request("q", "sampling/createMessage"))
    leg.event(stream, result(1))
    assert leg.losses == ["sampling/createMessage on the stream of a server whose revision has no requests of servers"]
    assert leg.answers(1) == [result(1)]


def test_responses_and_batches_for_the_server_are_dropped_and_counted():
    leg = ModernLeg()
    leg.core(result("q"))
    leg.core([note("notifications/x")])
    leg.core(b"not json")
    leg.core(b'{"jsonrpc":"2.0"}')
    assert leg.sent == []
    assert len(leg.losses) == 4


# --- cancellation and streams ---


def test_cancelled_call_has_its_connection_closed_and_nothing_is_sent():
    leg = ModernLeg()
    leg.knows(tool("a"))
    leg.call("a", id=1)
    stream = leg.stream()
    leg.cancel(1)
    assert leg.aborted == {stream.number}
    assert "notifications/cancelled" not in leg.whats()
    assert leg.answers(1) == []


def test_cancellation_of_what_is_over_does_nothing():
    leg = ModernLeg()
    leg.ask("prompts/list", id=1)
    leg.answer(result(1))
    leg.cancel(1)
    leg.tell("notifications/cancelled", {})
    assert leg.whats() == ["prompts/list"]
    assert not leg.aborted


def test_stream_of_a_call_is_about_it():
    leg = ModernLeg()
    leg.knows(tool("a"))
    leg.call("a", id=1)
    stream = leg.stream()
    leg.event(stream, note("notifications/progress", {"progressToken": 1, "progress": 1}))
    leg.event(stream, result(1))
    assert leg.about[-2:] == [b"1", b"1"]


def test_call_whose_stream_ends_fails_and_is_not_resumed():
    leg = ModernLeg()
    leg.knows(tool("a"))
    leg.call("a", id=1)
    stream = leg.stream()
    leg.event(stream, note("notifications/x"), id="7", retry=100)
    leg.end(stream)
    assert "ended before it had answered tools/call" in leg.error(1)["message"]
    assert not leg.timers


def test_harmless_call_whose_stream_ends_is_asked_once_more():
    leg = ModernLeg()
    leg.knows(tool("a", harmless=True))
    leg.call("a", id=1)
    leg.end(leg.stream())
    leg.end(leg.stream())
    assert leg.whats().count("tools/call") == 2
    assert leg.error(1)["code"] == -32603


def test_listen_stream_that_ends_is_the_cores_to_open_again():
    leg = ModernLeg()
    leg.ask("subscriptions/listen", {"notifications": {}}, id="l")
    stream = leg.stream()
    leg.event(stream, note("notifications/subscriptions/acknowledged", {"_meta": {}, "notifications": {}}))
    leg.end(stream)
    assert leg.error("l")["code"] == -32603
    assert leg.whats() == ["subscriptions/listen"]


def test_id_of_another_form_of_the_same_text_is_the_same():
    leg = ModernLeg()
    leg.core(b'{"jsonrpc":"2.0","id":"a\\u0062","method":"prompts/list","params":{"_meta":' + json.dumps(META).encode() + b"}}")
    effects = leg.remote.head(leg.last.number, 200, {"content-type": "application/json"}, leg.now)
    effects += leg.remote.data(leg.last.number, b'{"jsonrpc":"2.0","id":"ab","result":{}}', leg.now)
    effects += leg.remote.ended(leg.last.number, leg.now)
    assert [json.loads(effect.line)["id"] for effect in effects if isinstance(effect, Heard)] == ["ab"]

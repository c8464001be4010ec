"""Legacy sessions over HTTP (basic/transports of 2025-03-26, 2025-06-18 and 2025-11-25: session management, protocol version header)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import CLIENT, MODERN
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

DONE = {"content": [{"type": "text", "text": "done"}]}
REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25"]
ALL = ["2024-11-05", *REVISIONS]
PARIS = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
SAMPLE: Json = {"messages": [], "maxTokens": 1}


# -- session ids -------------------------------------------------------------------------------------------------------


def test_the_session_id_comes_with_the_answer_to_initialize_and_never_again(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    others = [client.ask("tools/list", id=1), client.note("notifications/x"), client.get(), client.delete()]
    assert client.session is not None
    assert ["mcp-session-id" in answer.headers for answer in others] == [False] * 4


def test_session_ids_are_visible_ascii_and_come_from_the_randomness_handed_in() -> None:
    drawn: list[int] = []

    def random(size: int) -> bytes:
        drawn.append(size)
        return bytes(range(size))

    web = Web()
    web.face.shared.random = random
    client = web.legacy()
    assert client.session == bytes(range(24)).hex()
    assert drawn == [24]
    assert all(0x21 <= ord(letter) <= 0x7E for letter in client.session)


def test_the_answer_to_initialize_is_json_however_long_it_takes(serve: Serve) -> None:
    """Its header can only come with it, so the stream can't begin before."""
    web = serve(auto={"initialize": None}, start_timeout=60)
    client = LegacyClient(web)
    answer = client.initialize()
    web.pass_time(50)
    assert answer.status == 0
    web.reply("initialize", web.handshake())
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert "mcp-session-id" in answer.headers


def test_initialize_for_a_client_of_events_only_carries_the_session_id_too(serve: Serve) -> None:
    web = serve()
    answer = LegacyClient(web, accept="text/event-stream").initialize()
    assert answer.is_stream
    assert "mcp-session-id" in answer.headers


def test_each_client_has_a_process_of_its_own(serve: Serve) -> None:
    web = serve()
    one, two = web.legacy(), web.legacy()
    assert one.session != two.session
    assert web.opened == [1, 2]
    first, second = one.call(id=1), two.call(id=1)
    web.reply("tools/call", {"content": [], "for": "two"}, process=2)
    web.reply("tools/call", {"content": [], "for": "one"}, process=1)
    assert (first.result["for"], second.result["for"]) == ("one", "two")


def test_a_refused_initialize_opens_no_session(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    client = LegacyClient(web)
    answer = client.initialize()
    web.reply_error("initialize", -32602, "Unsupported protocol version")
    web.reply_error("server/discover", -32601, "Method not found")
    assert (answer.status, answer.code) == (200, -32602)
    assert "mcp-session-id" not in answer.headers
    assert web.alive == []
    assert web.face.sessions == {}


def test_an_initialize_that_is_never_answered_ends(serve: Serve) -> None:
    web = serve(auto={"initialize": None}, start_timeout=10)
    answer = LegacyClient(web).initialize()
    web.pass_time(11)
    assert answer.code == -32603
    assert web.alive == []


def test_a_client_that_leaves_during_initialize_leaves_no_process(serve: Serve) -> None:
    """Nobody can ever know the id of that session."""
    web = serve(auto={"initialize": None})
    web.leave(LegacyClient(web).initialize())
    if web.alive:
        web.reply("initialize", web.handshake())
    assert web.alive == []
    assert web.face.sessions == {}


def test_a_process_that_dies_during_initialize_is_told(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    answer = LegacyClient(web).initialize(id="i")
    web.die("could not be started: no such file")
    assert (answer.status, answer.last["id"], answer.code) == (200, "i", -32603)
    assert web.face.sessions == {}


# -- frames are relayed as they are ------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ALL)
def test_frames_go_through_unchanged(serve: Serve, revision: str) -> None:
    web = serve(revision=revision)
    client = web.legacy(revision)
    params = b'{"arguments":{"n":9007199254740993, "x" : "\\u00fc\xc3\xbc"},"name":"deploy"}'
    line = b'{"params":%b, "id":"\\u0031", "method":"tools/call","jsonrpc":"2.0"}' % params
    call = client.post(line)
    assert web.log[-1].startswith("   server 1 <")
    sent = web.to_server[1][-1]
    assert sent == json.loads(line)
    web.say_line(b'{"jsonrpc":"2.0" ,"id":"\\u0031","result":{"content":[], "z":1e400}}'.replace(b"1e400", b"1.50"))
    assert call.body == b'{"jsonrpc":"2.0" ,"id":"\\u0031","result":{"content":[], "z":1.50}}\n'


def test_a_body_on_several_lines_is_one_line_for_the_server(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    client.post(b'{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "method": "com.example/x"\n}\n')
    assert web.to_server[1][-1] == {"jsonrpc": "2.0", "id": 1, "method": "com.example/x"}


def test_ping_and_set_level_answers_stay_empty(serve: Serve) -> None:
    web = serve(auto={"ping": {}, "logging/setLevel": {}})
    client = web.legacy()
    assert client.ask("ping", id=1).result == {}
    assert client.ask("logging/setLevel", {"level": "info"}, id=2).result == {}


def test_an_error_of_the_servers_is_200_and_unchanged(serve: Serve) -> None:
    web = serve()
    call = web.legacy().ask("resources/read", {"uri": "a:b"}, id=1)
    web.reply_error("resources/read", -32002, "not found")
    assert (call.status, call.code) == (200, -32002)


def test_an_unknown_method_of_a_legacy_client_is_200(serve: Serve) -> None:
    web = serve()
    answer = web.legacy().ask("com.example/x", id=1)
    web.reply_error("com.example/x", -32601, "Method not found")
    assert (answer.status, answer.code) == (200, -32601)


# -- the version header ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agreed", ALL)
@pytest.mark.parametrize("said", [None, *ALL, MODERN, "2099-01-01", "nonsense", ""])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_the_version_header_is_absent_or_names_a_revision_with_sessions(serve: Serve, agreed: str, said: str | None, method: str) -> None:
    """Clients in the field name the revision that they asked for, instead of the one that was agreed."""
    web = serve(revision=agreed)
    client = web.legacy(agreed)
    body = b'{"jsonrpc":"2.0","method":"notifications/x"}' if method == "POST" else b""
    answer = web.send(method, body=body, mcp_session_id=client.session, mcp_protocol_version=said)
    good = {"POST": 202, "GET": 200, "DELETE": 204}[method]
    assert answer.status == (good if said in (None, *ALL) else 400)


def test_the_version_is_the_one_that_the_server_chose(serve: Serve) -> None:
    web = serve(revision="2025-03-26")
    client = web.legacy("2025-11-25")
    assert client.revision == "2025-03-26"
    assert client.ask("tools/list", id=1, mcp_protocol_version="2025-03-26").status == 200
    assert client.post([request(2, "tools/list")]).status == 200


# -- the end of a session ----------------------------------------------------------------------------------------------


def test_delete_ends_the_session_its_process_and_its_streams(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    stream = client.get()
    call = client.call(id=1)
    assert client.delete().status == 204
    assert stream.ended
    assert (call.done, call.code) == (True, -32603)
    assert web.closed == [1]


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_an_ended_session_is_404(serve: Serve, method: str) -> None:
    web = serve()
    client = web.legacy()
    client.delete()
    answer = {"POST": lambda: client.call(id=1), "GET": client.get, "DELETE": client.delete}[method]()
    assert answer.status == 404


def test_the_death_of_the_process_ends_the_session(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    client = web.legacy()
    stream = client.get()
    plain = client.call(id=1)
    begun = client.call(id="2", meta={"progressToken": "t"})
    web.tell("notifications/progress", {"progressToken": "t", "progress": 1})
    web.die("exited with status 3; its last words: boom")
    assert [(call.last["id"], call.code) for call in (plain, begun)] == [(1, -32603), ("2", -32603)]
    assert "boom" in plain.error["message"]
    assert (begun.ended, stream.ended) == (True, True)
    assert client.call(id=3).status == 404
    assert web.transcript() == transcript


def test_the_death_of_one_process_is_no_others_business(serve: Serve) -> None:
    web = serve()
    one, two = web.legacy(), web.legacy()
    web.die(process=1)
    assert one.call(id=1).status == 404
    call = two.call(id=1)
    web.reply("tools/call", DONE, process=2)
    assert call.result == DONE


def test_a_session_that_nobody_uses_ends_after_its_time(serve: Serve) -> None:
    web = serve(session_ttl=100)
    client = web.legacy()
    web.pass_time(90)
    assert client.ask("tools/list", id=1).status == 200
    web.pass_time(90)
    assert client.ask("tools/list", id=2).status == 200
    web.pass_time(200)
    assert web.closed == [1]
    assert client.call(id=3).status == 404


def test_a_session_whose_stream_is_open_does_not_end(serve: Serve) -> None:
    web = serve(session_ttl=100)
    client = web.legacy()
    stream = client.get()
    web.pass_time(1000)
    assert client.ask("tools/list", id=1).status == 200
    web.leave(stream)
    web.pass_time(1000)
    assert client.ask("tools/list", id=2).status == 404


def test_a_session_whose_call_runs_does_not_end_and_its_time_begins_with_the_answer(serve: Serve) -> None:
    web = serve(session_ttl=100, request_timeout=None)
    client = web.legacy()
    call = client.call(id=1)
    web.pass_time(1000)
    web.reply("tools/call", DONE)
    assert call.result == DONE
    web.pass_time(60)
    assert client.ask("tools/list", id=2).status == 200


# -- requests ----------------------------------------------------------------------------------------------------------


def test_an_id_that_is_still_in_flight_is_refused(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    first = client.call(id=1)
    second = client.call(id=1)
    third = client.call(id="1")
    assert (second.status, second.code, second.last["id"]) == (400, -32600, 1)
    web.reply("tools/call", {"content": []})
    web.reply("tools/call", DONE, id=1)
    assert first.result == DONE
    assert third.result == {"content": []}


def test_three_posts_at_once_are_answered_each_on_its_own(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    calls = [client.call(id=number, meta={"progressToken": number}) for number in (1, 2, 3)]
    for number in (3, 1, 2):
        web.tell("notifications/progress", {"progressToken": number, "progress": number})
        web.reply("tools/call", {"content": [], "n": number}, id=number)
    assert [call.notes("notifications/progress")[0]["progress"] for call in calls] == [1, 2, 3]
    assert [call.result["n"] for call in calls] == [1, 2, 3]


def test_cancelling_ends_the_stream_and_tells_the_server(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    call = client.call(id=1)
    assert client.cancel(1).status == 202
    assert web.requests("notifications/cancelled")[0]["params"] == {"requestId": 1}
    assert (call.done, call.frames) == (True, [])
    web.reply("tools/call", DONE)
    assert call.frames == []


def test_cancelling_for_a_client_that_takes_json_only_sends_no_events(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    call = client.call(id=1, accept="application/json")
    client.cancel(1)
    assert call.done
    assert not call.is_stream


@pytest.mark.parametrize("target", [2, "1", None, 1.5, [], {"a": 1}])
def test_cancelling_what_is_not_in_flight_goes_to_the_server_and_changes_nothing(serve: Serve, target: Any) -> None:
    web = serve(judged=False)
    client = web.legacy()
    call = client.call(id=1)
    assert client.cancel(target).status == 202
    assert not call.done
    web.reply("tools/call", DONE)
    assert call.result == DONE


def test_a_request_without_an_answer_is_given_up_and_cancelled(serve: Serve) -> None:
    web = serve(request_timeout=30)
    client = web.legacy()
    call = client.call(id=1)
    web.pass_time(20)
    late = client.call(id=2)
    web.pass_time(20)
    assert (call.last["id"], call.code) == (1, -32603)
    assert [note["params"]["requestId"] for note in web.requests("notifications/cancelled")] == [1]
    assert not late.done
    web.reply("tools/call", DONE, id=2)
    assert late.result == DONE
    web.reply("tools/call", DONE, id=1)
    assert len(call.frames) == 1


def test_progress_gives_a_request_more_time_but_not_for_ever(serve: Serve) -> None:
    web = serve(request_timeout=30)
    call = web.legacy().call(id=1, meta={"progressToken": "t"})
    for value in range(1, 8):
        web.pass_time(20)
        web.tell("notifications/progress", {"progressToken": "t", "progress": value})
    assert not call.done
    for value in range(8, 100):
        web.pass_time(20)
        web.tell("notifications/progress", {"progressToken": "t", "progress": value})
        if call.done:
            break
    assert call.code == -32603


def test_a_request_whose_client_is_being_asked_is_not_the_servers_to_answer_yet(serve: Serve) -> None:
    web = serve(request_timeout=30)
    client = web.legacy()
    call = client.call(id=1)
    web.question("q", "roots/list")
    web.pass_time(500)
    assert not call.done
    client.answer("q", {"roots": []})
    web.pass_time(61)
    assert call.code == -32603


def test_a_broken_answer_fails_its_own_request(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    one, two = client.call(id=1), client.call(id=2)
    web.say_line(b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}')
    assert (one.status, one.code, one.last["id"]) == (200, -32603, 1)
    assert not two.done
    web.say_line(b"some text that is no message")
    web.say_line(b"{")
    assert not two.done


def test_a_line_over_the_limit_fails_its_own_request(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    one, two = client.call(id=1), client.call(id=2)
    web.say_too_much(b'{"jsonrpc":"2.0","id":1,"result":{"x":"aaaa', 99_000_000)
    assert one.code == -32603
    assert not two.done


def test_an_answer_that_was_broken_and_comes_again_is_dropped(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    call = client.call(id=1)
    web.say_line(b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}')
    web.reply("tools/call", DONE)
    assert call.code == -32603
    assert len(web.losses) == 1


def test_a_ping_of_the_servers_is_answered_here(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    stream = client.get()
    web.question("p", "ping")
    assert web.answers_to("p")[0]["result"] == {}
    assert stream.frames == []


# -- batches (2025-03-26 alone) ----------------------------------------------------------------------------------------


def request(id: Any, method: str = "tools/call") -> Json:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "deploy"}}


def batching(serve: Serve, **settings: Any) -> tuple[Web, LegacyClient]:
    web = serve(revision="2025-03-26", **settings)
    return web, web.legacy("2025-03-26")


def test_a_batch_is_answered_as_a_batch(serve: Serve, transcript: SnapshotAssertion) -> None:
    web, client = batching(serve)
    batch = client.post([request(1), {"jsonrpc": "2.0", "method": "notifications/x"}, request("b")])
    web.reply("tools/call", {"content": [], "n": 2}, id="b")
    assert not batch.done
    web.reply("tools/call", {"content": [], "n": 1}, id=1)
    assert (batch.status, batch.headers["content-type"]) == (200, "application/json")
    assert {frame["id"]: frame["result"]["n"] for frame in batch.last} == {1: 1, "b": 2}
    assert web.transcript() == transcript


def test_a_batch_with_progress_is_a_stream_and_its_answers_come_together(serve: Serve) -> None:
    web, client = batching(serve)
    item = {**request(1), "params": {"name": "deploy", "_meta": {"progressToken": "t"}}}
    batch = client.post([item, request(2)])
    web.tell("notifications/progress", {"progressToken": "t", "progress": 1})
    web.reply("tools/call", DONE, id=1)
    web.reply("tools/call", DONE, id=2)
    assert batch.is_stream
    assert batch.ended
    assert sorted(frame["id"] for frame in batch.frames[-1]) == [1, 2]


def test_a_batch_of_notifications_and_responses_is_202(serve: Serve) -> None:
    web, client = batching(serve)
    stream = client.get()
    web.question("q", "roots/list")
    assert len(stream.frames) == 1
    answer = client.post([{"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": "q", "result": {"roots": []}}])
    assert (answer.status, answer.body) == (202, b"")
    assert web.answers_to("q")[0]["result"] == {"roots": []}


def test_malformed_entries_of_a_batch_are_answered_beside_the_others(serve: Serve) -> None:
    web, client = batching(serve, judged=False)
    batch = client.post([request(1), 7, {"jsonrpc": "2.0", "id": 5}, []])
    web.reply("tools/call", DONE)
    errors = [frame for frame in batch.last if "error" in frame]
    assert sorted(json.dumps(frame["id"]) for frame in errors) == ["5", "null", "null"]
    assert {frame["error"]["code"] for frame in errors} == {-32600}
    assert [frame["result"] for frame in batch.last if "result" in frame] == [DONE]


def test_a_batch_of_malformed_entries_alone_is_answered(serve: Serve) -> None:
    _, client = batching(serve)
    batch = client.post([7, {"jsonrpc": "2.0", "method": "notifications/x"}])
    assert (batch.status, len(batch.last)) == (200, 1)


@pytest.mark.parametrize(
    "batch",
    [[], [request(1), request(1)], [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}]],
)
def test_a_batch_that_must_not_be_is_400_and_nothing_of_it_is_sent(serve: Serve, batch: list[Json]) -> None:
    web, client = batching(serve, judged=False)
    before = len(web.to_server[1])
    answer = client.post(batch)
    assert (answer.status, answer.code) == (400, -32600)
    assert len(web.to_server[1]) == before


def test_a_batch_with_an_id_that_is_in_flight_is_400(serve: Serve) -> None:
    _, client = batching(serve)
    call = client.call(id=1)
    assert client.post([request(2), request(1)]).status == 400
    assert not call.done
    assert not client.call(id=2).done


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_revisions_have_no_batches(serve: Serve, revision: str) -> None:
    web = serve(revision=revision)
    answer = web.legacy(revision).post([request(1)])
    assert (answer.status, answer.code) == (400, -32600)


def test_a_batch_without_a_session_is_400(serve: Serve) -> None:
    web = serve()
    assert web.post([request(1)]).status == 400


def test_a_cancelled_entry_of_a_batch_is_not_waited_for(serve: Serve) -> None:
    web, client = batching(serve)
    batch = client.post([request(1), request(2), request(3)])
    web.reply("tools/call", DONE, id=2)
    client.cancel(1)
    assert not batch.done
    web.reply("tools/call", DONE, id=3)
    assert sorted(frame["id"] for frame in batch.last) == [2, 3]


def test_the_last_entry_that_is_waited_for_may_be_the_cancelled_one(serve: Serve) -> None:
    web, client = batching(serve)
    batch = client.post([request(1), request(2)])
    web.reply("tools/call", DONE, id=2)
    client.cancel(1)
    assert [frame["id"] for frame in batch.last] == [2]


def test_a_batch_whose_entries_are_all_cancelled_ends(serve: Serve) -> None:
    _, client = batching(serve)
    batch = client.post([request(1), request(2)])
    client.cancel(1)
    client.cancel(2)
    assert batch.done
    assert batch.frames == []


def test_a_batch_may_cancel_an_entry_of_its_own(serve: Serve) -> None:
    web, client = batching(serve)
    batch = client.post([request(1), request(2), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}])
    web.reply("tools/call", DONE, id=2)
    assert [frame["id"] for frame in batch.last] == [2]


def test_a_batch_is_answered_whole_when_the_process_dies(serve: Serve) -> None:
    web, client = batching(serve)
    batch = client.post([request(1), request(2)])
    web.reply("tools/call", DONE, id=1)
    web.die()
    assert sorted((frame["id"], "error" in frame) for frame in batch.last) == [(1, False), (2, True)]


def test_a_batch_of_the_servers_is_taken_apart(serve: Serve) -> None:
    web, client = batching(serve)
    stream = client.get()
    one, two = client.call(id=1), client.call(id=2)
    web.say([{"jsonrpc": "2.0", "id": 2, "result": DONE}, {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}])
    assert two.result == DONE
    assert not one.done
    assert stream.frames == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]


def test_a_batch_within_a_batch_of_the_servers_leaves_no_request_without_an_answer(serve: Serve) -> None:
    web = serve(judged=False, revision="2025-03-26")
    client = web.legacy("2025-03-26")
    one, two = client.call(id=1), client.call(id=2)
    web.say([[{"jsonrpc": "2.0", "id": 1, "result": DONE}, {"jsonrpc": "2.0", "id": 2, "result": DONE}]])
    web.reply("tools/call", DONE, id=1)
    web.reply("tools/call", DONE, id=2)
    assert [(call.done, isinstance(call.last, dict)) for call in (one, two)] == [(True, True)] * 2


# -- no more processes than allowed ------------------------------------------------------------------------------------


def test_one_session_more_than_allowed_is_503(serve: Serve) -> None:
    web = serve(max_sessions=1)
    web.legacy()
    answer = LegacyClient(web).initialize(id="i")
    assert (answer.status, answer.last["id"]) == (503, "i")
    assert int(answer.headers["retry-after"]) > 0
    assert len(web.face.sessions) == 1


def test_a_deleted_session_makes_room_at_once(serve: Serve) -> None:
    web = serve(max_sessions=1)
    web.legacy().delete()
    assert web.legacy().session is not None


def test_modern_and_legacy_clients_share_the_limit(serve: Serve) -> None:
    web = serve(max_sessions=1)
    web.call("deploy")
    assert LegacyClient(web).initialize().status == 503


def test_both_eras_are_served_at_once(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    modern = web.call("deploy", id=1)
    old = client.call(id=1)
    web.reply("tools/call", {"content": [], "for": "modern"}, process=2)
    web.reply("tools/call", {"content": [], "for": "legacy"}, process=1)
    assert (modern.result["for"], old.result["for"]) == ("modern", "legacy")


def test_initialize_with_modern_words_is_cleaned_of_them(serve: Serve) -> None:
    web = serve()
    meta = {**web.meta(), "com.example/kept": 1}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT, "_meta": meta}
    web.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert web.requests("initialize")[0]["params"]["_meta"] == {"com.example/kept": 1}


# -- answers of servers that get ids wrong -----------------------------------------------------------------------------


def test_an_error_without_an_id_belongs_to_the_only_request_in_flight(serve: Serve) -> None:
    web = serve(judged=False)
    call = web.legacy().call(id=7)
    web.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
    assert (call.last["id"], call.code) == (7, -32700)


def test_an_error_without_an_id_belongs_to_nobody_while_several_are_in_flight(serve: Serve) -> None:
    web = serve(judged=False)
    client = web.legacy()
    calls = [client.call(id=1), client.call(id=2)]
    web.say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
    assert [call.done for call in calls] == [False, False]
    assert len(web.losses) == 1


def test_an_answer_to_nobody_reaches_nobody(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    stream = client.get()
    call = client.call(id=1)
    web.say({"jsonrpc": "2.0", "id": 99, "result": DONE})
    assert not call.done
    assert stream.frames == []
    assert len(web.losses) == 1


def test_a_broken_answer_to_a_cancelled_request_fails_no_other(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    client.call(id=1)
    other = client.call(id=2)
    client.cancel(1)
    web.say_line(b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}')
    assert not other.done

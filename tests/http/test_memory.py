"""Legacy sessions that sleep, and wake with what their server knew (translation across HTTP: idle ones hibernate)."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

DONE = {"content": [{"type": "text", "text": "done"}]}
RICH: Json = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
SETS: Json = {"logging/setLevel": {}, "resources/subscribe": {}, "resources/unsubscribe": {}}


def begin(serve: Serve, **settings: object) -> tuple[Web, LegacyClient]:
    web = serve(**{"max_sessions": 1, "hibernate_after": 300, "capabilities": RICH, "auto": SETS, **settings})
    return web, web.legacy()


def put_to_sleep(web: Web) -> None:
    """Time passes, and somebody else needs the only process for a moment."""
    web.pass_time(301)
    other = web.legacy()
    assert other.session is not None
    other.delete()
    assert web.alive == []


def seen(web: Web, process: int | None = None) -> list[str]:
    """What a process was told, in order."""
    return [frame.get("method", "answer") for frame in web.to_server[web.process if process is None else process]]


# -- to sleep ----------------------------------------------------------------------------------------------------------


def test_a_session_is_not_put_to_sleep_while_there_is_room(serve: Serve) -> None:
    web, _ = begin(serve, max_sessions=2)
    web.pass_time(1000)
    web.legacy()
    assert web.closed == []


def test_a_session_that_was_used_lately_is_not_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve)
    web.pass_time(250)
    assert client.ask("tools/list", id=1).status == 200
    web.pass_time(250)
    assert LegacyClient(web).initialize().status == 503
    assert web.closed == []


def test_a_session_with_a_call_in_flight_is_not_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve, request_timeout=None)
    call = client.call(id=1)
    web.pass_time(1000)
    assert LegacyClient(web).initialize().status == 503
    web.reply("tools/call", DONE)
    assert call.result == DONE


def test_a_session_whose_question_is_open_is_not_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve)
    client.get()
    web.question("q", "roots/list")
    web.pass_time(400)  # long enough to be put to sleep, too short for the question to be ended
    assert LegacyClient(web).initialize().status == 503
    client.answer("q", {"roots": []})
    web.pass_time(1000)
    assert LegacyClient(web).initialize().status == 200


def test_a_session_whose_question_was_withdrawn_may_be_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve)
    client.get()
    web.question("q", "roots/list")
    web.tell("notifications/cancelled", {"requestId": "q"})
    web.pass_time(1000)
    assert LegacyClient(web).initialize().status == 200


def test_a_session_whose_client_follows_a_resource_on_an_open_stream_is_not_put_to_sleep(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    stream = client.get()
    web.pass_time(1000)
    assert LegacyClient(web).initialize().status == 503
    web.tell("notifications/resources/updated", {"uri": "a:b"})
    assert len(stream.frames) == 1


def test_the_one_that_was_idle_longest_goes_first(serve: Serve) -> None:
    web, _ = begin(serve, max_sessions=3)
    web.pass_time(10)
    web.legacy()
    web.pass_time(10)
    web.legacy()
    web.pass_time(400)
    web.legacy()
    assert web.closed == [1]
    web.legacy()
    assert web.closed == [1, 2]


# -- to wake -----------------------------------------------------------------------------------------------------------


def test_a_session_that_slept_wakes_with_all_that_its_server_knew(serve: Serve, transcript: SnapshotAssertion) -> None:
    web, client = begin(serve)
    client.ask("logging/setLevel", {"level": "debug"}, id=1)
    client.ask("resources/subscribe", {"uri": "a:1"}, id=2)
    client.ask("resources/subscribe", {"uri": "a:2"}, id=3)
    client.ask("resources/unsubscribe", {"uri": "a:1"}, id=4)
    client.ask("logging/setLevel", {"level": "error"}, id=5)
    put_to_sleep(web)
    call = client.call(id=6)
    assert seen(web) == ["initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe", "tools/call"]
    assert web.requests("logging/setLevel", web.process)[0]["params"] == {"level": "error"}
    assert web.requests("resources/subscribe", web.process)[0]["params"] == {"uri": "a:2"}
    assert web.requests("initialize", web.process)[0]["params"] == web.requests("initialize", 1)[0]["params"]
    web.reply("tools/call", DONE)
    assert call.result == DONE
    assert web.transcript() == transcript


def test_a_session_that_set_nothing_is_only_introduced(serve: Serve) -> None:
    web, client = begin(serve)
    put_to_sleep(web)
    client.call(id=1)
    assert seen(web) == ["initialize", "notifications/initialized", "tools/call"]


def test_the_answers_to_what_is_restored_are_nobodys(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("logging/setLevel", {"level": "debug"}, id=1)
    put_to_sleep(web)
    call = client.call(id=2)
    assert not call.done
    assert not call.begun
    assert web.losses == []


def test_the_ids_of_what_is_restored_are_not_the_clients(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("logging/setLevel", {"level": "debug"}, id=1)
    put_to_sleep(web)
    for number in range(2, 20):
        client.ask("tools/list", id=number)
    ids = [frame["id"] for frame in web.to_server[web.process] if "id" in frame]
    assert len(set(map(repr, ids))) == len(ids)


def test_what_the_client_says_while_the_session_wakes_waits_in_order(serve: Serve) -> None:
    web, client = begin(serve)
    put_to_sleep(web)
    web.auto.pop("initialize")
    one, two = client.call(id=1), client.call(id=2)
    assert client.note("com.example/x").status == 202
    assert seen(web) == ["initialize"]
    web.reply("initialize", web.handshake())
    assert seen(web) == ["initialize", "notifications/initialized", "tools/call", "tools/call", "com.example/x"]
    web.reply("tools/call", {"content": [], "n": 2}, id=2)
    web.reply("tools/call", {"content": [], "n": 1}, id=1)
    assert (one.result["n"], two.result["n"]) == (1, 2)


def test_a_request_that_was_given_up_before_it_was_sent_is_not_sent(serve: Serve) -> None:
    web, client = begin(serve, request_timeout=10, start_timeout=60)
    put_to_sleep(web)
    web.auto.pop("initialize")
    call = client.call(id=1)
    web.pass_time(11)
    assert call.code == -32603
    web.reply("initialize", web.handshake())
    assert seen(web) == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize(
    ("method", "params", "told"),
    [
        ("resources/unsubscribe", {"uri": "a:b"}, ["resources/subscribe", "resources/unsubscribe"]),
        ("resources/subscribe", {"uri": "a:2"}, ["resources/subscribe", "resources/subscribe"]),
    ],
)
def test_a_session_that_wakes_to_change_something_is_first_what_it_was(serve: Serve, method: str, params: Json, told: list[str]) -> None:
    web, client = begin(serve)
    client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    put_to_sleep(web)
    assert client.ask(method, params, id=2).status == 200
    assert seen(web) == ["initialize", "notifications/initialized", *told]


def test_a_session_that_wakes_with_its_first_subscription_makes_it_once(serve: Serve) -> None:
    web, client = begin(serve)
    put_to_sleep(web)
    client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    client.ask("logging/setLevel", {"level": "info"}, id=2)
    assert seen(web) == ["initialize", "notifications/initialized", "resources/subscribe", "logging/setLevel"]


def test_an_unsubscription_is_remembered_however_it_is_written(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("resources/subscribe", {"uri": "a:b", "_meta": {"progressToken": 1}}, id=1)
    client.post(b'{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{ "uri" : "a:\\u0062" }}')
    put_to_sleep(web)
    client.call(id=3)
    assert seen(web) == ["initialize", "notifications/initialized", "tools/call"]


def test_a_session_that_slept_before_it_was_initialized_is_initialized_once(serve: Serve) -> None:
    web = serve(max_sessions=1, hibernate_after=300)
    client = LegacyClient(web)
    client.initialize()
    put_to_sleep(web)
    client.note("notifications/initialized")
    assert seen(web) == ["initialize", "notifications/initialized"]


def test_a_question_of_the_new_process_is_carried(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    put_to_sleep(web)
    call = client.call(id=1)
    web.question("q", "roots/list")
    assert [frame["method"] for frame in call.questions()] == ["roots/list"]
    client.answer("q", {"roots": []})
    assert len(web.answers_to("q")) == 1
    assert not stream.done


def test_a_client_that_listens_is_told_to_look_again(serve: Serve) -> None:
    """Nobody heard of changes while there was no process."""
    web, client = begin(serve)
    stream = client.get()
    put_to_sleep(web)
    client.ask("tools/list", id=1)
    assert [frame["method"] for frame in stream.frames] == ["notifications/tools/list_changed"]


def test_streams_outlast_the_sleep(serve: Serve) -> None:
    web, client = begin(serve)
    call = client.call(id=1, meta={"progressToken": 1})
    web.tell("notifications/progress", {"progressToken": 1, "progress": 1})
    web.leave(call)
    web.reply("tools/call", DONE)
    put_to_sleep(web)
    assert client.get(call.events[-1].id).result == DONE


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_get_and_delete_wake_nobody(serve: Serve, method: str) -> None:
    web, client = begin(serve)
    put_to_sleep(web)
    started = list(web.opened)
    assert (client.get if method == "GET" else client.delete)().status in (200, 204)
    assert web.opened == started


def test_a_sleeping_session_still_has_its_version_and_its_owner(serve: Serve) -> None:
    web = serve(max_sessions=1, hibernate_after=300)
    client = web.legacy(principal="A")
    put_to_sleep(web)
    thief = LegacyClient(web, principal="B")
    thief.session = client.session
    assert thief.call(id=1).status == 404
    assert client.ask("tools/list", id=1, mcp_protocol_version="2099-01-01").status == 400
    assert web.alive == []


def test_a_sleeping_session_that_finds_no_room_is_503_and_may_try_again(serve: Serve) -> None:
    web, client = begin(serve)
    web.pass_time(301)
    other = web.legacy()
    answer = client.call(id="late")
    assert (answer.status, answer.last["id"]) == (503, "late")
    assert "retry-after" in answer.headers
    other.delete()
    call = client.call(id="late")
    web.reply("tools/call", DONE)
    assert call.result == DONE


def test_a_session_that_sleeps_too_long_ends(serve: Serve) -> None:
    web, client = begin(serve, session_ttl=600)
    put_to_sleep(web)
    web.pass_time(1000)
    assert client.call(id=1).status == 404


@pytest.mark.parametrize("end", ["refuse", "die", "silent", "break"])
def test_a_session_whose_new_process_fails_ends_and_whoever_waits_is_told(serve: Serve, end: str) -> None:
    web, client = begin(serve, start_timeout=10)
    stream = client.get()
    put_to_sleep(web)
    web.auto.pop("initialize")
    call = client.call(id=1)
    if end == "refuse":
        web.reply_error("initialize", -32603, "no licence")
    elif end == "die":
        web.die()
    elif end == "break":
        own = web.pending("initialize")
        web.say_line(b'{"jsonrpc":"2.0","id":"%b","result":{"x":NaN}}' % own.encode())
    else:
        web.pass_time(11)
    assert call.code == -32603
    assert stream.ended
    assert client.call(id=2).status == 404
    assert web.alive == []


def test_a_session_may_sleep_and_wake_many_times(serve: Serve) -> None:
    web, client = begin(serve)
    client.ask("resources/subscribe", {"uri": "a:b"}, id="s")
    for number in range(5):
        put_to_sleep(web)
        call = client.call(id=number + 1)
        assert seen(web) == ["initialize", "notifications/initialized", "resources/subscribe", "tools/call"]
        web.reply("tools/call", DONE)
        assert call.result == DONE


def test_modern_processes_and_legacy_sessions_give_way_to_each_other(serve: Serve) -> None:
    web, client = begin(serve)
    web.pass_time(301)
    assert web.ask("tools/list").status == 200
    assert client.call(id=1).status == 503
    web.pass_time(301)
    call = client.call(id=1)
    web.reply("tools/call", DONE)
    assert call.result == DONE
    assert len(web.alive) == 1

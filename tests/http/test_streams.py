"""Streams of legacy sessions: priming, ids, resumption (2025-11-25, basic/transports#resumability-and-redelivery)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.http.answer import Answer
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Web

DONE = {"content": [{"type": "text", "text": "done"}]}
SESSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"]


def begin(serve: Serve, revision: str = "2025-11-25", **settings: Any) -> tuple[Web, LegacyClient]:
    web = serve(revision=revision, **settings)
    return web, web.legacy(revision)


def running(client: LegacyClient, id: Any = 1) -> Answer:  # noqa: A002
    """A call that reports progress under its own id."""
    return client.call(id=id, meta={"progressToken": id})


def step(web: Web, value: float, token: Any = 1) -> None:
    web.tell("notifications/progress", {"progressToken": token, "progress": value})


def seen(answer: Answer) -> list[Any]:
    """The progress and results of a stream."""
    return [frame["params"]["progress"] if "method" in frame else "result" for frame in answer.frames]


# -- priming -----------------------------------------------------------------------------------------------------------


def test_streams_for_2025_11_25_begin_with_an_empty_event_that_has_an_id_and_a_time(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = running(client)
    step(web, 1)
    for answer in (stream, call):
        first = answer.events[0]
        assert (first.data, first.retry, first.name) == ("", "1000", None)
        assert first.id


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_streams_for_earlier_revisions_begin_with_their_first_message(serve: Serve, revision: str) -> None:
    web, client = begin(serve, revision)
    stream = client.get()
    call = running(client)
    step(web, 1)
    web.reply("tools/call", DONE)
    assert stream.events == []
    assert [(event.retry, bool(event.data)) for event in call.events] == [(None, True)] * 2


def test_a_client_that_negotiated_an_earlier_revision_gets_no_priming(serve: Serve) -> None:
    web = serve(revision="2025-06-18")
    client = web.legacy("2025-11-25")
    assert client.get().events == []


def test_an_answer_that_comes_first_is_json_and_needs_no_stream(serve: Serve) -> None:
    web, client = begin(serve)
    call = client.call(id=1)
    web.reply("tools/call", DONE)
    assert (call.status, call.headers["content-type"], call.result) == (200, "application/json", DONE)


@pytest.mark.parametrize("revision", SESSIONS)
def test_an_answer_that_takes_long_begins_as_a_stream(serve: Serve, revision: str) -> None:
    web, client = begin(serve, revision)
    call = client.call(id=1)
    web.pass_time(5)
    assert call.is_stream
    web.reply("tools/call", DONE)
    assert call.ended
    assert call.result == DONE


def test_a_quiet_stream_gets_comments(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    web.pass_time(60)
    assert stream.comments >= 3


# -- ids ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", SESSIONS)
def test_event_ids_are_unique_in_the_session(serve: Serve, revision: str) -> None:
    web, client = begin(serve, revision)
    stream = client.get()
    calls = [running(client, number) for number in (1, 2, 3)]
    for value in (1, 2):
        for number in (1, 2, 3):
            step(web, value, number)
        web.tell("notifications/tools/list_changed")
    for number in (1, 2, 3):
        web.reply("tools/call", DONE, id=number)
    ids = [event.id for answer in (stream, *calls) for event in answer.events]
    assert None not in ids
    assert len(set(ids)) == len(ids)


# -- resumption --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", SESSIONS)
def test_a_lost_call_goes_on_where_it_was_lost(serve: Serve, revision: str, transcript: SnapshotAssertion) -> None:
    web, client = begin(serve, revision)
    call = running(client)
    step(web, 1)
    step(web, 2)
    web.leave(call)
    step(web, 3)
    resumed = client.get(call.events[-2].id)
    assert seen(resumed) == [2, 3]
    step(web, 4)
    web.reply("tools/call", DONE)
    assert seen(resumed) == [2, 3, 4, "result"]
    assert resumed.ended
    assert web.requests("notifications/cancelled") == []
    assert web.transcript() == transcript


def test_an_answer_that_came_while_the_client_was_away_is_there_when_it_comes_back(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 1)
    web.leave(call)
    web.reply("tools/call", DONE)
    resumed = client.get(call.events[-1].id)
    assert seen(resumed) == ["result"]
    assert resumed.ended
    again = client.get(call.events[-1].id)
    assert seen(again) == ["result"]


def test_from_the_priming_event_everything_is_replayed(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    web.pass_time(5)
    web.leave(call)
    step(web, 1)
    web.reply("tools/call", DONE)
    assert seen(client.get(call.events[0].id)) == [1, "result"]


def test_after_the_last_event_of_an_ended_stream_there_is_nothing_to_come_back_for(serve: Serve) -> None:
    """An empty stream would look like another lost connection, and clients would come back for ever."""
    web, client = begin(serve)
    call = running(client)
    step(web, 1)
    web.reply("tools/call", DONE)
    again = client.get(call.events[-1].id)
    assert again.status == 405
    assert not again.begun


def test_a_replay_has_the_same_ids(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    for value in (1, 2, 3):
        step(web, value)
    resumed = client.get(call.events[0].id)
    assert [event for event in resumed.events if event.data] == [event for event in call.events if event.data]


def test_a_replay_holds_nothing_of_another_stream(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    one, two = running(client, 1), running(client, 2)
    step(web, 1, 1)
    step(web, 10, 2)
    web.tell("notifications/tools/list_changed")
    web.leave(one)
    step(web, 2, 1)
    step(web, 20, 2)
    assert seen(client.get(one.events[-1].id)) == [2]
    assert seen(two) == [10, 20]
    assert len(stream.frames) == 1


def test_the_sessions_stream_goes_on_where_it_was_lost(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    web.tell("notifications/tools/list_changed")
    web.leave(stream)
    web.tell("notifications/message", {"level": "info", "data": 1})
    resumed = client.get(stream.events[-1].id)
    web.tell("notifications/message", {"level": "info", "data": 2})
    assert [frame["params"]["data"] for frame in resumed.frames] == [1, 2]


def test_a_client_that_resumes_before_its_old_connection_is_known_to_be_dead_takes_it_over(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 1)
    resumed = client.get(call.events[-1].id)
    assert call.ended
    step(web, 2)
    web.reply("tools/call", DONE)
    assert seen(call) == [1]
    assert seen(resumed) == [2, "result"]


def test_an_old_connection_that_closes_late_takes_nothing_away(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 1)
    resumed = client.get(call.events[-1].id)
    web.leave(call)
    web.reply("tools/call", DONE)
    assert seen(resumed) == ["result"]


def test_a_client_may_come_back_any_number_of_times(serve: Serve) -> None:
    web, client = begin(serve)
    answer = running(client)
    step(web, 0.5)
    for value in range(1, 20):
        web.leave(answer)
        step(web, value)
        answer = client.get(answer.events[-1].id)
        assert seen(answer) == [value]
    web.reply("tools/call", DONE)
    assert answer.ended


def test_what_is_kept_is_bounded_and_what_is_gone_is_counted(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 0.5)
    web.leave(call)
    for value in range(1, 1001):
        step(web, value)
    assert web.losses == []
    resumed = client.get(call.events[-1].id)
    assert 100 <= len(resumed.frames) < 1000
    assert seen(resumed)[-1] == 1000
    assert len(web.losses) == 1


def test_what_is_kept_is_bounded_by_its_size_too(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 0.5)
    web.leave(call)
    for value in range(1, 21):
        params = {"progressToken": 1, "progress": value, "message": "m" * 1_000_000}
        web.tell("notifications/progress", params)
    resumed = client.get(call.events[-1].id)
    assert 1 <= len(resumed.frames) <= 6
    assert seen(resumed)[-1] == 20


def test_one_message_larger_than_all_that_is_kept_is_kept(serve: Serve) -> None:
    web, client = begin(serve)
    call = running(client)
    step(web, 1)
    web.leave(call)
    web.reply("tools/call", {"content": [{"type": "text", "text": "x" * 9_000_000}]})
    assert seen(client.get(call.events[-1].id)) == ["result"]


def test_a_call_that_was_lost_before_any_event_cannot_be_resumed_and_its_answer_is_counted_as_lost(serve: Serve) -> None:
    web, client = begin(serve)
    call = client.call(id=1)
    web.leave(call)
    assert web.requests("notifications/cancelled") == []
    web.reply("tools/call", DONE)
    assert len(web.losses) == 1
    assert client.call(id=2).status == 0


@pytest.mark.parametrize("text", ["", "x", "999-1", "-1-1", "1", "1-", "-", "1-1-1", "9" * 100 + "-1", "²-1"])
def test_an_event_id_that_was_never_given_is_a_new_stream_or_nothing_new(serve: Serve, text: str) -> None:
    web, client = begin(serve)
    before = client.get()
    answer = client.get(None, fields=[("last-event-id", text)])
    assert answer.status == 200
    assert answer.frames == []
    web.tell("notifications/tools/list_changed")
    assert len(before.frames) + len(answer.frames) == 1


def test_event_ids_of_another_session_lead_nowhere(serve: Serve) -> None:
    web = serve()
    one, two = web.legacy(), web.legacy()
    call = running(one)
    web.tell("notifications/progress", {"progressToken": 1, "progress": 1}, process=1)
    web.leave(call)
    web.reply("tools/call", DONE, process=1)
    stolen = two.get(call.events[0].id)
    assert stolen.frames == []
    assert seen(one.get(call.events[0].id)) == [1, "result"]


def test_many_calls_later_an_old_stream_is_forgotten(serve: Serve) -> None:
    web, client = begin(serve)
    first = running(client, "first")
    step(web, 1, "first")
    web.reply("tools/call", DONE, id="first")
    for number in range(1, 100):
        call = running(client, number)
        step(web, 1, number)
        web.reply("tools/call", DONE, id=number)
        assert call.ended
    assert client.get(first.events[0].id).status == 405


# -- the session's own streams -----------------------------------------------------------------------------------------


def test_of_several_streams_of_the_session_the_newest_gets_each_message_and_no_other(serve: Serve) -> None:
    web, client = begin(serve)
    streams = [client.get() for _ in range(3)]
    web.tell("notifications/tools/list_changed")
    web.leave(streams[2])
    web.tell("notifications/tools/list_changed")
    web.leave(streams[0])
    web.tell("notifications/tools/list_changed")
    assert [len(stream.frames) for stream in streams] == [0, 2, 1]


def test_a_client_that_connects_again_and_again_keeps_a_bounded_number_of_streams(serve: Serve) -> None:
    web, client = begin(serve)
    streams = [client.get() for _ in range(50)]
    assert sum(not stream.done for stream in streams) < 20
    web.tell("notifications/tools/list_changed")
    assert len(streams[-1].frames) == 1


def test_a_client_that_connects_and_leaves_again_and_again_leaves_nothing_behind(serve: Serve) -> None:
    web, client = begin(serve)
    for _ in range(300):
        web.leave(client.get())
    (session,) = web.face.sessions.values()
    assert len(session._delivery._streams) < 100


def test_what_waited_for_a_stream_comes_once_although_there_are_several(serve: Serve) -> None:
    web, client = begin(serve)
    web.question("q", "roots/list")
    streams = [client.get(), client.get()]
    assert sum(len(stream.frames) for stream in streams) == 1


def test_a_get_for_a_client_that_takes_no_events_is_406(serve: Serve) -> None:
    _, client = begin(serve)
    assert client.get(accept="application/json").status == 406


def test_calls_and_the_sessions_stream_live_side_by_side(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = running(client)
    step(web, 1)
    web.leave(stream)
    step(web, 2)
    web.reply("tools/call", DONE)
    assert seen(call) == [1, 2, "result"]

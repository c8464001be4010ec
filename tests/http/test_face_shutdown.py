"""The end of the face, in every phase of a request: in order, in time, with an answer for everybody (subscriptions#graceful-closure)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META
from tests.http.answer import Answer
from tests.http.clients import LegacyClient, OldClient
from tests.http.conftest import Serve
from tests.http.web import Web

DONE = {"content": [{"type": "text", "text": "done"}]}
PROD = {"env": {"action": "accept", "content": {"env": "prod"}}}

Begin = Callable[[Web], list[Answer]]


def modern_starting(web: Web) -> list[Answer]:
    web.auto.pop("initialize")
    return [web.call("deploy"), web.ask("prompts/list"), web.listen()]


def modern_listing_tools(web: Web) -> list[Answer]:
    web.auto.pop("tools/list")
    return [web.call("deploy"), web.call("other")]


def modern_running(web: Web) -> list[Answer]:
    return [web.call("deploy"), web.call("deploy")]


def modern_running_for_json_only(web: Web) -> list[Answer]:
    return [web.call("deploy", accept="application/json")]


def modern_streaming(web: Web) -> list[Answer]:
    call = web.call("deploy")
    web.pass_time(6)
    assert call.begun
    return [call]


def modern_asking(web: Web) -> list[Answer]:
    call = web.call("deploy")
    web.form("q")
    return [call]


def modern_resumed(web: Web) -> list[Answer]:
    call = web.call("deploy")
    web.form("q")
    web.window()
    return [web.retry(call, PROD)]


def modern_listening(web: Web) -> list[Answer]:
    return [web.listen(id="a"), web.listen(id="b")]


def legacy_opening(web: Web) -> list[Answer]:
    web.auto.pop("initialize")
    return [LegacyClient(web).initialize()]


def legacy_idle(web: Web) -> list[Answer]:
    return [web.legacy().get()]


def legacy_running(web: Web) -> list[Answer]:
    client = web.legacy()
    return [client.get(), client.call(id=1), client.call(id=2, accept="application/json")]


def legacy_asking(web: Web) -> list[Answer]:
    client = web.legacy()
    call = client.call(id=1)
    web.question("q", "roots/list")
    return [call]


def legacy_lost(web: Web) -> list[Answer]:
    client = web.legacy()
    call = client.call(id=1)
    web.pass_time(6)
    web.leave(call)
    return [client.get(call.events[0].id)]


def old_running(web: Web) -> list[Answer]:
    client = OldClient(web)
    client.initialize("2025-11-25")
    client.note("notifications/initialized")
    client.ask("tools/call", {"name": "deploy"}, id=1)
    return [client.stream]


def old_waiting(web: Web) -> list[Answer]:
    return [OldClient(web).stream]


PHASES: list[Begin] = [
    modern_starting,
    modern_listing_tools,
    modern_running,
    modern_running_for_json_only,
    modern_streaming,
    modern_asking,
    modern_resumed,
    modern_listening,
    legacy_opening,
    legacy_idle,
    legacy_running,
    legacy_asking,
    legacy_lost,
    old_running,
    old_waiting,
]


@pytest.fixture(params=PHASES, ids=lambda begin: begin.__name__)
def phase(request: pytest.FixtureRequest) -> Begin:
    return request.param  # type: ignore[no-any-return]


# -- every phase -------------------------------------------------------------------------------------------------------


def test_the_face_finishes_within_the_drain_time_and_everybody_is_answered(serve: Serve, phase: Begin) -> None:
    web = serve(sse=True, drain_timeout=5)
    answers = phase(web)
    web.shut_down()
    web.pass_time(11)
    assert web.finished in (0, 1)
    assert all(answer.done for answer in answers)


def test_a_request_that_is_given_up_is_told_so(serve: Serve, phase: Begin) -> None:
    web = serve(sse=True)
    answers = phase(web)
    requests = [answer for answer in answers if answer.request.method == "POST"]
    web.shut_down()
    web.pass_time(11)
    for answer in requests:
        assert {"result", "error"} & set(answer.last), answer.frames


def test_the_face_finishes_even_if_the_servers_die_meanwhile(serve: Serve, phase: Begin) -> None:
    web = serve(sse=True)
    answers = phase(web)
    web.shut_down()
    for number in web.alive:
        if web.finished is None:
            web.die(process=number)
    web.pass_time(0.1)
    assert web.finished in (0, 1)
    assert all(answer.done for answer in answers)


def test_the_face_finishes_even_if_the_clients_leave_meanwhile(serve: Serve, phase: Begin) -> None:
    web = serve(sse=True)
    answers = phase(web)
    web.shut_down()
    for answer in answers:
        if not answer.done:
            web.leave(answer)
    web.pass_time(11)
    assert web.finished in (0, 1)


def test_the_death_of_every_server_is_told_to_whoever_waits(serve: Serve, phase: Begin) -> None:
    """Without a shutdown. Streams of changes that have begun go on with the next process, and one without a process has nothing to lose."""
    web = serve(sse=True)
    answers = phase(web)
    lasting = [answer for answer in answers if answer.begun and (b"subscriptions/listen" in answer.sent or not web.opened)]
    for number in web.alive:
        web.die("exited with status 3; its last words: boom", process=number)
    for answer in answers:
        if answer in lasting:
            assert not answer.done
        elif answer.request.method == "POST":
            assert "boom" in answer.error["message"]
        else:
            assert answer.ended


def test_the_face_may_be_told_to_close_twice(serve: Serve, phase: Begin) -> None:
    web = serve(sse=True)
    phase(web)
    web.shut_down()
    web.pass_time(1)
    if web.finished is None:
        web.shut_down()
    web.pass_time(20)
    assert web.finished in (0, 1)


def test_a_server_that_keeps_talking_may_finish_its_call(serve: Serve) -> None:
    web = serve(drain_timeout=5)
    call = web.call("deploy", meta=web.meta(progressToken="p"))
    token = web.requests("tools/call")[0]["params"]["_meta"]["progressToken"]
    web.shut_down()
    for value in range(1, 9):
        web.pass_time(3)
        web.tell("notifications/progress", {"progressToken": token, "progress": value})
    web.reply("tools/call", DONE)
    assert call.result["content"] == DONE["content"]
    assert web.finished == 0


def test_a_server_that_never_stops_talking_does_not_keep_the_end_waiting_for_ever(serve: Serve) -> None:
    web = serve(drain_timeout=5)
    call = web.call("deploy")
    web.shut_down()
    for _ in range(11):
        web.pass_time(3)
        web.say_line(b"still here")
    assert call.code == -32603
    assert web.finished == 0


# -- in order ----------------------------------------------------------------------------------------------------------


def test_nothing_in_flight_means_the_end_at_once(serve: Serve) -> None:
    web = serve()
    web.shut_down()
    assert web.finished == 0


def test_idle_processes_and_sessions_hold_nothing_up(serve: Serve) -> None:
    web = serve()
    web.ask("tools/list")
    client = web.legacy()
    stream = client.get()
    web.shut_down()
    assert stream.ended
    assert web.finished == 0


def test_what_is_in_flight_may_finish(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = web.call("deploy", id=1)
    client = web.legacy()
    old = client.call(id=1)
    listen = web.listen(id="s")
    web.shut_down()
    assert listen.result["_meta"][f"{META}subscriptionId"] == "s"
    web.reply("tools/call", DONE, process=1)
    assert call.result["content"] == DONE["content"]
    assert web.finished is None
    web.reply("tools/call", DONE, process=2)
    assert old.result == DONE
    assert web.finished == 0
    assert web.transcript() == transcript


def test_a_listen_is_acknowledged_before_its_result_even_at_the_end(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    listen = web.listen(id=1)
    web.shut_down()
    assert [frame.get("method", "result") for frame in listen.frames] == ["notifications/subscriptions/acknowledged", "result"]


def test_a_listen_over_http_is_not_cancelled_by_a_notification(serve: Serve) -> None:
    """Its stream ends; stdio alone has one channel on which it has to be said."""
    web = serve()
    listen = web.listen()
    web.shut_down()
    assert listen.notes("notifications/cancelled") == []


def test_a_parked_call_is_released_and_its_server_told(serve: Serve) -> None:
    web = serve()
    web.call("deploy")
    web.form("q")
    web.window()
    web.shut_down()
    assert web.answers_to("q")[0]["result"] == {"action": "cancel"}
    assert web.finished == 0


def test_whoever_comes_too_late_is_503_and_starts_nothing(serve: Serve) -> None:
    web = serve(sse=True)
    client = web.legacy()
    client.call(id=1)
    web.shut_down()
    started = list(web.opened)
    late: list[Any] = [
        web.call("deploy", id="late"),
        web.ask("tools/list"),
        web.listen(),
        LegacyClient(web).initialize(),
        client.call(id=2),
        client.get(),
        web.send("GET", "/sse"),
    ]
    assert [answer.status for answer in late] == [503] * len(late)
    assert late[0].last["id"] == "late"
    assert all("retry-after" in answer.headers for answer in late)
    assert web.opened == started


def test_an_answer_that_a_call_in_flight_waits_for_is_still_taken(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    call = client.call(id=1)
    web.question("q", "roots/list")
    web.shut_down()
    assert client.answer("q", {"roots": []}).status == 202
    assert len(web.answers_to("q")) == 1
    web.reply("tools/call", DONE)
    assert call.result == DONE
    assert web.finished == 0


def test_a_cancellation_is_still_taken(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    call = client.call(id=1)
    web.shut_down()
    assert client.cancel(1).status == 202
    assert call.done
    assert web.finished == 0


def test_a_retry_at_the_end_is_not_half_served(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    other = web.call("deploy")
    web.form("q")
    web.window()
    asked = call if call.done else other
    web.shut_down()
    assert web.retry(asked, PROD).status == 503


def test_the_status_says_whether_any_server_ever_worked(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    web.ask("tools/list")
    web.die("could not be started: no such file")
    web.shut_down()
    assert web.finished == 1

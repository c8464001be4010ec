"""On which stream a legacy server's words go (basic/transports#sending-messages-to-the-server, #multiple-connections)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.http.answer import Answer
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Web

DONE = {"content": [{"type": "text", "text": "done"}]}
ROOTS = {"roots": [{"uri": "file:///p"}]}
LOG = {"level": "info", "data": 1}
UPDATED = {"uri": "a:b"}


def begin(serve: Serve, revision: str = "2025-11-25", **settings: Any) -> tuple[Web, LegacyClient]:
    web = serve(revision=revision, **settings)
    return web, web.legacy(revision)


def methods(answer: Answer) -> list[str]:
    """What came on a stream."""
    return [frame.get("method", "answer") for frame in answer.frames]


# -- with one call -----------------------------------------------------------------------------------------------------


def test_a_question_goes_to_the_calls_own_stream(serve: Serve, transcript: SnapshotAssertion) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = client.call(id=1)
    web.question("q", "roots/list")
    assert call.questions() == [{"jsonrpc": "2.0", "id": "q", "method": "roots/list"}]
    assert client.answer("q", ROOTS).status == 202
    assert web.answers_to("q")[0]["result"] == ROOTS
    web.reply("tools/call", DONE)
    assert methods(call) == ["roots/list", "answer"]
    assert methods(stream) == []
    assert web.transcript() == transcript


def test_logs_go_to_the_calls_stream(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = client.call(id=1)
    web.tell("notifications/message", LOG)
    assert (methods(call), methods(stream)) == (["notifications/message"], [])


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("notifications/tools/list_changed", None),
        ("notifications/prompts/list_changed", None),
        ("notifications/resources/list_changed", None),
        ("notifications/resources/updated", UPDATED),
    ],
)
def test_news_goes_to_the_sessions_stream_even_while_a_call_runs(serve: Serve, method: str, params: Any) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = client.call(id=1)
    web.tell(method, params)
    assert (methods(call), methods(stream)) == ([], [method])


def test_everything_goes_to_the_sessions_stream_while_no_call_runs(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    web.tell("notifications/message", LOG)
    web.question("q", "roots/list")
    web.tell("com.example/x")
    assert methods(stream) == ["notifications/message", "roots/list", "com.example/x"]


def test_an_answer_never_goes_to_the_sessions_stream(serve: Serve) -> None:
    web, client = begin(serve)
    stream = client.get()
    call = client.call(id=1)
    web.leave(call)
    web.reply("tools/call", DONE)
    assert methods(stream) == []


# -- with several ------------------------------------------------------------------------------------------------------


def test_progress_goes_to_the_call_that_owns_the_token(serve: Serve) -> None:
    web, client = begin(serve)
    calls = [client.call(id=number, meta={"progressToken": token}) for number, token in ((1, "a"), (2, 1), (3, "1"))]
    for token in ("1", 1, "a"):
        web.tell("notifications/progress", {"progressToken": token, "progress": 1})
    assert [call.frames[0]["params"]["progressToken"] for call in calls] == ["a", 1, "1"]


def test_a_question_goes_to_the_oldest_call_that_may_ask(serve: Serve) -> None:
    web, client = begin(serve)
    others = [client.ask("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}, id=1)]
    first, second = client.call(id=2), client.call(id=3)
    web.question("q", "roots/list")
    assert [methods(answer) for answer in (*others, first, second)] == [[], ["roots/list"], []]


def test_no_message_goes_to_two_streams(serve: Serve) -> None:
    web, client = begin(serve)
    answers = [client.get(), *(client.call(id=number) for number in range(1, 6))]
    web.tell("notifications/message", LOG)
    web.question("q", "roots/list")
    web.tell("notifications/tools/list_changed")
    web.tell("notifications/cancelled", {"requestId": "q"})
    assert sorted(method for answer in answers for method in methods(answer)) == [
        "notifications/cancelled",
        "notifications/message",
        "notifications/tools/list_changed",
        "roots/list",
    ]


def test_a_call_of_a_client_that_takes_no_events_is_passed_over(serve: Serve) -> None:
    web, client = begin(serve)
    deaf = client.call(id=1, accept="application/json")
    hearing = client.call(id=2)
    web.question("q", "roots/list")
    web.reply("tools/call", DONE, id=1)
    assert methods(hearing) == ["roots/list"]
    assert methods(deaf) == ["answer"]


def test_a_call_whose_client_left_before_its_stream_began_is_passed_over(serve: Serve) -> None:
    web, client = begin(serve)
    web.leave(client.call(id=1))
    call = client.call(id=2)
    web.question("q", "roots/list")
    assert methods(call) == ["roots/list"]


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18"])
def test_a_call_whose_client_left_before_any_event_is_passed_over(serve: Serve, revision: str) -> None:
    """Without an event there is no id to come back with."""
    web, client = begin(serve, revision)
    lost = client.call(id=1)
    web.pass_time(6)
    assert lost.begun
    web.leave(lost)
    stream = client.get()
    web.question("q", "roots/list")
    assert methods(stream) == ["roots/list"]


def test_a_question_on_a_lost_stream_is_there_when_its_client_comes_back(serve: Serve) -> None:
    web, client = begin(serve)
    call = client.call(id=1)
    web.pass_time(6)
    web.leave(call)
    web.question("q", "roots/list")
    resumed = client.get(call.events[0].id)
    assert methods(resumed) == ["roots/list"]
    client.answer("q", ROOTS)
    web.reply("tools/call", DONE)
    assert methods(resumed) == ["roots/list", "answer"]


# -- with nobody there -------------------------------------------------------------------------------------------------


def test_what_comes_while_nobody_listens_waits_for_the_sessions_stream(serve: Serve) -> None:
    web, client = begin(serve)
    web.question("q", "roots/list")
    web.tell("notifications/tools/list_changed")
    stream = client.get()
    assert methods(stream) == ["roots/list", "notifications/tools/list_changed"]
    client.answer("q", ROOTS)
    assert len(web.answers_to("q")) == 1


def test_a_question_that_waits_goes_out_on_the_next_call(serve: Serve) -> None:
    web, client = begin(serve)
    web.question("q", "roots/list")
    web.tell("notifications/tools/list_changed")
    call = client.call(id=1)
    assert methods(call) == ["roots/list"]
    client.answer("q", ROOTS)
    web.reply("tools/call", DONE)
    assert call.result == DONE
    assert methods(client.get()) == ["notifications/tools/list_changed"]


def test_a_question_right_after_initialized_is_not_lost(serve: Serve) -> None:
    web = serve()
    client = LegacyClient(web)
    client.initialize()
    web.question("q", "roots/list")
    client.note("notifications/initialized")
    assert methods(client.get()) == ["roots/list"]


def test_a_question_before_the_answer_to_initialize_is_not_sent_with_it(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    client = LegacyClient(web)
    answer = client.initialize()
    web.tell("notifications/message", LOG)
    assert answer.status == 0
    web.reply("initialize", web.handshake())
    assert answer.headers["content-type"] == "application/json"
    client.met(answer)
    assert methods(client.get()) == ["notifications/message"]


def test_a_question_that_nobody_comes_for_is_refused_in_time(serve: Serve) -> None:
    web, client = begin(serve, question_timeout=100)
    web.question("q", "roots/list")
    web.pass_time(99)
    assert web.answers_to("q") == []
    web.pass_time(2)
    assert web.answers_to("q")[0]["error"]["code"] == -32603
    assert methods(client.get()) == []


def test_each_question_that_waits_has_its_own_time(serve: Serve) -> None:
    web, _ = begin(serve, question_timeout=100)
    web.question("q1", "roots/list")
    web.pass_time(60)
    web.question("q2", "roots/list")
    web.pass_time(50)
    assert (len(web.answers_to("q1")), len(web.answers_to("q2"))) == (1, 0)
    web.pass_time(60)
    assert len(web.answers_to("q2")) == 1


def test_too_many_messages_that_wait_are_refused_or_counted_oldest_first(serve: Serve) -> None:
    web, client = begin(serve)
    for number in range(80):
        web.question(number, "roots/list")
        web.tell("notifications/message", LOG)
    refused = [number for number in range(80) if web.answers_to(number)]
    assert refused == list(range(len(refused)))
    assert len(refused) + len(web.losses) == 60
    assert len(client.get().frames) == 100


def test_a_question_that_waits_and_is_withdrawn_is_never_asked(serve: Serve) -> None:
    web, client = begin(serve)
    web.question("q", "roots/list")
    web.tell("notifications/cancelled", {"requestId": "q"})
    assert methods(client.call(id=1)) == []
    assert methods(client.get()) == []


def test_a_question_that_was_asked_is_withdrawn_on_the_same_stream(serve: Serve) -> None:
    web, client = begin(serve)
    client.get()
    call = client.call(id=1)
    web.question("q", "roots/list")
    web.tell("notifications/cancelled", {"requestId": "q"})
    assert methods(call) == ["roots/list", "notifications/cancelled"]


def test_closing_a_connection_cancels_nothing(serve: Serve) -> None:
    web, client = begin(serve)
    call = client.call(id=1)
    stream = client.get()
    web.leave(call)
    web.leave(stream)
    assert web.requests("notifications/cancelled") == []
    assert web.alive == [1]


@pytest.mark.parametrize("count", [1, 200])
def test_messages_to_nobody_are_bounded(serve: Serve, count: int) -> None:
    web, client = begin(serve)
    for _ in range(count):
        web.tell("notifications/tools/list_changed")
    assert len(client.get().frames) == min(count, 100)
    assert len(web.losses) == max(count - 100, 0)

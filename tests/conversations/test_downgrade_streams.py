"""What a legacy client hears of a server of 2026-07-28 by itself, on stdio (2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import META
from tests.conversations.lowered import DISCOVERED, DONE, Lowered, on

from oracle import Oracle

TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
UPDATED = "notifications/resources/updated"
LISTS = {"toolsListChanged": True, "promptsListChanged": True}


@pytest.fixture
def talk(oracle: Oracle) -> Lowered:
    """A client that has heard that its stream stands."""
    return ready(oracle)


def ready(oracle: Oracle, **settings: Any) -> Lowered:
    talk = Lowered(oracle, **settings)
    talk.greets()
    talk.tells("notifications/initialized")
    talk.acknowledges()
    return talk


def wanted(talk: Lowered) -> list[Any]:
    return [request["params"]["notifications"] for request in talk.requests("subscriptions/listen")]


def announced(talk: Lowered) -> list[str]:
    return [frame["method"] for frame in talk.to_client if "id" not in frame]


def subscribed(talk: Lowered, *uris: str) -> None:
    for uri in uris:
        talk.request("resources/subscribe", {"uri": uri}, id=f"sub {uri}")
        talk.acknowledges()


# -- the stream ---------------------------------------------------------------------------------------------------------


def test_server_that_declares_nothing_is_asked_for_no_stream(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets(
        discovered={**DISCOVERED, "capabilities": {"tools": {}, "resources": {"subscribe": False}, "prompts": {"listChanged": False}}}
    )
    talk.tells("notifications/initialized")
    assert wanted(talk) == []


def test_stream_is_opened_when_the_client_is_ready_and_not_before(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets()
    assert wanted(talk) == []
    talk.tells("notifications/initialized")
    assert wanted(talk) == [LISTS]


def test_acknowledgement_is_not_for_the_client(talk: Lowered) -> None:
    assert announced(talk) == []


def test_news_come_without_the_streams_id(talk: Lowered) -> None:
    (stream,) = talk.requests("subscriptions/listen")
    talk.note(TOOLS, {"_meta": {**on(stream), "mine": 1}})
    talk.note(PROMPTS, {"_meta": on(stream)})
    assert talk.notes(TOOLS) == [{"_meta": {"mine": 1}}]
    assert [set(params) - {"_meta"} for params in talk.notes(PROMPTS)] == [set()]
    assert META not in str(talk.to_client)


@pytest.mark.parametrize("meta", [{}, {"_meta": {f"{META}subscriptionId": 99}}, {"_meta": {f"{META}subscriptionId": "x"}}])
def test_news_on_no_stream_of_ours_are_not_for_the_client(oracle: Oracle, meta: Any) -> None:
    talk = ready(oracle, judged=False)
    talk.note(TOOLS, meta)
    assert announced(talk) == []


def test_id_of_a_stream_that_comes_back_as_text_is_the_same(oracle: Oracle) -> None:
    talk = ready(oracle, judged=False)
    (stream,) = talk.requests("subscriptions/listen")
    talk.note(TOOLS, {"_meta": {f"{META}subscriptionId": str(stream["id"])}})
    assert announced(talk) == [TOOLS]


def test_acknowledgement_of_another_stream_is_ignored(oracle: Oracle) -> None:
    talk = Lowered(oracle, judged=False)
    talk.greets()
    talk.tells("notifications/initialized")
    talk.note("notifications/subscriptions/acknowledged", {"notifications": LISTS, "_meta": {f"{META}subscriptionId": 999}})
    talk.note(TOOLS, {"_meta": on(talk.requests("subscriptions/listen")[0])})
    assert announced(talk) == []


# -- resources ---------------------------------------------------------------------------------------------------------


def test_subscription_is_answered_once_the_stream_with_it_stands(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    assert [frame for frame in talk.to_client if frame.get("id") == 1] == []
    talk.acknowledges()
    assert talk.result_of(1) == {}
    assert wanted(talk) == [LISTS, {**LISTS, "resourceSubscriptions": ["a:b"]}]
    first, _ = talk.requests("subscriptions/listen")
    assert [note["params"]["requestId"] for note in talk.requests("notifications/cancelled")] == [first["id"]]


def test_stream_that_another_takes_the_place_of_carries_on_until_then(talk: Lowered) -> None:
    (old,) = talk.requests("subscriptions/listen")
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.note(TOOLS, {"_meta": on(old)})
    new = talk.acknowledges()
    talk.note(TOOLS, {"_meta": on(old)})
    talk.note(PROMPTS, {"_meta": on(new)})
    assert announced(talk) == [TOOLS, PROMPTS]


def test_acknowledgement_without_the_resource_is_an_error_and_it_is_not_asked_for_again(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.acknowledges(resourceSubscriptions=[])
    assert talk.error_of(1)["code"] == -32602
    talk.request("resources/subscribe", {"uri": "a:c"}, id=2)
    assert wanted(talk)[-1] == {**LISTS, "resourceSubscriptions": ["a:c"]}


def test_acknowledgement_that_says_nothing_of_resources_is_an_error(oracle: Oracle) -> None:
    talk = ready(oracle)
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    stream = talk.requests("subscriptions/listen")[-1]
    talk.note("notifications/subscriptions/acknowledged", {"notifications": {}, "_meta": on(stream)})
    assert talk.error_of(1)["code"] == -32602


def test_subscriptions_that_come_while_a_stream_is_opened_ride_on_the_next(talk: Lowered) -> None:
    for number, uri in enumerate(("a:1", "a:2", "a:3"), 1):
        talk.request("resources/subscribe", {"uri": uri}, id=number)
    assert len(wanted(talk)) == 2
    talk.acknowledges()
    assert talk.result_of(1) == {}
    assert wanted(talk)[2:] == [{**LISTS, "resourceSubscriptions": ["a:1", "a:2", "a:3"]}]
    talk.acknowledges()
    assert (talk.result_of(2), talk.result_of(3)) == ({}, {})
    assert len(wanted(talk)) == 3


def test_resource_that_is_followed_already_is_answered_at_once(talk: Lowered) -> None:
    subscribed(talk, "a:b")
    talk.request("resources/subscribe", {"uri": "a:b"}, id=2)
    assert talk.result_of(2) == {}
    assert len(wanted(talk)) == 2


def test_same_resource_twice_while_the_stream_is_opened_needs_no_other_stream(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.request("resources/subscribe", {"uri": "a:b"}, id=2)
    talk.acknowledges()
    assert (talk.result_of(1), talk.result_of(2)) == ({}, {})
    assert len(wanted(talk)) == 2


def test_resource_that_is_followed_no_longer_is_left_out_of_the_next_stream(talk: Lowered) -> None:
    subscribed(talk, "a:1", "a:2")
    stream = talk.requests("subscriptions/listen")[-1]
    talk.request("resources/unsubscribe", {"uri": "a:1"}, id="off")
    assert talk.result_of("off") == {}
    assert wanted(talk)[-1] == {**LISTS, "resourceSubscriptions": ["a:2"]}
    talk.note(UPDATED, {"uri": "a:1", "_meta": on(stream)})
    talk.note(UPDATED, {"uri": "a:2", "_meta": on(stream)})
    assert [params["uri"] for params in talk.notes(UPDATED)] == ["a:2"]


def test_part_of_a_resource_that_is_followed_is_the_clients_to_hear(talk: Lowered) -> None:
    subscribed(talk, "a:/dir/")
    talk.note(UPDATED, {"uri": "a:/dir/file", "_meta": on(talk.requests("subscriptions/listen")[-1])})
    assert [params["uri"] for params in talk.notes(UPDATED)] == ["a:/dir/file"]


def test_resource_that_was_never_followed_may_be_unsubscribed(talk: Lowered) -> None:
    talk.request("resources/unsubscribe", {"uri": "a:b"}, id=1)
    assert talk.result_of(1) == {}
    assert len(wanted(talk)) == 1


def test_last_resource_of_a_server_without_lists_ends_the_stream(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets(discovered={**DISCOVERED, "capabilities": {"resources": {"subscribe": True}}})
    talk.tells("notifications/initialized")
    subscribed(talk, "a:b")
    talk.request("resources/unsubscribe", {"uri": "a:b"}, id=2)
    assert len(wanted(talk)) == 1
    assert [note["params"]["requestId"] for note in talk.requests("notifications/cancelled")] == [talk.pending("subscriptions/listen")]


@pytest.mark.parametrize("params", [None, {}, {"uri": 1}, {"uri": None}])
def test_subscription_to_nothing_is_refused(oracle: Oracle, params: Any) -> None:
    talk = ready(oracle, judged=False)
    talk.request("resources/subscribe", params, id=1)
    assert talk.error_of(1)["code"] == -32602


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_server_without_subscriptions_is_not_asked_for_any(oracle: Oracle, method: str) -> None:
    talk = Lowered(oracle)
    talk.greets(discovered={**DISCOVERED, "capabilities": {"resources": {}}})
    talk.request(method, {"uri": "a:b"}, id=1)
    assert talk.error_of(1)["code"] == -32601


def test_subscription_that_is_taken_back_has_no_answer_and_is_not_followed(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.cancel(1)
    talk.acknowledges()
    assert [frame for frame in talk.to_client if frame.get("id") == 1] == []
    assert wanted(talk)[-1] == LISTS


# -- streams that are lost ---------------------------------------------------------------------------------------------


def reopened_after(talk: Lowered, most: float) -> float:
    """How long it takes until there is another stream."""
    before, start = len(wanted(talk)), talk.now
    while len(wanted(talk)) == before:
        assert talk.now - start <= most
        talk.pass_time(most / 64)
    return talk.now - start


def test_stream_that_the_server_ends_is_opened_again_and_the_client_looks_again(talk: Lowered) -> None:
    subscribed(talk, "a:b")
    stream = talk.requests("subscriptions/listen")[-1]
    talk.reply("subscriptions/listen", {"resultType": "complete", "_meta": on(stream)})
    assert len(wanted(talk)) == 2
    reopened_after(talk, 1.0)
    assert announced(talk) == []
    talk.acknowledges()
    assert announced(talk) == [TOOLS, PROMPTS, UPDATED]
    assert [params["uri"] for params in talk.notes(UPDATED)] == ["a:b"]


def test_client_looks_again_only_at_what_the_new_stream_carries(talk: Lowered) -> None:
    talk.reply("subscriptions/listen", {"resultType": "complete", "_meta": on(talk.requests("subscriptions/listen")[-1])})
    talk.pass_time(1)
    talk.acknowledges(promptsListChanged=False)
    assert announced(talk) == [TOOLS]


def test_stream_that_is_cancelled_by_the_server_is_opened_again(talk: Lowered) -> None:
    talk.note("notifications/cancelled", {"requestId": talk.pending("subscriptions/listen")})
    talk.pass_time(1)
    assert len(wanted(talk)) == 2


def test_pauses_grow_to_half_a_minute_and_begin_anew_once_a_stream_stands(talk: Lowered) -> None:
    for most in (1, 2, 4, 8, 16, 30, 30):
        talk.reply_error("subscriptions/listen", -32603, "not now")
        assert most / 2 <= reopened_after(talk, most) <= most
    talk.acknowledges()
    talk.reply_error("subscriptions/listen", -32603, "not now")
    assert reopened_after(talk, 1.0) <= 1.0


def test_pauses_of_two_bridges_differ_and_those_of_one_repeat(oracle: Oracle) -> None:
    pauses = {}
    for instance in ("one", "two", "one"):
        talk = ready(oracle, instance=instance)
        talk.reply_error("subscriptions/listen", -32603, "not now")
        pause = reopened_after(talk, 1.0)
        assert pauses.setdefault(instance, pause) == pause
    assert pauses["one"] != pauses["two"]


def test_refusal_of_the_stream_is_the_answer_of_those_who_wait_for_it(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.reply_error("subscriptions/listen", -32602, "no such resource")
    assert "no such resource" in talk.error_of(1)["message"]
    talk.pass_time(1)
    assert len(wanted(talk)) == 2


def test_server_that_knows_no_streams_is_not_asked_over_and_over(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets()
    talk.tells("notifications/initialized")
    talk.reply_error("subscriptions/listen", -32601, "Method not found")
    talk.pass_time(3600)
    assert len(wanted(talk)) == 1
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.reply_error("subscriptions/listen", -32601, "Method not found")
    assert "Method not found" in talk.error_of(1)["message"]


def test_stream_that_is_never_acknowledged_keeps_nobody_waiting(oracle: Oracle) -> None:
    talk = ready(oracle, request_timeout=30.0)
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    stream = talk.requests("subscriptions/listen")[-1]
    talk.pass_time(31)
    assert "did not answer subscriptions/listen within 30 seconds" in talk.error_of(1)["message"]
    assert talk.requests("notifications/cancelled")[-1]["params"]["requestId"] == stream["id"]


def test_stream_that_stands_may_be_silent_for_ever(oracle: Oracle) -> None:
    talk = ready(oracle, request_timeout=30.0)
    talk.pass_time(100_000)
    assert len(wanted(talk)) == 1
    assert talk.requests("notifications/cancelled") == []


def test_stream_of_a_process_that_died_is_opened_at_its_successor(oracle: Oracle) -> None:
    talk = ready(oracle)
    subscribed(talk, "a:b")
    talk.server_dies()
    talk.pass_time(1)
    assert talk.opened == [1, 2]
    talk.acknowledges()
    assert announced(talk) == [TOOLS, PROMPTS, UPDATED]


def test_call_that_starts_the_successor_brings_the_stream_with_it(oracle: Oracle) -> None:
    talk = ready(oracle)
    talk.server_dies()
    talk.run(id=1)
    assert [frame["method"] for frame in talk.to_server[-2:]] == ["subscriptions/listen", "tools/call"]
    talk.pass_time(60)
    assert len(wanted(talk)) == 2
    talk.reply("tools/call", DONE)


def test_subscription_waits_for_the_successor_of_a_process_that_died(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.server_dies()
    talk.pass_time(1)
    talk.acknowledges()
    assert talk.result_of(1) == {}


def test_subscription_of_a_client_that_leaves_is_answered(talk: Lowered) -> None:
    talk.request("resources/subscribe", {"uri": "a:b"}, id=1)
    talk.client_closes()
    talk.pass_time(60)
    assert talk.error_of(1)["code"] == -32603
    assert talk.finished == 0

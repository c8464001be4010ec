"""``subscriptions/listen`` (translation: client requests, notifications; 2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META, SERVER, Conversation, envelope
from tests.conversations.conftest import Converse

ALL = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "resources": {"listChanged": True, "subscribe": True}}
ACK, UPDATED, TOOLS = "notifications/subscriptions/acknowledged", "notifications/resources/updated", "notifications/tools/list_changed"
SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
STREAM = f"{META}subscriptionId"


def met(converse: Converse, capabilities: Any = None, **options: Any) -> Conversation:
    talk = converse(capabilities=ALL if capabilities is None else capabilities, **options)
    talk.meet()
    return talk


def following(converse: Converse, *uris: str, **options: Any) -> Conversation:
    """A stream "s" that follows resources, acknowledged."""
    talk = met(converse, **options)
    talk.listen(id="s", resourceSubscriptions=list(uris))
    for frame in talk.requests(SUBSCRIBE):
        talk.server_frame({"jsonrpc": "2.0", "id": frame["id"], "result": {}})
    return talk


def streams(talk: Conversation, method: str) -> list[Any]:
    """The streams on which a notification went out, in order."""
    return [note["_meta"][STREAM] for note in talk.notes(method)]


def test_stream_for_lists_is_acknowledged_first_and_gets_what_it_asked_for(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.listen(id=7, toolsListChanged=True, promptsListChanged=False)
    assert talk.notes(ACK) == [{"_meta": {STREAM: 7}, "notifications": {"toolsListChanged": True}}]
    talk.note(TOOLS)
    talk.note("notifications/prompts/list_changed")
    talk.note(TOOLS, {"_meta": {"com.example/x": 1}})
    assert talk.notes(TOOLS) == [{"_meta": {STREAM: 7}}, {"_meta": {"com.example/x": 1, STREAM: 7}}]
    assert talk.notes("notifications/prompts/list_changed") == []
    assert talk.transcript() == transcript


def test_first_message_may_be_a_listen(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse(capabilities=ALL)
    talk.listen(id="7", resourcesListChanged=True)
    assert talk.to_client == []
    talk.handshake()
    talk.note("notifications/resources/list_changed")
    assert streams(talk, ACK) == ["7"]
    assert streams(talk, "notifications/resources/list_changed") == ["7"]
    assert talk.transcript() == transcript


def test_what_the_server_does_not_offer_is_left_out_of_the_acknowledgement(converse: Converse) -> None:
    talk = met(converse, {"tools": {"listChanged": True}, "prompts": {}, "resources": {"subscribe": False}})
    talk.listen(id=1, toolsListChanged=True, promptsListChanged=True, resourcesListChanged=True, resourceSubscriptions=["a:b"])
    assert talk.notes(ACK)[0]["notifications"] == {"toolsListChanged": True}
    assert talk.requests(SUBSCRIBE) == []


def test_stream_for_nothing_is_acknowledged_with_nothing(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=1)
    assert talk.notes(ACK)[0]["notifications"] == {}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"toolsListChanged": "yes"}},
        {"notifications": {"toolsListChanged": None}},
        {"notifications": {"resourceSubscriptions": "a:b"}},
        {"notifications": {"resourceSubscriptions": [1]}},
    ],
)
def test_filter_of_the_wrong_shape_is_refused(converse: Converse, params: Any) -> None:
    talk = met(converse)
    talk.client("subscriptions/listen", params, id=1)
    assert talk.error_of(1)["code"] == -32602
    assert talk.notes(ACK) == []


def test_unknown_members_of_a_filter_are_ignored(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=1, toolsListChanged=True, weatherChanged=True)
    assert talk.notes(ACK)[0]["notifications"] == {"toolsListChanged": True}


def test_resources_are_subscribed_before_the_acknowledgement(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.listen(id=1, resourceSubscriptions=["a:1", "a:2", "a:1"], toolsListChanged=True)
    assert [frame["params"] for frame in talk.requests(SUBSCRIBE)] == [{"uri": "a:1"}, {"uri": "a:2"}]
    first, second = (frame["id"] for frame in talk.requests(SUBSCRIBE))
    talk.server_frame({"jsonrpc": "2.0", "id": second, "result": {}})
    talk.note(UPDATED, {"uri": "a:2"})
    talk.note(TOOLS)
    assert talk.notes(ACK) + talk.notes(UPDATED) + talk.notes(TOOLS) == []
    talk.server_frame({"jsonrpc": "2.0", "id": first, "result": {}})
    assert talk.notes(ACK)[0]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["a:1", "a:2"]}
    talk.note(UPDATED, {"uri": "a:2", "title": "x"})
    # What changed before the acknowledgement followed it.
    assert talk.notes(UPDATED) == [{"_meta": {STREAM: 1}, "uri": "a:2"}, {"_meta": {STREAM: 1}, "uri": "a:2", "title": "x"}]
    assert talk.notes(TOOLS) == [{"_meta": {STREAM: 1}}]
    assert talk.transcript() == transcript


def test_resource_that_the_server_refuses_is_left_out_of_the_acknowledgement(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=1, resourceSubscriptions=["a:1", "a:2"])
    first, second = (frame["id"] for frame in talk.requests(SUBSCRIBE))
    talk.server_frame({"jsonrpc": "2.0", "id": first, "error": {"code": -32602, "message": "no such resource"}})
    talk.server_frame({"jsonrpc": "2.0", "id": second, "result": {}})
    assert talk.notes(ACK)[0]["notifications"] == {"resourceSubscriptions": ["a:2"]}


def test_two_streams_on_one_resource_share_its_subscription_and_the_last_ends_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = following(converse, "a:1")
    talk.listen(id="t", resourceSubscriptions=["a:1", "a:2"])
    assert [frame["params"]["uri"] for frame in talk.requests(SUBSCRIBE)].count("a:2") == 1
    for frame in talk.requests(SUBSCRIBE)[1:]:
        talk.server_frame({"jsonrpc": "2.0", "id": frame["id"], "result": {}})
    talk.note(UPDATED, {"uri": "a:1"})
    assert streams(talk, UPDATED) == ["s", "t"]
    talk.cancel("s")
    assert talk.requests(UNSUBSCRIBE) == []
    talk.note(UPDATED, {"uri": "a:1"})
    assert streams(talk, UPDATED) == ["s", "t", "t"]
    talk.cancel("t")
    assert sorted(frame["params"]["uri"] for frame in talk.requests(UNSUBSCRIBE)) == ["a:1", "a:2"]
    talk.note(UPDATED, {"uri": "a:1"})
    assert len(talk.notes(UPDATED)) == 3
    assert len(talk.losses) == 1
    assert [frame for frame in talk.to_client if frame.get("id") in ("s", "t")] == []
    assert talk.transcript() == transcript


def test_resource_followed_by_a_stream_already_is_not_subscribed_again(converse: Converse) -> None:
    talk = following(converse, "a:1")
    talk.listen(id="t", resourceSubscriptions=["a:1"])
    assert len(talk.requests(SUBSCRIBE)) == 1
    assert streams(talk, ACK) == ["s", "t"]
    assert talk.notes(ACK)[1]["notifications"] == {"resourceSubscriptions": ["a:1"]}


def test_stream_cancelled_before_the_server_answered_subscribes_no_longer(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.cancel("s")
    talk.reply(SUBSCRIBE, {})
    assert [frame["params"]["uri"] for frame in talk.requests(UNSUBSCRIBE)] == ["a:1"]
    assert talk.notes(ACK) == []


def test_update_of_a_resource_that_nobody_named_goes_to_all_that_follow_any(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = following(converse, "file:///project")
    talk.listen(id="lists", toolsListChanged=True)
    talk.note(UPDATED, {"uri": "file:///project/src/main.py"})
    assert streams(talk, UPDATED) == ["s"]
    assert talk.notes(UPDATED)[0]["uri"] == "file:///project/src/main.py"
    assert talk.transcript() == transcript


def test_update_of_a_resource_goes_only_to_those_that_named_it(converse: Converse) -> None:
    talk = following(converse, "a:1")
    talk.listen(id="t", resourceSubscriptions=["a:2"])
    talk.reply(SUBSCRIBE, {})
    talk.note(UPDATED, {"uri": "a:2"})
    assert streams(talk, UPDATED) == ["t"]


def test_changes_that_no_stream_asked_for_go_nowhere(converse: Converse) -> None:
    talk = met(converse)
    talk.note(TOOLS)
    talk.note(UPDATED, {"uri": "a:1"})
    assert len(talk.to_client) == 1


@pytest.mark.parametrize("params", [None, {}, {"uri": 3}, {"uri": None}])
def test_update_without_a_resource_is_counted(converse: Converse, params: Any) -> None:
    talk = following(converse, "a:1")
    talk.note(UPDATED, params)
    assert talk.notes(UPDATED) == []
    assert len(talk.losses) == 1


def test_id_of_an_open_stream_cannot_be_used_again(converse: Converse) -> None:
    talk = met(converse, judged=False)
    talk.listen(id="s", toolsListChanged=True)
    talk.client("tools/list", id="s")
    assert talk.to_client[-1]["error"]["code"] == -32600
    talk.listen(id="s", toolsListChanged=True)
    assert talk.to_client[-1]["error"]["code"] == -32600
    talk.cancel("s")
    talk.listen(id="s", toolsListChanged=True)
    assert streams(talk, ACK) == ["s", "s"]


def test_two_streams_for_the_same_list_both_hear_of_it(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=1, toolsListChanged=True)
    talk.listen(id="1", toolsListChanged=True)
    talk.note(TOOLS)
    assert streams(talk, TOOLS) == [1, "1"]


def test_streams_end_with_a_result_and_a_cancellation_when_the_client_closes(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = following(converse, "a:1")
    talk.listen(id=2, toolsListChanged=True)
    talk.client_closes()
    assert talk.result_of("s") == {"resultType": "complete", "_meta": {STREAM: "s", f"{META}serverInfo": SERVER}}
    assert talk.result_of(2) == {"resultType": "complete", "_meta": {STREAM: 2, f"{META}serverInfo": SERVER}}
    assert [note["requestId"] for note in talk.notes("notifications/cancelled")] == ["s", 2]
    assert talk.finished == 0
    assert talk.transcript() == transcript


def test_stream_is_told_to_look_again_after_the_server_was_started_again(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = following(converse, "a:1")
    talk.listen(id="lists", toolsListChanged=True)
    talk.server_dies("exited with status 1")
    assert talk.opened == [1]
    talk.pass_time(1.0)
    assert talk.opened == [1, 2]
    talk.handshake()
    assert [frame["params"]["uri"] for frame in talk.requests(SUBSCRIBE)] == ["a:1", "a:1"]
    talk.reply(SUBSCRIBE, {})
    assert streams(talk, ACK) == ["s", "lists"]
    assert streams(talk, TOOLS) == ["lists"]
    assert [(note["_meta"][STREAM], note["uri"]) for note in talk.notes(UPDATED)] == [("s", "a:1")]
    talk.note(UPDATED, {"uri": "a:1"})
    assert streams(talk, UPDATED) == ["s", "s"]
    assert talk.transcript() == transcript


def test_stream_is_told_only_of_what_was_acknowledged_after_a_new_start(converse: Converse) -> None:
    talk = met(converse, {"tools": {"listChanged": True}, "resources": {}})
    talk.listen(id="s", toolsListChanged=True, resourceSubscriptions=["a:1"])
    assert talk.notes(ACK)[0]["notifications"] == {"toolsListChanged": True}
    talk.server_dies()
    talk.pass_time(1.0)
    talk.handshake()
    assert streams(talk, TOOLS) == ["s"]
    assert talk.notes(UPDATED) == []


def test_resource_that_was_refused_is_not_announced_after_a_new_start(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id="s", resourceSubscriptions=["a:1", "a:2"])
    first, second = (frame["id"] for frame in talk.requests(SUBSCRIBE))
    talk.server_frame({"jsonrpc": "2.0", "id": first, "error": {"code": -32602, "message": "no"}})
    talk.server_frame({"jsonrpc": "2.0", "id": second, "result": {}})
    talk.server_dies()
    talk.pass_time(1.0)
    talk.handshake()
    for frame in talk.requests(SUBSCRIBE)[2:]:
        talk.server_frame({"jsonrpc": "2.0", "id": frame["id"], "result": {}})
    assert {note["uri"] for note in talk.notes(UPDATED)} == {"a:2"}


def test_server_that_keeps_dying_is_started_again_with_growing_pauses(converse: Converse) -> None:
    talk = following(converse, "a:1")
    talk.server_dies()
    starts = []
    for _ in range(40):
        talk.pass_time(1.0)
        if len(talk.opened) > 1 + len(starts):
            starts.append(round(talk.now - 1000))
            talk.server_dies()
    pauses = [later - earlier for earlier, later in zip([0, *starts], starts, strict=False)]
    assert pauses[:4] == [1, 2, 4, 8]


def test_call_that_comes_first_after_the_death_restores_the_streams_too(converse: Converse) -> None:
    talk = following(converse, "a:1")
    talk.server_dies()
    talk.client("tools/list", id=1)
    talk.handshake()
    talk.reply("tools/list", {"tools": []})
    talk.pass_time(5)
    assert talk.opened == [1, 2]
    assert [frame["params"]["uri"] for frame in talk.requests(SUBSCRIBE)] == ["a:1", "a:1"]


def test_stream_whose_first_server_cannot_be_started_is_refused(converse: Converse) -> None:
    talk = converse(capabilities=ALL)
    talk.listen(id="s", toolsListChanged=True)
    talk.server_dies("could not be started: no such file")
    assert talk.error_of("s")["code"] == -32603
    assert "no such file" in talk.error_of("s")["message"]
    talk.pass_time(60)
    assert talk.opened == [1]


def test_stream_hears_of_every_isolated_session_and_follows_its_resources_there(converse: Converse) -> None:
    talk = converse(capabilities=ALL, isolate_capabilities=True)
    talk.listen(id="s", resourceSubscriptions=["a:1"], toolsListChanged=True)
    talk.handshake()
    talk.reply(SUBSCRIBE, {})
    talk.client("tools/call", {"name": "touch", "arguments": {}}, id=1, meta=envelope({"roots": {}}))
    talk.handshake()
    assert talk.opened == [1, 2]
    assert len(talk.requests(SUBSCRIBE)) == 2
    talk.note(UPDATED, {"uri": "a:1"})
    assert streams(talk, UPDATED) == ["s"]
    talk.note(TOOLS)
    assert streams(talk, TOOLS) == ["s"]


def test_subscription_id_of_the_server_is_replaced(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=3, toolsListChanged=True)
    talk.note(TOOLS, {"_meta": {STREAM: "theirs"}})
    assert streams(talk, TOOLS) == [3]


def test_stream_cancelled_before_the_handshake_subscribes_nothing(converse: Converse) -> None:
    talk = converse(capabilities=ALL)
    talk.listen(id="s", resourceSubscriptions=["a:1"])
    talk.cancel("s")
    talk.handshake()
    assert talk.requests(SUBSCRIBE) == []
    assert talk.to_client == []


def test_stream_cancelled_while_the_server_is_down_is_not_restored(converse: Converse) -> None:
    talk = following(converse, "a:1")
    talk.server_dies()
    talk.cancel("s")
    talk.pass_time(60)
    assert talk.opened == [1]

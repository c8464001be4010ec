"""Field cases about notifications and the streams that carry them (2026-07-28, basic/patterns/subscriptions and cancellation)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conversation import META, Conversation
from tests.conversations.conftest import Converse

ALL = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "resources": {"listChanged": True, "subscribe": True}}
ACK, UPDATED = "notifications/subscriptions/acknowledged", "notifications/resources/updated"
TOOLS, PROMPTS, RESOURCES = (f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources"))
STREAM = f"{META}subscriptionId"


def met(converse: Converse, capabilities: Any = None) -> Conversation:
    talk = converse(capabilities=ALL if capabilities is None else capabilities)
    talk.meet()
    return talk


def follow(talk: Conversation, id: Any, *uris: str) -> None:  # noqa: A002
    """A stream that follows resources, acknowledged by the server."""
    said = len(talk.requests("resources/subscribe"))
    talk.listen(id=id, resourceSubscriptions=list(uris))
    for frame in talk.requests("resources/subscribe")[said:]:
        talk.server_frame({"jsonrpc": "2.0", "id": frame["id"], "result": {}})


def streams(talk: Conversation, method: str) -> list[Any]:
    return [note["_meta"][STREAM] for note in talk.notes(method)]


# -- list changes -----------------------------------------------------------------------------------------------------------------


def test_b081_change_that_nobody_asked_for_goes_nowhere_and_what_was_asked_for_is_stamped(converse: Converse) -> None:
    talk = met(converse)
    talk.note(TOOLS)
    talk.listen(id=1, toolsListChanged=True)
    for method in (RESOURCES, PROMPTS, TOOLS):
        talk.note(method)
    assert [frame["method"] for frame in talk.to_client if "method" in frame] == [ACK, TOOLS]
    assert talk.notes(ACK) == [{"_meta": {STREAM: 1}, "notifications": {"toolsListChanged": True}}]
    assert talk.notes(TOOLS) == [{"_meta": {STREAM: 1}}]


def test_b082_change_of_a_legacy_server_reaches_every_stream_that_asked_for_it(converse: Converse) -> None:
    talk = met(converse)
    talk.listen(id=1, toolsListChanged=True)
    talk.listen(id="1", toolsListChanged=True, promptsListChanged=True)
    talk.listen(id=2, promptsListChanged=True)
    talk.note(TOOLS)
    assert streams(talk, TOOLS) == [1, "1"]


def test_b082_list_after_a_change_is_asked_of_the_server_again(converse: Converse) -> None:
    talk = met(converse)
    for number, tools in enumerate(([], [{"name": "fresh", "inputSchema": {"type": "object"}}]), start=1):
        talk.client("tools/list", id=number)
        talk.reply("tools/list", {"tools": tools})
        talk.note(TOOLS)
    assert [len(talk.result_of(number)["tools"]) for number in (1, 2)] == [0, 1]


def test_b084_announced_changes_are_delivered(converse: Converse) -> None:
    talk = met(converse, {"tools": {"listChanged": True}})
    assert talk.result_of("hello")["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
    talk.listen(id=2, toolsListChanged=True)
    assert talk.notes(ACK) == [{"_meta": {STREAM: 2}, "notifications": {"toolsListChanged": True}}]
    talk.note(TOOLS)
    assert streams(talk, TOOLS) == [2]


@pytest.mark.parametrize("declared", [{}, {"listChanged": False}])
def test_b084_changes_that_the_server_never_sends_are_neither_announced_nor_acknowledged(converse: Converse, declared: Any) -> None:
    talk = met(converse, {"tools": declared})
    assert not talk.result_of("hello")["capabilities"]["tools"].get("listChanged")
    talk.listen(id=2, toolsListChanged=True)
    assert talk.notes(ACK) == [{"_meta": {STREAM: 2}, "notifications": {}}]


# -- resources ---------------------------------------------------------------------------------------------------------------------


def test_b083_update_of_a_resource_that_another_stream_follows_wakes_only_that_one(converse: Converse) -> None:
    talk = met(converse)
    follow(talk, 1, "file:///a/")
    follow(talk, 2, "file:///b/x")
    talk.listen(id=3, toolsListChanged=True)
    talk.note(UPDATED, {"uri": "file:///b/x"})
    assert streams(talk, UPDATED) == [2]


def test_b083_update_of_a_sub_resource_wakes_the_streams_of_its_parent_and_no_other(converse: Converse) -> None:
    """The schema lets the URI be "a sub-resource of the one that the client actually subscribed to", which ``file:///b/x`` is of ``file:///b/``

    and not of ``file:///a/``. The case drops it with ``file:///a/`` alone; there a legacy server that was asked for nothing else means it.
    """
    talk = met(converse)
    follow(talk, 1, "file:///a/")
    follow(talk, 2, "file:///b/")
    talk.note(UPDATED, {"uri": "file:///b/x"})
    assert streams(talk, UPDATED) == [2]


# -- cancellation ------------------------------------------------------------------------------------------------------------------


def test_b060_cancellation_by_a_modern_client_is_heard_and_told_to_the_server(converse: Converse) -> None:
    """Told over HTTP, where the page leaves the answer open; on stdio the notification is the one way to cancel, and is never answered."""
    talk = met(converse)
    talk.call("t", id=5)
    wire = talk.pending("tools/call")
    talk.cancel(5)
    assert talk.requests("notifications/cancelled")[-1]["params"]["requestId"] == wire
    talk.reply("tools/call", {"content": []})
    assert [frame for frame in talk.to_client if frame.get("id") == 5] == []


@pytest.mark.parametrize("request_id", [99, "5", None])
def test_b060_cancellation_of_what_is_not_the_clients_changes_nothing(converse: Converse, request_id: Any) -> None:
    talk = met(converse)
    talk.call("t", id=5)
    said = len(talk.to_client)
    talk.cancel(request_id)
    assert len(talk.to_client) == said
    assert talk.requests("notifications/cancelled") == []
    talk.reply("tools/call", {"content": []})
    assert "result" in talk.answer_to(5)

"""Notifications that no other module is about (translation: notifications)."""

from __future__ import annotations

import pytest
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
TICK = "notifications/com.example/tick"


def test_unknown_notification_beside_one_call_is_passed_on(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.note(TICK, {"n": 1.10, "_meta": {"com.example/x": 1}})
    talk.note(TICK)
    assert talk.notes(TICK) == [{"n": 1.10, "_meta": {"com.example/x": 1}}, {}]


def test_unknown_notification_that_belongs_to_no_one_call_is_counted(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.note(TICK)
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.note(TICK)
    assert talk.notes(TICK) == []
    assert len(talk.losses) == 2


def test_unknown_notification_while_the_only_call_is_parked_is_not_sent(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    talk.note(TICK)
    assert talk.notes(TICK) == []


@pytest.mark.parametrize("method", ["notifications/elicitation/complete", "notifications/tasks/status"])
def test_words_of_the_last_legacy_revision_are_swallowed(converse: Converse, method: str) -> None:
    talk = converse()
    talk.meet()
    talk.call("a", id=1)
    talk.note(method, {"elicitationId": "e", "taskId": "t", "status": "working"})
    assert len(talk.to_client) == 1


@pytest.mark.parametrize("params", [[], 7, "x", None])
def test_notification_whose_params_are_no_object_is_counted_or_read_as_empty(converse: Converse, params: object) -> None:
    talk = converse(judged=False)
    talk.meet()
    talk.call("a", id=1)
    for method in ("notifications/progress", "notifications/message", "notifications/tools/list_changed", "notifications/cancelled"):
        talk.server_frame({"jsonrpc": "2.0", "method": method, "params": params})
    assert len(talk.to_client) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_words_of_the_modern_era_from_a_legacy_server_mean_nothing(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.listen(id="s", toolsListChanged=True)
    talk.note("notifications/subscriptions/acknowledged", {"notifications": {}})
    assert len(talk.notes("notifications/subscriptions/acknowledged")) == 1

"""``notifications/progress`` (translation: notifications; 2026-07-28, basic/patterns/progress)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
PROGRESS = "notifications/progress"


def with_token(token: Any) -> Any:
    return envelope(ALL_CAPABILITIES, progressToken=token)


def sent_token(talk: Conversation, index: int = -1) -> Any:
    """The token that the server was given."""
    return talk.requests("tools/call")[index]["params"]["_meta"]["progressToken"]


def test_progress_goes_to_the_request_with_its_own_token(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("abc"))
    talk.call("slow", id=2, meta=with_token(7))
    first, second = sent_token(talk, 0), sent_token(talk, 1)
    assert first != second
    talk.note(PROGRESS, {"progressToken": second, "progress": 0.5, "total": 1, "message": "half"})
    talk.note(PROGRESS, {"progressToken": first, "progress": 1})
    assert talk.notes(PROGRESS) == [
        {"progressToken": 7, "progress": 0.5, "total": 1, "message": "half"},
        {"progressToken": "abc", "progress": 1},
    ]
    talk.reply("tools/call", TEXT)
    assert talk.transcript() == transcript


def test_same_token_of_client_and_bridge_are_not_mixed_up(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token(3))
    talk.call("slow", id=2, meta=with_token(2))
    talk.note(PROGRESS, {"progressToken": sent_token(talk, 0), "progress": 1})
    assert talk.notes(PROGRESS) == [{"progressToken": 3, "progress": 1}]


def test_token_echoed_as_a_string_is_recognised(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("abc"))
    talk.note(PROGRESS, {"progressToken": str(sent_token(talk)), "progress": 1})
    assert talk.notes(PROGRESS) == [{"progressToken": "abc", "progress": 1}]


def test_request_without_a_token_gives_the_server_none(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1)
    assert "_meta" not in talk.requests("tools/call")[0]["params"]
    talk.note(PROGRESS, {"progressToken": talk.pending("tools/call"), "progress": 1})
    assert talk.notes(PROGRESS) == []


def test_progress_that_does_not_increase_is_dropped_and_counted(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("t"))
    for value in (1, 1, 0.5, 2, 1.5, 3):
        talk.note(PROGRESS, {"progressToken": sent_token(talk), "progress": value})
    assert [note["progress"] for note in talk.notes(PROGRESS)] == [1, 2, 3]
    assert len(talk.losses) == 3
    assert talk.transcript() == transcript


def test_progress_after_the_response_is_dropped_and_counted(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("t"))
    token = sent_token(talk)
    talk.reply("tools/call", TEXT)
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    assert talk.notes(PROGRESS) == []
    assert len(talk.losses) == 1


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"progress": 1},
        {"progressToken": "zzz", "progress": 1},
        {"progressToken": 99, "progress": 1},
        {"progressToken": None, "progress": 1},
    ],
)
def test_progress_for_nobody_is_counted(converse: Converse, params: Any) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("t"))
    talk.note(PROGRESS, params)
    assert talk.notes(PROGRESS) == []
    assert len(talk.losses) == 1


@pytest.mark.parametrize("value", ["half", None, {}, True])
def test_progress_whose_value_is_no_number_is_counted(converse: Converse, value: Any) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("t"))
    talk.note(PROGRESS, {"progressToken": sent_token(talk), "progress": value})
    assert talk.notes(PROGRESS) == []
    assert len(talk.losses) == 1
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(1)


def test_progress_of_a_list_reaches_it_too(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.client("tools/list", id=1, meta=with_token("t"))
    token = talk.requests("tools/list")[0]["params"]["_meta"]["progressToken"]
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    assert talk.notes(PROGRESS) == [{"progressToken": "t", "progress": 1}]


def parked(converse: Converse, meta: Any) -> Conversation:
    talk = converse()
    talk.meet()
    talk.call("deploy", id=1, meta=meta)
    talk.ask_form("q", "Where?", env={"type": "string"})
    talk.window()
    return talk


def retry(talk: Conversation, meta: Any) -> None:
    answers = {"env": {"action": "accept", "content": {"env": "prod"}}}
    talk.call("deploy", id=2, meta=meta, requestState=talk.result_of(1)["requestState"], inputResponses=answers)


def test_progress_while_parked_goes_out_with_the_retry_under_its_token(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = parked(converse, with_token("one"))
    token = sent_token(talk)
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    talk.note(PROGRESS, {"progressToken": token, "progress": 2})
    assert talk.notes(PROGRESS) == []
    retry(talk, with_token("two"))
    assert talk.notes(PROGRESS) == [{"progressToken": "two", "progress": 1}, {"progressToken": "two", "progress": 2}]
    talk.note(PROGRESS, {"progressToken": token, "progress": 3})
    talk.reply("tools/call", TEXT)
    assert [frame.get("method", "answer") for frame in talk.to_client[2:]] == [PROGRESS, PROGRESS, PROGRESS, "answer"]
    assert talk.transcript() == transcript


def test_outcome_while_parked_follows_the_kept_progress(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = parked(converse, with_token("one"))
    talk.note(PROGRESS, {"progressToken": sent_token(talk), "progress": 1})
    talk.reply("tools/call", TEXT)
    assert len(talk.to_client) == 2
    retry(talk, with_token("two"))
    assert talk.to_client[-2]["params"] == {"progressToken": "two", "progress": 1}
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_retry_without_a_token_drops_progress(converse: Converse) -> None:
    talk = parked(converse, with_token("one"))
    token = sent_token(talk)
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    retry(talk, envelope(ALL_CAPABILITIES))
    talk.note(PROGRESS, {"progressToken": token, "progress": 2})
    assert talk.notes(PROGRESS) == []


def test_kept_progress_is_bounded_and_the_rest_is_counted(converse: Converse) -> None:
    talk = parked(converse, with_token("one"))
    for value in range(150):
        talk.note(PROGRESS, {"progressToken": sent_token(talk), "progress": value})
    assert len(talk.losses) == 50
    retry(talk, with_token("two"))
    values = [note["progress"] for note in talk.notes(PROGRESS)]
    assert values == list(range(50, 150))


def test_progress_of_a_cancelled_call_goes_nowhere(converse: Converse) -> None:
    talk = converse()
    talk.meet()
    talk.call("slow", id=1, meta=with_token("t"))
    token = sent_token(talk)
    talk.cancel(1)
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    assert talk.notes(PROGRESS) == []


def test_progress_goes_to_the_retry_that_still_waits_when_another_was_cancelled(converse: Converse) -> None:
    talk = parked(converse, with_token("one"))
    token = sent_token(talk)
    answers = {"env": {"action": "accept", "content": {"env": "prod"}}}
    state = talk.result_of(1)["requestState"]
    talk.call("deploy", id=2, meta=with_token("two"), requestState=state, inputResponses=answers)
    talk.call("deploy", id=3, meta=with_token("three"), requestState=state, inputResponses=answers)
    talk.cancel(2)
    talk.note(PROGRESS, {"progressToken": token, "progress": 1})
    assert [note["progressToken"] for note in talk.notes(PROGRESS)] in (["three"], [])
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(3)

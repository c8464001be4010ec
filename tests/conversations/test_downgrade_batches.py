"""Batches of a legacy client in front of a server of 2026-07-28 (2025-03-26, basic/index#batching)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversations.lowered import DISCOVERED, DONE, SEEN, Lowered, asked

from oracle import Oracle

CALL = {"name": "deploy", "arguments": {}}
PING = asked("ping", id=1)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def batching(oracle: Oracle) -> Lowered:
    """A client of the one revision that has batches, after its handshake."""
    talk = Lowered(oracle)
    talk.greets("2025-03-26")
    return talk


def last_line(talk: Lowered) -> Any:
    return json.loads(talk.lines_to_client[-1])


def test_message_by_itself_is_answered_by_itself(batching: Lowered) -> None:
    batching.client_frame(PING)
    assert last_line(batching) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_batch_of_notifications_and_responses_has_no_answer(batching: Lowered) -> None:
    before = len(batching.lines_to_client)
    batching.client_frame([READY, {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}])
    batching.client_frame([{"jsonrpc": "2.0", "id": 77, "result": {}}])
    assert len(batching.lines_to_client) == before


def test_batch_is_answered_as_one_when_the_last_answer_is_there(batching: Lowered) -> None:
    before = len(batching.lines_to_client)
    batching.client_frame([asked("tools/call", CALL, id="a"), PING, READY, asked("resources/read", {"uri": "a:b"}, id=3)])
    batching.reply("resources/read", {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"})
    assert len(batching.lines_to_client) == before
    batching.reply("tools/call", DONE)
    assert len(batching.lines_to_client) == before + 1
    assert last_line(batching) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 3, "result": {"contents": []}},
        {"jsonrpc": "2.0", "id": "a", "result": SEEN},
    ]


def test_messages_of_a_batch_reach_the_server_one_by_one(batching: Lowered) -> None:
    batching.client_frame([asked("tools/call", CALL, id=1), asked("tools/call", CALL, id=2)])
    assert [line[:1] for line in batching.lines_to_server] == [b"{"] * 3
    for request in batching.requests("tools/call"):
        batching.server_frame({"jsonrpc": "2.0", "id": request["id"], "result": DONE})
    assert [answer["id"] for answer in last_line(batching)] == [1, 2]


def test_batch_of_one_is_answered_as_a_batch(batching: Lowered) -> None:
    batching.client_frame([PING])
    assert last_line(batching) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_empty_batch_is_an_invalid_request_without_an_id(batching: Lowered) -> None:
    batching.client_line(b"[]")
    assert last_line(batching)["id"] is None
    assert last_line(batching)["error"]["code"] == -32600


def test_entry_that_is_no_message_gets_its_error_among_the_answers(batching: Lowered) -> None:
    batching.client_line(
        b'[1,{"jsonrpc":"2.0","id":7,"method":1},[],{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":null,"method":"x"}]'
    )
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in last_line(batching)] == [
        (None, -32600),
        (7, -32600),
        (None, -32600),
        (1, None),
        (None, -32600),
    ]


def test_initialize_in_a_batch_is_refused_and_the_rest_is_not(oracle: Oracle) -> None:
    batching = Lowered(oracle, judged=False)  # the judge would take the handshake in the batch for one
    batching.greets("2025-03-26")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    batching.client_frame([asked("initialize", hello, id=5), PING])
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in last_line(batching)] == [(5, -32600), (1, None)]
    assert len(batching.requests("server/discover")) == 1


def test_second_use_of_an_id_in_a_batch_is_refused_and_the_first_is_answered(batching: Lowered) -> None:
    batching.client_frame([asked("tools/call", CALL, id=1), asked("tools/call", CALL, id=1)])
    batching.reply("tools/call", DONE)
    assert [(answer["id"], "result" in answer) for answer in last_line(batching)] == [(1, False), (1, True)]


def test_second_use_of_an_id_outside_the_batch_leaves_the_batch_waiting(batching: Lowered) -> None:
    batching.client_frame([asked("tools/call", CALL, id=1)])
    batching.client_frame(PING)
    assert last_line(batching)["error"]["code"] == -32600
    batching.reply("tools/call", DONE)
    assert last_line(batching) == [{"jsonrpc": "2.0", "id": 1, "result": SEEN}]


def test_cancelled_request_of_a_batch_is_left_out_of_its_answer(batching: Lowered) -> None:
    batching.client_frame([asked("tools/call", CALL, id=1), asked("ping", id=2)])
    batching.cancel(1)
    assert last_line(batching) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_batch_whose_requests_are_all_cancelled_has_no_answer(batching: Lowered) -> None:
    before = len(batching.lines_to_client)
    batching.client_frame([asked("tools/call", CALL, id=1)])
    batching.cancel(1)
    batching.reply("tools/call", DONE)
    assert len(batching.lines_to_client) == before


def test_cancelled_subscription_of_a_batch_is_left_out_of_its_answer(batching: Lowered) -> None:
    batching.client_frame([asked("resources/subscribe", {"uri": "a:b"}, id=1), asked("ping", id=2)])
    batching.cancel(1)
    assert last_line(batching) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_questions_of_a_batched_call_do_not_wait_for_the_batch(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets("2025-03-26", {"roots": {}})
    talk.client_frame([asked("tools/call", CALL, id=1), asked("tools/call", CALL, id=2)])
    first, second = talk.requests("tools/call")
    talk.server_frame(
        {
            "jsonrpc": "2.0",
            "id": first["id"],
            "result": {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}, "requestState": "s"},
        }
    )
    (question,) = talk.questions()
    talk.client_frame([{"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}])
    talk.server_frame({"jsonrpc": "2.0", "id": talk.pending("tools/call"), "result": DONE})
    talk.server_frame({"jsonrpc": "2.0", "id": second["id"], "result": DONE})
    assert [answer["id"] for answer in last_line(talk)] == [1, 2]


def test_death_of_the_process_fails_the_batch_as_a_whole(batching: Lowered) -> None:
    batching.client_frame([asked("tools/call", CALL, id=1), asked("tools/call", CALL, id=2), asked("ping", id=3)])
    batching.server_dies()
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in last_line(batching)] == [(3, None), (1, -32603), (2, -32603)]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18"])
def test_batch_of_another_revision_is_one_invalid_request_with_a_null_id(oracle: Oracle, revision: str) -> None:
    talk = Lowered(oracle)
    talk.greets(revision)
    talk.client_frame([PING, asked("tools/call", CALL, id=2)])
    assert last_line(talk)["id"] is None
    assert last_line(talk)["error"]["code"] == -32600
    assert talk.requests("tools/call") == []


def test_batch_of_the_newest_revision_is_one_invalid_request_without_an_id(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    talk.greets("2025-11-25")
    talk.client_frame([PING])
    assert "id" not in last_line(talk)
    assert last_line(talk)["error"]["code"] == -32600


def test_batch_before_the_answer_to_the_handshake_waits_for_it(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    talk.request("initialize", hello, id=0)
    talk.client_frame([PING, asked("ping", id=2)])
    assert talk.lines_to_client == []
    talk.reply("server/discover", DISCOVERED)
    assert [answer["id"] for answer in last_line(talk)] == [1, 2]


def test_batch_after_a_handshake_that_failed_is_one_invalid_request(oracle: Oracle) -> None:
    talk = Lowered(oracle)
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    talk.request("initialize", hello, id=0)
    talk.reply_error("server/discover", -32603, "not now")
    talk.client_frame([PING, asked("tools/call", CALL, id=2)])
    assert last_line(talk)["error"]["code"] == -32600
    assert "id" not in last_line(talk)

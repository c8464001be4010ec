"""Whole conversations over HTTP, of each kind of client (basic/transports of every revision; translation across HTTP)."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import META
from tests.http.clients import OldClient
from tests.http.conftest import Serve

TEXT = {"content": [{"type": "text", "text": "done"}]}


def test_a_modern_call_is_answered_as_json(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = web.call("deploy", {"env": "prod"}, id="a")
    web.reply("tools/call", TEXT)
    assert (call.status, call.headers["content-type"]) == (200, "application/json")
    assert call.result["content"] == TEXT["content"]
    assert call.last["id"] == "a"
    assert web.transcript() == transcript


def test_a_modern_call_with_progress_is_answered_as_a_stream(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = web.call("deploy", id=7, meta=web.meta(progressToken="p"))
    token = web.requests("tools/call")[-1]["params"]["_meta"]["progressToken"]
    web.tell("notifications/progress", {"progressToken": token, "progress": 0.5})
    web.reply("tools/call", TEXT)
    assert (call.status, call.is_stream, call.ended) == (200, True, True)
    assert call.notes("notifications/progress") == [{"progressToken": "p", "progress": 0.5}]
    assert call.result["content"] == TEXT["content"]
    assert web.transcript() == transcript


def test_a_modern_question_is_answered_by_a_retry(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    call = web.call("deploy", {"x": 1}, id=1)
    web.form("q1", "Which environment?", env={"type": "string"})
    web.window()
    assert call.result["resultType"] == "input_required"
    again = web.retry(call, {"env": {"action": "accept", "content": {"env": "prod"}}}, id=2)
    assert web.answers_to("q1") == [{"jsonrpc": "2.0", "id": "q1", "result": {"action": "accept", "content": {"env": "prod"}}}]
    web.reply("tools/call", TEXT)
    assert again.result["content"] == TEXT["content"]
    assert web.transcript() == transcript


def test_a_listen_is_a_stream_that_ends_with_its_result(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve()
    listen = web.listen(id="s", filters={"toolsListChanged": True})
    assert listen.begun
    web.tell("notifications/tools/list_changed")
    web.shut_down()
    assert [frame.get("method", "result") for frame in listen.frames] == [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "result",
    ]
    assert listen.result["_meta"][f"{META}subscriptionId"] == "s"
    assert listen.ended
    assert web.transcript() == transcript


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_legacy_session_from_its_beginning_to_its_end(serve: Serve, revision: str, transcript: SnapshotAssertion) -> None:
    web = serve(revision=revision)
    client = web.legacy(revision)
    stream = client.get()
    call = client.call("deploy", id=1, meta={"progressToken": 1})
    web.tell("notifications/progress", {"progressToken": 1, "progress": 1})
    web.question("q", "sampling/createMessage", {"messages": [], "maxTokens": 1})
    client.answer("q", {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"})
    web.reply("tools/call", TEXT)
    web.tell("notifications/tools/list_changed")
    assert call.result == TEXT
    assert stream.notes("notifications/tools/list_changed") == [{}]
    assert client.delete().status == 204
    assert client.call(id=2).status == 404
    assert stream.ended
    assert web.transcript() == transcript


def test_the_two_endpoints_of_2024_11_05(serve: Serve, transcript: SnapshotAssertion) -> None:
    web = serve(revision="2024-11-05", sse=True)
    client = OldClient(web)
    assert client.initialize().status == 202
    assert client.note("notifications/initialized").status == 202
    assert client.ask("tools/call", {"name": "deploy"}, id=1).status == 202
    web.reply("tools/call", TEXT)
    assert client.stream.frames[-1] == {"jsonrpc": "2.0", "id": 1, "result": TEXT}
    web.leave(client.stream)
    assert web.closed == [1]
    assert client.ask("ping", id=2).status == 404
    assert web.transcript() == transcript

"""A legacy client in front of a server that speaks only 2026-07-28: every rule of the crossing once, without a transport."""

from __future__ import annotations

from typing import Any

from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

META = "io.modelcontextprotocol/"
DISCOVERED: Json = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
        "logging": {},
        "completions": {},
        "extensions": {f"{META}tasks": {}},
    },
    "instructions": "be kind",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {f"{META}serverInfo": {"name": "new-server", "version": "3"}},
}
DONE: Json = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
FORM: Json = {"method": "elicitation/create", "params": {"message": "Name?", "requestedSchema": {"type": "object", "properties": {}}}}
FORMS: Json = {"elicitation": {}, "roots": {"listChanged": True}}


def met(serve: Serve, revision: str = "2025-11-25", capabilities: Json | None = None, **settings: Any) -> tuple[Web, LegacyClient]:
    web = serve(server_era="modern", auto={"initialize": None, "tools/list": None, "server/discover": DISCOVERED}, **settings)
    client = LegacyClient(web, capabilities=FORMS if capabilities is None else capabilities)
    client.initialize(revision)
    return web, client


def ask_back(web: Web, **members: Any) -> None:
    web.reply("tools/call", {"resultType": "input_required", **members})


def test_initialize_is_answered_from_discovery_in_the_clients_revision(serve: Serve) -> None:
    web, client = met(serve, "2025-06-18")
    assert web.requests("initialize") == []
    assert client.revision == "2025-06-18"
    asked = web.requests("server/discover")[0]["params"]["_meta"]
    assert asked[f"{META}protocolVersion"] == "2026-07-28"
    assert asked[f"{META}clientCapabilities"] == {"elicitation": {"form": {}}, "roots": {}}


def test_capabilities_and_identity_are_those_of_the_server(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None, "server/discover": DISCOVERED})
    result = LegacyClient(web).initialize("2024-11-05").result
    assert (result["serverInfo"]["name"], result["instructions"]) == ("new-server", "be kind")
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert "completions" not in result["capabilities"]


def test_ping_and_level_are_answered_here_and_the_level_is_stamped_from_then_on(serve: Serve) -> None:
    web, client = met(serve)
    assert client.ask("ping", id=1).result == {}
    client.call(id=2)
    assert client.ask("logging/setLevel", {"level": "info"}, id=3).result == {}
    client.call(id=4)
    stamps = [request["params"]["_meta"].get(f"{META}logLevel") for request in web.requests("tools/call")]
    assert stamps == [None, "info"]
    assert client.ask("logging/setLevel", {"level": "loud"}, id=5).code == -32602


def test_result_comes_without_modern_words(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    web.reply("tools/call", {**DONE, "_meta": {f"{META}serverInfo": {"name": "n", "version": "1"}, "mine": 1}})
    assert call.result == {"content": DONE["content"], "_meta": {"mine": 1}}


def test_unknown_result_type_is_an_error_and_never_passed(serve: Serve) -> None:
    web, client = met(serve, judged=False)
    call = client.call(id=1)
    web.reply("tools/call", {"resultType": "later"})
    assert call.code == -32603


def test_question_goes_out_on_the_calls_stream_and_its_answer_goes_back_with_the_state(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    ask_back(web, inputRequests={"name": FORM}, requestState="s==/+ ")
    (question,) = call.questions()
    assert question["method"] == "elicitation/create"
    client.answer(question["id"], {"action": "decline"})
    first, second = (request["params"] for request in web.requests("tools/call"))
    assert second == {**first, "inputResponses": {"name": {"action": "decline"}}, "requestState": "s==/+ "}
    web.reply("tools/call", DONE)
    assert call.last["result"] == {"content": DONE["content"]}


def test_questions_of_one_round_go_out_together_and_back_together(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    ask_back(web, inputRequests={"a": FORM, "b": {"method": "roots/list"}})
    one, two = call.questions()
    client.answer(two["id"], {"roots": []})
    assert len(web.requests("tools/call")) == 1
    client.answer(one["id"], {"action": "cancel"})
    assert web.requests("tools/call")[1]["params"]["inputResponses"] == {"b": {"roots": []}, "a": {"action": "cancel"}}


def test_round_without_questions_is_paced(serve: Serve) -> None:
    web, client = met(serve)
    client.call(id=1)
    ask_back(web, requestState="wait")
    assert len(web.requests("tools/call")) == 1
    web.pass_time(0.3)
    assert web.requests("tools/call")[1]["params"]["requestState"] == "wait"


def test_client_without_the_capability_ends_the_call_with_a_tool_error(serve: Serve) -> None:
    web, client = met(serve, capabilities={})
    call = client.call(id=1)
    ask_back(web, inputRequests={"name": FORM})
    assert call.questions() == []
    assert call.result["isError"] is True
    assert "elicitation/create" in call.result["content"][0]["text"]


def test_answer_that_is_an_error_takes_the_other_questions_back(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    ask_back(web, inputRequests={"a": FORM, "b": {"method": "roots/list"}})
    one, two = call.questions()
    client.post({"jsonrpc": "2.0", "id": one["id"], "error": {"code": -1, "message": "no user here"}})
    assert [note["requestId"] for note in call.notes("notifications/cancelled")] == [two["id"]]
    assert "no user here" in call.last["result"]["content"][0]["text"]


def test_server_that_asks_for_ever_is_stopped(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    for _ in range(40):
        if call.done:
            break
        ask_back(web, requestState="again")
        web.pass_time(0.3)
    assert call.last["error"]["message"] == "The server asked more than 32 times in one call"


def test_subscription_is_answered_when_the_stream_has_it(serve: Serve) -> None:
    web, client = met(serve)
    client.note("notifications/initialized")
    first = web.requests("subscriptions/listen")[0]
    assert first["params"]["notifications"] == {"toolsListChanged": True}
    acknowledge(web, first)
    client.get()
    asked = client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    second = web.requests("subscriptions/listen")[1]
    assert second["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}
    assert not asked.done
    acknowledge(web, second)
    assert asked.result == {}
    assert web.requests("notifications/cancelled")[0]["params"]["requestId"] == first["id"]


def test_news_of_the_stream_reach_the_session_without_its_id(serve: Serve) -> None:
    web, client = met(serve)
    client.note("notifications/initialized")
    stream = client.get()
    listen = web.requests("subscriptions/listen")[0]
    acknowledge(web, listen)
    web.tell("notifications/tools/list_changed", {"_meta": {f"{META}subscriptionId": listen["id"]}})
    assert [frame["method"] for frame in stream.frames] == ["notifications/tools/list_changed"]
    assert f"{META}subscriptionId" not in str(stream.frames)


def test_death_of_the_process_fails_its_calls_and_the_session_goes_on(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    web.die("exited with status 3")
    assert call.code == -32603
    again = client.call(id=2)
    web.reply("tools/call", DONE)
    assert again.result == {"content": DONE["content"]}
    assert len(web.opened) == 2


def test_cancelled_call_is_cancelled_at_the_server_under_its_own_id(serve: Serve) -> None:
    web, client = met(serve)
    client.call(id="mine")
    client.cancel("mine")
    assert web.requests("notifications/cancelled")[0]["params"]["requestId"] == web.requests("tools/call")[0]["id"]


def test_missing_resource_has_the_code_of_the_clients_revision(serve: Serve) -> None:
    web, client = met(serve)
    read = client.ask("resources/read", {"uri": "a:b"}, id=1)
    web.say(
        {
            "jsonrpc": "2.0",
            "id": web.requests("resources/read")[0]["id"],
            "error": {"code": -32602, "message": "Resource not found", "data": {"uri": "a:b"}},
        }
    )
    assert read.code == -32002


def test_id_of_a_subscription_that_waits_is_in_use(serve: Serve) -> None:
    _, client = met(serve)
    client.note("notifications/initialized")
    client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    assert client.ask("resources/subscribe", {"uri": "a:c"}, id=1).code == -32600


def acknowledge(web: Web, listen: Json) -> None:
    params = {"notifications": listen["params"]["notifications"], "_meta": {f"{META}subscriptionId": listen["id"]}}
    web.tell("notifications/subscriptions/acknowledged", params)


def test_batch_is_taken_apart_for_the_server_and_answered_as_one(serve: Serve) -> None:
    web, client = met(serve, "2025-03-26", {})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "deploy", "arguments": {}}}
    answer = client.post([call, {"jsonrpc": "2.0", "id": 2, "method": "ping"}])
    web.reply("tools/call", DONE)
    assert answer.last == [{"jsonrpc": "2.0", "id": 2, "result": {}}, {"jsonrpc": "2.0", "id": 1, "result": {"content": DONE["content"]}}]


def test_call_that_is_cancelled_while_the_client_is_asked_ends_its_stream_and_is_not_made_again(serve: Serve) -> None:
    web, client = met(serve)
    call = client.call(id=1)
    ask_back(web, inputRequests={"name": FORM}, requestState="s")
    client.cancel(1)
    assert call.done
    client.answer(call.questions()[0]["id"], {"action": "decline"})
    assert len(web.requests("tools/call")) == 1
    assert web.requests("notifications/cancelled") == []


def test_subscription_that_is_cancelled_is_not_followed(serve: Serve) -> None:
    web, client = met(serve)
    client.note("notifications/initialized")
    acknowledge(web, web.requests("subscriptions/listen")[0])
    asked = client.ask("resources/subscribe", {"uri": "a:b"}, id=1)
    client.cancel(1)
    assert asked.done
    acknowledge(web, web.requests("subscriptions/listen")[1])
    assert web.requests("subscriptions/listen")[2]["params"]["notifications"] == {"toolsListChanged": True}


def test_pauses_before_a_lost_stream_differ_from_session_to_session(serve: Serve) -> None:
    web, first = met(serve)
    second = LegacyClient(web, capabilities=FORMS)
    second.initialize("2025-11-25")
    for client in (first, second):
        client.note("notifications/initialized")
    for process in web.opened:
        web.reply_error("subscriptions/listen", -32603, "not now", process=process)
    due = [at - web.now for key, at in web.timers.items() if "down-listen" in key]
    assert len(set(due)) == 2
    assert all(0.5 <= pause <= 1 for pause in due)

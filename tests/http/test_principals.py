"""Nothing of one principal is reachable by another (translation across HTTP: principal, isolation)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversation import MODERN
from tests.http.answer import Answer
from tests.http.clients import LegacyClient, OldClient
from tests.http.conftest import Serve
from tests.http.web import Json, Web

DONE = {"content": [{"type": "text", "text": "done"}]}
PROD = {"env": {"action": "accept", "content": {"env": "prod"}}}
RESOURCES: Json = {"resources": {"subscribe": True, "listChanged": True}, "tools": {"listChanged": True}, "logging": {}}
SETS: Json = {"resources/subscribe": {}, "resources/unsubscribe": {}, "logging/setLevel": {}}


def owner(web: Web, answer: Answer) -> int:
    """The process that a call went to."""
    return next(number for number in web.opened if web.requests("tools/call", number))


# -- who is who --------------------------------------------------------------------------------------------------------


def test_each_authorization_is_a_principal_with_a_process_of_its_own(serve: Serve) -> None:
    web = serve()
    for name in ("A", "B", "A", None):
        web.ask("tools/list", principal=name)
    assert web.opened == [1, 2, 3]


def test_no_credential_and_no_session_id_reaches_a_server_or_a_log(serve: Serve) -> None:
    web = serve(session_ttl=10)
    call = web.call("deploy", principal="s3cr3t")
    client = web.legacy(principal="s3cr3t")
    client.call(id=1)
    web.die(process=1)
    client.delete()
    web.legacy(principal="s3cr3t")
    web.pass_time(100)
    said = json.dumps(web.to_server) + "\n".join((*web.logged, *web.losses))
    assert call.done
    assert client.session is not None
    assert [word for word in ("s3cr3t", "Bearer", client.session) if word in said] == []


def test_a_trusted_proxy_names_the_caller(serve: Serve) -> None:
    web = serve(principal_header="X-User")
    web.ask("tools/list", x_user="A", principal="same")
    web.ask("tools/list", x_user="B", principal="same")
    web.ask("tools/list", x_user="A", principal="other")
    assert web.opened == [1, 2]


def test_without_the_proxys_word_nobody_is_served(serve: Serve) -> None:
    web = serve(principal_header="X-User")
    answer = web.ask("tools/list", principal="A")
    assert answer.status == 401
    assert "www-authenticate" in answer.headers
    assert web.opened == []


def test_a_callers_name_that_stands_twice_is_refused(serve: Serve) -> None:
    web = serve(principal_header="X-User")
    assert web.ask("tools/list", fields=[("x-user", "A"), ("x-user", "B")]).status == 401


def test_anonymous_callers_are_served_on_this_machine_only(serve: Serve) -> None:
    web = serve(host="0.0.0.0", allow_hosts=["bridge.example"])
    assert web.ask("tools/list", host="bridge.example", local=False).status == 401
    assert LegacyClient(web, host="bridge.example", local=False).initialize().status == 401
    assert web.send("GET", host="bridge.example", local=False).status in (401, 405)
    assert web.opened == []
    assert web.ask("tools/list", host="bridge.example", local=False, principal="A").status == 200
    assert web.ask("tools/list", local=True).status == 200


def test_with_isolation_shared_everybody_is_one(serve: Serve) -> None:
    web = serve(isolation="shared", host="0.0.0.0", allow_hosts=["bridge.example"])
    web.ask("tools/list", principal="A")
    web.ask("tools/list", principal="B")
    assert web.ask("tools/list", host="bridge.example", local=False).status == 200
    assert web.opened == [1]


def test_with_isolation_shared_answers_still_go_to_whoever_asked(serve: Serve) -> None:
    web = serve(isolation="shared")
    one, two = web.call("deploy", id=1, principal="A"), web.call("deploy", id=1, principal="B")
    first, second = (frame["id"] for frame in web.requests("tools/call"))
    web.reply("tools/call", {"content": [], "for": "B"}, id=second)
    web.reply("tools/call", {"content": [], "for": "A"}, id=first)
    assert (one.result["for"], two.result["for"]) == ("A", "B")


# -- the other's legacy session ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("thief", ["B", None])
def test_a_session_id_is_worth_nothing_to_another(serve: Serve, thief: str | None) -> None:
    web = serve(capabilities=RESOURCES)
    mine = web.legacy(principal="A")
    stream = mine.get()
    call = mine.call(id=1)
    web.question("q", "roots/list")
    before = list(web.to_server[1])
    theirs = LegacyClient(web, principal=thief)
    theirs.session = mine.session
    tried = [
        theirs.call(id=2),
        theirs.note("notifications/cancelled", {"requestId": 1}),
        theirs.answer("q", {"roots": []}),
        theirs.get(),
        theirs.get(stream.events[0].id),
        theirs.get(call.events[0].id),
        theirs.delete(),
    ]
    assert [answer.status for answer in tried] == [404] * len(tried)
    assert web.to_server[1] == before
    assert not call.done
    assert not stream.done


def test_a_foreign_session_and_an_unknown_one_look_the_same(serve: Serve) -> None:
    web = serve()
    mine = web.legacy(principal="A")
    theirs = LegacyClient(web, principal="B")
    bodies = []
    for session in (mine.session, "0" * 48):
        theirs.session = session
        answers = [theirs.call(id=1), theirs.get(), theirs.delete(), theirs.note("notifications/x")]
        bodies.append([(answer.status, answer.body, answer.headers) for answer in answers])
    assert bodies[0] == bodies[1]


def test_a_client_cannot_choose_its_session_id(serve: Serve) -> None:
    web = serve()
    fixed = "f" * 48
    client = web.legacy(mcp_session_id=fixed)
    assert client.session != fixed
    victim = LegacyClient(web)
    victim.session = fixed
    assert victim.call(id=1).status == 404


def test_the_two_endpoints_are_their_openers_alone(serve: Serve) -> None:
    web = serve(sse=True, revision="2024-11-05")
    mine = OldClient(web, authorization="Bearer A")
    mine.initialize()
    before = list(web.to_server[1])
    mine.headers["authorization"] = "Bearer B"
    assert mine.ask("tools/call", {"name": "deploy"}, id=1).status == 404
    assert web.to_server[1] == before


# -- the other's modern requests ---------------------------------------------------------------------------------------


def test_a_state_is_worth_nothing_to_another(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", {"x": 1}, principal="A")
    web.form("q")
    web.window()
    state = call.result["requestState"]
    for thief in ("B", None):
        stolen = web.call("deploy", {"x": 1}, members={"requestState": state, "inputResponses": PROD}, principal=thief)
        assert (stolen.code, stolen.error["data"]["reason"]) == (-32602, "tampered")
    assert web.answers_to("q", 1) == []
    mine = web.retry(call, PROD, principal="A")
    web.reply("tools/call", DONE, process=1)
    assert mine.result["content"] == DONE["content"]


def test_answers_by_key_alone_reach_nobodys_question(serve: Serve) -> None:
    web = serve()
    web.call("deploy", {"x": 1}, id=1, principal="A")
    web.form("q")
    web.window()
    web.call("deploy", {"x": 1}, id=1, members={"inputResponses": PROD}, principal="B")
    assert web.answers_to("q", 1) == []


def test_a_cursor_is_worth_nothing_to_another(serve: Serve) -> None:
    web = serve(auto={"tools/list": {"tools": [], "nextCursor": "secret-place"}})
    cursor = web.ask("tools/list", principal="A").result["nextCursor"]
    web.ask("tools/list", principal="B")
    stolen = web.ask("tools/list", {"cursor": cursor}, principal="B")
    assert stolen.code == -32602
    assert all(frame["params"].get("cursor") is None for frame in web.requests("tools/list"))


def test_a_cancellation_by_id_reaches_nobody_elses_request(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy", id="x", principal="A")
    listen = web.listen(id="y", principal="A")
    web.ask("tools/list", principal="B")
    for thief in ("Bearer B", "Bearer C", None):
        for target in ("x", "y", 1, 2, 3):
            note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": target, "_meta": web.meta()}}
            assert web.post(note, mcp_protocol_version=MODERN, authorization=thief).status == 202
    assert not call.done
    assert not listen.done
    assert web.requests("notifications/cancelled") == []


def test_progress_with_the_same_token_goes_to_the_right_one(serve: Serve) -> None:
    web = serve()
    mine = web.call("deploy", id=1, meta=web.meta(progressToken="t"), principal="A")
    theirs = web.call("deploy", id=1, meta=web.meta(progressToken="t"), principal="B")
    token = web.requests("tools/call", 1)[0]["params"]["_meta"]["progressToken"]
    web.tell("notifications/progress", {"progressToken": token, "progress": 1}, process=2)
    web.tell("notifications/progress", {"progressToken": token, "progress": 1}, process=1)
    assert (len(mine.frames), len(theirs.frames)) == (1, 0)


def test_changes_logs_and_questions_stay_with_their_principal(serve: Serve) -> None:
    web = serve(capabilities=RESOURCES, auto=SETS)
    answers: dict[str, list[Answer]] = {}
    for name in ("A", "B"):
        listen = web.listen(id="s", principal=name, filters={"toolsListChanged": True, "resourceSubscriptions": ["a:b"]})
        call = web.call("deploy", id=1, meta=web.meta(logLevel="debug"), principal=name)
        answers[name] = [listen, call]
    before = [len(answer.frames) for answer in answers["B"]]
    web.tell("notifications/tools/list_changed", process=1)
    web.tell("notifications/resources/updated", {"uri": "a:b"}, process=1)
    web.tell("notifications/message", {"level": "error", "data": "secret"}, process=1)
    web.form("q", process=1)
    web.window()
    assert [len(answer.frames) for answer in answers["B"]] == before
    assert [len(answer.frames) for answer in answers["A"]] == [3, 2]
    assert not answers["B"][1].done


def test_a_subscription_of_the_same_id_belongs_to_each_alone(serve: Serve) -> None:
    web = serve(capabilities=RESOURCES, auto=SETS)
    mine = web.listen(id="s", principal="A", filters={"resourceSubscriptions": ["a:b"]})
    theirs = web.listen(id="s", principal="B", filters={"resourceSubscriptions": ["a:b"]})
    web.leave(theirs)
    assert len(web.requests("resources/unsubscribe", 1)) == 0
    assert len(web.requests("resources/unsubscribe", 2)) == 1
    web.tell("notifications/resources/updated", {"uri": "a:b"}, process=1)
    assert len(mine.frames) == 2


def test_what_lists_taught_is_not_shared(serve: Serve) -> None:
    tool = {"name": "query", "inputSchema": {"type": "object", "properties": {"r": {"type": "string", "x-mcp-header": "R"}}}}
    pages: list[Json] = [{"tools": [tool]}, {"tools": []}]
    web = serve(auto={"tools/list": lambda _params: pages.pop(0)})
    assert web.call("query", {"r": "eu"}, principal="A").code == -32020
    assert not web.call("query", {"r": "eu"}, principal="B").done


def test_the_death_of_ones_process_is_not_the_others(serve: Serve) -> None:
    web = serve()
    mine = web.call("deploy", principal="A")
    theirs = web.call("deploy", principal="B")
    web.die(process=1)
    assert mine.done
    assert not theirs.done


def test_one_principal_cannot_release_the_parked_calls_of_another(serve: Serve) -> None:
    web = serve(max_parked=2)
    call = web.call("deploy", {"x": 1}, principal="A")
    web.form("q")
    web.window()
    for number in range(5):
        web.call("deploy", {"x": number}, principal="B")
        web.form(f"b{number}", process=2)
        web.window()
    again = web.retry(call, PROD, principal="A")
    assert not again.done
    assert web.answers_to("q", 1)[0]["result"]["action"] == "accept"


def test_health_tells_nothing_about_anybody(serve: Serve) -> None:
    web = serve()
    client = web.legacy(principal="s3cr3t")
    answer = web.send("GET", "/healthz")
    assert client.session is not None
    assert client.session.encode() not in answer.body
    assert b"s3cr3t" not in answer.body


# -- what cannot be guessed --------------------------------------------------------------------------------------------


def test_session_ids_are_made_of_the_randomness_that_was_handed_in() -> None:
    def session(seed: int) -> str | None:
        web = Web()
        web.face.shared.random = lambda size: seed.to_bytes(size, "big")
        return web.legacy().session

    assert session(1) == session(1)
    assert session(1) != session(2)


def test_a_state_that_another_key_has_sealed_is_worth_nothing(serve: Serve) -> None:
    call = serve(key=b"a" * 32).call("deploy", {"x": 1})
    web = serve(key=b"b" * 32)
    mine = web.call("deploy", {"x": 1})
    web.form("q")
    web.window()
    other = serve(key=b"a" * 32)
    stolen = other.call("deploy", {"x": 1}, members={"requestState": mine.result["requestState"], "inputResponses": PROD})
    assert (stolen.code, stolen.error["data"]["reason"]) == (-32602, "tampered")
    assert not call.done


def test_nothing_that_is_counted_is_a_session_id(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    guess: Any
    for guess in ("1", "0", "2", "i1", "i1.1", client.session[:-1] if client.session else "", f"{client.session}0"):
        thief = LegacyClient(web)
        thief.session = guess
        assert thief.call(id=1).status == 404

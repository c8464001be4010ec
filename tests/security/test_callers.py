"""What belongs to one caller, and what another can do with it: nothing.

Sessions, parked calls, cursors, streams, ids (2025-11-25, basic/transports#session-management; 2026-07-28, basic/patterns/mrtr,
server/utilities/pagination, basic/patterns/subscriptions). Callers are told apart by the Authorization value, or by the field in which a
trusted proxy names them. To a stranger, what is somebody's looks like what was never there.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.cases.conftest import Serve, Share
from tests.cases.reply import text_of
from tests.cases.served import Caller, Served
from tests.security.attacks import ACCEPTED, ASKS, BYE, called, fields, frame, initialize, post

PAIRS = {
    "authorization": ((), {"Authorization": "Bearer ann"}, {"Authorization": "Bearer bob"}),
    "proxy": (("--principal-header", "X-User"), {"X-User": "ann"}, {"X-User": "bob"}),
    "anonymous": ((), {"Authorization": "Bearer ann"}, {}),
}


@pytest.fixture(params=list(PAIRS))
def pair(request: pytest.FixtureRequest, share: Share) -> tuple[Caller, Caller]:
    """Two callers who are told apart in one of the ways that there are."""
    options, first, second = PAIRS[request.param]
    served = share("changes", *options)
    return Caller(served, first), Caller(served, second)


# -- session ids -----------------------------------------------------------------------------------------------------------------


def test_session_ids_are_long_different_and_visible_ascii(served: Served) -> None:
    ids = []
    for _ in range(12):
        caller = served.caller()
        caller.initialize()
        ids.append(caller.session or "")
    assert len(set(ids)) == 12
    assert {len(each) for each in ids} == {48}
    assert all("!" <= sign <= "~" for each in ids for sign in each)


def test_session_ids_share_no_beginning(served: Served) -> None:
    """Nothing in them counts or tells the time: 12 ids that agree in 16 bits at any one place would be a wonder."""
    ids = []
    for _ in range(12):
        caller = served.caller()
        caller.initialize()
        ids.append(caller.session or "")
    assert [at for at in range(0, 48, 4) if len({each[at : at + 4] for each in ids}) == 1] == []


@pytest.mark.parametrize("chosen", ["mine", "0" * 48, "f" * 48, "", "../../x", "\x20"])
def test_session_id_that_a_client_brings_along_is_not_taken_up(served: Served, chosen: str) -> None:
    caller = served.caller()
    reply = caller.post(initialize(), {"Mcp-Session-Id": chosen})
    given = reply.field("mcp-session-id")
    assert (reply.status, given == chosen) == (200, False)
    caller.session = chosen
    assert caller.ask("ping").status == 404


def test_session_id_of_another_is_not_kept_for_who_brings_it_to_a_handshake(served: Served) -> None:
    """Fixation: a victim who begins with an attacker's id gets one of its own."""
    attacker, victim = served.caller(), served.caller()
    attacker.initialize()
    victim.initialize(fields={"Mcp-Session-Id": attacker.session})
    assert victim.session not in (None, attacker.session)
    attacker_pid = text_of(attacker.ask("tools/call", name="pid", arguments={}).json())
    assert text_of(victim.ask("tools/call", name="pid", arguments={}).json()) != attacker_pid


def altered(session: str) -> list[str]:
    """Ids that are nearly a session's."""
    last = "0" if session[-1] != "0" else "1"
    return [
        session[:-1],
        session[:-1] + last,
        session.upper(),
        session + "0",
        f"{session},{session}",
        f'"{session}"',
        session[:24],
        f"{session};x",
    ]


def test_session_is_found_by_its_whole_id_alone(served: Served) -> None:
    caller = served.caller()
    caller.initialize()
    session = caller.session or ""
    for guess in altered(session):
        if guess != session:
            caller.session = guess
            assert (guess, caller.ask("ping").status) == (guess, 404)
    caller.session = session
    assert caller.ask("ping").status == 200


def test_session_id_in_the_target_is_no_session_id(served: Served) -> None:
    caller = served.caller()
    caller.initialize()
    stolen, caller.session = caller.session, None
    for target in (f"/mcp?session_id={stolen}", f"/mcp?Mcp-Session-Id={stolen}", f"/mcp/{stolen}"):
        assert caller.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, target=target).status in (400, 404)


def test_session_that_has_ended_stays_ended(served: Served) -> None:
    caller = served.caller()
    caller.initialize()
    assert caller.delete().status == 204
    assert [caller.ask("ping").status, caller.get().status, caller.delete().status] == [404, 404, 404]


# -- sessions of others ----------------------------------------------------------------------------------------------------------


def test_session_of_another_is_unknown_in_the_same_words_as_one_that_never_was(pair: tuple[Caller, Caller]) -> None:
    ann, bob = pair
    ann.initialize()
    answers = []
    for session in (ann.session, "0" * 48):
        bob.session = session
        replies = [bob.ask("ping", id=1), bob.get(), bob.delete(), bob.tell("notifications/cancelled", requestId=1)]
        answers.append([(reply.status, reply.body, [name for name, _ in reply.fields]) for reply in replies])
    assert answers[0] == answers[1]
    assert {status for status, _, _ in answers[0]} == {404}
    assert ann.ask("ping").status == 200


def test_answer_to_the_question_of_another_goes_nowhere(pair: tuple[Caller, Caller]) -> None:
    ann, bob = pair
    ann.initialize(elicitation={})
    messages = ann.ask("tools/call", name="ask", arguments={}).messages()
    question = next(messages)
    bob.session = ann.session
    assert bob.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"env": "bob"}}}).status == 404
    bob.session = None
    bob.initialize(elicitation={})
    assert bob.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"env": "bob"}}}).status == 202
    assert ann.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}).status == 202
    assert json.loads(text_of(next(messages))) == {"action": "decline"}


def test_cancellation_by_another_cancels_nothing(pair: tuple[Caller, Caller]) -> None:
    """The ids of two callers' requests are the same; whose is meant is never in doubt."""
    ann, bob = pair
    ann.initialize(elicitation={})
    bob.initialize()
    messages = ann.ask("tools/call", id=7, name="ask", arguments={}).messages()
    question = next(messages)
    assert bob.tell("notifications/cancelled", requestId=7).status == 202
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    bob.session = None
    assert bob.post(cancel, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/cancelled"}).status == 202
    assert ann.post({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}}).status == 202
    assert next(messages)["id"] == 7


def test_event_id_of_another_brings_nothing_of_his(share: Share) -> None:
    """Bob comes back for a stream of his own session under ann's id for hers."""
    served = share("any-revision")
    ann, bob = served.caller("Bearer ann"), served.caller("Bearer bob")
    ann.initialize("2025-11-25", elicitation={})
    bob.initialize("2025-11-25")
    events = ann.ask("tools/call", name="ask", arguments={}).events()
    primed, asked = next(events)["id"], next(events)
    assert json.loads(asked["data"])["method"] == "elicitation/create"
    for event in (primed, asked["id"]):
        stream = bob.get({"Last-Event-ID": event})
        bob.ask("tools/call", name="change", arguments={})
        assert next(stream.messages())["method"] == "notifications/tools/list_changed"


@pytest.mark.parametrize("event", ["0-0", "99-1", "-1-1", "1--1", "1", "", "1-1-1", "1-" + "9" * 100, "../1", "99999999999999999999-1"])
def test_event_id_that_was_never_given_brings_nothing_old(served: Served, event: str) -> None:
    caller = served.caller()
    caller.initialize()
    caller.ask("tools/call", name="echo", arguments={"text": "old"})
    stream = caller.get({"Last-Event-ID": event})
    assert stream.status == 200
    caller.ask("tools/call", name="change", arguments={})
    assert next(stream.messages())["method"] == "notifications/tools/list_changed"


# -- modern requests -----------------------------------------------------------------------------------------------------------------


def test_servers_of_two_callers_are_two(pair: tuple[Caller, Caller]) -> None:
    ann, bob = pair
    assert ann.said("pid") != bob.said("pid")
    ann.initialize()
    assert text_of(ann.ask("tools/call", name="pid", arguments={}).json()) not in (ann.said("pid"), bob.said("pid"))


def test_state_of_another_is_as_unknown_as_an_invented_one_and_stays_good_for_its_owner(pair: tuple[Caller, Caller]) -> None:
    ann, bob = pair
    state = ann.call("ask", meta=ASKS).json()["result"]["requestState"]
    retry = {"name": "ask", "arguments": {}, "requestState": state, "inputResponses": ACCEPTED}
    stolen = bob.request("tools/call", meta=ASKS, **retry).error()
    invented = bob.request("tools/call", meta=ASKS, **{**retry, "requestState": state[::-1]}).error()
    assert (stolen["code"], stolen) == (-32602, invented)
    assert "prod" in text_of(ann.request("tools/call", meta=ASKS, **retry).json())


def test_questions_that_one_caller_leaves_open_cost_another_nothing(serve: Serve) -> None:
    served = serve("plain", "--max-parked", "4")
    ann, bob = served.caller("Bearer ann"), served.caller("Bearer bob")
    asked = [caller.call("ask", meta=ASKS).json()["result"]["requestState"] for caller in (ann, bob)]
    for number in range(12):
        assert bob.call("ask", meta=ASKS, number=number).json()["result"]["resultType"] == "input_required"
    retry = {"name": "ask", "arguments": {}, "inputResponses": ACCEPTED}
    assert "prod" in text_of(ann.request("tools/call", meta=ASKS, requestState=asked[0], **retry).json())
    assert bob.request("tools/call", meta=ASKS, requestState=asked[1], **retry).error()["code"] == -32602


def test_state_that_was_used_or_changed_is_refused(served: Served) -> None:
    caller = served.caller("Bearer ann")
    state = caller.call("ask", meta=ASKS).json()["result"]["requestState"]
    retry = {"name": "ask", "arguments": {}, "inputResponses": ACCEPTED}
    for changed in (state[:-1], state[:-2] + ("AA" if state[-2:] != "AA" else "BB"), state + "A", state.swapcase(), "", "A" * len(state)):
        assert caller.request("tools/call", meta=ASKS, requestState=changed, **retry).error()["code"] == -32602
    other = {**retry, "arguments": {"x": 1}}
    assert caller.request("tools/call", meta=ASKS, requestState=state, **other).error()["code"] == -32602
    assert "prod" in text_of(caller.request("tools/call", meta=ASKS, requestState=state, **retry).json())
    replayed = caller.request("tools/call", meta=ASKS, requestState=state, **{**retry, "inputResponses": {"env": {"action": "decline"}}})
    assert replayed.error()["code"] == -32602


def test_cursor_of_another_is_refused(share: Share) -> None:
    served = share("pages")
    ann, bob = served.caller("Bearer ann"), served.caller("Bearer bob")
    cursor = ann.request("tools/list").json()["result"]["nextCursor"]
    bob.request("tools/list")
    served.forget()
    assert bob.request("tools/list", cursor=cursor).error()["code"] == -32602
    assert served.shown("tools/list") == []
    assert "tools" in ann.request("tools/list", cursor=cursor).json()["result"]


def test_cursor_of_the_servers_own_making_is_refused(share: Share) -> None:
    """Else a client could send a server any text under a name that servers trust."""
    caller = share("pages").caller()
    assert caller.request("tools/list", cursor="2").error()["code"] == -32602
    assert caller.request("tools/list", cursor="../../etc/passwd").error()["code"] == -32602


def test_stream_of_one_caller_hears_nothing_of_the_other(pair: tuple[Caller, Caller]) -> None:
    """Both choose the same id for it, and with it the same subscription id."""
    ann, bob = pair
    streams = []
    for caller in (ann, bob):
        messages = caller.request("subscriptions/listen", id="s", notifications={"toolsListChanged": True}).messages()
        assert next(messages)["method"] == "notifications/subscriptions/acknowledged"
        streams.append(messages)
    assert bob.said("change") == "changed"
    assert next(streams[1])["method"] == "notifications/tools/list_changed"
    assert ann.request("subscriptions/listen", id="end", notifications={}).streams
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}}
    assert bob.post(cancel, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "notifications/cancelled"}).status == 202
    assert list(streams[1]) == []
    assert ann.said("change") == "changed"
    assert [next(streams[0])["method"]] == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("isolation", ["principal", "shared", "session"])
def test_same_progress_token_of_two_callers_is_two_tokens(share: Share, isolation: str) -> None:
    served = share("plain", "--isolation", isolation)
    token = {"progressToken": "t"}
    with ThreadPoolExecutor(8) as pool:
        callers = [served.caller(f"Bearer {number % 2}") for number in range(8)]
        replies = list(pool.map(lambda caller: list(caller.call("steps", meta=token, text=str(id(caller))).messages()), callers))
    for caller, messages in zip(callers, replies, strict=True):
        progress = [frame["params"] for frame in messages if "method" in frame]
        assert {params["progressToken"] for params in progress} == {"t"}
        assert {params["message"] for params in progress} == {str(id(caller))}
        assert text_of(messages[-1]) == str(id(caller))


def test_same_request_id_of_two_callers_is_two_requests(pair: tuple[Caller, Caller]) -> None:
    ann, bob = pair
    held = ann.request("subscriptions/listen", id=1, notifications={})
    assert held.streams
    assert bob.request("tools/call", id=1, name="echo", arguments={"text": "b"}).json()["result"]["content"][0]["text"] == "b"
    assert ann.request("tools/call", id=1, name="echo", arguments={"text": "a"}).json()["result"]["content"][0]["text"] == "a"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Bearer a", "bearer a"),
        ("Bearer a", "Bearer  a"),
        ("Bearer a", "Bearer A"),
        ("Bearer a", "a"),
        ("Bearer a", "Bearer a, b"),
        ("Basic x", "Bearer x"),
    ],
)
def test_two_values_are_never_taken_for_one(served: Served, first: str, second: str) -> None:
    assert served.caller(first).said("pid") != served.caller(second).said("pid")


def test_with_isolation_by_session_every_call_has_a_server_of_its_own(share: Share) -> None:
    caller = share("plain", "--isolation", "session").caller()
    assert caller.said("pid") != caller.said("pid")
    assert [caller.said("count"), caller.said("count")] == ["1", "1"]


def test_legacy_session_of_a_shared_endpoint_is_still_found_by_its_id_alone(share: Share) -> None:
    served = share("plain", "--isolation", "shared")
    ann, bob = served.caller("Bearer ann"), served.caller("Bearer bob")
    ann.initialize()
    bob.initialize()
    pids = [text_of(caller.ask("tools/call", name="pid", arguments={}).json()) for caller in (ann, bob)]
    assert pids[0] != pids[1]


# -- the field of a trusted proxy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"X-User": ""},
        {"X-User": "  "},
        {"X_User": "ann"},
        {"X-User-": "ann"},
        {"Authorization": "Bearer ann"},
        {"X-Forwarded-User": "ann"},
    ],
)
def test_request_in_which_the_proxy_names_nobody_is_refused(share: Share, own: Any) -> None:
    served = share("plain", "--principal-header", "X-User")
    replies = [
        served.caller().call("echo", fields=own, text="x"),
        served.caller().post(initialize(), own),
        served.caller().send("GET", None, own),
        served.caller().send("DELETE", None, {**own, "Mcp-Session-Id": "x"}),
    ]
    assert [(reply.status, reply.field("www-authenticate")) for reply in replies] == [(401, "Bearer")] * 4
    assert served.shown("initialize") == []


@pytest.mark.parametrize("values", [["ann", "bob"], ["ann", "ann"], ["", "ann"], ["ann", ""]])
@pytest.mark.parametrize("second", ["X-User", "x-user", "X-USER"])
def test_second_field_beside_the_proxys_is_refused(share: Share, values: list[str], second: str) -> None:
    """Which of the two the proxy has written, nobody can tell."""
    served = share("plain", "--principal-header", "X-User")
    own = fields("tools/call", "echo")
    own |= {"X-User": values} if second == "X-User" else {"X-User": values[0], second: values[1]}
    replies = served.raw(post(frame("tools/call", name="echo", arguments={}), own) + BYE)
    assert replies[0].status in (400, 401)
    assert called(served) == []


def test_credentials_do_not_count_where_a_proxy_names_the_caller(share: Share) -> None:
    served = share("plain", "--principal-header", "X-User")
    first = Caller(served, {"X-User": "ann", "Authorization": "Bearer 1"})
    second = Caller(served, {"X-User": "ann", "Authorization": "Bearer 2"})
    assert first.said("pid") == second.said("pid")


def test_field_of_a_proxy_counts_for_nothing_where_it_was_not_asked_for(served: Served) -> None:
    assert Caller(served, {"X-User": "ann"}).said("pid") == Caller(served, {"X-User": "bob"}).said("pid")


# -- the two endpoints of 2024-11-05 -----------------------------------------------------------------------------------------------------


def test_endpoint_of_another_is_unknown_and_its_id_is_no_session_elsewhere(serve: Serve) -> None:
    served = serve("plain", "--sse")
    ann, bob = served.caller("Bearer ann"), served.caller("Bearer bob")
    events = ann.get(target="/sse").events()
    endpoint = "/" + next(events)["data"]
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert bob.post(initialize("2024-11-05"), target=endpoint).status == 404
    assert ann.post(ping, {"Mcp-Session-Id": endpoint.partition("=")[2]}).status == 404
    assert served.methods() == []
    assert ann.post(initialize("2024-11-05"), target=endpoint).status == 202
    assert json.loads(next(events)["data"])["id"] == "hello"


def test_session_of_the_newer_transport_is_no_endpoint_of_the_old(serve: Serve) -> None:
    caller = serve("plain", "--sse").caller()
    caller.initialize()
    assert caller.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, target=f"/messages?session_id={caller.session}").status == 404
    for query in ("", "?session_id=", "?session_id=%00", f"?x={caller.session}", f"?session_id=x&session_id={caller.session}"):
        assert caller.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, target=f"/messages{query}").status == 404

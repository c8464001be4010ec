"""A server's questions become rounds (translation: server requests and multi round-trip; 2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from tests.conversation import ALL_CAPABILITIES, META, SERVER, Conversation, envelope
from tests.conversations.conftest import Converse

TEXT = {"content": [{"type": "text", "text": "done"}]}
NAME = {"type": "string"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Capital of France?"}}], "maxTokens": 10}
PARIS = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
ROOTS = {"roots": [{"uri": "file:///p", "name": "p"}]}


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def met(converse: Converse, **settings: Any) -> Conversation:
    talk = converse(**settings)
    talk.meet()
    return talk


def answer(talk: Conversation, to: Any, id: Any, **answers: Any) -> None:  # noqa: A002
    """The retry of a call, with the state of its last round."""
    first = next(frame for frame in talk.asked_by_client if frame["id"] == to)
    params = {key: value for key, value in first["params"].items() if key not in ("_meta", "requestState", "inputResponses")}
    talk.client(first["method"], {**params, "requestState": talk.result_of(to)["requestState"], "inputResponses": answers}, id=id)


def asked(talk: Conversation, id: Any) -> dict[str, Any]:  # noqa: A002
    """The questions of a round."""
    result = talk.result_of(id)
    assert result["resultType"] == "input_required"
    assert result["_meta"] == {f"{META}serverInfo": SERVER}
    assert "ttlMs" not in result
    return result["inputRequests"]  # type: ignore[no-any-return]


# -- rounds ------------------------------------------------------------------------------------------------------------------


def test_one_question_parks_the_call_and_its_answer_resumes_it(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("deploy", {"x": 1}, id=1)
    talk.ask_form("q1", "Which environment?", env=NAME)
    assert len(talk.to_client) == 1
    talk.window()
    schema = {"type": "object", "properties": {"env": NAME}}
    assert asked(talk, 1) == {
        "env": {"method": "elicitation/create", "params": {"message": "Which environment?", "requestedSchema": schema}}
    }
    answer(talk, 1, 2, env=accept(env="prod"))
    assert talk.answers_of_client("q1")[0]["result"] == {"action": "accept", "content": {"env": "prod"}}
    assert len(talk.requests("tools/call")) == 1
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["resultType"] == "complete"
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_three_questions_that_come_together_go_out_together(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("plan", id=1)
    talk.ask(1, "elicitation/create", {"message": "Both?", "requestedSchema": {"type": "object", "properties": {"a": NAME, "b": NAME}}})
    talk.ask("1", "sampling/createMessage", SAMPLE)
    talk.ask(2**53 + 1, "roots/list")
    talk.window()
    assert {key: request["method"] for key, request in asked(talk, 1).items()} == {
        "elicitation-1": "elicitation/create",
        "sampling-1": "sampling/createMessage",
        "roots-1": "roots/list",
    }
    answer(talk, 1, 2, **{"elicitation-1": accept(a="x", b="y"), "sampling-1": PARIS, "roots-1": ROOTS})
    assert talk.answers_of_client(1)[0]["result"] == accept(a="x", b="y")
    assert talk.answers_of_client("1")[0]["result"] == PARIS
    assert talk.answers_of_client(2**53 + 1)[0]["result"] == ROOTS
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert talk.transcript() == transcript


def test_rounds_one_after_another_bring_a_new_state_each(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("wizard", id=1)
    for number in range(1, 4):
        talk.ask_form(number, f"Step {number}?", step=NAME)
        talk.window()
        answer(talk, number, number + 1, **{next(iter(asked(talk, number))): accept(step=str(number))})
    talk.reply("tools/call", TEXT)
    assert talk.result_of(4)["content"] == TEXT["content"]
    assert len({talk.result_of(number)["requestState"] for number in (1, 2, 3)}) == 3
    assert [talk.answers_of_client(number)[0]["result"]["content"] for number in (1, 2, 3)] == [{"step": "1"}, {"step": "2"}, {"step": "3"}]
    assert talk.transcript() == transcript


def test_keys_of_a_round_are_suffixed_when_they_would_be_the_same(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask_form("a", "First?", env=NAME)
    talk.ask_form("b", "Second?", env=NAME)
    talk.ask("c", "sampling/createMessage", SAMPLE)
    talk.ask("d", "sampling/createMessage", SAMPLE)
    talk.window()
    assert list(asked(talk, 1)) == ["env", "env-2", "sampling-1", "sampling-2"]
    answer(talk, 1, 2, **{"env-2": accept(env="2"), "env": accept(env="1"), "sampling-2": PARIS, "sampling-1": PARIS})
    assert talk.answers_of_client("a")[0]["result"]["content"] == {"env": "1"}
    assert talk.answers_of_client("b")[0]["result"]["content"] == {"env": "2"}


def test_more_than_ten_rounds_are_carried_and_the_operator_is_told(converse: Converse) -> None:
    talk = met(converse)
    talk.call("wizard", id=1)
    for number in range(1, 13):
        talk.ask_form(f"q{number}", "Next?", step=NAME)
        talk.window()
        answer(talk, number, number + 1, **{next(iter(asked(talk, number))): accept(step="x")})
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(13)
    assert len([line for line in talk.log if line.startswith("* log") and "10 rounds" in line]) == 1


@pytest.mark.parametrize(
    ("method", "params", "done"),
    [
        ("prompts/get", {"name": "p"}, {"messages": []}),
        ("resources/read", {"uri": "a:b"}, {"contents": []}),
    ],
)
def test_prompts_and_resources_may_ask_too(converse: Converse, method: str, params: Any, done: Any) -> None:
    talk = met(converse)
    talk.client(method, params, id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 1)) == ["env"]
    answer(talk, 1, 2, env=accept(env="x"))
    talk.reply(method, done)
    assert talk.result_of(2)["resultType"] == "complete"


def test_questions_wait_until_the_server_is_quiet_but_not_for_ever(converse: Converse) -> None:
    talk = met(converse, question_window=0.02)
    talk.call("chatty", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    for _ in range(4):
        talk.pass_time(0.015)
        talk.note("notifications/com.example/tick")
    assert [frame for frame in talk.to_client if frame.get("id") == 1] == []
    for _ in range(10):
        talk.pass_time(0.015)
        talk.note("notifications/com.example/tick")
    assert list(asked(talk, 1)) == ["env"]


def test_server_words_that_modern_clients_do_not_know_are_taken_off_a_question(converse: Converse) -> None:
    talk = met(converse, capabilities={"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}})
    talk.call("t", id=1)
    meta = {"progressToken": 4, f"{META}related-task": {"taskId": "x"}, "com.example/kept": 1}
    params = {
        "mode": "form",
        "message": "m",
        "requestedSchema": {"type": "object", "properties": {"a": NAME}},
        "task": {"ttl": 60},
        "elicitationId": "e",
        "_meta": meta,
        "com.example": [1.10],
    }
    talk.ask("q", "elicitation/create", params)
    talk.window()
    kept = {key: value for key, value in params.items() if key not in ("task", "elicitationId", "_meta")}
    assert asked(talk, 1)["a"]["params"] == {**kept, "_meta": {"com.example/kept": 1}}


def test_context_is_asked_for_only_where_the_client_declared_it(converse: Converse) -> None:
    talk = met(converse)
    talk.call("a", id=1, capabilities={"sampling": {}})
    talk.ask("q", "sampling/createMessage", {**SAMPLE, "includeContext": "allServers"})
    talk.window()
    assert "includeContext" not in asked(talk, 1)["sampling-1"]["params"]
    talk.call("b", id=2, capabilities={"sampling": {"context": {}}})
    talk.ask("r", "sampling/createMessage", {**SAMPLE, "includeContext": "allServers"})
    talk.window()
    assert asked(talk, 2)["sampling-1"]["params"]["includeContext"] == "allServers"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("elicitation/create", None),
        ("elicitation/create", {}),
        ("elicitation/create", {"message": "m"}),
        ("elicitation/create", {"message": "m", "requestedSchema": {"type": "object"}}),
        ("elicitation/create", {"message": 1, "requestedSchema": {"type": "object", "properties": {}}}),
        ("elicitation/create", {"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": "object"}}}}),
        ("elicitation/create", {"mode": "voice", "message": "m"}),
        ("elicitation/create", {"mode": "url", "message": "m"}),
        ("sampling/createMessage", {"messages": []}),
        ("sampling/createMessage", {"messages": [{"role": "system", "content": {"type": "text", "text": "x"}}], "maxTokens": 1}),
        ("roots/list", {"_meta": 1}),
    ],
)
def test_question_of_the_wrong_shape_is_refused_and_the_call_goes_on(converse: Converse, method: str, params: Any) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask("q", method, params)
    assert talk.answers_of_client("q")[0]["error"]["code"] == -32602
    talk.window()
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_ping_of_the_server_is_answered_here(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = converse()
    talk.client("tools/list", id=1)
    talk.ask("early", "ping")
    assert talk.answers_of_client("early")[0]["result"] == {}
    talk.handshake()
    talk.ask(0, "ping", {"_meta": {}})
    assert talk.answers_of_client(0)[0]["result"] == {}
    assert talk.to_client == []
    assert talk.transcript() == transcript


@pytest.mark.parametrize("method", ["tasks/get", "tools/list", "com.example/ask", "notifications/message"])
def test_any_other_request_of_the_server_is_not_found(converse: Converse, method: str) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask("q", method, {})
    assert talk.answers_of_client("q")[0]["error"]["code"] == -32601
    assert len(talk.to_client) == 1


def test_question_under_an_id_that_is_still_open_is_refused(converse: Converse) -> None:
    talk = met(converse, judged=False)
    talk.call("t", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.ask_form("q", "When?", time=NAME)
    assert talk.answers_of_client("q")[0]["error"]["code"] == -32600
    talk.window()
    assert list(asked(talk, 1)) == ["env"]
    answer(talk, 1, 2, env=accept(env="x"))
    talk.ask_form("q", "When?", time=NAME)
    talk.window()
    assert list(asked(talk, 2)) == ["time"]


# -- whose question is it? -----------------------------------------------------------------------------------------------------


def test_question_right_after_initialized_waits_for_the_next_call_and_blocks_nothing(
    converse: Converse, transcript: SnapshotAssertion
) -> None:
    talk = met(converse)
    talk.ask("r", "roots/list")
    talk.window()
    talk.client("tools/list", id=1)
    talk.reply("tools/list", {"tools": []})
    assert talk.result_of(1)["tools"] == []
    talk.call("t", id=2)
    talk.window()
    assert list(asked(talk, 2)) == ["roots-1"]
    answer(talk, 2, 3, **{"roots-1": ROOTS})
    assert talk.answers_of_client("r")[0]["result"] == ROOTS
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(3)
    assert talk.transcript() == transcript


def test_question_during_a_list_waits_for_a_call(converse: Converse) -> None:
    talk = met(converse)
    talk.client("tools/list", id=1)
    talk.ask("r", "roots/list")
    talk.window()
    assert talk.answers_of_client("r") == []
    talk.reply("tools/list", {"tools": []})
    talk.call("t", id=2)
    talk.window()
    assert list(asked(talk, 2)) == ["roots-1"]


def test_held_question_that_the_call_has_no_capability_for_is_refused(converse: Converse) -> None:
    talk = met(converse)
    talk.ask("r", "roots/list")
    talk.call("t", id=1, capabilities={})
    assert talk.answers_of_client("r")[0]["error"]["code"] == -32601
    talk.window()
    assert len(talk.to_client) == 1


def test_held_questions_are_bounded_and_expire(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse, question_timeout=30)
    for number in range(17):
        talk.ask(number, "roots/list")
    assert talk.answers_of_client(16)[0]["error"]["code"] == -32603
    assert talk.answers_of_client(0) == []
    talk.pass_time(31)
    assert talk.answers_of_client(0)[0]["error"]["code"] == -32603
    assert talk.answers_of_client(15)[0]["error"]["code"] == -32603
    talk.call("t", id=1)
    talk.window()
    assert len(talk.to_client) == 1
    assert talk.transcript() == transcript


def test_question_with_several_calls_running_goes_to_the_oldest(converse: Converse) -> None:
    talk = met(converse)
    talk.call("a", id=1)
    talk.call("b", id=2)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 1)) == ["env"]
    assert [frame for frame in talk.to_client if frame.get("id") == 2] == []


def test_question_that_names_a_progress_token_goes_to_its_call(converse: Converse) -> None:
    talk = met(converse)
    talk.call("a", id=1)
    talk.call("b", id=2)
    meta = {"progressToken": talk.pending("tools/call")}
    talk.ask("r", "roots/list", {"_meta": meta})
    talk.window()
    assert list(asked(talk, 2)) == ["roots-1"]


def test_question_goes_to_the_call_whose_tool_has_asked_before(converse: Converse) -> None:
    talk = met(converse)
    talk.call("asker", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    answer(talk, 1, 2, env=accept(env="x"))
    talk.reply("tools/call", TEXT)
    talk.call("quiet", id=3)
    talk.call("asker", id=4)
    talk.ask_form("r", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 4)) == ["env"]


def test_question_moves_on_when_its_first_candidate_is_answered(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("quick", id=1)
    quick = talk.pending("tools/call")
    talk.call("asker", id=2)
    talk.ask_form("q", "Where?", env=NAME)
    talk.server_frame({"jsonrpc": "2.0", "id": quick, "result": TEXT})
    assert talk.result_of(1)["resultType"] == "complete"
    talk.window()
    assert list(asked(talk, 2)) == ["env"]
    answer(talk, 2, 3, env=accept(env="x"))
    assert talk.answers_of_client("q")[0]["result"] == accept(env="x")
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(3)
    assert talk.transcript() == transcript


def test_question_carried_by_the_wrong_call_is_answered_and_both_calls_end_right(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("quiet", id=1)
    quiet = talk.pending("tools/call")
    talk.call("asker", id=2)
    asker = talk.pending("tools/call")
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 1)) == ["env"]
    talk.server_frame({"jsonrpc": "2.0", "id": quiet, "result": {"content": [{"type": "text", "text": "quiet"}]}})
    answer(talk, 1, 3, env=accept(env="x"))
    assert talk.answers_of_client("q")[0]["result"] == accept(env="x")
    assert talk.result_of(3)["content"][0]["text"] == "quiet"
    talk.server_frame({"jsonrpc": "2.0", "id": asker, "result": {"content": [{"type": "text", "text": "asker"}]}})
    assert talk.result_of(2)["content"][0]["text"] == "asker"
    assert talk.transcript() == transcript


def test_calls_of_a_tool_that_asks_run_one_after_another_and_others_beside_them(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("asker", {"n": 0}, id=10)
    talk.ask_form("q0", "Where?", env=NAME)
    talk.window()
    answer(talk, 10, 11, env=accept(env="x"))
    talk.reply("tools/call", TEXT)
    talk.call("asker", {"n": 1}, id=1)
    talk.call("asker", {"n": 2}, id=2)
    talk.call("other", {"n": 3}, id=3)
    talk.client("tools/list", id=4)
    assert [frame["params"]["arguments"].get("n") for frame in talk.requests("tools/call")] == [0, 1, 3]
    assert len(talk.requests("tools/list")) == 1
    talk.ask_form("q1", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 1)) == ["env"]
    assert [frame["params"]["arguments"].get("n") for frame in talk.requests("tools/call")] == [0, 1, 3, 2]
    talk.ask_form("q2", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 2)) == ["env"]
    answer(talk, 2, 22, env=accept(env="two"))
    answer(talk, 1, 21, env=accept(env="one"))
    assert talk.answers_of_client("q2")[0]["result"] == accept(env="two")
    assert talk.answers_of_client("q1")[0]["result"] == accept(env="one")
    assert talk.transcript() == transcript


def test_parked_call_holds_nobody_up(converse: Converse) -> None:
    talk = met(converse)
    talk.call("asker", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.call("asker", id=2)
    talk.client("tools/list", id=3)
    assert len(talk.requests("tools/call")) == 2
    talk.reply("tools/list", {"tools": []})
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert "result" in talk.answer_to(3)


def test_one_call_at_a_time_keeps_the_next_until_the_first_has_asked_or_ended(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse, one_call_per_session=True)
    talk.call("a", id=1)
    talk.client("prompts/get", {"name": "b"}, id=2)
    talk.client("tools/list", id=3)
    assert [frame["method"] for frame in talk.to_server[2:]] == ["tools/call", "tools/list"]
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert [frame["method"] for frame in talk.to_server[2:]] == ["tools/call", "tools/list", "prompts/get"]
    assert talk.transcript() == transcript


def test_withdrawn_question_of_a_call_leaves_the_others_of_the_round(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask_form("q1", "Where?", env=NAME)
    talk.ask_form("q2", "When?", time=NAME)
    talk.window()
    talk.note("notifications/cancelled", {"requestId": "q1"})
    answer(talk, 1, 2, env=accept(env="x"), time=accept(time="y"))
    assert talk.answers_of_client("q1") == []
    assert talk.answers_of_client("q2")[0]["result"] == accept(time="y")


# -- capabilities ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "declared", "code", "required"),
    [
        (
            "elicitation/create",
            {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
            {},
            -32602,
            {"elicitation": {"form": {}}},
        ),
        (
            "elicitation/create",
            {"message": "m", "requestedSchema": {"type": "object", "properties": {}}},
            {"elicitation": {"url": {}}},
            -32602,
            {"elicitation": {"form": {}}},
        ),
        (
            "elicitation/create",
            {"mode": "url", "message": "m", "url": "https://a/", "elicitationId": "e"},
            {"elicitation": {}},
            -32602,
            {"elicitation": {"url": {}}},
        ),
        ("sampling/createMessage", SAMPLE, {"roots": {}}, -32601, {"sampling": {}}),
        ("sampling/createMessage", {**SAMPLE, "tools": []}, {"sampling": {}}, -32602, {"sampling": {"tools": {}}}),
        ("roots/list", None, {"sampling": {}}, -32601, {"roots": {}}),
    ],
)
def test_question_outside_the_capabilities_is_refused_and_a_failing_call_names_them(
    converse: Converse, method: str, params: Any, declared: Any, code: int, required: Any
) -> None:
    talk = met(converse)
    talk.call("t", id=1, capabilities=declared)
    talk.ask("q", method, params)
    assert talk.answers_of_client("q")[0]["error"]["code"] == code
    talk.reply_error("tools/call", -32603, "cannot work without it")
    assert talk.error_of(1)["code"] == -32021
    assert talk.error_of(1)["data"]["requiredCapabilities"] == required


def test_call_that_fails_as_a_tool_names_the_missing_capability(converse: Converse, transcript: SnapshotAssertion) -> None:
    talk = met(converse)
    talk.call("t", id=1, capabilities={})
    talk.ask_form("q", "Where?", env=NAME)
    talk.ask("r", "roots/list")
    talk.reply("tools/call", {"content": [{"type": "text", "text": "client cannot elicit"}], "isError": True})
    assert talk.error_of(1)["code"] == -32021
    assert talk.error_of(1)["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}, "roots": {}}
    assert talk.transcript() == transcript


def test_call_that_succeeds_without_the_capability_stays_good(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1, capabilities={})
    talk.ask_form("q", "Where?", env=NAME)
    talk.reply("tools/call", TEXT)
    assert talk.result_of(1)["content"] == TEXT["content"]


def test_empty_elicitation_capability_means_forms(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1, capabilities={"elicitation": {}})
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 1)) == ["env"]


def test_retry_that_declares_less_is_asked_nothing_more(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("t", id=2, requestState=state, inputResponses={"env": accept(env="x")}, capabilities={})
    talk.ask("r", "roots/list")
    assert talk.answers_of_client("r")[0]["error"]["code"] == -32601


def test_client_that_declares_a_capability_the_session_was_not_opened_with_is_asked(converse: Converse) -> None:
    talk = converse()
    talk.call("a", id=1, capabilities={})
    talk.handshake()
    talk.reply("tools/call", TEXT)
    talk.call("b", id=2)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    assert list(asked(talk, 2)) == ["env"]


def test_call_of_a_tool_that_asks_lets_the_next_start_when_it_ends_without_asking(converse: Converse) -> None:
    talk = met(converse)
    talk.call("asker", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    talk.call("asker", id=2)
    talk.call("asker", id=3)
    assert len(talk.requests("tools/call")) == 2
    talk.reply("tools/call", TEXT)
    assert "result" in talk.answer_to(2)
    assert len(talk.requests("tools/call")) == 3


def test_question_held_on_one_isolated_session_is_not_asked_of_a_call_on_another(converse: Converse) -> None:
    talk = converse(isolate_capabilities=True)
    talk.client("tools/list", id=1)
    talk.handshake()
    talk.ask("r", "roots/list")
    talk.call("t", id=2, capabilities={"roots": {}})
    talk.handshake()
    talk.window()
    assert [frame for frame in talk.to_client if frame.get("id") == 2] == []
    talk.call("t", id=3)
    talk.window()
    assert list(asked(talk, 3)) == ["roots-1"]


def test_retry_with_other_capabilities_resumes_on_the_session_of_its_call(converse: Converse) -> None:
    talk = converse(isolate_capabilities=True)
    talk.call("t", id=1)
    talk.handshake()
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("t", id=2, capabilities={"elicitation": {}}, requestState=state, inputResponses={"env": accept(env="x")})
    assert talk.opened == [1]
    assert talk.answers_of_client("q")[0]["result"] == accept(env="x")


def test_retry_under_the_id_of_the_first_request_is_taken(converse: Converse) -> None:
    talk = met(converse)
    talk.call("t", id=1)
    talk.ask_form("q", "Where?", env=NAME)
    talk.window()
    state = talk.result_of(1)["requestState"]
    talk.call("t", id=1, requestState=state, inputResponses={"env": accept(env="x")})
    talk.reply("tools/call", TEXT)
    assert talk.to_client[-1]["id"] == 1
    assert talk.to_client[-1]["result"]["content"] == TEXT["content"]


def test_call_that_waits_for_an_early_question_runs_on_a_new_server_when_the_first_died(
    converse: Converse, transcript: SnapshotAssertion
) -> None:
    talk = converse(capabilities={"tools": {}, "logging": {}})
    talk.meet()
    talk.ask("r", "roots/list")
    talk.call("t", id=1, meta=envelope(ALL_CAPABILITIES, logLevel="info"))
    talk.window()
    assert list(asked(talk, 1)) == ["roots-1"]
    talk.server_dies()
    state = talk.result_of(1)["requestState"]
    talk.call("t", id=2, meta=envelope(ALL_CAPABILITIES, logLevel="info"), requestState=state, inputResponses={"roots-1": {"roots": []}})
    assert talk.opened == [1, 2]
    talk.handshake()
    talk.reply("logging/setLevel", {})
    talk.reply("tools/call", TEXT)
    assert talk.result_of(2)["content"] == TEXT["content"]
    assert talk.transcript() == transcript


def test_failure_that_has_nothing_to_do_with_an_early_question_stays_what_it_is(converse: Converse) -> None:
    talk = met(converse)
    talk.ask("r", "roots/list")
    talk.call("t", id=1, capabilities={})
    assert talk.answers_of_client("r")[0]["error"]["code"] == -32601
    talk.reply_error("tools/call", -32602, "arguments.x is missing")
    assert talk.error_of(1) == {"code": -32602, "message": "arguments.x is missing"}

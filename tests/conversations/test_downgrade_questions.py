"""Questions of a server of 2026-07-28 at a legacy client, on stdio (2026-07-28, basic/patterns/mrtr; client/* of each revision)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conversations.lowered import DONE, FORM, LINK, ROOTS, SAID, SAMPLE, SEEN, Lowered

from oracle import Oracle

SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m"}
PACE = 0.3


@pytest.fixture
def talk(oracle: Oracle) -> Lowered:
    """A client of 2025-11-25 that declares everything, with a call in flight."""
    return asking(oracle)


def asking(oracle: Oracle, revision: str = "2025-11-25", capabilities: Any = None, **settings: Any) -> Lowered:
    talk = Lowered(oracle, **settings)
    talk.greets(revision, capabilities)
    talk.run(id="call")
    return talk


def text_of(talk: Lowered, id: Any = "call") -> str:  # noqa: A002
    """The text of a tool error."""
    result = talk.result_of(id)
    assert result["isError"] is True
    return str(result["content"][0]["text"])


def retried(talk: Lowered) -> dict[str, Any]:
    """What the newest round carries beside the call."""
    params = talk.requests("tools/call")[-1]["params"]
    return {name: value for name, value in params.items() if name not in ("name", "arguments", "_meta")}


# -- rounds -------------------------------------------------------------------------------------------------------------


def test_call_without_questions_has_one_round_and_no_words_of_a_retry(talk: Lowered) -> None:
    talk.reply("tools/call", DONE)
    assert talk.result_of("call") == SEEN
    assert retried(talk) == {}
    assert talk.questions() == []


def test_every_kind_of_question_goes_out_at_once_under_an_id_of_its_own(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM, "l": LINK, "s": SAMPLE, "r": ROOTS}, requestState="s")
    asked = talk.questions()
    assert [question["method"] for question in asked] == [
        "elicitation/create",
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
    ]
    assert len({question["id"] for question in asked}) == 4


def test_answers_go_back_under_their_keys_in_whatever_order_they_come(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM, "s": SAMPLE, "r": ROOTS})
    form, sample, roots = (question["id"] for question in talk.questions())
    talk.says(roots, {"roots": [{"uri": "file:///p"}]})
    talk.says(form, SAID)
    assert len(talk.requests("tools/call")) == 1
    talk.says(sample, SAMPLED)
    assert retried(talk) == {"inputResponses": {"r": {"roots": [{"uri": "file:///p"}]}, "f": SAID, "s": SAMPLED}}


@pytest.mark.parametrize("answer", [SAID, {"action": "decline"}, {"action": "cancel"}])
def test_answer_is_passed_as_given(talk: Lowered, answer: Any) -> None:
    talk.asks_back(inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], answer)
    assert retried(talk) == {"inputResponses": {"f": answer}}


@pytest.mark.parametrize("state", ["", "x", 'quote " and \\ backslash', "é\u2028", "a" * 3000])
def test_state_goes_back_as_it_came(talk: Lowered, state: str) -> None:
    talk.asks_back(requestState=state)
    talk.pass_time(PACE)
    assert retried(talk) == {"requestState": state}


def test_state_keeps_the_spelling_of_the_server(talk: Lowered) -> None:
    wire = talk.pending("tools/call")
    talk.server_line(b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState":"\\u0061\\/b"}}' % wire)
    talk.pass_time(PACE)
    assert b'"requestState":"\\u0061\\/b"' in talk.lines_to_server[-1]


def test_state_of_an_earlier_round_is_not_sent_again(talk: Lowered) -> None:
    talk.asks_back(requestState="one")
    talk.pass_time(PACE)
    talk.asks_back(inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], SAID)
    assert retried(talk) == {"inputResponses": {"f": SAID}}


def test_answers_of_an_earlier_round_are_not_sent_again(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM}, requestState="one")
    talk.says(talk.questions()[0]["id"], SAID)
    talk.asks_back(inputRequests={"r": ROOTS}, requestState="two")
    talk.says(talk.questions()[1]["id"], {"roots": []})
    assert retried(talk) == {"inputResponses": {"r": {"roots": []}}, "requestState": "two"}


def test_null_in_place_of_a_member_stands_for_none(oracle: Oracle) -> None:
    talk = asking(oracle, judged=False)
    talk.asks_back(inputRequests=None, requestState="s")
    talk.pass_time(PACE)
    assert retried(talk) == {"requestState": "s"}
    talk.asks_back(inputRequests={"f": FORM}, requestState=None)
    talk.says(talk.questions()[0]["id"], SAID)
    assert retried(talk) == {"inputResponses": {"f": SAID}}


def test_rounds_without_questions_are_paced_one_by_one(talk: Lowered) -> None:
    for count in range(1, 6):
        talk.asks_back(requestState=str(count))
        talk.pass_time(0.2)
        assert len(talk.requests("tools/call")) == count
        talk.pass_time(0.1)
        assert len(talk.requests("tools/call")) == count + 1


def test_every_round_has_an_id_of_its_own(talk: Lowered) -> None:
    for count in range(9):
        talk.asks_back(requestState=str(count))
        talk.pass_time(PACE)
    ids = [request["id"] for request in talk.requests("tools/call")]
    assert len(set(ids)) == 10


def test_calls_ask_beside_one_another_and_each_gets_its_own_answer(talk: Lowered) -> None:
    talk.run(id="other", name="build")
    one, two = talk.requests("tools/call")
    for request, message in ((one, "first?"), (two, "second?")):
        entry = {"method": "elicitation/create", "params": {**FORM["params"], "message": message}}
        result = {"resultType": "input_required", "inputRequests": {"k": entry}, "requestState": message}
        talk.server_frame({"jsonrpc": "2.0", "id": request["id"], "result": result})
    first, second = talk.questions()
    talk.says(second["id"], {"action": "decline"})
    assert (retried(talk)["requestState"], talk.requests("tools/call")[-1]["params"]["name"]) == ("second?", "build")
    talk.says(first["id"], SAID)
    assert (retried(talk)["requestState"], talk.requests("tools/call")[-1]["params"]["name"]) == ("first?", "deploy")


def test_round_after_the_last_that_is_allowed_ends_the_call_and_says_how_many_there_were(talk: Lowered) -> None:
    for _ in range(32):
        talk.asks_back(requestState="again")
        talk.pass_time(PACE)
    assert len(talk.requests("tools/call")) == 33
    talk.asks_back(requestState="again")
    assert talk.error_of("call") == {"code": -32603, "message": "The server asked more than 32 times in one call"}


def test_server_that_never_takes_an_answer_that_does_not_fit_is_not_the_only_one_to_blame(talk: Lowered) -> None:
    for count in range(33):
        talk.asks_back(inputRequests={"f": FORM})
        if count < 32:
            talk.says(talk.asked_since(count)[0]["id"], {"action": "accept", "content": {}})
    assert talk.error_of("call")["message"].endswith("the client's last answer did not fit the question: content.name is missing")


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
def test_other_methods_that_may_ask_do(oracle: Oracle, method: str) -> None:
    talk = Lowered(oracle)
    talk.greets()
    talk.request(method, {"name": "p"} if method == "prompts/get" else {"uri": "a:b"}, id="get")
    talk.asks_back(method, inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], SAID)
    assert talk.requests(method)[-1]["params"]["inputResponses"] == {"f": SAID}


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "completion/complete", "vendor/run"])
def test_method_that_may_not_ask_fails(oracle: Oracle, method: str) -> None:
    talk = Lowered(oracle)
    talk.greets()
    talk.request(method, ({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}), id="ask")
    talk.asks_back(method, inputRequests={"f": FORM}, requestState="s")
    assert talk.error_of("ask")["code"] == -32603
    assert method in talk.error_of("ask")["message"]
    assert talk.questions() == []


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({}, "neither a question nor a state"),
        ({"inputRequests": {}}, "neither a question nor a state"),
        ({"inputRequests": None, "requestState": None}, "neither a question nor a state"),
        ({"inputRequests": [FORM]}, "inputRequests must be an object"),
        ({"inputRequests": "f", "requestState": "s"}, "inputRequests must be an object"),
        ({"inputRequests": {"f": FORM}, "requestState": 7}, "requestState must be a string"),
        ({"requestState": {"a": 1}}, "requestState must be a string"),
    ],
)
def test_malformed_round_fails_the_call_and_says_what_is_wrong(oracle: Oracle, members: Any, fault: str) -> None:
    talk = asking(oracle, judged=False)
    talk.asks_back(**members)
    assert talk.error_of("call")["code"] == -32603
    assert fault in talk.error_of("call")["message"]
    assert talk.questions() == []


# -- what can't be asked ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        {},
        "text",
        None,
        {"method": 1},
        {"method": "vendor/ask", "params": {}},
        {"method": "elicitation/create"},
        {"method": "elicitation/create", "params": {"message": "?"}},
        {"method": "elicitation/create", "params": {"message": "?", "mode": "voice", "requestedSchema": {}}},
        {"method": "elicitation/create", "params": {"mode": "url", "message": "?"}},
        {"method": "sampling/createMessage", "params": {"messages": "?", "maxTokens": 1}},
    ],
)
def test_malformed_question_ends_the_call_and_none_of_its_round_goes_out(oracle: Oracle, entry: Any) -> None:
    talk = asking(oracle, judged=False)
    talk.asks_back(inputRequests={"fine": ROOTS, "wrong": entry})
    assert "cannot be asked" in text_of(talk)
    assert talk.questions() == []


@pytest.mark.parametrize(
    ("revision", "capabilities", "entry", "missing"),
    [
        ("2025-11-25", {}, FORM, "elicitation"),
        ("2025-11-25", {"elicitation": {"url": {}}}, FORM, "elicitation"),
        ("2025-11-25", {"elicitation": {}}, LINK, "elicitation"),
        ("2025-11-25", {"elicitation": {"form": {}}}, LINK, "elicitation"),
        ("2025-11-25", {"elicitation": {}}, SAMPLE, "sampling"),
        ("2025-11-25", {"sampling": {}}, {**SAMPLE, "params": {**SAMPLE["params"], "tools": []}}, "sampling"),
        ("2025-11-25", {"sampling": {}}, ROOTS, "roots"),
        ("2025-06-18", {}, FORM, "elicitation"),
        ("2025-03-26", {"roots": {}}, SAMPLE, "sampling"),
        ("2024-11-05", {}, ROOTS, "roots"),
    ],
)
def test_client_without_the_capability_is_not_asked(oracle: Oracle, revision: str, capabilities: Any, entry: Any, missing: str) -> None:
    talk = asking(oracle, revision, capabilities)
    talk.asks_back(inputRequests={"k": entry}, requestState="s")
    assert f"did not declare ({missing})" in text_of(talk)
    assert talk.questions() == []


@pytest.mark.parametrize(
    ("revision", "capabilities", "entry"),
    [
        ("2025-11-25", {"elicitation": {}}, FORM),
        ("2025-11-25", {"elicitation": {"form": {}, "url": {}}}, LINK),
        ("2025-11-25", {"sampling": {"tools": {}}}, {**SAMPLE, "params": {**SAMPLE["params"], "tools": []}}),
        ("2025-06-18", {"elicitation": {}}, FORM),
        ("2025-03-26", {"sampling": {}}, SAMPLE),
        ("2024-11-05", {"roots": {}}, ROOTS),
    ],
)
def test_client_with_the_capability_is_asked(oracle: Oracle, revision: str, capabilities: Any, entry: Any) -> None:
    talk = asking(oracle, revision, capabilities)
    talk.asks_back(inputRequests={"k": entry})
    assert [question["method"] for question in talk.questions()] == [entry["method"]]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_client_of_a_revision_without_forms_is_not_asked_for_one_whatever_it_declares(oracle: Oracle, revision: str) -> None:
    talk = asking(oracle, revision, {"elicitation": {}})
    talk.asks_back(inputRequests={"k": FORM})
    assert "does not know" in text_of(talk)


def test_context_that_the_client_did_not_declare_is_not_asked_for(oracle: Oracle) -> None:
    talk = asking(oracle, capabilities={"sampling": {}})
    talk.asks_back(inputRequests={"s": {**SAMPLE, "params": {**SAMPLE["params"], "includeContext": "allServers"}}})
    assert talk.questions()[0]["params"] == SAMPLE["params"]


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
def test_call_that_has_no_words_for_a_tool_error_ends_with_an_error(oracle: Oracle, method: str) -> None:
    talk = Lowered(oracle)
    talk.greets(capabilities={})
    talk.request(method, {"name": "p"} if method == "prompts/get" else {"uri": "a:b"}, id="get")
    talk.asks_back(method, inputRequests={"f": FORM})
    assert talk.error_of("get")["code"] == -32603
    assert "did not declare" in talk.error_of("get")["message"]


def test_key_that_stands_twice_is_asked_once_as_it_stands_last(oracle: Oracle) -> None:
    talk = asking(oracle, judged=False)
    form, roots = json.dumps(FORM).encode(), json.dumps(ROOTS).encode()
    result = b'{"resultType":"input_required","inputRequests":{"k":%b,"k":%b}}' % (form, roots)
    talk.server_line(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (talk.pending("tools/call"), result))
    (question,) = talk.questions()
    assert question["method"] == "roots/list"
    talk.says(question["id"], {"roots": []})
    assert retried(talk) == {"inputResponses": {"k": {"roots": []}}}


@pytest.mark.parametrize("key", ["", "é", "a b", '"', "\\", "k" * 500])
def test_key_of_any_spelling_goes_back_as_it_came(talk: Lowered, key: str) -> None:
    talk.asks_back(inputRequests={key: ROOTS})
    talk.says(talk.questions()[0]["id"], {"roots": []})
    assert retried(talk) == {"inputResponses": {key: {"roots": []}}}


# -- what the client does with them -----------------------------------------------------------------------------------------


def test_error_in_place_of_an_answer_ends_the_call_and_takes_the_others_back(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM, "r": ROOTS, "s": SAMPLE})
    form, roots, sample = (question["id"] for question in talk.questions())
    talk.client_frame({"jsonrpc": "2.0", "id": roots, "error": {"code": -32601, "message": "no such thing"}})
    assert text_of(talk) == "The client answered roots/list with an error: no such thing"
    assert [note["requestId"] for note in talk.notes("notifications/cancelled")] == [form, sample]
    assert len(talk.requests("tools/call")) == 1


@pytest.mark.parametrize(
    ("entry", "answer", "fault"),
    [
        (FORM, {}, "action"),
        (FORM, {"action": "maybe"}, "action"),
        (FORM, [], "not an object"),
        (FORM, {"action": "accept", "content": {"name": {"deep": 1}}}, "content"),
        (SAMPLE, {"role": "assistant"}, "model is missing"),
        (ROOTS, {}, "roots"),
        (ROOTS, {"roots": "none"}, "roots"),
    ],
)
def test_answer_of_the_wrong_shape_ends_the_call_and_says_what_is_wrong(oracle: Oracle, entry: Any, answer: Any, fault: str) -> None:
    talk = asking(oracle)
    talk.asks_back(inputRequests={"k": entry})
    talk.says(talk.questions()[0]["id"], answer)
    assert "is not valid" in text_of(talk)
    assert fault in text_of(talk)


@pytest.mark.parametrize("content", [{}, {"name": 7}, None])
def test_form_that_does_not_fit_goes_to_the_server_and_the_operator_is_told_why(talk: Lowered, content: Any) -> None:
    answer = {"action": "accept", **({} if content is None else {"content": content})}
    talk.asks_back(inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], answer)
    assert retried(talk) == {"inputResponses": {"f": answer}}
    assert [line for line in talk.log if "* log:" in line and "does not fit the question (content" in line]


def test_form_that_fits_is_nothing_to_tell_the_operator(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], SAID)
    assert [line for line in talk.log if "* log:" in line] == []


def test_second_answer_to_a_question_is_ignored(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM})
    talk.says(talk.questions()[0]["id"], SAID)
    talk.says(talk.questions()[0]["id"], {"action": "decline"})
    assert len(talk.requests("tools/call")) == 2


@pytest.mark.parametrize("id", [999, "1", None, "x"])
def test_answer_to_no_question_is_ignored(oracle: Oracle, id: Any) -> None:  # noqa: A002
    talk = asking(oracle, judged=False)
    talk.asks_back(inputRequests={"f": FORM})
    frame = (
        {"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "?"}} if id is None else {"jsonrpc": "2.0", "id": id, "result": SAID}
    )
    talk.client_frame(frame)
    assert [answer for answer in talk.to_client if answer.get("id") == "call"] == []
    assert len(talk.requests("tools/call")) == 1


def test_client_that_does_not_answer_in_time_ends_the_call(oracle: Oracle) -> None:
    talk = asking(oracle, question_timeout=60.0)
    talk.asks_back(inputRequests={"f": FORM, "r": ROOTS})
    talk.says(talk.questions()[1]["id"], {"roots": []})
    talk.pass_time(61)
    assert text_of(talk) == "The client did not answer in time"
    assert [note["requestId"] for note in talk.notes("notifications/cancelled")] == [talk.questions()[0]["id"]]


def test_time_for_an_answer_begins_anew_with_every_round(oracle: Oracle) -> None:
    talk = asking(oracle, question_timeout=60.0)
    talk.asks_back(inputRequests={"f": FORM})
    talk.pass_time(50)
    talk.says(talk.questions()[0]["id"], SAID)
    talk.asks_back(inputRequests={"f": FORM})
    talk.pass_time(50)
    talk.says(talk.questions()[1]["id"], SAID)
    talk.reply("tools/call", DONE)
    assert talk.result_of("call") == SEEN


def test_nothing_is_left_waiting_for_a_call_that_is_over(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM})
    talk.client_frame({"jsonrpc": "2.0", "id": talk.questions()[0]["id"], "error": {"code": 1, "message": "no"}})
    assert [key for key in talk.timers if key.startswith("down-ask")] == []


# -- calls that end in the middle ------------------------------------------------------------------------------------------


def test_call_that_the_client_cancels_while_it_is_asked_takes_its_questions_back_and_tells_no_server(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM, "r": ROOTS})
    talk.cancel("call", "changed my mind")
    ids = [question["id"] for question in talk.questions()]
    assert talk.notes("notifications/cancelled") == [{"requestId": id_, "reason": "changed my mind"} for id_ in ids]
    assert talk.requests("notifications/cancelled") == []
    talk.says(ids[0], SAID)
    talk.says(ids[1], {"roots": []})
    assert len(talk.requests("tools/call")) == 1


def test_call_that_the_client_cancels_while_it_is_paced_is_not_made_again(talk: Lowered) -> None:
    talk.asks_back(requestState="s")
    talk.cancel("call")
    talk.pass_time(5)
    assert len(talk.requests("tools/call")) == 1
    assert talk.requests("notifications/cancelled") == []


def test_call_that_the_client_cancels_in_its_second_round_is_cancelled_under_that_rounds_id(talk: Lowered) -> None:
    talk.asks_back(requestState="s")
    talk.pass_time(PACE)
    talk.cancel("call")
    assert talk.requests("notifications/cancelled")[0]["params"]["requestId"] == talk.pending("tools/call")
    before = len(talk.to_client)
    talk.reply("tools/call", DONE)
    assert len(talk.to_client) == before


def test_process_that_dies_between_two_rounds_is_not_missed(oracle: Oracle) -> None:
    talk = asking(oracle, judged=False)  # the judge of the second process knows no first round
    talk.asks_back(inputRequests={"f": FORM}, requestState="s")
    talk.server_dies()
    talk.says(talk.questions()[0]["id"], SAID)
    assert talk.opened == [1, 2]
    assert retried(talk) == {"inputResponses": {"f": SAID}, "requestState": "s"}
    talk.reply("tools/call", DONE)
    assert talk.result_of("call") == SEEN


def test_client_that_leaves_ends_what_it_was_asked(talk: Lowered) -> None:
    talk.asks_back(inputRequests={"f": FORM})
    talk.client_closes()
    talk.pass_time(60)
    assert talk.error_of("call")["code"] == -32603
    assert [note["requestId"] for note in talk.notes("notifications/cancelled")] == [talk.questions()[0]["id"]]
    assert talk.finished == 0


# -- what a user opens in a browser ------------------------------------------------------------------------------------------


def opened(talk: Lowered, action: str) -> str:
    talk.asks_back(inputRequests={"l": LINK}, requestState="s")
    question = talk.questions()[-1]
    talk.says(question["id"], {"action": action})
    return str(question["params"]["elicitationId"])


def test_link_that_was_opened_is_done_when_the_call_is(talk: Lowered) -> None:
    name = opened(talk, "accept")
    assert talk.notes("notifications/elicitation/complete") == []
    talk.reply("tools/call", DONE)
    assert talk.notes("notifications/elicitation/complete") == [{"elicitationId": name}]
    assert [frame.get("method", "answer") for frame in talk.to_client[-2:]] == ["notifications/elicitation/complete", "answer"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_link_that_was_not_opened_is_never_done(talk: Lowered, action: str) -> None:
    opened(talk, action)
    talk.reply("tools/call", DONE)
    assert talk.notes("notifications/elicitation/complete") == []


def test_link_of_a_call_that_fails_is_not_done(talk: Lowered) -> None:
    opened(talk, "accept")
    talk.reply("tools/call", {**DONE, "isError": True})
    assert talk.notes("notifications/elicitation/complete") == []


def test_link_that_is_asked_for_again_has_another_name(talk: Lowered) -> None:
    assert opened(talk, "accept") != opened(talk, "accept")

from __future__ import annotations

import pytest

import downcrossings as down
from crossings import NOVEMBER, answer, raw, result, told
from dragoman_specs.version import LEGACY, Version


def test_bare_answer_to_a_question_is_untouched() -> None:
    assert raw(answer("roots/list", '{"roots": []}', NOVEMBER)) == '{"roots": []}'


def test_members_order_spacing_and_numbers_of_a_result_survive() -> None:
    text = '{ "z":1.10, "content":[ ],"a":1e400 , "n":12345678901234567890123 }'
    assert raw(result("tools/call", text)) == f'{{"resultType":"complete",{text[2:]}'


@pytest.mark.parametrize("text", ["{}", "{ }", "{\t}"])
def test_empty_result_of_a_vendor_method_is_only_complete(text: str) -> None:
    assert raw(result("vendor/x", text)) == '{"resultType":"complete"}'


def test_complete_of_a_legacy_server_is_kept_where_it_stood() -> None:
    assert raw(result("tools/call", '{"content":[],"resultType":"complete"}')) == '{"content":[],"resultType":"complete"}'


@pytest.mark.parametrize("said", ['"input_required"', '"task"', "null", "5"])
def test_other_type_of_a_legacy_server_is_overwritten(said: str) -> None:
    assert told(result("tools/call", f'{{"content":[],"resultType":{said}}}')) == (
        '{"content":[],"resultType":"complete"}',
        ["sep2322_result_type: a legacy result with a resultType of its own, which was overwritten"],
    )


def test_type_spelled_with_an_escape_is_overwritten_too() -> None:
    assert raw(result("tools/call", '{"content":[],"result\\u0054ype":"complete"}')) == '{"content":[],"resultType":"complete"}'


def test_answer_to_a_question_loses_the_type() -> None:
    assert raw(answer("roots/list", '{"resultType":"complete","roots":[]}', NOVEMBER)) == '{"roots":[]}'


# --- for a legacy client ---


@pytest.mark.parametrize("revision", LEGACY)
def test_result_of_a_server_that_says_no_type_is_untouched(revision: Version) -> None:
    text = '{ "content":[ ],"n": 1.10 }'
    assert raw(down.result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("text", ['{"resultType":"complete","content":[]}', '{"result\\u0054ype":"compl\\u0065te","content":[]}'])
def test_complete_is_not_said_to_legacy_client(text: str, revision: Version) -> None:
    assert raw(down.result("tools/call", text, revision)) == '{"content":[]}'


@pytest.mark.parametrize(
    ("said", "what"),
    [('"task"', '"task"'), ('"input_required"', '"input_required"'), ("null", "null"), ("5", "a number"), ("{}", "an object")],
)
def test_result_of_another_type_is_a_fault(said: str, what: str) -> None:
    found = down.fault("vendor/x", f'{{"resultType":{said}}}')
    assert (found.change, found.message) == (
        "sep2322_result_type",
        f"vendor/x: the result's type is {what}, which is none that was agreed on",
    )


@pytest.mark.parametrize("method", ["vendor/x", "tools/call", "prompts/list"])
def test_result_of_a_legacy_server_comes_back_as_it_was(method: str) -> None:
    text = {"vendor/x": '{"a":1.10}', "tools/call": '{"content":[],"x":1e400}', "prompts/list": '{"prompts":[]}'}[method]
    up = raw(result(method, text, server_info=b'{"name":"s","version":"1"}'))
    assert raw(down.result(method, up)) == text

from __future__ import annotations

import json

import pytest

from crossings import JUNE, NOVEMBER, answer, raw
from downcrossings import answer as answer_up
from downcrossings import question
from dragoman.chain import Fault

METHOD = "elicitation/create"
CHOSEN = '{"action":"accept","content":{"n":1.50,"tags":["a"]}}'


def test_form_without_lists_to_june_server_is_untouched() -> None:
    form = '{"action":"accept","content":{"name":"a","n":1.50,"ok":true},"x":1}'
    assert raw(answer(METHOD, form, JUNE)) == form


def test_decline_to_june_server_is_untouched() -> None:
    assert raw(answer(METHOD, '{"action":"decline"}', JUNE)) == '{"action":"decline"}'


def test_multiple_choice_to_november_server_is_untouched() -> None:
    assert raw(answer(METHOD, CHOSEN, NOVEMBER)) == CHOSEN


def test_one_choice_to_june_server_becomes_a_string() -> None:
    assert raw(answer(METHOD, CHOSEN, JUNE)) == '{"action":"accept","content":{"n":1.50,"tags":"a"}}'


def test_two_choices_to_june_server_are_refused() -> None:
    form = '{"action":"accept","content":{"tags":["a","b"]}}'
    assert answer(METHOD, form, JUNE) == Fault(
        "sep1330_enum_schemas", "the client chose 2 values for 'tags', the server's revision takes one"
    )


# --- a modern server that asks an older client ---

COLOURS = '{"type":"array","title":"Colours","minItems":1,"maxItems":2,"items":{"type":"string","enum":["red","blue"]}}'
TITLED = '{"type":"array","items":{"anyOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},"default":["l"]}'


def form(properties: str, *more: str) -> str:
    schema = ",".join(('"type":"object"', f'"properties":{{{properties}}}', *more))
    return f'{{"message":"m","requestedSchema":{{{schema}}}}}'


PLAIN = (
    '"a":{"type":"string","format":"email"},"n":{"type":"number","minimum":1.10},"b":{"type":"boolean","default":true},'
    '"e":{"type":"string","enum":["x"],"enumNames":["X"]}'
)


def asked_of(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(raw(question(METHOD, text, JUNE)))["requestedSchema"]
    return found


def test_form_without_choices_to_june_client_is_untouched() -> None:
    assert raw(question(METHOD, form(PLAIN, '"required":["a"]'), JUNE)) == form(PLAIN, '"required":["a"]')


def test_choices_to_november_client_are_untouched() -> None:
    text = form(f'"c":{COLOURS},"t":{TITLED},"o":{{"type":"string","oneOf":[{{"const":"x","title":"X"}}]}}', '"required":["c"]')
    assert raw(question(METHOD, text, NOVEMBER)) == text


def test_titled_choice_to_june_client_is_told_by_its_names() -> None:
    text = form(
        '"o":{"type":"string","oneOf":[{"const":"x","title":"The X"},{"const":"y","title":"The Y"}],"default":"x"}', '"required":["o"]'
    )
    assert raw(question(METHOD, text, JUNE)) == form(
        '"o":{"type":"string","default":"x","enum":["x","y"],"enumNames":["The X","The Y"]}', '"required":["o"]'
    )


def test_multiple_choice_to_june_client_is_a_yes_or_no_for_each_option() -> None:
    assert asked_of(form(f'"c":{COLOURS},"a":{{"type":"string"}}', '"required":["c","a"]')) == {
        "type": "object",
        "properties": {
            "c_1": {"type": "boolean", "title": "Colours: red", "description": "Choose at least 1 and at most 2."},
            "c_2": {"type": "boolean", "title": "Colours: blue", "description": "Choose at least 1 and at most 2."},
            "a": {"type": "string"},
        },
        "required": ["a"],
    }


def test_titles_defaults_and_description_of_a_multiple_choice_are_told() -> None:
    text = form('"t":' + TITLED.replace('"default"', '"description":"Which?","default"'))
    assert asked_of(text)["properties"] == {
        "t_1": {"type": "boolean", "title": "t: Small", "description": "Which?", "default": False},
        "t_2": {"type": "boolean", "title": "t: Large", "description": "Which?", "default": True},
    }


def test_multiple_choice_without_options_is_not_asked() -> None:
    assert asked_of(form('"c":{"type":"array","items":{"type":"string","enum":[]}}')) == {"type": "object", "properties": {}}


def test_name_that_is_taken_gets_out_of_the_way() -> None:
    text = form('"c_1":{"type":"string"},"c":{"type":"array","items":{"type":"string","enum":["x"]}},"c_1_":{"type":"string"}')
    assert list(asked_of(text)["properties"]) == ["c_1", "c_1__", "c_1_"]  # type: ignore[call-overload]


# --- and its answer ---


def test_answer_to_a_form_without_choices_is_untouched() -> None:
    text = '{ "action":"accept","content":{"a":"x","n": 1.10,"c_1":true} }'
    assert raw(answer_up(METHOD, text, JUNE, form(PLAIN))) == text


@pytest.mark.parametrize("text", ['{ "action":"decline" }', '{ "action":"cancel" }'])
def test_refusal_of_a_form_with_choices_is_untouched(text: str) -> None:
    assert raw(answer_up(METHOD, text, JUNE, form(f'"c":{COLOURS}'))) == text


def test_list_of_november_client_is_untouched() -> None:
    text = '{ "action":"accept","content":{"c":["red"]} }'
    assert raw(answer_up(METHOD, text, NOVEMBER, form(f'"c":{COLOURS}'))) == text


@pytest.mark.parametrize(
    ("content", "chosen"),
    [
        ('"c_1":true,"c_2":true,"a":"x"', '"a":"x","c":["red","blue"]'),
        ('"c_2":true,"a":"x","c_1":false', '"a":"x","c":["blue"]'),
        ('"c_2":true,"c_1":true', '"c":["red","blue"]'),
        ('"c_1":false,"c_2":false', ""),
        ('"c_1":"true"', ""),
        ("", ""),
    ],
)
def test_ticked_options_are_a_list_in_the_order_of_the_question(content: str, chosen: str) -> None:
    text = f'{{"action":"accept","content":{{{content}}}}}'
    assert raw(answer_up(METHOD, text, JUNE, form(f'"c":{COLOURS}'))) == f'{{"action":"accept","content":{{{chosen}}}}}'


def test_required_choice_of_nothing_is_an_empty_list() -> None:
    asked = form(f'"c":{COLOURS}', '"required":["c"]')
    assert raw(answer_up(METHOD, '{"action":"accept","content":{}}', JUNE, asked)) == '{"action":"accept","content":{"c":[]}}'


def test_ticking_everything_that_was_asked_gives_every_value_of_every_choice_back() -> None:
    asked = form(f'"c":{COLOURS},"t":{TITLED},"c_2":{{"type":"boolean"}}')
    flags = [name for name in asked_of(asked)["properties"] if name != "c_2"]  # type: ignore[attr-defined]
    ticked = json.dumps({"action": "accept", "content": dict.fromkeys(flags, True) | {"c_2": False}})
    assert json.loads(raw(answer_up(METHOD, ticked, JUNE, asked)))["content"] == {"c": ["red", "blue"], "t": ["s", "l"], "c_2": False}

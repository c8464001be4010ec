from __future__ import annotations

from crossings import JUNE, NOVEMBER, answer, raw
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

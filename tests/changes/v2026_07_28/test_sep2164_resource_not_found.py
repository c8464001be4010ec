from __future__ import annotations

import pytest

from crossings import error, raw


@pytest.mark.parametrize("code", [-32602, -32603, -32601, -32003, -32000, 0, 7, -1])
def test_other_codes_of_a_read_are_untouched(code: int) -> None:
    text = f'{{"code":{code},"message":"m","data":{{"a":1.10}},"x":1}}'
    assert raw(error("resources/read", text, uri="a:b")) == text


def test_missing_resource_is_invalid_params_with_its_uri() -> None:
    assert raw(error("resources/read", '{"code":-32002,"message":"not found"}', uri="a:b")) == (
        '{"code":-32602,"message":"not found","data":{"uri":"a:b"}}'
    )


def test_uri_that_the_server_names_is_kept() -> None:
    text = '{"code":-32002,"message":"not found","data":{"uri":"c:d","n":1.10}}'
    assert raw(error("resources/read", text, uri="a:b")) == text.replace("-32002", "-32602")


def test_uri_joins_other_data() -> None:
    assert raw(error("resources/read", '{"code":-32002,"message":"m","data":{"n":1.10}}', uri="a:b")) == (
        '{"code":-32602,"message":"m","data":{"n":1.10,"uri":"a:b"}}'
    )


def test_data_of_another_form_is_kept() -> None:
    assert raw(error("resources/read", '{"code":-32002,"message":"m","data":["x"]}', uri="a:b")) == (
        '{"code":-32602,"message":"m","data":["x"]}'
    )


def test_missing_resource_inside_another_call_is_known_by_its_uri() -> None:
    text = '{"code":-32002,"message":"m","data":{"uri":"c:d"}}'
    assert raw(error("tools/call", text)) == text.replace("-32002", "-32602")


def test_other_meaning_elsewhere_is_an_internal_error_that_keeps_the_code() -> None:
    assert raw(error("tools/list", '{"code":-32002,"message":"not initialized","data":1.10}')) == (
        '{"code":-32603,"message":"not initialized","data":{"code":-32002,"message":"not initialized","data":1.10}}'
    )

from __future__ import annotations

import pytest

import downcrossings as down
from crossings import error, raw
from dragoman_specs.version import LEGACY, Version


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


# --- for a legacy client ---

MISSING = '{"code":-32602,"message":"Unknown","data":{"uri":"a:b","n":1.10}}'


@pytest.mark.parametrize(
    "text",
    [
        '{ "code":-32602,"message":"m" }',
        '{ "code":-32602,"message":"m","data":{"uri":"c:d"} }',
        '{ "code":-32602,"message":"m","data":"a:b" }',
        '{ "code":-32603,"message":"m","data":{"uri":"a:b"} }',
        '{ "code":-32002,"message":"m","data":{"uri":"a:b"} }',
    ],
)
def test_other_errors_of_a_read_to_legacy_client_are_untouched(text: str) -> None:
    assert raw(down.error("resources/read", text, uri="a:b")) == text


def test_error_with_a_uri_of_another_method_is_untouched() -> None:
    assert raw(down.error("tools/call", MISSING, uri="a:b")) == MISSING
    assert raw(down.error("resources/read", MISSING)) == MISSING


@pytest.mark.parametrize("revision", LEGACY)
def test_invalid_uri_is_a_missing_resource_to_legacy_client(revision: Version) -> None:
    assert raw(down.error("resources/read", MISSING, revision, uri="a:b")) == MISSING.replace("-32602", "-32002")


def test_missing_resource_of_a_legacy_server_comes_back_as_it_was() -> None:
    text = MISSING.replace("-32602", "-32002")
    assert raw(down.error("resources/read", raw(error("resources/read", text, uri="a:b")), uri="a:b")) == text

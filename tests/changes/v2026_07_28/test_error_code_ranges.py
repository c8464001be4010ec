from __future__ import annotations

import pytest

import downcrossings as down
from crossings import error, raw
from dragoman_specs.version import LEGACY, Version

DECLARED = {"tools": {}, "prompts": {}}
UNKNOWN = '{"code":-32601,"message":"Unknown: x","data":{"a":1.10}}'


@pytest.mark.parametrize("code", [-32700, -32600, -32602, -32603, -32000, -32001, -32019, -32100, -32768, 404, 0])
def test_codes_outside_the_reserved_range_are_untouched(code: int) -> None:
    text = f'{{"code":{code},"message":"m","data":1.10}}'
    assert raw(error("tools/call", text, capabilities=DECLARED)) == text


@pytest.mark.parametrize("method", ["completion/complete", "resources/read", "tools/list", "vendor/x"])
def test_unknown_method_elsewhere_is_untouched(method: str) -> None:
    assert raw(error(method, UNKNOWN, capabilities={**DECLARED, "completions": {}, "resources": {}})) == UNKNOWN


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
def test_unknown_method_of_an_undeclared_capability_is_untouched(method: str) -> None:
    assert raw(error(method, UNKNOWN, capabilities={"resources": {}})) == UNKNOWN


def test_task_only_tool_that_refuses_a_plain_call_is_untouched() -> None:
    assert raw(error("tools/call", UNKNOWN, capabilities=DECLARED, task_only=True)) == UNKNOWN


@pytest.mark.parametrize("method", ["tools/call", "prompts/get"])
def test_unknown_method_of_a_declared_capability_is_an_unknown_name(method: str) -> None:
    assert raw(error(method, UNKNOWN, capabilities=DECLARED)) == UNKNOWN.replace("-32601", "-32602")


@pytest.mark.parametrize("code", [-32020, -32021, -32022, -32042, -32099])
@pytest.mark.parametrize("method", ["tools/call", "vendor/x"])
def test_code_in_the_reserved_range_is_an_internal_error_that_keeps_it(code: int, method: str) -> None:
    assert raw(error(method, f'{{"code":{code},"message":"m","data":{{"q":1.10}}}}')) == (
        f'{{"code":-32603,"message":"m","data":{{"code":{code},"message":"m","data":{{"q":1.10}}}}}}'
    )


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32603, -32000, -32002, -32019, -32050, -32099, 404, 0])
def test_code_to_legacy_client_is_untouched(code: int, revision: Version) -> None:
    text = f'{{ "code":{code},"message":"m","data":1.10 }}'
    assert raw(down.error("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("code", [-32020, -32021, -32022, -32042])
def test_code_that_is_nothing_to_a_legacy_client_is_an_internal_error_that_keeps_it(code: int, revision: Version) -> None:
    assert raw(down.error("vendor/x", f'{{"code":{code},"message":"m","data":{{"q":1.10}}}}', revision)) == (
        f'{{"code":-32603,"message":"m","data":{{"code":{code},"message":"m","data":{{"q":1.10}}}}}}'
    )

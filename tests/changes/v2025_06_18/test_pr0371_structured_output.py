from __future__ import annotations

import pytest

from downcrossings import FIRST, JUNE, MARCH, NOVEMBER, raw, result
from dragoman_specs.version import Version

OLD = [FIRST, MARCH]
TEXT = '{"type":"text","text":"hi"}'
IMAGE = '{"type":"image","data":"AA==","mimeType":"image/png"}'
SCHEMA = b'{"type":"object","properties":{"n":{"type":"number"}}}'


@pytest.mark.parametrize("revision", OLD)
def test_result_without_structured_output_is_untouched(revision: Version) -> None:
    text = f'{{ "content":[ {TEXT} ],"isError":false }}'
    assert raw(result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", [JUNE, NOVEMBER])
@pytest.mark.parametrize("content", ["[]", f"[{TEXT}]"])
def test_object_to_newer_client_is_untouched(content: str, revision: Version) -> None:
    text = f'{{ "content":{content},"structuredContent":{{"n": 1.10}} }}'
    assert raw(result("tools/call", text, revision, output_schema=SCHEMA)) == text


@pytest.mark.parametrize("revision", OLD)
def test_tool_without_output_schema_is_untouched(revision: Version) -> None:
    text = '{ "tools":[ {"name":"a","inputSchema":{ "type":"object" },"x":1.10} ] }'
    assert raw(result("tools/list", text, revision)) == text


@pytest.mark.parametrize("revision", OLD)
def test_value_that_the_server_told_as_text_too_is_left_out(revision: Version) -> None:
    text = f'{{"content":[{IMAGE},{TEXT}],"structuredContent":{{"n":1.10}},"x":1}}'
    assert raw(result("tools/call", text, revision)) == f'{{"content":[{IMAGE},{TEXT}],"x":1}}'


@pytest.mark.parametrize("revision", OLD)
def test_value_without_a_text_becomes_one_with_its_numbers_as_written(revision: Version) -> None:
    text = f'{{"content":[{IMAGE}],"structuredContent":{{"n":1.10,"big":12345678901234567890}}}}'
    told = '{"type":"text","text":"{\\"n\\":1.10,\\"big\\":12345678901234567890}"}'
    assert raw(result("tools/call", text, revision)) == f'{{"content":[{IMAGE},{told}]}}'


@pytest.mark.parametrize("revision", OLD)
def test_value_that_is_no_object_is_told_unwrapped(revision: Version) -> None:
    text = '{"content":[],"structuredContent":[1.10]}'
    told = raw(result("tools/call", text, revision, output_schema=b'{"type":"array"}'))
    assert told == '{"content":[{"type":"text","text":"[1.10]"}]}'


@pytest.mark.parametrize("revision", OLD)
def test_null_is_no_text(revision: Version) -> None:
    assert raw(result("tools/call", '{"content":[],"structuredContent":null}', revision)) == '{"content":[]}'


@pytest.mark.parametrize("revision", OLD)
def test_output_schema_is_not_listed(revision: Version) -> None:
    text = '{"tools":[{"name":"a","outputSchema":{"type":"array"},"inputSchema":{"type":"object"}}]}'
    assert raw(result("tools/list", text, revision)) == '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}'

"""The draft upgrade itself is not there yet: what is declared is relayed."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

import downcrossings as down
from crossings import JUNE, NOVEMBER, raw, result
from dragoman.changes import ALL
from dragoman.changes.v2026_07_28.sep2106_json_schema import CHANGE
from dragoman_specs.version import LEGACY, Version


def test_schemas_are_relayed_as_they_were_written() -> None:
    tools = (
        '"tools":[{"name":"a","inputSchema":{ "$schema":"http://json-schema.org/draft-07/schema#","type":"object",'
        '"properties":{"n":{"minimum":1e400,"default":1.10}} },"outputSchema":{"type":"array"}}]}'
    )
    assert raw(result("tools/list", f"{{{tools}")) == f'{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{tools}'


def test_the_seam_is_in_the_chain() -> None:
    assert CHANGE in ALL
    assert [names for names, _, _ in CHANGE.steps] == [{"tools/list"}]


# --- for a legacy client ---

WITH_OBJECTS = [JUNE, NOVEMBER]


def tool(schema: str, member: str = "outputSchema") -> str:
    parts = {"inputSchema": '{"type":"object"}', member: schema}
    return '{"tools":[{"name":"a",' + ",".join(f'"{name}":{text}' for name, text in parts.items()) + "}]}"


def shown(schema: str, revision: Version = NOVEMBER) -> str:
    found = down.raw(down.result("tools/list", tool(schema), revision))
    start = '{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":'
    assert found.startswith(start)
    return found[len(start) : -3]


@pytest.mark.parametrize("revision", LEGACY)
def test_input_schema_to_legacy_client_is_relayed_as_it_was_written(revision: Version) -> None:
    text = (
        '{ "tools":[ {"name":"a","inputSchema":{ "$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","x-mcp-header":1,'
        '"properties":{"n":{"minimum":1e400,"prefixItems":[true]}},"required":["n"],"unevaluatedProperties":false } } ] }'
    )
    assert down.raw(down.result("tools/list", text, revision)) == text


@pytest.mark.parametrize("revision", WITH_OBJECTS)
def test_output_schema_of_an_object_is_relayed_as_it_was_written(revision: Version) -> None:
    text = tool('{ "type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"const":1.10}} }')
    assert down.raw(down.result("tools/list", text, revision)) == text


@pytest.mark.parametrize("revision", WITH_OBJECTS)
@pytest.mark.parametrize("schema", [b"", b'{"type":"object"}', b'{"type":"obj\\u0065ct","properties":{}}'])
def test_object_of_such_a_tool_is_relayed_as_it_was_written(schema: bytes, revision: Version) -> None:
    text = '{ "content":[],"structuredContent":{ "n": 1.10 } }'
    assert down.raw(down.result("tools/call", text, revision, output_schema=schema)) == text


@pytest.mark.parametrize("revision", WITH_OBJECTS)
@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"array","items":{"minimum":1.10}}',
        '{"type":["object","null"]}',
        '{"anyOf":[{"type":"object"}]}',
        "{}",
        '{"properties":{"a":{"type":"string"}}}',
    ],
)
def test_output_schema_of_anything_else_is_wrapped(schema: str, revision: Version) -> None:
    assert shown(schema, revision) == f'{{"type":"object","properties":{{"result":{schema}}},"required":["result"]}}'


def test_dialect_stays_at_the_root() -> None:
    assert shown('{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}') == (
        '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"result":{"type":"string"}},"required":["result"]}'
    )


@pytest.mark.parametrize(
    ("schema", "inside"),
    [
        ('{"$ref":"#/$defs/a","$defs":{"a":{"n":1.10}}}', '{"$ref":"#/properties/result/$defs/a","$defs":{"a":{"n":1.10}}}'),
        ('{"type":"array","items":{"$ref":"#"}}', '{"type":"array","items":{"$ref":"#/properties/result"}}'),
        ('{"oneOf":[{"$dynamicRef":"#/$defs/a"}]}', '{"oneOf":[{"$dynamicRef":"#/properties/result/$defs/a"}]}'),
        ('{"items":{"$ref":"#a"}}', '{"items":{"$ref":"#a"}}'),
        ('{"items":{"$ref":"https://a.example/s#/b"}}', '{"items":{"$ref":"https://a.example/s#/b"}}'),
        ('{"const":{"$ref":"#"},"enum":[{"$ref":"#"}]}', '{"const":{"$ref":"#"},"enum":[{"$ref":"#"}]}'),
        ('{"items":{"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}}', '{"items":{"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}}'),
        (
            '{"anyOf":[{"properties":{"default":{"$ref":"#"},"$ref":{"$ref":"#/x"}}}]}',
            '{"anyOf":[{"properties":{"default":{"$ref":"#/properties/result"},"$ref":{"$ref":"#/properties/result/x"}}}]}',
        ),
        ('{"$id":"https://a.example/s","items":{"$ref":"#/x"}}', '{"$id":"https://a.example/s","items":{"$ref":"#/x"}}'),
        (
            '{"items":{"$id":"inner","$ref":"#/x"},"$id":"#anchor","not":{"$ref":"#/x"}}',
            '{"items":{"$id":"inner","$ref":"#/x"},"$id":"#anchor","not":{"$ref":"#/properties/result/x"}}',
        ),
    ],
)
def test_references_from_the_root_start_at_its_new_place_and_others_stay(schema: str, inside: str) -> None:
    assert shown(schema) == f'{{"type":"object","properties":{{"result":{inside}}},"required":["result"]}}'


@pytest.mark.parametrize("revision", WITH_OBJECTS)
@pytest.mark.parametrize("value", ["[1.10]", '"x"', "0", "true", "null", '{"a": 1e400}'])
def test_value_of_a_tool_whose_schema_is_wrapped_is_wrapped(value: str, revision: Version) -> None:
    text = f'{{"content":[],"structuredContent":{value}}}'
    told = down.raw(down.result("tools/call", text, revision, output_schema=b'{"anyOf":[{}]}'))
    assert told == f'{{"content":[],"structuredContent":{{"result":{value}}}}}'


def test_wrapped_value_is_valid_under_the_wrapped_schema() -> None:
    schema = '{"type":"array","items":{"$ref":"#/$defs/node"},"$defs":{"node":{"properties":{"in":{"$ref":"#"}},"required":["in"]}}}'
    value = '[{"in":[{"in":[]}]}]'
    told = json.loads(
        down.raw(down.result("tools/call", f'{{"content":[],"structuredContent":{value}}}', JUNE, output_schema=schema.encode()))
    )["structuredContent"]
    validator = jsonschema_rs.validator_for(json.loads(shown(schema)))
    assert validator.is_valid(told)
    assert not validator.is_valid({"result": [{"in": [{}]}]})


@pytest.mark.parametrize("schema", [b"", b'{"type":"array"}'])
def test_error_of_a_tool_keeps_its_object(schema: bytes) -> None:
    text = '{ "content":[],"structuredContent":{"why": 1.10},"isError":true }'
    assert down.raw(down.result("tools/call", text, output_schema=schema)) == text


@pytest.mark.parametrize("schema", [b"", b'{"type":"object"}'])
def test_value_of_an_error_that_is_no_object_is_wrapped(schema: bytes) -> None:
    text = '{"content":[],"structuredContent":[1.10],"isError":true}'
    assert down.raw(down.result("tools/call", text, output_schema=schema)) == text.replace("[1.10]", '{"result":[1.10]}')


@pytest.mark.parametrize("revision", WITH_OBJECTS)
def test_value_of_an_unlisted_schema_is_wrapped_if_it_is_no_object(revision: Version) -> None:
    assert down.raw(down.result("tools/call", '{"content":[],"structuredContent":7}', revision)) == (
        '{"content":[],"structuredContent":{"result":7}}'
    )


@pytest.mark.parametrize(("schema", "error"), [(b"", "false"), (b'{"type":"object"}', "false"), (b'{"type":"null"}', "true")])
def test_null_that_no_schema_lists_is_no_value(schema: bytes, error: str) -> None:
    text = f'{{"content":[],"structuredContent":null,"isError":{error}}}'
    assert down.raw(down.result("tools/call", text, output_schema=schema)) == f'{{"content":[],"isError":{error}}}'


def test_value_that_breaks_its_own_object_schema_is_wrapped_with_a_loss() -> None:
    told = down.told(down.result("tools/call", '{"content":[],"structuredContent":7}', output_schema=b'{"type":"object"}'))
    assert told == (
        '{"content":[],"structuredContent":{"result":7}}',
        ["shape: tools/call: structuredContent was a number where the tool lists an object, wrapped"],
    )


@pytest.mark.parametrize("revision", LEGACY)
def test_properties_that_are_true_or_false_become_objects(revision: Version) -> None:
    text = tool('{"type":"object","properties":{"a":true,"b":false,"c":{"minimum":1.10}}}', "inputSchema")
    assert '"inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"minimum":1.10}}}' in down.raw(
        down.result("tools/list", text, revision)
    )


@pytest.mark.parametrize(
    ("member", "value", "what"),
    [("properties", "[]", "an array"), ("properties", "null", "null"), ("required", "true", "true"), ("required", "null", "null")],
)
def test_keywords_of_another_form_are_left_out(member: str, value: str, what: str) -> None:
    text = tool(f'{{"type":"object","{member}":{value},"x":1.10}}')
    assert down.told(down.result("tools/list", text)) == (
        tool('{"type":"object","x":1.10}'),
        [f"shape: tools/list: outputSchema.{member} was {what}, left out"],
    )


def test_tools_that_a_model_may_use_are_shown_likewise() -> None:
    before = '{"messages":[],"maxTokens":9,"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":'
    assert down.raw(down.question("sampling/createMessage", before + '{"type":"string"}}]}', NOVEMBER)) == (
        before + '{"type":"object","properties":{"result":{"type":"string"}},"required":["result"]}}]}'
    )

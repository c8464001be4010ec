"""Any frame of a modern server, valid or not: a legacy client of any revision gets a valid one, or the sender's fault is named."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw

import downcrossings as down
from dragoman import downchain
from dragoman.chain import Crossing, Fault
from dragoman_specs.version import LEGACY, Version

Json = st.SearchStrategy[Any]

REVISIONS = st.sampled_from(LEGACY)
SCRAP: Json = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "uri", "name", "text", "$ref"]), inner, max_size=3)
    ),
    max_leaves=5,
)
TEXT = st.text(max_size=6)


def some(members: dict[str, Json]) -> Json:
    """An object with any of the members, most of them right."""
    return st.fixed_dictionaries({}, optional={name: value | value | value | SCRAP for name, value in members.items()})


def whole(members: dict[str, Json], **optional: Json) -> Json:
    return st.fixed_dictionaries(members, optional=optional)


META = some({"a": SCRAP, "io.modelcontextprotocol/serverInfo": SCRAP, "progressToken": TEXT})
ANNOTATIONS = some({"audience": st.just(["user"]), "priority": st.floats(0, 1)})
CONTENTS = whole({"uri": TEXT, "text": TEXT}, blob=TEXT, mimeType=TEXT)
BLOCK = st.one_of(
    whole({"type": st.just("text"), "text": TEXT}, annotations=ANNOTATIONS),
    whole({"type": st.sampled_from(["image", "audio"]), "data": TEXT, "mimeType": TEXT}, _meta=META),
    whole({"type": st.just("resource_link"), "name": TEXT, "uri": TEXT}, title=TEXT, description=TEXT | SCRAP, size=SCRAP),
    whole({"type": st.just("resource"), "resource": CONTENTS}),
    some({"type": st.sampled_from(["text", "audio", "resource_link"]), "text": TEXT, "data": TEXT, "uri": TEXT}),
    SCRAP,
)
SCHEMA: Json = st.recursive(
    st.sampled_from(
        [{}, True, False, {"type": "string"}, {"type": "object"}, {"$ref": "#"}, {"$ref": "#/$defs/a"}, {"const": {"$ref": "#"}}]
    ),
    lambda inner: some(
        {
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "properties": st.dictionaries(st.sampled_from(["a", "$ref", "default"]), inner, max_size=2),
            "$defs": st.dictionaries(st.just("a"), inner),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "required": st.just(["a"]),
            "$schema": TEXT,
            "$id": st.sampled_from(["#x", "https://a.example/"]),
        }
    ),
    max_leaves=4,
)
TOOL = whole(
    {"name": TEXT, "inputSchema": whole({"type": st.just("object")}, properties=st.dictionaries(TEXT, SCHEMA, max_size=2)) | SCHEMA},
    outputSchema=SCHEMA,
    execution=SCRAP,
    title=TEXT | SCRAP,
)
COMMON = {"resultType": st.just("complete"), "_meta": META, "ttlMs": st.integers(), "cacheScope": st.just("public"), "nextCursor": TEXT}
RESULTS: dict[str, dict[str, Json]] = {
    "tools/call": {"content": st.lists(BLOCK, max_size=3), "structuredContent": SCRAP, "isError": st.booleans(), "requestState": TEXT},
    "tools/list": {"tools": st.lists(TOOL | SCRAP, max_size=3)},
    "prompts/get": {"messages": st.lists(some({"role": st.sampled_from(["user", "assistant"]), "content": BLOCK}), max_size=3)},
    "prompts/list": {"prompts": st.lists(some({"name": TEXT, "arguments": st.lists(some({"name": TEXT})), "icons": SCRAP}), max_size=2)},
    "resources/list": {"resources": st.lists(some({"name": TEXT, "uri": TEXT, "size": st.integers()}), max_size=2)},
    "resources/templates/list": {"resourceTemplates": st.lists(some({"name": TEXT, "uriTemplate": TEXT}), max_size=2)},
    "resources/read": {"contents": st.lists(CONTENTS | SCRAP, max_size=2)},
    "completion/complete": {"completion": some({"values": st.lists(TEXT), "total": st.integers()})},
}
# Hints are words of cacheable results alone; elsewhere they are the vendor's own, which the oracle would not know.
HINTED = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
ANY_RESULT = st.sampled_from(list(RESULTS)).flatmap(
    lambda method: st.tuples(
        st.just(method),
        some({name: value for name, value in COMMON.items() if method in HINTED or name not in {"ttlMs", "cacheScope"}} | RESULTS[method]),
    )
)
OPTIONS = st.lists(TEXT, max_size=3)
PROPERTY = st.one_of(
    whole({"type": st.just("string")}, title=TEXT, default=TEXT),
    whole({"type": st.just("string"), "enum": OPTIONS}),
    whole({"type": st.just("string"), "oneOf": st.lists(whole({"const": TEXT, "title": TEXT}), max_size=2)}),
    whole(
        {"type": st.just("array"), "items": whole({"type": st.just("string"), "enum": OPTIONS})},
        minItems=st.integers(0, 3),
        default=OPTIONS,
    ),
    whole({"type": st.just("array"), "items": whole({"anyOf": st.lists(whole({"const": TEXT, "title": TEXT}), max_size=2)})}, title=TEXT),
    whole({"type": st.sampled_from(["number", "integer", "boolean"])}, description=TEXT),
)
FORM = whole(
    {
        "message": TEXT,
        "requestedSchema": whole(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(["a", "a_1", "a_1_", "b"]), PROPERTY, max_size=4)},
            required=st.lists(st.sampled_from(["a", "b"]), unique=True),
        ),
    },
    mode=st.just("form"),
    _meta=META,
)
MESSAGE = whole({"role": st.just("user"), "content": BLOCK | st.lists(BLOCK, max_size=2)})
QUESTION = st.one_of(
    st.tuples(st.just("elicitation/create"), FORM | whole({"mode": st.just("url"), "message": TEXT, "url": st.just("https://a.example/")})),
    st.tuples(
        st.just("sampling/createMessage"),
        whole({"maxTokens": st.integers(), "messages": st.lists(MESSAGE, max_size=2)}, tools=st.lists(TOOL, max_size=2), task=SCRAP),
    ),
    st.tuples(st.just("roots/list"), some({"_meta": META})),
)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
@given(found=ANY_RESULT, revision=REVISIONS, schema=st.none() | SCHEMA)
def test_result_is_valid_or_a_fault(found: tuple[str, Any], revision: Version, schema: Any) -> None:
    method, value = found
    listed = json.dumps(schema).encode() if isinstance(schema, dict) else b""
    shaped = downchain.result_to_legacy(raw(value), Crossing(method, revision, uri="a:b", output_schema=listed))
    if not isinstance(shaped, Fault):
        down.result(method, json.dumps(value), revision, uri="a:b", output_schema=listed)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(
    error=some({"code": st.sampled_from([-32602, -32021, -32042, 7]), "message": TEXT, "data": some({"uri": st.just("a:b")})}),
    revision=REVISIONS,
)
def test_error_is_valid(error: Any, revision: Version) -> None:
    down.error("resources/read", json.dumps(error), revision, uri="a:b")


@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
@given(found=QUESTION, revision=REVISIONS)
def test_question_is_valid_or_refused(found: tuple[str, Any], revision: Version) -> None:
    method, value = found
    down.question(method, json.dumps(value), revision)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(form=FORM, data=st.data())
def test_answer_to_a_form_is_the_one_that_the_server_would_have_had(form: Any, data: st.DataObject) -> None:
    """The round trip: what was chosen of each list comes back as that list, whatever the form."""
    shaped = downchain.question_to_legacy("elicitation/create", raw(form), down.JUNE, "e")
    assert not isinstance(shaped, Fault)
    shown = json.loads(shaped.raw)["requestedSchema"]["properties"]
    flags = {name: data.draw(st.booleans()) for name, value in shown.items() if value["type"] == "boolean"}
    answer = down.answer("elicitation/create", json.dumps({"action": "accept", "content": flags}), down.JUNE, json.dumps(form))
    content = json.loads(answer.raw)["content"] if not isinstance(answer, Fault) else {}
    properties = form["requestedSchema"]["properties"]
    lists = {name: value for name, value in properties.items() if value["type"] == "array"}
    assert {name: value for name, value in content.items() if name not in lists} == {
        name: value for name, value in flags.items() if name in properties
    }
    asked = iter([ticked for name, ticked in flags.items() if name not in properties])
    for name, value in lists.items():
        options = value["items"].get("enum") or [option["const"] for option in value["items"].get("anyOf", [])]
        assert content.get(name, []) == [option for option in options if next(asked)]

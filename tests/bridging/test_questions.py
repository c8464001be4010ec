import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.bridging.questions import (
    Question,
    Refusal,
    answer_result,
    expired_answer,
    invalid_answer,
    merge_capabilities,
    missing_capability,
    missing_url_elicitation,
    read_question,
    unique_key,
    url_elicitations,
)
from dragoman.change import Loss
from dragoman_specs.version import LEGACY, Version

ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
NEWEST = Version.V2025_11_25
TEXT = '{"type":"text","text":"hi"}'
EVERYTHING = {"elicitation": {"form": {}, "url": {}}, "sampling": {"context": {}, "tools": {}}, "roots": {}}


@pytest.fixture(scope="session")
def valid(oracle):
    """Checks against a definition of an official schema."""
    if not oracle.present:
        pytest.skip("the official schemas are not here (DRAGOMAN_SPEC)")
    return lambda revision, definition, value: oracle.schema_check(revision, definition, value, "what went out")


def ask(method, params=None, client=EVERYTHING, wire_id=b"7"):
    raw = None if params is None else Raw(params.encode() if isinstance(params, str) else json.dumps(params).encode())
    return read_question(wire_id, method, raw, client)


def form(properties, **more):
    return {"message": "m", "requestedSchema": {"type": "object", "properties": properties, **more}}


def sampling(*messages, **more):
    return {"messages": list(messages), "maxTokens": 9, **more}


def says(role, *blocks):
    return {"role": role, "content": list(blocks)}


def use(name):
    return {"type": "tool_use", "id": name, "name": "t", "input": {}}


def result(name):
    return {"type": "tool_result", "toolUseId": name, "content": []}


# --- questions that go out as they came ---

FIELDS = [
    {"type": "string"},
    {"type": "string", "title": "T", "description": "d", "minLength": 1, "maxLength": 9, "format": "email", "default": "a@b.c"},
    {"type": "string", "pattern": "^a", "vendor": None},
    {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "a"},
    {"type": "string", "enum": ["a", "b"]},
    {"type": "string", "oneOf": [{"const": "a", "title": "A"}]},
    {"type": "number", "minimum": 0, "maximum": 1.5, "default": 0.5},
    {"type": "integer", "default": 3.0},
    {"type": "boolean", "default": False},
    {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 0, "maxItems": 1, "default": ["a"]},
    {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
]
UNTOUCHED = [
    (ROOTS, None),
    (ROOTS, "{}"),
    (ROOTS, '{"_meta":{"com.example/a":1},"vendor":null}'),
    (ELICIT, '{"message":"m","requestedSchema":{"type":"object","properties":{}}}'),
    (
        ELICIT,
        '{"mode":"form","message":"m","requestedSchema":{"properties":{},"type":"object","additionalProperties":false,"$schema":"x"}}',
    ),
    (ELICIT, '{"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1e400,"minimum":-0.10}}}}'),
    (ELICIT, '{"mode":"url","message":"m","url":"https://a.example/x?y=1#z","vendor":9007199254740993}'),
    (
        ELICIT,
        '{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]},"_meta":{"a":1}}',
    ),
    (SAMPLE, '{"messages":[],"maxTokens":100}'),
    (SAMPLE, '{"messages":[],"maxTokens":1e2,"temperature":0.10,"includeContext":"none","stopSequences":["a"],"metadata":{"a":null}}'),
    (SAMPLE, f'{{"messages":[{{"role":"user","content":{TEXT}}},{{"role":"assistant","content":[{TEXT},{TEXT}]}}],"maxTokens":1}}'),
    (SAMPLE, '{"messages":[{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/png"}}],"maxTokens":1}'),
    (SAMPLE, '{"messages":[{"role":"user","content":{"type":"audio","data":"AA==","mimeType":"audio/wav"},"_meta":{}}],"maxTokens":1}'),
    (
        SAMPLE,
        '{"messages":[],"maxTokens":1,"modelPreferences":{"hints":[{"name":"x"},{}],"costPriority":0,"speedPriority":1}}',
    ),
    (SAMPLE, '{"messages":[],"maxTokens":1,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}'),
    (SAMPLE, json.dumps(sampling(says("user"), says("assistant", use("1"), use("2")), says("user", result("2"), result("1"))))),
    (SAMPLE, '{"messages":[],"maxTokens":1,"includeContext":"allServers"}'),
]


@pytest.mark.parametrize(("method", "params"), UNTOUCHED)
def test_question_goes_out_as_it_came(method, params):
    question = ask(method, params)
    expected = {"method": method} if params is None else {"method": method, "params": json.loads(params)}
    assert isinstance(question, Question)
    assert json.loads(question.request) == expected
    assert question.losses == ()


@pytest.mark.parametrize("method", [ELICIT, SAMPLE])
def test_every_untouched_member_keeps_its_spelling(method):
    members = '"vendor":{ "a" : 1e400,"b":-0.0,"c":9007199254740993, "d":"\\u00e9" }'
    own = (
        '"message":"\\u00e9","requestedSchema":{ "type":"object","properties":{} }'
        if method == ELICIT
        else '"messages":[ ],"maxTokens":1.0e2'
    )
    assert ask(method, "{" + members + "," + own + "}").request == f'{{"method":"{method}","params":{{{members},{own}}}}}'.encode()


@pytest.mark.parametrize("field", FIELDS)
def test_every_legal_field_goes_out_as_it_came(field):
    question = ask(ELICIT, form({"f": field, "g": {"type": "string"}}))
    assert isinstance(question, Question)
    assert json.loads(question.request)["params"]["requestedSchema"]["properties"]["f"] == field


@pytest.mark.parametrize(("method", "params"), [*UNTOUCHED, *((ELICIT, json.dumps(form({"f": field}))) for field in FIELDS)])
def test_what_goes_out_is_valid_for_a_2026_client(valid, method, params):
    valid("2026-07-28", "InputRequest", json.loads(ask(method, params).request.replace(b"1e400", b"1e300")))


def test_wire_id_is_kept_as_it_is_written():
    assert ask(ROOTS, wire_id=b'"\\u0061"').wire_id == b'"\\u0061"'


# --- what is taken off ---


def test_related_task_and_progress_token_become_hints():
    meta = {"progressToken": "t-1", "io.modelcontextprotocol/related-task": {"taskId": "k-1"}, "com.example/a": [1.0]}
    question = ask(ELICIT, {**form({}), "_meta": meta, "task": {"ttl": 9}})
    assert json.loads(question.request) == {"method": ELICIT, "params": {**form({}), "_meta": {"com.example/a": [1.0]}}}
    assert (question.progress_token, question.task_id, question.elicitation_id) == (b'"t-1"', "k-1", None)


def test_meta_that_held_nothing_else_goes_away():
    question = ask(ROOTS, '{"_meta":{"progressToken":12}}')
    assert question.request == b'{"method":"roots/list","params":{}}'
    assert question.progress_token == b"12"


def test_elicitation_id_becomes_a_hint():
    question = ask(ELICIT, {"mode": "url", "elicitationId": "e-1", "url": "https://a.example/", "message": "m"})
    assert json.loads(question.request)["params"] == {"mode": "url", "url": "https://a.example/", "message": "m"}
    assert question.elicitation_id == "e-1"


@pytest.mark.parametrize("client", [{}, {"sampling": {}}, {"sampling": {"tools": {}}}])
@pytest.mark.parametrize("context", ["thisServer", "allServers"])
def test_context_for_a_client_without_it_is_left_out_and_recorded(client, context):
    question = ask(SAMPLE, sampling(includeContext=context), client)
    assert json.loads(question.request)["params"] == {"messages": [], "maxTokens": 9}
    assert question.losses == (Loss("sep1577_sampling_tools", f"includeContext {context}: the client has no sampling.context"),)


NULLABLE = [
    ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "F"}, {"type": "integer", "title": "F"}),
    ({"anyOf": [{"type": "null"}, {"type": "string", "format": "email"}]}, {"type": "string", "format": "email"}),
    ({"anyOf": [{"type": "number", "maximum": 1.5}, {"type": "null"}], "default": 0.5}, {"type": "number", "maximum": 1.5, "default": 0.5}),
    ({"type": ["string", "null"]}, {"type": "string"}),
    ({"type": "boolean", "default": None}, {"type": "boolean"}),
]


@pytest.mark.parametrize(("rendered", "field"), NULLABLE)
def test_null_in_a_form_is_taken_off_and_recorded(rendered, field):
    question = ask(ELICIT, form({"f": rendered, "g": {"type": "string"}}, required=["g"]))
    assert json.loads(question.request)["params"] == form({"f": field, "g": {"type": "string"}}, required=["g"])
    assert question.losses == (Loss("pr0382_elicitation", "null as a value of a form (f): a form has no null, the field is optional"),)


@pytest.mark.parametrize(("rendered", "field"), NULLABLE)
def test_form_without_its_null_is_valid_for_a_2026_client(valid, rendered, field):
    valid("2026-07-28", "InputRequest", json.loads(ask(ELICIT, form({"f": rendered})).request))


# --- what is refused ---

SCHEMA = "params.requestedSchema"


@pytest.mark.parametrize(
    ("method", "params", "fault"),
    [
        (ELICIT, None, "params: Object missing required field `message`"),
        (ELICIT, "[]", "params: must be an object"),
        (ROOTS, "null", "params: must be an object"),
        (ROOTS, '{"_meta":null}', "params._meta: must be an object"),
        (ELICIT, {"message": 1, "requestedSchema": {"type": "object", "properties": {}}}, "params.message: Expected `str`, got `int`"),
        (ELICIT, {"message": "m"}, "params: Object missing required field `requestedSchema`"),
        (ELICIT, {"message": "m", "requestedSchema": None}, f"{SCHEMA}: Expected `object`, got `null`"),
        (ELICIT, {"message": "m", "requestedSchema": {"properties": {}}}, f"{SCHEMA}: Object missing required field `type`"),
        (ELICIT, {"message": "m", "requestedSchema": {"type": "object"}}, f"{SCHEMA}: Object missing required field `properties`"),
        (ELICIT, {"message": "m", "requestedSchema": {"type": "array", "properties": {}}}, f"{SCHEMA}.type: Invalid enum value 'array'"),
        (ELICIT, form({}, required="a"), f"{SCHEMA}.required: Expected `array`, got `str`"),
        (ELICIT, form({"a": {"type": "string"}, "b": {}}), f"{SCHEMA}.properties.b: Object missing required field `type`"),
        (ELICIT, form({"b": {"type": "object"}}), f"{SCHEMA}.properties.b.type: Invalid value 'object'"),
        (ELICIT, form({"b": {"$ref": "#/$defs/B"}}), f"{SCHEMA}.properties.b: Object missing required field `type`"),
        (ELICIT, form({"b": 1}), f"{SCHEMA}.properties.b: Expected `object`, got `int`"),
        (ELICIT, form({"b": None}), f"{SCHEMA}.properties.b: Expected `object`, got `null`"),
        (ELICIT, form({"b": {"type": "string", "format": "uuid"}}), f"{SCHEMA}.properties.b.format: Invalid enum value 'uuid'"),
        (ELICIT, form({"b": {"type": "string", "enum": [1]}}), f"{SCHEMA}.properties.b.enum[0]: Expected `str`, got `int`"),
        (ELICIT, form({"b": {"type": "string", "minLength": 1.5}}), f"{SCHEMA}.properties.b.minLength: Expected `int`, got `float`"),
        (ELICIT, form({"b": {"type": "boolean", "default": "no"}}), f"{SCHEMA}.properties.b.default: Expected `bool`, got `str`"),
        (
            ELICIT,
            form({"b": {"type": "array", "items": {"type": "string"}}}),
            f"{SCHEMA}.properties.b.items: Object missing required field `anyOf`, or `enum` and `type`",
        ),
        (
            ELICIT,
            form({"b": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}),
            f"{SCHEMA}.properties.b: Object missing required field `type`",
        ),
        (ELICIT, form({"b": {"anyOf": [{"type": "null"}]}}), f"{SCHEMA}.properties.b: Object missing required field `type`"),
        (ELICIT, {**form({}), "mode": "voice"}, "params.mode: must be form or url"),
        (ELICIT, {**form({}), "mode": None}, "params.mode: must be form or url"),
        (ELICIT, {"mode": "url", "message": "m"}, "params: Object missing required field `url`"),
        (ELICIT, {"mode": "url", "url": "https://a.example/"}, "params: Object missing required field `message`"),
        (ELICIT, {"mode": "url", "message": "m", "url": "not a url"}, "params: `url` is no URL"),
        (ELICIT, {"mode": "url", "message": "m", "url": "/relative"}, "params: `url` is no URL"),
        (SAMPLE, {"messages": []}, "params: Object missing required field `maxTokens`"),
        (SAMPLE, {"maxTokens": 1}, "params: Object missing required field `messages`"),
        (SAMPLE, {"messages": [], "maxTokens": 1.5}, "params: `maxTokens` is no integer"),
        (SAMPLE, {"messages": [], "maxTokens": "1"}, "params: `maxTokens` is no integer"),
        (SAMPLE, {"messages": [], "maxTokens": True}, "params: `maxTokens` is no integer"),
        (SAMPLE, sampling(temperature="hot"), "params: `temperature` is no number"),
        (SAMPLE, sampling(systemPrompt=None), "params.systemPrompt: Expected `str`, got `null`"),
        (SAMPLE, sampling(metadata=[]), "params.metadata: Expected `object`, got `array`"),
        (SAMPLE, sampling(includeContext="some"), "params.includeContext: Invalid enum value 'some'"),
        (SAMPLE, sampling(modelPreferences={"costPriority": 2}), "params.modelPreferences.costPriority: Expected `float` <= 1.0"),
        (SAMPLE, sampling(tools=[{"name": "t"}]), "params.tools[0]: Object missing required field `inputSchema`"),
        (SAMPLE, sampling(toolChoice={"mode": "maybe"}), "params.toolChoice.mode: Invalid enum value 'maybe'"),
        (SAMPLE, sampling({"role": "system", "content": []}), "params.messages[0].role: Invalid enum value 'system'"),
        (SAMPLE, sampling({"role": "user"}), "params.messages[0]: Object missing required field `content`"),
        (SAMPLE, sampling({"role": "user", "content": "hi"}), "params.messages[0].content: Expected `object | array`, got `str`"),
        (SAMPLE, sampling(says("user", {"type": "text"})), "params.messages[0].content[0]: Object missing required field `text`"),
        (SAMPLE, sampling(says("user", {"type": "video"})), "params.messages[0].content[0].type: Invalid value 'video'"),
        (
            SAMPLE,
            sampling(says("user", json.loads(TEXT), result("1"))),
            "params: `messages[0]` mixes tool results with other content",
        ),
        (
            SAMPLE,
            sampling(says("assistant", use("1"), use("2")), says("user", result("1"))),
            "params: `messages[1]` lacks the tool results of the message before",
        ),
        (SAMPLE, sampling(says("assistant", use("1"))), "params: `messages` end before the tool results"),
    ],
)
def test_bad_shape_is_refused_and_named(method, params, fault):
    assert ask(method, params) == Refusal(-32602, f"Invalid params: {fault}")


@pytest.mark.parametrize("method", ["ping", "tasks/get", "tools/call", "vendor/ask", "elicitation/complete", ""])
def test_method_that_is_no_question_is_unknown(method):
    assert ask(method, "{}") == Refusal(-32601, f"Method not found: {method}")


def test_deep_nesting_is_refused():
    deep = b"[" * 100_000 + b"]" * 100_000
    params = b'{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","x":' + deep + b"}}}}"
    assert read_question(b"1", ELICIT, Raw(params), {}) == Refusal(-32602, "Invalid params: nested too deeply")
    assert invalid_answer(ask(ROOTS), Raw(b'{"roots":[],"x":' + deep + b"}")) == "it is nested too deeply"


# --- capabilities ---


@pytest.mark.parametrize(
    ("method", "params", "client"),
    [
        (ROOTS, None, {"roots": {}}),
        (ELICIT, form({}), {"elicitation": {}}),
        (ELICIT, form({}), {"elicitation": {"form": {}}}),
        (ELICIT, {"mode": "url", "message": "m", "url": "a:b"}, {"elicitation": {"url": {}}}),
        (SAMPLE, sampling(), {"sampling": {}}),
        (SAMPLE, sampling(includeContext="allServers"), {"sampling": {}}),
        (SAMPLE, sampling(tools=[]), {"sampling": {"tools": {}}}),
    ],
)
def test_declared_capability_is_not_missing(method, params, client):
    assert missing_capability(ask(method, params), client) is None


@pytest.mark.parametrize(
    ("method", "params", "client", "missing"),
    [
        (ROOTS, None, {}, {"roots": {}}),
        (ELICIT, form({}), {}, {"elicitation": {"form": {}}}),
        (ELICIT, form({}), {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        (ELICIT, {"mode": "url", "message": "m", "url": "a:b"}, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        (SAMPLE, sampling(), {"elicitation": {}}, {"sampling": {}}),
        (SAMPLE, sampling(tools=[]), {"sampling": {}}, {"sampling": {"tools": {}}}),
        (SAMPLE, sampling(toolChoice={}), {"sampling": {"context": {}}}, {"sampling": {"tools": {}}}),
    ],
)
def test_missing_capability_is_named(method, params, client, missing):
    assert missing_capability(ask(method, params), client) == missing


def test_missing_capabilities_add_up():
    both = merge_capabilities({"elicitation": {"url": {}}}, {"elicitation": {"form": {}}})
    assert both == {"elicitation": {"form": {}, "url": {}}}


def test_url_elicitation_needs_its_mode():
    assert missing_url_elicitation({"elicitation": {"url": {}}}) is None
    assert missing_url_elicitation({"elicitation": {}}) == {"elicitation": {"url": {}}}


# --- keys and digests ---


@pytest.mark.parametrize(
    ("method", "params", "keys"),
    [
        (ROOTS, None, ["roots-1", "roots-2", "roots-3"]),
        (SAMPLE, sampling(), ["sampling-1", "sampling-2", "sampling-3"]),
        (ELICIT, form({}), ["elicitation-1", "elicitation-2", "elicitation-3"]),
        (ELICIT, form({"a": {"type": "string"}, "b": {"type": "string"}}), ["elicitation-1", "elicitation-2", "elicitation-3"]),
        (ELICIT, {"mode": "url", "message": "m", "url": "a:b"}, ["elicitation-1", "elicitation-2", "elicitation-3"]),
        (ELICIT, form({"env": {"type": "string"}}), ["env", "env-2", "env-3"]),
        (ELICIT, form({"": {"type": "string"}}), ["elicitation-1", "elicitation-2", "elicitation-3"]),
        (ELICIT, form({"roots-1": {"type": "string"}}), ["roots-1", "roots-1-2", "roots-1-3"]),
    ],
)
def test_keys_are_stable_and_duplicates_are_counted(method, params, keys):
    taken: list[str] = []
    for _ in keys:
        taken.append(unique_key(ask(method, params), taken))
    assert taken == keys


def test_digest_names_what_is_asked_and_not_who_asks():
    first = ask(ELICIT, '{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}')
    again = ask(
        ELICIT,
        '{ "requestedSchema":{"properties":{"a":{"type":"\\u0073tring"}},"type":"object"},"message":"m","_meta":{"progressToken":3}}',
        wire_id=b"8",
    )
    other = ask(ELICIT, '{"message":"M","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}')
    assert first.digest == again.digest
    assert first.digest != other.digest
    assert ask(ROOTS).digest == ask(ROOTS).digest != first.digest


# --- answers ---

FORM = form(
    {
        "s": {"type": "string", "enum": ["x"], "minLength": 9},
        "n": {"type": "number"},
        "i": {"type": "integer"},
        "b": {"type": "boolean"},
        "l": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
    },
    required=["s"],
)
URL = {"mode": "url", "message": "m", "url": "https://a.example/"}


def sampled(content, more="", role="assistant"):
    return f'{{"role":"{role}","content":{content},"model":"x"{more}}}'


@pytest.mark.parametrize(
    ("method", "params", "answer"),
    [
        (ELICIT, FORM, '{"action":"accept","content":{"s":"anything","n":1.5,"i":3,"b":false,"l":["y"]}}'),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","n":1e400,"i":3.0}}'),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","n":7,"unasked":["a"],"more":-0.5}}'),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x"},"vendor":null,"resultType":"complete"}'),
        (ELICIT, FORM, '{"action":"decline"}'),
        (ELICIT, FORM, '{"action":"cancel","content":null}'),
        (ELICIT, form({}), '{"action":"accept","content":{}}'),
        (ELICIT, form({}), '{"action":"accept"}'),
        (ELICIT, URL, '{"action":"accept"}'),
        (ELICIT, URL, '{"action":"decline","url":"https://a.example/"}'),
        (SAMPLE, sampling(), sampled(TEXT)),
        (SAMPLE, sampling(), sampled(f"[{TEXT},{TEXT}]")),
        (SAMPLE, sampling(), sampled(json.dumps(use("1")))),
        (SAMPLE, sampling(), sampled(TEXT, ',"stopReason":null,"vendor":1')),
        (ROOTS, None, '{"roots":[]}'),
        (ROOTS, None, '{"roots":[{"uri":"file:///a","name":"A","_meta":{}}],"_meta":{}}'),
    ],
)
def test_answer_that_fits_is_valid(method, params, answer):
    assert invalid_answer(ask(method, params), Raw(answer.encode())) is None


CHOICES = "string, number, boolean or array of strings"


@pytest.mark.parametrize(
    ("method", "params", "answer", "fault"),
    [
        (ELICIT, FORM, "null", "it must be an object"),
        (ELICIT, FORM, "[]", "it must be an object"),
        (ELICIT, FORM, '"accept"', "it must be an object"),
        (ELICIT, FORM, "{}", "action must be accept, decline or cancel"),
        (ELICIT, FORM, '{"s":"x"}', "action must be accept, decline or cancel"),
        (ELICIT, FORM, '{"result":{"action":"accept","content":{"s":"x"}}}', "action must be accept, decline or cancel"),
        (ELICIT, FORM, '{"action":"reject"}', "action must be accept, decline or cancel"),
        (ELICIT, FORM, '{"action":null}', "action must be accept, decline or cancel"),
        (ELICIT, FORM, '{"action":"accept"}', "content is missing"),
        (ELICIT, FORM, '{"action":"accept","content":null}', "content is missing"),
        (ELICIT, FORM, '{"action":"accept","content":"x"}', "content: Expected `object`, got `str`"),
        (ELICIT, FORM, '{"action":"accept","content":{"n":1}}', "content.s is missing"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":1}}', "content.s is not what the form asks for: string"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":null}}', "content.s is not what the form asks for: string"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","n":"1"}}', "content.n is not what the form asks for: number"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","n":true}}', "content.n is not what the form asks for: number"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","i":1.5}}', "content.i is not what the form asks for: integer"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","i":false}}', "content.i is not what the form asks for: integer"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","b":0}}', "content.b is not what the form asks for: boolean"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","l":"x"}}', "content.l is not what the form asks for: array"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","l":[1]}}', "content.l is not what the form asks for: array"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","z":{}}}', f"content.z is not what the form asks for: {CHOICES}"),
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","z":null}}', f"content.z is not what the form asks for: {CHOICES}"),
        (ELICIT, URL, "{}", "action must be accept, decline or cancel"),
        (SAMPLE, sampling(), "null", "it must be an object"),
        (SAMPLE, sampling(), '{"action":"accept"}', "it: Object missing required field `role`"),
        (SAMPLE, sampling(), f'{{"role":"assistant","content":{TEXT}}}', "it: Object missing required field `model`"),
        (SAMPLE, sampling(), sampled(TEXT, role="system"), "it.role: Invalid enum value 'system'"),
        (SAMPLE, sampling(), sampled('"hi"'), "it.content: Expected `object | array`, got `str`"),
        (SAMPLE, sampling(), sampled("null"), "it: Object missing required field `content`"),
        (SAMPLE, sampling(), sampled('{"type":"resource_link","uri":"a:b","name":"x"}'), "it.content.type: Invalid value 'resource_link'"),
        (ROOTS, None, "{}", "it: Object missing required field `roots`"),
        (ROOTS, None, '{"roots":null}', "it.roots: Expected `array`, got `null`"),
        (ROOTS, None, '{"roots":[{"name":"a"}]}', "it.roots[0]: Object missing required field `uri`"),
        (ROOTS, None, '{"roots":[{"uri":"https://a"}]}', "a root must be a file:// URI (client/roots#root), not https://a"),
    ],
)
def test_answer_that_does_not_fit_is_named(method, params, answer, fault):
    assert invalid_answer(ask(method, params), Raw(answer.encode())) == fault


# --- what the server gets ---


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize(
    ("method", "params", "answer"),
    [
        (ELICIT, FORM, '{ "action":"accept", "content":{"s":"\\u00e9","n":1.10,"i":9007199254740993} }'),
        (ELICIT, FORM, '{ "action":"accept", "content":{"s":"x","n":1e400} }'),
        (ELICIT, FORM, '{"action":"decline"}'),
        (ELICIT, FORM, '{"action":"cancel","vendor":[1.0]}'),
        (ELICIT, URL, '{"action":"accept"}'),
        (SAMPLE, sampling(), sampled(TEXT, ', "stopReason":"endTurn","_meta":{"com.example/a":1} ')),
        (ROOTS, None, '{"roots":[{"uri":"file:///a"}],"vendor":{}}'),
    ],
)
def test_answer_without_modern_words_goes_through_unchanged(method, params, answer, revision):
    assert answer_result(ask(method, params), Raw(answer.encode()), revision) == answer.encode()


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize(
    ("method", "params", "answer", "result"),
    [
        (ELICIT, FORM, '{"action":"decline","content":{"s":"x"}}', '{"action":"decline"}'),
        (ELICIT, FORM, '{"action":"cancel","content":null}', '{"action":"cancel"}'),
        (ELICIT, FORM, '{"resultType":"complete","action":"accept","content":{"s":"x"}}', '{"action":"accept","content":{"s":"x"}}'),
        (ELICIT, form({}), '{"action":"accept"}', '{"content":{},"action":"accept"}'),
        (ELICIT, URL, '{"action":"accept","content":{},"url":"https://a.example/","elicitationId":"e"}', '{"action":"accept"}'),
        (ELICIT, URL, '{"action":"decline","_meta":{"a":1}}', '{"action":"decline"}'),
        (
            SAMPLE,
            sampling(),
            sampled(TEXT, ',"stopReason":null,"_meta":null'),
            sampled(TEXT),
        ),
        (
            ROOTS,
            None,
            '{"roots":[],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{},"a":1}}',
            '{"roots":[],"_meta":{"a":1}}',
        ),
        (ROOTS, None, '{"_meta":{"io.modelcontextprotocol/clientInfo":{}},"roots":[]}', '{"roots":[]}'),
    ],
)
def test_server_gets_only_what_is_its_own(method, params, answer, result, revision):
    assert answer_result(ask(method, params), Raw(answer.encode()), revision) == result.encode()


def test_several_blocks_and_tool_use_go_to_a_2025_11_25_server():
    several = sampled(f"[{TEXT},{json.dumps(use('1'))}]")
    assert answer_result(ask(SAMPLE, sampling()), Raw(several.encode()), NEWEST) == several.encode()


@pytest.mark.parametrize("revision", LEGACY[:-1])
def test_one_block_in_an_array_is_unwrapped_for_older_servers(revision):
    answer = Raw((sampled(f"[{TEXT}]")).encode())
    assert answer_result(ask(SAMPLE, sampling()), answer, revision) == (sampled(TEXT)).encode()


@pytest.mark.parametrize("revision", LEGACY[:-1])
@pytest.mark.parametrize("content", [f"[{TEXT},{TEXT}]", "[]", json.dumps(use("1")), json.dumps([use("1")])])
def test_sample_that_older_servers_have_no_words_for_fails_the_question(content, revision):
    found = answer_result(ask(SAMPLE, sampling()), Raw((sampled(content)).encode()), revision)
    assert isinstance(found, Refusal)
    assert found.code == -32603


@pytest.mark.parametrize(
    ("method", "params", "answer", "definition"),
    [
        (ELICIT, FORM, '{"action":"accept","content":{"s":"x","n":1.5,"l":["x"]},"resultType":"complete"}', "ElicitResult"),
        (ELICIT, FORM, '{"action":"decline","content":null}', "ElicitResult"),
        (ELICIT, form({}), '{"action":"accept","content":null}', "ElicitResult"),
        (SAMPLE, sampling(), sampled(f"[{TEXT}]"), "CreateMessageResult"),
        (ROOTS, None, '{"roots":[{"uri":"file:///a"}],"_meta":null}', "ListRootsResult"),
    ],
)
def test_what_the_server_gets_is_valid_for_2025_11_25(valid, method, params, answer, definition):
    valid("2025-11-25", definition, json.loads(answer_result(ask(method, params), Raw(answer.encode()), NEWEST)))


# --- no answer ---


def test_unanswered_form_is_cancelled():
    assert expired_answer(ask(ELICIT, FORM)) == ("result", b'{"action":"cancel"}')
    assert expired_answer(ask(ELICIT, URL)) == ("result", b'{"action":"cancel"}')


def test_unanswered_sampling_and_roots_are_errors():
    assert expired_answer(ask(SAMPLE, sampling())) == ("error", b'{"code":-1,"message":"The client did not answer the sampling request"}')
    assert expired_answer(ask(ROOTS)) == ("error", b'{"code":-32603,"message":"The client did not answer the request for its roots"}')


# --- -32042 ---


def test_required_url_elicitations_become_input_requests(valid):
    entry = {"mode": "url", "elicitationId": "e-1", "url": "https://a.example/1", "message": "one"}
    found = url_elicitations({"elicitations": [entry, {"url": "https://a.example/2", "message": "two", "vendor": Raw(b"1.10")}], "more": 1})
    assert found == {
        "elicitation-1": b'{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example/1","message":"one"}}',
        "elicitation-2": b'{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example/2","message":"two","vendor":1.10}}',
    }
    for request in found.values():
        valid("2026-07-28", "InputRequest", json.loads(request))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "x",
        {},
        {"elicitations": None},
        {"elicitations": {}},
        {"elicitations": []},
        {"elicitations": [None]},
        {"elicitations": [{"message": "m"}]},
        {"elicitations": [{"url": "https://a.example/"}]},
        {"elicitations": [{"url": "https://a.example/", "message": "m"}, {"url": 1, "message": "m"}]},
        {"elicitations": [{"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}}]},
    ],
)
def test_data_that_does_not_say_what_to_open_is_none(data):
    assert url_elicitations(data) is None


# --- whatever comes ---

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "form", "url", "a:b"]),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.sampled_from(list("abc")), children, max_size=3),
    max_leaves=8,
)
FIELD = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "number", "boolean", "array", "object"])},
    optional=dict.fromkeys(("title", "enum", "items", "default", "format", "minimum", "oneOf", "anyOf"), JSON),
)
FORMS = st.fixed_dictionaries(
    {
        "message": st.just("m"),
        "requestedSchema": st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(list("abc")), FIELD, max_size=2)}
        ),
    },
    optional={"mode": st.sampled_from(["form", "url"]), "url": JSON, "_meta": JSON},
)
SAMPLES = st.fixed_dictionaries(
    {
        "maxTokens": st.integers() | JSON,
        "messages": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": JSON}), max_size=2),
    },
    optional=dict.fromkeys(("temperature", "tools", "toolChoice", "stopSequences", "modelPreferences", "systemPrompt"), JSON),
)


@given(st.tuples(st.just(ELICIT), FORMS) | st.tuples(st.just(SAMPLE), SAMPLES) | st.tuples(st.sampled_from([ELICIT, SAMPLE, ROOTS]), JSON))
def test_every_question_is_refused_or_valid(valid, case):
    method, params = case
    question = ask(method, params)
    if isinstance(question, Question):
        valid("2026-07-28", "InputRequest", json.loads(question.request))
    else:
        assert question.code == -32602


@given(
    JSON,
    st.sampled_from(
        list(itertools.product([Version.V2024_11_05, NEWEST], [(ELICIT, FORM), (ELICIT, URL), (SAMPLE, sampling()), (ROOTS, None)]))
    ),
)
def test_no_answer_is_a_crash(answer, case):
    revision, (method, params) = case
    question = ask(method, params)
    raw = Raw(json.dumps(answer).encode())
    if invalid_answer(question, raw) is None:
        assert isinstance(answer_result(question, raw, revision), bytes | Refusal)

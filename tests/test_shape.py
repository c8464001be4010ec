"""Malformed results, errors, notifications and identities: told in the nearest valid shape with a note, or refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from crossings import NOVEMBER, answer, crossing, error, fault, notification, raw, result, told
from dragoman import chain
from dragoman.chain import Fault, Loss, Shaped

COMPLETE = '{"resultType":"complete",'
LISTED = '{"resultType":"complete","ttlMs":0,"cacheScope":"private",'
TEXT = '{"type":"text","text":"hi"}'
OBJECT = '{"type":"object"}'

WELL_FORMED: dict[str, list[str]] = {
    "tools/call": [
        '{"content":[{"text":"a\\u0000\\ud83d\\ude00","type":"text","annotations":{"audience":["user"],"priority":-0.0},"_meta":{"a":1.10}}]}',
        '{"content":[{"type":"image","data":"","mimeType":"x"},{"mimeType":"y","type":"audio","data":"AA"}],"isError":true,"x":null}',
        '{"content":[{"type":"resource_link","uri":"a:b","name":"n","size":1.0,"icons":[{"src":"d:","sizes":["any"],"theme":"dark"}]}]}',
        '{"content":[{"type":"resource","resource":{"uri":"a:b","text":"t","blob":null}},{"type":"resource","resource":{"uri":"","blob":""}}]}',
        '{"content":[],"structuredContent":[1e400,{"a":null}]}',
        '{"content":[],"structuredContent":"text"}',
    ],
    "prompts/get": [
        '{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"image","data":"","mimeType":"x"}}]}'
    ],
    "completion/complete": ['{"completion":{"values":["a"],"total":1e2,"hasMore":false}}', '{"completion":{"values":[]},"total":null}'],
}
WELL_FORMED_LISTS: dict[str, list[str]] = {
    "tools/list": [
        '{"tools":[{"name":"a","title":"A","description":"","inputSchema":{"type":"object","x":1e400},"outputSchema":{"type":"array"}}]}',
        '{"tools":[{"annotations":{"readOnlyHint":true,"title":"t","x":1},"inputSchema":{"type":"object"},"name":"a"}],"nextCursor":""}',
    ],
    "prompts/list": ['{"prompts":[{"name":"a","arguments":[{"name":"x","required":true}],"icons":[]}],"nextCursor":"c"}'],
    "resources/list": ['{"resources":[{"uri":"a:b","name":"n","size":12345678901234567890123,"mimeType":"x","annotations":{}}]}'],
    "resources/templates/list": ['{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"n","_meta":{}}]}'],
    "resources/read": ['{"contents":[{"uri":"a:b","text":"t"},{"uri":"a:b","blob":"AA==","mimeType":"x"}]}'],
}


# --- what fits stays what it was ---


@pytest.mark.parametrize(("method", "text"), [(method, text) for method, texts in WELL_FORMED.items() for text in texts])
def test_well_formed_result_is_only_stamped(method: str, text: str) -> None:
    assert raw(result(method, text)) == COMPLETE + text[1:]


@pytest.mark.parametrize(("method", "text"), [(method, text) for method, texts in WELL_FORMED_LISTS.items() for text in texts])
def test_well_formed_list_is_only_stamped(method: str, text: str) -> None:
    assert raw(result(method, text)) == LISTED + text[1:]


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("notifications/progress", '{"progressToken":"p","progress":1.10,"total":10.0,"message":"m"}'),
        ("notifications/message", '{"level":"emergency","data":null,"logger":"l"}'),
        ("notifications/resources/updated", '{"uri":"a:b"}'),
        ("notifications/tools/list_changed", "{ }"),
        ("vendor/x", '{"a":[null,1.10]}'),
    ],
)
def test_well_formed_notification_is_untouched(method: str, text: str) -> None:
    assert raw(notification(method, text)) == text


def test_progress_beyond_any_float_is_untouched() -> None:
    text = b'{"progressToken":1,"progress":1e400}'
    assert chain.notification_to_client(Raw(text), crossing("notifications/progress")) == Shaped(text)


def test_rare_spellings_of_numbers_leave_everything_as_it_was_written() -> None:
    text = '{ "resources":[ {"uri":"a:b", "name":"n", "size":1.0 }, {"uri":"c:d","name":"m"} ]}'
    assert raw(result("resources/list", text)) == LISTED + text[2:]
    form = b'{ "action":"accept", "content":{ "n":1e400, "i":1.0 } }'
    assert chain.answer_to_server("elicitation/create", Raw(form), NOVEMBER) == Shaped(form)


def test_well_formed_capabilities_and_identity_have_no_loss() -> None:
    text = b'{"tools":{"listChanged":true},"resources":{"subscribe":false},"logging":{},"completions":{},"experimental":{"a":{}},"x":null}'
    assert chain.capabilities_to_client(Raw(text)) == (json.loads(text), ())
    info = b'{ "name":"s","version":"1","icons":[{"src":"a:b"}],"x":1.10 }'
    assert chain.implementation_to_client(Raw(info)) == (info, ())


# --- results as a whole ---


def test_null_result_of_a_list_is_an_empty_list() -> None:
    assert told(result("tools/list", "null")) == (
        LISTED + '"tools":[]}',
        ["shape: tools/list: the result was null, taken as empty", "shape: tools/list: tools was missing, repaired"],
    )


def test_null_result_of_a_vendor_method_is_an_empty_object() -> None:
    assert told(result("vendor/x", "null")) == ('{"resultType":"complete"}', ["shape: vendor/x: the result was null, taken as empty"])


@pytest.mark.parametrize(("text", "what"), [("[]", "an array"), ('"ok"', "a string"), ("true", "true"), ("1.5", "a number")])
@pytest.mark.parametrize("method", ["tools/call", "vendor/x"])
def test_result_that_is_no_object_is_a_fault(method: str, text: str, what: str) -> None:
    assert fault(method, text) == Fault("shape", f"{method}: the result is {what}, not an object")


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("resources/read", "{}", "contents is missing"),
        ("resources/read", '{"contents":null}', "contents is null, not an array"),
        ("tools/list", '{"tools":5}', "tools is a number, not an array"),
        ("prompts/get", '{"messages":true}', "messages is true, not an array"),
        ("completion/complete", '{"completion":"x"}', "completion is a string, not an object"),
        ("completion/complete", '{"completion":{"values":"x"}}', "completion.values is a string, not an array"),
    ],
)
def test_result_without_a_near_shape_is_a_fault_that_names_the_member(method: str, text: str, message: str) -> None:
    assert fault(method, text) == Fault("shape", f"{method}: {message}")


def test_strict_refuses_what_would_be_repaired() -> None:
    assert fault("tools/call", '{"content":null}', strict=True) == Fault("shape", "tools/call: content was null, repaired")


def test_strict_lets_pass_what_fits_and_what_a_change_overwrites() -> None:
    assert raw(result("tools/call", '{"content":[]}', strict=True)) == '{"resultType":"complete","content":[]}'
    assert told(result("tools/call", '{"content":[],"resultType":"x"}', strict=True))[0] == '{"content":[],"resultType":"complete"}'


# --- tools/call ---

CALLS = [
    ("{}", '"content":[]', ["content was missing, repaired"]),
    ('{"content":null,"x":1.10}', '"content":[],"x":1.10', ["content was null, repaired"]),
    ('{"content":"hi"}', f'"content":[{TEXT}]', ["content was a string, repaired"]),
    (f'{{"content":{TEXT}}}', f'"content":[{TEXT}]', ["content was an object, repaired"]),
    (
        f'{{"content":["hi",{TEXT}],"isError":null}}',
        f'"content":[{TEXT},{TEXT}]',
        ["content[] was no block of a known type, repaired", "isError was null, left out"],
    ),
    ('{"content":[],"isError":"false"}', '"content":[],"isError":false', ["isError was a string, repaired"]),
    ('{"content":[],"isError":1}', '"content":[],"isError":true', ["isError was a number, repaired"]),
    ('{"content":[],"isError":"failed"}', '"content":[],"isError":true', ["isError was a string, repaired"]),
    ('{"content":[],"structuredContent":null}', '"content":[]', ["structuredContent was null, left out"]),
]


@pytest.mark.parametrize(("text", "members", "losses"), CALLS)
def test_malformed_tool_result_is_told_in_the_nearest_shape(text: str, members: str, losses: list[str]) -> None:
    assert told(result("tools/call", text)) == (f"{COMPLETE}{members}}}", [f"shape: tools/call: {loss}" for loss in losses])


def as_text(block: str) -> str:
    return '{"type":"text","text":' + json.dumps(block) + "}"


UNKNOWN = "content[] was no block of a known type, repaired"
BLOCKS = [
    ('{"type":"video","data":"AA","n":1.10}', as_text('{"type":"video","data":"AA","n":1.10}'), [UNKNOWN]),
    ('{"text":"hi"}', '{"text":"hi","type":"text"}', [UNKNOWN]),
    ('{"type":null,"text":"hi"}', '{"type":"text","text":"hi"}', [UNKNOWN]),
    ('{"data":"AA","mimeType":"audio/wav"}', '{"data":"AA","mimeType":"audio/wav","type":"audio"}', [UNKNOWN]),
    ('{"uri":"a:b","name":"n"}', '{"uri":"a:b","name":"n","type":"resource_link"}', [UNKNOWN]),
    ("7", as_text("7"), [UNKNOWN]),
    ('{"a":1.10}', as_text('{"a":1.10}'), [UNKNOWN]),
    ('{"type":"text"}', '{"type":"text","text":""}', ["content[].text was missing, repaired"]),
    ('{"type":"text","text":null}', '{"type":"text","text":""}', ["content[].text was null, repaired"]),
    ('{"type":"text","text":1.10}', '{"type":"text","text":"1.10"}', ["content[].text was a number, repaired"]),
    ('{"type":"text","text":{"a":1}}', '{"type":"text","text":"{\\"a\\":1}"}', ["content[].text was an object, repaired"]),
    (
        '{"type":"image","data":"AA","mimeType":null}',
        '{"type":"image","data":"AA","mimeType":"application/octet-stream"}',
        ["content[].mimeType was null, repaired"],
    ),
    (
        '{"type":"image","mimeType":"x"}',
        as_text('{"type":"image","mimeType":"x"}'),
        ["content[] is told as text: content[].data is missing"],
    ),
    (
        '{"type":"text","text":"hi","annotations":null,"_meta":null}',
        TEXT,
        ["content[].annotations was null, left out", "content[]._meta was null, left out"],
    ),
    (
        '{"type":"text","text":"hi","annotations":{"audience":["user","dev"],"priority":2,"lastModified":"x"}}',
        '{"type":"text","text":"hi","annotations":{"audience":["user"],"lastModified":"x"}}',
        [
            "content[].annotations.audience[1] left out: content[].annotations.audience[] is no known value",
            "content[].annotations.priority was a number, left out",
        ],
    ),
    (
        '{"type":"resource_link","uri":"a:b","size":"5"}',
        '{"type":"resource_link","uri":"a:b","name":"a:b"}',
        ["content[].name was missing, repaired", "content[].size was a string, left out"],
    ),
    (
        '{"type":"resource","resource":{"uri":"a:b"}}',
        '{"type":"resource","resource":{"uri":"a:b","text":""}}',
        ["content[].resource was not what a resource holds, repaired"],
    ),
    (
        '{"type":"resource","resource":{"text":"t"}}',
        as_text('{"type":"resource","resource":{"text":"t"}}'),
        ["content[] is told as text: content[].resource.uri is missing"],
    ),
    ('{"type":"resource"}', as_text('{"type":"resource"}'), ["content[] is told as text: content[].resource is missing"]),
]


@pytest.mark.parametrize(("block", "becomes", "losses"), BLOCKS)
def test_malformed_block_is_told_and_its_neighbours_are_untouched(block: str, becomes: str, losses: list[str]) -> None:
    text, notes = told(result("tools/call", f'{{"content":[{TEXT},{block},{TEXT}]}}'))
    assert json.loads(text)["content"] == [json.loads(TEXT), json.loads(becomes), json.loads(TEXT)]
    assert text == f'{COMPLETE}"content":[{TEXT},{becomes},{TEXT}]}}'
    assert sorted(notes) == sorted(f"shape: tools/call: {loss}" for loss in losses)


# --- lists ---


def test_bad_tools_are_left_out_by_name_and_the_others_stay() -> None:
    text = (
        '{"tools":[{"name":"good","inputSchema":{"type":"object","n":1e400}},{"title":"nameless","inputSchema":{"type":"object"}},null,'
        '{"name":7,"uri":"x"},{"name":"also","inputSchema":{"type":"object"}}]}'
    )
    assert told(result("tools/list", text)) == (
        LISTED + '"tools":[{"name":"good","inputSchema":{"type":"object","n":1e400}},{"name":"also","inputSchema":{"type":"object"}}]}',
        [
            "shape: tools/list: tools[1] left out: tools[].name is missing",
            "shape: tools/list: tools[2] left out: tools[] is null, not an object",
            "shape: tools/list: tools[3] (x) left out: tools[].name is a number",
        ],
    )


SCHEMAS = [
    ("{}", OBJECT),
    ("null", OBJECT),
    ("true", OBJECT),
    ('"x"', OBJECT),
    ("[]", OBJECT),
    ('{"type":null}', OBJECT),
    ('{"type":["object","null"]}', OBJECT),
    ('{"properties":{"n":{"default":1.10}}}', '{"properties":{"n":{"default":1.10}},"type":"object"}'),
    ('{"$ref":"#/$defs/a","$defs":{"a":{}}}', '{"$ref":"#/$defs/a","$defs":{"a":{}},"type":"object"}'),
]


@pytest.mark.parametrize(("schema", "becomes"), SCHEMAS)
def test_input_schema_becomes_an_object_schema(schema: str, becomes: str) -> None:
    text, losses = told(result("tools/list", f'{{"tools":[{{"name":"a","inputSchema":{schema}}}]}}'))
    assert text == f'{LISTED}"tools":[{{"name":"a","inputSchema":{becomes}}}]}}'
    assert len(losses) == 1


def test_missing_input_schema_is_filled_in() -> None:
    assert told(result("tools/list", '{"tools":[{"name":"a"}]}')) == (
        LISTED + '"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
        ["shape: tools/list: tools[].inputSchema was missing, repaired"],
    )


def test_nulls_of_many_items_are_one_loss_each() -> None:
    tool = '{"name":"a","title":null,"outputSchema":null,"inputSchema":{"type":"object"}}'
    assert told(result("tools/list", f'{{"tools":[{tool},{tool},{tool}],"nextCursor":null}}')) == (
        LISTED + '"tools":[' + ",".join(['{"name":"a","inputSchema":{"type":"object"}}'] * 3) + "]}",
        [
            "shape: tools/list: nextCursor was null, left out",
            "shape: tools/list: tools[].title was null, left out (3 times)",
            "shape: tools/list: tools[].outputSchema was null, left out (3 times)",
        ],
    )


LISTS = [
    ("prompts/list", '{"prompts":null}', '"prompts":[]'),
    ("resources/list", "{}", '"resources":[]'),
    ("resources/templates/list", '{"resourceTemplates":null}', '"resourceTemplates":[]'),
    ("prompts/list", '{"prompts":[],"nextCursor":50}', '"prompts":[],"nextCursor":"50"'),
    ("prompts/list", '{"prompts":[],"nextCursor":{}}', '"prompts":[]'),
    ("prompts/list", '{"prompts":{"name":"a"}}', '"prompts":[{"name":"a"}]'),
    (
        "prompts/list",
        '{"prompts":[{"name":"a","arguments":null},{"name":"b","arguments":[{"name":"x","required":null},{"required":true}]}]}',
        '"prompts":[{"name":"a"},{"name":"b","arguments":[{"name":"x"}]}]',
    ),
    ("resources/list", '{"resources":[{"uri":"a:b","size":1.5},{"name":"n"}]}', '"resources":[{"uri":"a:b","name":"a:b"}]'),
    ("resources/list", '{"resources":[{"uri":"a:b","title":"T","name":null}]}', '"resources":[{"uri":"a:b","title":"T","name":"T"}]'),
    (
        "resources/templates/list",
        '{"resourceTemplates":[{"uriTemplate":"a:{b}"}]}',
        '"resourceTemplates":[{"uriTemplate":"a:{b}","name":"a:{b}"}]',
    ),
    (
        "tools/list",
        '{"tools":[{"name":"a","inputSchema":{"type":"object"},"icons":[{"src":"a:b"},{}]}]}',
        '"tools":[{"name":"a","inputSchema":{"type":"object"},"icons":[{"src":"a:b"}]}]',
    ),
]


@pytest.mark.parametrize(("method", "text", "members"), LISTS)
def test_malformed_list_is_told_in_the_nearest_shape(method: str, text: str, members: str) -> None:
    found, losses = told(result(method, text))
    assert found == f"{LISTED}{members}}}"
    assert losses


# --- resources/read, prompts/get, completion/complete ---

CONTENTS = [
    ('[{"text":"t"}]', '[{"text":"t","uri":"a:b"}]'),
    ('{"uri":"c:d","text":"t"}', '[{"uri":"c:d","text":"t"}]'),
    ('["t"]', '[{"text":"t","uri":"a:b"}]'),
    ('[{"uri":"a:b","text":{"n":1.10}}]', '[{"uri":"a:b","text":"{\\"n\\":1.10}"}]'),
    ('[{"uri":"a:b","mimeType":null,"blob":null}]', '[{"uri":"a:b","blob":null,"text":""}]'),
]


@pytest.mark.parametrize(("contents", "becomes"), CONTENTS)
def test_malformed_contents_are_told_with_the_uri_asked_for(contents: str, becomes: str) -> None:
    found, losses = told(result("resources/read", f'{{"contents":{contents}}}', uri="a:b"))
    assert found == f'{LISTED}"contents":{becomes}}}'
    assert losses


MESSAGES = [
    ("null", "[]"),
    ('["hi"]', f'[{{"role":"user","content":{TEXT}}}]'),
    (f'[{{"role":"system","content":{TEXT}}}]', f'[{{"role":"user","content":{TEXT}}}]'),
    (f'[{{"role":"Assistant","content":{TEXT}}}]', f'[{{"role":"assistant","content":{TEXT}}}]'),
    ('[{"role":"user","content":"hi"}]', f'[{{"role":"user","content":{TEXT}}}]'),
    (f'[{{"role":"user","content":[{TEXT},{TEXT}]}}]', f'[{{"role":"user","content":{TEXT}}},{{"role":"user","content":{TEXT}}}]'),
]


@pytest.mark.parametrize(("messages", "becomes"), MESSAGES)
def test_malformed_messages_are_told_one_block_each(messages: str, becomes: str) -> None:
    found, losses = told(result("prompts/get", f'{{"messages":{messages},"description":null}}'))
    assert found == f'{COMPLETE}"messages":{becomes}}}'
    assert losses


def test_more_than_100_values_are_cut_and_said_to_have_more() -> None:
    values = [f"v{number}" for number in range(101)]
    found, losses = told(result("completion/complete", json.dumps({"completion": {"values": values, "total": 101, "hasMore": False}})))
    assert json.loads(found)["completion"] == {"values": values[:100], "total": 101, "hasMore": True}
    assert losses == ["shape: completion/complete: completion was an object, repaired"]


def test_hundred_values_are_not_cut() -> None:
    text = json.dumps({"completion": {"values": ["v"] * 100}})
    assert raw(result("completion/complete", text)) == COMPLETE + text[1:]


@pytest.mark.parametrize(
    ("completion", "becomes"),
    [
        ("null", '{"values":[]}'),
        ('["a"]', '{"values":["a"]}'),
        ('{"values":null,"total":null,"hasMore":null}', '{"values":[]}'),
        ('{"values":["a",null,1]}', '{"values":["a"]}'),
    ],
)
def test_malformed_completion_is_told_in_the_nearest_shape(completion: str, becomes: str) -> None:
    found, losses = told(result("completion/complete", f'{{"completion":{completion}}}'))
    assert found == f'{COMPLETE}"completion":{becomes}}}'
    assert losses


# --- errors ---

ERRORS = [
    ('{"code":-32603,"message":null}', '{"code":-32603,"message":"The server gave no message"}'),
    ('{"code":-32000,"message":{"a":1.10},"data":1}', '{"code":-32000,"message":"{\\"a\\":1.10}","data":1}'),
    ('{"message":"m"}', '{"message":"m","code":-32603}'),
    ('{"code":null,"message":"m","data":{}}', '{"code":-32603,"message":"m","data":{}}'),
    ('{"code":"-32602","message":"m"}', '{"code":-32602,"message":"m"}'),
    ('{"code":-32602.0,"message":"m"}', '{"code":-32602,"message":"m"}'),
    ('{"code":"ENOENT","message":"m","data":1.10}', '{"code":-32603,"message":"m","data":{"code":"ENOENT","message":"m","data":1.10}}'),
    ('{"code":1.5,"message":"m"}', '{"code":-32603,"message":"m","data":{"code":1.5,"message":"m"}}'),
    ('{"code":1e400,"message":"m"}', '{"code":-32603,"message":"m","data":{"code":1e400,"message":"m"}}'),
    ('{"code":true,"message":"m"}', '{"code":-32603,"message":"m","data":{"code":true,"message":"m"}}'),
    ('"boom"', '{"code":-32603,"message":"boom"}'),
    ("null", '{"code":-32603,"message":"The server answered with an error that is null"}'),
    ("[]", '{"code":-32603,"message":"The server answered with an error that is an array"}'),
    ("{}", '{"message":"The server gave no message","code":-32603}'),
]


@pytest.mark.parametrize(("text", "becomes"), ERRORS)
def test_malformed_error_is_always_told(text: str, becomes: str) -> None:
    found, losses = told(error("tools/call", text))
    assert found == becomes
    assert losses


def test_code_of_ten_thousand_digits_is_no_code() -> None:
    digits = "1" * 10_000
    assert json.loads(told(error("tools/call", f'{{"code":{digits}.0,"message":"m"}}'))[0])["code"] == -32603


# --- notifications ---


@pytest.mark.parametrize("text", ["", "{}"])
def test_notification_without_params_has_empty_ones(text: str) -> None:
    assert raw(notification("notifications/tools/list_changed", text)) == "{}"


@pytest.mark.parametrize(
    ("method", "text", "becomes"),
    [
        ("notifications/tools/list_changed", "null", "{}"),
        ("notifications/tools/list_changed", '{"_meta":null}', "{}"),
        (
            "notifications/progress",
            '{"progressToken":1,"progress":1.10,"total":null,"message":null}',
            '{"progressToken":1,"progress":1.10}',
        ),
        ("notifications/message", '{"level":"WARN","data":1.10,"logger":null}', '{"level":"warning","data":1.10}'),
        ("notifications/message", '{"level":"info","message":"m"}', '{"level":"info","message":"m","data":"m"}'),
        ("notifications/message", '{"level":"fatal"}', '{"level":"critical","data":null}'),
    ],
)
def test_malformed_notification_is_told_in_the_nearest_shape(method: str, text: str, becomes: str) -> None:
    found, losses = told(notification(method, text))
    assert found == becomes
    assert losses


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("notifications/progress", "{}", "progress is missing"),
        ("notifications/progress", '{"progress":"5"}', "progress is a string"),
        ("notifications/progress", '{"progress":true}', "progress is true"),
        ("notifications/message", '{"level":"loud","data":1}', "level is no known value"),
        ("notifications/message", '{"data":1}', "level is missing"),
        ("notifications/resources/updated", '{"uri":null}', "uri is null"),
        ("vendor/x", "[]", "the params are an array, not an object"),
    ],
)
def test_notification_without_a_near_shape_is_a_fault(method: str, text: str, message: str) -> None:
    assert notification(method, text) == Fault("shape", f"{method}: {message}")


# --- answers ---


@pytest.mark.parametrize(
    ("method", "text", "becomes"),
    [
        ("elicitation/create", '{"action":"cancel","content":null}', '{"action":"cancel"}'),
        ("elicitation/create", '{"action":"accept","content":{"a":null,"n":1.10}}', '{"action":"accept","content":{"n":1.10}}'),
        ("roots/list", '{"roots":[{"uri":"file:///a","name":null}]}', '{"roots":[{"uri":"file:///a"}]}'),
        (
            "sampling/createMessage",
            '{"role":"assistant","model":"m","content":{"type":"text","text":"a","annotations":null}}',
            '{"role":"assistant","model":"m","content":{"type":"text","text":"a"}}',
        ),
    ],
)
def test_nulls_of_an_answer_are_left_out(method: str, text: str, becomes: str) -> None:
    found, losses = told(answer(method, text, NOVEMBER))
    assert found == becomes
    assert losses


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("elicitation/create", "{}", "action is missing"),
        ("elicitation/create", '{"action":"yes"}', "action is no known value"),
        ("elicitation/create", '{"action":"accept","content":{"a":{}}}', "content.a is an object"),
        ("roots/list", "[]", "the answer is an array, not an object"),
        ("roots/list", '{"roots":[{"uri":"file:///a"},{}]}', "roots[].uri is missing"),
        ("roots/list", '{"roots":[{"uri":"file:///a","name":5}]}', "roots[].name is a number"),
        ("roots/list", '{"roots":null}', "roots is null, not an array"),
        ("sampling/createMessage", '{"role":"assistant","model":"m","content":"hi"}', "content is no content block of a known type"),
        ("sampling/createMessage", '{"role":"system","model":"m","content":[]}', "role is no known value"),
    ],
)
def test_malformed_answer_is_a_fault_of_the_client(method: str, text: str, message: str) -> None:
    assert answer(method, text, NOVEMBER) == Fault("shape", f"{method}: {message}")


# --- capabilities and identity ---


def test_capabilities_of_other_types_are_taken_as_declared_or_not() -> None:
    text = (
        b'{"tools":[],"prompts":true,"resources":{"subscribe":1,"listChanged":true},"logging":null,'
        b'"completions":false,"experimental":{"a":[]}}'
    )
    assert chain.capabilities_to_client(Raw(text)) == (
        {"tools": {}, "prompts": {}, "resources": {"listChanged": True}, "experimental": {"a": {}}},
        (
            Loss("shape", "capabilities: tools was not an object, taken as declared"),
            Loss("shape", "capabilities: prompts was not an object, taken as declared"),
            Loss("shape", "capabilities: resources.subscribe was neither true nor false, left out"),
            Loss("shape", "capabilities: logging was null or false, taken as not declared"),
            Loss("shape", "capabilities: completions was null or false, taken as not declared"),
            Loss("shape", "capabilities: experimental.a was not an object, taken as declared"),
        ),
    )


@pytest.mark.parametrize(("text", "what"), [(b"null", "null"), (b"[]", "an array"), (b"", "missing")])
def test_capabilities_that_are_no_object_are_none(text: bytes, what: str) -> None:
    assert chain.capabilities_to_client(Raw(text)) == ({}, (Loss("shape", f"capabilities: {what}, not an object, taken as none"),))


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ('{"name":"s"}', '{"name":"s","version":"unknown"}'),
        ('{"name":"s","version":null,"title":null}', '{"name":"s","version":"unknown"}'),
        ('{"name":"s","version":1.10}', '{"name":"s","version":"1.10"}'),
        ('{"title":"T","version":"1"}', '{"title":"T","version":"1","name":"T"}'),
        ('"s"', '{"name":"s","version":"unknown"}'),
    ],
)
def test_incomplete_identity_is_filled_in(text: str, becomes: str) -> None:
    found, losses = chain.implementation_to_client(Raw(text.encode()))
    assert found.decode() == becomes
    assert losses


@pytest.mark.parametrize("text", ["null", "{}", "[]", "5", '{"version":"1"}', '{"name":5}'])
def test_identity_that_names_nobody_is_none(text: str) -> None:
    assert chain.implementation_to_client(Raw(text.encode())) == (
        b"",
        (Loss("shape", "serverInfo: names nobody, results are not stamped with it"),),
    )


def test_missing_identity_is_none() -> None:
    assert chain.implementation_to_client(None)[0] == b""


# --- everything else ---

SEEDS: list[tuple[str, Any]] = [
    *(
        (method, json.loads(text))
        for texts in (WELL_FORMED, WELL_FORMED_LISTS)
        for method, group in texts.items()
        for text in group
        if "1e400" not in text
    ),
    (
        "tools/list",
        {
            "tools": [
                {
                    "name": "a",
                    "title": "A",
                    "inputSchema": {"$schema": "x", "type": "object"},
                    "outputSchema": {"$schema": "x"},
                    "annotations": {"title": "t", "readOnlyHint": True, "destructiveHint": False},
                    "icons": [{"src": "a:b", "mimeType": "m", "sizes": ["any"], "theme": "light"}],
                    "_meta": {},
                }
            ],
            "nextCursor": "c",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
        },
    ),
]
ODD = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 1e300, "", "user", "text", "resource", "image", [], {}, [None], ["x"], {"type": "text"}, {"text": 1}]
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON tree."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@given(st.data())
def test_whatever_is_broken_the_result_is_valid_or_a_fault(data: st.DataObject) -> None:
    method, seed = data.draw(st.sampled_from(SEEDS))
    holder = {"result": copy.deepcopy(seed)}
    for _ in range(data.draw(st.integers(1, 4))):
        container, key = data.draw(st.sampled_from(places(holder)))
        if isinstance(container, dict) and container is not holder and data.draw(st.booleans()):
            del container[key]
        else:
            container[key] = copy.deepcopy(data.draw(ODD))
    text = json.dumps(holder["result"])
    shaped = chain.result_to_client(Raw(text.encode()), crossing(method, server_info=b'{"name":"s","version":"1"}', uri="a:b"))
    if isinstance(shaped, Shaped):
        once = result(method, text, server_info=b'{"name":"s","version":"1"}', uri="a:b")
        again = raw(result(method, once.raw.decode(), server_info=b'{"name":"s","version":"1"}', uri="a:b"))
        assert json.loads(again) == json.loads(once.raw)
    else:
        assert shaped.message.startswith(f"{method}: ")

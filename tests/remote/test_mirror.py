"""The fields of our own requests repeat the body, as the checking side wants them; tools with invalid marks are not shown."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman import frame
from dragoman.http.headers import compare
from dragoman.http.params import annotations_of, compare_params
from dragoman.http.request import Fields
from dragoman.remote.mirror import headers_of, without_invalid

VERSION = "2026-07-28"
SCHEMA = msgspec.json.encode(
    {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "options": {"type": "object", "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}}},
            "query": {"type": "string"},
        },
    }
)


def fields(method, params, schema=None):
    return headers_of(frame.Request(b"1", method, None if params is None else Raw(params)), schema)


def called(arguments, schema=SCHEMA):
    """The ``Mcp-Param-*`` fields of a call, in the order of their names."""
    made = fields("tools/call", b'{"name":"t","arguments":' + arguments + b"}", schema)
    assert made[:2] == (("Mcp-Method", "tools/call"), ("Mcp-Name", "t"))
    return sorted(made[2:])


# --- the method and what it names ---


@pytest.mark.parametrize("method", ["tools/list", "server/discover", "subscriptions/listen", "completion/complete", "x/y"])
@pytest.mark.parametrize("params", [None, b"{}", b'{"name":"a","uri":"b"}', b"[]"])
def test_request_that_names_nothing_has_its_method_alone(method, params):
    assert fields(method, params, SCHEMA) == (("Mcp-Method", method),)


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", b'{"name":"get_weather","uri":"x"}', "get_weather"),
        ("prompts/get", b'{"name":"Code review"}', "Code review"),
        ("resources/read", b'{"uri":"file:///a/b.json","name":"x"}', "file:///a/b.json"),
        ("tools/call", b'{"name":""}', ""),
        ("tools/call", b'{"name":"e\\u0063ho"}', "echo"),
        ("tools/call", '{"name":"世界"}'.encode(), "=?base64?5LiW55WM?="),
        ("tools/call", b'{"name":" padded "}', "=?base64?IHBhZGRlZCA=?="),
        ("tools/call", b'{"name":"a\\r\\nX: y"}', "=?base64?YQ0KWDogeQ==?="),
        ("tools/call", b'{"name":"=?base64?literal?="}', "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_name_or_uri_is_repeated_in_a_form_that_a_field_can_carry(method, params, name):
    assert fields(method, params) == (("Mcp-Method", method), ("Mcp-Name", name))


@pytest.mark.parametrize("params", [None, b"{}", b'{"name":null}', b'{"name":7}', b'{"name":["a"]}', b'{"uri":"a"}', b"[]", b'"name"'])
def test_call_that_names_no_tool_has_no_name_field(params):
    assert fields("tools/call", params) == (("Mcp-Method", "tools/call"),)


@pytest.mark.parametrize("method", ["a\r\nX-Evil: 1", "a\nb", " tools/list", "tools/list ", "a\tb", "a\x00", "é", "=?base64?eA==?="])
def test_method_that_its_field_cannot_carry_is_not_sent(method):
    assert fields(method, b"{}") == "no Mcp-Method header can carry the method's name"


# --- marked arguments ---


@pytest.mark.parametrize("schema", [None, b"{}", b"true", b'{"properties":{"region":{"type":"string"}}}'])
def test_tool_without_marks_has_no_further_fields(schema):
    assert called(b'{"region":"eu"}', schema) == []


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
def test_schema_is_for_calls_only(method):
    assert fields(method, b'{"arguments":{"region":"eu"}}', SCHEMA) == (("Mcp-Method", method),)


@pytest.mark.parametrize(
    "schema",
    [
        b'{"properties":{"region":{"type":"string","x-mcp-header":"My Region"}}}',
        b'{"properties":{"region":{"type":"string","x-mcp-header":"A\\r\\nX: y"}}}',
        b'{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"b":{"type":"number","x-mcp-header":"B"}}}',
    ],
)
def test_tool_with_invalid_marks_has_no_further_fields(schema):
    assert called(b'{"region":"eu","b":1}', schema) == []


@pytest.mark.parametrize(
    "arguments",
    [
        b"{}",
        b"null",
        b"[]",
        b'"region"',
        b'{"query":"x","Region":"eu","dry":true}',
        b'{"region":null,"count":null,"options":null}',
        b'{"options":{"dry":null}}',
        b'{"options":[{"dry":true}]}',
        b'{"region":{"a":1},"count":[1],"options":"dry"}',
    ],
)
def test_value_that_is_absent_null_or_no_single_value_has_no_field(arguments):
    assert called(arguments) == []


def test_call_without_arguments_has_no_field_for_them():
    assert fields("tools/call", b'{"name":"t"}', SCHEMA) == (("Mcp-Method", "tools/call"), ("Mcp-Name", "t"))


def test_every_marked_argument_has_a_field_by_the_name_of_the_mark():
    assert called(b'{"query":"q","region":"us-west1","count":42,"options":{"dry":false}}') == [
        ("Mcp-Param-Count", "42"),
        ("Mcp-Param-Dry", "false"),
        ("Mcp-Param-Region", "us-west1"),
    ]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'""', ""),
        (b'"a b"', "a b"),
        (b'"\\u0065u"', "eu"),
        (b'"null"', "null"),
        ('"Hello, 世界"'.encode(), "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (b'"Hello, \\u4e16\\u754c"', "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (b'" padded "', "=?base64?IHBhZGRlZCA=?="),
        (b'"line1\\nline2"', "=?base64?bGluZTEKbGluZTI=?="),
        (b'"=?base64?literal?="', "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        (b"true", "true"),
        (b"false", "false"),
        (b"0", "0"),
        (b"-7", "-7"),
        (b"-0", "0"),
        (b"42.0", "42"),
        (b"4.2e1", "42"),
        (b"-420E-1", "-42"),
        (b"1e3", "1000"),
        (b"1200", "1200"),
        (b"0e9", "0"),
        (b"9007199254740991", "9007199254740991"),
        # Not allowed by the mark or its type, and carried as they are: the server judges.
        (b"9007199254740993", "9007199254740993"),
        (b"-123456789012345678901234567890", "-123456789012345678901234567890"),
        (b"1e30", "1000000000000000000000000000000"),
        (b"3.14", "3.14"),
        (b"1e-7", "1e-7"),
        (b"1e400", "1e400"),
        (b"1e999999999999", "1e999999999999"),
        (b"1e99999999999999999999", "1e99999999999999999999"),
    ],
)
@pytest.mark.parametrize("member", [b"region", b"count"])
def test_value_is_carried_in_the_form_of_its_own_type(member, raw, value):
    assert called(b'{"%b":%b}' % (member, raw)) == [("Mcp-Param-" + member.decode().title(), value)]


def test_mark_named_method_does_not_touch_the_field_of_the_method():
    schema = b'{"properties":{"m":{"type":"string","x-mcp-header":"Method"}}}'
    assert called(b'{"m":"GET"}', schema) == [("Mcp-Param-Method", "GET")]


# --- both sides ---

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["=?base64?YQ==?=", " a", "a\tb", "é"])
    | st.lists(st.integers(), max_size=2)
)


@given(
    name=st.text() | st.integers(),
    arguments=st.fixed_dictionaries(
        {}, optional={"region": VALUES, "count": VALUES, "query": VALUES, "options": st.fixed_dictionaries({"dry": VALUES})}
    ),
)
def test_checking_side_finds_nothing_wrong_with_the_fields_that_are_made(name, arguments):
    params = Raw(msgspec.json.encode({"name": name, "arguments": arguments}))
    made = headers_of(frame.Request(b"1", "tools/call", params), SCHEMA)
    arrived = Fields([(b"mcp-protocol-version", VERSION.encode()), *((key.lower().encode(), value.encode("ascii")) for key, value in made)])
    members = frame.members(params)
    assert compare(arrived, "tools/call", members, VERSION) is None
    assert compare_params(annotations_of(SCHEMA), members["arguments"], arrived) is None


@given(st.text(), st.text())
def test_nothing_that_is_sent_ends_a_field_early(method, name):
    made = headers_of(frame.Request(b"1", method, Raw(msgspec.json.encode({"name": name}))), None)
    assert isinstance(made, str) or all(value.isascii() and value.isprintable() and value == value.strip() for _, value in made)


# --- lists of tools ---


def listed(*tools, **more):
    return Raw(msgspec.json.encode({"tools": tools, **more}))


GOOD = {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}}
BAD = {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": ""}}}}
PLAIN = {"name": "plain", "inputSchema": {"type": "object"}}
NOT_A_TOKEN = "x-mcp-header of a must be a token of HTTP (letters, digits and some signs)"


@pytest.mark.parametrize(
    "result",
    [
        listed(),
        listed(PLAIN),
        listed(GOOD, PLAIN, nextCursor="c", ttlMs=5),
        listed({"name": "x-mcp-header", "description": "é\\u"}, {"name": "t"}),
        listed({"name": "t", "outputSchema": BAD["inputSchema"], "_meta": {"x-mcp-header": ""}}),
        listed({"name": "t", "inputSchema": None, "x-mcp-header": 1}, 7, None, "x-mcp-header", []),
        Raw(b'{"x-mcp-header":""}'),
        Raw(b'{"tools":{"x-mcp-header":""}}'),
        Raw(b'{"tools":"x-mcp-header"}'),
        Raw(b'["x-mcp-header"]'),
        Raw(b'"x-mcp-header"'),
        Raw(b"null"),
    ],
)
def test_list_without_an_invalid_mark_is_the_same_object(result):
    kept, refused = without_invalid(result)
    assert kept is result
    assert refused == []


def test_tool_with_an_invalid_mark_is_left_out_and_told_and_all_else_stays_as_written():
    result = Raw(
        b'{"tools" : [ %b, {"name":"n","x":1.50e0} , %b ],"nextCursor":"\\u0063","big":12345678901234567890.10}'
        % tuple(map(msgspec.json.encode, (BAD, GOOD)))
    )
    kept, refused = without_invalid(result)
    assert bytes(kept) == (
        b'{"tools":[{"name":"n","x":1.50e0},' + msgspec.json.encode(GOOD) + b'],"nextCursor":"\\u0063","big":12345678901234567890.10}'
    )
    assert refused == [("bad", NOT_A_TOKEN)]


def test_list_of_invalid_tools_alone_becomes_empty():
    kept, refused = without_invalid(listed(BAD, {**BAD, "name": "worse"}))
    assert bytes(kept) == b'{"tools":[]}'
    assert refused == [("bad", NOT_A_TOKEN), ("worse", NOT_A_TOKEN)]


def test_mark_written_with_escapes_is_found():
    result = Raw(b'{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp\\u002dheader":""}}}}]}')
    assert without_invalid(result)[1] == [("t", NOT_A_TOKEN)]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"x-mcp-header": "A", "type": "string"}, "x-mcp-header stands where no chain of properties leads"),
        (
            {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
            "x-mcp-header of a may stand only on a string, an integer or a boolean",
        ),
        (
            {"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}},
            "x-mcp-header A stands twice",
        ),
    ],
)
def test_reason_says_what_is_wrong(schema, reason):
    assert without_invalid(listed({"name": "t", "inputSchema": schema}))[1] == [("t", reason)]


def test_invalid_tool_without_a_readable_name_is_left_out_too():
    kept, refused = without_invalid(listed({"inputSchema": BAD["inputSchema"]}, {"name": 7, "inputSchema": BAD["inputSchema"]}, PLAIN))
    assert kept == listed(PLAIN)
    assert refused == [("", NOT_A_TOKEN), ("", NOT_A_TOKEN)]

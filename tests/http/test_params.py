"""``x-mcp-header``: which annotations count, and what the fields of a call must say."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.http.headers import encode_value
from dragoman.http.params import annotations_of, compare_params
from dragoman.http.request import Fields


def annotations(schema):
    return annotations_of(Raw(msgspec.json.encode(schema)))


def with_property(**schema):
    return {"type": "object", "properties": {"a": schema}}


# --- annotations ---


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string", "description": "no x-mcp-header here"}}},
        {"type": "object", "properties": {"x-mcp-header": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"type": "object", "default": {"x-mcp-header": "A"}}}},
        {"type": "object", "properties": {"a": {"const": {"x-mcp-header": "A"}, "enum": [{"x-mcp-header": "A"}]}}},
        {"type": "object", "examples": [{"x-mcp-header": "A"}], "required": ["x-mcp-header"]},
        {"type": "object", "dependencies": {"a": ["x-mcp-header"]}},
        {"type": "object", "properties": "x-mcp-header"},
        True,
        None,
        [{"x-mcp-header": "A"}],
    ],
)
def test_schema_without_an_annotation_has_none(schema):
    assert annotations(schema) == {}


def test_annotated_properties_are_found_at_their_path():
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "X-Count_1"},
            "plain": {"type": "string"},
            "properties": {"type": "object", "properties": {"items": {"type": "boolean", "x-mcp-header": "method"}}},
        },
    }
    assert annotations(schema) == {"Region": ("region",), "X-Count_1": ("count",), "method": ("properties", "items")}


def test_annotation_written_with_escapes_is_found():
    assert annotations_of(b'{"properties":{"a":{"type":"string","x-mcp\\u002dheader":"A"}}}') == {"A": ("a",)}


@pytest.mark.parametrize(
    "name",
    ["", "My Region", "Region:Primary", "Région", "Region\t1", "a\r\nb", "a\n", "a/b", "(a)", '"a"', "a,b", None, 7, True, ["A"], {}],
)
def test_name_that_is_no_token_makes_the_annotations_invalid(name):
    assert annotations(with_property(**{"type": "string", "x-mcp-header": name})) == (
        "x-mcp-header of a must be a token of HTTP (letters, digits and some signs)"
    )


@pytest.mark.parametrize("kind", ["number", "object", "array", "null", "String", ["string"], ["string", "null"], None, 1])
def test_annotation_on_another_type_makes_the_annotations_invalid(kind):
    said = "x-mcp-header of a may stand only on a string, an integer or a boolean"
    assert annotations(with_property(**{"type": kind, "x-mcp-header": "A"})) == said


def test_annotation_without_a_type_makes_the_annotations_invalid():
    assert isinstance(annotations(with_property(**{"x-mcp-header": "A"})), str)


@pytest.mark.parametrize("second", ["Region", "REGION", "region"])
def test_name_that_stands_twice_in_any_case_makes_the_annotations_invalid(second):
    schema = {
        "properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": second}}},
        }
    }
    assert "stands twice" in str(annotations(schema))


ANNOTATED = {"type": "string", "x-mcp-header": "A"}
INNER = {"properties": {"b": ANNOTATED}}


@pytest.mark.parametrize(
    "schema",
    [
        ANNOTATED,
        {"items": ANNOTATED},
        {"items": [ANNOTATED]},
        {"prefixItems": [INNER]},
        {"additionalItems": ANNOTATED},
        {"contains": ANNOTATED},
        {"unevaluatedItems": ANNOTATED},
        {"additionalProperties": ANNOTATED},
        {"unevaluatedProperties": ANNOTATED},
        {"patternProperties": {"^a": ANNOTATED}},
        {"propertyNames": ANNOTATED},
        {"dependentSchemas": {"a": INNER}},
        {"dependencies": {"a": INNER}},
        {"oneOf": [INNER]},
        {"anyOf": [{}, INNER]},
        {"allOf": [INNER]},
        {"not": INNER},
        {"if": INNER},
        {"then": INNER},
        {"else": INNER},
        {"contentSchema": ANNOTATED},
        {"$defs": {"a": ANNOTATED}},
        {"definitions": {"a": INNER}},
        {"properties": {"a": {"items": INNER}}},
        {"properties": {"a": {"anyOf": [ANNOTATED, {"type": "null"}]}}},
        {"properties": {"a": {"oneOf": [{"properties": {"b": {"not": ANNOTATED}}}]}}},
    ],
)
def test_annotation_where_properties_alone_do_not_lead_makes_the_annotations_invalid(schema):
    assert annotations(schema) == "x-mcp-header stands where no chain of properties leads"


def test_one_invalid_annotation_makes_all_invalid():
    schema = {"properties": {"a": ANNOTATED, "c": {"items": {"type": "string", "x-mcp-header": "C"}}}}
    assert isinstance(annotations(schema), str)


def test_schema_with_a_number_of_thousands_of_digits_has_none():
    assert annotations_of(b'{"properties":{"a":{"type":"string","x-mcp-header":"A","maxLength":' + b"9" * 5000 + b"}}}") == {}


# --- the fields of a call ---

WANTED = {"Region": ("region",), "Count": ("count",), "Dry": ("options", "dry")}


def compared(arguments, *lines, wanted=None):
    raw = None if arguments is None else Raw(arguments)
    return compare_params(WANTED if wanted is None else wanted, raw, Fields([(b"mcp-param-" + name, value) for name, value in lines]))


def test_tool_without_annotations_ignores_every_field():
    assert compared(b'{"region":"eu"}', (b"region", b"us"), (b"count", b"\xff"), wanted={}) is None


def test_field_that_no_annotation_asks_for_is_ignored():
    assert compared(b'{"region":"eu","other":1}', (b"region", b"eu"), (b"other", b"\xff\x00")) is None


def test_all_fields_that_say_what_the_arguments_say_are_good():
    lines = [(b"region", b" eu "), (b"count", b"42"), (b"dry", b"true")]
    assert compared(b'{"region":"eu","count":42,"options":{"dry":true}}', *lines) is None


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        b"{}",
        b'{"region":null,"count":null,"options":null}',
        b'{"options":{}}',
        b'{"options":{"dry":null}}',
        b'{"options":[{"dry":true}]}',
        b'{"options":"dry"}',
        b"[]",
        b'"x"',
    ],
)
def test_value_that_is_absent_or_null_needs_no_field(arguments):
    assert compared(arguments) is None


@pytest.mark.parametrize("arguments", [None, b"{}", b'{"region":null}', b'{"Region":"eu"}', b"[]"])
def test_field_for_a_value_that_is_absent_or_null_is_refused(arguments):
    assert compared(arguments, (b"region", b"eu")) == "Mcp-Param-Region header value 'eu' has no counterpart in the arguments"
    assert compared(arguments, (b"region", b"")) == "Mcp-Param-Region header value '' has no counterpart in the arguments"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (b'{"region":"eu"}', "Mcp-Param-Region header is missing"),
        (b'{"region":""}', "Mcp-Param-Region header is missing"),
        (b'{"count":0}', "Mcp-Param-Count header is missing"),
        (b'{"options":{"dry":false}}', "Mcp-Param-Dry header is missing"),
    ],
)
def test_value_without_its_field_is_refused(arguments, said):
    assert compared(arguments) == said


@pytest.mark.parametrize("value", [b'{"a":1}', b"[]"])
def test_value_that_no_field_can_carry_needs_none_and_matches_none(value):
    assert compared(b'{"region":' + value + b"}") is None
    assert (
        compared(b'{"region":' + value + b"}", (b"region", value))
        == f"Mcp-Param-Region header value '{value.decode()}' does not match the arguments"
    )


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"eu"', b"eu"),
        (b'""', b""),
        (b'"Hello"', b"=?base64?SGVsbG8=?="),
        (b'"SGVsbG8="', b"SGVsbG8="),
        (b'"=?base64?SGVsbG8="', b"=?base64?SGVsbG8="),
        (b'"\\u65e5\\u672c\\u8a9e"', b"=?base64?5pel5pys6Kqe?="),
        (b'"42"', b"42"),
        (b'"true"', b"true"),
        (b'"null"', b"null"),
        (b"true", b"true"),
        (b"false", b"false"),
        (b"true", b"=?base64?dHJ1ZQ==?="),
        (b"42", b"42"),
        (b"42", b"42.0"),
        (b"42.0", b"42"),
        (b"42", b"4.2e1"),
        (b"4.20E+1", b"42"),
        (b"420e-1", b"42"),
        (b"42", b"=?base64?NDI=?="),
        (b"-7", b"-7"),
        (b"0", b"-0"),
        (b"-0.0", b"0"),
        (b"0e5", b"0"),
        (b"9007199254740993", b"9007199254740993"),
        (b"9007199254740993", b"9007199254740993.000"),
        (b"100000000000000000000000000000000", b"1e32"),
        (b"3.14159", b"3.14159"),
        (b"0.001", b"1e-3"),
    ],
)
def test_equal_values_are_good(raw, value):
    assert compared(b'{"region":' + raw + b"}", (b"region", value)) is None


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"eu"', b"us"),
        (b'"eu"', b"EU"),
        (b'"eu"', b'"eu"'),
        (b'"eu"', b"eu, eu"),
        (b'"Hello"', b"SGVsbG8="),
        (b'"Hello"', b"=?base64?SGVsbG8="),
        (b'"Hello"', b"=?BASE64?SGVsbG8=?="),
        (b'"42"', b"42.0"),
        (b'" eu"', b" eu"),
        (b"true", b"True"),
        (b"true", b"1"),
        (b"false", b"true"),
        (b"false", b""),
        (b"42", b"43"),
        (b"42", b"-42"),
        (b"42", b"420"),
        (b"42", b"4.2"),
        (b"42", b"042"),
        (b"42", b"+42"),
        (b"42", b"4_2"),
        (b"42", b"42."),
        (b"42", b"0x2a"),
        (b"42", b"4 2"),
        (b"42", b""),
        (b"42", b"NaN"),
        (b"42", b"Infinity"),
        (b"9007199254740993", b"9007199254740992"),
        (b"9007199254740992", b"9007199254740993"),
        (b"9007199254740993", b"9007199254740992.999"),
        (b"1e400", b"1e401"),
        (b"1", b"1e99999999999999999999"),
        (b"0.1", b"0.1000000000000000055511151231257827"),
    ],
)
def test_values_that_differ_are_refused(raw, value):
    assert str(compared(b'{"region":' + raw + b"}", (b"region", value))).endswith(" does not match the arguments")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"\xe6\x97\xa5", "Mcp-Param-Region header value '\\xe6\\x97\\xa5' contains invalid characters"),
        (b"a\x01", "Mcp-Param-Region header value 'a\\x01' contains invalid characters"),
        (b"=?base64?SGVsbG8?=", "Mcp-Param-Region header value '=?base64?SGVsbG8?=' is not valid base64"),
        (b"=?base64?SGVs!!!bG8=?=", "Mcp-Param-Region header value '=?base64?SGVs!!!bG8=?=' is not valid base64"),
    ],
)
@pytest.mark.parametrize("arguments", [b'{"region":"\\u65e5"}', b'{"region":"a\\u0001"}', b'{"region":"Hello"}', b"{}"])
def test_field_that_cannot_be_read_is_refused_whatever_the_arguments_say(value, said, arguments):
    assert compared(arguments, (b"region", value)) == said


def test_nested_value_is_read_at_its_exact_path():
    assert compared(b'{"dry":true,"options":{"dry":false}}', (b"dry", b"false")) is None
    assert (
        compared(b'{"dry":true,"options":{"dry":false}}', (b"dry", b"true"))
        == "Mcp-Param-Dry header value 'true' does not match the arguments"
    )


def test_arguments_are_never_shown():
    assert "my-secret" not in str(compared(b'{"region":"my-secret"}', (b"region", b"eu")))


@given(st.text() | st.integers() | st.booleans())
def test_every_value_matches_the_field_that_a_client_makes_of_it(value):
    text = value if isinstance(value, str) else str(value).lower()
    raw = msgspec.json.encode({"region": msgspec.Raw(str(value).encode()) if type(value) is int else value})
    assert compared(raw, (b"region", encode_value(text).encode())) is None


@given(st.integers(), st.integers())
def test_two_integers_match_only_if_they_are_equal(one, other):
    assert (compared(b'{"region":%d}' % one, (b"region", b"%d" % other)) is None) == (one == other)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(-5, 5))
def test_number_matches_every_spelling_of_itself(number, shift):
    raw = str(number).replace("E", "e").encode()
    sign, digits, exponent = number.as_tuple()
    other = b"-" * sign + str(int("".join(map(str, digits))) * 10 ** abs(shift)).encode() + b"e%d" % (exponent - abs(shift))
    assert compared(b'{"region":' + raw + b"}", (b"region", other)) is None

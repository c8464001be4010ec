"""The fields that repeat a request: what they may look like, and that they say what the body says."""

from __future__ import annotations

import base64

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.http.headers import NAME_MEMBERS, Unreadable, compare, decode_value, encode_value
from dragoman.http.request import Fields

VERSION = "2026-07-28"
CALL = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", b"tools/call"), (b"mcp-name", b"echo")]
BAD_CHARACTERS = Unreadable("contains invalid characters")
BAD_BASE64 = Unreadable("is not valid base64")

# --- values ---


@pytest.mark.parametrize(
    "text",
    [
        "us-west1",
        "us west 1",
        "my_tool-name.v2",
        "file:///path/to/file%20name.txt",
        "https://example.com/resource?id=123",
        "",
        "42",
        "SGVsbG8=",
        "=?base64?SGVsbG8=",
        "SGVsbG8=?=",
        "=?BASE64?SGVsbG8=?=",
        "=?utf-8?q?x?=",
        "x=?base64?SGVsbG8=?=",
        '"quoted" and \\',
        "~!@#$%^&*()",
    ],
)
def test_plain_text_goes_as_it_is(text):
    assert encode_value(text) == text
    assert decode_value(text.encode()) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
        ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
        ("a\tb", "=?base64?YQli?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?dA==?=", "=?base64?PT9iYXNlNjQ/ZEE9PT89?="),
        ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="),
        ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
        ("検索", "=?base64?5qSc57Si?="),
        ("日本語", "=?base64?5pel5pys6Kqe?="),
        (" ", "=?base64?IA==?="),
        ("a\x00", "=?base64?YQA=?="),
        ("a\x7f", "=?base64?YX8=?="),
        ("a\n", "=?base64?YQo=?="),
        ("\u00a0", "=?base64?wqA=?="),
        ("😀", "=?base64?8J+YgA==?="),
    ],
)
def test_text_that_a_field_cannot_carry_goes_as_base64(text, value):
    assert encode_value(text) == value
    assert decode_value(value.encode()) == text


def test_base64_of_plain_text_is_decoded_too():
    assert decode_value(b"=?base64?SGVsbG8=?=") == "Hello"
    assert decode_value(b"=?base64??=") == ""


@pytest.mark.parametrize(
    "value", [b"a\x00", b"a\nb", b"a\rb", b"a\x7f", b"\x1b[2J", "é".encode(), b"\xe9", "検索".encode(), b"=?base64?\x00?=", b"a\xff"]
)
def test_character_that_no_field_may_have_is_a_fault(value):
    assert decode_value(value) == BAD_CHARACTERS


def test_tab_within_a_value_is_allowed():
    assert decode_value(b"a\tb") == "a\tb"


@pytest.mark.parametrize(
    "payload",
    [
        b"SGVsbG8",
        b"SGVsbG8==",
        b"SGVsbG8=SGVsbG8=",
        b"SGVsbG8=x",
        b"SGVs!!!bG8=",
        b"SGVs bG8=",
        b" SGVsbG8=",
        b"SGVsbG8= ",
        b"SGVs\tbG8=",
        b"SGVsbG9=",
        b"SGVsbB==",
        b"S",
        b"=",
        b"====",
        b"8J-YgA==",
        b"wqA_",
        b"%53GVs",
        b"?",
        b"SGVsbG8=?==?base64?SGVsbG8=",
    ],
)
def test_base64_that_no_encoder_writes_is_a_fault(payload):
    assert decode_value(b"=?base64?" + payload + b"?=") == BAD_BASE64


def test_marks_that_share_a_character_hold_nothing():
    assert decode_value(b"=?base64?=") == BAD_BASE64


@pytest.mark.parametrize("data", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"a\xe2\x82"])
def test_base64_of_no_text_is_a_fault(data):
    assert decode_value(b"=?base64?" + base64.b64encode(data) + b"?=") == Unreadable("is not UTF-8 in base64")


@given(st.text())
@example("=?base64?=")
@example("=?base64??=")
def test_every_text_comes_back_from_a_value_that_any_field_can_carry(text):
    value = encode_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    assert decode_value(value.encode()) == text


@given(
    st.binary(max_size=12).map(lambda data: b"=?base64?" + data + b"?=")
    | st.text("AQgwSGVsbG8=/+-_", max_size=9).map(lambda text: f"=?base64?{text}?=".encode())
)
def test_value_with_the_marks_is_either_the_one_spelling_of_its_text_or_a_fault(value):
    text = decode_value(value)
    if isinstance(text, str):
        assert value == b"=?base64?" + base64.b64encode(text.encode()) + b"?="


# --- the request ---


def compared(lines, method="tools/call", params=None, version=VERSION):
    members = {name: Raw(msgspec.json.encode(value)) for name, value in ({"name": "echo"} if params is None else params).items()}
    return compare(Fields(lines), method, members, version)


def with_name(value):
    return [*CALL[:2], (b"mcp-name", value)]


def test_methods_with_a_name_are_the_three_of_the_page():
    assert NAME_MEMBERS == {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@pytest.mark.parametrize(
    ("method", "name", "params"),
    [
        ("tools/call", b"echo", {"name": "echo", "arguments": {}}),
        ("prompts/get", b"review", {"name": "review"}),
        ("resources/read", b"file:///a/b", {"uri": "file:///a/b"}),
        ("resources/read", b"file:///a/b", {"uri": "file:///a/b", "name": "other"}),
        ("tools/call", b"  echo\t", {"name": "echo"}),
        ("tools/call", b"=?base64?ZWNobw==?=", {"name": "echo"}),
        ("tools/call", b"=?base64?5qSc57Si?=", {"name": "検索"}),
        ("tools/call", b"=?base64?PT9iYXNlNjQ/ZEE9PT89?=", {"name": "=?base64?dA==?="}),
        ("tools/call", b'a"b', {"name": 'a"b'}),
        ("tools/call", b"a\\b", {"name": "a\\b"}),
        ("tools/call", b"", {"name": ""}),
        ("tools/call", b"=?base64?ZWNobw==", {"name": "=?base64?ZWNobw=="}),
    ],
)
def test_fields_that_say_what_the_body_says_are_good(method, name, params):
    lines = [(b"mcp-protocol-version", b"2026-07-28"), (b"mcp-method", method.encode()), (b"mcp-name", name)]
    assert compared(lines, method, params) is None


@pytest.mark.parametrize("method", ["tools/list", "server/discover", "completion/complete", "x.vendor/do", "subscriptions/listen"])
def test_other_methods_need_no_name_and_ignore_one(method):
    lines = [(b"mcp-protocol-version", b" 2026-07-28 "), (b"mcp-method", method.encode())]
    assert compared(lines, method, {}) is None
    assert compared([*lines, (b"mcp-name", b"\xff")], method, {"name": "other"}) is None


def test_name_written_with_escapes_is_the_same_name():
    assert compare(Fields(with_name(b"echo")), "tools/call", {"name": Raw(b'"\\u0065cho"')}, VERSION) is None
    assert compare(Fields(with_name(b"\\u0065cho")), "tools/call", {"name": Raw(b'"\\u0065cho"')}, VERSION) is not None


@pytest.mark.parametrize("params", [{}, {"name": None}, {"name": 7}, {"name": ["echo"]}, {"name": {"a": 1}}])
def test_body_without_a_name_needs_none_in_the_fields_and_matches_none(params):
    assert compared(CALL[:2], params=params) is None
    assert compared(CALL, params=params) == "Mcp-Name header value 'echo' does not match params.name"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "MCP-Protocol-Version header is missing"),
        (CALL[1:], "MCP-Protocol-Version header is missing"),
        ([CALL[0], CALL[2]], "Mcp-Method header is missing"),
        (CALL[:2], "Mcp-Name header is missing"),
        ([(b"mcp-protocol-version", b"2025-11-25"), *CALL[1:]], "MCP-Protocol-Version header value '2025-11-25' does not match the body"),
        ([(b"mcp-protocol-version", b""), *CALL[1:]], "MCP-Protocol-Version header value '' does not match the body"),
        ([CALL[0], (b"mcp-method", b"prompts/get"), CALL[2]], "Mcp-Method header value 'prompts/get' does not match the body"),
        ([CALL[0], (b"mcp-method", b"TOOLS/CALL"), CALL[2]], "Mcp-Method header value 'TOOLS/CALL' does not match the body"),
        (
            [CALL[0], (b"mcp-method", b"tools/call, tools/call"), CALL[2]],
            "Mcp-Method header value 'tools/call, tools/call' does not match the body",
        ),
        (
            [CALL[0], (b"mcp-method", b"=?base64?dG9vbHMvY2FsbA==?="), CALL[2]],
            "Mcp-Method header value '=?base64?dG9vbHMvY2FsbA==?=' does not match the body",
        ),
        (with_name(b"other"), "Mcp-Name header value 'other' does not match params.name"),
        (with_name(b"Echo"), "Mcp-Name header value 'Echo' does not match params.name"),
        (with_name(b"echo, echo"), "Mcp-Name header value 'echo, echo' does not match params.name"),
        (with_name(b'"echo"'), "Mcp-Name header value '\"echo\"' does not match params.name"),
        (with_name(b"ZWNobw=="), "Mcp-Name header value 'ZWNobw==' does not match params.name"),
        (with_name(b"=?BASE64?ZWNobw==?="), "Mcp-Name header value '=?BASE64?ZWNobw==?=' does not match params.name"),
        (with_name(b"=?base64?b3RoZXI=?="), "Mcp-Name header value '=?base64?b3RoZXI=?=' does not match params.name"),
        (with_name(b"=?base64?ZWNobw?="), "Mcp-Name header value '=?base64?ZWNobw?=' is not valid base64"),
        (with_name(b"=?base64?/w==?="), "Mcp-Name header value '=?base64?/w==?=' is not UTF-8 in base64"),
        (with_name(b"echo\x00"), "Mcp-Name header value 'echo\\x00' contains invalid characters"),
    ],
)
def test_field_that_is_missing_or_says_something_else_is_named(lines, said):
    assert compared(lines) == said


def test_name_that_looks_encoded_and_is_not_does_not_match_itself():
    said = "Mcp-Name header value '=?base64?dA==?=' does not match params.name"
    assert compared(with_name(b"=?base64?dA==?="), params={"name": "=?base64?dA==?="}) == said
    assert compared(with_name(b"=?base64?dA==?="), params={"name": "t"}) is None


def test_uri_is_what_a_read_names():
    lines = [CALL[0], (b"mcp-method", b"resources/read"), (b"mcp-name", b"file:///b")]
    assert compared(lines, "resources/read", {"uri": "file:///a", "name": "file:///b"}) == (
        "Mcp-Name header value 'file:///b' does not match params.uri"
    )


@pytest.mark.parametrize(
    ("lines", "method", "version"),
    [
        (with_name("検索".encode()), "tools/call", VERSION),
        ([CALL[0], (b"mcp-method", "größe".encode())], "größe", VERSION),
        ([(b"mcp-protocol-version", b"2026\x7f"), *CALL[1:]], "tools/call", "2026\x7f"),
    ],
)
def test_equal_values_with_invalid_characters_are_refused(lines, method, version):
    assert "contains invalid characters" in str(compared(lines, method, {"name": "検索"}, version))


def test_body_is_never_shown_and_a_long_value_is_cut():
    said = compared(with_name(b"x" * 5000), params={"name": "my-secret"})
    assert said == "Mcp-Name header value '" + "x" * 80 + "…' does not match params.name"

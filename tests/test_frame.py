"""Frames: what a line is, and that nothing of it is changed by reading it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman import frame

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
# Whole characters of each length, their beginnings, and bytes that begin none: too short, overlong, surrogate, too high.
PIECES = [b"a", "é".encode(), "€".encode(), "😀".encode(), b"\xc3", b"\xe2\x82", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xc0\x80", b"\xed\xa0\x80"]
PIECES += [b"\xf4\x90\x80\x80", b"\x80", b"\xff"]


def _request(line: bytes) -> frame.Request:
    message = frame.parse(line)
    assert isinstance(message, frame.Request)
    return message


@pytest.mark.parametrize("line", [b"", b"  ", b"\r", b"\xef\xbb\xbf", b"\t \r"])
def test_blank_line_is_nothing(line: bytes) -> None:
    assert frame.parse(line) is None


def _verdict(check: Callable[[bytes], object], line: bytes) -> str | None:
    try:
        check(line)
    except UnicodeDecodeError as fault:
        return f"not UTF-8 from byte {fault.start} on"
    return None


@given(
    st.one_of(st.binary(max_size=40), st.text(max_size=20).map(str.encode), st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
)
def test_text_checked_in_pieces_gets_the_verdict_of_the_whole(line: bytes) -> None:
    for piece in (4, 5, 7):
        assert _verdict(lambda text, size=piece: frame._decode_in_pieces(text, size), line) == _verdict(bytes.decode, line)


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1, 1 << 17, 200_001])
def test_big_line_that_is_utf8_is_read_whole(size: int) -> None:
    text = b'"' + "é€😀".encode() * (size // 9) + b'"'
    assert bytes(_request(b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + text + b"}").params or b"") == text


@pytest.mark.parametrize("at", [100, 65_534, 65_535, 65_536, 150_000, 199_999])
def test_big_line_that_is_no_utf8_is_refused_with_the_position(at: int) -> None:
    message = frame.parse(b"x" * at + b"\xff" + b"x" * (199_999 - at))
    assert message == frame.Malformed(PARSE_ERROR, f"Parse error: not UTF-8 (byte {at})", is_json=False)


@pytest.mark.parametrize("text", [b"1", b'"1"', b"-7", b"9007199254740993", b"123456789012345678901234567890", b'"\\u0061"', b'""'])
def test_id_is_kept_as_written(text: bytes) -> None:
    assert _request(b'{"jsonrpc":"2.0","id":' + text + b',"method":"x"}').id == text


def test_ids_that_differ_only_in_type_are_different() -> None:
    assert frame.id_key(b"1") != frame.id_key(b'"1"')


def test_string_ids_that_differ_only_in_escapes_are_the_same() -> None:
    assert frame.id_key(b'"\\u0061"') == frame.id_key(b'"a"')


@pytest.mark.parametrize("text", [b"null", b"1.5", b"1.0", b"1e3", b"true", b"[]", b"{}"])
def test_request_with_an_id_that_is_none_is_refused_without_an_id(text: bytes) -> None:
    message = frame.parse(b'{"jsonrpc":"2.0","id":' + text + b',"method":"x"}')
    assert message == frame.Malformed(INVALID_REQUEST, "Invalid request: the id must be a string or an integer")


def test_params_stay_raw() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"b":1e400,"a":-0.0,"n":123456789012345678901234567890}}'
    assert bytes(_request(line).params or b"") == b'{"b":1e400,"a":-0.0,"n":123456789012345678901234567890}'


def test_line_separators_of_unicode_are_data() -> None:
    line = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"a\u2028b\u2029c"}}'.encode()
    assert bytes(_request(line).params or b"") == '{"t":"a\u2028b\u2029c"}'.encode()


def test_byte_order_mark_and_carriage_return_are_tolerated() -> None:
    assert _request(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"x"}\r').method == "x"


def test_result_and_error_null_together_is_a_result() -> None:
    message = frame.parse(b'{"jsonrpc":"2.0","id":1,"result":{},"error":null}')
    assert isinstance(message, frame.Result)


def test_error_with_a_null_id_has_no_owner() -> None:
    message = frame.parse(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}')
    assert isinstance(message, frame.Failure)
    assert message.id is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"hello", "Parse error"),
        (b'{"jsonrpc":"2.0","id":1', "Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}', "Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud800"}}', "Parse error"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}', "not UTF-8"),
        (b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested too deeply"),
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_a_parse_error(line: bytes, said: str) -> None:
    message = frame.parse(line)
    assert isinstance(message, frame.Malformed)
    assert message.code == PARSE_ERROR
    assert said in message.message


@pytest.mark.parametrize("line", [b"5", b'"x"', b"null", b"true", b"{}", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":1}'])
def test_json_that_is_no_message_is_an_invalid_request(line: bytes) -> None:
    message = frame.parse(line)
    assert isinstance(message, frame.Malformed)
    assert message.code == INVALID_REQUEST


def test_wrong_jsonrpc_is_refused_with_the_id_and_forgiven_when_lenient() -> None:
    line = b'{"id":4,"method":"x"}'
    assert frame.parse(line) == frame.Malformed(INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"', b"4")
    assert frame.parse(line, lenient=True) == frame.Request(b"4", "x", None)


def test_batch_is_a_list_of_frames() -> None:
    batch = frame.parse(b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},7]')
    assert isinstance(batch, list)
    assert [type(item) for item in batch] == [frame.Request, frame.Notification, frame.Malformed]


def test_tree_keeps_every_number_exact() -> None:
    text = b'{"a":1e400,"b":-0.0,"c":1.10,"d":123456789012345678901234567890,"e":9007199254740993}'
    assert frame.encode(frame.tree(text)) == text


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_some_frame_or_a_malformed_one(value: object) -> None:
    message = frame.parse(msgspec.json.encode(value))
    assert isinstance(message, frame.Request | frame.Notification | frame.Result | frame.Failure | frame.Malformed | list)


@given(st.binary(max_size=200))
def test_any_bytes_never_raise(line: bytes) -> None:
    frame.parse(line)


@given(json_values)
def test_a_result_goes_out_as_it_came_in(value: object) -> None:
    raw = msgspec.json.encode(value)
    message = frame.parse(frame.result(b"1", raw)[:-1])
    assert message == frame.Result(b"1", Raw(raw)) or (isinstance(message, frame.Result) and bytes(message.result) == raw)


_TEXTS = st.sampled_from(
    ['"a"', '""', "1", "0", "-1", "1.5", "null", "true", '"2.0"', '"1.0"', "{}", "[]", '{"a":1}', '"\\u0061"', '"é"', '"tools/call"']
)
_NAMES = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "more"])
_MORE = st.lists(st.tuples(_NAMES, _TEXTS), max_size=4)
_VALID = [[("jsonrpc", '"2.0"'), ("id", "7"), member] for member in (("method", '"a"'), ("result", "{}"), ("error", "{}"))]
_MEMBERS = _MORE | st.builds(lambda valid, more: [*valid, *more], st.sampled_from(_VALID), _MORE)
"""Of anything, and of frames to which something was added."""


@example(members=[("id", "1"), ("method", '""'), ("result", '"a"')], spaced=False, lenient=True)
@example(members=[("jsonrpc", '"2\\u002e0"'), ("id", "1"), ("method", '"a"')], spaced=False, lenient=False)
@given(members=_MEMBERS, spaced=st.booleans(), lenient=st.booleans())
def test_a_short_line_is_read_as_a_long_one(members: list[tuple[str, str]], spaced: bool, lenient: bool) -> None:
    """Short lines have a way of their own, which must make no difference; space after a frame means nothing, and makes it long."""
    colon = " : " if spaced else ":"
    short = ("{" + ",".join(f'"{name}"{colon}{text}' for name, text in members) + "}").encode()
    assert frame.parse(short, lenient=lenient) == frame.parse(short + b" " * 1000, lenient=lenient)


def test_a_line_of_our_own_is_not_read_again_until_it_is_forgotten() -> None:
    unread = frame.own_result(b"1", b"{what nobody reads")
    assert frame.parse(unread) == frame.Result(b"1", Raw(b"{what nobody reads"))
    assert isinstance(frame.parse(unread), frame.Malformed)
    forgotten = frame.own_result(b"1", b"{what somebody reads")
    frame.forget_own()
    assert isinstance(frame.parse(forgotten), frame.Malformed)


def test_a_line_of_our_own_is_taken_for_what_it_was_made_of_once_and_for_what_it_says_ever_after() -> None:
    one, other = frame.own_result(b"1", b'{"a":1}'), frame.own_result(b"2", b'{"b":2}')
    read = [frame.parse(one), frame.parse(other), frame.parse(other), frame.parse(bytes(bytearray(one)))]
    assert read == [frame.Result(b"1", Raw(b'{"a":1}')), *[frame.Result(b"2", Raw(b'{"b":2}'))] * 2, frame.Result(b"1", Raw(b'{"a":1}'))]

"""A request's fields are read as every program on the way must read them."""

from __future__ import annotations

import pytest

from dragoman.errors import Refusal
from dragoman.http import rejection
from dragoman.http.request import Fields, duplicate

PLAIN = [
    (b"host", b"localhost:8000"),
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
    (b"mcp-protocol-version", b"2026-07-28"),
    (b"mcp-method", b"tools/call"),
    (b"mcp-name", b"echo"),
    (b"mcp-param-region", b"eu"),
]


def test_plain_request_has_nothing_repeated():
    fields = Fields(PLAIN)
    assert fields.repeated == frozenset()
    assert duplicate(fields) is None
    assert fields.get(b"mcp-name") == b"echo"
    assert fields.joined(b"accept") == b"application/json, text/event-stream"


def test_absent_field_is_none_and_an_empty_one_is_empty():
    fields = Fields([(b"mcp-name", b"")])
    assert fields.get(b"mcp-name") == b""
    assert fields.get(b"mcp-method") is None
    assert fields.joined(b"accept") is None


def test_request_without_any_field_is_read():
    assert duplicate(Fields([])) is None


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (b"  echo\t ", b"echo"),
        (b"\t", b""),
        (b"a b", b"a b"),
        (b"\x0becho\x0c", b"\x0becho\x0c"),
        (b"\xa0echo", b"\xa0echo"),
        (b"echo\r", b"echo\r"),
    ],
)
def test_only_spaces_and_tabs_around_a_value_are_no_part_of_it(value, read):
    assert Fields([(b"mcp-name", value)]).get(b"mcp-name") == read


def test_field_that_is_a_list_may_come_in_lines():
    fields = Fields([(b"accept", b" application/json "), (b"host", b"a"), (b"accept", b"text/event-stream")])
    assert fields.joined(b"accept") == b"application/json, text/event-stream"
    assert fields.repeated == frozenset((b"accept",))
    assert duplicate(fields) is None


def test_foreign_field_may_be_repeated():
    assert duplicate(Fields([*PLAIN, (b"x-forwarded-for", b"1.1.1.1"), (b"x-forwarded-for", b"2.2.2.2")])) is None


@pytest.mark.parametrize(
    "name",
    [
        b"host",
        b"origin",
        b"content-type",
        b"content-length",
        b"transfer-encoding",
        b"authorization",
        b"mcp-session-id",
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
        b"last-event-id",
        b"mcp-param-region",
        b"mcp-param-nobody-knows",
    ],
)
@pytest.mark.parametrize(("first", "second"), [(b"a", b"b"), (b"a", b"a"), (b"", b"a")])
def test_field_of_which_there_can_be_one_is_found_when_it_stands_twice(name, first, second):
    lines = [(b"x-a", b"1"), (name, first), (b"x-a", b"2"), (b"user-agent", b"c"), (name, second)]
    assert duplicate(Fields(lines)) == name


def test_first_of_several_repeated_fields_is_named():
    assert duplicate(Fields([(b"mcp-name", b"a"), (b"host", b"a"), (b"host", b"b"), (b"mcp-name", b"b")])) == b"mcp-name"


def test_rejection_in_words_is_text_that_nobody_keeps():
    told = rejection.plain(405, "POST only", (b"allow", b"POST"))
    assert told.status == 405
    assert told.headers == ((b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), (b"allow", b"POST"))
    assert told.body == b"POST only\n"


def test_rejection_without_words_has_no_body_and_no_type():
    assert rejection.plain(202, "") == rejection.Rejection(202, ((b"cache-control", b"no-store"),), b"")


@pytest.mark.parametrize(
    ("client_id", "null_id", "body"),
    [
        (b'"a"', False, b'{"jsonrpc":"2.0","id":"a","error":{"code":-32020,"message":"Header mismatch"}}'),
        (b"9007199254740993", True, b'{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32020,"message":"Header mismatch"}}'),
        (None, False, b'{"jsonrpc":"2.0","error":{"code":-32020,"message":"Header mismatch"}}'),
        (None, True, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"Header mismatch"}}'),
    ],
)
def test_rejection_as_json_rpc_carries_the_id_that_its_revision_wants(client_id, null_id, body):
    told = rejection.rpc(400, client_id, Refusal(-32020, "Header mismatch"), (b"retry-after", b"5"), null_id=null_id)
    assert told.body == body
    assert told.headers == ((b"content-type", b"application/json"), (b"cache-control", b"no-store"), (b"retry-after", b"5"))

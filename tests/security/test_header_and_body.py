"""Fields that say something else than the body (2026-07-28, basic/transports/streamable-http#server-validation, #value-encoding).

Whoever stands on the way decides by the fields, the server acts by the body: nothing on which the two differ may reach it. What a server
was shown is read from its own notes.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cases.reply import Reply
from tests.cases.served import Served
from tests.cases.wrapped import META
from tests.security.attacks import BYE, called, fields, frame, post

ENVELOPE = json.dumps(META)


def refused(reply: Reply) -> bool:
    """Whether it is the error that the specification gives for it."""
    return reply.status == 400 and reply.json().get("error", {}).get("code") == -32020


def located(served: Served, own: Any, **arguments: Any) -> Reply:
    """A call of the tool with annotations."""
    return served.caller().call("locate", fields={name: value for name, value in own.items() if name}, **arguments)


# -- the standard fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "own",
    [
        *(
            {"Mcp-Method": value}
            for value in (None, "", "tools/list", "TOOLS/CALL", "tools/call;x", "tools/call, tools/list", "tools%2Fcall")
        ),
        *({"Mcp-Method": value} for value in ("=?base64?dG9vbHMvY2FsbA==?=", b"tools/c\xc3\xa1ll", "tools/\tcall")),
        *(
            {"Mcp-Name": value}
            for value in (None, "", "count", "ECHO", "echo, count", "echo;q=1", '"echo"', "ech\u00f6", b"echo\xe2\x80\x8b")
        ),
        *({"MCP-Protocol-Version": value} for value in (None, "", "2025-11-25", "2026-07-28, 2025-11-25", "2026-7-28", "DRAFT-2026-v1")),
        {"MCP-Protocol-Version": "=?base64?MjAyNi0wNy0yOA==?="},
    ],
)
def test_field_that_differs_from_the_body_stops_the_call(served: Served, own: Any) -> None:
    assert refused(served.caller().call("echo", fields=own, text="x"))
    assert called(served) == []


@pytest.mark.parametrize(("method", "params"), [("resources/read", {"uri": "x://a"}), ("prompts/get", {"name": "p"})])
@pytest.mark.parametrize("value", [None, "x://b", "p2"])
def test_name_of_a_resource_or_prompt_is_compared_too(served: Served, method: str, params: Any, value: str | None) -> None:
    assert refused(served.caller().request(method, fields={"Mcp-Name": value}, **params))
    assert served.shown(method) == []


@pytest.mark.parametrize("name", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version", "mcp-method"])
def test_field_that_stands_twice_is_refused_even_if_both_say_the_same(served: Served, name: str) -> None:
    own = fields("tools/call", "echo")
    value = {key.lower(): text for key, text in own.items()}[name.lower()]
    own = {key: text for key, text in own.items() if key.lower() != name.lower()} | {name: [value, value]}
    replies = served.raw(post(frame("tools/call", name="echo", arguments={}), own) + BYE)
    assert replies[0].status == 400
    assert called(served) == []


def test_mismatch_is_told_before_a_revision_that_is_not_served(served: Served) -> None:
    later = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    assert refused(served.caller().call("echo", meta=later, fields={"MCP-Protocol-Version": "2026-07-28"}))


def test_refusal_repeats_what_the_field_said_and_nothing_of_the_body(served: Served) -> None:
    reply = served.caller().call("echo", fields={"Mcp-Name": "other"}, text="of-the-body")
    assert b"other" in reply.body
    assert b"of-the-body" not in reply.body


# -- members of the body that stand twice, or are spelled otherwise --------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","name":"echo","arguments":{},"_meta":%s}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"n\\u0061me":"count","name":"echo","arguments":{},"_meta":%s}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count"},"params":{"name":"echo","arguments":{},"_meta":%s}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"echo","arguments":{},"_meta":%s}}',
    ],
)
def test_member_that_stands_twice_reaches_the_server_once_and_as_it_was_compared(served: Served, body: str) -> None:
    own = {key: value for key, value in fields("tools/call", "echo").items() if key.startswith(("Mcp", "MCP"))}
    assert served.caller().post((body % ENVELOPE).encode(), own).status == 200
    (line,) = [entry["line"] for entry in served.seen() if "tools/call" in entry.get("line", "")]
    assert (line.count('"name"'), line.count('"method"'), "count" in line) == (1, 1, False)


def test_argument_that_stands_twice_beside_its_field_stops_the_call(served: Served) -> None:
    body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"locate","arguments":{"region":"us","region":"eu"},"_meta":%s}}'
    own = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "locate", "Mcp-Param-Region": "eu"}
    assert served.caller().post((body % ENVELOPE).encode(), own).status == 400
    assert called(served) == []


@pytest.mark.parametrize("name", ["echo ", " echo", "echo\n", "echo\u0000", "Echo", "e\u0301cho"])
def test_name_in_the_body_is_not_trimmed_to_fit_its_field(served: Served, name: str) -> None:
    assert refused(served.caller().request("tools/call", fields={"Mcp-Name": "echo"}, name=name, arguments={}))
    assert called(served) == []


# -- arguments that fields repeat ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["eu", " eu ", "\teu", "=?base64?ZXU=?="])
def test_argument_and_its_field_that_say_the_same_reach_the_server(served: Served, value: str) -> None:
    assert located(served, {"Mcp-Param-Region": value}, region="eu").status == 200
    assert called(served) == ["locate"]


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "us", "EU", "eu, eu", "eu;q=1", '"eu"', "e u", "=?utf-8?B?ZXU=?="),
        # the marks are exact, and between them stands what an encoder writes
        *("=?BASE64?ZXU=?=", "=?Base64?ZXU=?=", "?base64?ZXU=?=", "=?base64?ZXU=", "=?base64?=", "=?base64??=", "=?base64"),
        *("=?base64?ZXU?=", "=?base64?ZXU==?=", "=?base64?ZXV=?=", "=?base64? ZXU=?=", "=?base64?ZXU= ?=", "=?base64?ZX\tU=?="),
        *("=?base64?ZXU=ZXU=?=", "=?base64?ZXU=?==?base64?ZXU=?=", "=?base64?ZX-_?=", "=?base64?ZXU%3D?=", "=?base64?Z?="),
        # what decodes to something else, or to no text
        *(
            "=?base64?RVU=?=",
            "=?base64?/////w==?=",
            "=?base64?wKw=?=",
            "=?base64?7aCA?=",
            "=?base64?ZXUA?=",
            "=?base64?PT9iYXNlNjQ/WlhVPT89?=",
        ),
        *(b"\xc3\xa9u", b"eu\xff", b"=?base64?ZXU\xc2\xa0=?="),
    ],
)
def test_argument_whose_field_says_anything_else_stops_the_call(served: Served, value: Any) -> None:
    assert refused(located(served, {"Mcp-Param-Region": value}, region="eu"))
    assert called(served) == []


@pytest.mark.parametrize("control", [0x00, 0x01, 0x0B, 0x0D, 0x1B, 0x7F])
def test_control_character_in_a_field_is_refused(served: Served, control: int) -> None:
    assert located(served, {"Mcp-Param-Region": b"eu" + bytes([control])}, region="eu").status == 400
    assert called(served) == []


@pytest.mark.parametrize("text", ["検索", "a\nb", " eu", "=?base64?ZXU=?=", "\u0000", "😀", "="])
def test_argument_of_any_text_reaches_the_server_with_the_field_of_an_encoder(served: Served, text: str) -> None:
    from dragoman.http.headers import encode_value

    assert located(served, {"Mcp-Param-Region": encode_value(text)}, region=text).status == 200
    assert [params["arguments"]["region"] for params in served.shown("tools/call")] == [text]


@pytest.mark.parametrize("value", ["", "null", "eu", "=?base64??="])
@pytest.mark.parametrize("arguments", [{}, {"region": None}])
def test_field_of_an_argument_that_is_not_there_stops_the_call(served: Served, value: str, arguments: Any) -> None:
    """Programs on the way would act on a value that the server never sees."""
    assert refused(located(served, {"Mcp-Param-Region": value}, **arguments))
    assert called(served) == []


def test_argument_that_is_null_or_not_there_needs_no_field(served: Served) -> None:
    assert located(served, {}).status == 200
    assert located(served, {}, region=None).status == 200
    assert called(served) == ["locate", "locate"]


@pytest.mark.parametrize(("value", "count"), [("1", 1), ("1.0", 1), ("10e-1", 1), ("-0", 0), ("9007199254740993", 9007199254740993)])
def test_numbers_are_compared_as_numbers(served: Served, value: str, count: int) -> None:
    assert located(served, {"Mcp-Param-Count": value}, deep={"count": count}).status == 200


@pytest.mark.parametrize(
    ("value", "count"),
    [
        *(
            ("2", 1),
            ("01", 1),
            ("+1", 1),
            ("0x1", 1),
            ("1,0", 1),
            ("1_0", 10),
            ("\u0661", 1),
            ("NaN", 1),
            ("Infinity", 1),
            ("1e400", 1),
            ("", 1),
        ),
        *(
            ("9007199254740992", 9007199254740993),
            ("1", "1 "),
            ("1", True),
            ("true", 1),
            ("True", True),
            ("null", 1),
            ("1e99999999999999999999", 1),
        ),
    ],
)
def test_numbers_that_differ_stop_the_call(served: Served, value: str, count: Any) -> None:
    assert refused(located(served, {"Mcp-Param-Count": value.encode()}, deep={"count": count}))
    assert called(served) == []


def test_field_counts_for_the_place_of_its_annotation_alone(served: Served) -> None:
    """``count`` stands below ``deep``; one beside it is another argument."""
    assert located(served, {}, count=7).status == 200
    assert refused(located(served, {"Mcp-Param-Count": "7"}, count=7))
    assert refused(located(served, {}, deep={"count": 7}))


@pytest.mark.parametrize("names", [("Mcp-Param-Region", "Mcp-Param-Region"), ("Mcp-Param-Region", "mcp-param-region")])
def test_argument_field_that_stands_twice_is_refused(served: Served, names: tuple[str, str]) -> None:
    first, second = names
    own = (
        {**fields("tools/call", "locate"), first: ["eu", "eu"]}
        if first == second
        else {**fields("tools/call", "locate"), first: "eu", second: "eu"}
    )
    replies = served.raw(post(frame("tools/call", name="locate", arguments={"region": "eu"}), own) + BYE)
    assert replies[0].status == 400
    assert called(served) == []


def test_field_of_a_retry_is_compared_again(served: Served) -> None:
    """A retry names its tool like any other call."""
    from tests.security.attacks import ACCEPTED, ASKS

    caller = served.caller()
    state = caller.call("ask", meta=ASKS).json()["result"]["requestState"]
    retry = {"name": "ask", "arguments": {}, "requestState": state, "inputResponses": ACCEPTED}
    assert refused(caller.request("tools/call", meta=ASKS, fields={"Mcp-Name": "echo"}, **retry))
    assert caller.request("tools/call", meta=ASKS, **retry).status == 200


def test_session_id_does_not_make_a_modern_request_a_legacy_one(served: Served) -> None:
    """Else a client that may call some tools could leave out the fields by which it is judged."""
    caller = served.caller()
    caller.initialize()
    assert refused(caller.call("echo", fields={"Mcp-Name": "count", "Mcp-Session-Id": caller.session}, text="x"))
    assert called(served) == []

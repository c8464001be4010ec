"""Field cases about the headers that repeat the body (2026-07-28, basic/transports/streamable-http#server-validation, #value-encoding)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cases.conftest import Serve
from tests.cases.reply import text_of
from tests.cases.served import Served

from dragoman.http.headers import decode_value, encode_value


def refused(served: Served, *, words: str, **fields: Any) -> None:
    """A call of the tool ``echo`` with these headers is refused with -32020 and never reaches the server."""
    own = {name.replace("_", "-"): value for name, value in fields.items()}
    reply = served.caller().call("echo", fields=own, text="x")
    answer = reply.json()
    assert (reply.status, answer["error"]["code"], answer["id"]) == (400, -32020, 1)
    assert words in answer["error"]["message"]
    assert served.shown("tools/call") == []


# -- fields that are missing or say something else -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"])
def test_b040_field_that_was_lost_on_the_way_is_named(served: Served, name: str) -> None:
    refused(served, words=f"{name} header is missing", **{name: None})


def test_b040_field_names_are_found_in_any_case(served: Served) -> None:
    """Programs on the way may write them as they like (#case-sensitivity)."""
    lost = {"MCP-Protocol-Version": None, "Mcp-Method": None, "Mcp-Name": None}
    loud = {"MCP-PROTOCOL-VERSION": "2026-07-28", "mcp-method": "tools/call", "mCP-nAME": "echo"}
    assert served.caller().call("echo", fields={**lost, **loud}, text="x").status == 200


def test_b059_call_whose_header_names_another_tool_does_not_run(served: Served) -> None:
    refused(served, words="Mcp-Name header value 'read_only' does not match", Mcp_Name="read_only")


def test_b059_call_whose_header_names_another_method_does_not_run(served: Served) -> None:
    refused(served, words="Mcp-Method header value 'tools/list' does not match", Mcp_Method="tools/list")


def test_b057_header_that_was_copied_from_before_a_renaming_is_refused(served: Served) -> None:
    refused(served, words="does not match params.name", Mcp_Name="gw_echo")


def test_b057_tool_whose_annotation_is_not_valid_is_told_to_the_operator_and_served(serve: Serve) -> None:
    """Clients of HTTP do not show such a tool (#schema-extension); one that calls it knows of no header to send."""
    served = serve("wrong-annotation")
    assert served.caller().said("echo", text="x") == "x"
    assert served.stop() == 143
    assert "the tool 'echo': its x-mcp-header is not valid" in served.stderr()


def test_b058_missing_header_of_an_argument_has_the_final_code(served: Served) -> None:
    reply = served.caller().call("locate", region="eu")
    assert (reply.status, reply.error()["code"]) == (400, -32020)
    assert "Mcp-Param-Region header is missing" in reply.error()["message"]
    assert served.shown("tools/call") == []


def test_b058_argument_whose_header_is_there_reaches_the_server(served: Served) -> None:
    reply = served.caller().call("locate", fields={"Mcp-Param-Region": "eu"}, region="eu")
    assert reply.status == 200
    assert [params["arguments"] for params in served.shown("tools/call")] == [{"region": "eu"}]


# -- values that need base64 -------------------------------------------------------------------------------------------------------


def test_b054_name_that_no_header_can_carry_travels_as_base64(served: Served) -> None:
    assert encode_value("検索") == "=?base64?5qSc57Si?="
    reply = served.caller().call("検索", fields={"Mcp-Name": "=?base64?5qSc57Si?="})
    assert reply.json()["result"]["content"][0]["text"] == "a name in Japanese"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a\r\nb", "=?base64?YQ0KYg==?="),
        (" a", "=?base64?IGE=?="),
        ("a\tb", "=?base64?YQli?="),
        ("é", "=?base64?w6k=?="),
    ],
)
def test_b054_value_that_http_would_change_or_refuse_is_encoded(text: str, value: str) -> None:
    assert encode_value(text) == value
    assert decode_value(value.encode()) == text


def test_b055_name_that_looks_like_an_encoded_one_is_encoded_itself(served: Served) -> None:
    assert encode_value("=?base64?dA==?=") == "=?base64?PT9iYXNlNjQ/ZEE9PT89?="
    reply = served.caller().call("=?base64?dA==?=", fields={"Mcp-Name": "=?base64?PT9iYXNlNjQ/ZEE9PT89?="})
    assert reply.json()["result"]["content"][0]["text"] == "a name like a mark"


def test_b055_name_that_looks_like_an_encoded_one_is_not_taken_as_it_stands(served: Served) -> None:
    """The header says "t", the body does not."""
    reply = served.caller().call("=?base64?dA==?=", fields={"Mcp-Name": "=?base64?dA==?="})
    assert (reply.status, reply.error()["code"]) == (400, -32020)
    assert served.shown("tools/call") == []


def test_b056_raw_bytes_that_would_compare_equal_are_refused(served: Served) -> None:
    reply = served.caller().call("検索", fields={"Mcp-Name": "検索".encode()})
    assert (reply.status, reply.error()["code"]) == (400, -32020)
    assert "contains invalid characters" in reply.error()["message"]
    assert served.shown("tools/call") == []


# -- other fields ------------------------------------------------------------------------------------------------------------------


def test_b147_no_field_of_a_request_reaches_the_server(served: Served) -> None:
    """A token received for us is not passed on (basic/authorization, security considerations); stdio has nothing that carries fields."""
    caller = served.caller("Bearer token-7", X_Tenant="tenant-7", Cookie="sid=cookie-7", traceparent="00-trace-7")
    assert caller.said("echo", text="modern") == "modern"
    caller.initialize()
    assert text_of(caller.ask("tools/call", name="echo", arguments={"text": "old"}).json()) == "old"
    written = served.seen_at.read_text("utf-8")
    assert [word for word in ("tenant-7", "cookie-7", "token-7", "trace-7") if word in written] == []

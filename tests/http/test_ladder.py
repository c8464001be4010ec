"""What a POST is, and in which order it is checked (translation across HTTP; basic/transports/streamable-http#server-validation)."""

from __future__ import annotations

import base64
import json
from itertools import combinations
from typing import Any

import pytest
from tests.conversation import ALL_CAPABILITIES, META, MODERN, envelope
from tests.http.answer import Answer
from tests.http.conftest import Serve
from tests.http.web import Web

LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": envelope({})}}
GOOD = {"mcp_protocol_version": MODERN, "mcp_method": "tools/list"}
FUTURE = "2099-01-01"


def with_meta(meta: Any, method: str = "tools/list") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}


# -- no fault: nothing of the ladder answers ---------------------------------------------------------------------------


def test_a_good_modern_request_reaches_the_server(serve: Serve) -> None:
    web = serve(auto={"tools/list": None})
    answer = web.post(LIST, **GOOD)
    assert not answer.done
    web.reply("tools/list", {"tools": []})
    assert (answer.status, answer.last["id"]) == (200, 1)


def test_a_session_id_and_a_last_event_id_on_a_modern_request_are_ignored(serve: Serve) -> None:
    web = serve()
    answer = web.post(LIST, **GOOD, mcp_session_id="ffff", last_event_id="1-1")
    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers


def test_no_modern_answer_carries_a_session_id(serve: Serve) -> None:
    web = serve()
    assert "mcp-session-id" not in web.ask("server/discover").headers


def test_spaces_around_header_values_are_no_part_of_them(serve: Serve) -> None:
    web = serve()
    assert web.post(LIST, mcp_protocol_version=f" {MODERN}\t", mcp_method="  tools/list ").status == 200


def test_white_space_and_a_byte_order_mark_around_a_body_are_no_part_of_it(serve: Serve) -> None:
    web = serve()
    assert web.post(b"\xef\xbb\xbf" + json.dumps(LIST, indent=1).encode() + b"\r\n", **GOOD).status == 200


def test_a_slash_may_be_escaped_in_json(serve: Serve) -> None:
    """PHP writes every slash so."""
    web = serve()
    body = json.dumps(LIST).replace("/", "\\/").encode()
    assert web.post(body, **GOOD).status == 200


@pytest.mark.parametrize("headers", [{}, {"mcp_session_id": "0" * 48}, {"mcp_protocol_version": "2025-11-25", "mcp_session_id": "0" * 48}])
def test_a_request_with_escaped_slashes_is_modern_even_if_no_header_says_so(serve: Serve, headers: dict[str, str]) -> None:
    web = serve()
    answer = web.post(json.dumps(LIST).replace("/", "\\/").encode(), **headers)
    assert (answer.status, answer.code) == (400, -32020)


def test_any_letter_of_a_reserved_key_may_be_escaped_in_json(serve: Serve) -> None:
    web = serve()
    body = json.dumps(LIST).replace("io.model", "\\u0069o.model").encode()
    assert web.post(body, **GOOD).status == 200


# -- one fault each ----------------------------------------------------------------------------------------------------

FAULTS: list[tuple[str, int, int]] = [
    ("origin", 403, -32600),
    ("json", 400, -32700),
    ("shape", 400, -32600),
    ("meta", 400, -32602),
    ("header", 400, -32020),
    ("revision", 400, -32022),
    ("method", 404, -32601),
]
"""The ladder, top first: name of the fault, status, code."""


def faulty(web: Web, *faults: str) -> Answer:
    """A request with the faults of these rungs at once."""
    method = "ping" if "method" in faults else "tools/list"
    version = FUTURE if "revision" in faults else MODERN
    meta: dict[str, Any] = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
    if "meta" in faults:
        del meta[f"{META}clientCapabilities"]
    frame: dict[str, Any] = {"jsonrpc": "1.0" if "shape" in faults else "2.0", "id": 1, "method": method, "params": {"_meta": meta}}
    body = json.dumps(frame).encode()
    if "json" in faults:
        body = body[:-1]
    said = "prompts/list" if "header" in faults else method
    origin = "https://evil.example" if "origin" in faults else None
    return web.post(body, mcp_protocol_version=version, mcp_method=said, origin=origin)


@pytest.mark.parametrize(("fault", "status", "code"), FAULTS)
def test_each_rung_of_the_ladder_has_its_status_and_code(serve: Serve, fault: str, status: int, code: int) -> None:
    web = serve()
    answer = faulty(web, fault)
    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["content-type"] == "application/json"
    assert web.opened == []


@pytest.mark.parametrize(("first", "second"), list(combinations(FAULTS, 2)), ids=lambda row: row[0])
def test_of_two_faults_the_earlier_one_is_told(serve: Serve, first: tuple[str, int, int], second: tuple[str, int, int]) -> None:
    web = serve()
    answer = faulty(web, first[0], second[0])
    assert (answer.status, answer.code) == first[1:]


def test_of_all_faults_the_first_is_told_and_then_the_next(serve: Serve) -> None:
    web = serve()
    names = [name for name, _, _ in FAULTS]
    told = [faulty(web, *names[start:]) for start in range(len(names))]
    assert [(answer.status, answer.code) for answer in told] == [row[1:] for row in FAULTS]


@pytest.mark.parametrize("fault", ["shape", "meta", "header", "revision", "method"])
def test_an_error_carries_the_id_of_its_request(serve: Serve, fault: str) -> None:
    web = serve()
    assert faulty(web, fault).last["id"] == 1


@pytest.mark.parametrize("fault", ["origin", "json"])
def test_an_error_without_a_request_has_no_id(serve: Serve, fault: str) -> None:
    web = serve()
    assert "id" not in faulty(web, fault).last


def test_an_origin_that_is_not_allowed_is_403_even_if_a_field_stands_twice(serve: Serve) -> None:
    web = serve()
    answer = web.post(LIST, **GOOD, origin="https://evil.example", fields=[("mcp-session-id", "a"), ("mcp-session-id", "b")])
    assert answer.status == 403


@pytest.mark.parametrize("id", [2**53 + 1, "1", "", -7, "ü"])
def test_the_id_of_a_refused_request_comes_back_exactly(serve: Serve, id: Any) -> None:  # noqa: A002
    web = serve()
    assert web.ask("ping", id=id).last["id"] == id


# -- JSON and shape ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"   ", -32700),
        (b"{", -32700),
        (b"nonsense", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}{', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"\xff"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\nb"}}', -32700),
        (b"[" * 5000 + b"]" * 5000, -32700),
        (b"3", -32600),
        (b"null", -32600),
        (b'"text"', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0"}', -32600),
        (b'{"id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    ],
)
def test_a_body_that_is_no_message_is_400(serve: Serve, body: bytes, code: int) -> None:
    web = serve()
    answer = web.post(body, **GOOD)
    assert (answer.status, answer.code) == (400, code)
    assert web.opened == []


# -- _meta -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "meta",
    [
        {f"{META}protocolVersion": MODERN},
        {f"{META}clientCapabilities": {}},
        {f"{META}protocolVersion": 7, f"{META}clientCapabilities": {}},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": []},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {"roots": 1}},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, f"{META}clientInfo": {"name": 1}},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, f"{META}logLevel": "loud"},
        {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, "progressToken": 1.5},
        {},
        [],
        "x",
        None,
    ],
)
def test_an_incomplete_envelope_is_invalid_params_before_headers_are_looked_at(serve: Serve, meta: Any) -> None:
    web = serve()
    answer = web.post(with_meta(meta), mcp_protocol_version=MODERN, mcp_method="wrong")
    assert (answer.status, answer.code) == (400, -32602)


@pytest.mark.parametrize("params", [None, [], 7, {}])
def test_params_without_meta_under_a_modern_header_are_invalid(serve: Serve, params: Any) -> None:
    web = serve()
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", **({} if params is None else {"params": params})}
    answer = web.post(frame, **GOOD)
    assert (answer.status, answer.code) == (400, -32602)


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp_method": "tools/list"},
        {"mcp_protocol_version": MODERN},
        {"mcp_protocol_version": "2025-11-25", "mcp_method": "tools/list"},
        {"mcp_protocol_version": FUTURE, "mcp_method": "tools/list"},
        {"mcp_protocol_version": MODERN, "mcp_method": "tools/call"},
        {"mcp_protocol_version": MODERN, "mcp_method": "Tools/List"},
        {"mcp_protocol_version": MODERN, "mcp_method": ""},
        {"mcp_protocol_version": MODERN, "mcp_method": "tools/list\x7f"},
    ],
)
def test_headers_that_do_not_repeat_the_body_are_a_mismatch(serve: Serve, headers: dict[str, str]) -> None:
    web = serve()
    answer = web.post(LIST, **headers)
    assert (answer.status, answer.code) == (400, -32020)


def sentinel(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("deploy", "deploy"),
        ("deploy", sentinel("deploy")),
        ("wärme", sentinel("wärme")),
        (" padded ", sentinel(" padded ")),
        ("=?base64?x?=", sentinel("=?base64?x?=")),
    ],
)
def test_a_name_in_the_header_is_decoded_before_it_is_compared(serve: Serve, name: str, header: str) -> None:
    web = serve()
    call = web.call(name, mcp_name=header)
    web.reply("tools/call", {"content": []})
    assert call.status == 200


@pytest.mark.parametrize(
    "header", [None, "other", "Deploy", sentinel("other"), "=?base64?ZGVwbG95", "=?base64?ZGVwbG95*?=", "=?BASE64?ZGVwbG95?="]
)
def test_a_name_in_the_header_that_is_not_the_one_of_the_body_is_a_mismatch(serve: Serve, header: str | None) -> None:
    web = serve()
    answer = web.call("deploy", mcp_name=header)
    assert (answer.status, answer.code) == (400, -32020)
    assert web.opened == []


@pytest.mark.parametrize(("method", "params"), [("resources/read", {"uri": "a:b"}), ("prompts/get", {"name": "p"})])
def test_the_name_is_compared_for_each_method_that_has_one(serve: Serve, method: str, params: dict[str, Any]) -> None:
    web = serve(capabilities={"resources": {}, "prompts": {}})
    assert not web.ask(method, params).done
    assert web.ask(method, params, mcp_name="other").code == -32020
    assert web.ask(method, params, mcp_name=None).code == -32020


def test_a_mismatch_comes_before_an_unsupported_revision(serve: Serve) -> None:
    web = serve()
    meta = {f"{META}protocolVersion": FUTURE, f"{META}clientCapabilities": {}}
    assert web.post(with_meta(meta), mcp_protocol_version=MODERN, mcp_method="tools/list").code == -32020
    answer = web.post(with_meta(meta), mcp_protocol_version=FUTURE, mcp_method="tools/list")
    assert (answer.status, answer.code) == (400, -32022)
    assert answer.error["data"] == {"supported": [MODERN], "requested": FUTURE}


def test_a_legacy_revision_in_meta_is_a_modern_request_for_a_revision_that_is_not_served_so(serve: Serve) -> None:
    web = serve()
    meta = {f"{META}protocolVersion": "2025-11-25", f"{META}clientCapabilities": {}}
    assert web.post(with_meta(meta), mcp_protocol_version="2025-11-25", mcp_method="tools/list").code == -32022


# -- methods -----------------------------------------------------------------------------------------------------------

REMOVED = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "tasks/update"]


@pytest.mark.parametrize("method", REMOVED)
def test_a_removed_method_in_a_modern_envelope_is_404(serve: Serve, method: str) -> None:
    web = serve()
    answer = web.ask(method)
    assert (answer.status, answer.code) == (404, -32601)
    assert web.opened == []


def test_a_method_that_the_server_does_not_know_is_404(serve: Serve) -> None:
    web = serve()
    answer = web.ask("com.example/unknown")
    web.reply_error("com.example/unknown", -32601, "Method not found")
    assert (answer.status, answer.code) == (404, -32601)


def test_a_vendor_method_that_the_server_knows_is_served(serve: Serve) -> None:
    web = serve()
    answer = web.ask("com.example/known", {"x": 1})
    web.reply("com.example/known", {"y": 2})
    assert (answer.status, answer.result["y"]) == (200, 2)


# -- classification, row by row ----------------------------------------------------------------------------------------


def test_a_handshake_is_legacy_whatever_the_header_says(serve: Serve) -> None:
    web = serve()
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    frame = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    for version in (None, MODERN, FUTURE, "2025-06-18", "nonsense"):
        answer = web.post(frame, mcp_protocol_version=version)
        assert (answer.status, answer.result["protocolVersion"]) == (200, "2025-11-25")
    assert len(web.face.sessions) == 5


def test_a_handshake_that_names_a_session_opens_another(serve: Serve) -> None:
    web = serve()
    one = web.legacy()
    two = web.legacy(mcp_session_id="no-such-session")
    assert one.session != two.session
    assert two.session != "no-such-session"


def test_a_handshake_for_the_modern_revision_is_offered_the_newest_legacy_one(serve: Serve) -> None:
    web = serve()
    params = {"protocolVersion": MODERN, "capabilities": ALL_CAPABILITIES, "clientInfo": {"name": "c", "version": "1"}}
    answer = web.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    assert answer.result["protocolVersion"] == "2025-11-25"
    assert web.requests("initialize")[0]["params"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_an_unknown_session_is_404(serve: Serve, method: str) -> None:
    web = serve()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}' if method == "POST" else b""
    answer = web.send(method, body=body, mcp_session_id="0" * 48)
    assert (answer.status, answer.code) == (404, -32600)
    assert web.opened == []


@pytest.mark.parametrize("version", [MODERN, FUTURE, "nonsense"])
def test_a_modern_or_unknown_header_without_meta_is_judged_by_the_modern_ladder(serve: Serve, version: str) -> None:
    web = serve()
    answer = web.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}, mcp_protocol_version=version)
    assert (answer.status, answer.code) == (400, -32602)


@pytest.mark.parametrize("version", [None, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_legacy_request_without_a_session_is_400(serve: Serve, version: str | None) -> None:
    web = serve()
    for frame in ({"id": 1, "method": "tools/list"}, {"method": "notifications/initialized"}, {"id": 1, "result": {}}):
        answer = web.post({"jsonrpc": "2.0", **frame}, mcp_protocol_version=version)
        assert (answer.status, answer.code) == (400, -32600)
    assert web.opened == []


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("version", [None, MODERN, "2025-11-25"])
def test_get_and_delete_without_a_session_are_405(serve: Serve, method: str, version: str | None) -> None:
    web = serve()
    answer = web.send(method, mcp_protocol_version=version)
    assert answer.status == 405
    assert "POST" in answer.headers["allow"]


def test_the_modern_mark_in_an_argument_does_not_make_a_legacy_request_modern(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    text = f"what is {META}protocolVersion?"
    call = client.ask("tools/call", {"name": "deploy", "arguments": {"q": text}}, id=1)
    assert web.requests("tools/call")[0]["params"]["arguments"] == {"q": text}
    web.reply("tools/call", {"content": []})
    assert call.status == 200


def test_the_modern_mark_in_a_legacy_notification_does_not_take_it_out_of_its_session(serve: Serve) -> None:
    web = serve()
    client = web.legacy()
    client.note("com.example/said", {"q": f"what is {META}protocolVersion?"})
    assert len(web.requests("com.example/said", 1)) == 1


@pytest.mark.parametrize(
    "frame", [{"method": "notifications/x"}, {"id": "q", "result": {}}, {"id": "q", "error": {"code": 1, "message": "m"}}]
)
def test_notifications_and_responses_in_a_session_are_202_without_a_body(serve: Serve, frame: dict[str, Any]) -> None:
    web = serve(judged=False)
    client = web.legacy()
    answer = client.post({"jsonrpc": "2.0", **frame})
    assert (answer.status, answer.body) == (202, b"")
    assert "content-type" not in answer.headers


def test_a_modern_notification_is_202_without_a_body_and_starts_nothing(serve: Serve) -> None:
    web = serve()
    answer = web.post({"jsonrpc": "2.0", "method": "com.example/x", "params": {"_meta": envelope()}}, mcp_protocol_version=MODERN)
    assert (answer.status, answer.body) == (202, b"")
    assert web.opened == []


def test_a_modern_client_writes_no_responses(serve: Serve) -> None:
    web = serve()
    answer = web.post({"jsonrpc": "2.0", "id": 1, "result": {"_meta": envelope()}}, mcp_protocol_version=MODERN)
    assert answer.status == 400


def test_a_notification_of_a_revision_that_is_not_served_is_400(serve: Serve) -> None:
    web = serve()
    answer = web.post({"jsonrpc": "2.0", "method": "notifications/x"}, mcp_protocol_version="1900-01-01")
    assert (answer.status, answer.code) == (400, -32022)

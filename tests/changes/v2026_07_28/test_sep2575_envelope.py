from __future__ import annotations

import pytest
from msgspec import Raw

import downcrossings as down
from crossings import NOVEMBER, answer, params, raw, result, told
from dragoman import chain
from dragoman_specs.version import LEGACY, Version

INFO = b'{"name":"srv","version":"1"}'
NAMED = '"io.modelcontextprotocol/serverInfo":{"name":"srv","version":"1"}'
ENVELOPE = (
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},'
    '"io.modelcontextprotocol/clientInfo":{"name":"c","version":"0"},"io.modelcontextprotocol/logLevel":"debug"'
)


def test_result_of_a_server_without_identity_gets_no_meta() -> None:
    assert raw(result("tools/call", '{"content":[]}')) == '{"resultType":"complete","content":[]}'


def test_foreign_meta_of_a_server_without_identity_is_untouched() -> None:
    text = '{"_meta":{ "a":1.10 },"content":[]}'
    assert raw(result("tools/call", text)) == '{"resultType":"complete","_meta":{ "a":1.10 },"content":[]}'


def test_request_without_meta_is_the_same_object() -> None:
    members = {"name": Raw(b'"add"')}
    assert chain.params_to_server("tools/call", members, NOVEMBER) is members


def test_request_with_only_progress_trace_and_foreign_keys_is_the_same_object() -> None:
    meta = b'{"progressToken":"p","traceparent":"t","tracestate":"s","baggage":"b","com.example/x":1.10,"io.modelcontextprotocol/ui":{}}'
    members = {"_meta": Raw(meta)}
    assert chain.params_to_server("tools/call", members, NOVEMBER) is members


def test_answer_with_foreign_meta_is_untouched() -> None:
    text = '{"roots":[],"_meta":{"a":1.10}}'
    assert raw(answer("roots/list", text, NOVEMBER)) == text


def test_result_names_the_server() -> None:
    told_text = raw(result("tools/call", '{"content":[]}', server_info=INFO))
    assert told_text == f'{{"resultType":"complete","_meta":{{{NAMED}}},"content":[]}}'


def test_two_servers_are_not_confused() -> None:
    other = b'{"name":"other","version":"2"}'
    result("tools/call", '{"content":[]}', server_info=INFO)
    assert '"name":"other"' in raw(result("tools/call", '{"content":[]}', server_info=other))


def test_name_joins_foreign_keys() -> None:
    text = '{"content":[],"_meta":{"a":1.10}}'
    assert raw(result("tools/call", text, server_info=INFO)) == f'{{"resultType":"complete","content":[],"_meta":{{"a":1.10,{NAMED}}}}}'


def test_claim_of_a_result_gives_way_to_the_handshake() -> None:
    text = '{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":5}}'
    assert raw(result("tools/call", text, server_info=INFO)) == f'{{"resultType":"complete","content":[],"_meta":{{{NAMED}}}}}'


def test_invalid_claim_without_a_handshake_is_left_out() -> None:
    text = '{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":5}}'
    assert raw(result("tools/call", text)) == '{"resultType":"complete","content":[]}'


def test_valid_claim_without_a_handshake_is_kept() -> None:
    text = f'{{"content":[],"_meta":{{{NAMED}}}}}'
    assert raw(result("tools/call", text)) == f'{{"resultType":"complete",{text[1:]}'


@pytest.mark.parametrize(("meta", "what"), [("null", "null"), ("[]", "an array"), ('"x"', "a string")])
def test_meta_that_is_no_object_is_replaced(meta: str, what: str) -> None:
    text = f'{{"_meta":{meta},"content":[]}}'
    loss = [f"sep2575_envelope: a result whose _meta was {what}, left out"]
    assert told(result("tools/call", text)) == ('{"resultType":"complete","content":[]}', loss)
    assert told(result("tools/call", text, server_info=INFO)) == (f'{{"resultType":"complete","_meta":{{{NAMED}}},"content":[]}}', loss)


def test_request_loses_the_envelope_and_keeps_the_rest() -> None:
    found = params("tools/list", {"cursor": '"c"', "_meta": f'{{{ENVELOPE},"progressToken":7,"com.example/x":1.10}}'})
    assert found == {"cursor": '"c"', "_meta": '{"progressToken":7,"com.example/x":1.10}'}


@pytest.mark.parametrize("method", ["tools/list", "vendor/x"])
def test_meta_of_nothing_but_the_envelope_is_left_out(method: str) -> None:
    assert params(method, {"cursor": '"c"', "_meta": f"{{{ENVELOPE}}}"}) == {"cursor": '"c"'}


@pytest.mark.parametrize("meta", ["null", "{}", "5"])
def test_meta_of_a_request_that_holds_nothing_is_left_out(meta: str) -> None:
    assert params("tools/list", {"_meta": meta}) == {}


def test_answer_loses_the_envelope() -> None:
    text = f'{{"roots":[],"_meta":{{{NAMED},"a":1}}}}'
    assert raw(answer("roots/list", text, NOVEMBER)) == '{"roots":[],"_meta":{"a":1}}'


# --- for a legacy client ---

FOREIGN = '"_meta":{ "progressToken":"p","traceparent":"t","com.example/x":1.10,"ui":{} }'


@pytest.mark.parametrize("revision", LEGACY)
def test_foreign_keys_of_a_result_to_legacy_client_are_untouched(revision: Version) -> None:
    text = f'{{ "content":[],{FOREIGN} }}'
    assert raw(down.result("tools/call", text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
def test_foreign_keys_of_a_notification_to_legacy_client_are_untouched(revision: Version) -> None:
    text = f'{{ "uri":"a:b",{FOREIGN} }}'
    assert raw(down.notification("notifications/resources/updated", text, revision)) == text


@pytest.mark.parametrize("revision", LEGACY)
def test_reserved_keys_of_a_result_are_taken_out(revision: Version) -> None:
    text = f'{{"content":[],"_meta":{{"a":1.10,{NAMED},"io.modelcontextprotocol/x":1}}}}'
    assert raw(down.result("tools/call", text, revision)) == '{"content":[],"_meta":{"a":1.10}}'


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("meta", [f"{{{NAMED}}}", "{}"])
def test_meta_of_a_result_that_holds_nothing_else_is_left_out(meta: str, revision: Version) -> None:
    assert raw(down.result("vendor/x", f'{{"_meta":{meta},"x":1.10}}', revision)) == '{"x":1.10}'


def test_meta_of_a_result_that_is_no_object_is_left_out_with_a_loss() -> None:
    assert told(down.result("vendor/x", '{"_meta":[],"x":1}')) == (
        '{"x":1}',
        ["sep2575_envelope: a result whose _meta was an array, left out"],
    )


@pytest.mark.parametrize("revision", LEGACY)
def test_subscription_of_a_notification_is_taken_out(revision: Version) -> None:
    text = '{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":1,"a":1.10}}'
    assert raw(down.notification("notifications/resources/updated", text, revision)) == '{"uri":"a:b","_meta":{"a":1.10}}'
    bare = '{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}'
    assert raw(down.notification("notifications/tools/list_changed", bare, revision)) == "{}"


def test_question_loses_the_envelope_and_its_progress_token() -> None:
    text = f'{{"_meta":{{{NAMED},"progressToken":1,"a":1.10}}}}'
    assert raw(down.question("roots/list", text, NOVEMBER)) == '{"_meta":{"a":1.10}}'
    assert raw(down.question("roots/list", '{"_meta":{"progressToken":1}}', NOVEMBER)) == ""


def test_answer_of_a_legacy_client_keeps_foreign_keys_alone() -> None:
    text = '{ "roots":[],"_meta":{"a":1.10} }'
    assert raw(down.answer("roots/list", text)) == text
    task = '{"roots":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}'
    assert raw(down.answer("roots/list", task)) == '{"roots":[]}'

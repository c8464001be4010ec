"""The oracle itself: it accepts the specification's own examples and refuses what it must."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faces import ClientFace, ServerFace
from oracle import KNOWN_FAULTS, Invalid, Oracle, Revision, spec_folder

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
FOLDER = spec_folder()
EXAMPLES = sorted(FOLDER.glob("2026-07-28/examples/*/*.json")) if FOLDER else []
needs_schemas = pytest.mark.skipif(spec_folder() is None, reason="the specification's schemas are not on this machine")


def result(body: dict[str, Any], request_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": body}


def call(request_id: Any, **params: Any) -> str:
    meta = META | params.pop("meta", {})
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": "x", "_meta": meta, **params}})


@needs_schemas
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_official_example_is_valid(example: Path, oracle: Oracle) -> None:
    oracle.schema_check("2026-07-28", example.parent.name, json.loads(example.read_text(encoding="utf-8")), str(example))


@needs_schemas
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
def test_every_known_fault_still_stands_in_its_schema(revision: str) -> None:
    folder = spec_folder()
    assert folder is not None
    assert Revision(folder, revision).definitions
    assert all(fault.reason for fault in KNOWN_FAULTS)


def test_complete_tool_result_is_accepted(oracle: Oracle) -> None:
    oracle.check_to_client(result({"resultType": "complete", "content": [{"type": "text", "text": "x"}]}), "tools/call")


def test_fraction_and_null_inside_structured_content_are_accepted(oracle: Oracle) -> None:
    body = {"resultType": "complete", "content": [], "structuredContent": {"a": 1.5, "b": None}}
    oracle.check_to_client(result(body), "tools/call")


@pytest.mark.parametrize(
    ("frame", "method"),
    [
        (result({"content": []}), "tools/call"),
        (result({"resultType": "maybe", "content": []}), "tools/call"),
        (result({"resultType": "input_required"}), "tools/call"),
        (result({"resultType": "input_required", "requestState": "s"}), "tools/list"),
        (result({"resultType": "input_required", "requestState": "s", "ttlMs": 0}), "resources/read"),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}}, None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32002, "message": "x"}}, "resources/read"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32050, "message": "x"}}, "tools/call"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32021, "message": "x"}}, "tools/call"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"structuredContent":NaN}}', "tools/call"),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', "tools/call"),
    ],
)
def test_frame_that_a_modern_client_may_reject_is_refused(frame: Any, method: str | None, oracle: Oracle) -> None:
    with pytest.raises(Invalid):
        oracle.check_to_client(frame, method)


@needs_schemas
@pytest.mark.parametrize(
    ("body", "method"),
    [
        ({"resultType": "complete", "tools": []}, "tools/list"),
        ({"resultType": "complete", "tools": None, "ttlMs": 0, "cacheScope": "private"}, "tools/list"),
        ({"resultType": "complete"}, "tools/call"),
        ({"resultType": "complete", "content": [{"text": "x"}]}, "tools/call"),
    ],
)
def test_result_that_lacks_what_its_method_requires_is_refused(body: dict[str, Any], method: str, oracle: Oracle) -> None:
    with pytest.raises(Invalid):
        oracle.check_to_client(result(body), method)


@pytest.mark.parametrize(
    "params",
    [
        {"name": "x", "_meta": META},
        {"name": "x", "inputResponses": {}},
        {"name": "x", "requestState": ""},
    ],
)
def test_modern_word_to_a_legacy_server_is_refused(params: dict[str, Any], oracle: Oracle) -> None:
    with pytest.raises(Invalid, match="words of 2026-07-28"):
        oracle.check_to_server({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, "2025-06-18")


def test_fraction_in_a_form_answer_to_a_legacy_server_is_accepted(oracle: Oracle) -> None:
    answer = result({"action": "accept", "content": {"score": 1.5}}, "q-1")
    oracle.check_to_server(answer, "2025-06-18", "elicitation/create")


def test_answer_to_another_id_type_is_no_answer(oracle: Oracle) -> None:
    face = ClientFace(oracle)
    face.from_client(call(1))
    with pytest.raises(Invalid, match="no open request"):
        face.to_client(json.dumps(result({"resultType": "complete", "content": []}, "1")))


def test_progress_after_the_response_is_refused(oracle: Oracle) -> None:
    face = ClientFace(oracle)
    face.from_client(call(1, meta={"progressToken": "t"}))
    progress = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": 1}})
    face.to_client(progress)
    with pytest.raises(Invalid, match="increase"):
        face.to_client(progress)
    face.to_client(json.dumps(result({"resultType": "complete", "content": []})))
    with pytest.raises(Invalid, match="no request in flight"):
        face.to_client(progress)


def test_log_message_below_the_level_asked_for_is_refused(oracle: Oracle) -> None:
    face = ClientFace(oracle)
    face.from_client(call(1, meta={"io.modelcontextprotocol/logLevel": "warning"}))
    face.to_client('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}')
    with pytest.raises(Invalid, match="asked for"):
        face.to_client('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}')


def test_change_before_the_acknowledgement_is_refused(oracle: Oracle) -> None:
    face = ClientFace(oracle)
    listen = {"_meta": META, "notifications": {"toolsListChanged": True}}
    face.from_client(json.dumps({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": listen}))
    stamp = {"io.modelcontextprotocol/subscriptionId": 5}
    changed = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": stamp}})
    with pytest.raises(Invalid, match="acknowledgement"):
        face.to_client(changed)
    acknowledged = {"_meta": stamp, "notifications": {"toolsListChanged": True}}
    face.to_client(json.dumps({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": acknowledged}))
    face.to_client(changed)


def test_request_to_a_server_before_initialized_is_refused(oracle: Oracle) -> None:
    face = ServerFace(oracle)
    with pytest.raises(Invalid, match="before initialized"):
        face.to_server('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')


def test_second_answer_to_a_question_is_refused(oracle: Oracle) -> None:
    face = ServerFace(oracle)
    face.from_server('{"jsonrpc":"2.0","id":1,"method":"roots/list"}')
    answer = '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'
    face.to_server(answer)
    with pytest.raises(Invalid, match="no open question"):
        face.to_server(answer)

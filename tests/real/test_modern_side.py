"""The judge of what a modern-only server is shown takes what is right and refuses what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from modern_side import ModernServerFace, judge_modern_server, server_was_modern

from oracle import MODERN, RESERVED, Invalid, JsonObject, Oracle

ENVELOPE: JsonObject = {RESERVED + "protocolVersion": MODERN, RESERVED + "clientCapabilities": {}}
HELLO: JsonObject = {"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}}
QUESTION: JsonObject = {"who": {"method": "roots/list", "params": {}}}


class Passed:
    """Frames in their order, as a tap writes them down."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.records: list[JsonObject] = []

    def put(self, direction: str, pid: int = 1, **frame: Any) -> Passed:
        self.records.append({"pid": pid, "dir": direction, "line": json.dumps({"jsonrpc": "2.0", **frame})})
        return self

    def call(self, number: int, meta: JsonObject | None = None, pid: int = 1, **members: Any) -> Passed:
        params = {"name": "ask", "arguments": {}, **members, "_meta": ENVELOPE | (meta or {})}
        return self.put("in", pid, id=number, method="tools/call", params=params)

    def asks(self, number: int) -> Passed:
        result = {"resultType": "input_required", "inputRequests": QUESTION, "requestState": "s"}
        return self.put("out", id=number, result=result)

    def judged(self) -> list[ModernServerFace]:
        return judge_modern_server(self.oracle, self.records)


@pytest.fixture
def passed(oracle: Oracle) -> Passed:
    return Passed(oracle)


def test_conversation_that_is_right_is_taken(passed: Passed) -> None:
    passed.put("in", id=1, **HELLO).put("out", id=1, error={"code": -32022, "message": "no"})
    passed.call(1).asks(1).call(2, inputResponses={"who": {"roots": []}}, requestState="s")
    passed.put("in", method="notifications/cancelled", params={"requestId": 2})
    passed.call(3, {RESERVED + "logLevel": "info"})
    (face,) = passed.judged()
    assert (face.refused_handshakes, face.modern_requests) == (1, 3)
    server_was_modern([face])


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])
def test_legacy_request_is_refused_even_with_an_envelope(passed: Passed, method: str) -> None:
    passed.put("in", id=1, method=method, params={"uri": "x", "level": "info", "_meta": ENVELOPE})
    with pytest.raises(Invalid, match="is no word of 2026-07-28"):
        passed.judged()


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/roots/list_changed"])
def test_legacy_notification_is_refused(passed: Passed, method: str) -> None:
    with pytest.raises(Invalid, match="is no word of 2026-07-28"):
        passed.put("in", method=method).judged()


def test_request_without_an_envelope_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid):
        passed.put("in", id=1, method="tools/list", params={}).judged()


def test_envelope_of_another_revision_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid, match="another revision"):
        passed.call(1, {RESERVED + "protocolVersion": "2025-11-25"}).judged()


def test_level_that_nobody_knows_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid):
        passed.call(1, {RESERVED + "logLevel": "loud"}).judged()


def test_response_to_the_server_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid, match="clients write no responses"):
        passed.put("in", id=1, result={"roots": []}).judged()


def test_handshake_after_a_modern_request_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid, match="known to be modern"):
        passed.call(1).put("in", id=2, **HELLO).judged()


def test_id_that_is_in_flight_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid, match="in flight"):
        passed.call(1).call(1).judged()


def test_cancellation_of_what_was_never_asked_is_refused(passed: Passed) -> None:
    with pytest.raises(Invalid, match="never asked"):
        passed.put("in", method="notifications/cancelled", params={"requestId": 7}).judged()


@pytest.mark.parametrize(
    "members",
    [
        {"inputResponses": {"who": {"roots": []}}},
        {"inputResponses": {"who": {"roots": []}}, "requestState": "S"},
        {"inputResponses": {}, "requestState": "s"},
        {"inputResponses": {"who": {"roots": []}, "more": {"roots": []}}, "requestState": "s"},
        {"inputResponses": {"who": {"roots": []}}, "requestState": "s", "arguments": {"other": 1}},
    ],
    ids=["no state", "other state", "no answer", "another answer", "other request"],
)
def test_request_that_is_made_again_with_what_it_was_not_given_is_refused(passed: Passed, members: JsonObject) -> None:
    with pytest.raises(Invalid, match="was not given"):
        passed.call(1).asks(1).call(2, **members).judged()


def test_server_that_was_only_refused_to_was_not_spoken_to_as_modern(passed: Passed) -> None:
    with pytest.raises(AssertionError):
        server_was_modern(passed.put("in", id=1, **HELLO).judged())
    with pytest.raises(AssertionError):
        server_was_modern([])


def test_second_process_is_known_to_be_modern(passed: Passed) -> None:
    with pytest.raises(AssertionError):
        server_was_modern(passed.call(1).put("in", 2, id=1, **HELLO).call(2, pid=2).judged())

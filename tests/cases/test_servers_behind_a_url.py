"""Field cases about judging a server behind a URL by its answer to ``server/discover``.

(2026-07-28, basic/transports/streamable-http#backward-compatibility; what the bridge does about it is in ``test_behind_a_url``.)
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.http.remote import Verdict, judge_answer, no_answer

CHALLENGE = b'Bearer resource_metadata="https://h.example/.well-known/oauth-protected-resource"'


def refusal(code: int, message: str, *, id: Any = "d", **data: Any) -> bytes:  # noqa: A002
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()


def verdict(status: int, body: bytes = b"") -> tuple[str, bool]:
    found = judge_answer(status, body)
    return found.era, found.keep


def test_b006_refusal_by_any_code_but_the_modern_ones_is_a_legacy_servers() -> None:
    assert verdict(400, refusal(-32000, "MCP-Protocol-Version 2026-07-28 is not supported (supported: 2025-06-18)", id=None)) == (
        "legacy",
        True,
    )


@pytest.mark.parametrize(
    "body",
    [
        refusal(-32022, "Unsupported protocol version", supported=["2026-07-28"], requested="2027-01-01"),
        refusal(-32020, "Header mismatch"),
        refusal(-32021, "Missing", requiredCapabilities={"elicitation": {}}),
    ],
)
def test_b006_refusal_by_a_modern_code_in_its_shape_is_a_modern_servers(body: bytes) -> None:
    assert verdict(400, body) == ("modern", True)


def test_b007_missing_session_id_is_what_a_stateful_legacy_server_says() -> None:
    assert verdict(400, refusal(-32600, "Bad Request: Missing session ID", id="server-error")) == ("legacy", True)


@pytest.mark.parametrize(("status", "body"), [(204, b""), (200, b""), (202, b""), (200, b"OK"), (200, b"<html>")])
def test_b016_good_status_without_a_message_is_no_modern_server(status: int, body: bytes) -> None:
    assert verdict(status, body) == ("legacy", True)


def test_b017_text_with_404_is_a_legacy_servers() -> None:
    """What follows, initialize and then the older transport, is the client's."""
    assert verdict(404, b"Invalid session ID") == ("legacy", True)


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415])
@pytest.mark.parametrize("body", [b"", b"session required", b"<html>Bad Request</html>", b"[]", b"{}", b"null"])
def test_b020_refusal_in_words_of_something_on_the_way_is_no_modern_servers(status: int, body: bytes) -> None:
    assert verdict(status, body) == ("legacy", True)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", b"no", refusal(-32600, "Unauthorized")])
def test_b021_challenge_says_nothing_about_the_era_and_is_shown(status: int, body: bytes) -> None:
    found = judge_answer(status, body, CHALLENGE)
    assert (found.era, found.challenge, found.keep) == ("unknown", CHALLENGE, False)


def test_b022_discovery_refused_to_a_good_token_is_no_verdict_that_is_kept() -> None:
    """The one initialize that then decides is the client's."""
    found = judge_answer(401, b"")
    assert (found.era, found.challenge, found.keep) == ("unknown", None, False)


def test_b024_result_of_discovery_that_names_no_revision_is_a_legacy_servers() -> None:
    """The case wants it to be modern; but servers that answer an object to everything exist, and a modern one must name revisions."""
    body = {"jsonrpc": "2.0", "id": "d", "result": {"capabilities": {"tools": {}}, "_meta": {"io.modelcontextprotocol/serverInfo": {}}}}
    assert verdict(200, json.dumps(body).encode()) == ("legacy", True)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("body", [b"busy", b"", refusal(-32603, "Internal error")])
def test_b026_answer_of_something_that_is_busy_is_no_verdict_that_is_kept(status: int, body: bytes) -> None:
    assert verdict(status, body) == ("unknown", False)


def test_b026_modern_words_are_evidence_with_any_status() -> None:
    assert verdict(503, refusal(-32022, "Unsupported", supported=["2026-07-28"], requested="x")) == ("modern", True)


def test_b032_probe_that_is_never_answered_is_no_verdict_that_is_kept() -> None:
    """How long to wait, and the initialize that follows, are the client's."""
    assert no_answer("no answer within 5 seconds") == Verdict("unknown", "no answer within 5 seconds", None, keep=False)

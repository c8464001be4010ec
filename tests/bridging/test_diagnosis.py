"""What answers say of a server, in words and as facts."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from dragoman import frame
from dragoman.bridging.diagnosis import (
    Diagnosis,
    in_words,
    initialize_params,
    message_of,
    named_in,
    one_line,
    read_discovery,
    read_handshake,
)
from dragoman_specs.version import Version


def result(value: object) -> frame.Result:
    return frame.Result(b"1", Raw(json.dumps(value).encode()))


def failure(value: object) -> frame.Failure:
    return frame.Failure(b"1", Raw(json.dumps(value).encode()))


def test_nothing_asked_is_no_era():
    found = Diagnosis()
    assert (found.era, found.usable) == ("unknown", False)


@pytest.mark.parametrize(
    ("handshake", "modern", "era"),
    [
        (None, None, "unknown"),
        (False, False, "unknown"),
        (False, None, "unknown"),
        (True, None, "legacy"),
        (True, False, "legacy"),
        (None, True, "modern"),
        (False, True, "modern"),
        (True, True, "dual"),
    ],
)
def test_era_follows_from_what_is_accepted(handshake, modern, era):
    found = Diagnosis(accepts_handshake=handshake, accepts_modern=modern)
    assert (found.era, found.usable) == (era, era != "unknown")


@pytest.mark.parametrize("text", ["", "plain", "ümläut 漢字", "a" * 160])
def test_harmless_text_is_shown_as_it_is(text):
    assert one_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\n c\td", "a b c d"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b31m", "\\u009b31m"),
        ("turned \u202e round", "turned \\u202e round"),
        ("half \udc80", "half \\udc80"),
        ("a" * 161, "a" * 159 + "…"),
        (" " * 10_000 + "late", "…"),
    ],
)
def test_text_that_would_do_something_is_not(text, shown):
    assert one_line(text) == shown


@pytest.mark.parametrize("body", [b"", b"hello", b"<html>", b"[]", b"{", b'{"method":"ping"}', b'{"jsonrpc":"2.0","id":1}', b"[" * 9999])
def test_body_without_a_response_has_no_message(body):
    assert message_of(body) is None


def test_first_response_of_a_batch_is_the_message():
    batch = b'[{"jsonrpc":"2.0","method":"note"},{"jsonrpc":"2.0","id":1,"result":{"a":1}},{"jsonrpc":"2.0","id":2,"result":{}}]'
    assert message_of(batch) == frame.Result(b"1", Raw(b'{"a":1}'))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (result({}), "an empty result"),
        (result([]), "a result that is no object"),
        (result({"ok": True}), "a result that names no revision"),
        (result({"protocolVersion": "2025-06-18"}), "a result with protocolVersion 2025-06-18"),
        (result({"protocolVersion": "\x1b[2J"}), "a result with protocolVersion \\u001b[2J"),
        (result({"protocolVersion": 3}), "a result that names no revision"),
        (result({"supportedVersions": ["2026-07-28", 7, "x"]}), "a result with supportedVersions 2026-07-28, x"),
        (result({"supportedVersions": []}), "a result with supportedVersions that name nothing"),
        (result({"supportedVersions": "2026-07-28"}), "a result with supportedVersions that name nothing"),
        (result({"supportedVersions": list("abcdefghij")}), "a result with supportedVersions a, b, c, d, e, f, g, h …"),
        (failure("no"), "an error that is no object"),
        (failure({"code": -32601, "message": "Method not found"}), "error -32601 Method not found"),
        (failure({"code": "E_NO"}), "error E_NO"),
        (failure({"code": -32602, "message": "a\nb"}), "error -32602 a b"),
        (failure({"code": -32022, "message": "No", "data": {"supported": ["2026-07-28"]}}), "error -32022 No (supported: 2026-07-28)"),
    ],
)
def test_answer_in_words(answer, words):
    assert in_words(answer) == words


def test_answer_nested_too_deeply_is_still_told():
    assert in_words(frame.Failure(b"1", Raw(b'{"a":' * 5000 + b"1" + b"}" * 5000))) == "an error that is no object"


def test_offer_is_a_whole_initialize():
    params = json.loads(initialize_params(Version.V2025_03_26))
    assert (params["protocolVersion"], params["capabilities"], params["clientInfo"]["name"]) == ("2025-03-26", {}, "dragoman")


@pytest.mark.parametrize(
    ("error", "tried", "named"),
    [
        ({"code": -32601, "message": "Method not found"}, [], None),
        ({"code": -32602, "message": "supported: 2026-07-28"}, [], None),
        ({"code": -32602, "message": "supported: 1999-01-01"}, [], None),
        ({"code": -32602, "message": "supported: 2025-11-25"}, [Version.V2025_11_25], None),
        ({"code": -32602, "message": "supported: 2024-11-05, 2025-03-26"}, [Version.V2025_11_25], "2025-03-26"),
        ({"code": -32602, "message": "no", "data": {"supported": ["2024-11-05"]}}, [Version.V2025_11_25], "2024-11-05"),
        ("2024-11-05", [], None),
    ],
)
def test_revision_that_a_refusal_names(error, tried, named):
    assert named_in(failure(error), tried) == named


@pytest.mark.parametrize("value", [{}, [], None, {"protocolVersion": None}, {"supportedVersions": ["2026-07-28"]}])
def test_result_without_a_revision_is_no_handshake(value):
    found = Diagnosis()
    assert not read_handshake(found, result(value).result)
    assert found == Diagnosis()


def test_handshake_is_taken_down():
    found = Diagnosis()
    info = {"name": "files", "version": "1.2", "icons": []}
    value = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    assert read_handshake(found, result(value).result)
    assert (found.accepts_handshake, found.negotiated, found.legacy_revision) == (True, "2025-06-18", Version.V2025_06_18)
    assert (found.server_info, found.capabilities, found.notes) == ({"name": "files", "version": "1.2"}, {"tools": {}}, [])


@pytest.mark.parametrize(("named", "taken"), [("2025-07-01", "2025-06-18"), ("2026-07-28", "2025-11-25"), ("latest", "2024-11-05")])
def test_handshake_with_another_revision_is_taken_for_the_nearest_one(named, taken):
    found = Diagnosis()
    assert read_handshake(found, result({"protocolVersion": named}).result)
    assert (found.negotiated, found.legacy_revision) == (named, taken)
    assert found.notes == [f"the revision {named} of its handshake is none that has one: it is spoken to as {taken}"]


@pytest.mark.parametrize("told", ["text", 3, None, ["tools"]])
def test_identity_of_a_wrong_type_is_left_out(told):
    found = Diagnosis()
    read_handshake(found, result({"protocolVersion": "2025-06-18", "capabilities": told, "serverInfo": told}).result)
    assert (found.server_info, found.capabilities) == ({}, None)


def test_discovery_is_taken_down():
    found = Diagnosis()
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "3"}}
    read_discovery(found, result({"supportedVersions": ["2026-07-28", 5], "capabilities": {"tools": {}}, "_meta": meta}))
    assert (found.accepts_modern, found.supported, found.server_info) == (True, ["2026-07-28"], {"name": "new", "version": "3"})
    assert (found.capabilities, found.notes) == ({"tools": {}}, [])


def test_discovery_without_a_name_is_noted():
    found = Diagnosis()
    read_discovery(found, result({"supportedVersions": ["2026-07-28"]}))
    assert found.notes == ["its server/discover does not say who it is (_meta io.modelcontextprotocol/serverInfo)"]


def test_refusal_that_proves_the_era_names_the_revisions():
    found = Diagnosis()
    read_discovery(found, failure({"code": -32022, "data": {"supported": ["2026-07-28"]}}))
    assert (found.accepts_modern, found.supported, found.capabilities) == (True, ["2026-07-28"], None)


def test_modern_identity_stays_when_the_handshake_tells_another():
    found = Diagnosis()
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "3"}}
    read_discovery(found, result({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": meta}))
    read_handshake(found, result({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "old"}}).result)
    assert (found.era, found.server_info, found.capabilities) == ("dual", {"name": "new", "version": "3"}, {"tools": {}})


def test_note_and_advice_are_said_once():
    found = Diagnosis()
    for _ in range(2):
        found.note("n")
        found.advise("a")
    assert (found.notes, found.advice) == (["n"], ["a"])

"""Servers that are odd in one way (``tests/peers/odd_server.py``), seen by a modern client through ``dragoman wrap``."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import peer
from pipe import Pipe, gone_within

from oracle import Oracle

Open = Callable[..., Pipe]


@pytest.fixture
def odd(tmp_path: Path, oracle: Oracle) -> Iterator[Open]:
    """``odd(mode, *wrap_options)``: a pipe to the bridge in front of that odd server; closed at the end of the test."""
    opened: list[Pipe] = []

    def open_pipe(mode: str, *options: str) -> Pipe:
        server = peer("odd_server.py", "--odd", mode, "--pid-file", str(tmp_path / "pids"))
        opened.append(Pipe(tmp_path, oracle, server, options))
        return opened[-1]

    yield open_pipe
    for pipe in opened:
        with pipe:
            pass


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text(encoding="ascii").split()]


HARMLESS = [
    "plain",
    "banner",
    "crlf",
    "bom",
    "pieces",
    "flood-stderr",
    "silent",
    "exit-on-discover",
    "ping",
    "stranger",
    "duplicate",
    "version-2099",
    "version-2026",
    "version-2025-08",
    "refuse-version",
    "answers-cancelled",
    "stubborn",
    "grandchild",
]


@pytest.mark.parametrize("mode", HARMLESS)
def test_harmless_oddity_is_not_noticed(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        discovered = pipe.ask("server/discover")["result"]
        assert discovered["supportedVersions"] == ["2026-07-28"]
        assert [tool["name"] for tool in pipe.ask("tools/list")["result"]["tools"]] == ["echo"]
        for text in ("one", "two"):
            assert pipe.call("echo", text=text)["result"]["content"] == [{"type": "text", "text": text}]


# A legacy client is relayed byte for byte, so it sees these for itself: a version it cannot speak, an answer to nobody.
RELAYED = {"stranger", "version-2099", "version-2026", "version-2025-08", "refuse-version"}


@pytest.mark.parametrize("mode", [mode for mode in HARMLESS if mode not in RELAYED])
def test_harmless_oddity_is_not_noticed_by_a_legacy_client(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        hello = '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}'
        pipe.write(f'{{"jsonrpc":"2.0","id":"a","method":"initialize","params":{hello}}}')
        assert pipe.response("a")["result"]["serverInfo"]["name"] == "odd"
        pipe.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        pipe.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}')
        frame = pipe.read()
        if frame.get("method") == "ping":
            pipe.write(f'{{"jsonrpc":"2.0","id":"{frame["id"]}","result":{{}}}}')
            frame = pipe.response(7)
        assert frame["result"]["content"] == [{"type": "text", "text": "hi"}]


def test_banner_goes_to_stderr_and_never_to_the_client(odd: Open) -> None:
    with odd("banner", "--log-level", "info") as pipe:
        pipe.call("echo", text="x")
        assert "odd server v1.0" in pipe.stderr()


def test_late_answers_find_their_owners(odd: Open) -> None:
    with odd("late") as pipe:
        first, second = (pipe.send("tools/call", {"name": "echo", "arguments": {"text": text}}) for text in ("a", "b"))
        answers = {frame["id"]: frame["result"]["content"][0]["text"] for frame in (pipe.read(), pipe.read())}
        assert answers == {first: "a", second: "b"}


def test_ten_megabytes_in_one_line_arrive(odd: Open) -> None:
    with odd("huge") as pipe:
        assert len(pipe.call("echo")["result"]["content"][0]["text"]) == 10 << 20


def test_line_over_the_limit_is_an_error_for_its_owner_and_the_session_survives(odd: Open) -> None:
    with odd("over-limit", "--max-line", "64M") as pipe:
        assert pipe.call("echo")["error"]["code"] == -32603
        assert pipe.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize("mode", ["nan", "surrogate", "bad-utf8", "torn", "dies"])
def test_answer_that_cannot_be_carried_is_an_error_for_its_owner_and_the_next_call_is_served(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        assert pipe.call("echo", text="x")["error"]["code"] == -32603
        assert pipe.ask("tools/list")["result"]["tools"]


def test_death_is_told_with_status_and_last_words(odd: Open) -> None:
    with odd("dies") as pipe:
        message = pipe.call("echo", text="x")["error"]["message"]
        assert "3" in message
        assert "fatal: giving up in the middle of a call" in message


def test_deep_nesting_is_answered_and_the_session_survives(odd: Open) -> None:
    with odd("deep") as pipe:
        request = pipe.send("tools/call", {"name": "echo", "arguments": {}})
        line = pipe.line()
        assert f'"id":{request}'.encode() in line.replace(b" ", b"")
        assert pipe.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize("mode", ["batch", "id-type", "null-id"])
def test_answer_whose_owner_is_unclear_reaches_the_only_call_in_flight(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        answer = pipe.call("echo", text="x")
        assert ("error" in answer) or answer["result"]["content"] == [{"type": "text", "text": "x"}]
        assert pipe.ask("tools/list")["result"]["tools"]


@pytest.mark.parametrize("mode", ["null-result", "no-content", "untyped-block"])
def test_malformed_result_is_repaired_or_refused_but_never_passed(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        answer = pipe.call("echo", text="x")
        assert "result" in answer or answer["error"]["code"] == -32603


def test_result_without_content_gets_an_empty_one(odd: Open) -> None:
    with odd("no-content") as pipe:
        result = pipe.call("echo", text="x")["result"]
        assert result["structuredContent"] == {"value": 1}
        assert isinstance(result["content"], list)


@pytest.mark.parametrize("mode", ["string-code", "no-code"])
def test_error_without_a_number_is_an_internal_error_with_its_message(odd: Open, mode: str) -> None:
    with odd(mode) as pipe:
        error = pipe.call("echo", text="x")["error"]
        assert error["code"] == -32603
        assert {"string-code": "codes are words here", "no-code": "no code at all"}[mode] in error["message"]


@pytest.mark.parametrize(("mode", "code"), [("private-code", -32050), ("modern-code", -32021), ("not-initialized", -32002)])
def test_code_that_means_something_else_to_a_modern_client_is_wrapped(odd: Open, mode: str, code: int) -> None:
    with odd(mode) as pipe:
        error = pipe.call("echo", text="x")["error"]
        assert error["code"] == -32603
        assert str(code) in str(error["data"])


def test_refused_handshake_is_told_to_whoever_asks(odd: Open) -> None:
    with odd("refuses-initialize") as pipe:
        assert "licence expired" in pipe.call("echo", text="x")["error"]["message"]


def test_list_of_null_is_a_valid_list_or_an_error(odd: Open) -> None:
    with odd("tools-null") as pipe:
        answer = pipe.ask("tools/list")
        assert answer.get("result", {}).get("tools") == [] or answer["error"]["code"] == -32603


def test_bare_schemas_are_completed(odd: Open) -> None:
    with odd("schemas-bare") as pipe:
        result = pipe.ask("tools/list")["result"]
        assert [tool["inputSchema"] for tool in result["tools"]] == [{"type": "object"}] * 3
        assert "nextCursor" not in result


def test_answer_after_a_cancellation_is_dropped(odd: Open) -> None:
    with odd("answers-cancelled") as pipe:
        cancelled = pipe.send("tools/call", {"name": "echo", "arguments": {"text": "cancel me"}})
        pipe.ask("tools/list")
        pipe.write(f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{cancelled}}}}}')
        last = pipe.send("tools/call", {"name": "echo", "arguments": {"text": "after"}})
        assert pipe.read()["id"] == last


def test_server_that_ignores_everything_is_killed_when_the_client_leaves(odd: Open, tmp_path: Path) -> None:
    pipe = odd("stubborn")
    pipe.ask("tools/list")
    (server,) = pids(tmp_path)
    assert pipe.leave() == 0
    assert gone_within(server, 5)


def test_grandchild_is_killed_too(odd: Open, tmp_path: Path) -> None:
    pipe = odd("grandchild")
    pipe.ask("tools/list")
    server, grandchild = pids(tmp_path)
    assert pipe.leave() == 0
    assert gone_within(server, 5)
    assert gone_within(grandchild, 5)


def test_terminated_bridge_takes_its_server_along(odd: Open, tmp_path: Path) -> None:
    pipe = odd("stubborn")
    pipe.ask("tools/list")
    (server,) = pids(tmp_path)
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(20) == 143
    assert gone_within(server, 5)

"""What a modern client on raw lines sees of the bridge: ids, malformed input, envelopes, streams, the end of stdin."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import legacy, peer
from pipe import ENVELOPE, Pipe

from oracle import JsonObject, Oracle

Open = Callable[..., Pipe]
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


@pytest.fixture
def wrapped(tmp_path: Path, oracle: Oracle) -> Iterator[Open]:
    """``wrapped(server_command, *wrap_options)``: a pipe to the bridge in front of that server; closed at the end of the test."""
    opened: list[Pipe] = []

    def open_pipe(server: list[str] | None = None, *options: str) -> Pipe:
        opened.append(Pipe(tmp_path, oracle, server or legacy("2025-11-25"), options))
        return opened[-1]

    yield open_pipe
    for pipe in opened:
        with pipe:
            pass


def request(request_id: str, method: str = "tools/call", params: str = '"name":"echo","arguments":{"text":"x"}') -> str:
    """A request line whose id is written as given."""
    meta = json.dumps(ENVELOPE)
    return f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}","params":{{{params},"_meta":{meta}}}}}'


def test_discover_names_only_the_modern_revision(wrapped: Open) -> None:
    with wrapped() as pipe:
        result = pipe.ask("server/discover")["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert result["instructions"] == "A server of 2025-11-25."
        assert result["capabilities"] == {
            "logging": {},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {"listChanged": True},
            "completions": {},
        }
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "legacy-2025-11-25", "version": "1.2.3"}


@pytest.mark.parametrize("request_id", ["1", '"1"', '""', "0", "-7", "9007199254740993", '"ünïcode \\u2028"'])
def test_id_comes_back_as_it_was(wrapped: Open, request_id: str) -> None:
    with wrapped() as pipe:
        pipe.write(request(request_id))
        answer = pipe.read()
        assert answer["id"] == json.loads(request_id)
        assert type(answer["id"]) is type(json.loads(request_id))


def test_number_and_string_of_the_same_digits_are_two_requests(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.write(request("1", params='"name":"barrier","arguments":{"count":2,"label":"number"}'))
        pipe.write(request('"1"', params='"name":"barrier","arguments":{"count":2,"label":"string"}'))
        answers = {type(frame["id"]): frame["result"]["content"][0]["text"] for frame in (pipe.read(), pipe.read())}
        assert answers == {int: "number", str: "string"}


def test_id_that_is_in_flight_already_is_refused_and_the_first_call_goes_on(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.write(request("5", params='"name":"slow","arguments":{}'))
        pipe.write(request("5"))
        assert pipe.read()["error"]["code"] == -32600
        pipe.write(request("6", params='"name":"release","arguments":{}'))
        answers = {frame["id"]: frame["result"]["content"][0]["text"] for frame in (pipe.read(), pipe.read())}
        assert answers == {5: "released", 6: "done"}


@pytest.mark.parametrize("request_id", ["null", "1.5", "true", "[]", "{}"])
def test_request_whose_id_is_no_id_is_invalid(wrapped: Open, request_id: str) -> None:
    with wrapped() as pipe:
        pipe.write(request(request_id))
        answer = pipe.read()
        assert answer["error"]["code"] == -32600
        assert "id" not in answer
        assert pipe.call("echo", text="alive")["result"]["content"][0]["text"] == "alive"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("this is no JSON", -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}', -32700),
        ('{"jsonrpc":"2.0","id":1,', -32700),
        ("[" * 50_000 + "]" * 50_000, -32700),
        ("42", -32600),
        ("[]", -32600),
        ('[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600),
        ('{"id":1,"method":"tools/list"}', -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    ],
    ids=lambda value: str(value)[:40],
)
def test_malformed_line_is_answered_once_and_the_session_lives(wrapped: Open, line: str, code: int) -> None:
    with wrapped() as pipe:
        pipe.call("echo", text="before")
        pipe.write(line)
        answer = json.loads(pipe.line())
        assert answer["error"]["code"] == code
        assert answer.get("id", 1) == 1
        assert pipe.call("echo", text="after")["result"]["content"][0]["text"] == "after"


def test_cr_bom_and_blank_lines_are_tolerated(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.write("\ufeff" + request("1"))
        assert pipe.read()["id"] == 1
        for line in ("", "\r", "   ", request("2") + "\r"):
            pipe.write(line)
        assert pipe.read()["id"] == 2


def test_line_separators_inside_strings_are_data(wrapped: Open) -> None:
    with wrapped() as pipe:
        text = "a\u2028b\u2029c\u0085d\x0be"
        assert pipe.call("echo", text=text)["result"]["content"][0]["text"] == text


@pytest.mark.parametrize("missing", ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"])
def test_half_an_envelope_is_invalid_params(wrapped: Open, missing: str) -> None:
    with wrapped() as pipe:
        meta = {name: value for name, value in ENVELOPE.items() if name != missing}
        pipe.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}))
        error = pipe.read()["error"]
        assert error["code"] == -32602
        assert missing in error["message"]


@pytest.mark.parametrize("version", ["2099-01-01", "2025-11-25", "1.0", ""])
def test_unsupported_version_is_refused_with_the_supported_ones(wrapped: Open, version: str) -> None:
    with wrapped() as pipe:
        answer = pipe.ask("tools/list", meta={"io.modelcontextprotocol/protocolVersion": version})
        assert answer["error"]["code"] == -32022
        assert answer["error"]["data"] == {"supported": ["2026-07-28"], "requested": version}


@pytest.mark.parametrize(
    "method",
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel"],
)
def test_method_that_the_modern_revision_removed_is_not_found(wrapped: Open, method: str) -> None:
    with wrapped() as pipe:
        assert pipe.ask(method, {"uri": "demo://text", "level": "info", "taskId": "t"})["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["vendor/thing", "no such method"])
def test_method_the_server_does_not_know_is_not_found(wrapped: Open, method: str) -> None:
    with wrapped() as pipe:
        assert pipe.ask(method)["error"]["code"] == -32601


def test_unknown_log_level_is_invalid_params(wrapped: Open) -> None:
    with wrapped() as pipe:
        answer = pipe.call("echo", meta={"io.modelcontextprotocol/logLevel": "chatty"}, text="x")
        assert answer["error"]["code"] == -32602


def test_everything_may_be_written_before_the_first_answer(wrapped: Open) -> None:
    with wrapped() as pipe:
        wanted = [pipe.send("tools/call", {"name": "echo", "arguments": {"text": str(number)}}) for number in range(200)]
        got = {frame["id"]: frame["result"]["content"][0]["text"] for frame in (pipe.read() for _ in wanted)}
        assert got == {request_id: str(number) for number, request_id in enumerate(wanted)}


def test_end_of_stdin_lets_calls_in_flight_finish(wrapped: Open) -> None:
    with wrapped() as pipe:
        ids = [pipe.send("tools/call", {"name": "echo", "arguments": {"text": str(number)}}) for number in range(20)]
        assert pipe.leave() == 0
        assert sorted(pipe.read()["id"] for _ in ids) == ids


def test_end_of_stdin_ends_listens_with_a_result_and_a_cancellation(wrapped: Open) -> None:
    with wrapped() as pipe:
        listen = pipe.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        assert pipe.read()["method"] == "notifications/subscriptions/acknowledged"
        assert pipe.leave() == 0
        frames = rest(pipe)
        results = [frame for frame in frames if "method" not in frame]
        assert [frame["id"] for frame in results] == [listen]
        assert results[0]["result"]["resultType"] == "complete"
        assert results[0]["result"]["_meta"][SUBSCRIPTION] == listen


def test_sigterm_ends_the_bridge_with_its_status(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.ask("tools/list")
        pipe.process.send_signal(signal.SIGTERM)
        assert pipe.process.wait(20) == 143


def rest(pipe: Pipe) -> list[JsonObject]:
    """All frames until the end of the stream, judged."""
    frames: list[JsonObject] = []
    while line := pipe.maybe_line():
        pipe.face.to_client(line)
        frames.append(json.loads(line))
    return frames


@pytest.mark.parametrize("listen_id", ["7", '"seven"'])
def test_notifications_carry_the_listens_id_with_its_type(wrapped: Open, listen_id: str) -> None:
    with wrapped() as pipe:
        pipe.write(request(listen_id, "subscriptions/listen", '"notifications":{"toolsListChanged":true}'))
        acknowledged = pipe.read()
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True}
        call = pipe.send("tools/call", {"name": "mutate"})
        frames = [pipe.read(), pipe.read()]
        assert {frame.get("id") for frame in frames} == {None, call}
        (changed,) = [frame for frame in frames if "method" in frame]
        assert changed["params"]["_meta"][SUBSCRIPTION] == json.loads(listen_id)


def test_cancelled_listen_gets_nothing_more_and_unsubscribes(wrapped: Open) -> None:
    with wrapped() as pipe:
        listen = pipe.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["demo://watched"]}})
        pipe.read()
        assert pipe.call("subscriptions")["result"]["content"][0]["text"] == '["demo://watched"]'
        pipe.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": listen}}))
        # The unsubscription goes before whatever the client sends next.
        assert pipe.call("subscriptions")["result"]["content"][0]["text"] == "[]"
        call = pipe.send("tools/call", {"name": "touch", "arguments": {"uri": "demo://watched"}})
        assert pipe.read()["id"] == call


def test_sub_resource_reaches_the_listener_of_its_parent(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["demo://two"]}})
        pipe.read()
        pipe.send("tools/call", {"name": "touch", "arguments": {"uri": "demo://two/a"}})
        updated = next(frame for frame in (pipe.read(), pipe.read()) if "method" in frame)
        assert updated["params"]["uri"] == "demo://two/a"


def test_listen_on_a_server_without_list_changes_honours_nothing(wrapped: Open) -> None:
    with wrapped(peer("hundred_lines.py")) as pipe:
        pipe.send("subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["a://b"]}})
        assert pipe.read()["params"]["notifications"] == {}


def ask_form(pipe: Pipe, **more: Any) -> JsonObject:
    meta: JsonObject = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    params = {"name": "ask_form", "arguments": {"fields": "one"}, **more}
    return pipe.ask("tools/call", params, meta)


ANSWER = {"name": {"action": "accept", "content": {"name": "Ada"}}}


def test_state_of_another_process_is_refused_with_the_reason(wrapped: Open) -> None:
    with wrapped() as first:
        state = ask_form(first)["result"]["requestState"]
    with wrapped() as second:
        error = ask_form(second, requestState=state, inputResponses=ANSWER)["error"]
        assert error["code"] == -32602
        assert error["data"]["reason"]


def test_each_of_many_asking_calls_gets_a_round_of_its_own_though_no_client_returns(wrapped: Open) -> None:
    with wrapped() as pipe:
        meta: JsonObject = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        params = {"name": "ask_form", "arguments": {"fields": "one"}}
        asked = [pipe.send("tools/call", params, meta) for _ in range(30)]
        answers = {frame["id"]: frame["result"]["resultType"] for frame in (pipe.read() for _ in asked)}
        assert answers == dict.fromkeys(asked, "input_required")
        assert pipe.call("echo", text="free")["result"]["content"][0]["text"] == "free"


def test_answers_without_a_state_start_a_call_that_uses_them(wrapped: Open) -> None:
    with wrapped() as pipe:
        result = ask_form(pipe, inputResponses=ANSWER)["result"]
        assert json.loads(result["content"][0]["text"]) == ANSWER["name"]


def test_missing_or_misshapen_answer_is_asked_again(wrapped: Open) -> None:
    with wrapped() as pipe:
        first = ask_form(pipe)["result"]
        again = ask_form(pipe, requestState=first["requestState"], inputResponses={})["result"]
        assert again["inputRequests"] == first["inputRequests"]
        wrong = {"name": {"action": "perhaps"}}
        third = ask_form(pipe, requestState=again["requestState"], inputResponses=wrong)["result"]
        assert third["inputRequests"] == first["inputRequests"]
        last = ask_form(pipe, requestState=third["requestState"], inputResponses=ANSWER | {"more": {"x": 1}})["result"]
        assert json.loads(last["content"][0]["text"]) == ANSWER["name"]


def test_lost_answer_is_given_again_to_the_identical_retry(wrapped: Open) -> None:
    with wrapped() as pipe:
        state = ask_form(pipe)["result"]["requestState"]
        first = ask_form(pipe, requestState=state, inputResponses=ANSWER)["result"]
        assert ask_form(pipe, requestState=state, inputResponses=ANSWER)["result"] == first


def test_client_that_discovered_may_still_initialize(wrapped: Open) -> None:
    with wrapped() as pipe:
        pipe.ask("server/discover")
        hello = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}'
        pipe.write(f'{{"jsonrpc":"2.0","id":"a","method":"initialize","params":{hello}}}')
        assert pipe.read()["result"]["protocolVersion"] == "2025-11-25"
        pipe.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        pipe.write('{"jsonrpc":"2.0","id":"b","method":"ping"}')
        assert pipe.read() == {"jsonrpc": "2.0", "id": "b", "result": {}}


def test_server_that_cannot_be_started_is_told_to_whoever_asks(wrapped: Open) -> None:
    with wrapped(["/no/such/command"]) as pipe:
        error = pipe.ask("tools/list")["error"]
        assert error["code"] == -32603
        assert "/no/such/command" in error["message"]

"""What a caller says in confidence is told to nobody else: not to the operator's log, not in an error, not on /healthz."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from tests.cases.conftest import Serve, Share
from tests.cases.served import Caller, Served
from tests.security.attacks import ASKS, BYE, fields, initialize, post

TOKEN, COOKIE, ARGUMENT, ANSWER, QUERY = "token-5c2d", "cookie-91af", "argument-77be", "answer-03dc", "query-44aa"
PATIENCE = 10.0
SECRETS = (TOKEN, COOKIE, ARGUMENT, ANSWER, QUERY)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Look again and again, for a bounded time."""
    limit = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < limit, "it never came to that"
        time.sleep(0.01)


def used_by(caller: Caller) -> list[bytes]:
    """All that a caller can do well, badly and in a way that ends the server; the bodies of what was refused."""
    assert caller.said("echo", text=ARGUMENT) == ARGUMENT
    state = caller.call("ask", meta=ASKS).json()["result"]["requestState"]
    answers = {"env": {"action": "accept", "content": {"env": ANSWER}}}
    retry = {"name": "ask", "arguments": {}, "requestState": state}
    assert caller.request("tools/call", meta=ASKS, inputResponses=answers, **retry).status == 200
    caller.initialize()
    known = caller.session
    assert caller.ask("tools/call", name="echo", arguments={"text": ARGUMENT}).status == 200
    refused = [
        caller.call("echo", fields={"Mcp-Name": "x"}, text=ARGUMENT),
        caller.call("locate", fields={"Mcp-Param-Region": "eu"}, region=ARGUMENT),
        caller.call("echo", meta={"io.modelcontextprotocol/clientCapabilities": None}, text=ARGUMENT),
        caller.call("echo", meta={"io.modelcontextprotocol/protocolVersion": "2099-01-01"}, text=ARGUMENT),
        caller.call("echo", fields={"Host": "evil.example"}, text=ARGUMENT),
        caller.call("echo", fields={"Origin": "http://evil.example"}, text=ARGUMENT),
        caller.call("echo", fields={"Content-Type": "text/plain"}, text=ARGUMENT),
        caller.request("tools/call", meta=ASKS, inputResponses={"env": {"action": ANSWER}}, **retry),
        caller.request("ping", secret=ARGUMENT),
        caller.ask("tools/call", fields={"MCP-Protocol-Version": "2099-01-01"}, name="echo", arguments={"text": ARGUMENT}),
        caller.ask("vendor/method", secret=ARGUMENT),
        caller.post(json.dumps({"jsonrpc": "1.0", "id": 1, "method": ARGUMENT}).encode()),
        caller.post(b'{"' + ARGUMENT.encode()),
        caller.post([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": ARGUMENT}}]),
        caller.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"Mcp-Session-Id": "unknown"}, target=f"/mcp?{QUERY}"),
        caller.send("PUT", f"/mcp?{QUERY}"),
        caller.send("GET", f"/nothing?{QUERY}"),
        caller.get({"Mcp-Session-Id": f"{known}x"}),
    ]
    assert [reply.body for reply in refused if reply.status < 300 and b'"error"' not in reply.body] == []
    bodies = [reply.body for reply in refused]
    assert caller.delete().status == 204
    caller.session = None
    caller.call("hold", fields={"X-Secret": ARGUMENT})
    return bodies


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_nothing_that_a_caller_says_is_told_to_the_operator(serve: Serve, level: str) -> None:
    served = serve("plain", "--log-level", level, "--stats", "--header-wait", "0.05", "--drain-timeout", "0.1")
    caller = served.caller(f"Bearer {TOKEN}", Cookie=f"sid={COOKIE}")
    sessions = []
    used_by(caller)
    for _ in range(2):
        caller.initialize()
        sessions.append(caller.session or "")
    caller.session = None
    caller.call("hold")  # the second of them kills the server
    assert served.stop() == 143
    told = served.stderr()
    assert "listening on" in told
    assert "two are too many" in told
    assert level != "debug" or "a legacy session ends" in told
    assert [secret for secret in (*SECRETS, *sessions) if secret in told] == []


@pytest.mark.parametrize("method", ["x\x1b[31mforged", "x\u009b31m", "x\bforged", "x\x7f", "x" * 1_000_000])
def test_text_of_a_caller_that_is_logged_has_no_control_characters_and_is_cut_short(share: Share, method: str) -> None:
    """It is read in a terminal, where such characters rewrite what stands before."""
    served = share("silent", "--log-level", "debug")
    caller = served.caller()
    caller.initialize()
    before = len(served.stderr())
    with served.connect() as connection:  # its client goes before there is an answer, which is told to the operator
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode()
        connection.sendall(post(body, {"Host": "localhost", "Content-Type": "application/json", "Mcp-Session-Id": caller.session}))
        wait_until(lambda: method in {frame.get("method") for frame in served.frames()})
    wait_until(lambda: served.health()["exchanges"] == 1)
    assert caller.delete().status == 204
    wait_until(lambda: "the answer to x" in served.stderr()[before:])
    told = served.stderr()[before:]
    assert [line for line in told.splitlines() if not line.isprintable() or len(line) > 20_000] == []


def test_line_of_a_caller_that_is_logged_stays_one_line(serve: Serve) -> None:
    served = serve("silent", "--header-wait", "0.05", "--log-level", "debug")
    caller = served.caller()
    caller.initialize()
    for end in ("\n", "\r", "\r\n", "\u2028", "\x85", "\x0b"):
        caller.post({"jsonrpc": "2.0", "method": f"x{end}dragoman: error: forged"})
    assert served.stop() == 143
    assert [line for line in served.stderr().splitlines() if line.startswith("dragoman: error: forged")] == []


def test_no_refusal_repeats_what_was_said_in_confidence(serve: Serve) -> None:
    served = serve("plain", "--header-wait", "0.05")
    caller = served.caller(f"Bearer {TOKEN}", Cookie=f"sid={COOKIE}")
    bodies = used_by(caller)
    # A method that is not known is named in its refusal, and a part of a broken text may be: neither is an argument.
    repeated = [(secret, body) for body in bodies for secret in (TOKEN, COOKIE, ANSWER, QUERY) if secret.encode() in body]
    assert repeated == []
    assert [body for body in bodies if ARGUMENT.encode() in body] == []


def test_trace_does_not_give_a_request_back(served: Served) -> None:
    data = b"TRACE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token-5c2d\r\nCookie: cookie-91af\r\n\r\n"
    reply = served.raw(data + BYE)[0]
    assert reply.status == 405
    assert TOKEN.encode() not in reply.finish()


def test_health_tells_counts_and_nothing_about_anybody(served: Served) -> None:
    caller = served.caller(f"Bearer {TOKEN}")
    caller.initialize()
    caller.call("echo", text=ARGUMENT)
    health = served.health()
    assert set(health) == {"status", "version", "sessions", "processes", "exchanges"}
    assert all(isinstance(health[name], int) for name in ("sessions", "processes", "exchanges"))


@pytest.mark.parametrize("own", [{"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_health_is_told_to_no_page_of_elsewhere(served: Served, own: dict[str, str]) -> None:
    assert served.caller().send("GET", "/healthz", own).status == 403


def test_answers_say_nothing_about_what_serves_them(served: Served) -> None:
    replies = [served.caller().request("server/discover"), served.caller().post(initialize(), {"Host": "x"}), *served.raw(b"X" + BYE)]
    for reply in replies:
        assert {name for name, _ in reply.fields} & {"server", "x-powered-by", "via"} == set()


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE", "PUT"])
def test_no_answer_may_be_stored_on_the_way(served: Served, verb: str) -> None:
    caller = served.caller()
    own = {name: value for name, value in fields("server/discover").items() if name != "Host"}
    for target in ("/mcp", "/nothing"):
        assert caller.send(verb, target, own, b"{}" if verb == "POST" else b"").field("cache-control") == "no-store"

"""``dragoman serve URL``: before the server's era is known, and whose credentials go where."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cases.remote import Answering, Far, Reply, Seen, legacy, modern
from tests.serve.conftest import Served
from tests.serve.wire import Answer, call, post
from tests.serve.wire import modern as ask

from dragoman.auth.record import Record, canonical
from dragoman.auth.store import Store
from dragoman.serve import Bridge

CHALLENGE = 'Bearer resource_metadata="https://h.example/.well-known/oauth-protected-resource"'
Start = Callable[..., Served]


@pytest.fixture
def far() -> Iterator[Callable[[Answering], Far]]:
    """``far(answering)``: a server at a URL."""
    running: list[Far] = []

    def start(answering: Answering) -> Far:
        running.append(Far(answering))
        return running[-1]

    yield start
    for each in running:
        each.close()


def wanting(token: str, otherwise: Answering = modern) -> Answering:
    """A server that takes one token and challenges everybody else."""

    def answering(seen: Seen) -> Reply:
        if seen.fields.get("authorization") != token:
            return Reply(401, "", {"WWW-Authenticate": CHALLENGE})
        return otherwise(seen)

    return answering


def content(answer: Answer) -> str:
    """The text of a result, whatever form the answer has."""
    line = next((line[6:] for line in answer.body.splitlines() if line.startswith(b"data: ")), answer.body)
    return json.loads(line)["result"]["content"][0]["text"]


def test_the_era_is_asked_for_once_for_all_clients(far: Callable[[Answering], Far], serve: Start) -> None:
    server = far(modern)
    bridge = serve(command=[server.url])
    for number in range(3):
        assert content(bridge.ask(call("echo", number=number))) == "done"
    assert len(server.asked("server/discover")) == 1


def test_request_before_any_verdict_is_answered_with_the_reason_and_the_next_one_asks_again(serve: Start) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    bridge = serve(command=[f"http://127.0.0.1:{port}/mcp"])
    answer = bridge.ask(call("echo", number=7))
    error = json.loads(answer.body)
    assert (answer.status, error["id"], error["error"]["code"]) == (502, 7, -32603)
    assert error["error"]["message"] == f"The server 127.0.0.1:{port} cannot be used now: connection refused"
    assert answer.fields["retry-after"] == "1"
    assert json.loads(bridge.ask(call("echo", number=8)).body)["id"] == 8


def test_health_is_told_though_the_server_is_down(serve: Start) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    bridge = serve(command=[f"http://127.0.0.1:{port}/mcp"])
    assert bridge.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200


@pytest.mark.parametrize("otherwise", [modern, legacy])
def test_a_clients_own_credentials_go_no_further(far: Callable[[Answering], Far], serve: Start, otherwise: Answering) -> None:
    server = far(otherwise)
    bridge = serve(command=[server.url])
    assert bridge.ask(call("echo", "Authorization: Bearer mine")).status == 200
    assert all("authorization" not in seen.fields for seen in server.seen)


@pytest.mark.parametrize("otherwise", [modern, legacy])
def test_forwarded_credentials_reach_the_server_and_its_challenge_comes_back(
    far: Callable[[Answering], Far], serve: Start, otherwise: Answering
) -> None:
    server = far(wanting("Bearer mine", otherwise))
    bridge = serve("--forward-authorization", command=[server.url])
    refused = bridge.ask(call("echo"))
    assert (refused.status, refused.fields["www-authenticate"]) == (401, CHALLENGE)
    assert content(bridge.ask(call("echo", "Authorization: Bearer mine"))) == "done"
    late = bridge.ask(call("echo", "Authorization: Bearer another"))
    assert (late.status, late.fields["www-authenticate"]) == (401, CHALLENGE)


def test_challenge_of_a_session_comes_back_to_a_legacy_client(far: Callable[[Answering], Far], serve: Start) -> None:
    server = far(wanting("Bearer mine"))
    bridge = serve("--forward-authorization", command=[server.url])
    assert bridge.ask(call("echo", "Authorization: Bearer mine")).status == 200
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()
    answer = bridge.ask(post(hello, "Authorization: Bearer another"))
    assert (answer.status, answer.fields["www-authenticate"]) == (401, CHALLENGE)


def test_each_principal_acts_with_its_own_token(far: Callable[[Answering], Far], serve: Start, tmp_path: Path) -> None:
    server = far(modern)
    for name in ("ada", "bob"):
        principal = hashlib.sha256(name.encode()).hexdigest()
        record = Record(
            server=canonical(server.url), principal=principal, access_token=f"token-of-{name}", client_id="c", issuer="https://as.example"
        )
        asyncio.run(asyncio.to_thread(Store(record.server, principal, str(tmp_path)).save, record))
    bridge = serve("--principal-header", "X-User", "--token-dir", str(tmp_path), command=[server.url])
    for name in ("ada", "bob", "eve"):
        assert bridge.ask(call("echo", f"X-User: {name}")).status == 200
    used = [seen.fields.get("authorization") for seen in server.asked("tools/call")]
    assert used == ["Bearer token-of-ada", "Bearer token-of-bob", None]


def test_credentials_are_not_passed_on_where_callers_are_one() -> None:
    with pytest.raises(ValueError, match="isolation cannot be 'shared'"):
        Bridge(url="http://127.0.0.1:1/mcp", isolation="shared", forward_authorization=True)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://h.example/", "is no URL of a server"),
        ("http://", "is no URL of a server"),
        ("http://u:p@h.example/mcp", "credentials in a URL end up in logs"),
        ("http://h.example:port/mcp", "the port of http://h.example:port/mcp is none"),
    ],
)
def test_url_that_cannot_be_used_is_refused(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Bridge(url=url)


def test_a_command_and_a_url_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="a command or a URL, not both"):
        Bridge(["server"], url="http://127.0.0.1:1/mcp")


def test_application_serves_a_url_within_another_host(far: Callable[[Answering], Far], host: type) -> None:
    server = far(modern)
    with host(Bridge(url=server.url), lifespan="on") as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(ask("tools/list", number=3, version="1.0"))
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b'"name":"echo"' in answer.replace(b" ", b"")


def test_a_url_in_place_of_a_command_is_told_where_it_belongs() -> None:
    with pytest.raises(ValueError, match="command is a URL: give it as url"):
        Bridge(["http://127.0.0.1:1/mcp"])


def test_an_era_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="server_era is one of auto, legacy, modern, not 'legcy'"):
        Bridge(url="http://127.0.0.1:1/mcp", server_era="legcy")


def test_server_that_becomes_another_is_found_out_and_served_again(far: Callable[[Answering], Far], serve: Start) -> None:
    server = far(modern)
    bridge = serve(command=[server.url])
    assert content(bridge.ask(call("echo"))) == "done"
    server.answering = legacy
    assert json.loads(bridge.ask(ask("tools/list")).body)["error"]["code"] == -32600
    assert content(bridge.ask(call("echo"))) == "done"
    assert server.methods()[-1] == "tools/call"
    assert "mcp-method" not in server.seen[-1].fields

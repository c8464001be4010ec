"""``dragoman serve URL`` between a faulty server and HTTP clients: who is slow, gone, or refused."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from far import Legacy, Request, Wire, content, modern
from near import META, Served, most_memory

SECRET = "s3cr3t-t0k3n"


def call(name: str, **arguments):
    return {"name": name, "arguments": arguments}


def connect(bridge: Served, name: str) -> socket.socket:
    """A client that has asked for a call and reads nothing yet."""
    host, port = bridge.url.split("/")[2].split(":")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call(name), "_meta": META}}).encode()
    fields = [
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
    ]
    fields += ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", f"Mcp-Name: {name}"]
    client = socket.create_connection((host, int(port)), 25)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    client.sendall("\r\n".join(["POST /mcp HTTP/1.1", *fields, "\r\n"]).encode() + body)
    return client


def test_client_that_does_not_read_is_given_up_before_its_answer_fills_our_memory(far, serve):
    filler = "x" * (1 << 20)

    async def flood(request: Request, wire: Wire) -> None:
        await wire.stream()
        try:
            while True:
                await wire.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": filler}})
        finally:
            closed.set()

    closed = asyncio.Event()
    server = far(modern(flood=flood))
    bridge = serve(server.url())
    with connect(bridge, "flood"):
        assert server._run(asyncio.wait_for(closed.wait(), 19)) is True
        assert bridge.post("tools/call", call("echo", text="next"))[2]["result"]["content"][0]["text"] == "next"
    assert "a client was dropped: it takes its answer too slowly" in bridge.stderr()
    assert most_memory(bridge.process.pid) < 200 << 20


def test_client_that_goes_away_takes_its_call_along(far, serve):
    closed = asyncio.Event()

    async def slow(request: Request, wire: Wire) -> None:
        await wire.hang()
        closed.set()

    server = far(modern(slow=slow))
    bridge = serve(server.url())
    client = connect(bridge, "slow")
    server.wait("tools/call")
    client.close()
    assert server._run(asyncio.wait_for(closed.wait(), 15)) is True


def test_server_that_forgets_its_sessions_is_greeted_again(far, serve):
    behaves = Legacy()
    bridge = serve(far(behaves).url())
    for number in range(3):
        assert bridge.post("tools/call", call("echo", text=str(number)))[2]["result"]["content"][0]["text"] == str(number)
        behaves.forget()
    assert behaves.begun >= 3


@pytest.mark.parametrize("status", [401, 403])
def test_configured_credentials_and_their_refusal_stay_between_bridge_and_server(far, serve, status):
    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(status, 'WWW-Authenticate: Bearer scope="x"')

    server = far(answer)
    bridge = serve(server.url(), "--bearer-env", "TOKEN", "--log-level", "debug", TOKEN=SECRET)
    got, fields, message = bridge.post("tools/call", call("echo"))
    assert got == 502
    assert "www-authenticate" not in fields
    assert message["error"]["data"]["wwwAuthenticate"] == 'Bearer scope="x"'
    assert SECRET not in str(message) + bridge.stderr()
    assert all(request.fields["authorization"] == f"Bearer {SECRET}" for request in server.seen)


def test_token_of_a_client_is_not_passed_on_unless_asked_for(far, serve):
    server = far(modern())
    bridge = serve(server.url())
    assert bridge.post("tools/call", call("echo", text="hi"), authorization="Bearer theirs")[0] == 200
    assert all("authorization" not in request.fields for request in server.seen)


def test_forwarded_token_reaches_the_server_alone_and_no_log(far, serve):
    other = far(modern())
    behaves = modern()

    async def answer(request: Request, wire: Wire) -> None:
        if request.tool == "moved":
            await wire.nothing(307, f"Location: {other.url()}")
        elif request.fields.get("authorization") != f"Bearer {SECRET}":
            await wire.nothing(401, "WWW-Authenticate: Bearer")
        else:
            await behaves(request, wire)

    server = far(answer)
    bridge = serve(server.url(), "--forward-authorization", "--log-level", "debug")
    status, fields, _ = bridge.post("tools/call", call("echo", text="hi"), authorization="Bearer wrong")
    assert (status, fields["www-authenticate"]) == (401, "Bearer")
    status, _, message = bridge.post("tools/call", call("echo", text="hi"), authorization=f"Bearer {SECRET}")
    assert (status, message["result"]["content"][0]["text"]) == (200, "hi")
    bridge.post("tools/call", call("moved"), authorization=f"Bearer {SECRET}")
    assert other.seen != []
    assert all("authorization" not in request.fields for request in other.seen)
    assert SECRET not in bridge.stderr()


def test_tokens_of_two_clients_are_not_mixed_up(far, serve):
    async def whoami(request: Request, wire: Wire) -> None:
        await wire.json(content(request, request.fields.get("authorization", "nobody")))

    bridge = serve(far(modern(whoami=whoami)).url(), "--forward-authorization")
    for name in ("a", "b", "a"):
        said = bridge.post("tools/call", call("whoami"), authorization=f"Bearer {name}")[2]
        assert said["result"]["content"][0]["text"] == f"Bearer {name}"

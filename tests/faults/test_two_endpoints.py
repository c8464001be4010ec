"""HTTP+SSE of 2024-11-05 over real sockets: found out, restarted, and not led astray."""

from __future__ import annotations

import json

import pytest
from far import SERVER, Request, Wire, modern

SECRET = "s3cr3t-t0k3n"


class Old:
    """A server of 2024-11-05: GET /sse is the stream, POST /messages?session=N says something, answers come on the stream."""

    def __init__(self, endpoint: str = "/messages?session={number}") -> None:
        self.endpoint = endpoint
        self.streams: dict[str, Wire] = {}
        self.hold: set[str] = set()

    async def __call__(self, request: Request, wire: Wire) -> None:
        path, _, query = request.target.partition("?")
        if request.method == "GET" and path == "/sse":
            number = str(len(self.streams) + 1)
            self.streams[number] = wire
            await wire.stream()
            await wire.chunk(f"event: endpoint\ndata: {self.endpoint.format(number=number)}\n\n".encode())
            await wire.hang()
        elif request.method == "POST" and path == "/messages":
            await wire.body(b"Accepted", 202, "text/plain")
            await self.said(request, self.streams[query.rpartition("=")[2]])
        else:
            await wire.body(b"Not Found", 404, "text/plain")

    async def said(self, request: Request, stream: Wire) -> None:
        frame = request.frame
        if "id" not in frame or "method" not in frame:
            return
        if frame["method"] == "initialize":
            found = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": SERVER}
        elif frame["method"] == "tools/list":
            found = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        else:
            text = frame["params"]["arguments"]["text"]
            if text in self.hold:
                return
            found = {"content": [{"type": "text", "text": text}]}
        await stream.chunk(
            b"event: message\ndata: " + json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": found}).encode() + b"\n\n"
        )


@pytest.mark.parametrize("client", ["legacy", "modern"])
def test_old_server_is_found_out_and_used(far, wrap, client):
    server = far(Old())
    bridge = wrap(server.url("/sse"), "--bearer-env", "TOKEN", TOKEN=SECRET)
    if client == "legacy":
        bridge.initialize()
        assert bridge.said(bridge.legacy_call("echo", text="hi")) == "hi"
    else:
        assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert all(request.fields["authorization"] == f"Bearer {SECRET}" for request in server.seen)
    assert SECRET not in bridge.stderr()


def test_old_server_over_http(far, serve):
    bridge = serve(far(Old()).url("/sse"))
    for text in ("1", "2"):
        assert bridge.post("tools/call", {"name": "echo", "arguments": {"text": text}})[2]["result"]["content"][0]["text"] == text


def test_old_server_that_restarts_is_greeted_again_and_calls_in_flight_fail(far, wrap):
    behaves = Old()
    behaves.hold.add("held")
    server = far(behaves)
    bridge = wrap(server.url("/sse"))
    bridge.initialize()
    held = bridge.legacy_call("echo", text="held")
    server.wait("tools/call")
    server.shut()
    server.open()
    assert "whether it was carried out is not known" in bridge.error(held)["message"]
    assert bridge.said(bridge.legacy_call("echo", text="next")) == "next"
    assert bridge.note("notifications/tools/list_changed")
    assert len(server.of("initialize")) == 3  # the first was the question whether it takes a POST


def test_endpoint_on_another_host_gets_nothing_at_all(far, wrap):
    other = far(modern())
    bridge = wrap(far(Old(other.url("/steal"))).url("/sse"), "--bearer-env", "TOKEN", TOKEN=SECRET)
    bridge.legacy("initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}})
    assert "of another origin" in bridge.error(1)["message"]
    assert other.seen == []

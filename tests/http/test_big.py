"""Much of everything, in one request or one session: it takes its share and no more."""

from __future__ import annotations

import json

import pytest
from tests.conversation import MODERN, SERVER, envelope
from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Json

from dragoman.bridging.effects import ToServer
from dragoman.bridging.options import Options
from dragoman.http.effects import Chunk
from dragoman.http.face import HttpFace
from dragoman.http.options import HttpOptions
from dragoman.http.request import HttpRequest

URIS = 20_000
MEGABYTE = 1 << 20


@pytest.mark.timeout(30)
def test_a_stream_of_twenty_thousand_resources_is_acknowledged_with_all_of_them() -> None:
    """Each step of it is quick; were any of them to look at all the others, this would take minutes."""
    face = HttpFace(Options(), HttpOptions(), "i1", bytes, float, b"k" * 32)
    uris = [f"file:///{number}" for number in range(URIS)]
    listen = {"notifications": {"resourceSubscriptions": uris}, "_meta": envelope()}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": listen}).encode()
    fields = {"host": "localhost", "content-type": "application/json", "mcp-protocol-version": MODERN, "mcp-method": "subscriptions/listen"}
    lines = [(name.encode(), value.encode()) for name, value in fields.items()]
    face.request(1, HttpRequest("POST", "/mcp", b"", lines, local=True), body, 1.0)
    result = {"protocolVersion": "2025-11-25", "capabilities": {"resources": {"subscribe": True}}, "serverInfo": SERVER}
    met = face.from_server(1, json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode(), 1.0)
    asked = [json.loads(effect.data)["id"] for effect in met if isinstance(effect, ToServer) and b"resources/subscribe" in effect.data]
    told = [effect for number in asked for effect in face.from_server(1, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % number, 1.0)]
    (event,) = [effect.data for effect in told if isinstance(effect, Chunk)]
    assert json.loads(event.removeprefix(b"data: "))["params"]["notifications"] == {"resourceSubscriptions": uris}


def batch_of(count: int) -> list[Json]:
    return [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(1, count + 1)]


def test_a_batch_of_a_thousand_is_answered(serve: Serve) -> None:
    web = serve(revision="2025-03-26", auto={"ping": {}})
    answer = web.legacy("2025-03-26").post(batch_of(1000))
    assert (answer.status, len(answer.last)) == (200, 1000)


def test_a_longer_batch_is_refused_whole(serve: Serve) -> None:
    web = serve(revision="2025-03-26", auto={"ping": {}})
    client = web.legacy("2025-03-26")
    assert client.post(batch_of(1001)).status == 400
    assert web.requests("ping") == []


@pytest.mark.timeout(30)
def test_messages_that_wait_for_a_stream_are_bounded_by_their_size(serve: Serve) -> None:
    web = serve(judged=False)
    client: LegacyClient = web.legacy()
    for number in range(8):
        web.tell("notifications/message", {"level": "info", "data": f"{number}" + "x" * (5 * MEGABYTE)})
    assert web.losses
    stream = client.get()
    kept = [frame["params"]["data"][0] for frame in stream.frames]
    assert kept == ["4", "5", "6", "7"]


def test_broken_lines_are_told_twenty_times_and_counted_from_then_on(serve: Serve) -> None:
    web = serve()
    call = web.call("deploy")
    for number in range(50):
        web.say_line(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"x":NaN,"n":%d}}' % number)
    assert len([text for text in web.warnings if "no valid message" in text]) == 20
    assert len([text for text in web.losses if "no valid message" in text]) == 30
    assert not call.done

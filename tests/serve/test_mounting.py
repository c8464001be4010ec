"""The application in hosts of other people's: plain uvicorn, and below a prefix of a Starlette application."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from tests.serve.conftest import LEGACY, children_of
from tests.serve.wire import Connection, call, head, modern

from dragoman.io.keyfile import KeyFileError
from dragoman.serve import Bridge

# Answers a call with the folder that it runs in.
WHERE = """
import json, os, sys
for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "where", "version": "1"}}
    elif frame["method"] == "tools/list":
        result = {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    else:
        result = {"content": [{"type": "text", "text": f"{os.getcwd()} {os.environ.get('ADDED')}"}]}
    if "id" in frame:
        print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
"""


def ask(port: int, data: bytes):
    with Connection(port) as connection:
        return connection.ask(data)


def children() -> set[int]:
    """Of this process, zombies too."""
    return set(children_of(os.getpid()))


def test_application_lives_as_long_as_its_host(host):
    before = children()
    with host(Bridge(LEGACY), lifespan="on") as port:
        assert ask(port, call("echo", text="hosted")).text == "hosted"
        assert len(children() - before) == 2  # the server and its guard
    assert children() == before


def test_application_starts_again_in_another_loop(host):
    bridge = Bridge(LEGACY)
    for number in ("1", "2"):
        with host(bridge, lifespan="on") as port:
            assert ask(port, call("echo", text=number)).text == number


def test_application_is_mounted_below_a_prefix(host):
    bridge = Bridge(LEGACY, path="/mcp")
    routes = [Route("/", lambda request: PlainTextResponse("the host's own")), Mount("/tools", app=bridge)]
    before = children()
    with host(Starlette(routes=routes, lifespan=bridge.lifespan)) as port:
        assert ask(port, head("GET", "/")).body == b"the host's own"
        assert ask(port, call("echo", path="/tools/mcp", text="mounted")).text == "mounted"
        assert ask(port, call("echo", path="/mcp", text="elsewhere")).status == 404
        assert ask(port, head("GET", "/tools/healthz")).frame["status"] == "ok"
    assert children() == before


def test_mounted_application_needs_no_lifespan(host):
    bridge = Bridge(LEGACY)

    async def stop(request: object) -> PlainTextResponse:
        return PlainTextResponse(str(await bridge.close()))

    before = children()
    with host(Starlette(routes=[Route("/stop", stop), Mount("/", app=bridge)])) as port:
        assert ask(port, call("echo", text="started by this")).text == "started by this"
        assert ask(port, head("GET", "/stop")).body == b"0"
        assert children() == before


def test_host_that_handles_signals_itself_can_begin_the_end(host):
    bridge = Bridge(LEGACY)

    async def stop(request: object) -> PlainTextResponse:
        bridge.begin_shutdown()
        await bridge.finished()
        return PlainTextResponse("stopped")

    with (
        host(Starlette(routes=[Route("/stop", stop), Mount("/", app=bridge)], lifespan=bridge.lifespan)) as port,
        Connection(port) as stream,
    ):
        stream.send(modern("subscriptions/listen", number=3, notifications={"toolsListChanged": True}))
        stream.head()
        stream.event()
        assert ask(port, head("GET", "/stop")).body == b"stopped"
        assert stream.event()["id"] == 3
        assert stream.chunk() == b""
        assert ask(port, call("echo", text="too late")).status == 503


def test_nothing_is_left_open_after_many_lives(host):
    def live() -> None:
        with host(Bridge(LEGACY), lifespan="on") as port:
            assert ask(port, call("echo", text="alive")).text == "alive"

    live()
    before, descriptors = children(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        live()
    assert children() == before
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors


def test_signals_and_folder_of_the_host_are_left_alone(host, tmp_path):
    folder, handler = Path.cwd(), signal.getsignal(signal.SIGCHLD)
    bridge = Bridge([sys.executable, "-S", "-c", WHERE], env={"ADDED": "yes"}, cwd=str(tmp_path))
    with host(bridge, lifespan="on") as port:
        assert ask(port, call("where")).text == f"{tmp_path} yes"
        assert signal.getsignal(signal.SIGCHLD) is handler
        assert Path.cwd() == folder


def test_program_of_the_folder_is_started(host, tmp_path):
    (tmp_path / "where.py").write_text(WHERE)
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -S where.py\n")
    program.chmod(0o755)
    with host(Bridge(["./server"], cwd=str(tmp_path)), lifespan="on") as port:
        assert ask(port, call("where")).text == f"{tmp_path} None"


def test_command_that_is_not_there_is_an_answer(host, tmp_path):
    for cwd in (None, str(tmp_path)):
        with host(Bridge(["no-such-program"], cwd=cwd), lifespan="on") as port:
            assert "command not found: no-such-program" in ask(port, call("echo")).frame["error"]["message"]


def test_web_socket_is_closed(host):
    async def receive() -> dict[str, object]:
        return {"type": "websocket.connect"}

    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    asyncio.run(Bridge(LEGACY)({"type": "websocket"}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1000}]


@pytest.mark.parametrize(
    ("settings", "fault", "text"),
    [
        ({"isolation": "none"}, ValueError, "isolation is one of principal, session, shared, not 'none'"),
        ({"path": "mcp"}, ValueError, "path must start with a slash, not be 'mcp'"),
        ({"log_level": "loud"}, ValueError, "log_level is one of debug, info, warning, error, not 'loud'"),
        ({"max_size": 1, "colour": 2}, TypeError, "there is no setting colour, max_size"),
        ({"state_key_file": "/no/such/key"}, KeyFileError, "there is no state key file /no/such/key"),
    ],
)
def test_setting_that_cannot_be_used_is_told_at_once(settings, fault, text):
    with pytest.raises(fault) as caught:
        Bridge(LEGACY, **settings)
    assert str(caught.value).startswith(text)


def test_every_setting_of_the_core_and_the_face_can_be_given():
    from dragoman.bridging.options import Options
    from dragoman.http.options import HttpOptions
    from dragoman.serve.settings import Settings

    decided_by_the_face = {"isolate_capabilities", "process_per_call"}
    assert set(Settings.__annotations__) == (set(Options.__slots__) | set(HttpOptions.__slots__)) - decided_by_the_face

"""Ten thousand clients that only wait: they cost a connection each, and nothing else."""

from __future__ import annotations

import resource
import selectors
import socket
from collections.abc import Iterator

import pytest
from tests.serve.conftest import Served
from tests.serve.wire import call, modern

CONNECTIONS, STREAMS = 9_000, 1_000
DESCRIPTORS = 16_000


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """For this process and for the bridge, which inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < DESCRIPTORS:
        pytest.skip(f"this machine allows no more than {hard} descriptors a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def ask_all(port: int, count: int, request: bytes, until: bytes) -> list[socket.socket]:
    """So many connections, each with one request, all open until each has answered; they stay open."""
    found: list[socket.socket] = []
    with selectors.DefaultSelector() as waiting:
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(request)
            waiting.register(connection, selectors.EVENT_READ, bytearray())
            found.append(connection)
            if len(found) % 100 == 0:
                read_all(waiting, until, most=200)
        read_all(waiting, until, most=0)
    return found


def read_all(waiting: selectors.BaseSelector, until: bytes, *, most: int) -> None:
    """Read until no more than ``most`` connections still wait for ``until``."""
    while len(waiting.get_map()) > most:
        ready = waiting.select(30)
        assert ready, f"{len(waiting.get_map())} of the clients were not answered"
        for key, _ in ready:
            data = key.fileobj.recv(65536)
            assert data, key.data
            key.data.extend(data)
            if until in key.data:
                assert key.data.startswith(b"HTTP/1.1 200"), key.data
                waiting.unregister(key.fileobj)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("many_descriptors")
def test_ten_thousand_idle_modern_clients_share_one_server_process(serve) -> None:
    served: Served = serve()
    idle = ask_all(served.port, CONNECTIONS, call("echo", text="hello"), b"hello")
    streams = ask_all(served.port, STREAMS, modern("subscriptions/listen", notifications={"toolsListChanged": True}), b"acknowledged")
    health = served.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").frame
    assert (health["processes"], health["sessions"], health["exchanges"]) == (1, 0, STREAMS + 1)
    assert len(served.children()) == 2  # the server and the process that guards it
    assert served.ask(call("echo", text="one more")).text == "one more"
    assert served.memory() < 400 << 20
    for connection in (*idle, *streams):
        connection.close()

"""What the benchmark runs on a port of its own: a constant answer, dragoman's application, or fastmcp's proxy.

    python apps.py uvicorn|granian|hypercorn constant|bridge PORT
    python apps.py fastmcp proxy PORT

Started as a script by whichever interpreter has the server, so it imports nothing of the benchmark but ``tiny_server``. ``constant`` is
the floor: it reads the body of a request and answers, with no look at it. A POST to ``/large`` gets 10 MB.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent.parent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]

PATH, LARGE_PATH = "/mcp", "/large"
CHILD = [sys.executable, "-I", "-S", str(HERE / "tiny_server.py")]

TEXT = b"The quick brown fox jumps over the lazy dog, 64 bytes in total.."
HEAD, TAIL = b'{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"', b'"}],"resultType":"complete"}}'
SMALL = HEAD + TEXT + TAIL


@cache
def big() -> bytes:
    """The answer of 10 MB."""
    sys.path[:0] = [str(HERE)]
    from tiny_server import blob

    return HEAD + blob(10_000_000) + TAIL


def head(body: bytes) -> dict[str, Any]:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return {"type": "http.response.start", "status": 200, "headers": headers}


async def constant(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """One answer to everything."""
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    while (await receive()).get("more_body"):
        pass
    body = big() if scope["path"] == LARGE_PATH else SMALL
    await send(head(body))
    await send({"type": "http.response.body", "body": body})


async def lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


def bridge() -> Any:
    """The application of dragoman in front of the tiny server."""
    from dragoman.serve import Bridge

    return Bridge(CHILD, path=PATH)


def run_uvicorn(app: Any, port: int) -> None:
    import uvicorn

    quiet = {"access_log": False, "log_level": "warning", "proxy_headers": False, "server_header": False}  # as dragoman serve has it
    uvicorn.run(app, host="127.0.0.1", port=port, http="httptools", loop="uvloop", **quiet)


def run_granian(name: str, port: int) -> None:
    """The worker of granian is a process of its own, which imports the application by name."""
    from granian import Granian
    from granian.constants import Interfaces, Loops

    made = name == "bridge"  # that name is a function that makes the application
    interface, loop = Interfaces.ASGI, Loops.uvloop
    Granian(f"apps:{name}", address="127.0.0.1", port=port, interface=interface, loop=loop, factory=made, log_enabled=False).serve()


def run_hypercorn(app: Any, port: int) -> None:
    import uvloop
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind, config.loglevel, config.accesslog = [f"127.0.0.1:{port}"], "WARNING", None
    uvloop.run(serve(app, config))


def run_fastmcp(port: int) -> None:
    from fastmcp.client.transports import StdioTransport
    from fastmcp.server import create_proxy

    proxy = create_proxy(StdioTransport(CHILD[0], CHILD[1:]))
    proxy.run(transport="http", host="127.0.0.1", port=port, path=PATH, show_banner=False, log_level="error")


def main() -> None:
    server, name, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if server == "fastmcp":
        run_fastmcp(port)
    elif server == "granian":
        run_granian(name, port)
    else:
        app = bridge() if name == "bridge" else constant
        (run_uvicorn if server == "uvicorn" else run_hypercorn)(app, port)


if __name__ == "__main__":
    main()

"""A server on the library as a process: ``worker_server.py stdio|http NAME [OPTION=VALUE …]``.

Over HTTP it listens on a free port, writes ``port NUMBER`` to stdout, and names itself in the header ``x-worker`` of every answer.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

from pydantic import BaseModel

from dragoman import Context, Elicit, Server, asgi, serve_stdio

NAME = sys.argv[2]


class Target(BaseModel):
    env: Literal["staging", "production"]


class Sure(BaseModel):
    sure: bool


@asynccontextmanager
async def lifespan(_: Server) -> AsyncIterator[dict[str, str]]:
    told("lifespan entered")
    yield {"name": NAME}
    told("lifespan left")


def told(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


server = Server(f"worker-{NAME}", "1", lifespan=lifespan)


@server.tool()
async def deploy(context: Context) -> str:
    """Deploys to what the user chooses."""
    target = await context.ask(Elicit("Deploy where?", Target))
    if target.value is None:
        return f"not deployed: {target.action}"
    if target.value.env == "production":
        sure = await context.ask(Elicit("Really?", Sure))
        return f"deployed to production, sure: {sure.value and sure.value.sure}"
    return f"deployed to {target.value.env}"


@server.tool()
async def trail(context: Context) -> str:
    """Names the worker that asked, and the one that had the answer."""
    first = await context.once("first", lambda: NAME)
    await context.ask(Elicit("Go on?", Sure))
    return f"asked by {first}, answered by {NAME}"


@server.tool()
def shout() -> str:
    """Prints in every way that there is."""
    print("printed")
    sys.stdout.write("written\n")
    os.write(1, b"to the descriptor\n")
    os.system("echo from a child")
    ctypes.CDLL(None).puts(b"from C")
    ctypes.CDLL(None).fflush(None)
    return "shouted"


@server.tool()
def large(size: int) -> str:
    """A text of this length."""
    return "x" * size


@server.tool()
async def wait(context: Context) -> str:
    """Never comes to its end by itself."""
    context.progress(1)
    told("waiting")
    try:
        await asyncio.get_running_loop().create_future()
    except asyncio.CancelledError:
        told("wait was cancelled")
        raise
    return "never"


@server.tool()
def block(seconds: float) -> str:
    """Blocks its thread."""
    told("blocking")
    time.sleep(seconds)
    told("blocked to the end")
    return "blocked"


@server.tool()
async def nap(context: Context, seconds: float) -> str:
    """Comes to its end in a while."""
    context.progress(1)
    told("napping")
    await asyncio.sleep(seconds)
    return "rested"


@server.tool()
def change(what: str) -> str:
    """Tells that something has changed."""
    server.changed(what)
    return "told"


@server.tool()
def more() -> str:
    """Offers another tool from now on."""
    server.tool(name=f"tool{len(server.tools)}")(name)
    return "offered"


@server.tool()
def name() -> str:
    """Names this worker."""
    return NAME


@server.resource("note://one")
def note() -> str:
    return f"a note of {NAME}"


@server.prompt()
def greeting() -> str:
    return "Say hello."


def named(app: Any) -> Any:
    """The application, with its worker's name in every answer."""

    async def wrapped(scope: dict[str, Any], receive: Any, send: Any) -> None:
        async def stamped(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"x-worker", NAME.encode())]}
            await send(message)

        await app(scope, receive, stamped)

    return wrapped


def serve_http(options: dict[str, str]) -> int:
    import uvicorn

    grace, is_mounted = options.pop("grace", ""), options.pop("mounted", "")
    settings: dict[str, Any] = {name: float(value) if name.endswith("_timeout") else value for name, value in options.items()}
    app: Any = asgi(server, sse=True, **settings)
    if is_mounted:
        from starlette.applications import Starlette
        from starlette.routing import Mount

        app = Starlette(routes=[Mount("/", app)], lifespan=app.lifespan)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print("port", listener.getsockname()[1], flush=True)
        config = uvicorn.Config(named(app), log_level="warning", lifespan="on", timeout_graceful_shutdown=int(grace) if grace else None)
        host = uvicorn.Server(config)
        with suppress(KeyboardInterrupt):  # uvicorn raises the signals that it was ended by once more
            host.run(sockets=[listener])
    return 0 if host.started else 3


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[3:])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(serve_stdio(server, **given) if sys.argv[1] == "stdio" else serve_http(given))

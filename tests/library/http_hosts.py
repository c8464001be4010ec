"""Applications in hosts of other people's, and the requests of clients to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from tests.library.http_clients import MODERN, Json, RawHttp, events, meta_of
from tests.serve.conftest import Host

from dragoman import bridge


@asynccontextmanager
async def hosted(app: Any, lifespan: str = "on") -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    """A host in a thread of its own, and a client for it."""
    host = Host(app, lifespan=lifespan)
    port = await asyncio.to_thread(host.__enter__)
    try:
        async with httpx2.AsyncClient(timeout=20, limits=httpx2.Limits(max_connections=None)) as http:
            yield http, f"http://127.0.0.1:{port}"
    finally:
        await asyncio.to_thread(host.__exit__)


def text_of(frame: dict[str, Any]) -> str:
    assert frame["result"].get("isError", False) is False, frame
    (block,) = frame["result"]["content"]
    return str(block["text"])


async def greeted(version: str, http: httpx2.AsyncClient, url: str, headers: dict[str, str] | None = None) -> RawHttp:
    client = RawHttp(version, http, url, headers=headers)
    await client.greet()
    return client


@asynccontextmanager
async def sent(client: RawHttp, method: str, number: int, **params: Any) -> AsyncIterator[AsyncIterator[Json]]:
    """A request whose answer is read by the test; leaving closes the connection."""
    meta = {"progressToken": number, **(meta_of({}) if client.version == MODERN else {})}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}
    async with client.http.stream("POST", client.url, json=message, headers=client.fields(message)) as response:
        yield events(response)


async def lifespan_of(app: Any, heard: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """What a host hears that runs the application's lifespan and ends it at once."""
    asked = iter(({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}))
    heard = [] if heard is None else heard

    async def receive() -> dict[str, Any]:
        return next(asked)

    async def send(message: dict[str, Any]) -> None:
        heard.append(message)

    async with asyncio.timeout(10):
        await app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
    return heard


async def ends(condition: Any) -> bool:
    """Wait for what another thread brings about."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the application lives in another thread's loop
            await asyncio.sleep(0.005)
    return True


@asynccontextmanager
async def bridged(inner: Any, lifespan: str = "on", **settings: Any) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    app = bridge(inner, **settings)
    async with hosted(app, lifespan) as (http, root):
        yield http, f"{root}/mcp"

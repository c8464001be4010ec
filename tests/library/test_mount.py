"""A server of the library inside other people's applications: its life, and the names by which it is reached."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from tests.library.http_clients import LEGACY, MODERN, RawHttp
from tests.library.http_hosts import greeted, hosted, lifespan_of, text_of
from tests.library.http_watched import Watched

from dragoman import Server, asgi

ALL = (*LEGACY, MODERN)


# -- its life


@pytest.mark.parametrize("version", ALL)
def test_mounted_server_whose_lifespan_the_host_runs_is_ready_before_the_first_request(version: str) -> None:
    async def run() -> None:
        watched = Watched()
        app = asgi(watched.server)
        routes = [Route("/", lambda _: PlainTextResponse("the host's own")), Mount("/tools", app=app)]
        async with hosted(Starlette(routes=routes, lifespan=app.lifespan)) as (http, root):
            assert watched.life == ["entered"]
            assert (await http.get(f"{root}/")).text == "the host's own"
            client = await greeted(version, http, f"{root}/tools/mcp")
            assert text_of(await client.call("state")) == "made by the lifespan"
            assert json.loads(text_of(await client.call("whose")))["path"] == "/tools/mcp"
        assert watched.life == ["entered", "left"]

    asyncio.run(run())


@pytest.mark.parametrize("version", ALL)
def test_mounted_server_whose_lifespan_nobody_runs_is_ready_with_the_first_request(version: str) -> None:
    async def run() -> None:
        watched = Watched(pause=0.05)
        app = asgi(watched.server)

        async def stop(_: object) -> PlainTextResponse:
            return PlainTextResponse(str(await app.close()))

        async with hosted(Starlette(routes=[Route("/stop", stop), Mount("/", app=app)])) as (http, root):
            assert watched.life == []
            client = await greeted(version, http, f"{root}/mcp")
            assert text_of(await client.call("state")) == "made by the lifespan"
            assert watched.life == ["entered"]
            assert (await http.get(f"{root}/stop")).text == "0"
            assert watched.life == ["entered", "left"]

    asyncio.run(run())


def test_many_first_requests_wait_for_one_lifespan() -> None:
    async def run() -> None:
        watched = Watched(pause=0.1)
        async with hosted(asgi(watched.server), lifespan="off") as (http, root):
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(RawHttp(MODERN, http, f"{root}/mcp").call("state")) for _ in range(30)]
            assert {text_of(call.result()) for call in calls} == {"made by the lifespan"}
            assert watched.life == ["entered"]

    asyncio.run(run())


def test_server_served_by_itself_lives_as_long_as_its_host_and_again_in_the_next() -> None:
    async def run() -> None:
        watched = Watched()
        app = asgi(watched.server)
        for _ in range(2):
            async with hosted(app) as (http, root):
                assert text_of(await RawHttp(MODERN, http, f"{root}/mcp").call("state")) == "made by the lifespan"
        assert watched.life == ["entered", "left"] * 2

    asyncio.run(run())


def test_lifespan_that_succeeds_is_told_to_the_host() -> None:
    watched = Watched()
    assert asyncio.run(lifespan_of(asgi(watched.server))) == [{"type": "lifespan.startup.complete"}, {"type": "lifespan.shutdown.complete"}]
    assert watched.life == ["entered", "left"]


def test_lifespan_that_fails_is_told_to_the_host() -> None:
    watched = Watched(RuntimeError("no database"))
    heard = asyncio.run(lifespan_of(asgi(watched.server)))
    assert heard == [{"type": "lifespan.startup.failed", "message": "RuntimeError: no database"}]


def test_lifespan_that_fails_when_it_is_left_is_told_to_the_host() -> None:
    @asynccontextmanager
    async def lifespan(_: Server) -> AsyncIterator[None]:
        yield
        raise RuntimeError("cannot close the database")

    heard = asyncio.run(lifespan_of(asgi(Server("failing", lifespan=lifespan))))
    assert heard == [
        {"type": "lifespan.startup.complete"},
        {"type": "lifespan.shutdown.failed", "message": "RuntimeError: cannot close the database"},
    ]


def test_lifespan_that_fails_in_a_mount_keeps_the_host_from_starting() -> None:
    app = asgi(Watched(RuntimeError("no database")).server)
    heard: list[dict[str, Any]] = []
    with pytest.raises(RuntimeError, match="no database"):  # Starlette raises it after it has told
        asyncio.run(lifespan_of(Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan), heard))
    assert [message["type"] for message in heard] == ["lifespan.startup.failed"]
    assert "no database" in heard[0]["message"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_lifespan_that_fails_with_the_first_request_is_its_error_and_is_tried_again(version: str) -> None:
    async def run() -> None:
        watched = Watched(RuntimeError("no database yet"))
        async with hosted(asgi(watched.server), lifespan="off") as (http, root):
            found = await RawHttp(version, http, f"{root}/mcp").greet_once()
            assert "could not start" in found["error"]["message"]
            assert "database" not in found["error"]["message"]
            client = await greeted(version, http, f"{root}/mcp")
            assert text_of(await client.call("state")) == "made by the lifespan"

    asyncio.run(run())


# -- by which name it is reached, and from where


def elsewhere(app: Any) -> Any:
    """As if the connection had come in on an address of the network."""

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        await app(
            {**scope, "server": ("192.0.2.7", 80), "client": ("192.0.2.99", 4000)} if scope["type"] == "http" else scope, receive, send
        )

    return wrapped


@pytest.mark.parametrize("version", ALL)
def test_server_without_authentication_serves_callers_from_the_network(version: str) -> None:
    async def run() -> None:
        async with hosted(elsewhere(asgi(Watched().server, allow_hosts=["tools.example"]))) as (http, root):
            client = await greeted(version, http, f"{root}/mcp", {"host": "tools.example"})
            assert json.loads(text_of(await client.call("whose")))["principal"] is None

    asyncio.run(run())


@pytest.mark.parametrize(
    ("settings", "name", "status"),
    [
        ({}, "localhost", 200),
        ({}, "127.0.0.1:9999", 200),
        ({}, "evil.example", 403),
        ({}, "localhost.evil.example", 403),
        ({"allow_hosts": ["mcp.example"]}, "mcp.example", 200),
        ({"allow_hosts": ["mcp.example"]}, "evil.example", 403),
        ({"allow_hosts": ["*"]}, "evil.example", 200),
    ],
)
def test_name_by_which_a_local_server_is_reached_is_looked_at(settings: dict[str, Any], name: str, status: int) -> None:
    async def run() -> None:
        async with hosted(asgi(Watched().server, **settings)) as (http, root):
            client = RawHttp(MODERN, http, f"{root}/mcp", headers={"host": name})
            await client.request("tools/list")
            assert client.statuses == [status]

    asyncio.run(run())


@pytest.mark.parametrize(("origin", "status"), [("https://app.example", 200), ("https://evil.example", 403), ("null", 403)])
def test_web_page_that_calls_has_to_be_allowed(origin: str, status: int) -> None:
    async def run() -> None:
        async with hosted(asgi(Watched().server, allow_origins=["https://app.example"])) as (http, root):
            client = RawHttp(MODERN, http, f"{root}/mcp", headers={"origin": origin})
            await client.request("tools/list")
            assert client.statuses == [status]

    asyncio.run(run())

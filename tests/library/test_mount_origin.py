"""Whose request a handler sees, in a host with middlewares and many users at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount
from tests.library.http_clients import LEGACY, MODERN, RawHttp
from tests.library.http_hosts import greeted, hosted, text_of
from tests.library.http_watched import Basic, Tenants, Watched, basic

from dragoman import asgi

ALL = (*LEGACY, MODERN)


@pytest.mark.parametrize("version", ALL)
def test_handler_sees_the_headers_and_what_a_middleware_has_put_into_the_scope(version: str) -> None:
    async def run() -> None:
        app = asgi(Watched().server)
        outer = Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=[Middleware(Tenants)])
        async with hosted(outer) as (http, root):
            client = await greeted(version, http, f"{root}/mcp", {"x-mark": "acme"})
            found = json.loads(text_of(await client.call("whose")))
            assert (found["mark"], found["tenant"], found["principal"]) == ("acme", "acme", None)

    asyncio.run(run())


@pytest.mark.parametrize("version", ALL)
def test_principal_is_the_digest_of_the_authorization_or_none(version: str) -> None:
    async def run() -> None:
        async with hosted(asgi(Watched().server)) as (http, root):
            shown = await greeted(version, http, f"{root}/mcp", {"authorization": "Bearer secret"})
            nothing = await greeted(version, http, f"{root}/mcp")
            found = json.loads(text_of(await shown.call("whose")))
            assert found["principal"] == hashlib.sha256(b"Bearer secret").hexdigest()
            assert json.loads(text_of(await nothing.call("whose")))["principal"] is None

    asyncio.run(run())


@pytest.mark.parametrize("version", ALL)
def test_principal_is_the_authenticated_user_of_a_middleware(version: str) -> None:
    async def run() -> None:
        app = asgi(Watched().server, principal=lambda scope: scope["user"].username if scope["user"].is_authenticated else None)
        stack = [Middleware(AuthenticationMiddleware, backend=Basic())]
        async with hosted(Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=stack)) as (http, root):
            client = await greeted(version, http, f"{root}/mcp", basic("ada"))
            assert json.loads(text_of(await client.call("whose")))["principal"] == "ada"

    asyncio.run(run())


def test_default_principal_of_starlettes_own_user_class_is_its_name() -> None:
    async def run() -> None:
        app = asgi(Watched().server)
        stack = [Middleware(AuthenticationMiddleware, backend=Basic())]
        async with hosted(Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=stack)) as (http, root):
            assert json.loads(text_of(await RawHttp(MODERN, http, f"{root}/mcp", headers=basic("ada")).call("whose")))["principal"] == "ada"
            nobody = await RawHttp(MODERN, http, f"{root}/mcp").call("whose")
            assert json.loads(text_of(nobody))["principal"] is None

    asyncio.run(run())


@pytest.mark.parametrize("method", ["tools/list", "DELETE", "GET"])
def test_session_of_one_user_is_unknown_to_another(method: str) -> None:
    async def run() -> None:
        app = asgi(Watched().server, principal=lambda scope: scope.get("tenant"))
        outer = Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=[Middleware(Tenants)])
        async with hosted(outer) as (http, root):
            ada = await greeted("2025-11-25", http, f"{root}/mcp", {"x-mark": "ada"})
            eve = RawHttp("2025-11-25", http, f"{root}/mcp", headers={"x-mark": "eve"})
            eve.session = ada.session
            if method == "tools/list":
                await eve.request(method)
                assert eve.statuses == [404]
            else:
                found = await http.request(method, eve.url, headers={**eve.fields({}), "accept": "text/event-stream"}, timeout=3)
                assert found.status_code == 404
            assert text_of(await ada.call("tenant")) == "ada"

    asyncio.run(run())


class Nameless:
    """A user as some middlewares make it: without an identity."""

    is_authenticated = True


def test_user_without_an_identity_is_a_fault_that_no_client_takes_for_nobody() -> None:
    class Users(AuthenticationBackend):
        async def authenticate(self, conn: Any) -> tuple[AuthCredentials, Any] | None:
            return AuthCredentials(["authenticated"]), Nameless()

    async def run() -> None:
        app = asgi(Watched().server)
        stack = [Middleware(AuthenticationMiddleware, backend=Users())]
        async with hosted(Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=stack)) as (http, root):
            client = RawHttp(MODERN, http, f"{root}/mcp")
            found = await client.call("whose")
            assert (found["error"]["code"], client.statuses) == (-32603, [500])

    asyncio.run(run())


USERS = [f"user{number}" for number in range(30)]


@pytest.mark.parametrize("tool", ["whose", "tenant", "tenant_in_thread"])
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", MODERN])
def test_no_handler_ever_sees_anothers_request_even_of_those_that_come_first(version: str, tool: str) -> None:
    async def one(user: str, http: httpx2.AsyncClient, root: str) -> set[str]:
        client = RawHttp(version, http, f"{root}/mcp", headers={"x-mark": user, "authorization": f"Bearer {user}"})
        if version != MODERN:
            await client.greet()
        found = [text_of(await client.call(tool)) for _ in range(3)]
        if tool != "whose":
            return set(found)
        assert {json.loads(text)["principal"] for text in found} == {hashlib.sha256(f"Bearer {user}".encode()).hexdigest()}
        return {json.loads(text)["mark"] for text in found} | {json.loads(text)["tenant"] for text in found}

    async def run() -> None:
        app = asgi(Watched(pause=0.05).server)
        outer = Starlette(routes=[Mount("/", app=app)], middleware=[Middleware(Tenants)])
        async with hosted(outer) as (http, root):
            async with asyncio.TaskGroup() as group:
                seen_by = {user: group.create_task(one(user, http, root)) for user in USERS}
            assert {user: task.result() for user, task in seen_by.items()} == {user: {user} for user in USERS}

    asyncio.run(run())


@pytest.mark.parametrize("version", ["2024-11-05", MODERN])
def test_context_variable_of_one_request_is_not_seen_by_one_without(version: str) -> None:
    async def run() -> None:
        app = asgi(Watched().server)
        outer = Starlette(routes=[Mount("/", app=app)], middleware=[Middleware(Tenants)])
        async with hosted(outer) as (http, root):
            marked = await greeted(version, http, f"{root}/mcp", {"x-mark": "acme"})
            plain = await greeted(version, http, f"{root}/mcp")
            for _ in range(3):
                assert text_of(await marked.call("tenant")) == "acme"
                assert text_of(await plain.call("tenant")) == "nobody"
                assert text_of(await plain.call("tenant_in_thread")) == "nobody"

    asyncio.run(run())


def test_one_session_used_by_requests_of_different_marks_shows_each_its_own() -> None:
    async def run() -> None:
        app = asgi(Watched().server)
        outer = Starlette(routes=[Mount("/", app=app)], lifespan=app.lifespan, middleware=[Middleware(Tenants)])
        async with hosted(outer) as (http, root):
            first = await greeted("2025-11-25", http, f"{root}/mcp", {"x-mark": "zero"})

            async def one(mark: str) -> str:
                client = RawHttp("2025-11-25", http, f"{root}/mcp", headers={"x-mark": mark})
                client.session, client._last = first.session, 100 * int(mark)
                return text_of(await client.call("tenant"))

            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(one(str(number))) for number in range(1, 31)]
            assert [call.result() for call in calls] == [str(number) for number in range(1, 31)]

    asyncio.run(run())

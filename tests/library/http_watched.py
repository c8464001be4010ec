"""A server that says whose request it sees, with middlewares of a host around it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser

from dragoman import Context, Server

TENANT: ContextVar[str] = ContextVar("TENANT", default="nobody")


class Watched:
    """A server, and what has happened in its lifespan; ``faults`` are raised by it, one an entrance."""

    def __init__(self, *faults: Exception, pause: float = 0.0) -> None:
        self.life: list[str] = []
        self._faults = list(faults)
        self._pause = pause
        self.server = Server("mounted", "1", lifespan=self._lifespan)
        self.server.tool()(whose)
        self.server.tool()(tenant)
        self.server.tool()(tenant_in_thread)
        self.server.tool()(state)

    @asynccontextmanager
    async def _lifespan(self, _: Server) -> AsyncIterator[str]:
        await asyncio.sleep(self._pause)
        if self._faults:
            raise self._faults.pop(0)
        self.life.append("entered")
        yield "made by the lifespan"
        self.life.append("left")


async def whose(context: Context) -> str:
    """Who asks, before and after others had their turn."""
    before = seen(context)
    await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    assert seen(context) == before
    return json.dumps(before)


def seen(context: Context) -> dict[str, Any]:
    scope = context.scope or {}
    fields = dict(scope["headers"])
    return {
        "principal": context.principal,
        "mark": fields.get(b"x-mark", b"").decode(),
        "tenant": scope.get("tenant"),
        "path": scope["path"],
        "client": context.client.get("name"),
    }


async def tenant() -> str:
    """What the middleware has set, in the event loop."""
    before = TENANT.get()
    await asyncio.sleep(0.005)
    assert TENANT.get() == before
    return before


def tenant_in_thread() -> str:
    """The same in a thread."""
    return TENANT.get()


async def state(context: Context) -> str:
    """What the lifespan has made."""
    return str(context.state)


class Basic(AuthenticationBackend):
    """Whoever says a name is believed."""

    async def authenticate(self, conn: Any) -> tuple[AuthCredentials, SimpleUser] | None:
        shown = conn.headers.get("authorization")
        if shown is None:
            return None
        name = base64.b64decode(shown.removeprefix("Basic ")).decode().partition(":")[0]
        return AuthCredentials(["authenticated"]), SimpleUser(name)


class Tenants:
    """An ASGI middleware that puts something into the scope and into a context variable."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        mark = dict(scope.get("headers", ())).get(b"x-mark")
        if mark is None:
            await self.app(scope, receive, send)
            return
        token = TENANT.set(mark.decode())
        try:
            await self.app({**scope, "tenant": mark.decode()}, receive, send)
        finally:
            TENANT.reset(token)


def basic(name: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:".encode()).decode()}

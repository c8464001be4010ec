"""A server of the library as an ASGI application, for clients of every revision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Unpack

from dragoman.http.options import OPEN
from dragoman.library.hosted import Hosting
from dragoman.library.request import Origin
from dragoman.library.runtime import Runtime
from dragoman.library.server import Server, known
from dragoman.serve.answer import Answer
from dragoman.serve.endpoint import MAX_LINE, Endpoint
from dragoman.serve.house import House
from dragoman.serve.loop_link import LoopLink
from dragoman.serve.settings import Settings

_SESSIONS = 100_000
_FIELD = b"dragoman-principal"


class App(Endpoint):
    """See ``asgi``."""

    def __init__(
        self,
        server: Server,
        principal: Callable[[dict[str, Any]], str | None],
        log_level: str,
        state_key_file: str | None,
        settings: Settings,
    ) -> None:
        known(server, "asgi")
        if settings.setdefault("server_era", "modern") != "modern":
            raise ValueError("server_era: a server of the library is a modern one, which clients of every revision can use")
        settings.setdefault("command_label", str(server.info["name"]))
        settings.setdefault("isolation", OPEN)
        settings.setdefault("sse", True)
        settings.setdefault("max_sessions", _SESSIONS)  # a session is a few kilobytes, not a process
        named = settings.get("principal_header")
        if named is not None and principal is principal_of:
            principal = _named_in(named)
        settings["principal_header"] = _FIELD.decode()
        super().__init__(settings, log_level=log_level, max_line=MAX_LINE, state_key_file=state_key_file)
        self._server = server
        self._principal = principal
        self._runtime: Runtime | None = None

    def _fields(self, scope: Any, answer: Answer) -> list[tuple[bytes, bytes]]:
        """Sessions belong to whoever ``principal`` names, in a field that no client can write."""
        fields: list[tuple[bytes, bytes]] = scope["headers"]
        principal = answer.principal = self._principal(scope)
        if principal is None and _FIELD not in dict(fields):
            return fields
        fields = [field for field in fields if field[0] != _FIELD]
        return fields if principal is None else [*fields, (_FIELD, principal.encode("utf-8", "surrogateescape"))]

    def _new_house(self) -> House:
        self._runtime = Runtime(self._server, self._key)
        hosting = Hosting(self._runtime, LoopLink(asyncio.get_running_loop()), self._origin)
        return House(self._core(), hosting, self._log_level, self._max_line)

    def _origin(self) -> Origin:
        answer = None if self._house is None else self._house.asking
        if answer is None:
            return Origin()
        return Origin(answer.scope, answer.principal)  # type: ignore[arg-type]  # hosts make dicts

    async def _prepare(self) -> None:
        if self._runtime is not None:
            await self._runtime.start()

    async def _ended(self) -> None:
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            await runtime.close()


def principal_of(scope: dict[str, Any]) -> str | None:
    """Who sent a request: the authenticated user of an ASGI middleware (``scope["user"]``), else who has this ``Authorization``, as a
    digest.
    """
    user = scope.get("user")
    if getattr(user, "is_authenticated", False):
        return str(user.identity)  # type: ignore[union-attr]
    shown = dict(scope["headers"]).get(b"authorization")
    if shown is None:
        return None
    from hashlib import sha256

    return sha256(shown).hexdigest()


def _named_in(header: str) -> Callable[[dict[str, Any]], str | None]:
    """The principal is named by a trusted proxy."""
    name = header.lower().encode()
    return lambda scope: next((value.decode("latin-1") for each, value in scope.get("headers", ()) if each == name), None)


def asgi(
    server: Server,
    *,
    principal: Callable[[dict[str, Any]], str | None] = principal_of,
    log_level: str = "warning",
    state_key_file: str | None = None,
    **settings: Unpack[Settings],
) -> App:
    """The server as an ASGI 3 application, to be run by any host (uvicorn, hypercorn, granian), or mounted in Starlette or FastAPI.

    * ``state_key_file`` holds the key that seals ``requestState`` and handles, 32 bytes or more: give the same file to all workers, and a
      retry may land on any of them. Without it every process has a key of its own.
    * ``principal`` tells who sent a request, from its ASGI scope: state, sessions and handles of one open for no other. By default the
      authenticated user of a middleware, else the ``Authorization`` header. The server itself authenticates nobody.
    * ``settings`` are those of ``dragoman serve`` by the names of their options, among them ``path`` ("/mcp"), ``host`` and ``allow_hosts``
      (the names by which it is reached: others are refused, against DNS rebinding), ``allow_origins`` (web pages that may call), ``sse``
      (the two endpoints of 2024-11-05), ``request_timeout`` (seconds). Durations are seconds, sizes bytes.

    A modern client's requests are independent and may go to any worker. A legacy client's session lives in one: send all requests with one
    ``Mcp-Session-Id`` there. Raises ``ValueError``, ``TypeError`` or ``KeyFileError`` for a setting that cannot be used. Source: 2026-07-28
    and 2025-11-25, basic/transports/streamable-http.
    """
    return App(server, principal, log_level, state_key_file, settings)

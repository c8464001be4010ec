"""An ASGI application that speaks one era, served to clients of both."""

from __future__ import annotations

from typing import Any, Unpack

from dragoman.http.options import OPEN
from dragoman.io.exchanges import Exchanges
from dragoman.io.http_settings import HttpSettings, Unusable
from dragoman.library.asgi_client import Application, AsgiClient
from dragoman.serve.app import Bridge
from dragoman.serve.endpoint import MAX_LINE
from dragoman.serve.settings import Settings

_HOST = "http://127.0.0.1:80"  # the name by which the application is asked, which those that look at it take for a local one


class BridgedApp(Bridge):
    """See ``bridge``."""

    def __init__(self, application: Application, app_path: str, log_level: str, state_key_file: str | None, settings: Settings) -> None:
        if not callable(application):
            raise TypeError(f"bridge takes an ASGI application, a callable of scope, receive and send, not {application!r}")
        try:
            inner = HttpSettings(f"{_HOST}/{app_path.lstrip('/')}")
        except Unusable as fault:
            raise ValueError(f"app_path: {fault}") from None
        self._application = application
        self._client: AsgiClient | None = None
        super().__init__(url=inner, log_level=log_level, max_line=MAX_LINE, state_key_file=state_key_file, **settings)

    def _make_client(self) -> Exchanges:
        assert self._remote is not None
        self._client = AsgiClient(self._application, self._remote)
        return self._client

    async def _prepare(self) -> None:
        if self._house is not None and self._house.remote is not None:
            self._house.remote.server.client()
        if self._client is not None:
            await self._client.life.start()


def bridge(
    application: Any, *, app_path: str = "/mcp", log_level: str = "warning", state_key_file: str | None = None, **settings: Unpack[Settings]
) -> BridgedApp:
    """Make an ASGI application that speaks only 2026-07-28 serve clients of every revision, too.

    ``application`` is any ASGI 3 application with an MCP endpoint at ``app_path``, such as what ``streamable_http_app()`` of the official
    SDK's servers returns; its lifespan is run with that of the bridge. Clients' ``Authorization`` goes on to it, and its challenges come
    back. ``settings`` are those of ``asgi``; ``server_era="legacy"`` is for an application that speaks only the handshake revisions. Raises
    ``TypeError`` or ``ValueError`` for what cannot be used. Source: 2026-07-28, basic/versioning.
    """
    settings.setdefault("server_era", "modern")
    settings.setdefault("isolation", OPEN)
    settings.setdefault("sse", True)
    settings.setdefault("command_label", "the application")
    settings.setdefault("forward_authorization", True)
    return BridgedApp(application, app_path, log_level, state_key_file, settings)

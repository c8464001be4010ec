"""A login on its own: the server is greeted without a token, so that its challenge can say where to log in and for what.

A server that lets everybody in at first may still want a token for some requests; its well-known addresses tell then.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx2

from dragoman import frame
from dragoman.auth import documents
from dragoman.auth.challenge import Challenge, bearer
from dragoman.auth.cli import described
from dragoman.auth.credentials import OAuth
from dragoman.auth.errors import AuthError
from dragoman.auth.settings import Settings
from dragoman.auth.wire import Wire
from dragoman.bridging.era import discover_params
from dragoman_specs.version import LATEST_MODERN


async def log_in(url: str, settings: Settings, *, say: Callable[[str], None], principal: str, terminal: int | None) -> str:
    """A line on the new login. Raises ``AuthError``."""
    credentials = OAuth(url, settings, say=say, principal=principal, terminal=terminal)
    status, challenge = await _challenge(credentials.server, settings)
    try:
        await credentials.log_in(challenge)
    except AuthError as fault:
        if status == 401:
            raise
        hint = "it may ask for no login" if status < 400 else "is the path of the URL right?"
        raise AuthError(f"{fault} (the server answered without a challenge, with status {status}: {hint})") from fault
    finally:
        await credentials.close()
    return described(credentials.store.load(), time.time())


async def _challenge(server: str, settings: Settings) -> tuple[int, Challenge]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": str(LATEST_MODERN),
        "Mcp-Method": "server/discover",
    }
    body = frame.request(b'"dragoman-login"', "server/discover", discover_params())
    async with Wire(settings, local=documents.is_loopback(server)) as wire:
        answer = await wire.send(httpx2.Request("POST", server, content=body, headers=headers), body=False)
    field = ", ".join(answer.headers.get_list("www-authenticate")) if answer.status_code == 401 else ""
    return answer.status_code, bearer(field) or Challenge()

"""``dragoman login``, ``logout`` and ``status``: what a person does once, so that bridges find a token later."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine

from dragoman.auth.errors import AuthError, require
from dragoman.auth.record import Record, canonical
from dragoman.auth.settings import Settings
from dragoman.auth.store import Store

Say = Callable[[str], None]


def _to_stderr(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def login(url: str, settings: Settings, *, principal: str = "", say: Say = _to_stderr) -> int:
    """Log in at a server's authorization server, whatever is kept of an earlier login; the answer is the exit status."""

    async def run() -> str:
        require()
        from dragoman.auth.greeting import log_in

        terminal = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        return await log_in(url, settings, say=say, principal=principal, terminal=terminal)

    return _guarded(run, say)


def logout(url: str, settings: Settings | None = None, *, principal: str = "", say: Say = _to_stderr) -> int:
    """Revoke what is kept, where the authorization server lets us, and forget it."""
    settings = settings or Settings()

    async def run() -> str:
        server = canonical(url)
        store = Store(server, principal, settings.token_dir)
        record = store.load()
        words = ""
        if record.access_token:
            require()
            from dragoman.auth.revoking import revoke

            words = await revoke(record, settings)
        return f"forgot the login at {server}{words}" if store.forget() else f"there is no login at {server}"

    return _guarded(run, say)


def status(url: str, settings: Settings | None = None, *, principal: str = "", say: Say = _to_stderr) -> int:
    """Tell what is kept; the answer is 0 if there is a token that works or can be refreshed."""
    settings = settings or Settings()
    found = False

    async def run() -> str:
        nonlocal found
        record = Store(canonical(url), principal, settings.token_dir).load()
        found = bool(record.usable(time.time()) or record.refresh_token)
        return described(record, time.time())

    return _guarded(run, say) or int(not found)


def described(record: Record, now: float) -> str:
    """One line on a record, without its secrets."""
    if not record.access_token:
        return f"no login at {record.server}"
    if record.expires_at is None:
        until = "for an unknown time"
    elif record.expires_at <= now:
        until = "no more"
    else:
        until = "until " + time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.expires_at))
    scope = f", scope {record.scope}" if record.scope else ""
    refresh = "can be refreshed" if record.refresh_token else "cannot be refreshed"
    issuer = record.issuer or "its own endpoints"
    return f"login at {record.server}: token of {issuer} for client {record.client_id}, valid {until}{scope}, {refresh}"


def _guarded(run: Callable[[], Coroutine[object, object, str]], say: Say) -> int:
    try:
        say(asyncio.run(run()))
    except AuthError as fault:
        say(str(fault))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0

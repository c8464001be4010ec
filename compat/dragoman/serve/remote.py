"""The server of a ``Bridge`` that is a URL: HTTP in the same event loop, and its era before the first request.

A request waits for the verdict; one that finds none is answered 502, or as the server answered where the client's own credentials
were passed on. The next request asks again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from dragoman import frame
from dragoman.bridging.options import Options
from dragoman.errors import Refusal
from dragoman.http.rejection import Rejection, rpc
from dragoman.io.caller import NOBODY, Caller
from dragoman.io.http_settings import Credentials, HttpSettings
from dragoman.io.remote_server import RemoteServer
from dragoman.serve.loop_link import LoopLink


class Remote:
    """The server, and whether its era is known. ``decided`` is told of it, ``reset`` when it does not hold."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: HttpSettings,
        options: Options,
        decided: Callable[[str], None],
        told: Callable[[str], None],
        credentials: Callable[[str], Credentials | None],
        reset: Callable[[], None],
    ) -> None:
        label, instance = options.command_label, os.urandom(8).hex()
        patience, start = options.request_timeout, options.start_timeout
        self.server = RemoteServer(LoopLink(loop), settings, label, instance, credentials, told, patience, start)
        self.known = False
        self.waits_for_callers = False  # it is theirs to show who they are
        self._loop = loop
        self._forced = options.server_era
        self._decided = decided
        self._told = told
        self._last_told = ""
        self._reset = reset
        self.server.dialer.on_doubt = self.doubted
        self._waiting: dict[Caller, asyncio.Future[Refusal | None]] = {}  # a refusal concerns only who came with the same

    def doubted(self, why: str) -> None:
        """The server may be of another era: it is asked anew before the next request, if it was not a moment ago."""
        if self._forced == "auto" and self.server.doubt(self._loop.time()):
            self.known = False
            self._told(f"the server may be of another era than it seemed: {why}")
            self._reset()

    async def ready(self, caller: Caller = NOBODY) -> Refusal | None:
        """Wait for the verdict; why there is none. ``caller`` is the client that asks."""
        if self.known:
            return None
        waiting = self._waiting.get(caller)
        if waiting is None:
            waiting = self._waiting[caller] = self._loop.create_future()
            self.server.find_era(self._forced, self._found, lambda refusal: self._settle(caller, refusal), caller)
        return await asyncio.shield(waiting)

    def _found(self, era: str) -> None:
        if self.known:
            return
        self.known = True
        self.server.dialer.era = era
        self._decided(era)
        for caller in list(self._waiting):
            self._settle(caller, None)

    def _settle(self, caller: Caller, refusal: Refusal | None) -> None:
        message = "" if refusal is None else refusal.message
        if message and message != self._last_told:  # each client hears of it, the operator once
            self._told(message)
        self._last_told = message
        waiting = self._waiting.pop(caller, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(refusal)


def unready(body: bytes, refusal: Refusal, *, forwards: bool) -> Rejection:
    """The answer to a request that came before any verdict."""
    parsed = frame.parse(body) if body else None
    client_id = parsed.id if isinstance(parsed, frame.Request) else None
    challenge = (refusal.data or {}).get("wwwAuthenticate") if forwards else None
    if challenge is not None:
        return rpc(int(refusal.data["status"]), client_id, refusal, (b"www-authenticate", str(challenge).encode("latin-1", "replace")))
    return rpc(502, client_id, refusal, (b"retry-after", b"1"))

"""A shell without descriptors: one core between a client and a server that both live in the running loop (see ``io.shell``)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from dragoman.bridging.core import Core
from dragoman.bridging.effects import CancelTimer, CloseSession, Effect, Finished, Log, Loss, OpenSession, SetTimer, ToClient, ToServer
from dragoman.io.link import Distant
from dragoman.io.opener import Opener

_MAX_LINE = 256 << 20
_FAREWELL = 2.0


class Memory:
    """Drives ``core``; ``told`` gets every frame for the client, without its newline, and ``log`` what is for the operator."""

    def __init__(self, core: Core, told: Callable[[bytes], None], log: Callable[[Log | Loss], None]) -> None:
        self.finished = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._core = core
        self._opener: Opener | None = None
        self._children: dict[int, Distant] = {}
        self._ending: list[Distant] = []
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._calls: deque[Callable[[float], list[Effect]]] = deque()
        self._asking = False
        self._emptied = asyncio.Event()
        self._carriers: dict[type[Effect], Callable[[Any], None]] = {
            ToClient: lambda effect: told(effect.data[:-1]),
            ToServer: lambda effect: self._children[effect.session].write(effect.data) if effect.session in self._children else None,
            OpenSession: self._open,
            CloseSession: lambda effect: self._close(effect.session),
            SetTimer: self._set_timer,
            CancelTimer: lambda effect: self._cancel(effect.key),
            Log: log,
            Loss: log,
            Finished: lambda _: self.finished.set(),
        }

    def start(self, opener: Opener) -> None:
        """Begin."""
        self._opener = opener
        self._ask(self._core.start)

    def say(self, line: bytes) -> None:
        """A line of the client's."""
        self._ask(lambda now: self._core.from_client(line, now))

    async def close(self) -> None:
        """The client leaves; return when everything has ended."""
        self._ask(self._core.client_closed)
        await self.finished.wait()
        for handle in self._timers.values():
            handle.cancel()
        for session in list(self._children):
            self._close(session)
        self.ended_remote()
        await self._emptied.wait()

    def _ask(self, step: Callable[[float], list[Effect]]) -> None:
        """One step of the core at a time: what happens meanwhile is asked for next."""
        self._calls.append(step)
        if self._asking:
            return
        self._asking = True
        try:
            while self._calls:
                for effect in self._calls.popleft()(self._loop.time()):
                    self._carriers[type(effect)](effect)
        finally:
            self._asking = False

    def _open(self, effect: OpenSession) -> None:
        assert self._opener is not None
        child: Distant = self._opener.child(self, _MAX_LINE)
        self._children[effect.session] = child
        child.open(effect.session)

    def _close(self, session: int) -> None:
        child = self._children.pop(session, None)
        if child is not None:
            self._ending.append(child)
            child.close(_FAREWELL)

    def _set_timer(self, effect: SetTimer) -> None:
        self._cancel(effect.key)
        self._timers[effect.key] = self._loop.call_at(effect.at, self._due, effect.key)

    def _cancel(self, key: str) -> None:
        handle = self._timers.pop(key, None)
        if handle is not None:
            handle.cancel()

    def _due(self, key: str) -> None:
        del self._timers[key]
        self._ask(lambda now: self._core.on_timer(key, now))

    # -- what a connection needs of its house

    def heard_remote(self, child: Distant, line: bytes, about: bytes | None) -> None:
        """A line of the server's."""
        session = child.session
        if session is not None and self._children.get(session) is child:
            self._ask(lambda now: self._core.from_server(session, line, now, about))

    def told_remote(self, effect: Log | Loss) -> None:
        """Something for the operator."""
        self._carriers[type(effect)](effect)

    def lost_remote(self, child: Distant, reason: str) -> None:
        """It cannot answer any more."""
        session = child.session
        if session is not None and self._children.get(session) is child:
            self._close(session)
            self._ask(lambda now: self._core.session_lost(session, reason, now))

    def ended_remote(self) -> None:
        """It has nothing left."""
        self._ending = [child for child in self._ending if not child.ended]
        if self.finished.is_set() and not self._ending and not self._children:
            self._emptied.set()

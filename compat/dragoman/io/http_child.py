"""A server behind a URL, lived in by the shell like a server process (see ``child``).

Theory of operation. The connection itself (``remote``) and its HTTP requests live in an event loop, the shell perhaps in another
thread: ``Link`` carries calls both ways, in order. Each exchange is a task of the loop, which tells the connection what becomes
of it. While the shell takes nothing, no task reads on, so that the server is slowed down instead of our memory filled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp

from dragoman.bridging.effects import ERROR, CancelTimer, Log, Loss, SetTimer
from dragoman.io.exchanges import Exchanges
from dragoman.io.http_client import HttpTrouble, fields_of, trouble_of
from dragoman.io.http_settings import Who
from dragoman.io.link import Link, NoOutlet, RemoteHouse
from dragoman.remote.effects import UNSENT, Abort, Doubt, Finish, Heard, Lost, RemoteEffect, Send, Trouble
from dragoman.remote.remote import Remote

FAREWELL = 2.0  # for the server to take note that a session is over
_LAST_BYTES = 1.0  # for a stream to end after its answer
_AHEAD = 256 * 1024  # bytes that the loop may be ahead of the shell: what is behind them waits as long as they do
_BREATH = 0.002


Identity = Callable[[], Who]


class RemoteChild:
    """One connection. Its methods are called in the shell's thread."""

    pid = None
    due: float | None = None

    def __init__(
        self, client: Exchanges, remote: Remote, house: RemoteHouse, link: Link, identity: Identity, on_doubt: Callable[[str], None]
    ) -> None:
        self.session: int | None = None
        self.ended = False
        self.taken = 0  # bytes that the shell has heard
        self.outlet = NoOutlet()
        self._house = house
        self._link = link
        self._closing = False
        self._on_doubt = on_doubt
        self._net = _Net(client, remote, link, self, identity)

    def open(self, session: int) -> None:
        """The core calls it ``session`` from now on."""
        self.session = session
        self._link.into_loop(self._net.open)

    def write(self, data: bytes) -> None:
        """One frame for the server."""
        self._link.into_loop(self._net.write, data)

    def press(self, now: float, stall: float, most: int) -> None:
        """Nothing is queued."""

    def pause(self) -> None:
        """Nobody takes what the server says."""
        self._link.into_loop(self._net.may_read.clear)

    def resume(self) -> None:
        """Somebody does again."""
        self._link.into_loop(self._net.may_read.set)

    def tick(self, now: float) -> None:
        """Nothing happens by the clock of the shell."""

    def close(self, grace: float = FAREWELL) -> None:
        """Say goodbye, in at most ``grace`` seconds; ``lost_remote`` is not said any more."""
        self._closing = True
        self._link.into_loop(self._net.close, min(grace, FAREWELL))

    # -- from the loop

    def heard(self, line: bytes, about: bytes | None) -> None:
        """A line of the server's."""
        self.taken += len(line)
        if not self._closing:
            self._house.heard_remote(self, line, about)

    def told(self, effect: Log | Loss) -> None:
        """Something for the operator."""
        self._house.told_remote(effect)

    def lost(self, reason: str) -> None:
        """It is over."""
        if not self._closing:
            self._house.lost_remote(self, reason)

    def doubted(self, why: str) -> None:
        """The server may be of another era."""
        if not self._closing:
            self._on_doubt(why)

    def end(self) -> None:
        """Nothing is left of it."""
        self.ended = True
        self._house.ended_remote()


class _Net:
    """The part of a ``RemoteChild`` that lives in the loop."""

    def __init__(self, client: Exchanges, remote: Remote, link: Link, child: RemoteChild, identity: Identity) -> None:
        self.may_read = asyncio.Event()
        self.may_read.set()
        self._told = 0  # bytes that were carried to the shell
        self._client = client
        self._remote = remote
        self._link = link
        self._loop = link.loop
        self._child = child
        self._identity = identity
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._deadline: asyncio.TimerHandle | None = None
        self._closed = False
        self._carriers: dict[type[Any], Callable[[Any], None]] = {
            Send: self._send,
            Abort: self._abort,
            Finish: self._finish,
            Heard: self._heard,
            Lost: lambda effect: link.into_shell(child.lost, effect.reason),
            SetTimer: self._set_timer,
            CancelTimer: self._cancel_timer,
            Doubt: lambda effect: link.into_shell(child.doubted, effect.why),
            Log: lambda effect: link.into_shell(child.told, effect),
            Loss: lambda effect: link.into_shell(child.told, effect),
        }

    def open(self) -> None:
        self._carry(self._remote.open(self._loop.time()))

    def write(self, data: bytes) -> None:
        if not self._closed:
            self._carry(self._remote.from_core(data[:-1], self._loop.time()))

    def close(self, grace: float) -> None:
        if not self._closed:
            self._closed = True
            self._carry(self._remote.close(self._loop.time()))
            for handle in self._timers.values():
                handle.cancel()
            self._timers.clear()
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(grace, self._cut_off)
        self._look()

    def _cut_off(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def _look(self) -> None:
        """Whether it has ended."""
        if self._closed and not self._tasks:
            if self._deadline is not None:
                self._deadline.cancel()
            self._link.into_shell(self._child.end)

    def _carry(self, effects: list[RemoteEffect]) -> None:
        for effect in effects:
            self._carriers[type(effect)](effect)

    def _heard(self, effect: Heard) -> None:
        self._told += len(effect.line)
        self._link.into_shell(self._child.heard, effect.line, effect.about)

    async def _room(self) -> None:
        """Wait until the shell takes more; every exchange has its turn meanwhile, though its peer never pauses."""
        await asyncio.sleep(0)
        while not self.may_read.is_set() or self._told - self._child.taken > _AHEAD:
            await self.may_read.wait()
            await asyncio.sleep(_BREATH)

    def _set_timer(self, effect: SetTimer) -> None:
        self._cancel_timer(CancelTimer(effect.key))
        self._timers[effect.key] = self._loop.call_at(effect.at, self._on_timer, effect.key)

    def _cancel_timer(self, effect: CancelTimer) -> None:
        handle = self._timers.pop(effect.key, None)
        if handle is not None:
            handle.cancel()

    def _on_timer(self, key: str) -> None:
        del self._timers[key]
        self._carry(self._remote.on_timer(key, self._loop.time()))

    # -- exchanges

    def _send(self, effect: Send) -> None:
        task = self._loop.create_task(self._exchange(effect))
        self._tasks[effect.exchange] = task
        task.add_done_callback(lambda _: self._done(effect.exchange))

    def _done(self, exchange: int) -> None:
        self._tasks.pop(exchange, None)
        self._look()

    def _abort(self, effect: Abort) -> None:
        task = self._tasks.get(effect.exchange)
        if task is not None:
            task.cancel()

    def _finish(self, effect: Finish) -> None:
        task = self._tasks.get(effect.exchange)
        if task is not None:
            self._loop.call_later(_LAST_BYTES, task.cancel)

    async def _exchange(self, effect: Send) -> None:
        if effect.in_turn:
            async with self._client.turns:
                await self._carried_out(effect)
        else:
            await self._carried_out(effect)

    async def _carried_out(self, effect: Send) -> None:
        number, remote = effect.exchange, self._remote
        try:
            async with self._client.exchange(
                effect.method, dict(effect.headers), effect.body, url=effect.url, who=self._identity()
            ) as response:
                self._carry(remote.head(number, response.status, fields_of(response), self._loop.time()))
                async for chunk in response.content.iter_any():
                    self._carry(remote.data(number, chunk, self._loop.time()))
                    await self._room()
            self._carry(remote.ended(number, self._loop.time()))
        except HttpTrouble as fault:
            self._carry(remote.failed(number, fault.trouble, self._loop.time()))
        except (TimeoutError, aiohttp.ClientError, OSError) as fault:
            self._carry(remote.failed(number, trouble_of(fault), self._loop.time()))
        except Exception as fault:  # noqa: BLE001 - whatever goes wrong with one exchange, who waits for it must hear of it
            self._link.into_shell(self._child.told, Log(ERROR, f"internal fault in an exchange: {type(fault).__name__}: {fault}"))
            text = f"dragoman failed on it, which is its own fault: {type(fault).__name__}"
            self._carry(remote.failed(number, Trouble(UNSENT, text, final=True), self._loop.time()))

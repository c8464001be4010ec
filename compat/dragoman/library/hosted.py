"""A server of the library in the place of a server process: the bridge speaks to it in lines, as to any other.

So whatever the bridge does for a server of 2026-07-28 alone it does for this one, and there is no second implementation of anything.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.effects import Loss
from dragoman.errors import Refusal, server_fault
from dragoman.io.link import NoOutlet
from dragoman.library.request import Origin

if TYPE_CHECKING:
    from dragoman.io.link import Link, RemoteHouse
    from dragoman.io.process import Process
    from dragoman.library.runtime import Runtime

_FAREWELL = 2.0
_LEAST = 0.2  # what a handler may take for its end, however hurried ours is
_AHEAD = 4 << 20  # bytes on their way to the shell, or since it paused: some times as much may wait in all
_ON_THE_WAY = (b'{"jsonrpc":"2.0","method":"notifications/message"', b'{"jsonrpc":"2.0","method":"notifications/progress"')
_NOWHERE = Origin()


def nowhere() -> Origin:
    """The origin of requests that came over stdio."""
    return _NOWHERE


class Flight:
    """A request at work; ``over``: nobody waits for its answer."""

    __slots__ = ("key", "missed", "over", "task")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.over = False
        self.missed = 0
        self.task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """It was taken back."""
        self.over = True
        if self.task is not None:
            self.task.cancel()


class HostedChild:
    """One connection to the server; its tasks live in the loop of ``link``. See ``io.http_child.RemoteChild``."""

    pid = None
    due: float | None = None

    def __init__(self, runtime: Runtime, house: RemoteHouse, link: Link, origin: Callable[[], Origin]) -> None:
        self.session: int | None = None
        self.ended = False
        self.outlet = NoOutlet()
        self._runtime = runtime
        self._house: Any = house
        self._link = link
        self._origin = origin
        self._flights: dict[bytes, Flight] = {}
        self._closing = False
        self._paused = False
        self._said = 0  # bytes, by the loop
        self._taken = 0  # of these, by the shell
        self._told_before = 0  # what was taken when it paused
        self._loop_thread: int | None = None

    def open(self, session: int) -> None:
        """The core calls it ``session`` from now on."""
        self.session = session

    def write(self, data: bytes) -> None:
        """One frame for the server."""
        self._link.into_loop(self._take, data, self._origin())

    def press(self, now: float, stall: float, most: int) -> None:
        """Nothing is queued."""

    def pause(self) -> None:
        """The client does not take what it is told; see ``_is_ahead``."""
        self._told_before = self._taken
        self._paused = True

    def resume(self) -> None:
        """See ``pause``."""
        self._paused = False

    @property
    def _is_ahead(self) -> bool:
        """Whether ``_AHEAD`` waits for a client that reads too slowly: then it misses log and progress messages."""
        return self._said - (self._told_before if self._paused else self._taken) > _AHEAD

    def tick(self, now: float) -> None:
        """Nothing happens by the clock of the shell."""

    def close(self, grace: float = _FAREWELL) -> None:
        """End every task; what it would still say is not heard."""
        if not self._closing:
            self._closing = True
            self._link.into_loop(self._end, min(grace, _FAREWELL))

    # -- in the loop

    def _take(self, data: bytes, origin: Origin) -> None:
        self._loop_thread = threading.get_ident()
        message = frame.parse(data)
        if isinstance(message, frame.Request):
            key = frame.id_key(message.id)
            flight = self._flights[key] = Flight(key)
            flight.task = self._link.loop.create_task(self._serve(message, origin, flight))
        elif isinstance(message, frame.Notification) and message.method == "notifications/cancelled":
            target = bytes((frame.members(message.params) or {}).get("requestId", Raw(b"null")))
            taken_back = self._flights.get(frame.id_key(target)) if frame.valid_id(target) else None
            if taken_back is not None and taken_back.task is not None:
                taken_back.cancel()
                taken_back.task.add_done_callback(lambda _: self._done(taken_back))  # it may be that it never begins

    def _done(self, flight: Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    async def _serve(self, request: frame.Request, origin: Origin, flight: Flight) -> None:
        def send(line: bytes) -> None:
            if threading.get_ident() != self._loop_thread:  # a handler in a thread
                self._link.loop.call_soon_threadsafe(send, line)
            elif flight.over:  # what is told after the answer is nobody's
                return
            elif self._is_ahead and line.startswith(_ON_THE_WAY):
                flight.missed += 1
            else:
                self._said += len(line)
                self._say(line, request.id)

        try:
            if self._runtime.ready or await self._started(request, send):
                await self._runtime.dispatcher.serve(request, send, origin, flight)
        finally:
            flight.over = True
            if flight.missed:
                told = f"{flight.missed} log and progress messages of one call, whose client did not read"
                self._link.into_shell(self._house.told_remote, Loss("backpressure", told))
            frame.forget_own()  # if nobody was to be told
            self._done(flight)

    async def _started(self, request: frame.Request, send: Callable[[bytes], None]) -> bool:
        try:
            await self._runtime.start()
        except Exception as fault:
            import logging

            logging.getLogger("dragoman").exception("the server could not start")
            refusal: Refusal = server_fault(f"The server could not start: {type(fault).__name__}")
            send(frame.failure(request.id, refusal.encode())[:-1])
            return False
        return True

    def _say(self, line: bytes, about: bytes) -> None:
        # What follows is not this request's alone: it has nothing of the context that the request came with.
        Context().run(self._link.tell_shell, self._heard, line, about)
        frame.forget_own()

    def _heard(self, line: bytes, about: bytes) -> None:
        self._taken += len(line)
        if not self._closing:
            self._house.heard_remote(self, line, about)

    def _end(self, grace: float) -> None:
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        tasks = [flight.task for flight in flights if flight.task is not None]
        self._link.loop.create_task(self._ended(tasks, grace))

    async def _ended(self, tasks: list[asyncio.Task[None]], grace: float) -> None:
        if tasks:
            await asyncio.wait(tasks, timeout=max(grace, _LEAST))
        self._link.into_shell(self._mark)

    def _mark(self) -> None:
        self.ended = True
        self._house.ended_remote()


class Hosting:
    """Opens connections to a server of the library, as ``Launcher`` starts processes of a command."""

    failed = False

    def __init__(self, runtime: Runtime, link: Link, origin: Callable[[], Origin] = nowhere) -> None:
        self.label: str = runtime.server.info["name"]
        self._runtime = runtime
        self._link = link
        self._origin = origin

    def prepared(self) -> Process | None:
        """Nothing is started ahead of time."""
        return None

    def abandon(self) -> None:
        """Nothing was."""

    def child(self, house: RemoteHouse, max_line: int) -> HostedChild:
        """A connection of its own."""
        return HostedChild(self._runtime, house, self._link, self._origin)

"""Between a shell and a server that is no process of its own: one behind a URL, or one in this very process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from dragoman.bridging.effects import Log, Loss

if TYPE_CHECKING:
    import asyncio


class Link(Protocol):
    """Calls between the shell's thread and the loop's; each direction keeps its order."""

    loop: asyncio.AbstractEventLoop

    def into_loop(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the loop call it."""

    def tell_shell(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the shell call it, at once where loop and shell are of one thread; said from the top of a task, never while it asks us."""

    def into_shell(self, call: Callable[..., object], *arguments: object) -> None:
        """Have the shell call it, never at once."""


class Distant(Protocol):
    """A connection that the shell lives with as with a process (see ``child``). Its methods are called in the shell's thread."""

    session: int | None
    ended: bool
    due: float | None
    outlet: Any

    def open(self, session: int) -> None:
        """The core calls it ``session`` from now on."""

    def write(self, data: bytes) -> None:
        """One frame for the server."""

    def press(self, now: float, stall: float, most: int) -> None:
        """What is queued for it is much."""

    def pause(self) -> None:
        """Nobody takes what the server says."""

    def resume(self) -> None:
        """Somebody does again."""

    def tick(self, now: float) -> None:
        """``due`` has come."""

    def close(self, grace: float) -> None:
        """Say goodbye in at most ``grace`` seconds; nothing more is heard of it but ``ended_remote``."""


class RemoteHouse(Protocol):
    """What a remote server needs of the shell it lives in."""

    def heard_remote(self, child: Distant, line: bytes, about: bytes | None) -> None:
        """A line of the server's, and the id of the request on whose stream it came."""

    def told_remote(self, effect: Log | Loss) -> None:
        """Something for the operator."""

    def lost_remote(self, child: Distant, reason: str) -> None:
        """The server cannot answer any more. Said once, and not after ``close``."""

    def ended_remote(self) -> None:
        """A connection has nothing left, and is marked so."""


class NoOutlet:
    """There is no pipe: every message has a connection of its own."""

    backlog = 0

    def flush(self) -> None:
        """Nothing waits."""

    def abort(self) -> None:
        """Nothing is held."""

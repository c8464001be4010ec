"""One answer on its way to a client.

Theory of operation. The core puts pieces in; the coroutine that serves the request takes them out and sends them. A client that
takes less than its answer brings must not fill our memory: over ``LIMIT`` bytes waiting, the answer is given up. One piece
may be of any size (a result of 100 MB is legal), so only what waits behind it counts.

A request waits for its client while its body is read and while a piece is sent. ``since`` is the tick of the house's clock at
which such a wait began, and ``None`` while it is the client who waits; one look at every answer now and then finds the
clients that have stopped, and costs a request nothing. To end a wait inside ``receive`` or ``send`` of the host there is
only cancelling: ``stalled`` tells our own from the host's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import Context
from typing import Any

from dragoman.http.effects import Begin, Chunk, End, Respond

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Piece = Respond | Begin | Chunk | End

LIMIT = 16 * 1024 * 1024


class Answer:
    """What one request gets. ``complete``: the core has said its last word on it. ``left``: nobody wants it any more."""

    __slots__ = (
        "_loop",
        "_pieces",
        "_queued",
        "_task",
        "_waiter",
        "_watcher",
        "asked",
        "begun",
        "complete",
        "context",
        "left",
        "number",
        "principal",
        "reading",
        "scope",
        "since",
        "stalled",
    )

    def __init__(self, number: int, since: int, loop: asyncio.AbstractEventLoop) -> None:
        self.number = number
        self.since: int | None = since
        self.reading = False  # the body is on its way
        self.asked = False  # the core knows of it
        self.begun = False  # it is a stream
        self.complete = False
        self.left = False
        self.scope: Message = {}  # as the host gave it
        self.principal: str | None = None  # who sent it, where the application knows
        self.context: Context | None = None  # of the coroutine that serves it
        self.stalled = ""  # why it was given up
        self._pieces: deque[tuple[Piece, int]] = deque()
        self._queued = 0
        self._loop = loop
        self._task = asyncio.current_task(loop)
        self._waiter: asyncio.Future[None] | None = None
        self._watcher: asyncio.Task[None] | None = None

    def put(self, piece: Piece, size: int) -> bool:
        """The core's next piece; ``False`` if too much is waiting already."""
        if self.left or self.stalled:
            return True
        # One piece of any size may wait, whichever of them it is, and the end of a stream takes no room.
        if size and self._queued > LIMIT and self._queued - max(waiting for _, waiting in self._pieces) > LIMIT:
            return False
        self._pieces.append((piece, size))
        self._queued += size
        self._wake()
        return True

    @property
    def pending(self) -> bool:
        """Whether the core has answered nothing that could be taken yet."""
        return not self._pieces

    async def next(self) -> Piece | None:
        """The next piece; ``None`` when nobody wants it any more."""
        self.since = None
        while not self._pieces:
            if self.left:
                return None
            self._waiter = self._loop.create_future()
            await self._waiter
        piece, size = self._pieces.popleft()
        self._queued -= size
        return piece

    def joined(self, data: bytes, most: int) -> bytes:
        """``data`` and the chunks that wait behind it, as one piece of about ``most`` bytes."""
        pieces = self._pieces
        if not pieces or not isinstance(pieces[0][0], Chunk):
            return data
        parts = [data]
        length = len(data)
        while pieces and length < most and isinstance(chunk := pieces[0][0], Chunk):
            self._queued -= pieces.popleft()[1]
            parts.append(chunk.data)
            length += len(chunk.data)
        return b"".join(parts)

    def ends(self) -> bool:
        """Whether the stream ends here: nothing but its end is waiting. Taken off then."""
        if not self._pieces or not isinstance(self._pieces[0][0], End):
            return False
        self._pieces.popleft()
        return True

    def leave(self) -> None:
        """The client is gone."""
        self.left = True
        self._wake()

    def give_up(self, why: str) -> None:
        """Do not wait for this client any longer. The coroutine that serves it is cancelled, see ``Bridge``."""
        if not self.stalled and self._task is not None:
            self.stalled = why
            self._task.cancel()

    def watch(self, receive: Receive, *, body_read: bool) -> None:
        """Look out for the client's leaving, from now on."""
        if self._watcher is None and not self.left:
            self._watcher = asyncio.ensure_future(self._listen(receive, body_read))

    def close(self) -> None:
        """The request has been served, or never will be."""
        self.left = True
        self._pieces.clear()
        if self._watcher is not None:
            self._watcher.cancel()

    async def _listen(self, receive: Receive, ended: bool) -> None:
        try:
            while (message := await receive())["type"] != "http.disconnect":
                if not message.get("more_body", False):
                    if ended:  # a host that says so again and again would keep us busy for ever
                        return
                    ended = True
        except OSError:  # how a host may say it too
            pass
        self.leave()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

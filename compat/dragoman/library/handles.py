"""State handles: what a server that has no sessions gives its clients to carry (2026-07-28, server/tools#stateful-tools; SEP-2567).

A handle is a text in a tool's result and an argument of later calls. A sealed one holds its value itself, encrypted: nothing is kept
anywhere, every worker with the same key reads it, and changing the value makes a new handle. A stored one is a random name for a value
in a store. Either opens only for the principal that it was made for, and only for so long.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from dragoman.library.errors import ToolError
from dragoman.library.schemas import adapter_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from dragoman.library.context import Context
    from dragoman.library.request import Handling

T = TypeVar("T")
_KIND = re.compile(r"[a-z][a-z0-9]{0,31}")
DAY = 86400.0


class Store(Protocol):
    """Where stored handles keep their values; ``redis.asyncio.Redis`` is one as it is."""

    def get(self, name: str, /) -> Awaitable[bytes | None]:
        """The value of a name; None if there is none any more."""

    def set(self, name: str, value: bytes, /, *, ex: int) -> Awaitable[Any]:
        """Keep a value for ``ex`` seconds."""

    def delete(self, name: str, /) -> Awaitable[Any]:
        """Forget a name."""


class MemoryStore:
    """A store in this process's memory: for one worker, and gone with it. The oldest of more than ``most`` values are forgotten."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._values: dict[str, tuple[float, bytes]] = {}

    async def get(self, name: str, /) -> bytes | None:
        """See ``Store``."""
        until, value = self._values.get(name, (0.0, b""))
        return value if monotonic() < until else None

    async def set(self, name: str, value: bytes, /, *, ex: int) -> None:
        """See ``Store``."""
        self._values.pop(name, None)
        self._values[name] = (monotonic() + ex, value)
        if len(self._values) > self._most:
            now = monotonic()
            self._values = {each: kept for each, kept in self._values.items() if now < kept[0]}
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]

    async def delete(self, name: str, /) -> None:
        """See ``Store``."""
        self._values.pop(name, None)


class Handles(Generic[T]):
    """Handles of one kind. ``kind`` is a short word in small letters, with which they begin; ``shape`` is the type of their values, which
    pydantic has to know; ``life`` is for how many seconds they open; ``store``: None for sealed ones.

    Sealed handles of more than one worker need the same ``state_key_file`` for all of them (see ``asgi``).
    """

    def __init__(self, kind: str, shape: type[T], *, life: float = DAY, store: Store | None = None) -> None:
        if _KIND.fullmatch(kind) is None:
            raise ValueError(f"the kind of a handle is a short word of small letters and digits, not {kind!r}")
        self.kind = kind
        self.life = life
        self._store = store
        self._adapter: TypeAdapter[T] = adapter_of(shape, f"the {kind} handle")

    async def mint(self, context: Context, value: T) -> str:
        """A new handle for a value."""
        handling = context._handling  # noqa: SLF001 - the secrets of a server are not for its handlers
        data = self._adapter.dump_json(value)
        if self._store is None:
            expiry = b"%d " % (handling.wall + self.life)
            return f"{self.kind}_{handling.sealer.seal(expiry + data, self._bound(handling))}"
        import secrets

        handle = f"{self.kind}_{secrets.token_urlsafe(24)}"
        await self._store.set(self._name(handling, handle), data, ex=max(1, round(self.life)))
        return handle

    async def open(self, context: Context, handle: str) -> T:
        """The value of a handle. Raises ``ToolError``, for the model, for one that is none, is another principal's or has expired."""
        handling = context._handling  # noqa: SLF001 - see mint
        data = self._unseal(handling, handle) if self._store is None else await self._store.get(self._name(handling, handle))
        if data is None or not handle.startswith(f"{self.kind}_"):
            raise ToolError(f"{handle[:80]!r} is no {self.kind} handle that can be used: it is unknown, or has expired. Make a new one.")
        try:
            return self._adapter.validate_json(data)
        except ValueError:  # an earlier release of the server has made it
            raise ToolError(f"{handle[:80]!r} is of an older kind of {self.kind} handle. Make a new one.") from None

    async def update(self, context: Context, handle: str, value: T) -> str:
        """Give a handle another value; its life begins anew. Returns the handle to be used from now on. Raises ``ToolError`` as ``open``
        does.
        """
        await self.open(context, handle)
        if self._store is None:
            return await self.mint(context, value)
        handling = context._handling  # noqa: SLF001 - see mint
        await self._store.set(self._name(handling, handle), self._adapter.dump_json(value), ex=max(1, round(self.life)))
        return handle

    async def drop(self, context: Context, handle: str) -> None:
        """Forget a stored handle; it need not exist. Sealed ones cannot be taken back, and raise ``TypeError``."""
        if self._store is None:
            raise TypeError("a sealed handle cannot be taken back: it expires")
        await self._store.delete(self._name(context._handling, handle))  # noqa: SLF001 - see mint

    def _unseal(self, handling: Handling, handle: str) -> bytes | None:
        opened = handling.sealer.open(handle.partition("_")[2], self._bound(handling))
        expiry, _, data = (opened or b"0 ").partition(b" ")
        return data if handling.wall < float(expiry) else None

    def _bound(self, handling: Handling) -> bytes:
        return f"handle {self.kind} {handling.origin.principal or ''}".encode()

    def _name(self, handling: Handling, handle: str) -> str:
        from hashlib import sha256

        owner = sha256((handling.origin.principal or "").encode()).hexdigest()
        return f"dragoman:handle:{owner[:32]}:{handle[:200]}"

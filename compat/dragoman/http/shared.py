"""What the parts of one HTTP face share, and the context that each of them runs in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from dragoman.bridging.context import Context
from dragoman.bridging.effects import CancelTimer, Effect, SetTimer, ToClient
from dragoman.bridging.ids import Ids
from dragoman.bridging.options import Options
from dragoman.bridging.restarts import Restarts, Verdict
from dragoman.bridging.sealing import Sealer
from dragoman.http.exchange import Exchange
from dragoman.http.options import HttpOptions
from dragoman.http.principals import ANONYMOUS, EVERYBODY

_PRINCIPALS = 1024


class Shared:
    """Options, ids, secrets and the open exchanges of one face."""

    __slots__ = (
        "_restarts",
        "authorizations",
        "exchanges",
        "has_room",
        "http",
        "ids",
        "options",
        "random",
        "sealer",
        "verdict",
        "wall",
        "watch",
    )

    def __init__(
        self, options: Options, http: HttpOptions, ids: Ids, sealer: Sealer, wall: Callable[[], float], random: Callable[[int], bytes]
    ) -> None:
        self.options = options
        self.http = http
        self.ids = ids
        self.sealer = sealer
        self.wall = wall
        self.random = random
        self._restarts: dict[bytes, Restarts] = {}
        self.authorizations: dict[bytes, str] = {}  # of principals, where they go on to the server
        self.verdict = Verdict()
        self.exchanges: dict[int, Exchange] = {}
        self.has_room: Callable[[], bool] = lambda: True
        self.watch: Callable[[Exchange], None] = lambda _exchange: None  # begin its stream when its answer takes long

    def came_with(self, principal: bytes, authorization: bytes | None) -> None:
        """What a principal's newest request says of itself, to be passed on (--forward-authorization)."""
        self.authorizations.pop(principal, None)
        if authorization is not None:
            self.authorizations[principal] = authorization.decode("latin-1")
            if len(self.authorizations) > _PRINCIPALS:
                del self.authorizations[next(iter(self.authorizations))]

    def name_of(self, principal: bytes) -> str:
        """Under which tokens for the server are kept; empty for those who are not told apart: they are whoever runs us."""
        return "" if principal in (ANONYMOUS, EVERYBODY) else principal.hex()

    def restarts(self, principal: bytes) -> Restarts:
        """How the servers of a principal fare at their start: nobody is put off by, or told of, what another has caused."""
        found = self._restarts.get(principal)
        if found is None:
            if len(self._restarts) >= _PRINCIPALS:
                del self._restarts[next(iter(self._restarts))]
            found = self._restarts[principal] = Restarts()
        return found


class HttpContext(Context):
    """A context whose clients' requests are exchanges: the core knows each by the number of its exchange."""

    one_channel = False
    __slots__ = ("_exchanges", "_shared")

    def __init__(self, shared: Shared, principal: bytes) -> None:
        super().__init__(shared.options, shared.ids, shared.sealer, shared.wall, principal, shared.restarts(principal), shared.verdict)
        self._exchanges = shared.exchanges
        self._shared = shared

    def has_room(self) -> bool:
        """Whether the face has a process left."""
        return self._shared.has_room()

    def spoken(self, client_id: bytes) -> bytes:
        """The id in the client's own words; clients use the same ids without knowing of one another."""
        exchange = self._exchanges.get(int(client_id))
        return (exchange.client_id if exchange is not None else None) or b"null"


class Part(Protocol):
    """What the face routes to: all of one principal's modern requests, or one legacy session."""

    number: int
    principal: bytes

    @property
    def context(self) -> Context:
        """What its effects are collected in."""

    def deliver(self, effect: ToClient) -> None:
        """A frame of the core's for the client."""

    def from_server(self, session: int, line: bytes) -> None:
        """A line of a server process."""

    def server_too_long(self, session: int, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""

    def session_lost(self, session: int, reason: str) -> None:
        """A server process has ended."""

    def on_timer(self, key: str) -> None:
        """A timer of this part."""

    def gone(self, exchange: Exchange) -> None:
        """The client closed the connection of an exchange."""

    def close(self) -> None:
        """The face is shutting down."""

    def give_up(self) -> None:
        """The drain time is over."""

    def fault(self, exchange: Exchange, text: str) -> None:
        """A fault of ours while this exchange's request was read."""

    def unused(self, since: float) -> float | None:
        """When a server process of this part was last used, if it has done nothing for anybody since then; None: there is none."""

    def give_way(self, since: float) -> None:
        """End the process that ``unused`` told of."""

    @property
    def idle(self) -> bool:
        """Whether nobody waits for an answer."""


def named(part: int, effect: Effect) -> SetTimer | CancelTimer:
    """A timer of a part's, under a name that no other part has."""
    if isinstance(effect, SetTimer):
        return SetTimer(f"{part}|{effect.key}", effect.at)
    assert isinstance(effect, CancelTimer)
    return CancelTimer(f"{part}|{effect.key}")

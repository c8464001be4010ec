"""Holds the client's lines until it is known which era a server behind a URL speaks (2026-07-28, basic/versioning).

Theory of operation. The core has to know the era before its first message, and finding it out takes a request. What the client
says meanwhile waits, in order. A verdict makes the core, and everything goes through it from then on. Where there is none (the
server is down, or refuses the caller) whoever waits is told why, and the next message asks again: nothing of a failure is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman import errors, frame
from dragoman.bridging.core import Core
from dragoman.bridging.effects import (
    FAILURE,
    RESULT,
    WARNING,
    CancelTimer,
    CloseSession,
    Effect,
    Finished,
    Log,
    OpenSession,
    SetTimer,
    ToClient,
)
from dragoman.bridging.options import LONGEST_DRAIN
from dragoman.errors import Refusal

_HELD = 64 << 20
_DRAIN = "gate"


class Gate:
    """A core that comes into being with ``decided``. ``ask`` begins to find out the era; ``make`` makes the core for one."""

    def __init__(self, make: Callable[[str], Core], ask: Callable[[], None], drain_timeout: float) -> None:
        self._make = make
        self._ask = ask
        self._drain_timeout = drain_timeout
        self._core: Core | None = None
        self._held: list[bytes] = []
        self._size = 0
        self._asking = False
        self._closed = False
        self._said: list[bytes] | None = []  # all that the client said; None once the server has answered any of it, or it is too much
        self._sessions: set[int] = set()
        self._timers: set[str] = set()
        self._is_over = False

    def start(self, now: float) -> list[Effect]:
        """The question goes out at once: the client's first message is on its way."""
        self._begin()
        return []

    def _begin(self) -> None:
        if not self._asking:
            self._asking = True
            self._ask()

    def decided(self, era: str, now: float) -> list[Effect]:
        """The era is known: ``auto`` leaves it to the core."""
        self._asking = False
        core = self._core = self._make(era)
        out = core.start(now)
        held, self._held = self._held, []
        self._said = list(held)
        for line in held:
            out += core.from_client(line, now)
        if self._closed:
            out += [CancelTimer(_DRAIN), *core.client_closed(now)]
        return self._seen(out)

    def doubted(self, why: str, now: float) -> list[Effect]:
        """The server does not answer as one of its era would.

        Where it has answered nothing yet, the question is asked anew, and what the client said is said again; but no call that may
        have been carried out. Else there are sessions and calls of the old era: those come to their end, and the bridge with them.
        """
        core = self._core
        if core is None or self._closed:
            return []
        told = Log(WARNING, f"the server may be of another era than it seemed: {why}")
        if self._said is None:
            self._closed = self._is_over = True
            return [told, *self._seen(core.client_closed(now))]
        out: list[Effect] = [told, *map(CancelTimer, self._timers), *map(CloseSession, self._sessions)]
        said, self._said, self._core = self._said, [], None
        self._timers.clear()
        self._sessions.clear()
        again = [line for line in said if not _is_call(line)]
        self._held = [line for line in said if _is_call(line)]
        out += self._refuse(errors.server_fault("The server's era has to be found out anew, and whether it was carried out is not known"))
        self._held = again
        self._begin()
        return out

    def _seen(self, effects: list[Effect]) -> list[Effect]:
        """What goes out, as far as it has to be known."""
        for number, effect in enumerate(effects):
            kind = type(effect)
            if kind is ToClient and self._said is not None:
                self._answered(effect)  # type: ignore[arg-type]
            elif self._said is not None and kind is OpenSession:
                self._sessions.add(effect.session)  # type: ignore[union-attr]
            elif self._said is not None and kind is SetTimer:
                self._timers.add(effect.key)  # type: ignore[union-attr]
            elif kind is Finished and self._is_over:
                effects[number] = Finished(1)
        return effects

    def _answered(self, effect: ToClient) -> None:
        """A result shows what the server is, an error does not; but who has had one is not answered twice."""
        if effect.kind == RESULT:
            self._said = None
        elif effect.kind == FAILURE and effect.owner is not None and self._said is not None:
            key = frame.id_key(effect.owner)
            self._said = [line for line in self._said if key not in _ids_of(line)]

    def undecided(self, refusal: Refusal, now: float) -> list[Effect]:
        """It could not be found out: everybody who waits is told ``refusal``."""
        self._asking = False
        return self._refuse(refusal)

    def _refuse(self, refusal: Refusal) -> list[Effect]:
        held, self._held, self._size = self._held, [], 0
        out: list[Effect] = [Log(WARNING, refusal.message)]
        for line in held:
            message = frame.parse(line)
            for item in message if isinstance(message, list) else [message]:
                if isinstance(item, frame.Request):
                    out.append(ToClient(frame.failure(item.id, refusal.encode()), item.id, FAILURE))
                elif isinstance(item, frame.Malformed):
                    out.append(ToClient(frame.failure(item.id, Refusal(item.code, item.message).encode()), item.id, FAILURE))
        if self._closed:
            out += [CancelTimer(_DRAIN), Finished(1)]
        return out

    def from_client(self, line: bytes, now: float) -> list[Effect]:
        """A line of the client's."""
        if self._core is not None:
            self._remember(line)
            return self._seen(self._core.from_client(line, now))
        self._held.append(line)
        self._size += len(line)
        if self._size > _HELD:
            return self._refuse(errors.server_fault("The server's era is not known yet, and too much waits for it"))
        self._begin()
        return []

    def _remember(self, line: bytes) -> None:
        if self._said is not None:
            self._said.append(line)
            self._size += len(line)
            if self._size > _HELD:
                self._said = None

    def client_too_long(self, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of the client's was skipped."""
        if self._core is not None:
            return self._core.client_too_long(head, size, now)
        return [ToClient(frame.failure(None, errors.client_line_too_long(size).encode()), None, FAILURE)]

    def client_closed(self, now: float) -> list[Effect]:
        """The client has closed its side."""
        if self._is_over:
            return []
        if self._core is not None:
            return self._seen(self._core.client_closed(now))
        self._closed = True
        if not self._held:
            return [Finished(0)]
        return [SetTimer(_DRAIN, now + LONGEST_DRAIN * self._drain_timeout)]

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[Effect]:
        """A line of a server's."""
        return [] if self._core is None else self._seen(self._core.from_server(session, line, now, about))

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of a server's was skipped."""
        return [] if self._core is None else self._core.server_too_long(session, head, size, now)

    def session_lost(self, session: int, reason: str, now: float) -> list[Effect]:
        """A server is gone."""
        return [] if self._core is None else self._seen(self._core.session_lost(session, reason, now))

    def on_timer(self, key: str, now: float) -> list[Effect]:
        """A timer is due."""
        if self._core is not None:
            return self._seen(self._core.on_timer(key, now))
        return self.undecided(errors.shutting_down(self._drain_timeout), now) if key == _DRAIN else []


def _ids_of(line: bytes) -> list[bytes]:
    message = frame.parse(line)
    return [frame.id_key(item.id) for item in (message if isinstance(message, list) else [message]) if isinstance(item, frame.Request)]


def _is_call(line: bytes) -> bool:
    """Whether a line asks for what must not be done twice."""
    message = frame.parse(line)
    return any(
        isinstance(item, frame.Request) and item.method == "tools/call" for item in (message if isinstance(message, list) else [message])
    )

"""What every part of a bridge shares: the effects of this step, the time that was handed in, options, ids and secrets."""

from __future__ import annotations

from collections.abc import Callable

from dragoman import frame
from dragoman.bridging.effects import (
    FAILURE,
    NOTE,
    RESULT,
    WARNING,
    CancelTimer,
    CloseSession,
    Effect,
    Log,
    Loss,
    OpenSession,
    SetTimer,
    ToClient,
    ToServer,
)
from dragoman.bridging.ids import Ids
from dragoman.bridging.options import Options
from dragoman.bridging.restarts import Restarts, Verdict
from dragoman.bridging.sealing import Sealer
from dragoman.errors import Refusal

_NOISE = 20
_FOREVER = 10 * 365 * 86400.0


class Context:
    """Collects effects until ``take``; ``now`` is the monotonic time of the present step, ``wall`` reads epoch seconds.

    ``principal`` is who the client is, as far as the transport can tell: what is sealed for one opens for no other.
    """

    one_channel = True
    """Whether all of the client's requests share one channel, as on stdio; over HTTP each has a stream of its own."""

    __slots__ = (
        "_invalid",
        "_noise",
        "_out",
        "about",
        "batch",
        "ids",
        "now",
        "opening",
        "options",
        "principal",
        "question_timeout",
        "restarts",
        "sealer",
        "served",
        "unserved",
        "verdict",
        "wall",
    )

    def __init__(
        self,
        options: Options,
        ids: Ids,
        sealer: Sealer,
        wall: Callable[[], float],
        principal: bytes = b"stdio",
        restarts: Restarts | None = None,
        verdict: Verdict | None = None,
    ) -> None:
        self.options = options
        self.principal = principal
        self.restarts = restarts or Restarts()
        self.verdict = verdict or Verdict()
        self.question_timeout = options.question_timeout or _FOREVER
        self.ids = ids
        self.sealer = sealer
        self.wall = wall
        self.now = 0.0
        self.about: bytes | None = None  # of what is heard just now: the id of the request on whose stream it came, where that is known
        self._noise = 0
        self._invalid = 0
        self.served = False  # whether any server process ever did its work
        self.unserved = False  # whether one ended, or failed its handshake, before it did
        self.batch: list[bytes] | None = None
        self.opening = 0  # server processes that the effects not taken yet start
        self._out: list[Effect] = []

    def take(self) -> list[Effect]:
        """The effects collected so far; the list is handed over."""
        out, self._out = self._out, []
        self.opening = 0
        return out

    def worked(self) -> None:
        """A server has done its work."""
        self.served = True
        self.restarts.worked()

    def failed(self, why: str) -> None:
        """A server came to nothing before it had done its work."""
        self.unserved = True
        self.restarts.failed(why, self.now)

    @property
    def pending(self) -> bool:
        """Whether there are effects to take."""
        return bool(self._out)

    def emit(self, effect: Effect) -> None:
        """Add any effect."""
        self._out.append(effect)

    def has_room(self) -> bool:
        """Whether one more server process may be started, where others have a say in that."""
        return True

    def spoken(self, client_id: bytes) -> bytes:
        """The id that the client knows its request by, as JSON text; the core may have been given another."""
        return client_id

    def to_client(self, line: bytes, owner: bytes | None = None, kind: int = NOTE) -> None:
        """Send a finished line to the client."""
        self._out.append(ToClient(line, owner, kind))

    def respond(self, client_id: bytes, member: str, *value: bytes | memoryview) -> None:
        """Answer a client's request with its ``result`` or ``error``, in parts."""
        if member == "result":
            self._out.append(ToClient(frame.result(self.spoken(client_id), *value), client_id, RESULT))
        else:
            self._out.append(ToClient(frame.failure(self.spoken(client_id), b"".join(value)), client_id, FAILURE))

    def note(self, client_id: bytes, method: str, params: bytes | None) -> None:
        """Send a notification that belongs to a client's request."""
        self._out.append(ToClient(frame.notification(method, params), client_id))

    def to_server(self, session: int, line: bytes, owner: bytes | None = None) -> None:
        """Send a finished line to a server; ``owner``: on behalf of which request of a client's."""
        self._out.append(ToServer(session, line, owner))

    def refuse(self, client_id: bytes | None, refusal: Refusal) -> None:
        """Answer a client's request with an error."""
        spoken = None if client_id is None else self.spoken(client_id)
        self._out.append(ToClient(frame.failure(spoken, refusal.encode()), client_id, FAILURE))

    def refuse_server(self, session: int, wire_id: bytes, refusal: Refusal) -> None:
        """Answer a server's request with an error."""
        self.answer_server(session, frame.failure(wire_id, refusal.encode()))

    def answer_server(self, session: int, line: bytes) -> None:
        """Answer a server's request; inside a batch the answers are collected."""
        if self.batch is None:
            self._out.append(ToServer(session, line))
        else:
            self.batch.append(line[:-1])

    def open(self, session: int) -> None:
        """Start a server process."""
        self.opening += 1
        self._out.append(OpenSession(session))

    def close(self, session: int) -> None:
        """End a server process."""
        self._out.append(CloseSession(session))

    def timer(self, key: str, delay: float) -> None:
        """Call back under ``key`` in ``delay`` seconds."""
        self._out.append(SetTimer(key, self.now + delay))

    def cancel_timer(self, key: str) -> None:
        """Forget a timer."""
        self._out.append(CancelTimer(key))

    def log(self, level: int, text: str) -> None:
        """A line for the operator."""
        self._out.append(Log(level, text))

    def noise(self, text: str) -> None:
        """A line of the server's stdout that is no message; after a while they are only counted."""
        self._noise += 1
        if self._noise < _NOISE:
            self.log(WARNING, f"the server wrote on stdout: {text}")
        elif self._noise == _NOISE:
            self.log(WARNING, f"the server wrote on stdout: {text} (such lines are only counted from here on)")
        else:
            self.loss("stdout", "a line on the server's stdout that is no message")

    def invalid(self, text: str) -> None:
        """Something of the server's that breaks the protocol; after a while such things are only counted."""
        self._invalid += 1
        if self._invalid <= _NOISE:
            self.log(WARNING, f"the server sent {text}")
        else:
            self.loss("framing", text)

    def loss(self, change: str, detail: str) -> None:
        """Record what could not be carried."""
        self._out.append(Loss(change, detail))

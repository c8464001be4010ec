"""A change: one named difference that a revision made, with the steps that carry frames across it.

Theory of operation: a step is a pure function of one decoded part of a frame (its members, each still JSON text) and of
the facts of this crossing. It returns the same object when it has nothing to do and never alters its argument. What it
can't carry it writes down in the notes, or refuses with a ``Fault``. Which steps run, and in which order, is the chain's.

``upgrade`` and ``downgrade`` name the direction of the *server being shown*: an upgrade step runs when the server's
revision is older than the change and the client's is not, in whichever direction the frame travels; a downgrade step runs
when the client's is older and the server's is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final

from msgspec import Raw, Struct

from dragoman_specs.version import Version

EVERY: Final = "*"
"""In place of a method: all of them, vendor methods included."""

ABSENT: Final = Raw(b"")
"""In place of a member's JSON text: there is no such member. Compared by identity."""

Members = dict[str, Raw]


class Part(Enum):
    """Which part of a frame a step reshapes."""

    RESULT = "result"
    """The result of a request, server to client."""
    TOOL = "tool"
    """One tool of a ``tools/list`` result, already of a valid shape."""
    ERROR = "error"
    """The error of a request, server to client; ``code`` is an integer and ``message`` a string."""
    NOTIFICATION = "notification"
    """The params of a notification, server to client."""
    CAPABILITIES = "capabilities"
    """The server's capabilities."""
    PARAMS = "params"
    """The params of a request, client to server."""
    ANSWER = "answer"
    """The client's answer to a question of the server (a form, a sample, the roots)."""
    QUESTION = "question"
    """The params of a question of a modern server, an entry of ``inputRequests``."""


class Crossing(Struct, gc=False):
    """The facts of one crossing: what is answered, and between whom. The other side of a legacy peer is 2026-07-28."""

    method: str
    revision: Version
    """The legacy peer's revision: that of the server being upgraded, or of the client that it is downgraded for."""
    server_info: bytes = b""
    """The server's ``Implementation`` as JSON text, valid; empty: no result is stamped with it."""
    server_capabilities: dict[str, Any] = {}
    list_ttl_ms: int = 0
    """How long lists of a server that announces their changes may be cached; 0: not at all."""
    name: str | None = None
    """The tool or prompt asked for."""
    uri: str | None = None
    """The resource asked for."""
    task_only: bool = False
    """The tool is listed with ``execution.taskSupport: "required"``."""
    strict: bool = False
    """Refuse what would have to be repaired."""
    output_schema: bytes = b""
    """Downgrade: the listed ``outputSchema`` of the tool that was called, JSON text; empty: unknown, or none."""
    elicitation_id: str = ""
    """Downgrade: what names a URL elicitation for the client."""
    question: Raw = ABSENT
    """Downgrade: the params of the question that is being answered, as the server wrote them."""


class Loss(Struct, frozen=True, gc=False):
    """Something that could not be carried as it was. ``change`` is a change id or an area."""

    change: str
    detail: str


class Shaped(Struct, frozen=True, gc=False, eq=False):
    """The JSON text of the translated member, in parts so that a big payload is copied once, into its frame.

    ``raw`` is the whole text. ``rest`` is a view of the text that came in; ``more`` are others, and what stands between them.
    """

    head: bytes
    losses: tuple[Loss, ...] = ()
    rest: memoryview | None = None
    more: tuple[bytes | memoryview, ...] = ()

    @property
    def raw(self) -> bytes:
        """The whole text."""
        return self.head if self.rest is None and not self.more else b"".join(self.parts)

    @property
    def parts(self) -> tuple[bytes | memoryview, ...]:
        """The text to be joined with what stands around it."""
        return (self.head, *self.more) if self.rest is None else (self.head, self.rest, *self.more)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shaped) and (self.raw, self.losses) == (other.raw, other.losses)

    def __hash__(self) -> int:
        return hash((self.raw, self.losses))


class Fault(Struct, frozen=True, gc=False):
    """What can't be brought into a valid shape. ``change`` is a change id or an area."""

    change: str
    message: str


class Notes:
    """The losses of one crossing. The same loss in many items is one line with a number."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, change: str, detail: str) -> None:
        """Write down a loss."""
        key = (change, detail)
        self._counts[key] = self._counts.get(key, 0) + 1

    def losses(self) -> tuple[Loss, ...]:
        """All of them, in the order of their first appearance."""
        return tuple(
            Loss(change, detail if count == 1 else f"{detail} ({count} times)") for (change, detail), count in self._counts.items()
        )


Step = Callable[[Members, Crossing, Notes], Members | Fault]


Hang = Callable[[Step], Step]


class Change:
    """A named change and the revision that made it.

    ``steps`` and ``down_steps`` are what its module has hung on it: for older servers, and for older clients.
    """

    __slots__ = ("down_steps", "id", "since", "steps")

    def __init__(self, change_id: str, *, since: Version) -> None:
        self.id = change_id
        self.since = since
        self.steps: list[tuple[frozenset[str], Part, Step]] = []
        self.down_steps: list[tuple[frozenset[str], Part, Step]] = []

    def __str__(self) -> str:
        return f"{self.id} ({self.since})"

    def upgrade(self, methods: str | Iterable[str], part: Part) -> Hang:
        """Hang a step on this change: for an older server that is shown to a client which has the change."""
        return _hang(self.steps, methods, part)

    def downgrade(self, methods: str | Iterable[str], part: Part) -> Hang:
        """Hang a step on this change: for an older client that is shown a server which has the change."""
        return _hang(self.down_steps, methods, part)


def _hang(steps: list[tuple[frozenset[str], Part, Step]], methods: str | Iterable[str], part: Part) -> Hang:
    names = frozenset((methods,) if isinstance(methods, str) else methods)

    def hang(step: Step) -> Step:
        steps.append((names, part, step))
        return step

    return hang

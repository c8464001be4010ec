"""One HTTP request of ours on its way: what it carries, how its answer is read, how often it was sent."""

from __future__ import annotations

from collections.abc import Callable

from dragoman import frame
from dragoman.remote.sse_reader import SseReader

CALL, NOTE, STREAM, RESUME, FAREWELL = "call", "note", "stream", "resume", "farewell"
_WORDS = {
    CALL: "a batch",
    NOTE: "an answer to the server's question",
    STREAM: "the event stream",
    RESUME: "the event stream",
    FAREWELL: "the end of the session",
}
_OF_SESSION = frozenset(("", "notifications/cancelled", "notifications/progress"))
_NO_FIELDS: dict[str, str] = {}

Waiter = Callable[[frame.Result | frame.Failure], None]


class Flight:
    """See the module. ``ids`` are those of requests that it carries and that wait for their answer, by their keys."""

    __slots__ = (
        "about",
        "again",
        "body",
        "due",
        "exchange",
        "fields",
        "ids",
        "kind",
        "last_id",
        "line",
        "method",
        "reader",
        "request",
        "resent",
        "resumes",
        "retry_ms",
        "session",
        "size",
        "started",
        "status",
        "tries",
        "waiter",
    )

    def __init__(self, kind: str, line: bytes, message: frame.Frame | list[frame.Frame] | None, waiter: Waiter | None = None) -> None:
        self.kind = kind
        self.line = line
        self.exchange = 0
        self.waiter = waiter
        requests = [item for item in (message if isinstance(message, list) else [message]) if isinstance(item, frame.Request)]
        self.request = requests[0] if requests and not isinstance(message, list) else None
        self.method = requests[0].method if requests else (message.method if isinstance(message, frame.Notification) else "")
        self.ids = {frame.id_key(request.id): request.id for request in requests}
        self.about = requests[0].id if requests and waiter is None else None
        self.tries = 0  # times that it could not be delivered
        self.resent = False  # it was sent a second time though the first may have arrived
        self.again = False  # it was sent again for a reason that holds only once (another session, other headers)
        self.resumes = 0  # times that its stream was taken up again without a new event
        self.last_id: bytes | None = None  # of the last event of its stream, over all connections
        self.retry_ms: int | None = None  # what its stream asked for before it is taken up again
        self.due: float | None = None  # when it is given up
        self.started = 0.0  # when it was sent first, for those that are given up
        self.session: str | None = None  # the one that it was sent in
        self.status = 0
        self.fields: dict[str, str] = _NO_FIELDS
        self.reader: SseReader | None = None
        self.body: list[bytes] = []
        self.size = 0

    def restart(self, exchange: int) -> None:
        """It is sent, under this number."""
        self.exchange = exchange
        self.status = 0
        self.fields = _NO_FIELDS
        self.reader = None
        self.body = []
        self.size = 0

    @property
    def is_of_session(self) -> bool:
        """Whether it means nothing in another session: an answer to a question of this one, or a word about a request of this one."""
        return self.kind == NOTE and self.method in _OF_SESSION

    @property
    def what(self) -> str:
        """What it is, in error texts."""
        return self.method or _WORDS[self.kind]

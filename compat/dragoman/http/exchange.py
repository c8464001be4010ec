"""One HTTP request on its way to an answer: a single JSON object, or a stream of events (basic/transports/streamable-http).

Theory of operation. The first message decides the form: an answer that comes first is a whole JSON body with its own status;
a notification first, or a wait longer than ``header_wait``, begins a stream, and then even an error rides on it with 200.
Nothing is sent after the answer, and nothing to a client that is gone. A client that takes no events gets JSON only, and
one that takes nothing else gets a stream at once.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman.http import sse
from dragoman.http.effects import Begin, Chunk, End, Headers, Respond
from dragoman.http.status import challenge_of

Emit = Callable[[Begin | Chunk | End | Respond], None]
NO_HEADERS: Headers = ()
BEATS = 4
"""So often in the time of a keep-alive ``beat`` is called: a comment goes out once so many were quiet."""
_OK = 200


class Exchange:
    """The answer to one HTTP request; ``emit`` takes its effects. ``headers`` are added to whatever is sent."""

    __slots__ = (
        "_quiet",
        "begun",
        "client_id",
        "done",
        "emit",
        "forwards",
        "headers",
        "held",
        "method",
        "number",
        "owner",
        "stream",
        "stream_only",
        "takes_stream",
    )

    def __init__(
        self, number: int, emit: Emit, headers: Headers = NO_HEADERS, *, takes_stream: bool = True, takes_json: bool = True
    ) -> None:
        self.number = number
        self.emit = emit
        self.headers = headers
        self.takes_stream = takes_stream
        self.stream_only = not takes_json
        self.client_id: bytes | None = None  # of the JSON-RPC request, as the client wrote it
        self.method = ""
        self.owner: object = None  # who is told that the client has gone
        self.stream: object = None  # of a legacy session, that it reads
        self.begun = False
        self.done = False
        self.forwards = False  # the client's credentials went on to the server, and so its refusal comes back
        self.held = False  # what is waited for may still decide the status
        self._quiet = 0  # beats since something was sent

    # -- whole answers ---------------------------------------------------------------------------------------------

    def respond(self, status: int, body: bytes = b"", headers: Headers = NO_HEADERS) -> None:
        """The whole answer at once."""
        if self.done:
            return
        self.done = True
        self.emit(Respond(self.number, status, (*headers, *self.headers), body))

    def answer(self, line: bytes, status: int = 200) -> None:
        """The JSON-RPC answer, as a body of its own or as the last event of the stream; a status of its own needs a body."""
        challenge = challenge_of(line) if self.forwards and not self.begun else None
        if challenge is not None:
            self.respond(challenge[0], line, (*sse.JSON_HEADERS, (b"www-authenticate", challenge[1])))
        elif self.begun or (self.stream_only and status == _OK):
            self.event(sse.event(line))
            self.end()
        else:
            self.respond(status, line, sse.JSON_HEADERS)

    # -- streams -----------------------------------------------------------------------------------------------------

    def begin(self, first: bytes = b"") -> None:
        """The stream begins, unless it has begun already."""
        if self.begun or self.done:
            return
        self.begun = True
        self.emit(Begin(self.number, 200, (*sse.STREAM_HEADERS, *self.headers)))
        if first:
            self.emit(Chunk(self.number, first))

    def event(self, data: bytes) -> None:
        """An event, ready for the wire."""
        self.begin()
        if not self.done:
            self._quiet = 0
            self.emit(Chunk(self.number, data))

    def end(self) -> None:
        """The stream ends in order."""
        if not self.begun and not self.takes_stream:
            self.respond(202)
        self.begin()
        if not self.done:
            self.done = True
            self.emit(End(self.number))

    def beat(self) -> None:
        """A comment, if nothing was sent for a while, so that nobody on the way takes the stream for dead."""
        self._quiet += 1
        if self.begun and not self.done and self._quiet >= BEATS:
            self._quiet = 0
            self.emit(Chunk(self.number, sse.COMMENT))

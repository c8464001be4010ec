"""A legacy server behind a URL: Streamable HTTP of 2025-03-26 to 2025-11-25 (basic/transports#streamable-http of each).

Theory of operation. ``initialize`` begins a session if the server gives it an id; what the core says of log level and
subscriptions is remembered. A server that does not know the id any more (404) is shown the same handshake once more, and the
requests that it refused are sent again: they were not carried out. A stream that ends too early is resumed with the id of its last
event, after the time that the server asked for; without such an id, what does no harm is asked again and the rest fails. After
the handshake a standing stream carries what belongs to no request, if the server offers one.

A URL that takes no POST may be a server of 2024-11-05: then ``two_endpoints`` takes over (see ``remote``).
"""

from __future__ import annotations

from dragoman import frame
from dragoman.bridging.effects import DEBUG, WARNING
from dragoman.bridging.era import MODERN, judge
from dragoman.remote import troubles
from dragoman.remote.effects import Headers, Heard, Trouble
from dragoman.remote.flight import CALL, FAREWELL, NOTE, RESUME, STREAM, Flight
from dragoman.remote.options import RemoteOptions
from dragoman.remote.session import SessionConnection
from dragoman.remote.sse_reader import Event, TooLong
from dragoman_specs.names import HEADER_LAST_EVENT_ID, HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID, has_version_header

RESUMES = 5
"""Times that a stream is resumed without a new event before it is given up."""
_COME_BACK = 1.0
_SHORTEST, _LONGEST = 0.1, 30.0
_LONGEST_ASKED = 3600.0  # a time that a server asks for is kept, whatever it is (2025-11-25); longer would be never
_NOT_HERE = (400, 404, 405)
_NEVER, _BUSY = (405, 501), (408, 409, 429)
_TAKES_GET = ("accept", "text/event-stream")


class LegacyConnection(SessionConnection):
    """See the module. ``fallen_back`` is the handshake that was answered as if there were no Streamable HTTP; ``refusal``: in words."""

    def __init__(self, options: RemoteOptions) -> None:
        super().__init__(options)
        self.session_id: str | None = None
        self.version: str | None = None  # as it was agreed on, even if it is none that we know
        self.fallen_back: Flight | None = None
        self.refusal: frame.Failure | None = None
        self._stream: Flight | None = None
        self._stream_id: bytes | None = None
        self._streamed = False  # in this session
        self._is_listening = False  # there is a standing stream, or will be again
        self._pause = _COME_BACK
        self._retry_ms: int | None = None

    def headers(self, flight: Flight) -> Headers:
        """The session, the revision once it is agreed on, and where a stream is taken up again."""
        found: list[tuple[str, str]] = []
        if flight.method != "initialize":
            flight.session = self.session_id
            if self.session_id is not None:
                found.append((HEADER_SESSION_ID, self.session_id))
            if self.version is not None and has_version_header(self.version):
                found.append((HEADER_PROTOCOL_VERSION, self.version))
        if flight.kind in (STREAM, RESUME):
            found.append(_TAKES_GET)
            last = flight.last_id if flight.kind == RESUME else self._stream_id
            if last is not None:
                found.append((HEADER_LAST_EVENT_ID, last.decode("utf-8", "replace")))
        return tuple(found)

    def _closed(self) -> None:
        if self.session_id is not None:
            self.launch(Flight(FAREWELL, b"", None), "DELETE")

    # -- the session -------------------------------------------------------------------------------------------------

    def _learn(self, flight: Flight, answer: frame.Result, line: bytes) -> bytes:
        if flight.method == "initialize":
            self._welcomed(flight, answer)
        return line

    def _welcomed(self, flight: Flight, answer: frame.Result) -> None:
        self.session_id = flight.fields.get("mcp-session-id") or None
        self.version = frame.text((frame.members(answer.result) or {}).get("protocolVersion"))
        self.memory.opened(answer.result)

    def _accepted(self, flight: Flight) -> None:
        if flight.kind == NOTE:
            if flight.method == "notifications/initialized":
                self._listen()
            self._over(flight)
        elif flight.ids and self._is_listening:
            # Some servers accept a request and answer it on the standing stream.
            self.log(DEBUG, f"the server accepted {flight.what} with {troubles.status_text(flight.status)}: its answer may come elsewhere")
        else:
            super()._accepted(flight)

    def _fault(self, flight: Flight, answer: frame.Failure | None, body: bytes) -> bool:
        if flight.method == "initialize" and flight.status in _NOT_HERE and flight.waiter is None and not _is_modern(answer):
            self.fallen_back, self.refusal, flight.again = flight, answer, True
            return True
        if flight.method != "initialize" and _is_modern(answer):
            self.doubt("it answers as a server of 2026-07-28")
        if flight.kind == RESUME or flight.method == "initialize" or not self._is_session_gone(flight, answer, body):
            return False
        if flight.again:
            return False
        flight.again = True
        for key in flight.ids:
            self._by_id[key] = flight
        self._hold(flight)
        if flight.session == self.session_id:
            self._renew()
        else:  # another one has been begun meanwhile
            self._release()
        return True

    def _is_session_gone(self, flight: Flight, answer: frame.Failure | None, body: bytes) -> bool:
        """404 says so (#session-management); servers in the field say it with 400 and in words too, before they have read the id.

        An error that names the request comes from what the request set off, whatever its words are.
        """
        if flight.session is None or flight.status not in (400, 404) or not self._has_hello:
            return False
        if flight.status == 404 or (answer is not None and answer.id is not None):
            return flight.status == 404
        return b"session" in (bytes(answer.error) if answer is not None else body).lower()

    def _begin_again(self) -> None:
        self._renew()

    def _renew(self) -> None:
        """The same handshake again."""
        if self._renewing:
            return
        self._renewing = True
        self.session_id, self.version, self._stream_id = None, None, None
        if self._stream is not None:
            self.drop(self._stream)
            self._stream = None
        self._blocking, self._streamed = None, False
        self._forget_answers()
        for accepted in self._accepted_only():
            self.refuse(accepted, troubles.broken_off(accepted.what, "its session is over"))
        self._greet()

    # -- the standing stream -------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        if self._stream is None:
            self._is_listening = True
            self._stream = Flight(STREAM, b"", None)
            self.launch(self._stream, "GET")

    def _begun(self, flight: Flight) -> None:
        if flight.kind != STREAM or flight.reader is None:
            return
        if self._streamed and self._stream_id is None:  # nobody knows what was said meanwhile
            for line in self.memory.announced():
                self.emit(Heard(line[:-1]))
        self._streamed = True

    def _event(self, flight: Flight, event: Event | TooLong) -> None:
        if flight.kind == STREAM:
            self._pause = _COME_BACK
        super()._event(flight, event)

    def _whole(self, flight: Flight) -> None:
        if flight.kind == STREAM:
            self._no_stream(flight)
        elif flight.kind == RESUME:
            self._resume_failed(flight)
        elif flight.kind != FAREWELL:
            super()._whole(flight)

    def _no_stream(self, flight: Flight) -> None:
        """An answer to GET that is no stream."""
        self._stream, self._is_listening = None, False
        if flight.status == 404 and self._streamed and flight.session == self.session_id:
            self._renew()
        elif flight.status not in _NEVER and (flight.status >= 500 or flight.status in _BUSY or self._streamed):
            self._come_back(failed=True)  # 409: the server has not noticed yet that the stream before is gone
        else:
            # 405: it offers none. A refusal of the first one will not be taken back either.
            level = DEBUG if flight.status in (*_NEVER, 404) else WARNING
            self.log(level, f"the server offers no event stream: {troubles.status_text(flight.status)}")
            for accepted in self._accepted_only():
                self.refuse(accepted, troubles.no_message(accepted.status, b"", accepted.fields, accepted.what))

    def _accepted_only(self) -> list[Flight]:
        """Requests that were accepted, to be answered on the standing stream."""
        under_way = (*self._flights.values(), *self._waiting.values(), *self._held)
        return [each for each in dict.fromkeys(self._by_id.values()) if each not in under_way]

    def _come_back(self, *, failed: bool = False) -> None:
        """Open the standing stream again, after the time that the server asked for; after a failure never sooner than we would."""
        self._is_listening = True
        delay = min(self.spread(self._pause), _LONGEST)
        if self._retry_ms is not None:
            delay = max(_asked(self._retry_ms), delay if failed else 0.0)
        self.set_timer("listen", delay)
        self._pause = min(self._pause * 2, _LONGEST)

    def _on_timer(self, key: str) -> None:
        if key != "listen":
            super()._on_timer(key)
        elif not self._renewing:
            self._listen()

    def _relaunch(self, flight: Flight) -> None:
        if flight.kind != RESUME:
            super()._relaunch(flight)
        elif flight.session == self.session_id and not self._renewing:
            self.launch(flight, "GET")
        else:
            self._ask_anew(flight, "and its session is over")

    def _undelivered(self, flight: Flight, trouble: Trouble) -> None:
        if flight.kind == STREAM:
            self._stream = None
            self._come_back(failed=True)
        elif flight.kind == RESUME:
            self._resume_failed(flight)
        elif flight.kind != FAREWELL:
            super()._undelivered(flight, trouble)

    # -- streams that end --------------------------------------------------------------------------------------------

    def _asked(self, flight: Flight, request: frame.Request, line: bytes) -> None:
        self.emit(Heard(line, flight.about))

    def _stream_over(self, flight: Flight, why: str) -> None:
        if flight.kind == STREAM:
            reader = flight.reader
            if reader is not None and reader.last_id is not None:
                self._stream_id = reader.last_id or None
            if reader is not None and reader.retry_ms is not None:
                self._retry_ms = reader.retry_ms
            self._stream = None
            self._come_back()
        elif flight.ids:
            self._interrupted(flight, why)

    def _interrupted(self, flight: Flight, why: str) -> None:
        """The stream of a request ended before its answer: it is taken up again where it broke, or the request fails."""
        reader = flight.reader
        if reader is not None and reader.last_id and reader.last_id != flight.last_id:
            flight.last_id, flight.resumes = reader.last_id, 0
        if flight.last_id is not None and flight.resumes < RESUMES:
            flight.resumes += 1
            flight.kind = RESUME
            if reader is not None and reader.retry_ms is not None:
                flight.retry_ms = reader.retry_ms
            self.later(flight, _COME_BACK if flight.retry_ms is None else _asked(flight.retry_ms))
        elif flight.last_id is None:
            self._ask_anew(flight, why)
        else:
            self.refuse(flight, troubles.broken_off(flight.what, why))

    def _ask_anew(self, flight: Flight, why: str) -> None:
        """From the start, if that does no harm."""
        if flight.resent or not self.is_harmless(flight):
            self.refuse(flight, troubles.broken_off(flight.what, why))
            return
        flight.resent, flight.kind, flight.last_id = True, CALL, None
        self._relaunch(flight)

    def _resume_failed(self, flight: Flight) -> None:
        """The server does not take up a stream again (405, or 404 for a session that is gone), or cannot be reached just now."""
        if flight.status in (0, 429) or flight.status >= 500:
            self._interrupted(flight, troubles.status_text(flight.status) if flight.status else "it cannot be reached")
        else:
            self._ask_anew(flight, f"and cannot be resumed: {troubles.status_text(flight.status)}")


def _asked(retry_ms: int) -> float:
    return min(max(retry_ms / 1000, _SHORTEST), _LONGEST_ASKED)


def _is_modern(answer: frame.Failure | None) -> bool:
    return answer is not None and judge(answer)[0] == MODERN

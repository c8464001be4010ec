"""HTTP+SSE of 2024-11-05 (basic/transports#http-with-sse): one stream for all that the server says, one endpoint for the client.

Theory of operation. The stream comes first; its first event names the endpoint, which must be of the same origin: anything else
would have what the client says, and its credentials, sent to somebody else. Answers come on the stream, whatever the POST is
answered. The stream is the session: when it ends, another is begun and shown the same handshake, as a client that starts anew
would; requests that wait for their answer fail, since the server that would give it is talking to nobody.
"""

from __future__ import annotations

from urllib.parse import urljoin

from dragoman import frame
from dragoman.bridging.effects import WARNING
from dragoman.errors import Refusal, server_fault
from dragoman.remote import troubles
from dragoman.remote.connection import PAUSES
from dragoman.remote.effects import Headers, Heard, Trouble
from dragoman.remote.flight import NOTE, STREAM, Flight
from dragoman.remote.options import RemoteOptions
from dragoman.remote.session import SessionConnection
from dragoman.remote.sse_reader import Event, TooLong
from dragoman.remote.urls import origin_of, shown

_NAMELESS = "nameless"
_PATIENCE = 15.0
_ACCEPT: Headers = (("accept", "text/event-stream"),)


class TwoEndpoints(SessionConnection):
    """See the module. ``instead``: what to tell if there is no such stream, where something else was tried before."""

    def __init__(self, options: RemoteOptions, instead: Refusal | None = None) -> None:
        super().__init__(options)
        self.instead = instead  # what is wrong with the server if it has no such stream either
        self._endpoint: str | None = None
        self._stream: Flight | None = None
        self._attempts = 0
        self._pausing = False  # until the stream is opened again

    def _opened(self) -> None:
        self._connect()

    def _connect(self) -> None:
        self._endpoint, self._pausing = None, False
        self._stream = Flight(STREAM, b"", None)
        self.launch(self._stream, "GET")
        self.set_timer(_NAMELESS, _PATIENCE)

    def _on_timer(self, key: str) -> None:
        if key != _NAMELESS:
            super()._on_timer(key)
        elif self._endpoint is None and self._stream is not None:
            stream = self._stream
            self.drop(stream)
            self._stream = None
            self._try_again(stream, f"it named no endpoint in {_PATIENCE:g} s")

    def headers(self, flight: Flight) -> Headers:
        """The revision has no fields of its own."""
        return _ACCEPT if flight.kind == STREAM else ()

    def endpoint(self, flight: Flight) -> str:
        """What the server named."""
        return "" if flight.kind == STREAM else self._endpoint or ""

    @property
    def _can_send(self) -> bool:
        if self._stream is None and not self._pausing and not self.closing:
            self._connect()
        return self._endpoint is not None and not self._renewing

    # -- the stream ----------------------------------------------------------------------------------------------------

    def _event(self, flight: Flight, event: Event | TooLong) -> None:
        if isinstance(event, Event) and event.name == b"endpoint" and flight.kind == STREAM:
            self._named(event.data)
        else:
            super()._event(flight, event)

    def _named(self, data: bytes) -> None:
        """The endpoint event, relative to the URL of the stream."""
        if self._endpoint is not None:
            return
        named = _joined(self.options.url, data.decode("utf-8", "replace").strip())
        self.instead = None  # it does speak so
        if named is None or origin_of(named) != origin_of(self.options.url):
            if self._stream is not None:
                self.drop(self._stream)
            where = "that is no URL" if named is None else f"of another origin, {shown(named)}"
            self._no_stream(server_fault(f"The server names an endpoint {where}: nothing is sent there"))
            return
        self._endpoint = named
        self._attempts = 0
        if self._renewing:
            self._greet()
        else:
            self._release()

    def _stream_over(self, flight: Flight, why: str) -> None:
        if flight.kind != STREAM:  # a POST that was answered with a stream of its own: the answer may still come on the standing one
            return
        self._stream, self._endpoint, self._pausing = None, None, True
        unsent = (*self._held, *self._waiting.values())
        for each in list(dict.fromkeys(self._by_id.values())):
            if each not in unsent:
                self.refuse(each, troubles.broken_off(each.what, why))
                self._settle(each)
        if self.closing:
            return
        self._renewing, self._blocking = self._has_begun, None
        self._forget_answers()
        self.log(WARNING, f"the server's event stream has ended ({why}): another one is opened")
        self._try_again(flight, why)

    def _begin_again(self) -> None:
        self._renewing = True
        if self._stream is None:
            self._connect()
        elif self._endpoint is not None:
            self._greet()

    def _try_again(self, flight: Flight, why: str) -> None:
        if self._attempts >= len(PAUSES):
            self._no_stream(troubles.unreachable(f"its event stream cannot be opened: {why}"))
            return
        self._attempts += 1
        self._pausing = True
        self.later(flight, PAUSES[self._attempts - 1])

    def _relaunch(self, flight: Flight) -> None:
        if flight.kind == STREAM:
            self._connect()
        else:
            super()._relaunch(flight)

    # -- what goes wrong -----------------------------------------------------------------------------------------------

    def _whole(self, flight: Flight) -> None:
        if flight.kind != STREAM:
            super()._whole(flight)
            return
        self._stream = None
        if flight.status >= 500 or flight.status == 429:
            self._try_again(flight, troubles.status_text(flight.status))
        else:
            self._no_stream(
                troubles.answered(flight.status, b"".join(flight.body), flight.fields, "GET for its event stream", self.options.redact)
            )

    def _no_stream(self, refusal: Refusal) -> None:
        """The stream cannot be had: whoever waits is told; the next message tries again, unless something was lost."""
        self._stream, self._attempts, self._pausing = None, 0, False
        if self._renewing:
            self._not_begun(server_fault(troubles.session_gone(refusal.message)))
            return
        held, self._held = self._held, []
        for flight in held:
            self.give_up(flight, self.instead or refusal)

    def _undelivered(self, flight: Flight, trouble: Trouble) -> None:
        if flight.kind != STREAM:
            super()._undelivered(flight, trouble)
            return
        self._stream = None
        if trouble.final:
            self._no_stream(troubles.unreachable(trouble))
        else:
            self._try_again(flight, trouble.text)

    def _accepted(self, flight: Flight) -> None:
        """The answer comes on the stream."""
        if flight.kind == NOTE:
            self._over(flight)

    def _no_answer(self, flight: Flight, body: bytes) -> None:
        if 200 <= flight.status < 300:  # "Accepted" in words
            self._accepted(flight)
            return
        super()._no_answer(flight, body)

    def _asked(self, flight: Flight, request: frame.Request, line: bytes) -> None:
        self.emit(Heard(line))


def _joined(base: str, named: str) -> str | None:
    try:
        return urljoin(base, named)
    except ValueError:  # a bracket without its other half, for instance
        return None

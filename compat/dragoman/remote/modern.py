"""A server of 2026-07-28 behind a URL (basic/transports/streamable-http): every request a POST of its own, and no session.

Theory of operation. The fields that repeat parts of a request need the called tool's schema, so the first call of a tool that no
list has shown waits for a list. A server that compares them and finds others (-32020) has changed the tool: it is listed again, and
the call sent once more. Closing a request's stream is its cancellation. A stream that is lost cannot be resumed: what does no
harm is asked again, the rest fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.effects import WARNING
from dragoman.bridging.era import discover_params
from dragoman.bridging.session import LOST, READY
from dragoman.bridging.tools import Tools
from dragoman.errors import invalid_params
from dragoman.remote import troubles
from dragoman.remote.connection import Connection, one_line
from dragoman.remote.effects import Headers
from dragoman.remote.flight import CALL, NOTE, Flight, Waiter
from dragoman.remote.mirror import headers_of, without_invalid
from dragoman.remote.options import RemoteOptions
from dragoman_specs.names import (
    HEADER_METHOD,
    HEADER_MISMATCH,
    HEADER_PROTOCOL_VERSION,
    META_PROTOCOL_VERSION,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from dragoman_specs.version import LATEST_MODERN, Era, parse

_LISTEN = "subscriptions/listen"
_TOLD = 1000
_UNPROVEN = "unproven"
_PROOF = 15.0
_NOT_SO = (400, 404, 405, 406, 415)
_IMPLEMENTATIONS = range(-32019, -31999)
_CHANGED = "notifications/tools/list_changed"


class ModernConnection(Connection):
    """See the module. It is asked for lists like a ``Lister``."""

    own_stream_only = True  # answers "flow only on the response stream of the request they relate to"

    def __init__(self, options: RemoteOptions) -> None:
        super().__init__(options)
        self.tools = Tools(lambda text: self.log(WARNING, text))
        self._own = 0
        self._late: dict[str, tuple[Flight, Callable[[], None] | None]] = {}
        self.proven = options.proven
        self._is_timed = False
        self._told: set[tuple[str, str]] = set()  # the tools that were left out, so that each is told once

    # -- from the core -----------------------------------------------------------------------------------------------

    def _from_core(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        if isinstance(message, frame.Request):
            self._request(Flight(CALL, line, message))
        elif isinstance(message, frame.Notification):
            self._notification(message, line)
        elif isinstance(message, list):
            self.loss("pr0416_no_batching", "a batch for a server whose revision has none")
        else:
            self.loss("sep2322_mrtr", "a response for a server that was asked nothing: 2026-07-28 has no requests of servers")

    def _request(self, flight: Flight) -> None:
        request = flight.request
        assert request is not None
        for key in flight.ids:
            self._by_id[key] = flight
        name = _name(request) if request.method == "tools/call" else None
        if name is None or name in self.tools or self.tools.complete:
            self._send(flight)
            return

        def listed() -> None:
            if flight.ids:  # nobody has cancelled it meanwhile
                self._send(flight)

        self.tools.when_complete(self, listed)

    def _send(self, flight: Flight) -> None:
        mirrored = self._mirrored(flight)
        if isinstance(mirrored, str):
            self.refuse(flight, invalid_params(mirrored))
        else:
            self.launch(flight)

    def _mirrored(self, flight: Flight) -> Headers | str:
        request = flight.request
        if request is None:
            return ((HEADER_METHOD, flight.method),) if flight.method else ()
        name = _name(request) if request.method == "tools/call" else None
        return headers_of(request, None if name is None else self.tools.mirrored(name))

    def headers(self, flight: Flight) -> Headers:
        """The revision that the body names, the method, and what else is repeated."""
        mirrored = self._mirrored(flight)
        version = _version(flight.request) if flight.request is not None else str(LATEST_MODERN)
        return ((HEADER_PROTOCOL_VERSION, version), *(() if isinstance(mirrored, str) else mirrored))

    def _notification(self, note: frame.Notification, line: bytes) -> None:
        if note.method != "notifications/cancelled":
            self.launch(Flight(NOTE, line, note))
            return
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        flight = self._take_back(frame.id_key(target)) if frame.valid_id(target) else None
        if flight is not None:
            self.drop(flight)

    # -- requests of our own: what ``Tools`` asks ----------------------------------------------------------------------

    @property
    def phase(self) -> str:
        """Whether there is anybody to ask."""
        return LOST if self.closing else READY

    def when_ready(self, step: Callable[[], None]) -> None:
        """There is no handshake to wait for."""
        step()

    def declares(self, *path: str) -> bool:
        """Nobody has asked it; a server without tools answers with an error."""
        return True

    def request(
        self, method: str, params: bytes, waiter: Waiter, *, patience: float | None = None, late: Callable[[], None] | None = None
    ) -> int:
        """A request of the bridge's own."""
        self._own += 1
        wire_id = frame.encode(f"dragoman-{self.options.instance}-{self._own}")
        members: dict[str, Any] = {**(frame.members(Raw(params)) or {}), **(frame.members(Raw(discover_params())) or {})}
        line = frame.request(wire_id, method, frame.encode(members))[:-1]
        message = frame.parse(line)
        assert isinstance(message, frame.Request)
        key = f"own:{self._own}"

        def answered(answer: frame.Result | frame.Failure) -> None:
            if self._late.pop(key, None) is not None:
                self.cancel_timer(key)
            waiter(answer)

        flight = Flight(CALL, line, message, answered)
        if patience is not None:
            self._late[key] = (flight, late)
            self.set_timer(key, patience)
        self.launch(flight)
        return self._own

    def _on_timer(self, key: str) -> None:
        if key == _UNPROVEN:
            self.doubt(f"it answers server/discover, and has answered nothing else in {_PROOF:g} s")
            return
        flight, late = self._late.pop(key, (None, None))
        if flight is None:
            return
        if late is not None:
            late()
        elif flight.ids:
            self.refuse(flight, troubles.unreachable("no answer in time"))
            self.drop(flight)

    # -- answers -------------------------------------------------------------------------------------------------------

    def _answered(self, flight: Flight, answer: frame.Result | frame.Failure, line: bytes) -> None:
        if isinstance(answer, frame.Result) or flight.status == 200:
            self._prove()
        super()._answered(flight, answer, line)

    def _prove(self) -> None:
        if not self.proven:
            self.proven = True
            self.cancel_timer(_UNPROVEN)

    def launch(self, flight: Flight, method: str = "POST", url: str = "") -> None:
        """Send it; the first answer proves that discovery told the truth."""
        super().launch(flight, method, url)
        if not self.proven and not self._is_timed and flight.ids and self.is_harmless(flight) and flight.method != _LISTEN:
            self._is_timed = True
            self.set_timer(_UNPROVEN, _PROOF)

    def _fault(self, flight: Flight, answer: frame.Failure | None, body: bytes) -> bool:
        if flight.status in _NOT_SO and (answer is None or _is_of_no_era(answer)):
            self.doubt(f"it answered {flight.what} with {troubles.status_text(flight.status)}, and in no words of 2026-07-28")
        members = frame.members(answer.error) if answer is not None else None
        code = bytes((members or {}).get("code", Raw(b"")))
        if flight.again or flight.request is None or flight.waiter is not None:
            return False
        if code == b"%d" % HEADER_MISMATCH and flight.method == "tools/call":
            flight.again = True
            self._settle(flight)
            self.tools.forget()
            self.tools.when_complete(self, lambda: self._send(flight) if flight.ids else None)
            return True
        if code == b"%d" % UNSUPPORTED_PROTOCOL_VERSION and _speaks_ours(members):
            flight.again = True  # it names what was sent: perhaps another of several servers behind one URL answers now
            self._settle(flight)
            self.launch(flight)
            return True
        return False

    def _learn(self, flight: Flight, answer: frame.Result, line: bytes) -> bytes:
        if flight.method != "tools/list":
            return line
        self.tools.learn(answer.result)
        kept, left_out = without_invalid(answer.result)
        for name, why in left_out:
            if (name, why) not in self._told and len(self._told) < _TOLD:
                self._told.add((name, why))
                self.log(WARNING, f"the tool {name!r} is left out: {why} (2026-07-28, basic/transports/streamable-http#schema-extension)")
        return line if kept is answer.result else one_line(frame.result(flight.about or answer.id, bytes(kept)))

    def _noted(self, note: frame.Notification) -> None:
        if note.method == _CHANGED:
            self.tools.forget()

    def _asked(self, flight: Flight, request: frame.Request, line: bytes) -> None:
        self.loss("sep2322_mrtr", f"{request.method[:100]} on the stream of a server whose revision has no requests of servers")

    def _stream_over(self, flight: Flight, why: str) -> None:
        if not flight.ids:
            return
        if flight.method != _LISTEN and not flight.resent and self.is_harmless(flight):
            flight.resent = True
            self.launch(flight)
        else:
            self.refuse(flight, troubles.broken_off(flight.what, why))

    def is_harmless(self, flight: Flight) -> bool:
        """Lists said so of a tool, or it changes nothing."""
        if flight.method == "tools/call" and flight.request is not None:
            return self.tools.is_harmless(_name(flight.request))
        return super().is_harmless(flight)


def _is_of_no_era(answer: frame.Failure) -> bool:
    """An error made up before the request was read (no id, and a code that no revision gives a meaning), or about a session."""
    error = frame.members(answer.error) or {}
    code = frame.tree(error.get("code", Raw(b"null")))
    about_sessions = "session" in (frame.text(error.get("message")) or "").lower()
    return about_sessions or (answer.id is None and code in (*_IMPLEMENTATIONS, -32600))


def _name(request: frame.Request) -> str | None:
    return frame.text((frame.members(request.params) or {}).get("name"))


def _version(request: frame.Request) -> str:
    meta = frame.members((frame.members(request.params) or {}).get("_meta")) or {}
    return frame.text(meta.get(META_PROTOCOL_VERSION)) or str(LATEST_MODERN)


def _speaks_ours(error: dict[str, Raw] | None) -> bool:
    data = frame.members((error or {}).get("data")) or {}
    supported = frame.tree(data["supported"]) if "supported" in data else None
    known = [parse(each) for each in supported] if isinstance(supported, list) else []
    return any(version is not None and version.era is Era.MODERN for version in known)

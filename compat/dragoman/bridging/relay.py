"""Passthrough: client and server speak the same era, and every line goes on as it came.

``told`` is where a server's lines go: (message, line, the id of the request that it answers or None, the id of the request that it
belongs to, where that is known). By default to the client.

Only what a process in the middle owes its peers is added: a request is remembered until its answer, so that it gets one
when the server dies or breaks its line; text on the server's stdout that is no message goes to the operator. Line endings
are LF whatever came in, and a byte order mark is taken off, since servers in the field stop at either.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.broken import ids_in, is_call, looks_like_frame, shown
from dragoman.bridging.context import Context
from dragoman.bridging.effects import FAILURE, NOTE, RESULT
from dragoman.errors import Refusal
from dragoman_specs.names import META_MODERN, META_PROTOCOL_VERSION, META_SUBSCRIPTION_ID
from dragoman_specs.version import LATEST_LEGACY, Era, Version, parse

Told = Callable[[frame.Frame | list[frame.Frame], bytes, bytes | None, bytes | None], None]
_BOM = b"\xef\xbb\xbf"


class Relay:
    """One relayed connection; ``number`` is its session, None while there is no process."""

    def __init__(self, context: Context, number: int | None = None, told: Told | None = None) -> None:
        self._context = context
        self._told = told or self._to_client
        self.number = number
        self.revision: Version | None = None
        self._refused: set[bytes] = set()
        self._in_flight: dict[bytes, tuple[bytes, str]] = {}

    @property
    def initialized(self) -> bool:
        """Whether the server has accepted ``initialize``."""
        return self.revision is not None

    @property
    def idle(self) -> bool:
        """Whether no request waits for an answer (streams last as long as the connection and do not count)."""
        return all(method == "subscriptions/listen" for _, method in self._in_flight.values())

    def from_client(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        """A line of the client's."""
        if self.number is None:
            if self._context.restarts.pause(self._context.now):
                self._put_off(message)
                return
            self.number = self._context.ids.session()
            self._context.open(self.number)
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, frame.Request):
                key = frame.id_key(item.id)
                self._refused.discard(key)
                self._in_flight[key] = (item.id, item.method)
            elif isinstance(item, frame.Notification) and item.method == "notifications/cancelled":
                target = bytes((frame.members(item.params) or {}).get("requestId", Raw(b"null")))
                if frame.valid_id(target):
                    self._in_flight.pop(frame.id_key(target), None)
        self._context.to_server(self.number, _clean(line) + b"\n")

    def _put_off(self, message: frame.Frame | list[frame.Frame]) -> None:
        """The server is not started just now."""
        refusal = errors.server_fault(self._context.restarts.why(self._context.now))
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, frame.Request):
                self._context.refuse(item.id, refusal)

    def from_server(self, line: bytes) -> None:
        """A line of the server's."""
        message = frame.parse(line, lenient=True)
        if message is None:
            return
        if isinstance(message, frame.Malformed):
            self._broken(line, errors.unreadable_answer(message.message))
            return
        answered: bytes | None = None
        for item in message if isinstance(message, list) else [message]:
            if isinstance(item, frame.Result | frame.Failure) and item.id is not None:
                key = frame.id_key(item.id)
                owner = self._in_flight.pop(key, None)
                answered = owner[0] if owner is not None else None
                if owner is None and key in self._refused and not isinstance(message, list):
                    self._refused.discard(key)
                    self._context.loss("id", "an answer to a request that was answered with an error before")
                    return
                if owner is not None and owner[1] == "initialize":
                    self._handshake(item)
        self._context.served = True
        about = self._context.about
        self._told(message, _clean(line) + b"\n", answered, None if about is None else frame.id_key(about))

    def _to_client(self, message: frame.Frame | list[frame.Frame], line: bytes, answered: bytes | None, _about: bytes | None) -> None:
        kind = NOTE if answered is None else FAILURE if isinstance(message, frame.Failure) else RESULT
        self._context.to_client(line, answered, kind)

    def _handshake(self, answer: frame.Result | frame.Failure) -> None:
        if isinstance(answer, frame.Failure):
            return
        version = frame.text((frame.members(answer.result) or {}).get("protocolVersion"))
        self._context.worked()
        self.revision = (parse(version) if version else None) or Version.V2025_11_25

    def too_long(self, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""
        self._broken(head, errors.answer_too_long(size), whole=False)

    def _broken(self, line: bytes, refusal: Refusal, *, whole: bool = True) -> None:
        if not looks_like_frame(line):
            self._context.noise(shown(line))
            return
        self._context.invalid(f"a line that is no valid message: {shown(line)}")
        if is_call(line):
            self._context.loss("framing", "a request or notification of the server's that could not be read")
            return
        ids = ids_in(line, whole=whole)
        key = next((key for key in map(frame.id_key, ids) if key in self._in_flight), None)
        if not ids and len(self._in_flight) == 1:
            key = next(iter(self._in_flight))
        if key is None:
            self._context.loss("framing", f"{refusal.message}; whose it was could not be told")
        else:
            self._context.refuse(self._in_flight.pop(key)[0], refusal)
            self._refused.add(key)

    def forget(self, client_id: bytes) -> None:
        """A request has been answered otherwise, or nobody waits for it; its answer may still come."""
        if self._in_flight.pop(frame.id_key(client_id), None) is not None:
            self._refused.add(frame.id_key(client_id))

    def give_up(self, refusal: Refusal) -> None:
        """Answer every request in flight with an error."""
        for client_id, _ in self._in_flight.values():
            self._context.refuse(client_id, refusal)
        self._in_flight.clear()

    def end_streams(self) -> None:
        """The end has come: streams end with their result (2026-07-28, basic/patterns/subscriptions#graceful-closure)."""
        for key, (client_id, method) in list(self._in_flight.items()):
            if method == "subscriptions/listen":
                del self._in_flight[key]
                ended = frame.encode({"resultType": "complete", "_meta": {META_SUBSCRIPTION_ID: Raw(client_id)}})
                self._context.respond(client_id, "result", ended)

    def lost(self, reason: str) -> None:
        """The process is gone; the next message would start another."""
        self.number = None
        self._refused.clear()
        if self.initialized:
            self._context.unserved = True
        else:
            self._context.failed(errors.server_ended(reason).message)
        self.give_up(errors.server_ended(reason))


def is_handshake(request: frame.Request) -> bool:
    """Whether this is a legacy client's ``initialize``, whatever ``_meta`` it carries (2026-07-28, basic/versioning).

    One with a modern envelope that offers no revision is none: it is a modern client's request for a method that is gone.
    """
    if request.method != "initialize":
        return False
    members = frame.members(request.params) or {}
    meta = frame.members(members.get("_meta")) or {}
    return "protocolVersion" in members or META_PROTOCOL_VERSION not in meta


def legacy_offer(context: Context, request: frame.Request, line: bytes) -> bytes:
    """The line of an ``initialize``, offering a handshake revision and without modern words.

    A handshake never agrees on a modern revision, and a server that echoes what it is offered would (basic/lifecycle).
    """
    members = frame.members(request.params) or {}
    version = parse(frame.text(members.get("protocolVersion")))
    is_modern = version is not None and version.era is Era.MODERN
    if not is_modern and b"_meta" not in line:
        return line
    if is_modern:
        context.log(effects.INFO, f"the client offers {version} in initialize, which has no handshake: {LATEST_LEGACY} is offered")
        members["protocolVersion"] = Raw(frame.encode(LATEST_LEGACY))
    meta = frame.members(members.get("_meta")) or {}
    if not is_modern and META_MODERN.isdisjoint(meta):
        return line
    members.pop("_meta", None)
    if meta and (rest := {key: value for key, value in meta.items() if key not in META_MODERN}):
        members["_meta"] = Raw(frame.encode(rest))
    return frame.request(request.id, request.method, frame.encode(members))[:-1]


def _clean(line: bytes) -> bytes:
    return line.removeprefix(_BOM).rstrip(b"\r")

"""The one ``subscriptions/listen`` of a legacy client (2026-07-28, basic/patterns/subscriptions).

A legacy client hears of list changes by having connected, and of resources by ``resources/subscribe``; a modern server tells
either only on a stream that asked. So there is one stream with the union of both. To change it a new one is opened, its
acknowledgement awaited, then the old one ended; ``resources/subscribe`` is answered when the acknowledgement names its URI. A
stream that is lost is opened again, with growing pauses, and the client is told to look again, since nobody knows what it missed.
The pauses differ from bridge to bridge, so that those which a restarted server has lost do not all come back in the same moment.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.ids import number_of
from dragoman.bridging.listens import LIST_CHANGES
from dragoman_specs.names import META_SUBSCRIPTION_ID, METHOD_NOT_FOUND

if TYPE_CHECKING:
    from dragoman.bridging.downgrade_server import DowngradeServer
    from dragoman.bridging.session import Answer

_FIRST_RETRY, _LAST_RETRY = 1.0, 30.0
UPDATED = "notifications/resources/updated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class _Stream(Struct, eq=False):
    wire_id: int
    changes: list[str]
    uris: list[str]
    again: bool
    honoured: list[str] = []
    followed: list[str] = []


class DownStream:
    """The stream, and who waits for it."""

    def __init__(self, bridge: DowngradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self.declared: dict[str, Raw] = {}  # the server's capabilities
        self._changes: list[str] = []
        self._uris: list[str] = []
        self._current: _Stream | None = None
        self._opening: _Stream | None = None
        self._stale = False  # what is wanted has changed while a stream was being opened
        self._lost = False
        self._retry = _FIRST_RETRY
        self._waiting: dict[str, list[bytes]] = {}

    def request(self, request: frame.Request) -> None:
        """``resources/subscribe`` or ``resources/unsubscribe``."""
        uri = frame.text((frame.members(request.params) or {}).get("uri"))
        resources = frame.members(self.declared.get("resources")) or {}
        if bytes(resources.get("subscribe", Raw(b"false"))) != b"true":
            self._bridge.client.refuse(request.id, errors.unknown_method(request.method))
        elif uri is None:
            self._bridge.client.refuse(request.id, errors.invalid_params("uri must be a string"))
        elif request.method == "resources/subscribe":
            self._subscribe(request.id, uri)
        else:
            self._unsubscribe(request.id, uri)

    def begin(self) -> None:
        """The client is ready to hear what the server announces."""
        self._changes = [
            name
            for name, (holder, _) in LIST_CHANGES.items()
            if bytes((frame.members(self.declared.get(holder)) or {}).get("listChanged", Raw(b""))) == b"true"
        ]
        self._renew()

    def _subscribe(self, client_id: bytes, uri: str) -> None:
        """``resources/subscribe``: answered when the stream has it."""
        current = self._current
        if current is not None and uri in current.followed and uri in self._uris:
            self._bridge.client.answer(client_id, "result", b"{}")
            return
        self._waiting.setdefault(uri, []).append(client_id)
        if uri not in self._uris:
            self._uris.append(uri)
        self._renew()

    def _unsubscribe(self, client_id: bytes, uri: str) -> None:
        """``resources/unsubscribe``."""
        if uri in self._uris:
            self._uris.remove(uri)
            self._renew()
        self._bridge.client.answer(client_id, "result", b"{}")

    def _renew(self) -> None:
        """Open a stream with what is wanted now."""
        if self._opening is not None:
            self._stale = True
            return
        self._stale = False
        if not self._changes and not self._uris:
            self._end_current()
            return
        wire_id = self._context.ids.wire()
        self._opening = _Stream(wire_id, list(self._changes), list(self._uris), self._lost)
        wanted: dict[str, object] = dict.fromkeys(self._changes, True)
        if self._uris:
            wanted["resourceSubscriptions"] = self._uris
        self._bridge.patience.begin(wire_id)
        self._bridge.ask(wire_id, "subscriptions/listen", {"notifications": Raw(frame.encode(wanted))})

    def acknowledged(self, meta: dict[str, Raw], params: dict[str, Raw]) -> None:
        """The new stream stands: the old one ends, and those who waited are answered."""
        stream = self._opening
        if stream is None or number_of(bytes(meta.get(META_SUBSCRIPTION_ID, Raw(b"")))) != stream.wire_id:
            return
        self._bridge.patience.end(stream.wire_id)
        granted = frame.members(params.get("notifications")) or {}
        followed = frame.tree(granted["resourceSubscriptions"]) if "resourceSubscriptions" in granted else []
        stream.followed = [uri for uri in stream.uris if isinstance(followed, list) and uri in followed]
        stream.honoured = [name for name in stream.changes if bytes(granted.get(name, Raw(b""))) == b"true"]
        self._end_current()
        self._current, self._opening = stream, None
        self._retry, self._lost = _FIRST_RETRY, False
        for uri in stream.uris:
            for client_id in self._waiting.pop(uri, ()):
                if uri in stream.followed:
                    self._bridge.client.answer(client_id, "result", b"{}")
                else:
                    self._bridge.client.answer(client_id, "error", errors.not_followed(uri).encode())
        self._uris = [uri for uri in self._uris if uri in stream.followed or uri not in stream.uris]
        if stream.again:
            self._look_again(stream)
        if self._stale and (self._changes, self._uris) != (stream.changes, stream.uris):
            self._renew()

    def _look_again(self, stream: _Stream) -> None:
        for name in stream.honoured:
            self._bridge.client.tell(LIST_CHANGES[name][1], None)
        for uri in stream.followed:
            self._bridge.client.tell(UPDATED, frame.encode({"uri": uri}))

    def _end_current(self) -> None:
        if self._current is not None:
            self._bridge.cancel(self._current.wire_id, "another stream takes its place")
            self._current = None

    def carries(self, method: str, meta: dict[str, Raw], params: dict[str, Raw]) -> bool:
        """Whether a notification is the client's to hear: it comes on the stream that counts, and was not unsubscribed meanwhile."""
        current = self._current
        if current is None or number_of(bytes(meta.get(META_SUBSCRIPTION_ID, Raw(b"")))) != current.wire_id:
            self._context.log(effects.DEBUG, f"{method} on no stream of the client's, or one that another has taken the place of")
            return False
        uri = frame.text(params.get("uri")) if method == UPDATED else None
        return uri is None or uri in self._uris or uri not in current.followed

    def answered(self, wire_id: int, answer: Answer) -> bool:
        """The server has answered the request that opens a stream, which ends it."""
        if not isinstance(answer, frame.Failure):
            return self.ended(wire_id, "it has ended it")
        error = frame.members(answer.error) or {}
        why = f"it refused it: {frame.text(error.get('message')) or 'no message'}"
        return self.ended(wire_id, why, for_good=bytes(error.get("code", Raw(b""))) == b"%d" % METHOD_NOT_FOUND)

    def ended(self, wire_id: int, why: str, *, for_good: bool = False) -> bool:
        """A stream has ended, or did not come about; False if it was none of ours. ``for_good``: the server has no such thing."""
        if self._opening is not None and wire_id == self._opening.wire_id:
            waiting, self._waiting = self._waiting, {}
            self._opening = None
            for client_id in (client_id for ids in waiting.values() for client_id in ids):
                self._bridge.client.answer(client_id, "error", errors.server_fault(f"The server opened no stream: {why}").encode())
            self._uris = [uri for uri in self._uris if uri not in waiting]
        elif self._current is not None and wire_id == self._current.wire_id:
            self._current = None
        else:
            return False
        if for_good:
            self._lost = True
            self._context.log(effects.WARNING, f"the server declares what it does not announce: subscriptions/listen: {why}")
        else:
            self._come_back(wire_id)
        return True

    def process_lost(self) -> None:
        """The process is gone, and the streams with it."""
        had = self._opening or self._current
        self._opening = self._current = None
        if had is not None:
            self._bridge.patience.end(had.wire_id)
            self._come_back(had.wire_id)
        elif self._waiting:
            self._come_back(0)

    def process_closed(self) -> None:
        """The process was closed by us: the next one that is started gets the stream."""
        self._opening = self._current = None
        self._lost = True

    def process_opened(self) -> None:
        """There is a process again."""
        if self._lost:
            self.on_timer()

    def _come_back(self, wire_id: int) -> None:
        self._lost = True
        if self._changes or self._uris:
            self._context.timer("down-listen", self._retry * _share(self._context.ids.instance, wire_id))
            self._retry = min(self._retry * 2, _LAST_RETRY)

    def on_timer(self) -> None:
        """Time to try again."""
        if self._current is None and self._opening is None:
            self._renew()

    def waits_for(self, client_id: bytes) -> bool:
        """Whether a request of this id (see ``frame.id_key``) waits for the stream."""
        return any(client_id == frame.id_key(other) for waiting in self._waiting.values() for other in waiting)

    def withdraw(self, client_id: bytes) -> None:
        """The client takes ``resources/subscribe`` back, or has been answered otherwise: what nobody else waits for is not followed."""
        key = frame.id_key(client_id)
        for uri, waiting in self._waiting.items():
            left = [other for other in waiting if frame.id_key(other) != key]
            if len(left) == len(waiting):
                continue
            self._bridge.client.leave(client_id)
            if left:
                self._waiting[uri] = left
                return
            del self._waiting[uri]
            if uri in self._uris:
                self._uris.remove(uri)
                self._renew()
            return

    @property
    def waits(self) -> bool:
        """Whether a client waits for the stream."""
        return bool(self._waiting)

    def give_up(self, refusal: errors.Refusal) -> None:
        """Answer everybody who waits."""
        waiting, self._waiting = self._waiting, {}
        for client_id in (client_id for ids in waiting.values() for client_id in ids):
            self._bridge.client.answer(client_id, "error", refusal.encode())


def _share(instance: str, wire_id: int) -> float:
    """What part of a pause is waited, from a half to all of it: another one for every bridge and every stream."""
    digest = hashlib.blake2b(b"%b %d" % (instance.encode(), wire_id), digest_size=4).digest()
    return 0.5 + int.from_bytes(digest) / 2**33

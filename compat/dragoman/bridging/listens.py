"""sep2575_subscriptions: ``subscriptions/listen`` in front of a legacy server (2026-07-28, basic/patterns/subscriptions).

A legacy server sends list changes to everybody and resource updates to those who called ``resources/subscribe``; a modern
client gets only what a stream of its own asked for, each notification stamped with that stream's id. So streams fan in:
resource URIs are subscribed once however many streams name them, and the acknowledgement, always first, tells the subset
that is really honoured. A URI that nobody named exactly may be a sub-resource:
it goes to those who named a parent of it, else to all who named any.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Raw, Struct

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.envelope import Envelope
from dragoman.bridging.session import PATIENCE
from dragoman_specs.names import META_SUBSCRIPTION_ID

if TYPE_CHECKING:
    from dragoman.bridging.session import Answer, Session
    from dragoman.bridging.upgrade_server import UpgradeServer

LIST_CHANGES = {
    "toolsListChanged": ("tools", "notifications/tools/list_changed"),
    "promptsListChanged": ("prompts", "notifications/prompts/list_changed"),
    "resourcesListChanged": ("resources", "notifications/resources/list_changed"),
}
_UPDATED = "notifications/resources/updated"
_FIRST_RETRY, _LAST_RETRY = 1.0, 30.0
_SAME_NEWS = 0.1
_HEARD = 1024


class Listen(Struct, eq=False):
    """One stream: ``wanted`` list changes and ``uris`` asked for, ``waiting`` subscriptions not yet answered.

    ``heard`` is when which session sent a notification last: the same from another session a moment later is the same news.
    """

    client_id: bytes
    key: bytes
    wanted: list[str]
    uris: list[str]
    envelope: Envelope
    honoured: list[str] = []
    followed: dict[str, None] = {}
    waiting: int = 0
    begun: bool = False
    acknowledged: bool = False
    ended: bool = False
    missed: dict[str, tuple[str, dict[str, Raw]]] = {}
    heard: dict[str, tuple[int, float]] = {}


class _Follow(Struct, eq=False):
    """One ``resources/subscribe`` on one session, for all streams that name the URI."""

    streams: dict[bytes, Listen]
    holds: bool = False


class Listens:
    """All streams of one client connection."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._open: dict[bytes, Listen] = {}
        self._follows: dict[tuple[int, str], _Follow] = {}
        self._retry = _FIRST_RETRY

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, key: object) -> bool:
        return key in self._open

    def open(self, request: frame.Request, key: bytes, envelope: Envelope) -> None:
        """A client asks for a stream."""
        wanted = _read_filter(envelope.params.get("notifications"))
        if isinstance(wanted, str):
            self._context.refuse(request.id, errors.invalid_params(wanted))
            return
        listen = Listen(request.id, key, *wanted, envelope)
        self._open[key] = listen
        session = self._bridge.session_for(envelope)
        session.when_ready(lambda: self._begin(listen, session))

    def _begin(self, listen: Listen, session: Session) -> None:
        if listen.ended:
            return
        if session.phase != "ready":
            del self._open[listen.key]
            self._bridge.refuse_failed(listen.client_id, session)
            return
        listen.begun = True
        listen.followed = {}
        listen.honoured = [name for name in listen.wanted if session.declares(LIST_CHANGES[name][0], "listChanged")]
        for other in self._bridge.pool.sessions():
            if other.phase == "ready" and not other.single_use:
                self._follow(listen, other)
        if not listen.waiting:
            self._acknowledge(listen)

    def _follow(self, listen: Listen, session: Session) -> None:
        wanted = listen.uris if session.declares("resources", "subscribe") else []
        listen.waiting += len(wanted)
        for uri in wanted:
            follow = self._follows.get((session.number, uri))
            if follow is None:
                self._subscribe(listen, session, uri)
                continue
            if listen.key in follow.streams:
                listen.waiting -= 1
                continue
            follow.streams[listen.key] = listen
            if follow.holds:
                self._answered(listen, uri, held=True)

    def _subscribe(self, listen: Listen, session: Session, uri: str) -> None:
        follow = self._follows[session.number, uri] = _Follow({listen.key: listen})

        def answered(answer: Answer) -> None:
            follow.holds = isinstance(answer, frame.Result)
            for stream in list(follow.streams.values()):
                if stream.waiting:
                    self._answered(stream, uri, held=follow.holds)
            if not follow.holds:
                self._follows.pop((session.number, uri), None)
            self._release(session, uri)

        def late() -> None:
            # The server declares subscriptions and may be waiting for something itself: the stream is promised the resource.
            self._context.log(effects.WARNING, f"the server has not answered resources/subscribe for {uri} within {PATIENCE:g} seconds")
            for stream in list(follow.streams.values()):
                if stream.waiting:
                    self._answered(stream, uri, held=True)

        session.request("resources/subscribe", frame.encode({"uri": uri}), answered, patience=PATIENCE, late=late)

    def _answered(self, listen: Listen, uri: str, *, held: bool) -> None:
        listen.waiting -= 1
        if held:
            listen.followed[uri] = None
        if not listen.waiting:
            self._acknowledge(listen)

    def _acknowledge(self, listen: Listen) -> None:
        if listen.acknowledged or listen.ended:
            return
        listen.acknowledged = True
        granted: dict[str, object] = dict.fromkeys(listen.honoured, True)
        followed = [uri for uri in listen.uris if uri in listen.followed]
        if followed:
            granted["resourceSubscriptions"] = followed
        self._send(listen, "notifications/subscriptions/acknowledged", {"notifications": Raw(frame.encode(granted))})
        missed, listen.missed = listen.missed, {}
        for method, params in missed.values():
            if method != _UPDATED or listen.followed:
                self._send(listen, method, params)

    def _send(self, listen: Listen, method: str, params: dict[str, Raw]) -> None:
        meta = frame.members(params.get("_meta")) or {}
        meta[META_SUBSCRIPTION_ID] = Raw(self._context.spoken(listen.client_id))
        stamped = {"_meta": Raw(frame.encode(meta)), **{name: value for name, value in params.items() if name != "_meta"}}
        self._context.note(listen.client_id, method, frame.encode(stamped))

    # -- from the server -------------------------------------------------------------------------------------------

    def changed(self, session: Session, method: str, params: dict[str, Raw]) -> None:
        """A list has changed."""
        name = next(name for name, (_, sent) in LIST_CHANGES.items() if sent == method)
        receivers = [listen for listen in self._open.values() if listen.begun and name in listen.honoured]
        for listen in receivers:
            self._deliver(listen, session, method, method, params)
        if not receivers and any(name in listen.wanted for listen in self._open.values()):
            undeclared = f"{LIST_CHANGES[name][0]}.listChanged"
            self._context.loss("sep2575_subscriptions", f"{method}: the server did not declare {undeclared}, so no stream was promised it")
        elif not receivers:
            self._context.log(effects.DEBUG, f"{method}: no client stream asked for it")

    def updated(self, session: Session, params: dict[str, Raw]) -> None:
        """A resource has changed."""
        uri = frame.text(params.get("uri"))
        streams = [listen for listen in self._open.values() if listen.followed]
        receivers = [listen for listen in streams if uri in listen.followed]
        receivers = receivers or [listen for listen in streams if any(_is_below(uri, parent) for parent in listen.followed)] or streams
        for listen in receivers:
            self._deliver(listen, session, f"{_UPDATED} {uri}", _UPDATED, params)
        if not receivers:
            self._context.loss("sep2575_subscriptions", f"{_UPDATED} for a resource that no stream follows")

    def _deliver(self, listen: Listen, session: Session, what: str, method: str, params: dict[str, Raw]) -> None:
        """Send a notification now, or after the acknowledgement, which must come first."""
        if not self._is_news(listen, session, what):
            return
        if listen.acknowledged:
            self._send(listen, method, params)
        elif len(listen.missed) < _HEARD:
            listen.missed[what] = (method, params)

    def _is_news(self, listen: Listen, session: Session, what: str) -> bool:
        last = listen.heard.get(what)
        if last is not None and last[0] != session.number and self._context.now < last[1] + _SAME_NEWS:
            return False
        if len(listen.heard) >= _HEARD:
            listen.heard.clear()
        listen.heard[what] = (session.number, self._context.now)
        return True

    # -- ends ------------------------------------------------------------------------------------------------------

    def cancel(self, key: bytes) -> bool:
        """The client ends a stream; False if it has none of that id."""
        listen = self._open.pop(key, None)
        if listen is None:
            return False
        self._end(listen)
        return True

    def _end(self, listen: Listen) -> None:
        listen.ended = True
        for session in self._bridge.pool.sessions():
            for uri in listen.uris:
                follow = self._follows.get((session.number, uri))
                if follow is not None and follow.streams.pop(listen.key, None) is not None:
                    self._release(session, uri)

    def _release(self, session: Session, uri: str) -> None:
        """Unsubscribe what no stream names any more."""
        follow = self._follows.get((session.number, uri))
        if follow is not None and follow.holds and not follow.streams:
            del self._follows[session.number, uri]
            if session.phase == "ready":
                session.request("resources/unsubscribe", frame.encode({"uri": uri}), lambda _answer: None, patience=PATIENCE)

    def close(self) -> None:
        """The bridge ends: every stream gets its result, and on one channel the cancellation that the specification demands.

        The result comes first, so that a client knows the graceful end (subscriptions#graceful-closure) before the
        notification (cancellation: a server MUST send it when it tears a stream down) tells it that nothing follows.
        """
        for listen in list(self._open.values()):
            self._acknowledge(listen)
            self._context.respond(listen.client_id, "result", self._bridge.answers.listen_result(listen.client_id))
            # Over HTTP the stream ends with the result, and nothing can follow it; clients take the notification for a lost stream.
            if self._context.one_channel:
                params = frame.encode({"requestId": Raw(listen.client_id), "reason": "the bridge is shutting down"})
                self._context.note(listen.client_id, "notifications/cancelled", params)
            listen.ended = True
        self._open.clear()

    # -- a new server process ----------------------------------------------------------------------------------------

    def session_lost(self, session: Session) -> None:
        """The streams outlive the process: if no other request does, they start a new one, with growing pauses."""
        self.session_closed(session)
        if self._open:
            self._context.timer("listen", self._retry)
            self._retry = min(self._retry * 2, _LAST_RETRY)

    def session_closed(self, session: Session) -> None:
        """A session's subscriptions are gone with it; streams that still waited for one begin again on the next."""
        for key in [key for key in self._follows if key[0] == session.number]:
            for listen in self._follows.pop(key).streams.values():
                listen.waiting = max(listen.waiting - 1, 0) if not listen.acknowledged else 0

    def on_timer(self) -> None:
        """See that every stream has a session."""
        sessions = {session.number: session for session in map(self._bridge.session_for, self._envelopes())}
        for session in sessions.values():
            session.when_ready(partial(self._failed, session))

    def _envelopes(self) -> list[Envelope]:
        return [listen.envelope for listen in self._open.values()]

    def _failed(self, session: Session) -> None:
        if session.phase == "failed" and not self._bridge.closing:
            self.session_lost(session)

    def session_ready(self, session: Session) -> None:
        """A new process: it is subscribed to what the streams follow, and they are told to look again.

        What happened while there was none, or in a process that nobody watched, is unknown.
        """
        self._retry = _FIRST_RETRY
        for listen in list(self._open.values()):
            if not listen.acknowledged:
                if listen.begun and not listen.waiting:
                    self._begin(listen, session)
                elif listen.begun:
                    self._follow(listen, session)
                continue
            self._follow(listen, session)
            if len(self._bridge.pool.sessions()) == 1:
                for name in listen.honoured:
                    self._send(listen, LIST_CHANGES[name][1], {})
                for uri in listen.followed:
                    self._send(listen, _UPDATED, {"uri": Raw(frame.encode(uri))})


def _is_below(uri: str | None, parent: str) -> bool:
    """Whether a URI is plainly a sub-resource of another: its path, query or fragment goes on from there."""
    if uri is None or not uri.startswith(parent):
        return False
    return parent.endswith("/") or uri[len(parent) : len(parent) + 1] in ("/", "?", "#")


def _read_filter(filters: Raw | None) -> tuple[list[str], list[str]] | str:
    members = None if filters is None else frame.members(filters)
    if members is None:
        return "subscriptions/listen needs params.notifications, an object that names what to listen for"
    wanted = []
    for name in LIST_CHANGES:
        value = bytes(members.get(name, Raw(b"false")))
        if value not in (b"true", b"false"):
            return f"params.notifications.{name} must be true or false"
        if value == b"true":
            wanted.append(name)
    uris = frame.tree(members["resourceSubscriptions"]) if "resourceSubscriptions" in members else []
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        return "params.notifications.resourceSubscriptions must be a list of URIs"
    return wanted, list(dict.fromkeys(uris))

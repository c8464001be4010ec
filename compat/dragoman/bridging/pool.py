"""Which session serves which request.

One legacy session is one initialized process. Over stdio there is one, because a second process would split a stateful
server's state or collide with itself. It is opened by the first request with that request's capabilities; one that has
served only discovery and lists is replaced when a request declares more, so that the server knows what it may ask. With
``isolate_capabilities`` there is one a capability set, at most ``max_sessions``. A session with a parked call or a stream
is never closed for another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dragoman import errors
from dragoman.bridging import effects
from dragoman.bridging.capabilities import canonical, covers
from dragoman.bridging.session import FAILED, LOST, READY, STARTING, UNOPENED, Session

if TYPE_CHECKING:
    from dragoman.bridging.upgrade_server import UpgradeServer


class Caller(Protocol):
    """What a session is chosen by: an ``Envelope``, or a ``Call`` that starts anew."""

    capabilities: dict[str, Any]
    client_info: bytes | None


class Pool:
    """The sessions of one client connection."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._by_key: dict[str, Session] = {}
        self._keyed: tuple[object, str] = (None, "")
        self._by_number: dict[int, Session] = {}
        self._successors: dict[int, Session] = {}

    # -- choosing --------------------------------------------------------------------------------------------------

    def for_call(self, caller: Caller) -> Session:
        """The session for a request that may ask; from now on it is not replaced."""
        if self._context.options.process_per_call:
            return self._open_single(caller)
        session = self._by_key.get(self._key(caller))
        if session is None:
            session = self._open(caller)
        elif not covers(session.capabilities, caller.capabilities) and self._replaceable(session):
            session = self._replace(session, caller)
        session.serves_calls = True
        session.used_at = self._context.now
        return session

    def has(self, caller: Caller) -> bool:
        """Whether there is a session for lists already."""
        return self._key(caller) in self._by_key

    def for_lists(self, caller: Caller) -> Session:
        """The session for any other request."""
        session = self._by_key.get(self._key(caller)) or self._open(caller)
        session.used_at = self._context.now
        return session

    def anyone(self) -> Session | None:
        """The newest session."""
        return next(reversed(self._by_key.values()), None) if self._by_key else None

    def by_number(self, number: int) -> Session | None:
        """A session that is still heard."""
        return self._by_number.get(number)

    def sessions(self) -> list[Session]:
        """All sessions."""
        return list(self._by_number.values())

    def _key(self, caller: Caller) -> str:
        if not self._context.options.isolate_capabilities:
            return ""
        known, key = self._keyed
        if known is not caller.capabilities:  # the reader gives the same object for the same text
            key = canonical(caller.capabilities)
            self._keyed = caller.capabilities, key
        return key

    # -- opening and closing -----------------------------------------------------------------------------------------

    def _open(self, caller: Caller) -> Session:
        session = self._new(caller)
        self._start(session, is_full=len(self._by_key) > self._context.options.max_sessions and not self._make_room(session))
        return session

    def _start(self, session: Session, *, is_full: bool) -> None:
        now = self._context.now
        if self._context.restarts.pause(now):
            self._refuse(session, self._context.restarts.why(now))
        elif is_full or not self._context.has_room():
            self._refuse(session, errors.too_many_sessions(self._context.options.max_sessions).message)
        else:
            session.open()

    def _open_single(self, caller: Caller) -> Session:
        session = self._unkeyed(caller)
        session.single_use = session.serves_calls = True
        self._start(session, is_full=False)
        return session

    def _refuse(self, session: Session, why: str) -> None:
        session.phase = FAILED
        session.failure = why
        self._forget(session)

    def _new(self, caller: Caller) -> Session:
        session = self._by_key[self._key(caller)] = self._unkeyed(caller)
        return session

    def _unkeyed(self, caller: Caller) -> Session:
        session = Session(self._context, self._context.ids.session(), caller.capabilities, caller.client_info)
        session.on_ready = self._handshake_ended
        self._by_number[session.number] = session
        return session

    def finished(self, session: Session) -> None:
        """A call of this session has ended."""
        if session.single_use and session.number in self._by_number and not self._bridge.parking.on_session(session):
            self.drop(session)

    def idle(self, since: float) -> list[Session]:
        """Sessions that nothing has needed after ``since`` and that hold nothing for anybody, the longest idle first."""
        idle = [
            session
            for session in self._by_number.values()
            if session.used_at <= since and not session.busy and session.phase == READY and not self._pinned(session)
        ]
        return sorted(idle, key=lambda session: session.used_at)

    def _make_room(self, newcomer: Session) -> bool:
        for session in list(self._by_key.values()):
            if session is not newcomer and not session.busy and session.phase != STARTING and not self._pinned(session):
                self.drop(session)
                return True
        return False

    def _pinned(self, session: Session) -> bool:
        return self._bridge.parking.on_session(session) or len(self._bridge.listens) > 0

    def _replaceable(self, session: Session) -> bool:
        # Streams do not hold a session: they move to the one that replaces it.
        parked = self._bridge.parking.on_session(session)
        return not session.serves_calls and not parked and session.number not in self._successors

    def _replace(self, session: Session, caller: Caller) -> Session:
        self._context.log(effects.INFO, "a request declares more capabilities than the session was opened with: a new session replaces it")
        following = self._new(caller)
        self._successors[session.number] = following
        self.settled(session)
        return following

    def settled(self, session: Session) -> None:
        """The session has one request less in flight; one that is to be replaced ends with the last."""
        if session.busy or session.phase == STARTING:
            return
        following = self._successors.pop(session.number, None)
        if following is not None:
            self._by_number.pop(session.number, None)
            self._bridge.session_closed(session)
            self._context.close(session.number)
            following.open()

    def drop(self, session: Session) -> None:
        """Close a session and forget it; the one that was to replace it opens."""
        self._forget(session)
        self._bridge.session_closed(session)
        self._context.close(session.number)
        following = self._successors.pop(session.number, None)
        if following is not None:
            following.open()

    def leave_only(self, kept: Session) -> None:
        """Another bridge takes over one session: the others end, and none is replaced any more."""
        self._successors.clear()
        for session in self.sessions():
            if session is not kept:
                self._forget(session)
                if session.phase != UNOPENED:
                    self._context.close(session.number)

    def make_way(self) -> None:
        """A legacy connection needs a process: end those that have served nothing but discovery and lists."""
        for session in self.sessions():
            if not session.busy and session.phase != STARTING and self._replaceable(session):
                self.drop(session)

    def _forget(self, session: Session) -> None:
        self._by_number.pop(session.number, None)
        for key in [key for key, value in self._by_key.items() if value is session]:
            del self._by_key[key]

    def _handshake_ended(self, session: Session) -> None:
        if session.is_modern:
            self._forget(session)
            self._bridge.modern(session)
        elif session.phase == FAILED:
            self._context.log(effects.ERROR, session.failure)
            self.drop(session)
        else:
            self._bridge.proven = True
        if session.phase == READY and not session.single_use:
            self._bridge.listens.session_ready(session)

    def lost(self, number: int, reason: str) -> None:
        """The process of a session is gone."""
        session = self._by_number.get(number)
        if session is None:
            return
        self._forget(session)
        self._context.log(effects.ERROR if session.pending else effects.WARNING, errors.ending(reason))
        session.failure = errors.server_ended(reason).message
        if session.phase == STARTING:
            self._context.failed(session.failure)
        self._context.unserved = True
        session.phase = LOST
        self._bridge.session_ended(session)
        session.lost()
        following = self._successors.pop(number, None)
        if following is not None:
            following.open()

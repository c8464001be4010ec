"""Time limits of an UpgradeServer: calls, handshakes, requests of the bridge's own, and the timers of its parts.

One ``sweep`` timer watches all calls: they have the same limit, so arming one a call would only cost. Progress starts a
call's time anew, a bounded number of times (basic/patterns/cancellation#timeouts); a call whose question is open is not the
server's to answer yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging.calls import RUNNING, Call
from dragoman.bridging.session import READY, STARTING, Session

if TYPE_CHECKING:
    from dragoman.bridging.upgrade_server import UpgradeServer


_MOST = 10
"""A call that shows progress may take so many times its limit, and no more: progress alone must not keep it for ever."""


class Deadlines:
    """Routes timers and ends what takes too long."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._sweeping = False

    def alive(self, call: Call) -> None:
        """The call was sent or has shown progress: its time starts anew."""
        timeout = self._context.options.request_timeout
        if timeout:
            call.started = call.started or self._context.now
            call.deadline = min(self._context.now + timeout, call.started + _MOST * timeout)
            if not self._sweeping:
                self._sweeping = True
                self._context.timer("sweep", timeout)

    def on_timer(self, kind: str, number: int) -> None:
        """A timer of ours."""
        if kind == "ask":
            self._bridge.parking.asking.on_timer(number)
        elif kind == "park":
            self._bridge.parking.on_timer(number)
        elif kind == "sweep":
            self._sweep()
        elif kind == "grace":
            self._bridge.grace_over(number)
        elif kind == "listen":
            self._bridge.listens.on_timer()
        elif kind == "own":
            self._own_request_timed_out(number)
        elif (session := self._bridge.pool.by_number(number)) is not None:
            self._on_session_timer(kind, session)

    def _on_session_timer(self, kind: str, session: Session) -> None:
        if kind == "held":
            self._bridge.parking.asking.on_held_timer(session)
        elif kind == "level":
            self._bridge.notes.on_timer(session)
        elif kind == "start" and session.phase == STARTING:
            session.fail(errors.server_never_started(self._context.options.start_timeout or 0.0).message)

    def _own_request_timed_out(self, wire_id: int) -> None:
        for session in self._bridge.pool.sessions():
            entry = session.pending.get(wire_id)
            late = session.late.pop(wire_id, None)
            if entry is not None and late is not None:
                session.overdue.add(wire_id)
                late()
                self._bridge.pool.settled(session)
            elif entry is not None and not isinstance(entry, Call):
                del session.pending[wire_id]
                if session.phase == READY:
                    session.give_up(wire_id)
                    session.notify("notifications/cancelled", frame.encode({"requestId": wire_id}))
                entry(frame.Failure(b"%d" % wire_id, Raw(errors.server_fault("The server did not answer in time").encode())))
                self._bridge.pool.settled(session)

    def _sweep(self) -> None:
        self._sweeping = False
        timeout = self._context.options.request_timeout
        running = [call for session in self._bridge.pool.sessions() for call in session.calls() if call.status == RUNNING]
        for call in running:
            if call.deadline <= self._context.now and not call.questions:
                self._bridge.give_up(call, errors.server_slow(call.method, timeout or 0.0))
        deadlines = [call.deadline for call in running if call.status == RUNNING]
        if deadlines:
            self._sweeping = True
            self._context.timer("sweep", max(min(deadlines) - self._context.now, 0.01))

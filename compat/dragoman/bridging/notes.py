"""Notifications of a legacy server on their way to a modern client, and the session's log level.

Progress goes to the request that owns the token and must increase (basic/patterns/progress); a log message goes out only
while a request that asked for its level is in flight, once, since all requests share the stdio channel
(server/utilities/logging). While a call is parked no request is in flight: its notes wait in a bounded tail and go out at
the start of the retry. Nothing follows a response.

sep2575_log_level: a modern client names a level per request, a legacy server has one per session. The session is set to
the most verbose level of the calls in flight before the call is sent, and put back when a second has passed with none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from dragoman import chain, frame
from dragoman.bridging import effects
from dragoman.bridging.calls import PARKED, RUNNING, TAIL_LIMIT, Call
from dragoman.bridging.ids import number_of
from dragoman.bridging.session import PATIENCE
from dragoman_specs.names import LOG_LEVELS

if TYPE_CHECKING:
    from dragoman.bridging.session import Answer, Session
    from dragoman.bridging.upgrade_server import UpgradeServer

PROGRESS, MESSAGE = "notifications/progress", "notifications/message"
_QUIET = 1.0
_LEAST = LOG_LEVELS[-1]


class Notes:
    """Carries progress and log messages."""

    def __init__(self, bridge: UpgradeServer) -> None:
        self._bridge = bridge
        self._context = bridge.context
        self._setting: dict[int, list[Callable[[], None]]] = {}

    # -- progress --------------------------------------------------------------------------------------------------

    def progress(self, session: Session, params: dict[str, Raw]) -> None:
        """``notifications/progress`` from the server."""
        call = self._owner(session, params.get("progressToken"))
        if call is None:
            self._context.loss("progress", "notifications/progress for no request in flight")
            return
        shaped = chain.notification_to_client(Raw(frame.encode(params)), self._crossing(session, PROGRESS))
        if isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
            return
        value = float(bytes(params["progress"]))
        if call.last_progress is not None and value <= call.last_progress:
            self._context.loss("progress", "notifications/progress that did not increase")
            return
        call.last_progress = value
        self._bridge.deadlines.alive(call)
        if call.status == PARKED:
            self._keep(call, PROGRESS, shaped.raw)
        else:
            self._send_progress(call, shaped.raw)

    def _owner(self, session: Session, token: Raw | None) -> Call | None:
        number = number_of(None if token is None else bytes(token))
        call = session.pending.get(number) if number is not None else None
        if isinstance(call, Call):
            return call
        return self._bridge.by_token(session, number) if number is not None else None

    def _send_progress(self, call: Call, raw: bytes) -> None:
        asked = call.asks_progress
        if asked is None:
            return
        params = frame.members(Raw(raw)) or {}
        params["progressToken"] = Raw(asked[1])
        self._context.note(asked[0], PROGRESS, frame.encode(params))

    # -- log messages ------------------------------------------------------------------------------------------------

    def message(self, session: Session, params: Raw) -> None:
        """``notifications/message`` from the server."""
        shaped = chain.notification_to_client(params, self._crossing(session, MESSAGE))
        if isinstance(shaped, chain.Fault):
            self._context.loss(shaped.change, shaped.message)
            return
        level = frame.text((frame.members(Raw(shaped.raw)) or {}).get("level")) or _LEAST
        asked = [call for call in self._bridge.calls_on(session) if wants(call, level)]
        owner = number_of(self._context.about)
        asked = [call for call in asked if call.wire_id == owner] or asked if owner is not None else asked
        running = next((call for call in asked if call.status == RUNNING and call.waiters), None)
        if running is not None:
            # Whose it is the server does not say: to one stream, since no message goes out twice.
            self._context.note(running.waiters[-1], MESSAGE, shaped.raw)
        elif asked:
            self._keep(asked[0], MESSAGE, shaped.raw)
        elif any(call.log_level for call in self._bridge.calls_on(session)):
            self._context.log(effects.DEBUG, f"a log message below every level asked for: {level}")
        else:
            self._context.loss("sep2575_log_level", "notifications/message that no request in flight asked for")

    def _keep(self, call: Call, method: str, raw: bytes) -> None:
        if len(call.tail) >= TAIL_LIMIT:
            call.tail.popleft()
            self._context.loss("sep2322_mrtr", f"{method} while the call waited for an answer: more than {TAIL_LIMIT} were kept")
        call.tail.append((method, raw))

    def replay(self, call: Call, method: str, raw: bytes) -> None:
        """Send a note that waited for the retry, if the retry still asks for it."""
        if method == PROGRESS:
            self._send_progress(call, raw)
            return
        level = frame.text((frame.members(Raw(raw)) or {}).get("level")) or _LEAST
        if wants(call, level) and call.waiters:
            self._context.note(call.waiters[-1], MESSAGE, raw)

    def _crossing(self, session: Session, method: str) -> chain.Crossing:
        return chain.Crossing(method, session.revision, b"", session.server_capabilities)

    # -- level -----------------------------------------------------------------------------------------------------

    def with_level(self, call: Call, send: Callable[[], None]) -> None:
        """Run ``send`` when the session logs at least what the call asks for."""
        session: Session = call.session
        wanted = call.log_level
        if wanted is None or not session.declares("logging"):
            send()
            return
        if session.number in self._setting:
            self._setting[session.number].append(lambda: self.with_level(call, send))
            return
        if session.log_level is not None and LOG_LEVELS.index(session.log_level) <= LOG_LEVELS.index(wanted):
            send()
            return
        self._setting[session.number] = [send]
        self._set(session, wanted)

    def _set(self, session: Session, level: str) -> None:
        def answered(answer: Answer) -> None:
            session.log_level = level
            if isinstance(answer, frame.Failure):
                self._context.loss("sep2575_log_level", "the server refused logging/setLevel")
            for step in self._setting.pop(session.number, []):
                step()

        session.request("logging/setLevel", frame.encode({"level": level}), answered, patience=PATIENCE)

    def released(self, session: Session) -> None:
        """A call that asked for a level has ended: put the level back when all stays quiet."""
        self._context.timer(f"level:{session.number}", _QUIET)

    def on_timer(self, session: Session) -> None:
        """Lower the session's level to what the calls in flight still ask for."""
        levels = [call.log_level for call in self._bridge.calls_on(session) if call.log_level]
        wanted = min(levels, key=LOG_LEVELS.index, default=_LEAST)
        if session.phase == "ready" and session.log_level not in (None, wanted) and session.number not in self._setting:
            self._setting[session.number] = []
            self._set(session, wanted)

    def session_lost(self, session: Any) -> None:
        """Nobody will answer."""
        self._setting.pop(session.number, None)


def wants(call: Call, level: str) -> bool:
    """Whether a call asked for messages of a level."""
    return call.log_level is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(call.log_level)

"""What both transports of the legacy revisions have in common: a session that begins with a handshake, and can be begun again.

Theory of operation (basic/lifecycle of each). Nothing is sent before the handshake is answered, and nothing after it before
``notifications/initialized`` has arrived: each message has a connection of its own, and they would overtake one another. What the
core sets (log level, subscriptions) is remembered; a session that is lost is begun anew with the same handshake, shown the same
settings, and what waited goes on. The client is told to look again, since nobody knows what it missed.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.effects import WARNING
from dragoman.bridging.ids import Ids
from dragoman.errors import Refusal, server_fault
from dragoman.http.memory import Memory
from dragoman.remote import troubles
from dragoman.remote.connection import Connection
from dragoman.remote.effects import Heard
from dragoman.remote.flight import CALL, NOTE, Flight
from dragoman.remote.options import RemoteOptions

_BLOCKED = "blocked"
_PATIENCE = 10.0  # a notification that is not taken must not hold up everything for ever
_IN_TURN = ("initialize", "notifications/initialized")


class SessionConnection(Connection):
    """See the module. A subclass says when a message can be sent (``_can_send``), and how a session is begun again."""

    def __init__(self, options: RemoteOptions) -> None:
        super().__init__(options)
        self.memory = Memory(Ids(options.instance))
        self._has_hello = False
        self._has_begun = False  # a handshake was answered
        self._renewing = False
        self._is_over = False  # the last session has ended, and there is no other yet
        self._blocking: Flight | None = None
        self._held: list[Flight] = []

    # -- from the core -----------------------------------------------------------------------------------------------

    def _from_core(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        items = message if isinstance(message, list) else [message]
        for item in items:
            self.memory.note(item)
            if isinstance(item, frame.Request) and item.method == "initialize":
                self.memory.handshake, self._has_hello = item.params or Raw(b"{}"), True
            elif isinstance(item, frame.Notification) and item.method == "notifications/cancelled" and not self._cancelled(item):
                return  # the server never saw the request
        is_call = any(isinstance(item, frame.Request) for item in items)
        flight = Flight(CALL if is_call else NOTE, line, message)
        for key in flight.ids:
            self._by_id[key] = flight
        if self._renewing and flight.is_of_session:
            self._drop_of_session(flight)
            return
        if self._is_over:
            self._is_over = False
            self._hold(flight)
            if flight.method != "initialize":
                self._begin_again()
            else:
                self._release()
            return
        # An answer never waits: the server may ask before it answers, and would wait for it.
        if all(isinstance(item, frame.Result | frame.Failure) for item in items) and self._can_send:
            self.launch(flight)
        else:
            self._held.append(flight)
            self._release()

    def _cancelled(self, note: frame.Notification) -> bool:
        """A cancelled request may still be answered, or its stream just end; neither is told to anybody (utilities/cancellation).

        False: it was not sent yet.
        """
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        flight = self._take_back(frame.id_key(target)) if frame.valid_id(target) else None
        if flight is not None:
            flight.ids.pop(frame.id_key(target), None)
            if not flight.ids:
                self._settle(flight)
            return flight not in self._held
        return True

    def _slow(self, flight: Flight, refusal: Refusal) -> None:
        """Who gives a request up says so (basic/lifecycle#timeouts); a handshake cannot be cancelled."""
        ids = [] if flight.method == "initialize" else list(flight.ids.values())
        super()._slow(flight, refusal)
        for each in ids:
            params = frame.encode({"requestId": Raw(each), "reason": "no answer in time"})
            line = frame.notification("notifications/cancelled", params)[:-1]
            self._held.append(Flight(NOTE, line, frame.parse(line)))
        self._release()

    def _hold(self, flight: Flight) -> None:
        """It goes out in the next session, if it means anything there."""
        if flight.is_of_session:
            self._drop_of_session(flight)
        else:
            self._held.append(flight)

    def _drop_of_session(self, flight: Flight) -> None:
        # Servers count the ids of their questions anew in each session: an old answer could be taken for one to another question.
        self.loss("sep2567_sessions", f"{flight.what} for a session that has ended")

    def _forget_answers(self) -> None:
        """A session has ended: what waits for it, and concerns nothing else, goes nowhere."""
        held, self._held = self._held, []
        for flight in held:
            self._hold(flight)

    # -- in turn -----------------------------------------------------------------------------------------------------

    @property
    def _can_send(self) -> bool:
        """Whether there is anywhere to send to."""
        return not self._renewing

    def _release(self) -> None:
        """Send what may be sent."""
        while self._held and self._can_send and self._blocking is None:
            flight = self._held.pop(0)
            if flight.kind == NOTE or flight.ids:  # nobody has cancelled it meanwhile
                self._go(flight)

    def _relaunch(self, flight: Flight) -> None:
        if self._can_send or flight.method == "initialize":
            super()._relaunch(flight)
        else:
            self._held.append(flight)

    def waiting_lines(self) -> list[bytes]:
        """What was not sent yet, for the connection that takes the place of this one."""
        return [flight.line for flight in self._held if flight.kind == NOTE or flight.ids]

    def _go(self, flight: Flight) -> None:
        if flight.method in _IN_TURN:
            self._blocking = flight
            if flight.kind == NOTE:
                self.set_timer(_BLOCKED, _PATIENCE)
        self.launch(flight)

    def _on_timer(self, key: str) -> None:
        if key == _BLOCKED and self._blocking is not None and self._blocking.kind == NOTE:
            self.log(WARNING, f"the server has not taken {self._blocking.what} in {_PATIENCE:g} s: what waited for it goes on")
            self._over(self._blocking)

    def _over(self, flight: Flight) -> None:
        if flight is self._blocking:
            self._blocking = None
            self._has_begun = self._has_begun or flight.method == "initialize"
            if flight.kind == NOTE:
                self.cancel_timer(_BLOCKED)
            self._release()

    # -- again -------------------------------------------------------------------------------------------------------

    def _greet(self) -> None:
        """The same handshake once more."""
        self.log(WARNING, "the server has ended the session: another one is begun")
        line = self.memory.hello()
        flight = Flight(CALL, line, frame.parse(line), lambda answer: self._greeted(flight, answer))
        self.launch(flight)

    def _greeted(self, hello: Flight, answer: frame.Result | frame.Failure) -> None:
        if isinstance(answer, frame.Failure):
            why = frame.text((frame.members(answer.error) or {}).get("message")) or "it refused the handshake"
            self._not_begun(server_fault(troubles.session_gone(why)))
            return
        self._welcomed(hello, answer)
        self._renewing = False
        again: list[Flight] = []
        for line in self.memory.restored():
            message = frame.parse(line)
            is_call = isinstance(message, frame.Request)
            flight = Flight(CALL if is_call else NOTE, line, message, _ignored if is_call else None)
            flight.again = True  # a server that forgets this session as well is not shown another one before it is asked something
            again.append(flight)
        self._held = again + self._held
        self.memory.opened(answer.result)
        for line in self.memory.announced():
            self.emit(Heard(line[:-1]))
        self._release()

    def _not_begun(self, refusal: Refusal) -> None:
        """There is no session just now: whoever waits is told, and the next message tries to begin one."""
        self._renewing, self._is_over = False, True
        held, self._held = self._held, []
        for flight in held:
            self.give_up(flight, refusal)

    def _begin_again(self) -> None:
        """Begin another session, with the same handshake."""
        raise NotImplementedError

    def _welcomed(self, flight: Flight, answer: frame.Result) -> None:
        """A handshake has ended well."""


def _ignored(_answer: frame.Result | frame.Failure) -> None:
    """What the server says to settings that it has accepted before concerns nobody."""

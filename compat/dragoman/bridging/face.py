"""The dual-era face of one stdio connection: who speaks which era, and what serves them (2026-07-28, basic/versioning).

Theory of operation. Every message is judged by itself: a request whose ``_meta`` names a revision is modern and goes to
``UpgradeServer`` (or, in front of a modern server, is relayed); ``initialize`` opens a legacy connection, relayed to a
process of its own. Nothing a client tries first locks the face: a refused request leaves no trace, discovery followed by
``initialize`` works, and both eras may be spoken on one connection.

The server's era is found by the first session's handshake (see ``session``), unless ``server_era`` says it. Until then
the lines of modern requests are kept, so that a server found to be modern gets them as they were written.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.broken import ids_in
from dragoman.bridging.context import Context
from dragoman.bridging.effects import Effect
from dragoman.bridging.envelope import Unmarked
from dragoman.bridging.era import DUAL, MODERN
from dragoman.bridging.ids import Ids
from dragoman.bridging.legacy_end import LegacyEnd
from dragoman.bridging.options import LONGEST_DRAIN, Options
from dragoman.bridging.relay import Relay, is_handshake, legacy_offer
from dragoman.bridging.sealing import AeadSealer
from dragoman.bridging.session import READY, Session
from dragoman.bridging.upgrade_server import UpgradeServer
from dragoman.errors import Refusal
from dragoman_specs.names import META_PROTOCOL_VERSION
from dragoman_specs.version import Version

_MODERN_MARK = META_PROTOCOL_VERSION.encode()


class DualFace:
    """The core that a shell drives; every method returns the effects to carry out, in order.

    ``instance`` tells this process from any other, ``random`` gives secret bytes, ``wall_clock`` epoch seconds, ``key``
    the secret for ``requestState`` (None: one of this process only).
    """

    def __init__(
        self, options: Options, instance: str, random: Callable[[int], bytes], wall_clock: Callable[[], float], key: bytes | None
    ) -> None:
        self.context = Context(options, Ids(instance), AeadSealer(key, random), wall_clock)
        self._upgrade = UpgradeServer(self.context, self._found_modern)
        self._modern = Relay(self.context) if options.server_era in (MODERN, DUAL) else None
        self._legacy: LegacyEnd | None = None
        self._unproven: dict[bytes, bytes] = {}
        self._era_open = options.server_era == "auto"
        self._closing = False
        self._finished = False
        self._last_output = self._closed_at = 0.0

    # -- entry points ----------------------------------------------------------------------------------------------

    def start(self, now: float) -> list[Effect]:
        """The face is up."""
        self.context.now = now
        return self.context.take()

    def from_client(self, line: bytes, now: float) -> list[Effect]:
        """One line of the client's, without its newline."""
        self.context.now = now
        message = frame.parse(line)
        try:
            if isinstance(message, frame.Request):
                self._request(message, line)
            elif message is not None:
                self._other(message, line)
        except Exception as fault:  # noqa: BLE001 - a fault of ours costs one message, and that one gets an answer
            self._fault(fault)
            if isinstance(message, frame.Request):
                self._upgrade.fault(message.id, type(fault).__name__)
        return self._done()

    def client_too_long(self, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of the client's over the limit was skipped; ``head`` is its beginning."""
        self.context.now = now
        owner = next(iter(ids_in(head, whole=False)), None)
        if owner is not None and self._upgrade.holds(frame.id_key(owner)):
            owner = None
        self.context.refuse(owner, errors.client_line_too_long(size))
        return self._done()

    def client_closed(self, now: float) -> list[Effect]:
        """The client has closed its side, or a signal asks for the end."""
        self.context.now = now
        if not self._closing:
            self._closing = True
            self._last_output = self._closed_at = now
            self._upgrade.close()
            self.context.timer("drain", self.context.options.drain_timeout)
        return self._done()

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[Effect]:
        """One line of a server's, without its newline; ``about``: the id of the request on whose stream it came, where there are such."""
        self.context.now = self._last_output = now
        self.context.about = about
        relay = self._relay(session)
        if relay is not None:
            relay.from_server(line)
            return self._done()
        message = frame.parse(line, lenient=True)
        try:
            if isinstance(message, list):
                self._upgrade.hearing.hear_batch(session, message, line)
            elif message is not None:
                self._upgrade.hearing.hear(session, message, line)
        except Exception as fault:  # noqa: BLE001 - see from_client
            self._fault(fault)
        return self._done()

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[Effect]:
        """A line of a server's over the limit was skipped."""
        self.context.now = self._last_output = now
        relay = self._relay(session)
        if relay is not None:
            relay.too_long(head, size)
        else:
            self._upgrade.hearing.too_long(session, head, size)
        return self._done()

    def session_lost(self, session: int, reason: str, now: float) -> list[Effect]:
        """A server's process has ended, or could not be started."""
        self.context.now = now
        relay = self._relay(session)
        if relay is None:
            self._upgrade.pool.lost(session, reason)
        else:
            self._relay_lost(relay, reason)
        return self._done()

    def on_timer(self, key: str, now: float) -> list[Effect]:
        """A timer has run out."""
        self.context.now = now
        kind, _, number = key.partition(":")
        if kind == "drain":
            self._drain()
        elif kind.startswith("down-"):
            if self._legacy is not None:
                self._legacy.on_timer(kind, int(number or 0))
        else:
            self._upgrade.deadlines.on_timer(kind, int(number or 0))
        return self._done()

    # -- client messages -------------------------------------------------------------------------------------------

    def _request(self, request: frame.Request, line: bytes) -> None:
        if is_handshake(request):
            self._legacy_end().from_client(request, legacy_offer(self.context, request, line))
        elif self._legacy is not None and _MODERN_MARK not in line:
            self._legacy.from_client(request, line)
        elif self._modern is not None:
            self._modern.from_client(request, line)
        else:
            self._modern_request(request, line)

    def _modern_request(self, request: frame.Request, line: bytes) -> None:
        envelope = self._upgrade.read(request)
        if isinstance(envelope, Refusal):
            if self._legacy is not None and isinstance(envelope, Unmarked):
                # The mark stood in an argument, not in _meta.
                self._legacy.from_client(request, line)
            else:
                self.context.refuse(request.id, envelope)
            return
        if not self._era_open:
            self._upgrade.from_client(request, envelope)
            return
        key = frame.id_key(request.id)
        known = self._upgrade.holds(key)
        self._upgrade.from_client(request, envelope)
        if not known and self._upgrade.holds(key):
            self._unproven[key] = line

    def _other(self, message: frame.Frame | list[frame.Frame], line: bytes) -> None:
        if isinstance(message, frame.Malformed):
            self._malformed(message)
        elif isinstance(message, list) and self._modern is not None and self._legacy is None:
            self.context.refuse(None, errors.no_batches())
        elif self._modern is not None and (self._legacy is None or _MODERN_MARK in line):
            self._modern.from_client(message, line)
        elif isinstance(message, frame.Notification) and self._upgrade.notification(message, only_ours=self._legacy is not None):
            return
        elif self._legacy is not None:
            self._legacy.from_client(message, line)
        elif isinstance(message, list):
            self.context.refuse(None, errors.no_batches())
        elif isinstance(message, frame.Notification):
            self.context.log(effects.DEBUG, f"{message.method} from the client, which concerns nothing in flight")
        else:
            self.context.loss("sep2575_handshake", "a response from a client that was sent no request")

    def _malformed(self, message: frame.Malformed) -> None:
        revision = self._legacy.revision if self._legacy is not None else None
        wants_null = message.id is None and revision is not None and revision is not Version.V2025_11_25
        # JSON-RPC's null id is what the older revisions know; 2025-11-25 and later leave the member out (basic/index#error-responses).
        self.context.refuse(b"null" if wants_null else message.id, Refusal(message.code, message.message))

    # -- eras ------------------------------------------------------------------------------------------------------

    def _legacy_end(self) -> LegacyEnd:
        if self._legacy is None:
            self._upgrade.pool.make_way()
            self._legacy = LegacyEnd(self.context)
        return self._legacy

    def _found_modern(self, session: Session) -> None:
        self.context.log(effects.INFO, "the server refused initialize and answered server/discover: it is modern, messages are relayed")
        self.context.verdict.modern = True
        self._modern = Relay(self.context, session.number)
        self._upgrade.pool.leave_only(session)
        held, self._upgrade = self._upgrade, UpgradeServer(self.context, self._found_modern)
        waiting, self._unproven = self._unproven, {}
        self._era_open = False
        for key, line in waiting.items():
            message = frame.parse(line)
            if message is not None and held.holds(key):
                self._modern.from_client(message, line)

    def _relay(self, session: int) -> Relay | LegacyEnd | None:
        for relay in (self._modern, self._legacy):
            if relay is not None and relay.number == session:
                return relay
        return None

    def _relay_lost(self, relay: Relay | LegacyEnd, reason: str) -> None:
        was_initialized = relay.initialized
        relay.lost(reason)
        self.context.log(effects.ERROR, errors.ending(reason))
        if relay is self._legacy and not relay.stateless:
            self._legacy = None
            if was_initialized:
                # A legacy connection is its process: the host sees it end and starts it again.
                self._upgrade.give_up_all()
                self._finish(1)

    def _fault(self, fault: Exception) -> None:
        import traceback

        self.context.batch = None
        self.context.log(effects.ERROR, f"internal fault: {type(fault).__name__}: {fault}")
        self.context.log(effects.DEBUG, "".join(traceback.format_exception(fault)))

    # -- the end ---------------------------------------------------------------------------------------------------

    def _done(self) -> list[Effect]:
        self.context.about = None
        if self._era_open and self._unproven:
            self._settle_era()
        if self._closing and not self._finished and self._idle():
            # A server that never did its work is a failure, though everybody was told of it.
            self._finish(1 if self.context.unserved and not self.context.served else 0)
        return self.context.take()

    def _settle_era(self) -> None:
        if any(session.phase == READY for session in self._upgrade.pool.sessions()):
            self._era_open = False
            self._unproven.clear()
        elif self._upgrade.idle and not len(self._upgrade.listens):
            self._unproven.clear()

    def _idle(self) -> bool:
        return self._upgrade.idle and all(relay is None or relay.idle for relay in (self._modern, self._legacy))

    def _drain(self) -> None:
        drain = self.context.options.drain_timeout
        quiet_at = min(self._last_output + drain, self._closed_at + LONGEST_DRAIN * drain)
        if quiet_at > self.context.now:
            self.context.timer("drain", quiet_at - self.context.now)
            return
        self._upgrade.give_up_all()
        if self._modern is not None:
            self._modern.end_streams()
        for relay in (self._modern, self._legacy):
            if relay is not None:
                relay.give_up(errors.shutting_down(self.context.options.drain_timeout))

    def _finish(self, status: int) -> None:
        self._finished = True
        if self._modern is not None:
            self._modern.end_streams()
        self.context.emit(effects.Finished(status))

"""All modern requests of one principal: stateless on the wire, one bridge behind (2026-07-28, basic/transports/streamable-http).

Theory of operation. One ``UpgradeServer`` a principal keeps everything apart that must not be shared: parked calls, streams,
cursors, what lists said of tools, the server processes themselves. A request is known to it by the number of its exchange,
since clients of one principal choose the same ids. Once the server has turned out to be modern, a ``ModernRelay`` takes over.

Headers that mirror arguments can only be compared when the tool is known, so the first call of a tool waits for the list.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from dragoman import errors, frame
from dragoman.bridging import effects
from dragoman.bridging.effects import NOTE, RESULT, ToClient
from dragoman.bridging.envelope import Envelope
from dragoman.bridging.era import DUAL, MODERN
from dragoman.bridging.session import FAILED, LOST, READY, Session
from dragoman.bridging.tools import Lister, Tools
from dragoman.bridging.upgrade_server import UpgradeServer
from dragoman.http import sse
from dragoman.http.exchange import Exchange
from dragoman.http.modern_relay import ModernRelay
from dragoman.http.params import Annotations, annotations_of, compare_params
from dragoman.http.request import Fields
from dragoman.http.shared import HttpContext, Shared
from dragoman.http.status import error_code_of, status_of
from dragoman_specs.methods import ASKS

_MIRRORS = 1000
GRACE = 10.0
"""Seconds that a retry, whose stream was lost, is kept for the same retry to come again."""


class ModernSide:
    """One principal's part of the face."""

    def __init__(self, shared: Shared, number: int, principal: bytes) -> None:
        self.number = number
        self.principal = principal
        self.context = HttpContext(shared, principal)
        self.used_at = 0.0
        self._shared = shared
        self.upgrade = UpgradeServer(self.context, self._found_modern)
        self.relay = ModernRelay(self.context) if shared.options.server_era in (MODERN, DUAL) or shared.verdict.modern else None
        self._mirrors: dict[str, tuple[bytes, Annotations]] = {}
        self._unproven: dict[bytes, tuple[frame.Request, Envelope]] = {}
        self._era_open = shared.options.server_era == "auto"

    # -- requests --------------------------------------------------------------------------------------------------

    def processes_for(self, request: frame.Request, envelope: Envelope) -> int:
        """How many server processes the request would start."""
        if self.relay is not None:
            return int(self.relay.number is None)
        own = self._shared.options.process_per_call and request.method in ASKS and "requestState" not in envelope.params
        lists = (not own or (request.method == "tools/call" and not self.upgrade.tools.complete)) and not self.upgrade.pool.has(envelope)
        return int(own) + int(lists)

    def request(self, exchange: Exchange, request: frame.Request, envelope: Envelope, fields: Fields) -> None:
        """A request whose envelope and standard headers are good."""
        exchange.owner = self
        mine = frame.Request(b"%d" % exchange.number, request.method, request.params)
        if request.method != "tools/call" or (self._tools.complete and self._compare(envelope, fields) is None):
            self._start(mine, envelope)
        else:
            self._when_mirrored(exchange, envelope, fields, lambda: self._start(mine, envelope))

    def _start(self, request: frame.Request, envelope: Envelope) -> None:
        if self.relay is not None:
            self.relay.forward(request)
            return
        if self._era_open:
            self._unproven[request.id] = (request, envelope)
        self.upgrade.from_client(request, envelope)

    def _when_mirrored(self, exchange: Exchange, envelope: Envelope, fields: Fields, step: Callable[[], None]) -> None:
        """Compare ``Mcp-Param-*`` with the arguments once the tool is known, then go on."""
        if self._tools.complete:
            self._compared(exchange, envelope, fields, step)
            return
        lister: Lister = self.relay or self.upgrade.session_for(envelope)
        exchange.held = True  # a mismatch has a status of its own

        def listed() -> None:
            exchange.held = False
            if exchange.done:
                return
            self._shared.watch(exchange)
            if isinstance(lister, Session) and lister.is_modern:
                self._when_mirrored(exchange, envelope, fields, step)
            elif isinstance(lister, Session) and lister.phase in (FAILED, LOST):
                self.context.respond(b"%d" % exchange.number, "error", lister.refusal.encode())
            else:
                self._compared(exchange, envelope, fields, step)

        self._tools.when_complete(lister, listed)

    def _compared(self, exchange: Exchange, envelope: Envelope, fields: Fields, step: Callable[[], None]) -> None:
        fault = self._compare(envelope, fields)
        if fault is None:
            step()
        else:
            exchange.answer(frame.failure(exchange.client_id, errors.header_mismatch(fault).encode()), 400)

    @property
    def _tools(self) -> Tools:
        return self.upgrade.tools if self.relay is None else self.relay.tools

    def _compare(self, envelope: Envelope, fields: Fields) -> str | None:
        name = frame.text(envelope.params.get("name"))
        schema = None if name is None else self._tools.mirrored(name)
        if name is None or schema is None:
            return None
        known = self._mirrors.get(name)
        if known is None or known[0] != schema:
            known = self._mirrors[name] = schema, self._annotations(name, schema)
            if len(self._mirrors) > _MIRRORS:
                del self._mirrors[next(iter(self._mirrors))]
        return compare_params(known[1], envelope.params.get("arguments"), fields)

    def _annotations(self, name: str, schema: bytes) -> Annotations:
        read = annotations_of(schema)
        if isinstance(read, str):
            self.context.log(effects.WARNING, f"the tool {name!r}: its x-mcp-header is not valid ({read}), so no header is compared")
            return {}
        return read

    def unused(self, since: float) -> float | None:
        """When the process that was idle longest was last used."""
        if self.relay is not None:
            return self.used_at if self.relay.number is not None and not self.relay.busy and self.used_at <= since else None
        idle = self.upgrade.pool.idle(since)
        return idle[0].used_at if idle else None

    def give_way(self, since: float) -> None:
        """End that process; what it kept for itself is gone."""
        if self.relay is not None:
            self.relay.release()
        else:
            self.upgrade.pool.drop(self.upgrade.pool.idle(since)[0])

    def notification(self, note: frame.Notification, mine: list[Exchange]) -> None:
        """A notification by POST, which no revision needs; ``mine`` are the open exchanges of this principal."""
        if note.method != "notifications/cancelled":
            if self.relay is not None:
                self.relay.notify(note)
            elif not self.upgrade.notification(note, only_ours=False):
                self.context.loss("notification", f"{note.method[:100]} from a client, which no server can be told")
            return
        target = bytes((frame.members(note.params) or {}).get("requestId", Raw(b"null")))
        if not frame.valid_id(target):
            return
        named = [exchange for exchange in mine if exchange.client_id and frame.id_key(exchange.client_id) == frame.id_key(target)]
        if len(named) == 1:  # two clients of one principal may use the same id: then nobody's call is taken from him
            self.gone(named[0])
            named[0].end()

    # -- answers ---------------------------------------------------------------------------------------------------

    def deliver(self, effect: ToClient) -> None:
        """A frame for one exchange."""
        exchange = self._shared.exchanges.get(int(effect.owner)) if effect.owner is not None else None
        if exchange is None or exchange.done:
            return
        if effect.kind == NOTE:
            if exchange.takes_stream:
                exchange.event(sse.event(effect.data))
            else:
                self.context.loss("pr0206_streamable_http", "a notification to a client that accepts no event stream")
        elif not effect.data:
            exchange.end()
        elif effect.kind == RESULT:
            exchange.answer(effect.data)
        else:
            exchange.answer(effect.data, status_of(error_code_of(effect.data)))

    def gone(self, exchange: Exchange) -> None:
        """Closing the stream is the cancellation."""
        key = b"%d" % exchange.number
        self._unproven.pop(key, None)
        if self.relay is not None:
            self.relay.gone(key)
        else:
            self.upgrade.client_gone(key, GRACE)

    def fault(self, exchange: Exchange, text: str) -> None:
        """A fault of ours."""
        self.context.batch = None
        self.upgrade.fault(b"%d" % exchange.number, text)

    # -- servers ---------------------------------------------------------------------------------------------------

    def from_server(self, session: int, line: bytes) -> None:
        """A line of a server's."""
        if self.relay is not None and self.relay.number == session:
            self.relay.from_server(line)
            return
        message = frame.parse(line, lenient=True)
        try:
            if isinstance(message, list):
                self.upgrade.hearing.hear_batch(session, message, line)
            elif message is not None:
                self.upgrade.hearing.hear(session, message, line)
        finally:
            self._settle_era()

    def server_too_long(self, session: int, head: bytes, size: int) -> None:
        """A line of a server's over the limit was skipped."""
        if self.relay is not None and self.relay.number == session:
            self.relay.too_long(head, size)
        else:
            self.upgrade.hearing.too_long(session, head, size)

    def session_lost(self, session: int, reason: str) -> None:
        """A server's process has ended."""
        if self.relay is not None and self.relay.number == session:
            self.relay.lost(reason)
        else:
            self.upgrade.pool.lost(session, reason)

    def on_timer(self, key: str) -> None:
        """A timer of the bridge's."""
        kind, _, number = key.partition(":")
        if self.relay is not None and kind == "own":
            self.relay.late(int(number))
        elif kind == "late":
            if self.relay is not None:
                self.relay.sweep()
        else:
            self.upgrade.deadlines.on_timer(kind, int(number or 0))

    def _settle_era(self) -> None:
        if self._era_open and any(session.phase == READY for session in self.upgrade.pool.sessions()):
            self._era_open = False
            self._unproven.clear()

    def _found_modern(self, session: Session) -> None:
        self.context.log(effects.INFO, "the server refused initialize and answered server/discover: it is modern, requests are relayed")
        self._shared.verdict.modern = True
        self.relay = ModernRelay(self.context, session.number)
        self.upgrade.pool.leave_only(session)
        held, self.upgrade = self.upgrade, UpgradeServer(self.context, self._found_modern)
        waiting, self._unproven = self._unproven, {}
        self._era_open = False
        for key, (request, _) in waiting.items():
            if held.holds(key):
                self.relay.forward(request)

    # -- the end ---------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether no request waits for an answer."""
        return self.upgrade.idle and (self.relay is None or self.relay.idle)

    @property
    def empty(self) -> bool:
        """Whether nothing is held for anybody, so that the part can be forgotten."""
        upgrade = self.upgrade
        relay = self.relay is None or self.relay.number is None
        return self.idle and relay and not upgrade.pool.sessions() and not len(upgrade.listens) and not len(upgrade.parking)

    def close(self) -> None:
        """Streams end with their result, parked calls are given up, what is in flight may finish."""
        self.upgrade.close()
        if self.relay is not None:
            self.relay.close()

    def leave(self) -> None:
        """The server is another one: nothing of this part goes on."""
        self.close()
        refusal = errors.server_fault("The server is another one now: whether it was carried out is not known")
        self.upgrade.give_up_all(refusal)
        if self.relay is not None:
            self.relay.give_up(refusal)
            self.relay.release()
        for session in self.upgrade.pool.sessions():
            self.upgrade.pool.drop(session)

    def give_up(self) -> None:
        """The drain time is over."""
        self.upgrade.give_up_all()
        if self.relay is not None:
            self.relay.give_up(errors.shutting_down(self._shared.options.drain_timeout))

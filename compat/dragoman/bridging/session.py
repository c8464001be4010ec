"""One connection to a legacy server: handshake, requests in flight, facts learnt (lifecycle page of each legacy revision).

Theory of operation. A session is UNOPENED while the one that it replaces still has answers to give, and STARTING from
``open`` until the server has answered ``initialize``; requests wait in ``held`` meanwhile. READY it takes requests, each
under a wire id of ours. FAILED means that the handshake came to nothing (``failure`` says why); LOST means that the process
is gone. Neither comes back: the next request opens another.

``initialize`` comes first and the bridge falls forward: every legacy server accepts it as its first message, while some
exit, hang or flood on anything else. A server that refuses it is asked ``server/discover`` and may turn out to be modern.
A refusal that names legacy revisions is followed by another try with the newest of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Raw

from dragoman import chain, errors, frame
from dragoman.bridging import effects
from dragoman.bridging.calls import Call, Turns
from dragoman.bridging.capabilities import for_server
from dragoman.bridging.context import Context
from dragoman.bridging.era import MODERN, OWN_INFO, discover_params, judge
from dragoman_specs.version import LATEST_LEGACY, Era, Version, nearest_legacy, parse

UNOPENED, STARTING, READY, FAILED, LOST = "unopened", "starting", "ready", "failed", "lost"
PATIENCE = 5.0
"""Seconds for an answer to a request of the bridge's own: servers in the field ignore methods that they do not know."""

Answer = frame.Result | frame.Failure
Waiter = Callable[[Answer], None]
_GIVEN_UP = 1024
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")


class Session:
    """The bridge's side of one server process; ``verdict`` is called once, when the handshake has ended."""

    def __init__(self, context: Context, number: int, capabilities: dict[str, Any], client_info: bytes | None) -> None:
        self.context = context
        self.number = number
        self.capabilities = capabilities
        self.client_info = client_info or OWN_INFO
        self.phase = UNOPENED
        self.failure = ""
        self.challenge: dict[str, Any] | None = None  # with which a server behind a URL refused the caller
        self.is_modern = False
        self.revision = LATEST_LEGACY
        self.server_info = b""
        self.server_capabilities: dict[str, Any] = {}
        self.instructions: str | None = None
        self._declared: dict[str, Any] = {}
        self.pending: dict[int, Call | Waiter] = {}
        self.late: dict[int, Callable[[], None]] = {}
        self.overdue: set[int] = set()  # requests of the bridge's own whose answer nobody waits for, though it may come
        self.given_up: dict[int, bool] = {}
        self.held: list[Callable[[], None]] = []
        self.turns = Turns(strict=context.options.one_call_per_session)
        self.serves_calls = False
        self.single_use = False  # for one call, and ended with it
        self.used_at = context.now
        self.log_level: str | None = None
        self.last_output = context.now
        self.on_ready: Callable[[Session], None] = lambda _session: None
        self._tried: set[Version] = set()

    # -- handshake -----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Start the server and shake hands."""
        self.phase = STARTING
        self.context.open(self.number)
        if self.context.options.start_timeout:
            self.context.timer(f"start:{self.number}", self.context.options.start_timeout)
        self._initialize(LATEST_LEGACY)

    def _initialize(self, version: Version) -> None:
        self._tried.add(version)
        capabilities = frame.encode(for_server(self.capabilities, version))
        params = b"".join(
            (b'{"protocolVersion":"', version.encode(), b'","capabilities":', capabilities, b',"clientInfo":', self.client_info, b"}")
        )
        self.request("initialize", params, self._initialized)

    def _initialized(self, answer: Answer) -> None:
        if isinstance(answer, frame.Result):
            self._adopt(answer.result)
            return
        self.challenge = errors.challenge_in(answer.error)
        error = _error_text(answer.error, with_data=self.challenge is None)
        named = [version for version in map(parse, _DATE.findall(error)) if version and version.era is Era.LEGACY]
        again = max((version for version in named if version not in self._tried), default=None, key=str)
        if again is not None:
            self.context.log(effects.INFO, f"the server refused the revision offered and named {again}: trying that")
            self._initialize(again)
        elif self.context.options.server_era == "auto":
            self._discover(error)
        else:
            self.fail(f"the server refused initialize: {error}")

    def _adopt(self, result: Raw) -> None:
        members = frame.members(result)
        version = frame.text(members.get("protocolVersion")) if members else None
        if members is None or version is None:
            self.fail("the server answered initialize with a result that names no protocolVersion")
            return
        known = parse(version)
        self.revision = known if known is not None and known.era is Era.LEGACY else nearest_legacy(version)
        if known is not self.revision:
            self.context.log(effects.WARNING, f"the server chose the revision {version!r} in its handshake: spoken to as {self.revision}")
        capabilities, losses = chain.capabilities_to_client(members.get("capabilities", Raw(b"{}")), self.revision)
        self.server_info, more = chain.implementation_to_client(members.get("serverInfo"))
        for loss in (*losses, *more):
            self.context.loss(loss.change, loss.detail)
        self.server_capabilities = capabilities
        declared = frame.tree(members["capabilities"]) if "capabilities" in members else {}
        self._declared = declared if isinstance(declared, dict) else {}
        self.instructions = frame.text(members.get("instructions"))
        self.context.log(effects.DEBUG, f"session {self.number}: the server speaks {self.revision}")
        self.context.worked()
        self.notify("notifications/initialized")
        self._end_handshake(READY)

    def _discover(self, refusal: str) -> None:
        """The server knows no ``initialize``: perhaps it is modern (basic/versioning, stdio fall-forward)."""

        def discovered(answer: Answer) -> None:
            if judge(answer)[0] == MODERN:
                self.is_modern = True
                self.fail("the server is modern")
            else:
                self.fail(f"the server refused initialize: {refusal}")

        self.request("server/discover", discover_params(), discovered, patience=PATIENCE)

    def fail(self, why: str) -> None:
        """The handshake came to nothing."""
        self.failure = why
        if not self.is_modern and self.challenge is None:  # it is not the server that has failed
            self.context.failed(why)
        self._end_handshake(FAILED)

    def _end_handshake(self, phase: str) -> None:
        self.phase = phase
        self.context.cancel_timer(f"start:{self.number}")
        self.on_ready(self)
        held, self.held = self.held, []
        for step in held:
            step()

    @property
    def refusal(self) -> errors.Refusal:
        """What those are told who waited for the handshake."""
        return errors.server_fault(self.failure, self.challenge)

    def lost(self) -> None:
        """The process is gone: whoever waited for the handshake learns why from ``failure``."""
        self.context.cancel_timer(f"start:{self.number}")
        self.pending.clear()
        held, self.held = self.held, []
        for step in held:
            step()

    # -- talking -------------------------------------------------------------------------------------------------

    def when_ready(self, step: Callable[[], None]) -> None:
        """Run ``step`` now, or when the handshake has ended (it looks at ``phase`` itself)."""
        if self.phase in (UNOPENED, STARTING):
            self.held.append(step)
        else:
            step()

    def request(
        self, method: str, params: bytes, waiter: Waiter, *, patience: float | None = None, late: Callable[[], None] | None = None
    ) -> int:
        """Send a request of the bridge's own; after ``patience`` seconds it counts as failed (None: another timer watches).

        With ``late`` it does not: ``late`` is called instead, and the answer is still waited for.
        """
        wire_id = self.context.ids.wire()
        self.pending[wire_id] = waiter
        if late is not None:
            self.late[wire_id] = late
        if patience is not None:
            self.context.timer(f"own:{wire_id}", patience)
        self.context.to_server(self.number, frame.request(b"%d" % wire_id, method, params))
        return wire_id

    def notify(self, method: str, params: bytes | None = None) -> None:
        """Send a notification."""
        self.context.to_server(self.number, frame.notification(method, params))

    def answer(self, wire_id: bytes, member: str, value: bytes) -> None:
        """Answer a request of the server's."""
        line = frame.result(wire_id, value) if member == "result" else frame.failure(wire_id, value)
        self.context.answer_server(self.number, line)

    def give_up(self, wire_id: int) -> None:
        """Nobody waits for this request any more; its answer may still come."""
        self.given_up[wire_id] = True
        if len(self.given_up) > _GIVEN_UP:
            del self.given_up[next(iter(self.given_up))]

    @property
    def busy(self) -> bool:
        """Whether an answer of the server's is waited for."""
        return any(wire_id not in self.overdue for wire_id in self.pending)

    def calls(self) -> list[Call]:
        """The client's requests in flight on this session, oldest first."""
        return [entry for entry in self.pending.values() if isinstance(entry, Call)]

    def declares(self, *path: str) -> bool:
        """Whether the server declared a capability, e.g. ``declares("resources", "subscribe")``."""
        # ``tasks`` is not shown to clients; the rest counts as it is shown.
        here: Any = self._declared if path[0] == "tasks" else self.server_capabilities
        for name in path:
            here = here.get(name) if isinstance(here, dict) else None
        return here is not None and here is not False


def _error_text(error: Raw, *, with_data: bool) -> str:
    members = frame.members(error) or {}
    message = frame.text(members.get("message")) or "no message"
    data = members.get("data")
    return message if data is None or not with_data else f"{message} {bytes(data)[:2000].decode(errors='replace')}"

"""What serves one legacy client: a relay, or a ``DowngradeServer`` once its server has turned out to be modern.

The client's own ``initialize`` is the first message that the server sees (2026-07-28, basic/versioning; the deviation from asking
first is explained in ``session``). A server that refuses it is asked ``server/discover``; if it is modern, the client's handshake is
answered from that, and the client never learns of the refusal. What it said meanwhile waits. The verdict is kept for all that
share the server's command, so it is found out once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import frame
from dragoman.bridging import effects
from dragoman.bridging.context import Context
from dragoman.bridging.effects import NOTE, RESULT
from dragoman.bridging.era import DUAL, MODERN, discover_params, judge
from dragoman.bridging.relay import Relay, Told
from dragoman.bridging.session import PATIENCE
from dragoman.errors import Refusal
from dragoman_specs.version import Version

if TYPE_CHECKING:
    from dragoman.bridging.downgrade_server import DowngradeServer

Message = frame.Frame | list[frame.Frame]


class LegacyEnd:
    """One legacy client's connection to a server of whatever era; ``told`` is that of ``Relay``."""

    def __init__(self, context: Context, told: Told | None = None) -> None:
        self._context = context
        self._told = told or self._to_client
        self._relay = Relay(context, None, self._heard)
        self._down: DowngradeServer | None = None
        self._hello: frame.Request | None = None
        self._probe = b""
        self._refusal: tuple[Message, bytes, bytes | None] | None = None
        self._held: list[tuple[Message, bytes]] = []

    # -- what a Relay has --------------------------------------------------------------------------------------------

    @property
    def stateless(self) -> bool:
        """Whether the server keeps nothing of the client's, so that its process may be another at any time."""
        return self._down is not None

    @property
    def number(self) -> int | None:
        """The server process; None while there is none."""
        return self._relay.number if self._down is None else self._down.number

    @property
    def revision(self) -> Version | None:
        """What the client's handshake has agreed on."""
        return self._relay.revision if self._down is None else self._down.revision

    @property
    def initialized(self) -> bool:
        """Whether the handshake has ended well."""
        return self.revision is not None

    @property
    def idle(self) -> bool:
        """Whether nobody waits for an answer."""
        return not self._held and (self._relay.idle if self._down is None else self._down.idle)

    def leave(self) -> None:
        """The process is closed by us."""
        self._relay.number = None
        if self._down is not None:
            self._down.leave()

    def from_client(self, message: Message, line: bytes) -> None:
        """A message of the client's."""
        is_hello = isinstance(message, frame.Request) and message.method == "initialize"
        # An answer never waits: the server may ping before it answers, and would wait for it.
        if self._hello is not None and not isinstance(message, frame.Result | frame.Failure):
            self._held.append((message, line))
            return
        if self._down is None and self._is_modern and is_hello:
            self._go_down()
        if self._down is not None:
            if isinstance(message, frame.Request) and is_hello and not self._down.revision:
                self._hello = message
            self._down.from_client(message, line)
            return
        if isinstance(message, frame.Request) and is_hello and self._era_open and not self._relay.initialized:
            self._hello = message
        self._relay.from_client(message, line)

    def from_server(self, line: bytes) -> None:
        """A line of the server's."""
        (self._relay if self._down is None else self._down).from_server(line)

    def too_long(self, head: bytes, size: int) -> None:
        """A line over the limit was skipped."""
        (self._relay if self._down is None else self._down).too_long(head, size)

    def lost(self, reason: str) -> None:
        """The process is gone."""
        self._settle()
        (self._relay if self._down is None else self._down).lost(reason)

    def give_up(self, refusal: Refusal) -> None:
        """Answer everybody who waits with an error."""
        self._settle()
        (self._relay if self._down is None else self._down).give_up(refusal)

    def refuse_question(self, key: bytes, refusal: Refusal) -> None:
        """A question of the server's, by its id, that the client will not answer."""
        if self._down is not None:
            self._down.from_client(frame.Failure(key, Raw(refusal.encode())), b"")
        elif self._relay.number is not None:
            self._context.refuse_server(self._relay.number, key, refusal)

    def forget(self, client_id: bytes) -> None:
        """A request has been answered otherwise."""
        (self._relay if self._down is None else self._down).forget(client_id)

    def on_timer(self, kind: str, number: int) -> None:
        """A timer whose name begins with ``down-``."""
        if kind == "down-probe":
            if self._probe:
                self._relay.forget(self._probe)
                self._settle()
        elif self._down is not None:
            self._down.on_timer(kind, number)

    # -- the server's era ----------------------------------------------------------------------------------------------

    @property
    def _is_modern(self) -> bool:
        return self._context.options.server_era == "modern" or self._context.verdict.modern

    @property
    def _era_open(self) -> bool:
        return self._context.options.server_era in ("auto", DUAL)

    def _heard(self, message: Message, line: bytes, answered: bytes | None, about: bytes | None) -> None:
        """What the relay passes on."""
        if self._probe and answered == self._probe:
            self._judge(message)
        elif self._hello is not None and answered == self._hello.id:
            if isinstance(message, frame.Failure):
                self._ask(message, line, answered)
            else:
                self._told(message, line, answered, about)
                self._settle()
        else:
            self._told(message, line, answered, about)

    def _ask(self, refusal: Message, line: bytes, answered: bytes) -> None:
        """The server refused ``initialize``: perhaps it is modern."""
        self._refusal = refusal, line, answered
        ids = self._context.ids
        self._probe = frame.encode(f"dragoman-{ids.instance}-{ids.wire()}")
        params = discover_params()
        request = frame.Request(self._probe, "server/discover", Raw(params))
        self._relay.from_client(request, frame.request(self._probe, "server/discover", params)[:-1])
        self._context.timer("down-probe", PATIENCE)

    def _judge(self, answer: Message) -> None:
        self._context.cancel_timer("down-probe")
        if isinstance(answer, frame.Result | frame.Failure) and judge(answer)[0] == MODERN:
            self._refusal = None
            self._context.log(effects.INFO, "the server refused initialize and answered server/discover: it is modern, and translated")
            self._context.verdict.modern = True
            self._go_down()
            hello = self._hello
            if hello is not None and self._down is not None:
                self._probe = b""
                self._down.initialize(hello, answer.result if isinstance(answer, frame.Result) else None)
                return
        self._settle()

    def _go_down(self) -> None:
        from dragoman.bridging.downgrade_server import DowngradeServer

        self._down = DowngradeServer(self._context, self._down_told, self._relay.number)

    def _down_told(self, message: Message, line: bytes, answered: bytes | None, about: bytes | None) -> None:
        """What the downgrade says; what the client said during the handshake goes on once that is answered."""
        self._told(message, line, answered, about)
        if self._hello is not None and answered == self._hello.id:
            self._settle()

    def _settle(self) -> None:
        """The handshake is over, one way or the other: what waited goes on."""
        refusal, self._refusal, self._probe, self._hello = self._refusal, None, b"", None
        if refusal is not None:
            self._told(*refusal, None)
        held, self._held = self._held, []
        for message, line in held:
            self.from_client(message, line)

    def _to_client(self, _message: Message, line: bytes, answered: bytes | None, _about: bytes | None) -> None:
        self._context.to_client(line, answered, NOTE if answered is None else RESULT)

"""Which era a command's server speaks, asked of a process that serves nobody (basic/transports/stdio#backward-compatibility).

As the bridge itself does it, ``initialize`` comes first and ``server/discover`` only if that was refused: one process, and no
server is shown a message that makes it exit or hang. ``modern_first`` asks both, each as the first message of a process of its
own, because some servers take the era of the first message for that of the connection.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Protocol

from msgspec import Struct

from dragoman import frame
from dragoman.bridging.diagnosis import (
    STDIO,
    Answer,
    Diagnosis,
    in_words,
    initialize_params,
    named_in,
    one_line,
    read_discovery,
    read_handshake,
)
from dragoman.bridging.era import MODERN, discover_params, judge
from dragoman.io.child import Child
from dragoman.io.command import CannotStart
from dragoman.io.events import Events
from dragoman.io.launcher import Launcher
from dragoman.io.lines import TooLong
from dragoman_specs.names import METHOD_NOT_FOUND
from dragoman_specs.version import LATEST_LEGACY, LEGACY, Version

_MAX_LINE = 16 << 20
_GRACE = 0.5
_TURN = 0.05
_TAIL = 4096
_TAIL_LINES = 10


class Talk(Protocol):
    """A conversation with one server process."""

    ended: bool
    last_words: bytes
    """The end of what it wrote on stderr."""
    noise: list[bytes]
    """Lines on stdout that are no messages; the first is enough."""

    def ask(self, method: str, params: bytes, patience: float | None) -> Answer | str:
        """The answer to one request, or why there is none; ``patience`` in seconds, None: without a limit."""

    def close(self) -> None:
        """End the process and all that it started."""


class Patience(Struct, frozen=True):
    """Seconds for the answer to ``initialize`` (a server may be installed first; None: no limit), and to ``server/discover``."""

    start: float | None
    discover: float


def diagnose_command(start: Callable[[], Talk], patience: Patience, *, modern_first: bool = False, every: bool = False) -> Diagnosis:
    """What is found out; ``every`` also offers each of the legacy revisions to a process of its own."""
    found = Diagnosis(transport=STDIO)
    try:
        if modern_first:
            _with(start, found, lambda talk: _discover(talk, found, patience.discover))
        _with(start, found, lambda talk: _in_order(talk, found, patience, asked=modern_first))
        if every and found.accepts_handshake:
            _offer_each(start, found, patience)
    except CannotStart as fault:
        found.why = f"the command cannot be started: {fault}"
        return found
    _conclude(found, asked_both=modern_first)
    return found


def _with(start: Callable[[], Talk], found: Diagnosis, step: Callable[[Talk], None]) -> None:
    talk = start()
    try:
        step(talk)
    finally:
        talk.close()
    if talk.noise:
        text = one_line(talk.noise[0].decode(errors="replace"), 60)
        found.note(f"it writes text on stdout, where only messages belong (passed over): {text}")
    lines = talk.last_words.decode(errors="replace").splitlines()[-_TAIL_LINES:]
    found.stderr = [] if found.usable else [one_line(line) for line in lines if line.strip()] or found.stderr


def _in_order(talk: Talk, found: Diagnosis, patience: Patience, *, asked: bool) -> None:
    """``initialize``, and ``server/discover`` if it was refused and that was not asked yet."""
    _initialize(talk, found, patience.start)
    if not found.accepts_handshake and not asked and not talk.ended:
        _discover(talk, found, patience.discover)


def _initialize(talk: Talk, found: Diagnosis, patience: float | None) -> None:
    offered: Version | None = LATEST_LEGACY
    tried: list[Version] = []
    while offered is not None:
        tried.append(offered)
        answer = talk.ask("initialize", initialize_params(offered), patience)
        asked = f"initialize, offering {offered}"
        offered = None
        if isinstance(answer, str):
            found.step(asked, answer)
        elif isinstance(answer, frame.Result):
            accepted = read_handshake(found, answer.result)
            found.step(asked, in_words(answer), "it accepts the handshake" if accepted else "that is no handshake")
        else:
            offered = named_in(answer, tried)
            found.accepts_handshake = False
            found.step(asked, in_words(answer), f"it may accept {offered}" if offered else "it refuses the handshake")


def _discover(talk: Talk, found: Diagnosis, patience: float) -> None:
    answer = talk.ask("server/discover", discover_params(), patience)
    if isinstance(answer, str):
        found.step("server/discover", answer, "no sign of 2026-07-28")
        return
    era, why = judge(answer)
    if era == MODERN:
        read_discovery(found, answer)
    else:
        found.accepts_modern = False
    found.step("server/discover", in_words(answer), why)


def _offer_each(start: Callable[[], Talk], found: Diagnosis, patience: Patience) -> None:
    for version in LEGACY:
        talk = start()
        try:
            answer = talk.ask("initialize", initialize_params(version), patience.start)
        finally:
            talk.close()
        found.offers[version] = offer_in_words(answer)


def offer_in_words(answer: Answer | str) -> str:
    """What a revision was answered with: the one that the server chose, or why none."""
    if isinstance(answer, frame.Result):
        version = frame.text((frame.members(answer.result) or {}).get("protocolVersion"))
        return one_line(version, 40) if version is not None else in_words(answer)
    return answer if isinstance(answer, str) else in_words(answer)


def _conclude(found: Diagnosis, *, asked_both: bool) -> None:
    if found.accepts_modern and found.accepts_handshake:
        found.why = "it answers server/discover, and accepts initialize too"
        found.advise("modern clients are served from its legacy side; dragoman wrap --probe prefers its modern one")
    elif found.accepts_modern:
        refused = "refuses initialize" if found.accepts_handshake is False else "does not answer initialize"
        found.why = f"it {refused} and answers server/discover"
        if found.accepts_handshake is None:
            found.advise("give dragoman --server-era modern: by itself it waits for the answer to initialize")
    elif found.accepts_handshake:
        found.why = "it accepts initialize"
        if not asked_both:
            found.note("whether it speaks 2026-07-28 too was not asked; --modern-first does, with a process more")
    else:
        found.why = "it answers neither initialize nor server/discover as an MCP server does"
        if found.accepts_handshake is None:
            found.advise("if it needs longer to start: --start-timeout SECONDS")
        if not asked_both:
            found.advise("if it cannot bear initialize as its first message: --modern-first")


class ProcessTalk:
    """A ``Talk`` with a real process. The server's own requests are answered: it may wait for that before it goes on."""

    def __init__(self, launcher: Launcher, events: Events) -> None:
        self.events = events
        self.ended = False
        self.last_words = b""
        self.noise: list[bytes] = []
        self._why = ""
        self._number = 0
        self._waiting = b""
        self._answers: list[Answer] = []  # to the request that waits; the first counts
        self._child = Child(launcher.spawn(), launcher.label, self, _MAX_LINE)
        self._child.open(0)

    def ask(self, method: str, params: bytes, patience: float | None) -> Answer | str:
        """The answer to one request, or why there is none."""
        self._number += 1
        self._waiting = b'"dragoman-probe-%d"' % self._number
        self._answers.clear()
        self._child.write(frame.request(self._waiting, method, params))
        deadline = None if patience is None else monotonic() + patience
        while not self._answers and not self.ended:
            now = monotonic()
            if deadline is not None and now >= deadline:
                return f"no answer within {patience:g} s"
            self._turn(now + _TURN if deadline is None else deadline)
        return self._answers[0] if self._answers else self._why

    def close(self) -> None:
        """End the process and all that it started."""
        self._child.close(_GRACE)
        while not self._child.ended:
            self._turn(monotonic() + 1.0)

    def _turn(self, until: float) -> None:
        self._child.outlet.flush()
        now = monotonic()
        wake = min(until, now + _TURN if self._child.due is None else self._child.due)
        for handler, data in self.events.wait(max(0.0, wake - now)):
            handler(data)
        self._child.tick(monotonic())

    def heard(self, child: Child, lines: list[bytes | TooLong]) -> None:
        """Lines of the server's stdout."""
        for line in lines:
            message = frame.parse(line, lenient=True) if isinstance(line, bytes) else frame.Malformed(0, "too long")
            for item in message if isinstance(message, list) else [message]:
                if isinstance(item, frame.Result | frame.Failure) and item.id in (self._waiting, None):
                    # A server that can't read a request leaves its id out; ours is the only one that it may mean.
                    self._answers.append(item)
                elif isinstance(item, frame.Request):
                    self._reply(item)
                elif isinstance(item, frame.Malformed) and not self.noise:
                    self.noise.append(line if isinstance(line, bytes) else line.head)

    def _reply(self, request: frame.Request) -> None:
        if request.method == "ping":
            self._child.write(frame.result(request.id, b"{}"))
        else:
            self._child.write(frame.failure(request.id, frame.error(METHOD_NOT_FOUND, "Method not found")))

    def stderr(self, data: bytes) -> None:
        """Bytes of the server's stderr: the last are kept, to be shown if the server cannot be used."""
        self.last_words = (self.last_words + data[-_TAIL:])[-_TAIL:]

    def lost(self, child: Child, reason: str) -> None:
        """The server cannot answer any more."""
        self.ended = True
        self._why = one_line("no answer: " + reason.partition("; the last lines of its stderr:")[0])

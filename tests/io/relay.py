"""A bridge between peers of the same revision: the smallest real core, to test the shell around it.

Run as ``relay.py [--threads] [--level LEVEL] [--max-line N] -- COMMAND``. One session, opened by the first frame. Frames that the
core answers itself say what the shell told it: a lost server, a line that was too long.
"""

from __future__ import annotations

import os
import sys

from dragoman.bridging.effects import (
    DEBUG,
    WARNING,
    CancelTimer,
    CloseSession,
    Effect,
    Finished,
    OpenSession,
    SetTimer,
    ToClient,
    ToServer,
)
from dragoman.bridging.effects import (
    Log as LogEffect,
)
from dragoman.io.events import Events, default_events
from dragoman.io.launcher import Launcher
from dragoman.io.log import LEVELS, Log
from dragoman.io.shell import STALL, Shell
from dragoman.io.threaded import ThreadEvents


class Relay:
    """Lines through, unchanged. ``drain``: how long after EOF and the last output answers are still waited for."""

    def __init__(self, drain: float = 5.0) -> None:
        self._drain = drain
        self._session = 0
        self._open = False
        self._waiting = 0
        self._closed = False

    def start(self, now: float) -> list[Effect]:
        return []

    def from_client(self, line: bytes, now: float) -> list[Effect]:
        effects: list[Effect] = []
        if line == b"close-session":
            self._open = False
            return [CloseSession(self._session)]
        if line.startswith(b"timer "):
            return [SetTimer(line[6:].decode(), now + 0.01), SetTimer("never", now + 0.005), CancelTimer("never")]
        if not self._open:
            self._open = True
            self._session += 1
            effects.append(OpenSession(self._session))
        self._waiting += 1
        return [*effects, ToServer(self._session, line + b"\n")]

    def client_too_long(self, head: bytes, size: int, now: float) -> list[Effect]:
        return [ToClient(b"client line too long: %d bytes, head %d\n" % (size, len(head)))]

    def client_closed(self, now: float) -> list[Effect]:
        self._closed = True
        told = LogEffect(DEBUG, "the client closed")
        return [told, SetTimer("drain", now + self._drain) if self._waiting > 0 and self._open else Finished(0)]

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[Effect]:
        self._waiting -= 1
        effects: list[Effect] = [ToClient(line + b"\n")]
        if self._closed:
            effects.append(SetTimer("drain", now + self._drain) if self._waiting > 0 else Finished(0))
        return effects

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[Effect]:
        return [ToClient(b"server line too long: %d bytes, head %d\n" % (size, len(head)))]

    def session_lost(self, session: int, reason: str, now: float) -> list[Effect]:
        self._open = False
        self._waiting = 0
        effects: list[Effect] = [ToClient(b"lost %d: %s\n" % (session, reason.replace("\n", "|").encode()))]
        return [*effects, Finished(0)] if self._closed else effects

    def on_timer(self, key: str, now: float) -> list[Effect]:
        if key == "drain":
            return [LogEffect(WARNING, "nothing came any more"), Finished(0)]
        return [ToClient(b"timer " + key.encode() + b"\n")]


def main(words: list[str]) -> int:
    cut = words.index("--")
    ours, command = words[:cut], words[cut + 1 :]
    events: Events = ThreadEvents() if "--threads" in ours else default_events()
    level = ours[ours.index("--level") + 1] if "--level" in ours else "info"
    drain = float(ours[ours.index("--drain") + 1]) if "--drain" in ours else 5.0
    max_line = int(ours[ours.index("--max-line") + 1]) if "--max-line" in ours else 256 << 20
    grace = float(ours[ours.index("--grace") + 1]) if "--grace" in ours else 2.0
    stall = float(ours[ours.index("--stall") + 1]) if "--stall" in ours else STALL
    log = Log(events.outlet(2, owned=False), LEVELS[level])
    launcher = Launcher(command, dict(os.environ), None, "the server")
    launcher.prepare()
    return Shell(Relay(drain), launcher, events, log, max_line=max_line, grace=grace, stall=stall).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A recording of everything said on both sides of the bridge: one JSON object a line, in order.

Members: ``at`` (seconds since the start), ``who`` ("client>" wrote it, "client<" got it, "server<" got it, "server>" wrote
it), ``session`` for the server's side, and ``frame``, or ``text`` for a line that is no JSON. It wraps the core, so a
recording is exactly what the core heard and said. A file that takes no more (a full disk) ends the recording and nothing else.
"""

from __future__ import annotations

from typing import BinaryIO

import msgspec
from msgspec import Raw

from dragoman.bridging.core import Core
from dragoman.bridging.effects import ERROR, CloseSession, Effect, Finished, Log, OpenSession, ToClient, ToServer

_check = msgspec.json.Decoder(Raw).decode


class Recorder:
    """A ``Core`` that writes down what passes through another one. The file may hold secrets: it is the user's to keep."""

    def __init__(self, core: Core, file: BinaryIO) -> None:
        self._core = core
        self._file: BinaryIO | None = file
        self._fault: str | None = None  # why the recording stopped, until it is said
        self._started: float | None = None

    def start(self, now: float) -> list[Effect]:
        """See ``Core``."""
        return self._out(self._core.start(now), now)

    def from_client(self, line: bytes, now: float) -> list[Effect]:
        """See ``Core``."""
        self._write(now, "client>", None, line)
        return self._out(self._core.from_client(line, now), now)

    def client_too_long(self, head: bytes, size: int, now: float) -> list[Effect]:
        """See ``Core``."""
        self._event(now, f"the client wrote a line of {size} bytes")
        return self._out(self._core.client_too_long(head, size, now), now)

    def client_closed(self, now: float) -> list[Effect]:
        """See ``Core``."""
        self._event(now, "the client closed its side")
        return self._out(self._core.client_closed(now), now)

    def from_server(self, session: int, line: bytes, now: float, about: bytes | None = None) -> list[Effect]:
        """See ``Core``."""
        self._write(now, "server>", session, line)
        return self._out(self._core.from_server(session, line, now, about), now)

    def server_too_long(self, session: int, head: bytes, size: int, now: float) -> list[Effect]:
        """See ``Core``."""
        self._event(now, f"the server wrote a line of {size} bytes")
        return self._out(self._core.server_too_long(session, head, size, now), now)

    def session_lost(self, session: int, reason: str, now: float) -> list[Effect]:
        """See ``Core``."""
        self._event(now, f"session {session} is lost: {reason}")
        return self._out(self._core.session_lost(session, reason, now), now)

    def on_timer(self, key: str, now: float) -> list[Effect]:
        """See ``Core``."""
        return self._out(self._core.on_timer(key, now), now)

    def _out(self, effects: list[Effect], now: float) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, ToClient):
                self._write(now, "client<", None, effect.data[:-1])
            elif isinstance(effect, ToServer):
                self._write(now, "server<", effect.session, effect.data[:-1])
            elif isinstance(effect, OpenSession):
                self._event(now, f"session {effect.session} opens")
            elif isinstance(effect, CloseSession):
                self._event(now, f"session {effect.session} is closed")
            elif isinstance(effect, Finished):
                self._event(now, f"finished with status {effect.status}")
        if self._fault is None:
            return effects
        told = Log(ERROR, f"the recording stops here: {self._fault}")
        self._fault = None
        return [*effects, told]

    def _write(self, now: float, who: str, session: int | None, line: bytes) -> None:
        if self._file is None:
            return
        entry: dict[str, object] = {"who": who} if session is None else {"who": who, "session": session}
        try:
            entry["frame"] = _check(line)
        except (msgspec.MsgspecError, RecursionError):
            entry["text"] = line.decode(errors="backslashreplace")
        self._put(now, entry)

    def _event(self, now: float, text: str) -> None:
        self._put(now, {"event": text})

    def _put(self, now: float, entry: dict[str, object]) -> None:
        if self._file is None:
            return
        if self._started is None:
            self._started = now
        try:
            self._file.write(msgspec.json.encode({"at": round(now - self._started, 6), **entry}) + b"\n")
            self._file.flush()
        except OSError as fault:
            self._fault = fault.strerror or str(fault)
            self._stop(self._file)

    def _stop(self, file: BinaryIO) -> None:
        self._file = None
        try:
            file.close()
        except OSError:  # what is left in its buffer cannot be written either; without this, Python would try again at the end
            pass

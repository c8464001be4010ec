"""Newline-delimited JSON-RPC over stdin and stdout, for hand-written peers (standard library only).

Theory of operation: one thread (the caller of ``frames``) reads; any thread may write, one frame at a time, under a lock. A question
asked by a handler thread parks that thread in ``Questions`` until the reader hands it the answer, so the reader must never ask.
Frames are decoded and encoded with ``json`` alone: nothing here shares code with the bridge that these peers test.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

JsonObject = dict[str, Any]

LEAK = 70
"""Exit status of a peer that was shown a word its revision does not have (EX_SOFTWARE of sysexits)."""


class Wire:
    """The pipe to the client: a blocking reader and a locked writer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def frames(self) -> Iterator[Any]:
        """Yield each decoded line until end of file; blank lines are skipped and an undecodable one is yielded as ``None``."""
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except ValueError:
                yield None

    def send(self, frame: Any) -> None:
        """Write one frame on one line."""
        self.send_bytes(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are: peers that misbehave on purpose need this."""
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def result(self, request_id: Any, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def error(self, request_id: Any, code: int, message: str, data: Any = None) -> None:
        error: JsonObject = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self.send({"jsonrpc": "2.0", "id": request_id, "error": error})

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        frame: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            frame["params"] = params
        self.send(frame)

    def leave(self, status: int, why: str = "") -> NoReturn:
        """Exit at once, whatever other threads are waiting for, but never in the middle of a line."""
        with self._lock:
            if why:
                print(why, file=sys.stderr, flush=True)
            os._exit(status)


class Gone(Exception):
    """The call was cancelled while its handler waited: nothing is answered any more."""


class Refused(Exception):
    """A handler's JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Call:
    """One request in flight. ``wait_for`` wakes on a change of the shared state or on cancellation."""

    def __init__(self, request_id: Any, params: JsonObject, changed: threading.Condition) -> None:
        self.id = request_id
        self.params = params
        self.changed = changed
        self.cancelled = False

    @property
    def token(self) -> Any:
        """The progress token of the request, or None."""
        return self.params.get("_meta", {}).get("progressToken")


class Questions:
    """Requests that this peer has asked the client, by id. Answers are kept as the whole response frame."""

    def __init__(self, wire: Wire, changed: threading.Condition) -> None:
        self._wire = wire
        self._changed = changed
        self._next = 0
        self._open: dict[str, JsonObject | None] = {}
        self._withdrawn: set[str] = set()

    def begin(self, method: str, params: JsonObject | None = None) -> str:
        """Send the question and return its id without waiting."""
        with self._changed:
            self._next += 1
            question = f"q-{self._next}"
            self._open[question] = None
        frame: JsonObject = {"jsonrpc": "2.0", "id": question, "method": method}
        if params is not None:
            frame["params"] = params
        self._wire.send(frame)
        return question

    def answered(self, frame: JsonObject) -> bool:
        """Take a response from the reader thread. False when nobody asked for it; a withdrawn question may cross its answer."""
        with self._changed:
            question = frame.get("id")
            if question in self._withdrawn:
                return True
            if not isinstance(question, str) or self._open.get(question, frame) is not None:
                return False
            self._open[question] = frame
            self._changed.notify_all()
            return True

    def wait(self, question: str, call: Call | None) -> JsonObject:
        """Wait for the whole response frame; a cancelled call withdraws its question and raises ``Gone``."""
        with self._changed:
            self._changed.wait_for(lambda: self._open[question] is not None or (call is not None and call.cancelled))
            frame = self._open.pop(question)
            if frame is None:
                self._withdrawn.add(question)
        if frame is None:
            self._wire.notify("notifications/cancelled", {"requestId": question, "reason": "the call was cancelled"})
            raise Gone
        return frame

    def ask(self, call: Call | None, method: str, params: JsonObject | None = None) -> JsonObject:
        return self.wait(self.begin(method, params), call)

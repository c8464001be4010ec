#!/usr/bin/env python3
"""A relay that writes down what passes: ``tap.py FILE -- COMMAND…``.

Theory of operation: the command's stdin and stdout are relayed byte for byte, line by line, and each line is appended to FILE as one JSON
object ``{"n": order, "pid": child, "dir": "in" | "out", "line": text}``; ``in`` goes to the command and ``out`` comes from it. Bytes that
are no UTF-8 are kept as surrogate escapes. A line is written down before it is passed on, so a test that has seen the effect of a
frame finds it in the file. Stderr and the exit status are the command's own; SIGTERM is passed on.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import IO


class Tap:
    """The file and the order of its lines."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._lock = threading.Lock()
        self._count = 0

    def note(self, pid: int, direction: str, line: bytes) -> None:
        """Append one record with a single write, so that no reader sees half of it."""
        with self._lock:
            self._count += 1
            words = line.rstrip(b"\n").decode("utf-8", "surrogateescape")
            record = {"n": self._count, "pid": pid, "dir": direction, "line": words}
            os.write(self._file, json.dumps(record).encode() + b"\n")

    def relay(self, pid: int, direction: str, source: IO[bytes], sink: IO[bytes]) -> None:
        """Copy lines until the source ends or nobody reads the sink, then close the sink."""
        try:
            for line in source:
                self.note(pid, direction, line)
                sink.write(line)
                sink.flush()
        except (BrokenPipeError, ValueError):
            pass
        finally:
            with contextlib.suppress(BrokenPipeError):
                sink.close()


def main() -> None:
    path, separator, *command = sys.argv[1:]
    if separator != "--" or not command:
        sys.exit("usage: tap.py FILE -- COMMAND…")
    tap = Tap(path)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    assert child.stdin is not None
    assert child.stdout is not None
    threading.Thread(target=tap.relay, args=(child.pid, "in", sys.stdin.buffer, child.stdin), daemon=True).start()
    tap.relay(child.pid, "out", child.stdout, sys.stdout.buffer)
    status = child.wait()
    # The thread may still wait for input that nobody will send: leave without joining it.
    os._exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()

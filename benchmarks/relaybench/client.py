"""A raw client: bytes in, bytes out, and the clock around them. Answers are read as lines and checked after the clock.

No SDK takes part, because its own time would hide the relay's. Frames are encoded before the clock starts and decoded after
it has stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

from shared import WrongAnswerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .contenders import Contender

CHUNK = 1 << 18
PATIENCE = 120.0
"""Seconds after which a silent contender is killed, so that a run always ends."""


class Peer:
    """One running contender and the two descriptors to it."""

    def __init__(self, contender: Contender) -> None:
        """Start the contender; what it says on standard error is kept for the case that it fails."""
        self.contender = contender
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in close()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(contender.command, stdin=pipe, stdout=pipe, stderr=self._errors, bufsize=0)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._write, self._read = self.process.stdin.fileno(), self.process.stdout.fileno()

    def open(self) -> None:
        """Begin the conversation and wait for its first answer."""
        first, *rest = self.contender.opening()
        _, line = self.ask(first)
        decoded(self.contender.name, line, 0)
        for frame in rest:
            os.write(self._write, frame)

    def ask(self, frame: bytes) -> tuple[int, bytes]:
        """Send one request, read to the end of its answer: nanoseconds and the line."""
        read, chunks = self._read, []
        with self._watched():
            began = perf_counter_ns()
            os.write(self._write, frame)
            while chunk := os.read(read, CHUNK):
                chunks.append(chunk)
                if chunk.endswith(b"\n"):
                    break
            took = perf_counter_ns() - began
        return took, b"".join(chunks)

    def ask_each(self, frames: Sequence[bytes]) -> tuple[list[int], list[bytes]]:
        """One small request after another, each sent when the one before is answered: nanoseconds and lines."""
        write, read, times, lines = self._write, self._read, [], []
        with self._watched():
            for frame in frames:
                began = perf_counter_ns()
                os.write(write, frame)
                line = os.read(read, CHUNK)
                while line and not line.endswith(b"\n"):
                    line += os.read(read, CHUNK) or b"\n"
                times.append(perf_counter_ns() - began)
                lines.append(line)
        return times, lines

    def ask_together(self, frames: Sequence[bytes], window: int) -> tuple[int, list[bytes]]:
        """Keep ``window`` requests in flight until all are answered: nanoseconds and lines, in the order of answering.

        Every request is a write of its own. The window has to fit into a pipe (64 KiB), or both sides could wait for ever.
        """
        write, read, chunks = self._write, self._read, []
        waiting = iter(frames)
        missing = len(frames)
        with self._watched():
            began = perf_counter_ns()
            for frame in (next(waiting) for _ in range(min(window, missing))):
                os.write(write, frame)
            while missing > 0 and (chunk := os.read(read, CHUNK)):
                chunks.append(chunk)
                answered = chunk.count(b"\n")
                missing -= answered
                # The range comes first: zip must not take a frame that it then has no place for.
                for _, frame in zip(range(answered), waiting, strict=False):
                    os.write(write, frame)
            took = perf_counter_ns() - began
        return took, b"".join(chunks).removesuffix(b"\n").split(b"\n")

    def resident(self) -> float | None:
        """The resident memory of the relay itself, in MB; none where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text("ascii").splitlines()
            return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmRSS"))
        except (OSError, StopIteration):
            return None

    def processor_time(self) -> int | None:
        """Nanoseconds of processor time that the living threads of the relay have used; none where the system does not tell."""
        try:
            paths = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
            return sum(int(path.read_text("ascii").split()[0]) for path in paths) or None
        except OSError:
            return None

    def close(self) -> None:
        """End of input, then wait; a contender that stays is killed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            print(f"{self.contender.name} did not end on end of input; killed", file=sys.stderr)
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self._errors.close()

    def complaint(self) -> str:
        """The end of what the contender wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-2000:]

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Kill the contender if it keeps the client waiting too long; the read then sees an end of file."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def decoded(name: str, line: bytes, number: int) -> dict[str, object]:
    """The result in ``line``, which has to answer the request ``number``."""
    try:
        frame = json.loads(line)
    except ValueError as error:
        raise WrongAnswerError(f"{name}: no frame: {line[:200]!r}") from error
    if frame.get("id") != number or "result" not in frame:
        raise WrongAnswerError(f"{name}: no result for request {number}: {line[:200]!r}")
    result: dict[str, object] = frame["result"]
    return result


def check_text(contender: Contender, line: bytes, number: int, text: str) -> None:
    """``line`` is the result of call ``number``: one text block that holds ``text``, marked complete for a modern client."""
    result = decoded(contender.name, line, number)
    if result.get("content") != [{"type": "text", "text": text}]:
        raise WrongAnswerError(f"{contender.name}: wrong content for request {number}: {line[:200]!r}")
    if contender.modern and result.get("resultType") != "complete":
        raise WrongAnswerError(f"{contender.name}: result {number} is not marked complete")

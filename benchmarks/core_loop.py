"""The core of the bridge alone, in memory: no pipes, no processes, no other client. Tells µs a frame, or the functions behind it.

    python benchmarks/core_loop.py [--calls N] [--profile]

The tiny server answers in this process, outside the clock. What ``run.py`` shows beyond these figures is the shell's
and the kernel's.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from statistics import median
from time import perf_counter_ns

from relaybench.contenders import DRAGOMAN, Contender
from relaybench.measures import MB, small
from tiny_server import answer

from dragoman.bridging.effects import ToClient, ToServer
from dragoman.bridging.face import DualFace
from dragoman.bridging.options import Options

CLIENT = Contender(DRAGOMAN, [], modern=True)


class Conversation:
    """One client, the core, and the tiny server behind it."""

    def __init__(self) -> None:
        """Open the session, so that calls find it ready."""
        self.core = DualFace(Options(), "bench", os.urandom, time.time, None)
        self.core.start(0.0)
        for frame in CLIENT.opening():
            self.call(frame)

    def call(self, frame: bytes) -> tuple[int, int, bytes]:
        """One request through and its answer back: nanoseconds each way, and the answer."""
        began = perf_counter_ns()
        effects = self.core.from_client(frame[:-1], 1.0)
        there, back, told = perf_counter_ns() - began, 0, b""
        waiting = [effect for effect in effects if isinstance(effect, ToServer)]
        while waiting:
            sent = waiting.pop(0)
            line = answer(sent.data)[:-1]
            if not line:
                continue
            began = perf_counter_ns()
            effects = self.core.from_server(sent.session, line, 1.0)
            back += perf_counter_ns() - began
            told += b"".join(effect.data for effect in effects if isinstance(effect, ToClient))
            waiting += [effect for effect in effects if isinstance(effect, ToServer)]
        return there, back, told


def times(conversation: Conversation, frames: list[bytes]) -> tuple[float, float]:
    """Median µs of the requests' way and of the answers' way."""
    taken = [conversation.call(frame)[:2] for frame in frames]
    return median(there for there, _ in taken) / 1000, median(back for _, back in taken) / 1000


def profile(conversation: Conversation, frames: list[bytes]) -> None:
    """The functions by their own time. The profiler makes small functions look dearer than they are."""
    import cProfile
    import pstats

    watch = cProfile.Profile()
    watch.enable()
    for frame in frames:
        conversation.call(frame)
    watch.disable()
    pstats.Stats(watch).sort_stats("tottime").print_stats(25)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/core_loop.py", description="Time the core of the bridge in memory.")
    parser.add_argument("--calls", type=int, default=20_000, help="small calls (default 20000)")
    parser.add_argument("--profile", action="store_true", help="tell the functions instead")
    given = parser.parse_args()
    conversation = Conversation()
    frames = small(CLIENT, 1, given.calls)
    if given.profile:
        profile(conversation, frames)
        return 0
    there, back = times(conversation, frames)
    print(f"small call: request {there:.1f} µs, answer {back:.1f} µs")
    for size in (1 * MB, 10 * MB):
        big = [CLIENT.call(number, "blob", {"bytes": size}) for number in range(9)]
        there, back = times(conversation, big)
        print(f"{size // MB} MB result: answer {back / 1000:.2f} ms, {size / MB / back * 1e6:,.0f} MB/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

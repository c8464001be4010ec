"""What is measured of a bridge on stdio in front of a URL; ``httpbench.measures`` does the same for one on HTTP.

Contenders take turns inside every function, so that a busy moment of the machine falls on all of them; one round gives one value for
each contender and quantity. The servers behind the URLs run for the whole benchmark, as they would.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import TYPE_CHECKING

from httpbench.contenders import Contender as Served
from httpbench.running import Running
from relaybench.client import Peer, check_text
from relaybench.measures import Plan, check_small, large, small, throughput
from shared import MB, TEXT, Values

from .contenders import DIRECT, L, M, behind, share
from .straight import Straight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relaybench.contenders import Contender

    Either = Peer | Straight

FULL = Plan(rounds=5, blocks=20, block=50, window=32, flood=3000, large={10 * MB: 2}, steady=0, starts=3)
QUICK = Plan(rounds=1, blocks=2, block=10, window=8, flood=100, large={10 * MB: 1}, steady=0, starts=1)


@contextmanager
def servers(kind: str) -> Iterator[dict[str, str]]:
    """A server behind a URL for each era, and the URLs."""
    running = {era: Running(Served(DIRECT[era], behind(era, kind), era == M)) for era in (L, M)}
    try:
        for server in running.values():
            with server.watched(), server.connect() as line:
                server.open(line)
        yield {era: f"http://127.0.0.1:{server.port}/mcp" for era, server in running.items()}
    finally:
        for server in running.values():
            server.close()


def begun(contender: Contender) -> Either:
    """The contender, started; of the direct one there is nothing to start."""
    return Straight(contender) if contender.command[0].startswith("http://") else Peer(contender)


def latency(peers: list[Either], plan: Plan) -> Values:
    """Small calls one after another, in blocks that alternate: µs, and what a bridge adds to the server that it stands before."""
    times: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
    for block in range(plan.blocks + 1):
        for peer in peers:
            count = max(2, plan.block // share(peer.contender.name))
            first = 1 + block * count
            took, lines = peer.ask_each(small(peer.contender, first, count))
            check_small(peer.contender, lines, first, count)
            if block:  # the first one warms up
                times[peer.contender.name] += took
    centiles = {name: quantiles(took, n=100, method="inclusive") for name, took in times.items()}
    values: Values = {}
    for centile in (50, 99):
        told = {name: points[centile - 1] / 1000 for name, points in centiles.items()}
        values[f"latency_p{centile}"] = told
        values[f"added_p{centile}"] = {name: value - told[floor] for name, value in told.items() if (floor := floor_of(name)) in told}
    return values


def floor_of(name: str) -> str:
    """The direct contender with the server of this one; none for a direct one."""
    _, _, server = name.partition(" to ")
    return DIRECT.get(server, "")


def load(peers: list[Either], plan: Plan) -> Values:
    """A window of calls in flight: what ``relaybench`` tells of it, and resident memory after the handshake and after these calls."""
    values: Values = {quantity: {} for quantity in ("throughput", "processor", "rest", "growth")}
    for peer in peers:
        name, before = peer.contender.name, peer.resident()
        count = max(plan.window, plan.flood // share(name))
        told = throughput([peer], plan._replace(flood=count))  # type: ignore[list-item]  # a Straight has what is asked of a Peer here
        for quantity, by_name in told.items():
            values[quantity] |= by_name
        after = peer.resident()
        if before is not None and after is not None:
            values["rest"][name] = before
            if share(name) == 1:
                values["growth"][name] = after - before
    return values


def big(peers: list[Either], plan: Plan) -> Values:
    """Results of 10 MB."""
    return large(peers, plan)  # type: ignore[arg-type]  # as above


def cold(contenders: list[Contender], plan: Plan) -> Values:
    """From the spawn to the end of the first answer, and to the end of the first call's, in ms: the medians of some starts.

    A bridge may answer the handshake by itself, before it knows the server; the call's answer comes from the server for certain.
    """
    first: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    call: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(plan.starts):
        for contender in contenders:
            began = perf_counter_ns()
            peer = begun(contender)
            try:
                peer.open()
                first[contender.name].append((perf_counter_ns() - began) / 1e6)
                _, line = peer.ask(contender.call(1, "echo", {"text": TEXT}))
                call[contender.name].append((perf_counter_ns() - began) / 1e6)
                check_text(contender, line, 1, TEXT)
            except Exception as error:
                error.add_note(f"{contender.name} said: {peer.complaint()}")
                raise
            finally:
                peer.close()
    return {"cold": {name: median(took) for name, took in first.items()}, "call": {name: median(took) for name, took in call.items()}}


MEASURES: dict[str, Callable[[list[Either], Plan], Values]] = {"load": load, "latency": latency, "large": big}
"""What needs running peers, in this order: memory at rest is that of fresh processes."""


def one_round(contenders: list[Contender], plan: Plan, only: list[str]) -> Values:
    """Every wanted quantity once, with fresh processes."""
    values: Values = {}
    wanted = [measure for name, measure in MEASURES.items() if name in only]
    peers: list[Either] = []
    try:
        if wanted:
            for contender in contenders:
                peers.append(begun(contender))
                peers[-1].open()
                check_text(contender, peers[-1].ask(contender.call(1, "echo", {"text": TEXT}))[1], 1, TEXT)
        for measure in wanted:
            values |= measure(peers, plan)
    except Exception as error:
        for peer in peers:
            if complaint := peer.complaint():
                error.add_note(f"{peer.contender.name} said: {complaint}")
        raise
    finally:
        for peer in peers:
            peer.close()
    if "cold" in only:
        values |= cold([contender for contender in contenders if contender.name not in DIRECT.values()], plan)
    return values


def run(contenders: list[Contender], plan: Plan, only: list[str]) -> list[Values]:
    """All rounds. The order of the contenders moves on by one each round, and bytecode is cached for everybody, as in ``relaybench``.

    mcp-remote keeps what it knows in a folder of the user's: here in one of the benchmark's.
    """
    rounds = []
    with TemporaryDirectory() as cache:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = os.environ["MCP_REMOTE_CONFIG_DIR"] = cache
        one_round(contenders, plan._replace(starts=1), ["cold"])
        for number in range(plan.rounds):
            turn = number % len(contenders)
            rounds.append(one_round(contenders[turn:] + contenders[:turn], plan, only))
            print(f"round {number + 1} of {plan.rounds}", file=sys.stderr)
    return rounds

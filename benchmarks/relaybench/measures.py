"""What is measured, one function a quantity. Contenders take turns inside every function, so that a busy moment of the
machine falls on all of them; one round gives one value for each contender and quantity.
"""

from __future__ import annotations

import json
import os
import sys
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

from shared import MB, TEXT, Values
from tiny_server import blob

from .client import Peer, check_text, decoded
from .contenders import DIRECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from .contenders import Contender


class Plan(NamedTuple):
    """How much of everything one round does."""

    rounds: int
    blocks: int
    block: int
    window: int
    flood: int
    large: dict[int, int]
    steady: int
    starts: int


FULL = Plan(rounds=5, blocks=10, block=50, window=64, flood=3000, large={1 * MB: 8, 10 * MB: 2}, steady=10_000, starts=3)
QUICK = Plan(rounds=1, blocks=2, block=10, window=64, flood=200, large={1 * MB: 1, 10 * MB: 1}, steady=300, starts=1)


def small(contender: Contender, first: int, count: int) -> list[bytes]:
    """``count`` small calls with the ids from ``first`` on."""
    return [contender.call(number, "echo", {"text": TEXT}) for number in range(first, first + count)]


def check_small(contender: Contender, lines: list[bytes], first: int, count: int) -> None:
    """Every one of the calls has its own right answer, in whatever order."""
    by_id = {json.loads(line).get("id"): line for line in lines}
    for number in range(first, first + count):
        check_text(contender, by_id.get(number, b""), number, TEXT)


def latency(peers: list[Peer], plan: Plan) -> Values:
    """Small calls one after another, in blocks that alternate between the contenders: µs at the 50th and 95th percentile."""
    times: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
    for block in range(plan.blocks + 1):
        first = 1 + block * plan.block
        for peer in peers:
            took, lines = peer.ask_each(small(peer.contender, first, plan.block))
            check_small(peer.contender, lines, first, plan.block)
            if block:  # the first one warms up
                times[peer.contender.name] += took
    centiles = {name: quantiles(took, n=20) for name, took in times.items()}
    return {
        "latency_p50": {name: median(took) / 1000 for name, took in times.items()},
        "latency_p95": {name: points[18] / 1000 for name, points in centiles.items()},
    }


def throughput(peers: list[Peer], plan: Plan) -> Values:
    """Small calls with a window of them in flight: calls a second, and the relay's own processor time in µs a call."""
    rates, costs = {}, {}
    for peer in peers:
        frames = small(peer.contender, 1, plan.flood)
        before = peer.processor_time()
        took, lines = peer.ask_together(frames, plan.window)
        after = peer.processor_time()
        check_small(peer.contender, lines, 1, plan.flood)
        rates[peer.contender.name] = plan.flood / took * 1e9
        if before and after and peer.contender.name != DIRECT:
            costs[peer.contender.name] = (after - before) / plan.flood / 1000
    return {"throughput": rates, "processor": costs}


def large(peers: list[Peer], plan: Plan) -> Values:
    """Results of one big text, one after another: MB/s of the text as it is on the wire."""
    values: Values = {}
    for size, count in plan.large.items():
        text = json.loads(b'"' + blob(size) + b'"')
        spent: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
        for number in range(count + 1):
            for peer in peers:
                took, line = peer.ask(peer.contender.call(number, "blob", {"bytes": size}))
                check_text(peer.contender, line, number, text)
                if number:  # the first one lets the server make the text
                    spent[peer.contender.name].append(took)
        values[f"large_{size // MB}"] = {name: size / MB / median(took) * 1e9 for name, took in spent.items()}
    return values


def memory(peers: list[Peer], plan: Plan) -> Values:
    """Growth of the relay's resident memory, in MB, over many small calls after a first window of them."""
    grown = {}
    for peer in peers:
        if peer.contender.name == DIRECT:
            continue
        peer.ask_together(small(peer.contender, 1, plan.window), plan.window)
        before = peer.resident()
        for first in range(1, plan.steady, 1000):
            count = min(1000, plan.steady + 1 - first)
            _, lines = peer.ask_together(small(peer.contender, first, count), plan.window)
            check_small(peer.contender, lines, first, count)
        after = peer.resident()
        if before is not None and after is not None:
            grown[peer.contender.name] = after - before
    return {"memory": grown}


def cold(contenders: list[Contender], plan: Plan) -> Values:
    """From the spawn to the end of the first answer, in ms: the median of some starts."""
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(plan.starts):
        for contender in contenders:
            began = perf_counter_ns()
            peer = Peer(contender)
            _, line = peer.ask(contender.opening()[0])
            times[contender.name].append((perf_counter_ns() - began) / 1e6)
            decoded(contender.name, line, 0)
            peer.close()
    return {"cold": {name: median(took) for name, took in times.items()}}


MEASURES: dict[str, Callable[[list[Peer], Plan], Values]] = {
    "latency": latency,
    "memory": memory,
    "throughput": throughput,
    "large": large,
}
"""What needs running peers, in this order: latency is that of fresh processes, as a host meets them (10,000 calls later Node has
compiled its own), and memory is looked at before big results have swollen it."""

NAMES = (*MEASURES, "cold")


def one_round(contenders: list[Contender], plan: Plan, only: list[str]) -> Values:
    """Every wanted quantity once, with fresh processes."""
    values: Values = {}
    wanted = [measure for name, measure in MEASURES.items() if name in only]
    peers: list[Peer] = []
    try:
        if wanted:
            for contender in contenders:
                peers.append(Peer(contender))
                peers[-1].open()
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
        values |= cold(contenders, plan)
    return values


def run(contenders: list[Contender], plan: Plan, only: list[str]) -> list[Values]:
    """All rounds. The order of the contenders moves on by one each round.

    Bytecode is cached for everybody, as installers leave it, whatever this shell says: in a fresh directory, by a first start that
    does not count.
    """
    with TemporaryDirectory() as cache:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = cache
        cold(contenders, plan._replace(starts=1))
        return _rounds(contenders, plan, only)


def _rounds(contenders: list[Contender], plan: Plan, only: list[str]) -> list[Values]:
    rounds = []
    for number in range(plan.rounds):
        turn = number % len(contenders)
        rounds.append(one_round(contenders[turn:] + contenders[:turn], plan, only))
        print(f"round {number + 1} of {plan.rounds}", file=sys.stderr)
    return rounds

"""What is measured, one function a quantity. Contenders take turns inside every function, so that a busy moment of the machine
falls on all of them; one round gives one value for each contender and quantity.
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

from . import wire
from .running import Running

if TYPE_CHECKING:
    from collections.abc import Callable

    from .contenders import Contender


class Plan(NamedTuple):
    """How much of everything one round does."""

    rounds: int
    blocks: int
    block: int
    connections: int
    flood: int
    large: int
    starts: int


FULL = Plan(rounds=5, blocks=10, block=50, connections=32, flood=10_000, large=2, starts=3)
QUICK = Plan(rounds=1, blocks=2, block=10, connections=4, flood=100, large=1, starts=1)


def check_small(running: Running, answers: list[bytes], first: int) -> None:
    """Every call has its own right answer; on one connection they come in order."""
    for number, answer in enumerate(answers, first):
        running.contender.check(answer, number, TEXT)


def latency(peers: list[Running], plan: Plan) -> Values:
    """Small calls one after another on one connection, in blocks that alternate between the contenders: µs, 50th and 95th percentile.

    Each block has a connection of its own, since idle ones are closed; the first call on it is not counted.
    """
    times: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
    sessions: dict[str, str | None] = {}
    for block in range(plan.blocks + 1):
        for peer in peers:
            name, count = peer.contender.name, max(2, plan.block // peer.contender.share) + 1
            with peer.watched(), peer.connect() as line:
                if name not in sessions:
                    sessions[name] = peer.open(line)
                first = 1 + block * count
                took, answers = wire.ask_each(line, peer.calls(first, count, TEXT, sessions[name]))
            check_small(peer, answers, first)
            if block:  # the first one warms up
                times[name] += took[1:]
    centiles = {name: quantiles(taken, n=100, method="inclusive") for name, taken in times.items()}
    return {f"latency_p{p}": {name: cut[p - 1] / 1000 for name, cut in centiles.items()} for p in (50, 95)}


def load(peers: list[Running], plan: Plan) -> Values:
    """Many connections at once, one call in flight on each: calls a second, processor time a call, and memory before and after."""
    values: Values = {quantity: {} for quantity in ("throughput", "processor", "driver", "memory", "growth")}
    for peer in peers:
        name, each = peer.contender.name, max(2, plan.flood // plan.connections // peer.contender.share)
        with peer.watched():
            with peer.connect() as line:
                sessions = [peer.open(line) for _ in range(plan.connections)]
            lines = [peer.connect() for _ in sessions]  # only now: servers close connections that are idle for seconds
            warm = wire.flood(lines, [peer.calls(1, 2, TEXT, session) for session in sessions])
            requests = [peer.calls(3, each, TEXT, session) for session in sessions]
            spent, before = peer.processor_time(), peer.resident()
            told = wire.flood(lines, requests)
            spent_then, after = peer.processor_time(), peer.resident()
        for line in lines:
            line.close()
        for first, answers in ((1, warm.answers), (3, told.answers)):
            for got in answers:
                check_small(peer, got, first)
        count = each * plan.connections
        values["throughput"][name] = count / told.took * 1e9
        values["driver"][name] = told.driver / count / 1000
        if spent and spent_then:
            values["processor"][name] = (spent_then - spent) / count / 1000
        if before is not None and after is not None and peer.contender.share == 1:
            values["memory"][name], values["growth"][name] = after, after - before
    return values


def large(peers: list[Running], plan: Plan) -> Values:
    """Results of one text of 10 MB, one after another on one connection: MB/s of the text as it is on the wire."""
    size = 10 * MB
    text = json.loads(b'"' + blob(size) + b'"')
    spent: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
    sessions: dict[str, str | None] = {}
    for number in range(1, plan.large + 2):
        for peer in peers:
            name = peer.contender.name
            with peer.watched(), peer.connect() as line:
                if name not in sessions:
                    sessions[name] = peer.open(line)
                frame = peer.contender.call(number, "blob", {"bytes": size})
                took, answer = wire.ask(line, peer.request(frame, sessions[name], large=True))
            peer.contender.check(answer, number, text)
            if number > 1:  # the first one lets the server make the text
                spent[name].append(took)
    return {"large": {name: size / MB / median(took) * 1e9 for name, took in spent.items()}}


def cold(contenders: list[Contender], plan: Plan) -> Values:
    """From the spawn to the end of the first answer, in ms: the median of some starts."""
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for _ in range(plan.starts):
        for contender in contenders:
            began = perf_counter_ns()
            peer = Running(contender)
            try:
                with peer.watched(), peer.connect() as line:
                    peer.first_answer(line)
                    times[contender.name].append((perf_counter_ns() - began) / 1e6)
            except Exception as error:
                error.add_note(f"{contender.name} said: {peer.complaint()}")
                raise
            finally:
                peer.close()
    return {"cold": {name: median(took) for name, took in times.items()}}


MEASURES: dict[str, Callable[[list[Running], Plan], Values]] = {"latency": latency, "load": load, "large": large}
"""What needs running contenders, in this order: memory is looked at before big results have swollen it."""

NAMES = (*MEASURES, "cold")


def one_round(contenders: list[Contender], plan: Plan, only: list[str]) -> Values:
    """Every wanted quantity once, with fresh processes."""
    values: Values = {}
    wanted = [measure for name, measure in MEASURES.items() if name in only]
    peers: list[Running] = []
    try:
        if wanted:
            peers.extend(Running(contender) for contender in contenders)
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
    rounds = []
    with TemporaryDirectory() as cache:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = cache
        cold(contenders, plan._replace(starts=1))
        for number in range(plan.rounds):
            turn = number % len(contenders)
            rounds.append(one_round(contenders[turn:] + contenders[:turn], plan, only))
            print(f"round {number + 1} of {plan.rounds}", file=sys.stderr)
    return rounds

"""What is measured. All servers take turns inside every function, in short blocks; a round gives one value for each server and quantity.

One block is one connection (or 32), opened for it, since idle ones are closed; sessions are opened once a round.
"""

from __future__ import annotations

import os
import sys
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import httpbench.measures
from httpbench import wire

from . import imports
from .contenders import TOOLS, Asked, Tool

if TYPE_CHECKING:
    from httpbench.contenders import Contender
    from shared import Values


class Plan(NamedTuple):
    """How much of everything one round does: latency in ``blocks`` of ``block`` calls, load in ``turns`` of ``flood`` calls."""

    rounds: int
    blocks: int
    block: int
    connections: int
    turns: int
    flood: int
    starts: int
    imports: int


FULL = Plan(rounds=5, blocks=5, block=40, connections=32, turns=2, flood=1_600, starts=2, imports=4)
QUICK = Plan(rounds=1, blocks=1, block=4, connections=4, turns=1, flood=40, starts=1, imports=1)


def rest(peers: list[Asked]) -> Values:
    """Resident memory of a server that has answered the opening of one conversation and one call of each tool, in MB."""
    found = {}
    for peer in peers:
        with peer.watched(), peer.connect() as line:
            session = peer.open(line)
            for number, tool in enumerate(TOOLS.values(), 1):
                _, data = wire.ask(line, peer.tool_calls(tool, number, 1, session)[0])
                tool.check(peer.contender, data, number)
        if (resident := peer.resident()) is not None:
            found[peer.contender.name] = resident
    return {"rest": found}


def latency(peers: list[Asked], plan: Plan, kind: str) -> Values:
    """Calls one after another on one connection: µs, 50th and 99th percentile. The first one on each connection is not counted."""
    tool = TOOLS[kind]
    times: dict[str, list[int]] = {peer.contender.name: [] for peer in peers}
    sessions: dict[str, str | None] = {}
    count = max(3, plan.block // tool.share) + 1
    for block in range(plan.blocks * min(tool.share, 2) + 1):
        for peer in peers:
            name, first = peer.contender.name, 1 + block * count
            with peer.watched(), peer.connect() as line:
                if name not in sessions:
                    sessions[name] = peer.open(line)
                took, answers = wire.ask_each(line, peer.tool_calls(tool, first, count, sessions[name]))
            check(peer, tool, answers, first)
            if block:  # the first one warms up
                times[name] += took[1:]
    centiles = {name: quantiles(taken, n=100, method="inclusive") for name, taken in times.items()}
    return {f"p{p}_{kind}": {name: cut[p - 1] / 1000 for name, cut in centiles.items()} for p in (50, 99)}


def load(peers: list[Asked], plan: Plan, kind: str) -> Values:
    """Many connections at once, one call in flight on each: calls a second, processor time a call of the server and of this side."""
    tool, names = TOOLS[kind], [peer.contender.name for peer in peers]
    sessions: dict[str, list[str | None]] = {}
    took, spent, driver = (dict.fromkeys(names, 0) for _ in range(3))
    calls = plan.flood // tool.share // plan.connections
    each = {peer.contender.name: max(1, calls // peer.contender.share) for peer in peers}
    for turn in range(plan.turns + 1):
        for peer in peers:
            name = peer.contender.name
            first = 1 + turn * each[name]
            with peer.watched():
                if name not in sessions:
                    with peer.connect() as line:
                        sessions[name] = peer.opened(line, plan.connections)
                told, used = flood(peer, tool, first, each[name], sessions[name])
            if turn:  # the first one warms up
                took[name] += told.took
                driver[name] += told.driver
                spent[name] += used
    count = {name: each[name] * plan.connections * plan.turns for name in names}
    values: Values = {f"rate_{kind}": {name: count[name] / took[name] * 1e9 for name in names}}
    values[f"processor_{kind}"] = {name: spent[name] / count[name] / 1000 for name in names if spent[name]}
    values[f"driver_{kind}"] = {name: driver[name] / count[name] / 1000 for name in names}
    return values


def flood(peer: Asked, tool: Tool, first: int, each: int, sessions: list[str | None]) -> tuple[wire.Flood, int]:
    """One turn of one server, checked; and the processor time that it took there, in nanoseconds."""
    requests = [peer.tool_calls(tool, first, each, session) for session in sessions]
    lines = [peer.connect() for _ in sessions]
    before = peer.processor_time()
    told = wire.flood(lines, requests)
    after = peer.processor_time()
    for line in lines:
        line.close()
    for answers in told.answers:
        check(peer, tool, answers, first)
    return told, after - before if before and after else 0


def check(peer: Asked, tool: Tool, answers: list[bytes], first: int) -> None:
    """Every call has its own right answer; on one connection they come in order."""
    for number, answer in enumerate(answers, first):
        tool.check(peer.contender, answer, number)


def swollen(peers: list[Asked]) -> Values:
    """Resident memory after all this, in MB; slower servers were asked less."""
    after = {peer.contender.name: peer.resident() for peer in peers}
    told = {name: value for name, value in after.items() if value is not None}
    return {"memory": told}


NAMES = ("latency", "load", "cold", "import")


def one_round(contenders: list[Contender], plan: Plan, only: list[str], kinds: list[str]) -> Values:
    """Every wanted quantity once, with fresh processes."""
    values: Values = {}
    peers: list[Asked] = []
    try:
        if "latency" in only or "load" in only:
            peers.extend(Asked(contender) for contender in contenders)
            values |= rest(peers)
            for kind in kinds:
                values |= latency(peers, plan, kind) if "latency" in only else {}
                values |= load(peers, plan, kind) if "load" in only else {}
            values |= swollen(peers)
    except Exception as error:
        for peer in peers:
            if complaint := peer.complaint():
                error.add_note(f"{peer.contender.name} said: {complaint}")
        raise
    finally:
        for peer in peers:
            peer.close()
    if "cold" in only:
        values |= httpbench.measures.cold(contenders, httpbench.measures.QUICK._replace(starts=plan.starts))
    if "import" in only:
        values |= imports.measure(plan.imports)
    return values


def run(contenders: list[Contender], plan: Plan, only: list[str], kinds: list[str]) -> list[Values]:
    """All rounds; the order of the servers moves on by one each round. Bytecode is cached for everybody, as installers leave it."""
    rounds = []
    with TemporaryDirectory() as cache:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = cache
        if {"latency", "load", "cold"} & set(only):
            httpbench.measures.cold(contenders, httpbench.measures.QUICK)
        for number in range(plan.rounds):
            turn = number % len(contenders)
            rounds.append(one_round(contenders[turn:] + contenders[:turn], plan, only, kinds))
            print(f"round {number + 1} of {plan.rounds}", file=sys.stderr)
    return rounds

"""Measure dragoman's library against the official SDK's ``MCPServer``: the same tools, by the same host, in one interleaved run.

    python benchmarks/run_library.py [--quick] [--only latency,load,cold,import] [--eras modern,legacy] [--kinds async,sync,large] [--json]

The exit status is 1 if a target is missed. See README.md beside this file for the method and for how to read the result.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.util import find_spec

from librarybench.contenders import ERAS, PEERS, TOOLS
from librarybench.measures import FULL, NAMES, QUICK, run
from librarybench.report import QUANTITIES, targets
from shared import machine, report, tables, words


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run_library.py", description="Measure the library beside the official SDK's server.")
    parser.add_argument("--quick", action="store_true", help="one round of very little, not judged: shows that it runs, not how fast")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {FULL.rounds})")
    parser.add_argument("--only", type=words(NAMES), default=list(NAMES), metavar="WHAT", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--eras", type=words(tuple(ERAS)), default=list(ERAS), metavar="WHICH", help=f"some of {','.join(ERAS)}")
    parser.add_argument("--kinds", type=words(tuple(TOOLS)), default=list(TOOLS), metavar="WHICH", help=f"some of {','.join(TOOLS)}")
    parser.add_argument("--json", action="store_true", help="print JSON with the values of every round instead of the tables")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    if find_spec("mcp") is None:
        print("the official SDK (PyPI mcp) is not installed here: it is one of the development tools", file=sys.stderr)
        return 2
    plan = QUICK if given.quick else FULL
    plan = plan._replace(rounds=given.rounds or plan.rounds)
    chosen = [peer for peer in PEERS if peer.modern in {ERAS[era] for era in given.eras}]
    names = [peer.name for peer in chosen]
    where = machine()
    rounds = run(chosen, plan, given.only, given.kinds)
    outcome = report(rounds, names, QUANTITIES, targets(rounds, judged=not given.quick), where)
    print(json.dumps(outcome, indent=2, ensure_ascii=False) if given.json else tables(outcome, names, QUANTITIES))
    judged = outcome["targets"]
    assert isinstance(judged, list)
    return 1 if any(row.get("met") is False for row in judged) else 0


if __name__ == "__main__":
    sys.exit(main())

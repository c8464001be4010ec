"""Measure ``dragoman wrap`` against a relay that copies lines, the bare server, and mcp-uplift where there is one.

    python benchmarks/run.py [--quick] [--only latency,cold] [--contenders direct,null] [--uplift CHECKOUT] [--json]

See README.md beside this file for the method and for how to read the result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from relaybench.contenders import NAMES, contenders
from relaybench.measures import FULL, QUICK, run
from relaybench.measures import NAMES as MEASURES
from relaybench.report import QUANTITIES, TARGETS, with_added
from shared import machine, report, tables, words


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Measure what dragoman costs beside a relay that copies lines.")
    parser.add_argument("--quick", action="store_true", help="one round of very little: shows that it runs, not how fast")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {FULL.rounds})")
    parser.add_argument("--only", type=words(MEASURES), default=list(MEASURES), metavar="WHAT", help=f"some of {','.join(MEASURES)}")
    parser.add_argument("--contenders", type=words(tuple(NAMES)), default=list(NAMES), metavar="WHO", help=f"some of {','.join(NAMES)}")
    parser.add_argument("--dragoman", metavar="COMMAND", default=os.environ.get("DRAGOMAN"), help="how to start it (or $DRAGOMAN)")
    parser.add_argument("--uplift", metavar="CHECKOUT", default=os.environ.get("UPLIFT"), help="path of mcp-uplift (or $UPLIFT)")
    parser.add_argument("--json", action="store_true", help="print JSON with the values of every round instead of the tables")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    chosen = [NAMES[word] for word in given.contenders]
    found = {name: contender for name, contender in contenders(given.dragoman, given.uplift).items() if name in chosen}
    here = [contender for contender in found.values() if contender]
    for name in (name for name, contender in found.items() if not contender):
        print(f"{name}: not found, so not measured", file=sys.stderr)
    plan = QUICK if given.quick else FULL
    if given.rounds:
        plan = plan._replace(rounds=given.rounds)
    where = machine()
    rounds = [with_added(values) for values in run(here, plan, given.only)]
    outcome = report(rounds, list(found), QUANTITIES, TARGETS, where)
    print(json.dumps(outcome, indent=2, ensure_ascii=False) if given.json else tables(outcome, list(found), QUANTITIES))
    return 0


if __name__ == "__main__":
    sys.exit(main())

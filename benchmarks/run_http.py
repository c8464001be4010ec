"""Measure ``dragoman serve`` against the bare ASGI server it stands on, and other bridges where there are some.

    python benchmarks/run_http.py [--quick] [--only latency,load] [--contenders floor,dragoman] [--install FOLDER] [--json]
    python benchmarks/run_http.py --servers PYTHON        compare ASGI servers instead

See README.md beside this file for the method and for how to read the result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from httpbench import install
from httpbench.contenders import PROXIES, proxies, servers
from httpbench.measures import FULL, QUICK, run
from httpbench.measures import NAMES as MEASURES
from httpbench.report import QUANTITIES, SERVER_TARGETS, TARGETS
from shared import machine, report, tables, words


def options(arguments: list[str] | None) -> argparse.Namespace:
    given = os.environ.get
    parser = argparse.ArgumentParser(prog="benchmarks/run_http.py", description="Measure dragoman serve beside a bare ASGI server.")
    parser.add_argument("--quick", action="store_true", help="one round of very little: shows that it runs, not how fast")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {FULL.rounds})")
    parser.add_argument("--only", type=words(MEASURES), default=list(MEASURES), metavar="WHAT", help=f"some of {','.join(MEASURES)}")
    parser.add_argument(
        "--contenders", type=words(tuple(PROXIES)), default=list(PROXIES), metavar="WHO", help=f"some of {','.join(PROXIES)}"
    )
    parser.add_argument("--dragoman", metavar="COMMAND", default=given("DRAGOMAN"), help="how to start it (or $DRAGOMAN)")
    parser.add_argument("--mcp-proxy", metavar="FOLDER", default=given("MCP_PROXY"), help="where npm installed it (or $MCP_PROXY)")
    parser.add_argument("--fastmcp", metavar="PYTHON", default=given("FASTMCP"), help="an interpreter that has it (or $FASTMCP)")
    parser.add_argument("--install", metavar="FOLDER", type=Path, help="install what is not given into this folder, and keep it there")
    parser.add_argument("--servers", metavar="PYTHON", nargs="?", const="", help="compare ASGI servers that this interpreter has instead")
    parser.add_argument("--json", action="store_true", help="print JSON with the values of every round instead of the tables")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    targets = TARGETS
    if given.servers is not None:
        python = given.servers or (install.servers(given.install.resolve()) if given.install else sys.executable)
        found, targets = servers(python), SERVER_TARGETS
    else:
        if given.install:
            npm, fastmcp = install.proxies(given.install.resolve())
            given.mcp_proxy, given.fastmcp = given.mcp_proxy or npm, given.fastmcp or fastmcp
        chosen = [PROXIES[word] for word in given.contenders]
        every = proxies(given.dragoman, given.mcp_proxy, given.fastmcp)
        found = {name: contender for name, contender in every.items() if name in chosen}
    here = [contender for contender in found.values() if contender]
    for name in (name for name, contender in found.items() if not contender):
        print(f"{name}: not found, so not measured", file=sys.stderr)
    plan = QUICK if given.quick else FULL
    if given.rounds:
        plan = plan._replace(rounds=given.rounds)
    where = machine()
    outcome = report(run(here, plan, given.only), list(found), QUANTITIES, targets, where)
    print(json.dumps(outcome, indent=2, ensure_ascii=False) if given.json else tables(outcome, list(found), QUANTITIES))
    return 0


if __name__ == "__main__":
    sys.exit(main())

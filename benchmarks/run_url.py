"""Measure ``dragoman wrap URL`` and ``dragoman serve URL`` against the server behind the URL itself, and other bridges to one.

    python benchmarks/run_url.py [--quick] [--face wrap,serve] [--only latency,load] [--contenders direct,dragoman] [--stream]
                                 [--install FOLDER] [--json]

See README.md beside this file for the method and for how to read the result.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpbench.measures
from shared import machine, report, tables, words
from urlbench import measures
from urlbench.contenders import WORDS, served, wrapped
from urlbench.install import Others, others
from urlbench.report import SERVE_QUANTITIES, SERVE_TARGETS, WRAP_QUANTITIES, WRAP_TARGETS

if TYPE_CHECKING:
    from collections.abc import Mapping

FACES = ("wrap", "serve")
MEASURES = (*measures.MEASURES, "cold")


def options(arguments: list[str] | None) -> argparse.Namespace:
    given = os.environ.get
    parser = argparse.ArgumentParser(prog="benchmarks/run_url.py", description="Measure what dragoman costs before a server behind a URL.")
    parser.add_argument("--quick", action="store_true", help="one round of very little: shows that it runs, not how fast")
    parser.add_argument("--rounds", type=int, help=f"rounds (default {measures.FULL.rounds})")
    parser.add_argument("--face", type=words(FACES), default=list(FACES), metavar="WHICH", help=f"some of {','.join(FACES)}")
    parser.add_argument("--only", type=words(MEASURES), default=list(MEASURES), metavar="WHAT", help=f"some of {','.join(MEASURES)}")
    parser.add_argument("--contenders", type=words(WORDS), default=list(WORDS), metavar="WHO", help=f"some of {','.join(WORDS)}")
    parser.add_argument("--stream", action="store_true", help="the server answers with event streams instead of plain JSON")
    parser.add_argument("--dragoman", metavar="COMMAND", default=given("DRAGOMAN"), help="how to start it (or $DRAGOMAN)")
    parser.add_argument("--mcp-remote", metavar="FOLDER", default=given("MCP_REMOTE"), help="where npm installed it (or $MCP_REMOTE)")
    parser.add_argument(
        "--mcp-proxy", metavar="PYTHON", default=given("MCP_PROXY_PY"), help="an interpreter that has it (or $MCP_PROXY_PY)"
    )
    parser.add_argument("--fastmcp", metavar="PYTHON", default=given("FASTMCP"), help="an interpreter that has it (or $FASTMCP)")
    parser.add_argument("--install", metavar="FOLDER", type=Path, help="install what is not given into this folder, and keep it there")
    parser.add_argument("--json", action="store_true", help="print JSON with the values of every round instead of the tables")
    return parser.parse_args(arguments)


def outcome(face: str, given: argparse.Namespace, here: Others, urls: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """Everything that the tables of one face show, and the names of its contenders."""
    kind = "stream" if given.stream else "json"
    where = machine()
    if face == "wrap":
        chosen = {name: made for name, (word, made) in wrapped(given.dragoman, here, urls).items() if word in given.contenders}
        plan = measures.QUICK if given.quick else measures.FULL
        plan = plan._replace(rounds=given.rounds or plan.rounds)
        rounds = measures.run([made for made in chosen.values() if made], plan, given.only)
        quantities, targets = WRAP_QUANTITIES, WRAP_TARGETS
    else:
        chosen = {name: made for name, (word, made) in served(given.dragoman, here, urls, kind).items() if word in given.contenders}  # type: ignore[misc]
        http = httpbench.measures.QUICK if given.quick else httpbench.measures.FULL
        http = http._replace(rounds=given.rounds or http.rounds)
        rounds = httpbench.measures.run([made for made in chosen.values() if made], http, given.only)  # type: ignore[misc]
        quantities, targets = SERVE_QUANTITIES, SERVE_TARGETS
    for name in (name for name, made in chosen.items() if not made):
        print(f"{face}: {name}: not found, so not measured", file=sys.stderr)
    targets = tuple(target for target in targets if target.subject in chosen and target.against in chosen)
    return report(rounds, list(chosen), quantities, targets, where), list(chosen)


def main(arguments: list[str] | None = None) -> int:
    given = options(arguments)
    here = others(given.install.resolve()) if given.install else Others()
    mine = Others(given.mcp_remote or here.mcp_remote, given.mcp_proxy or here.mcp_proxy, given.fastmcp or here.fastmcp)
    found = {}
    with measures.servers("stream" if given.stream else "json") as urls:
        for face in given.face:
            told, names = outcome(face, given, mine, urls)
            if given.json:
                found[face] = told
            else:
                print(f"{face} URL\n\n{tables(told, names, WRAP_QUANTITIES if face == 'wrap' else SERVE_QUANTITIES)}\n", flush=True)
    if given.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())

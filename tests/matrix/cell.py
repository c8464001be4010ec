"""One cell of the matrix: the acceptance script from a client to a server through the bridge, with a tap on either side of it::

    client ── tap ── dragoman wrap ── tap ── command           stdio
    client ── tap ── dragoman wrap ── http tap ── URL
    client ── http tap ── dragoman serve ── tap ── command     http, sse
    client ── http tap ── dragoman serve ── http tap ── URL

The bridge is told nothing of either era. Every frame that it sent is judged, and both taps are asked which revisions were agreed on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import anyio
from acceptance import Report, Visit
from harness import PEERS, SOURCES
from http_judge import judge_http
from http_tap import Record
from legacy_http_side import judge_legacy_http_server
from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from modern_http_side import judge_modern_http_server
from modern_side import MODERN, judge_modern_server, server_was_modern
from serving import Served
from sides import Far, Near, listening
from test_acceptance import node_script
from ways import ServedFrom, tapped_url
from wire import Passed, first_progress, negotiated, over_http, over_stdio

from faces import judge_client_side, judge_server_side, tapped
from oracle import Oracle

DEADLINE = 45
WRONG = ("Traceback", "was shown a modern word", "was shown a legacy word", "got a response to nothing")
EVERY_PROGRESS = [0, 50, 100, "progressed"]


class Outcome(NamedTuple):
    """What the script reported, and the revisions that were agreed on, on each side."""

    report: Report
    near: list[str]
    far: list[str]


class Cell:
    """``run``, or ``run_straight``, may be called once."""

    def __init__(self, folder: Path, oracle: Oracle, client: Near, server: Far) -> None:
        self.folder, self.oracle, self.client, self.server = folder, oracle, client, server
        # Where the node clients are missing, that ends the test before anything is started.
        self.node = [] if client.kind is None else node_script("acceptance.mjs", client.kind)
        self.near_http: list[Record] = []
        self.far_http: list[Record] = []

    def run(self) -> Outcome:
        try:
            with ExitStack() as stack:
                report = self._carry_out(self._target(stack), stack)
            self._judge_client_side()
            self._judge_server_side()
            stderr = self._stderr()
            assert [word for word in WRONG if word in stderr] == []
        except BaseException as fault:
            fault.add_note("stderr:\n" + self._stderr()[-3000:])
            for name, messages in (("client", self._near()), ("server", self._far())):
                last = [f"{'->' if to_server else '<-'} {json.dumps(frame)[:300]}" for _, to_server, frame, _ in messages[-10:]]
                fault.add_note(f"last messages with the {name}:\n" + "\n".join(last))
            raise
        if self.client.kind in ("v1-stdio", "v1-sse"):
            self._progress_from_the_wire(report)
        return Outcome(report, negotiated(self._near()), negotiated(self._far()))

    def run_straight(self) -> Report:
        """Without a bridge, where both are of one era and one transport: what the script reports by itself."""
        if self.server.transport == "stdio":
            return self._script(self.server.command)
        with listening(self.server, self.folder / "server.stderr") as url:
            return self._script([url])

    # ------------------------------------------------------------------------------------------------------------- running

    def _target(self, stack: ExitStack) -> list[str]:
        """The server on the command line of the bridge, behind its tap."""
        if self.server.transport == "stdio":
            return ["--", *self._tap("server"), *self.server.command]
        url = stack.enter_context(listening(self.server, self.folder / "server.stderr"))
        return [tapped_url(stack, url, self.far_http)]

    def _tap(self, name: str) -> list[str]:
        return [sys.executable, str(PEERS / "tap.py"), str(self.folder / f"{name}.jsonl"), "--"]

    def _carry_out(self, target: list[str], stack: ExitStack) -> Report:
        if self.client.transport == "stdio":
            return self._script([*self._tap("client"), sys.executable, "-m", "dragoman", "wrap", *target])
        over_sse = self.client.transport == "sse"
        options = ("--sse",) if over_sse else ()
        if self.server.transport == "stdio":
            served = Served(self.folder, self.server.command, *options)
        else:
            served = ServedFrom(self.folder, target[0], *options)
        stack.enter_context(served)
        report = self._script([tapped_url(stack, served.url("/sse" if over_sse else None), self.near_http)])
        served.health_becomes(exchanges=1, **({} if self.client.era == "modern" else {"sessions": 0}))  # the exchange is the one that asks
        return report

    def _script(self, words: list[str]) -> Report:
        return self._with_python(words) if self.client.kind is None else self._with_node(words, self.client.kind)

    def _with_python(self, words: list[str]) -> Report:
        async def visit() -> Report:
            mode = MODERN if self.client.era == "modern" else "legacy"
            with anyio.fail_after(DEADLINE), (self.folder / "client.stderr").open("w", encoding="utf-8") as errors:
                if self.client.transport == "stdio":
                    command, *arguments = words
                    parameters = StdioServerParameters(command=command, args=arguments, env={"PYTHONPATH": SOURCES})
                    return await Visit().run(stdio_client(parameters, errlog=errors), mode)
                over = sse_client if self.client.transport == "sse" else streamable_http_client
                return await Visit().run(over(*words), mode)

        return anyio.run(visit)

    def _with_node(self, words: list[str], kind: str) -> Report:
        environment = os.environ | {"PYTHONPATH": SOURCES}
        done = subprocess.run([*self.node, *words], capture_output=True, text=True, env=environment, timeout=DEADLINE, check=False)
        (self.folder / "client.stderr").write_text(done.stderr, encoding="utf-8")
        assert done.returncode == 0
        # The client tells of what it did not expect; this one also of progress that it threw away itself.
        own = "unknown token" if kind in ("v1-stdio", "v1-sse") else "onerror, but never"
        assert [line for line in done.stderr.splitlines() if line.startswith("onerror") and own not in line] == []
        report: Report = json.loads(done.stdout)
        return report

    def _progress_from_the_wire(self, report: Report) -> None:
        """The client of the first generation forgets who wanted to be told of a call's progress as soon as it sees the response, but tells
        it of progress one turn later: of what comes in one piece with the response nothing is told. So here the wire is the witness.
        """
        assert [value for value in report["progress"] if value not in EVERY_PROGRESS[:3]] == EVERY_PROGRESS[3:]
        report["progress"] = first_progress(self._near())

    # ------------------------------------------------------------------------------------------------------------- judging

    def _near(self) -> list[Passed]:
        records = tapped(self.folder / "client.jsonl")
        return list(over_stdio(records) if self.client.transport == "stdio" else over_http(self.near_http))

    def _far(self) -> list[Passed]:
        records = tapped(self.folder / "server.jsonl")
        return list(over_stdio(records) if self.server.transport == "stdio" else over_http(self.far_http))

    def _judge_client_side(self) -> None:
        if self.client.transport == "stdio":
            assert judge_client_side(self.oracle, tapped(self.folder / "client.jsonl")).answered > 0
            return
        judge = judge_http(self.oracle, self.near_http)
        counted = {"modern": (0, 0), "legacy": (0, 1) if self.client.transport == "sse" else (1, 0)}
        assert (len(judge.sessions), len(judge.endpoints)) == counted[self.client.era]

    def _judge_server_side(self) -> None:
        over_stdio = self.server.transport == "stdio"
        records = tapped(self.folder / "server.jsonl")
        if self.server.era == "modern":
            faces = judge_modern_server(self.oracle, records) if over_stdio else [judge_modern_http_server(self.oracle, self.far_http)]
            server_was_modern(faces)
        elif over_stdio:
            judge_server_side(self.oracle, records)
        else:
            judge = judge_legacy_http_server(self.oracle, self.far_http)
            assert judge.discovers == 1, "the era of a server is found out once"
            assert judge.refused_handshakes == (1 if self.server.transport == "sse" else 0)

    def _stderr(self) -> str:
        names = ("stderr", "client.stderr", "server.stderr")
        kept = [self.folder / name for name in names]
        return "".join(each.read_text(encoding="utf-8", errors="replace") for each in kept if each.exists())

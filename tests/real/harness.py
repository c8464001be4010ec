"""Runs the official client against a peer, straight or through ``dragoman wrap``, and judges every frame on both sides of the bridge.

``Link`` is one way from the client to a server::

    client ── tap ── dragoman wrap ── tap ── server          (modes 2026-07-28, auto and legacy)
    client ── server                                         (direct: the baseline that shows what the peer itself does)

A scenario is an ``async`` function of a connected ``mcp.Client``. After it has run, the frames that the taps wrote down are judged by
the oracle, the bridge's stderr is searched for faults, and a strict peer that was shown a wrong word has exited with 70, which is in
that stderr too. Nothing waits without a limit: each run has one deadline.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from faces import judge_client_side, judge_server_side, tapped
from oracle import JsonObject, Oracle

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "tests" / "peers"
SOURCES = os.pathsep.join(str(ROOT / name) for name in ("compat", "specs", "migrations"))
DEADLINE = 40.0
MODERN, AUTO, LEGACY, DIRECT = "2026-07-28", "auto", "legacy", "direct"
Scenario = Callable[[Client], Awaitable[None]]


def peer(script: str, *arguments: str) -> list[str]:
    """The command of one of ``tests/peers``."""
    return [sys.executable, str(PEERS / script), *arguments]


def legacy(revision: str, *arguments: str) -> list[str]:
    return peer("legacy_server.py", "--revision", revision, *arguments)


class Seen(NamedTuple):
    """What passed during a run: records of both taps and the stderr text."""

    client: list[JsonObject]
    server: list[JsonObject]
    stderr: str


class Link:
    """One way from the official client to ``server``; ``run`` may be called once."""

    def __init__(self, folder: Path, oracle: Oracle, how: str, server: list[str], options: tuple[str, ...] = ()) -> None:
        self.folder, self.oracle, self.how = folder, oracle, how
        self.server, self.options = server, options

    def command(self) -> list[str]:
        if self.how == DIRECT:
            return self.server
        tap = [sys.executable, str(PEERS / "tap.py")]
        bridge = [sys.executable, "-m", "dragoman", "wrap", *self.options, "--"]
        return [*tap, str(self.folder / "client.jsonl"), "--", *bridge, *tap, str(self.folder / "server.jsonl"), "--", *self.server]

    def run(self, scenario: Scenario, **client: Any) -> Seen:
        """Connect, run the scenario, leave, judge. A failure carries the last lines of stderr."""
        try:
            anyio.run(self._converse, scenario, client)
            seen = self.seen()
            if self.how != DIRECT:
                judge_client_side(self.oracle, seen.client)
                judge_server_side(self.oracle, seen.server)
            assert "Traceback" not in seen.stderr
            assert "was shown a modern word" not in seen.stderr
            assert "got a response to nothing" not in seen.stderr
        except BaseException as fault:
            fault.add_note("stderr:\n" + self.seen().stderr[-3000:])
            fault.add_note("last frames:\n" + "\n".join(f"{r['dir']:3} {r['line'][:400]}" for r in self.seen().client[-12:]))
            raise
        return seen

    async def _converse(self, scenario: Scenario, client: dict[str, Any]) -> None:
        command, *arguments = self.command()
        environment = {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))}
        parameters = StdioServerParameters(command=command, args=arguments, env=environment)
        mode = LEGACY if self.how == DIRECT else self.how
        with anyio.fail_after(DEADLINE), (self.folder / "stderr").open("w", encoding="utf-8") as errlog:
            async with Client(stdio_client(parameters, errlog=errlog), mode=mode, **client) as connected:
                await scenario(connected)

    def seen(self) -> Seen:
        errors = self.folder / "stderr"
        text = errors.read_text(encoding="utf-8", errors="replace") if errors.exists() else ""
        return Seen(tapped(self.folder / "client.jsonl"), tapped(self.folder / "server.jsonl"), text)


def lines_to_client(seen: Seen) -> list[str]:
    """Every line the client was sent."""
    return [record["line"] for record in seen.client if record["dir"] == "out"]


def words(result: types.CallToolResult) -> str:
    """The text of a result that is one text block."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


class Person:
    """Answers questions as told and remembers them; hand ``everything()`` to the client."""

    def __init__(self, *, action: str = "accept", content: dict[str, Any] | None = None) -> None:
        self.action, self.content = action, content or {"name": "Ada"}
        self.asked: list[Any] = []

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        answers = self.action == "accept" and isinstance(params, types.ElicitRequestFormParams)
        return types.ElicitResult.model_validate({"action": self.action, "content": self.content if answers else None})

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.asked.append(params)
        said = types.TextContent(type="text", text="four")
        return types.CreateMessageResult(role="assistant", content=said, model="small-1", stop_reason="endTurn")

    async def roots(self, context: Any) -> types.ListRootsResult:
        self.asked.append("roots")
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///home/ada", "name": "home"})])

    def everything(self) -> dict[str, Any]:
        return {"elicitation_callback": self.elicit, "sampling_callback": self.sample, "list_roots_callback": self.roots}

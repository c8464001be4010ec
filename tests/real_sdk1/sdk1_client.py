"""The official Python client of the first generation (``mcp`` 1.x) carries out the acceptance script, and a few steps more.

    python sdk1_client.py stdio COMMAND WORD…     starts the server
    python sdk1_client.py http URL                Streamable HTTP
    python sdk1_client.py sse URL                 the two endpoints of 2024-11-05
    python sdk1_client.py bare-stdio …            likewise bare-http and bare-sse: a client that can answer nothing does less

It runs in that client's own environment, so nothing of this repository is imported but what stands beside it. One line is printed::

    {"report": {STEP: value, …}, "complaints": ["what the client logged, or handed to its message handler, as a fault", …]}
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import StdioServerParameters
from mcp.client import streamable_http
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from sdk1_more import BARE, MORE
from sdk1_steps import STEPS
from sdk1_visit import Complaints, Visit

DEADLINE = 60
OLD_NAME = "streamablehttp_client"


@asynccontextmanager
async def transport(kind: str, words: list[str]) -> AsyncIterator[tuple[Any, ...]]:
    if kind == "stdio":
        command, *arguments = words
        async with stdio_client(StdioServerParameters(command=command, args=arguments, env=dict(os.environ))) as streams:
            yield streams
    else:
        over_http = getattr(streamable_http, "streamable_http_client", None) or getattr(streamable_http, OLD_NAME)
        async with (sse_client if kind == "sse" else over_http)(*words) as streams:
            yield streams


async def main(kind: str, words: list[str]) -> None:
    complaints = Complaints()
    logging.basicConfig(level=logging.WARNING, handlers=[complaints])
    visit = Visit(complaints.heard)
    bare = kind.startswith("bare-")
    with anyio.fail_after(DEADLINE):
        async with transport(kind.removeprefix("bare-"), words) as streams:
            report = await visit.run(streams, BARE if bare else STEPS + MORE, {} if bare else visit.everything())
    print(json.dumps({"report": report, "complaints": complaints.heard}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2:])

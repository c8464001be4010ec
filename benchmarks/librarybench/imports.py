"""Cold import: from the spawn of a fresh interpreter to its end, which does nothing but import a library, or write a server with it too.

The time of the interpreter itself is in it, for both, and is told apart. Programs run outside of the repository; bytecode is cached.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import TYPE_CHECKING

from .contenders import DRAGOMAN, SDK

if TYPE_CHECKING:
    from shared import Values

_TOOL = """
server = {made}

@server.tool()
async def add(a: int, b: int) -> int:
    "The sum of two numbers."
    return a + b
"""
_BARE = {DRAGOMAN: "from dragoman import Context, Server, asgi", SDK: "from mcp.server.mcpserver import Context, MCPServer"}
_MADE = {DRAGOMAN: "Server('bench', '1')", SDK: "MCPServer('bench', log_level='WARNING')"}
_APP = {DRAGOMAN: "asgi(server)", SDK: "server.streamable_http_app()"}

PROGRAMS = {
    "import_nothing": dict.fromkeys(_BARE, ""),
    "import_bare": _BARE,
    "import_tool": {name: bare + _TOOL.format(made=_MADE[name]) for name, bare in _BARE.items()},
    "import_app": {name: bare + _TOOL.format(made=_MADE[name]) + _APP[name] for name, bare in _BARE.items()},
}
"""By quantity and library."""


def measure(repetitions: int) -> Values:
    """Every program so many times, in turns: ms, medians."""
    times: dict[tuple[str, str], list[int]] = {}
    with TemporaryDirectory() as elsewhere:
        for repetition in range(repetitions + 1):
            for quantity, programs in PROGRAMS.items():
                for name, program in programs.items():
                    began = perf_counter_ns()
                    subprocess.run([sys.executable, "-c", program], check=True, cwd=elsewhere, stdin=subprocess.DEVNULL)
                    if repetition:  # the first one fills the caches
                        times.setdefault((quantity, name), []).append(perf_counter_ns() - began)
    values: Values = {quantity: {} for quantity in PROGRAMS}
    for (quantity, name), taken in times.items():
        values[quantity][name] = median(taken) / 1e6
    return values

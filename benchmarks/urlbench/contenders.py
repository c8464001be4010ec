"""Who is measured, what each stands in front of, and which words its client speaks.

Two eras on either side make four combinations; dragoman is measured in all of them, the others in those that they can do. In front of
``wrap`` a client speaks over stdio, in front of ``serve`` over HTTP; behind both is ``behind.py``, which the contender ``direct`` asks
itself. "legacy to modern" is a legacy client with a modern server.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench.contenders import Contender as Served
from relaybench.contenders import Contender as Wrapped
from shared import HERE, dragoman_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .install import Others

L, M = "legacy", "modern"
COMBINATIONS = tuple((client, server) for server in (L, M) for client in (L, M))
DIRECT = {era: f"direct, {era}" for era in (L, M)}
SAME_ERA = "legacy to legacy"

REMOTE, PROXY, FAST = "mcp-remote", "PyPI mcp-proxy", "fastmcp"
WORDS = ("direct", "dragoman", "mcp-remote", "mcp-proxy", "fastmcp")
"""The contenders by the words that the command line uses; each stands for its combinations."""

SHARE = {FAST: 150}
"""Who gets a request where others get so many: a run would take hours."""

BEHIND = HERE / "urlbench" / "behind.py"
FAST_PROXY = HERE / "urlbench" / "fastmcp_proxy.py"


def named(who: str, client: str, server: str) -> str:
    """What a combination is called. The others do but one, or are measured in but one."""
    return f"{who}, {client} to {server}"


def share(name: str) -> int:
    """How many requests others get for one of this contender's."""
    return SHARE.get(name.partition(",")[0], 1)


def behind(era: str, kind: str) -> list[str]:
    """The command of the server behind, on the port that takes the place of ``PORT``."""
    return [sys.executable, str(BEHIND), era, kind, "PORT"]


def remote_command(folder: str | None) -> list[str] | None:
    """mcp-remote out of the folder where npm has put it; none without it, or without Node."""
    node = shutil.which("node")
    script = Path(folder or "") / "node_modules" / "mcp-remote" / "dist" / "proxy.js"
    return [node, str(script)] if folder and node and script.exists() else None


def wrapped(dragoman: str | None, others: Others, urls: Mapping[str, str]) -> dict[str, tuple[str, Wrapped | None]]:
    """In front: stdio. By name the word and the contender; none for one that is not here to be measured."""
    bridge, remote = dragoman_command(dragoman), remote_command(others.mcp_remote)
    proxy = [str(Path(others.mcp_proxy).with_name("mcp-proxy")), "--log-level", "ERROR"] if others.mcp_proxy else None
    fast = [others.fastmcp, str(FAST_PROXY), "stdio"] if others.fastmcp else None
    found: dict[str, tuple[str, Wrapped | None]] = {}
    for era in (L, M):
        found[DIRECT[era]] = "direct", Wrapped(DIRECT[era], [urls[era]], era == M)
    for client, server in COMBINATIONS:
        name = named("dragoman", client, server)
        found[name] = "dragoman", Wrapped(name, [*bridge, "wrap", urls[server]], client == M) if bridge else None
    name = named(REMOTE, L, L)
    found[name] = "mcp-remote", Wrapped(name, [*remote, urls[L], "--silent"], modern=False) if remote else None
    name = named(PROXY, L, L)
    found[name] = "mcp-proxy", Wrapped(name, [*proxy, "--transport", "streamablehttp", urls[L]], modern=False) if proxy else None
    for client, server in ((L, L), (M, M)):
        name = named(FAST, client, server)
        found[name] = "fastmcp", Wrapped(name, [*fast, urls[server]], client == M) if fast else None
    return found


def served(dragoman: str | None, others: Others, urls: Mapping[str, str], kind: str) -> dict[str, tuple[str, Served | None]]:
    """In front: HTTP. The direct contender is a server like the one behind the others, and the floor."""
    bridge = dragoman_command(dragoman)
    found: dict[str, tuple[str, Served | None]] = {}
    for era in (L, M):
        found[DIRECT[era]] = "direct", Served(DIRECT[era], behind(era, kind), era == M)
    for client, server in COMBINATIONS:
        name = named("dragoman", client, server)
        found[name] = "dragoman", Served(name, [*bridge, "serve", "--port", "PORT", urls[server]], client == M) if bridge else None
    for client, server in ((L, L), (M, M)):
        name, command = named(FAST, client, server), [str(others.fastmcp), str(FAST_PROXY), "PORT", urls[server]]
        found[name] = "fastmcp", Served(name, command, client == M, share=SHARE[FAST]) if others.fastmcp else None
    return found

"""The other bridges to a URL, installed by their registries' own clients into a folder that is kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from httpbench.install import PYPI_PACKAGE, environment

if TYPE_CHECKING:
    from pathlib import Path

MCP_REMOTE, MCP_PROXY = "mcp-remote@0.15.1", "mcp-proxy==0.13.0"


class Others(NamedTuple):
    """Where the other bridges are; none for one that is not here."""

    mcp_remote: str | None = None
    """A folder with it in ``node_modules``."""
    mcp_proxy: str | None = None
    """An interpreter that has it."""
    fastmcp: str | None = None
    """An interpreter that has it."""


def others(folder: Path) -> Others:
    """All of them, in folders beside those of ``run_http.py``."""
    npm, remote = shutil.which("npm"), folder / "mcp-remote"
    if npm and not (remote / "node_modules" / "mcp-remote").exists():
        remote.mkdir(parents=True, exist_ok=True)
        subprocess.run([npm, "install", "--silent", "--prefix", str(remote), MCP_REMOTE], check=True, stdout=sys.stderr)
    proxy = environment(folder / "mcp-proxy-py", MCP_PROXY)
    return Others(str(remote) if npm else None, proxy, environment(folder / "fastmcp", PYPI_PACKAGE))

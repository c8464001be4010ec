"""The other bridges, installed by their registries' own clients into a folder that is kept. Nothing of them is in this repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NPM_PACKAGE, PYPI_PACKAGE = "mcp-proxy@6.7.19", "fastmcp==4.2.3"
SERVER_PACKAGES = ("uvicorn", "httptools", "uvloop", "granian", "hypercorn")


def environment(folder: Path, *packages: str) -> str:
    """The interpreter of an environment that has the packages."""
    python = folder / "bin" / "python"
    if not (folder / ".done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *packages], check=True)
        (folder / ".done").touch()
    return str(python)


def npm_folder(folder: Path) -> str | None:
    """A folder with npm's mcp-proxy in ``node_modules``; none without npm."""
    npm = shutil.which("npm")
    if npm and not (folder / "node_modules" / "mcp-proxy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([npm, "install", "--silent", "--prefix", str(folder), NPM_PACKAGE], check=True, stdout=sys.stderr)
    return str(folder) if npm else None


def proxies(cache: Path) -> tuple[str | None, str]:
    """Where npm has put mcp-proxy, and an interpreter with fastmcp."""
    return npm_folder(cache / "npm"), environment(cache / "fastmcp", PYPI_PACKAGE)


def servers(cache: Path) -> str:
    """An interpreter with the ASGI servers, and with dragoman from this repository."""
    from shared import HERE

    return environment(cache / "servers", *SERVER_PACKAGES, str(HERE.parent))

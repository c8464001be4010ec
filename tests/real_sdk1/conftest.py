"""The environments of the official Python client of the first generation, and a way for each."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_published_servers import make_environment

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from ways import Target, Way, WayTo  # noqa: E402

from oracle import Oracle  # noqa: E402

HTTP_SERVER = HERE.parent / "fixtures" / "modern_only_http.py"


@pytest.fixture(scope="session")
def sdk1(pytestconfig: pytest.Config) -> Callable[[str], str]:
    """``sdk1(release)``: the interpreter of an environment with its requirements, made on first use and anew when they change."""
    assert pytestconfig.cache is not None
    cache = Path(pytestconfig.cache.mkdir("python-sdk1"))

    def interpreter(release: str) -> str:
        wanted = HERE / f"requirements-{release}.txt"
        mark = hashlib.sha256(wanted.read_bytes()).hexdigest()[:12]
        made = cache / f"mcp-{release}-{mark}-{sys.version_info.major}.{sys.version_info.minor}"
        if not made.exists():
            make_environment(cache, made, "-r", str(wanted))
        return str(made / "bin" / "python")

    return interpreter


@pytest.fixture
def way(tmp_path: Path, oracle: Oracle, sdk1: Callable[[str], str]) -> WayTo:
    """``way(kind, target, *options, release=…)``: to be used once; the target is a command or a URL."""

    def way_to(kind: str, target: Target, *options: str, release: str = "1.30") -> Way:
        return Way(tmp_path, oracle, release, sdk1(release), kind, target, options)

    return way_to


@pytest.fixture
def modern_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a modern-only server; its further options may be given as the parameter."""
    command = [sys.executable, str(HTTP_SERVER), "--offers", "demo", "--strict", *getattr(request, "param", [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            assert url.startswith("http://127.0.0.1:"), url
            yield url
            assert server.poll() is None, "it was shown a legacy word"
        finally:
            server.terminate()

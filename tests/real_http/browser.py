"""A headless Chromium that opens one page of ours and reports what the page found.

The browser is the first of: the program that ``DRAGOMAN_BROWSER`` names; the one in the npm package ``@sparticuz/chromium`` (Linux on x64;
65 MB to install, 200 MB unpacked once below ``node_modules``); a Chromium or Chrome on the path. Without any the tests are skipped, or fail
where ``DRAGOMAN_BROWSER`` is set, be it to 1.

No driver is needed: the page is opened from the command line, fetches, and posts what it found to the server that it came from. Any
host name ending in ``.example`` leads to this machine, so a page can come from a foreign origin.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules" / "@sparticuz" / "chromium"
UNPACKED = HERE / "node_modules" / ".browser"
ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell")
FLAGS = (
    "--headless",
    "--no-sandbox",  # as root there is none, and every page is ours
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP *.example 127.0.0.1",
)
DEADLINE = 40.0


def missing(what: str) -> NoReturn:
    """Skip the test, or fail where a browser was to be there."""
    if os.environ.get("DRAGOMAN_BROWSER"):
        pytest.fail(what)
    pytest.skip(what)


def find() -> tuple[str, dict[str, str]]:
    """The browser, and what it needs in its environment."""
    named = os.environ.get("DRAGOMAN_BROWSER", "")
    if named not in ("", "1"):
        return named, {}
    if PACKAGE.is_dir() and shutil.which("node") and sys.platform == "linux" and platform.machine() == "x86_64":
        folder = unpacked()
        return str(folder / "chromium"), {"LD_LIBRARY_PATH": str(folder / "al2023" / "lib"), "FONTCONFIG_PATH": str(folder / "fonts")}
    for name in ON_PATH:
        found = shutil.which(name)
        if found is not None:
            return found, {}
    missing("no browser: npm ci --prefix tests/real_http brings one (Linux on x64), or name one in DRAGOMAN_BROWSER")


def unpacked() -> Path:
    """Unpacked beside its place and moved there whole: several workers may be at it, and none sees half of it."""
    if not UNPACKED.exists():
        with tempfile.TemporaryDirectory(dir=UNPACKED.parent) as folder:
            fresh = Path(folder) / "browser"
            fresh.mkdir()
            environment = os.environ | {"TMPDIR": str(fresh), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x"}
            subprocess.run(["node", str(HERE / "unpack_browser.mjs")], check=True, timeout=60, env=environment)
            try:
                fresh.rename(UNPACKED)
            except OSError:
                if not UNPACKED.exists():  # else another worker was faster
                    raise
    return UNPACKED


class Site:
    """A context manager: a server of one page and its script, on any host name of this machine, that takes one report."""

    def __init__(self, files: dict[str, tuple[str, bytes]]) -> None:
        self._reports: queue.Queue[Any] = queue.Queue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler(files, self._reports.put))
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def visit(self, folder: Path, url: str) -> Any:
        """Open ``url`` in the browser and wait for the report."""
        program, extra = find()
        command = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", url]
        with (folder / "browser").open("wb") as errors:
            # A session of its own: the browser is several processes, which must all go.
            browser = subprocess.Popen(command, stdout=errors, stderr=errors, env=os.environ | extra, start_new_session=True)
            try:
                return self._reports.get(timeout=DEADLINE)
            except queue.Empty:
                said = (folder / "browser").read_text(encoding="utf-8", errors="replace")
                raise AssertionError(f"the page reported nothing within {DEADLINE} s:\n{said[-3000:]}") from None
            finally:
                browser.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    browser.wait(5)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()


def handler(files: dict[str, tuple[str, bytes]], report: Callable[[Any], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = files.get(self.path.partition("?")[0], ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            report(json.loads(body))

        def log_message(self, *_: Any) -> None:
            """Say nothing: pytest shows the report."""

    return Handler

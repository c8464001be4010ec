"""Reaching the person who logs in: the browser, or the terminal where the machine has none.

The browser is started by another Python with nothing on its standard streams: on ours the client and the bridge talk, and
browsers print there. The standard library's ``webbrowser`` honours BROWSER.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable

_LONGEST = 64 * 1024


def open_browser(url: str) -> bool:
    """Whether one was started."""
    if not _may_have_browser() or not sys.executable:
        return False
    words = [sys.executable, "-I", "-m", "webbrowser", url]
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return False
    threading.Thread(target=process.wait, daemon=True, name="dragoman-browser").start()
    return True


def _may_have_browser() -> bool:
    """Without a display, what would be started is a text browser, which has no terminal here."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


class Terminal:
    """Lines that a person types, from a descriptor, until it is closed or nobody listens any more."""

    def __init__(self, fd: int, heard: Callable[[str], object]) -> None:
        self._fd = fd
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._open = True
        # Not through sys.stdin: its lock, held by a thread that reads for ever, would keep the interpreter from ending.
        threading.Thread(target=self._read, daemon=True, name="dragoman-terminal").start()

    def close(self) -> None:
        """Stop listening; the thread ends with the next line, or with the process."""
        self._open = False

    def _read(self) -> None:
        rest = b""
        while self._open and len(rest) < _LONGEST:
            try:
                data = os.read(self._fd, 4096)
            except OSError:
                return
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._tell(line.decode("utf-8", "replace").strip())

    def _tell(self, line: str) -> None:
        if self._open and line:
            try:
                self._loop.call_soon_threadsafe(self._heard, line)
            except RuntimeError:  # the loop is closed
                self._open = False

"""The signals that ask a host to end, heard before the host acts on them.

Hosts wait for every answer before they end an application's lifespan, and a stream has no end but with the application: so that they do not
wait for each other, streams have to be ended when the signal comes.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGTERM", "SIGINT")


@contextmanager
def heard(ending: Callable[[], None]) -> Iterator[None]:
    """Have the running loop call ``ending`` when a signal comes, and whoever handled it before handle it. Only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {}

    def handle(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(ending)
        before[number](number, frame)

    for name in _NAMES:
        number = getattr(signal, name)
        handler = signal.getsignal(number)
        # Who has left a signal to the system, or to Python, is no host that would wait; and what is ignored stays so.
        if callable(handler) and handler is not signal.default_int_handler:
            before[number] = handler
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)

"""``dragoman serve`` as a process: uvicorn, its protocol with limits, signals, and the end in order.

The first SIGTERM, SIGINT or SIGHUP begins the end: nobody new is let in, streams end with their result, calls in flight may
finish for as long as something comes of them; then the server goes down its ladder. A second signal skips the waiting.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from dragoman.serve.app import Bridge
from dragoman.serve.protocol import IDLE_TIME, BoundedProtocol

_FLUSH_WAIT = 5.0  # at the end: how long a client may take for what is left of its answer
_LAST_WORDS = 0.2  # and after a second signal
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")
_LOGGERS = ("uvicorn", "uvicorn.error", "asyncio")


def run(bridge: Bridge, sockets: list[socket.socket], listening: str) -> int:
    """Serve until a signal; ``listening`` is told once it is true. The answer is the exit status."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(Server(bridge, sockets, listening).live())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


class Server(uvicorn.Server):
    """uvicorn around one ``Bridge``."""

    def __init__(self, bridge: Bridge, sockets: list[socket.socket], listening: str) -> None:
        super().__init__(
            uvicorn.Config(
                bridge,
                http=BoundedProtocol,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=int(IDLE_TIME),
            )
        )
        self._bridge = bridge
        self._sockets = sockets
        self._listening = listening
        self._signal = 0

    async def live(self) -> int:
        """From the start to the exit status."""
        loop = asyncio.get_running_loop()
        for name in _SIGNALS:
            number = getattr(signal, name)
            if signal.getsignal(number) is not signal.SIG_IGN:  # what the parent had ignored (nohup) stays ignored
                loop.add_signal_handler(number, self._signalled, number)
        self._bridge.start()
        try:
            await self.serve(self._sockets)
        finally:
            status = await self._bridge.close()
        return status or (128 + self._signal if self._signal else 0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        _redirect_logs(self._bridge)
        await super().startup(sockets)
        self._bridge.tell(self._listening)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedProtocol):
                    connection.look(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """The end of every connection."""
        self._bridge.begin_shutdown()
        patience = asyncio.ensure_future(self._be_patient())
        await super().shutdown(sockets)
        patience.cancel()

    async def _be_patient(self) -> None:
        """Wait for calls as long as the core does, and then a little for the clients."""
        await self._bridge.finished()
        await asyncio.sleep(_FLUSH_WAIT)
        self._drop()

    def _drop(self) -> None:
        """Wait for no client any more."""
        self.force_exit = True
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    def _signalled(self, number: int) -> None:
        if self.should_exit:
            self._bridge.hurry()
            asyncio.get_running_loop().call_later(_LAST_WORDS, self._drop)
        else:
            self._signal = number
            self.should_exit = True
            self._bridge.begin_shutdown()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are ours, see ``live``."""
        yield


class _Told(logging.Handler):
    """What the libraries below us call an error, for the operator."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(logging.ERROR)
        self._bridge = bridge

    def emit(self, record: logging.LogRecord) -> None:
        """One line for a fault; what else they say is what we did on purpose, or a request's own words."""
        if record.exc_info and record.exc_info[1] is not None:
            fault = record.exc_info[1]
            self._bridge.tell_error(f"{record.msg.strip()}: {type(fault).__name__}: {fault}")


def _redirect_logs(bridge: Bridge) -> None:
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = False
        logger.setLevel(logging.ERROR)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addHandler(_Told(bridge))

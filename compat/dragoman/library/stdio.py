"""A server of the library over stdin and stdout, for a client of any revision."""

from __future__ import annotations

import os
import sys
import time

from dragoman.bridging.effects import ERROR, WARNING
from dragoman.bridging.face import DualFace
from dragoman.bridging.options import Options
from dragoman.io.events import default_events
from dragoman.io.log import Log
from dragoman.io.network import Network
from dragoman.io.shell import Shell
from dragoman.library.hosted import Hosting
from dragoman.library.runtime import Runtime
from dragoman.library.server import Server, known

_MAX_LINE = 256 << 20


def serve_stdio(server: Server, *, state_key_file: str | None = None, request_timeout: float | None = 600.0) -> int:
    """Serve stdin and stdout until the client closes them or a signal asks for the end. Returns an exit status, for ``sys.exit``.

    Handlers run in a thread with an event loop of its own. What they print goes to stderr, and from stdin they read nothing: stdin and
    stdout are the client's.
    ``state_key_file``: see ``asgi``; ``request_timeout`` is for how many seconds a request may be worked on (None: no limit). Raises
    ``KeyFileError``, and ``TypeError`` for what is no ``Server``. Source: 2026-07-28 and 2025-11-25, basic/transports/stdio.
    """
    known(server, "serve_stdio")
    key = None
    if state_key_file is not None:
        from dragoman.io.keyfile import load_key

        key = load_key(state_key_file)
    client, printed = (os.dup(0), os.dup(1)), sys.stdout
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what handlers and their children read is not the client's
    os.close(nothing)
    os.dup2(2, 1)  # whatever is printed, by libraries in C too
    sys.stdout = sys.stderr
    try:
        return _serve(server, key, request_timeout, os.dup(client[0]), client[1])
    finally:
        sys.stdout = printed
        for number, descriptor in enumerate(client):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _serve(server: Server, key: bytes | None, request_timeout: float | None, client_in: int, client_out: int) -> int:
    events = default_events()
    log = Log(events.outlet(2, owned=False), WARNING)
    network = Network(events)
    options = Options(server_era="modern", command_label=str(server.info["name"]), request_timeout=request_timeout)
    core = DualFace(options, os.urandom(8).hex(), os.urandom, time.time, key)
    runtime = Runtime(server, key)
    shell = Shell(core, Hosting(runtime, network), events, log, max_line=_MAX_LINE, client_in=client_in, client_out=client_out)
    status = shell.run()
    try:
        network.run(runtime.close())
    except Exception as fault:  # noqa: BLE001 - the lifespan's own
        log.say(ERROR, f"the server did not end in order: {type(fault).__name__}: {fault}")
        status = status or 1
    network.stop()
    log.drain(events)
    return status

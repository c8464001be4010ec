"""From a configuration with a URL to a running bridge on stdin and stdout.

The server's era is asked for in another thread while the core is imported: both take their time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import BinaryIO

from dragoman.io.imports import quick_imports

with quick_imports():
    from dragoman.bridging.core import Core
    from dragoman.bridging.effects import ERROR, WARNING
    from dragoman.bridging.gate import Gate
    from dragoman.bridging.options import Options
    from dragoman.io.events import Events, default_events
    from dragoman.io.http_settings import Credentials, HttpSettings
    from dragoman.io.limits import allow_connections
    from dragoman.io.log import LEVELS, Log
    from dragoman.io.network import Network
    from dragoman.io.remote_server import RemoteServer
    from dragoman.io.shell import Shell
    from dragoman.wrap.config import Config
    from dragoman.wrap.remote_config import credentials_of, settings_of
    from dragoman.wrap.run_stdio import key_of, recording_of
    from dragoman.wrap.unusable import Unusable


def serve(config: Config, options: Options) -> int:
    """Serve stdin and stdout until the end."""
    events = default_events()
    log = Log(events.outlet(2, owned=False), LEVELS[config.text("log-level") or "warning"])
    try:
        settings = settings_of(config)
        credentials = credentials_of(config, "browser")
        key = key_of(config)
        recording = recording_of(config)
    except Unusable as unusable:
        log.say(ERROR, str(unusable))
        log.drain(events)
        return 2
    allow_connections()
    network = Network(events)
    status = _run(config, options, network, settings, credentials, log, events, key, recording)
    network.stop()
    log.drain(events)
    return status


def _run(
    config: Config,
    options: Options,
    network: Network,
    settings: HttpSettings,
    credentials: Callable[[str], Credentials | None],
    log: Log,
    events: Events,
    key: bytes | None,
    recording: BinaryIO | None,
) -> int:
    instance = os.urandom(8).hex()

    def redirected(text: str) -> None:
        network.into_shell(log.say, WARNING, text)

    server = RemoteServer(
        network, settings, options.command_label, instance, credentials, redirected, options.request_timeout, options.start_timeout
    )

    def make(era: str) -> Core:
        from dragoman.bridging.face import DualFace

        options.server_era = server.dialer.era = era
        core: Core = DualFace(options, instance, os.urandom, time.time, key)
        if recording is not None:
            from dragoman.io.recorder import Recorder

            core = Recorder(core, recording)
        return core

    def ask() -> None:
        server.find_era(
            options.server_era, lambda era: shell.tell_core(gate.decided, era), lambda why: shell.tell_core(gate.undecided, why)
        )

    forced = options.server_era != "auto"

    def doubted(why: str) -> None:
        if not forced and server.doubt(time.monotonic()):
            options.server_era = "auto"
            shell.tell_core(gate.doubted, why)

    server.dialer.on_doubt = doubted
    gate = Gate(make, ask, options.drain_timeout)
    shell = Shell(gate, server.dialer, events, log, max_line=int(config.number("max-line")))
    status = shell.run()
    if config.flag("stats"):
        log.tell(log.summary())
    network.run(server.close())
    return status

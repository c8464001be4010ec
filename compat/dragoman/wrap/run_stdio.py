"""From a configuration to a running bridge."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, BinaryIO

from dragoman.io.imports import quick_imports

with quick_imports():
    from dragoman.bridging.effects import ERROR, INFO
    from dragoman.bridging.options import Options
    from dragoman.io.events import Events, default_events
    from dragoman.io.launcher import Launcher
    from dragoman.io.log import LEVELS, Log
    from dragoman.io.shell import Shell
    from dragoman.wrap.config import Config
    from dragoman.wrap.unusable import Unusable


if TYPE_CHECKING:
    from dragoman.bridging.core import Core


def serve(config: Config, options: Options, launcher: Launcher, fault: str | None) -> int:
    """Serve stdin and stdout until the end; ``fault`` is why the server could not be started ahead of time."""
    events = default_events()
    log = Log(events.outlet(2, owned=False), LEVELS[config.text("log-level") or "warning"])
    if fault is not None:
        log.announce(ERROR, fault)
        log.flush()
    try:
        key = key_of(config)
        recording = recording_of(config)
    except Unusable as unusable:
        log.say(ERROR, str(unusable))
        log.drain(events)
        launcher.abandon()
        return 2
    if config.flag("probe") and fault is None and options.server_era == "auto":
        _probe(config, options, launcher, events, log)
    with quick_imports():
        from dragoman.bridging.face import DualFace

    core: Core = DualFace(options, os.urandom(8).hex(), os.urandom, time.time, key)
    if recording is not None:
        from dragoman.io.recorder import Recorder

        core = Recorder(core, recording)
    status = Shell(core, launcher, events, log, max_line=int(config.number("max-line"))).run()
    if config.flag("stats"):
        log.tell(log.summary())
    log.drain(events)
    return status


def _probe(config: Config, options: Options, launcher: Launcher, events: Events, log: Log) -> None:
    from dragoman.io.probe import Probe

    options.server_era, why = Probe(launcher, events, log).ask(config.number("probe-timeout"))
    log.say(INFO, f"the server is {options.server_era}: {why}")


def recording_of(config: Config) -> BinaryIO | None:
    """The file of ``--record``. Raises ``Unusable``."""
    path = config.text("record")
    if path is None:
        return None
    try:
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    except OSError as fault:
        raise Unusable(f"--record {path}: {fault.strerror}") from fault


def key_of(config: Config) -> bytes | None:
    """The key of ``--state-key-file``. Raises ``Unusable``."""
    path = config.text("state-key-file")
    if path is None:
        return None
    from dragoman.io.keyfile import KeyFileError, load_key

    try:
        return load_key(path)
    except KeyFileError as fault:
        raise Unusable(str(fault)) from fault

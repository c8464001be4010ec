"""``dragoman probe``: from a configuration to a report and an exit status."""

from __future__ import annotations

import os

from dragoman.bridging.diagnosis import Diagnosis
from dragoman.io.command import label
from dragoman.io.events import Events, default_events
from dragoman.io.launcher import Launcher
from dragoman.wrap.config import Config
from dragoman.wrap.probe_command import Patience, ProcessTalk, diagnose_command
from dragoman.wrap.report import as_json, as_object, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dragoman.io.http_settings import HttpSettings

USABLE, UNUSABLE, USAGE = 0, 1, 2


def probe(config: Config) -> int:
    """Print what the target is: ``USABLE``, ``UNUSABLE``, or ``USAGE`` if an option names what cannot be used.

    Read of the configuration: ``json``, ``all``, ``modern-first``, ``probe-timeout``; for a command ``start-timeout``, ``cwd`` and the
    variables; for a URL what ``remote_config`` reads.
    """
    events = default_events()
    try:
        if config.url is None:
            target, secrets = label(config.command), tuple(config.env.values())
            found = _ask_command(config, events)
        else:
            from dragoman.wrap.probe_url import without_secrets
            from dragoman.wrap.remote_config import settings_of
            from dragoman.wrap.unusable import Unusable

            try:
                settings = settings_of(config)
            except Unusable as fault:
                _write(2, f"dragoman: error: {fault}\n")
                return USAGE
            target = without_secrets(config.url)
            found, secrets = _ask_url(config, settings, events)
    finally:
        events.close()
    value = as_object(target, found, secrets)
    _write(1, as_json(value) if config.flag("json") else as_text(value))
    return USABLE if found.usable else UNUSABLE


def _ask_command(config: Config, events: Events) -> Diagnosis:
    launcher = Launcher(config.command, {**os.environ, **config.env}, config.text("cwd"), label(config.command))
    return diagnose_command(
        lambda: ProcessTalk(launcher, events),
        Patience(config.limit("start-timeout"), config.number("probe-timeout")),
        modern_first=config.flag("modern-first"),
        every=config.flag("all"),
    )


def _ask_url(config: Config, settings: HttpSettings, events: Events) -> tuple[Diagnosis, tuple[str, ...]]:
    """What was found, and the secrets that were sent."""
    from dragoman.io.http_asker import ClientAsker
    from dragoman.io.http_client import HttpClient
    from dragoman.io.network import Network
    from dragoman.wrap.probe_url import diagnose_url
    from dragoman.wrap.remote_config import credentials_of

    make = credentials_of(config)

    async def connect() -> HttpClient:
        return HttpClient(settings, make(""))

    network = Network(events)
    try:
        client = network.run(connect())
        try:
            asker = ClientAsker(client, network.run, config.number("probe-timeout"))
            found = diagnose_url(settings.url, asker, every=config.flag("all"))
            return found, (*secrets_in(settings.url), *asker.secrets())
        finally:
            network.run(client.close())
    finally:
        network.stop()


def secrets_in(url: str) -> tuple[str, ...]:
    """The query of a URL, and each value in it: keys are given there."""
    query = url.partition("#")[0].partition("?")[2]
    return (query, *(part.partition("=")[2] for part in query.split("&")))


def _write(fd: int, text: str) -> None:
    data = memoryview(text.encode("utf-8", "backslashreplace"))
    try:
        while data:
            data = data[os.write(fd, data) :]
    except OSError:  # nobody reads it; the exit status still says how it went
        pass

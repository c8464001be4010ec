"""The real HTTP client in its own loop, for as long as a test asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dragoman.bridging.diagnosis import Diagnosis
from dragoman.io.events import default_events
from dragoman.io.http_asker import ClientAsker
from dragoman.io.http_client import Credentials, HttpClient
from dragoman.io.http_settings import HttpSettings
from dragoman.io.network import Network
from dragoman.wrap.probe_url import diagnose_url


@contextmanager
def asking(
    url: str, credentials: dict[str, str] | None = None, patience: float = 20.0, oauth: Credentials | None = None
) -> Iterator[ClientAsker]:
    """What asks ``url``."""
    events = default_events()
    network = Network(events)

    async def connect() -> HttpClient:
        return HttpClient(HttpSettings(url, headers=credentials), oauth)

    client = network.run(connect())
    try:
        yield ClientAsker(client, network.run, patience)
    finally:
        network.run(client.close())
        network.stop()
        network.loop.close()
        events.close()


def diagnosed(url: str, *, patience: float = 20.0, credentials: dict[str, str] | None = None, every: bool = False) -> Diagnosis:
    """What is found at ``url``."""
    with asking(url, credentials, patience) as asker:
        return diagnose_url(url, asker, every=every)

"""Opens connections to a server behind a URL, as ``Launcher`` starts processes of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dragoman.bridge.era import MODERN

if TYPE_CHECKING:
    from dragoman.io.http_child import Link, RemoteChild, RemoteHouse
    from dragoman.io.http_client import HttpClient
    from dragoman.io.process import Process


class Dialer:
    """Knows the server. ``era`` is found out before the first connection is opened."""

    def __init__(self, client: Callable[[], HttpClient], link: Link, label: str, instance: str) -> None:
        self.label = label
        self.failed = False
        self.era = MODERN
        self.authorization: Callable[[int], str | None] = lambda _session: None  # of the client that a session serves, if it is passed on
        self._client = client
        self._link = link
        self._instance = instance
        self._two_endpoints = False
        self._opened = 0

    def prepared(self) -> Process | None:
        """Nothing is opened ahead of time."""
        return None

    def abandon(self) -> None:
        """Nothing was."""

    def child(self, house: RemoteHouse, max_line: int) -> RemoteChild:
        """A connection of its own."""
        from dragoman.io.http_child import RemoteChild
        from dragoman.remote.options import RemoteOptions
        from dragoman.remote.remote import Remote

        self._opened += 1
        client = self._client()
        options = RemoteOptions(f"{self._instance}-{self._opened}", client.settings.url, max_line, self._two_endpoints)
        remote = Remote(options, self.era)

        def authorization() -> str | None:
            self._two_endpoints = self._two_endpoints or remote.two_endpoints
            return None if child.session is None else self.authorization(child.session)

        child = RemoteChild(client, remote, house, self._link, authorization)
        return child

"""Opens connections to a server behind a URL, as ``Launcher`` starts processes of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dragoman.bridging.era import MODERN
from dragoman.io.caller import NOBODY, Caller

if TYPE_CHECKING:
    from dragoman.io.http_child import RemoteChild
    from dragoman.io.http_settings import Who
    from dragoman.io.link import Link, RemoteHouse
    from dragoman.io.process import Process
    from dragoman.io.remote_server import RemoteServer


_AFTER = 1.0  # the core, where it watches the time itself, knows better what to say


class Dialer:
    """Knows the server. ``era`` is found out before the first connection is opened."""

    def __init__(self, server: RemoteServer, link: Link, label: str, instance: str, patience: float | None) -> None:
        self.label = label
        self.failed = False
        self.era = MODERN
        self.caller: Callable[[int], Caller | None] = lambda _session: NOBODY  # for whom a session is; None: it is over
        self.on_doubt: Callable[[str], None] = lambda _why: None
        self._proven = False
        self._server = server
        self._patience = None if patience is None else patience + _AFTER
        self._link = link
        self._instance = instance
        self._two_endpoints = False
        self._takes_handshakes: bool | None = None
        self._opened = 0

    def _doubted(self, why: str) -> None:
        self.on_doubt(why)

    def forget(self) -> None:
        """What was found out of the server holds no more."""
        self._two_endpoints, self._takes_handshakes, self._proven = False, None, False

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
        client = self._server.client()
        options = RemoteOptions(
            f"{self._instance}-{self._opened}",
            client.settings.url,
            max_line,
            self._two_endpoints,
            self._patience,
            self._proven,
            client.redacted,
        )
        remote = Remote(options, self.era, self._takes_handshakes)

        caller = [NOBODY]

        def identity() -> Who:
            self._two_endpoints = self._two_endpoints or remote.two_endpoints
            self._proven = self._proven or remote.proven
            self._takes_handshakes = remote.takes_handshakes if self._takes_handshakes is None else self._takes_handshakes
            # The core has forgotten a session by the time its end is told to the server: that is told in the same name.
            caller[0] = (None if child.session is None else self.caller(child.session)) or caller[0]
            return self._server.who(caller[0])

        child = RemoteChild(client, remote, house, self._link, identity, self._doubted)
        return child

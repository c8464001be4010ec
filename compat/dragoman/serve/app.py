"""A server behind one endpoint for HTTP clients: started from a command, or reached by its URL."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from dragoman.bridging.effects import WARNING
from dragoman.io.caller import Caller
from dragoman.io.command import label
from dragoman.io.http_settings import HttpSettings, Unusable
from dragoman.io.launcher import Launcher
from dragoman.serve.endpoint import MAX_LINE, Endpoint
from dragoman.serve.house import House
from dragoman.serve.launching import launcher_of
from dragoman.serve.settings import Settings

if TYPE_CHECKING:
    from dragoman.io.exchanges import Exchanges
    from dragoman.io.http_settings import Credentials


class Bridge(Endpoint):
    """An MCP server of any revision as a Streamable HTTP endpoint for clients of any revision.

    ``command`` is the server and its arguments, started without a shell; ``env`` is added to the environment, ``cwd`` is its
    directory. Or ``url`` is the server: an address, or ``HttpSettings`` with more; ``credentials`` makes its OAuth client. The rest
    are settings by the names of the command-line options, see ``Settings``; ``launcher`` stands for the command where its first
    process has been started already. Raises ``ValueError``, ``TypeError`` or ``KeyFileError`` for one that cannot be used, and
    ``NotImplementedError`` where there is no POSIX.
    """

    _make_client: Callable[[], Exchanges] | None = None  # what requests to the URL go by, if not the network

    def __init__(
        self,
        command: Sequence[str] = (),
        *,
        url: str | HttpSettings | None = None,
        credentials: Callable[[str], Credentials | None] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        log_level: str = "warning",
        max_line: int = MAX_LINE,
        state_key_file: str | None = None,
        stats: bool = False,
        launcher: Launcher | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        words = [command] if isinstance(command, str) else list(command)
        self._remote = _settings_of(url)
        # Where clients show who they are, nobody is to act as whoever runs us.
        self._credentials = credentials if credentials is not None and not settings.get("forward_authorization") else _no_credentials
        if self._remote is not None and (env or cwd):
            raise ValueError("env and cwd are about a server's process, and a URL has none")
        if self._remote is None and settings.get("forward_authorization"):
            raise ValueError("forward_authorization is about a server behind a URL")
        if self._remote is not None and words:
            raise ValueError("the server is a command or a URL, not both")
        if self._remote is None and (not words or not all(isinstance(word, str) for word in words)):
            raise ValueError(f"command must be a program and its arguments, each a string, not {command!r}; or give url")
        if words and words[0].lower().startswith(("http://", "https://")):
            raise ValueError("command is a URL: give it as url")
        if sys.platform == "win32":
            raise NotImplementedError("dragoman serve needs POSIX: the event loops of Windows cannot wait for a server's pipes")
        settings.setdefault("command_label", label(words) if self._remote is None else self._remote.label)
        super().__init__(settings, log_level=log_level, max_line=max_line, state_key_file=state_key_file, stats=stats)
        self._launcher = launcher
        if launcher is None and words:
            self._launcher = launcher_of(words, {**os.environ, **(env or {})}, cwd, self._options.command_label)

    def _new_house(self) -> House:
        core = self._core()
        if self._launcher is not None:
            return House(core, self._launcher, self._log_level, self._max_line)
        from dragoman.serve.remote import Remote

        settings = self._remote
        assert settings is not None
        remote = Remote(asyncio.get_running_loop(), settings, self._options, core.set_era, self._warn, self._credentials, self._begin_anew)
        if self._make_client is not None:
            remote.server.make_client = self._make_client
        remote.waits_for_callers = self._http_options.forward_authorization
        house = House(core, remote.server.dialer, self._log_level, self._max_line)
        remote.server.dialer.caller = lambda session: None if (found := core.caller_of(session)) is None else Caller(*found)
        house.remote = remote
        return house

    def _begin_anew(self) -> None:
        if self._house is not None:
            self._house.begin_anew()

    def _warn(self, text: str) -> None:
        if self._house is not None:
            self._house.log.say(WARNING, text)
            self._house.happened()


def _no_credentials(_principal: str) -> None:
    return None


def _settings_of(url: str | HttpSettings | None) -> HttpSettings | None:
    try:
        return HttpSettings(url) if isinstance(url, str) else url
    except Unusable as fault:
        raise ValueError(str(fault)) from None

"""Credentials that cost nothing until the server asks for them: most servers never do, and the SDK takes a second to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dragoman.auth.record import canonical
from dragoman.auth.settings import Settings
from dragoman.auth.store import Store

if TYPE_CHECKING:
    from dragoman.auth.credentials import OAuth


class Lazily:
    """Implements ``Credentials`` as ``OAuth`` does, for one server and one principal; see there."""

    def __init__(self, server: str, settings: Settings, say: Callable[[str], None], principal: str = "") -> None:
        self._server = server
        self._settings = settings
        self._say = say
        self._principal = principal
        self._oauth: OAuth | None = None
        self._looked = False

    async def apply(self) -> Mapping[str, str]:
        """The header fields for the next request: none, until there is a token."""
        if self._oauth is None and not self._looked:
            self._looked = True
            if Store(canonical(self._server), self._principal, self._settings.token_dir).load().access_token:
                self._made()
        return {} if self._oauth is None else await self._oauth.apply()

    async def challenged(self, status: int, headers: Mapping[str, str], used: Mapping[str, str]) -> bool:
        """The server answered 401 or 403 to a request with ``used``; whether to send it again."""
        return await self._made().challenged(status, headers, used)

    async def close(self) -> None:
        """Give up what is under way."""
        if self._oauth is not None:
            await self._oauth.close()

    def _made(self) -> OAuth:
        from dragoman.auth.credentials import OAuth

        if self._oauth is None:
            self._oauth = OAuth(self._server, self._settings, say=self._say, principal=self._principal)
        return self._oauth

"""What is kept of one authorization: the tokens, and what they are bound to.

basic/authorization/client-registration#authorization-server-binding (2026-07-28).

Client credentials and tokens belong to the authorization server that issued them, told by its issuer identifier. They are
kept together with it, and go together with it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

_MARGIN = 30.0
_SHARE = 0.1
_AFTER_REFRESH = 60.0
_AFTER_LOGIN = 300.0
_AFTER_GRANT = 5.0
_PORTS = {"http": 80, "https": 443}


class Record(Struct, frozen=True, kw_only=True):
    """Of one server and one principal. Times are seconds since 1970, an empty text is "none"."""

    version: int = 1
    server: str
    principal: str = ""
    issuer: str = ""
    client_id: str = ""
    """Whom the tokens were issued to."""
    access_token: str = ""
    refresh_token: str = ""
    scope: str = ""
    obtained_at: float = 0.0
    expires_at: float | None = None
    refreshed_at: float = 0.0
    logged_in_at: float = 0.0
    client: dict[str, Any] | None = None
    """What the authorization server registered, if it did."""
    redirect: str = ""
    """The redirect URI that was registered."""
    metadata: dict[str, Any] | None = None
    """Of the authorization server, as it sent it."""
    resource: dict[str, Any] | None = None
    """The protected resource's own, as it sent it."""

    def __repr__(self) -> str:
        return f"Record({self.server!r}, {self.principal!r}, issuer={self.issuer!r})"

    def usable(self, now: float) -> str:
        """The access token, unless it has expired."""
        return "" if self.expires_at is not None and now >= self.expires_at else self.access_token

    def is_ending(self, now: float) -> bool:
        """Whether the access token has expired, or will before a request is sure to be through."""
        if not self.access_token or self.expires_at is None:
            return False
        return now >= self.expires_at - min(_MARGIN, _SHARE * (self.expires_at - self.obtained_at))

    def is_just_refreshed(self, now: float) -> bool:
        """Whether a further refresh would give the same: a token this young that is refused isn't refused for its age."""
        return bool(self.usable(now)) and 0 <= now - self.refreshed_at < _AFTER_REFRESH

    def is_just_logged_in(self, now: float, *, by_person: bool) -> bool:
        """Whether a further login would give the same. Persons are asked more seldom than machines."""
        return bool(self.usable(now)) and 0 <= now - self.logged_in_at < (_AFTER_LOGIN if by_person else _AFTER_GRANT)

    def without_tokens(self) -> Record:
        """The client stays registered."""
        return replace(self, access_token="", refresh_token="", scope="", expires_at=None, obtained_at=0.0, client_id="")

    def without_client(self) -> Record:
        """Its tokens go with it."""
        return replace(self.without_tokens(), client=None, redirect="")


def canonical(url: str) -> str:
    """A server's address as records know it: no fragment, host and scheme in small letters, no port that goes without saying."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return urlunsplit((parts.scheme, host + port, "" if parts.path == "/" else parts.path, parts.query, ""))

"""What an operator says of a server behind a URL, judged before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from dragoman.remote.urls import origin_of, shown


class Unusable(Exception):
    """A setting cannot be used; the text says which, why, and what to do."""


class Credentials(Protocol):
    """Who we are at the server; see ``dragoman.auth``."""

    async def apply(self) -> Mapping[str, str]:
        """The fields for the next request."""

    async def challenged(self, status: int, headers: Mapping[str, str], used: Mapping[str, str]) -> bool:
        """The server answered 401 or 403; True: send the request again."""

    async def close(self) -> None:
        """Give up what is under way."""


class Who(NamedTuple):
    """For whom a request is sent: a client's own ``Authorization``, passed on, or what knows who we are."""

    authorization: str | None = None
    credentials: Credentials | None = None


class HttpSettings:
    """What an operator can set: see the command line. Raises ``Unusable`` for a URL or a file that cannot be used."""

    __slots__ = ("ca", "headers", "url")

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None, ca: str | None = None) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:
            raise Unusable("the URL is none: a bracket stands alone") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Unusable(f"{shown(url)!r} is no URL of a server: it begins with http:// or https:// and a host")
        if parts.username is not None or parts.password is not None:
            raise Unusable("credentials in a URL end up in logs: give them with --header or --bearer-env")
        if origin_of(url) is None:
            raise Unusable(f"the port of {shown(url)} is none")
        self.url = url.partition("#")[0]
        self.headers = dict(headers or {})
        self.ca = ca
        if ca is not None:
            _check(ca)

    @property
    def label(self) -> str:
        """How the server is named in error texts."""
        return urlsplit(self.url).netloc[:100]


def _check(ca: str) -> None:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=ca)
    except ssl.SSLError:
        raise Unusable(f"--ca {ca} holds no certificate in PEM form") from None
    except OSError as fault:
        raise Unusable(f"--ca {ca} cannot be read: {fault.strerror}") from None

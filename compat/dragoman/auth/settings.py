"""How dragoman gets its tokens: who it is to the authorization server, what it asks for, and how a person logs in.

A secret comes from the environment or a file, never from the command line, which every user of the machine can read.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from msgspec import Struct

from dragoman.auth.errors import SettingsError

AUTHORIZATION_CODE, CLIENT_CREDENTIALS = GRANTS = ("authorization_code", "client_credentials")
NO_SECRET, BASIC, POST, KEY = METHODS = ("none", "client_secret_basic", "client_secret_post", "private_key_jwt")
BROWSER, PRINT, NEVER = LOGINS = ("browser", "print", "never")
_LOOPBACK = ("127.0.0.1", "localhost")
_SECRETS = frozenset(("client_secret", "private_key"))


class Settings(Struct, frozen=True, kw_only=True):
    """Every setting with its default; an empty text is "not given". Durations are seconds."""

    client_id: str = ""
    """Of a client that was registered beforehand."""
    client_secret: str = ""
    client_auth: str = ""
    """How the client shows who it is at the token endpoint, one of ``METHODS``; not given: as the server's metadata allows."""
    private_key: str = ""
    """A PEM text, for private_key_jwt."""
    client_metadata_url: str = ""
    """Where the client's own metadata document is (CIMD)."""
    issuer: str = ""
    """The one authorization server that the credentials are for; not given: the first that the server names, and then always that one."""
    scope: str = ""
    """What to ask for at a login; not given: what the server asks for."""
    grant: str = AUTHORIZATION_CODE
    redirect: str = "http://127.0.0.1/callback"
    redirect_port: int = 0
    """Of the redirect URI; 0: any that is free."""
    login: str = BROWSER
    """``browser`` opens it, ``print`` only tells the address, ``never`` leaves logins to ``dragoman login``."""
    login_timeout: float = 300.0
    request_timeout: float = 30.0
    ca: str = ""
    """A file of further certificate authorities."""
    token_dir: str = ""

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in _SECRETS)
        hidden = (f"{name}=…" for name in sorted(_SECRETS) if getattr(self, name))
        return f"Settings({', '.join((*shown, *hidden))})"

    def check(self) -> None:
        """Raise ``SettingsError`` for what cannot work."""
        choices = (("grant", self.grant, GRANTS), ("login", self.login, LOGINS), ("client_auth", self.client_auth, ("", *METHODS)))
        for name, value, known in choices:
            if value not in known:
                raise SettingsError(f"{name} is one of {', '.join(filter(None, known))}, not {value!r}")
        self._check_client()
        self._check_redirect()

    def _check_client(self) -> None:
        if not self.client_id and (self.client_secret or self.client_auth or self.private_key):
            raise SettingsError("a client secret, key or authentication method needs the client id that it belongs to")
        if self.client_auth in (BASIC, POST) and not self.client_secret:
            raise SettingsError(f"{self.client_auth} needs the client secret")
        if (self.client_auth == KEY) != bool(self.private_key):
            raise SettingsError(f"{KEY} and the private key need each other")
        if self.private_key and self.grant != CLIENT_CREDENTIALS:
            raise SettingsError(f"{KEY} works with the grant {CLIENT_CREDENTIALS} alone")
        if self.grant == CLIENT_CREDENTIALS and not (self.client_id and (self.client_secret or self.private_key)):
            raise SettingsError(f"the grant {CLIENT_CREDENTIALS} needs a client id, and its secret or key")
        if self.client_metadata_url:
            url = urlsplit(self.client_metadata_url)
            if url.scheme != "https" or url.path in ("", "/"):
                raise SettingsError("the address of a client's metadata document begins with https:// and has a path")

    def _check_redirect(self) -> None:
        url = urlsplit(self.redirect)
        if url.scheme != "http" or url.hostname not in _LOOPBACK or url.query or url.fragment:
            raise SettingsError(f"the redirect URI is http://127.0.0.1/… or http://localhost/…, not {self.redirect}")
        if not 0 <= self.redirect_port <= 65535:
            raise SettingsError(f"there is no port {self.redirect_port}")


def secret_of(variable: str) -> str:
    """The secret that the environment variable holds."""
    value = os.environ.get(variable, "")
    if not value:
        raise SettingsError(f"the environment variable {variable}, which should hold the client secret, is not set")
    return value

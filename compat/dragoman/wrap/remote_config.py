"""What a command line says of a server behind a URL: fields, credentials, trust.

A secret is named, not written: the arguments of a process can be read by everybody on the machine. So ``--bearer-env`` takes the
name of a variable, and ``${NAME}`` within a ``--header`` stands for a variable's value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dragoman.io import http_settings
from dragoman.io.http_settings import HttpSettings
from dragoman.wrap.config import Config
from dragoman.wrap.unusable import Unusable

if TYPE_CHECKING:
    from dragoman.auth.settings import Settings
    from dragoman.io.http_settings import Credentials

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OURS = frozenset(
    (
        "accept",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
        "connection",
    )
)


def settings_of(config: Config) -> HttpSettings:
    """The URL, the fields for every request, and whom to trust. Raises ``Unusable``."""
    try:
        return HttpSettings(config.url or "", headers=_headers(config) if config.has("header") else {}, ca=config.text("ca"))
    except http_settings.Unusable as fault:
        raise Unusable(str(fault)) from None


def _headers(config: Config) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in config.texts("header"):
        name, value = _header(text)
        headers[name] = value
    variable = config.text("bearer-env")
    if variable is not None:
        if any(name.lower() == "authorization" for name in headers):
            raise Unusable("--bearer-env and --header Authorization are two answers to one question: give one of them")
        token = _value(variable, "--bearer-env")
        headers["Authorization"] = f"Bearer {token.removeprefix('Bearer ')}"
    return headers


def _header(text: str) -> tuple[str, str]:
    """``NAME=VALUE``, or ``NAME: VALUE`` as other programs write it."""
    found = re.match(r"([^=:]*)[=:]", text)
    name = found[1].strip() if found else ""
    if found is None or not _NAME.fullmatch(name):
        raise Unusable("--header takes NAME=VALUE, with the name of a field of HTTP")  # the text may hold a secret: it is not shown
    if name.lower() in _OURS or name.lower().startswith("mcp-param-"):
        raise Unusable(f"--header {name}: this field is dragoman's own")
    value = _VARIABLE.sub(lambda match: _value(match[1], f"--header {name}"), text[found.end() :].strip())
    if not value.isascii() or not value.isprintable():
        raise Unusable(f"--header {name}: the value may hold printable ASCII alone")
    return name, value


def _value(variable: str, where: str) -> str:
    value = os.environ.get(variable, "").strip()
    if variable in os.environ and not value:
        raise Unusable(f"{where}: the environment variable {variable} is empty")
    if not value:  # what was given may be the secret itself
        raise Unusable(f"{where} takes the name of an environment variable, and none of that name is set")
    return value


def auth_settings_of(config: Config, login: str) -> Settings:
    """How tokens are had; ``login`` is what to do for one by default. Raises ``Unusable``."""
    from dragoman.auth.errors import SettingsError
    from dragoman.auth.settings import Settings, secret_of

    variable, key_file = config.text("client-secret-env"), config.text("private-key-file")
    try:
        settings = Settings(
            client_id=config.text("client-id") or "",
            client_secret="" if variable is None else secret_of(variable),
            client_auth=config.text("client-auth") or "",
            private_key="" if key_file is None else _contents(key_file),
            login=login,
            **_of_a_login(config),
            ca=config.text("ca") or "",
            token_dir=config.text("token-dir") or "",
        )
        settings.check()
    except SettingsError as fault:
        raise Unusable(str(fault)) from None
    return settings


def _of_a_login(config: Config) -> dict[str, Any]:
    """What ``dragoman logout`` has no use for."""
    if not config.has("grant"):
        return {}
    return {
        "client_metadata_url": config.text("client-metadata-url") or "",
        "issuer": config.text("issuer") or "",
        "scope": config.text("scope") or "",
        "grant": config.text("grant") or "",
        "redirect_port": int(config.number("redirect-port")),
        "login_timeout": config.number("login-timeout"),
    }


def _contents(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (OSError, ValueError) as fault:
        raise Unusable(f"--private-key-file {path} cannot be read: {getattr(fault, 'strerror', None) or 'it is no text'}") from None


def credentials_of(config: Config, login: str = "never") -> Callable[[str], Credentials | None]:
    """What makes the OAuth client of a principal, in the loop ("": whoever runs us); nothing where credentials were given.

    Raises ``Unusable``.
    """
    given = any(text.partition("=")[0].partition(":")[0].strip().lower() == "authorization" for text in config.texts("header"))
    if given or config.text("bearer-env") is not None:
        return lambda _principal: None
    from dragoman.auth.lazily import Lazily

    url, settings = config.url or "", auth_settings_of(config, config.text("login") or login)
    return lambda principal: Lazily(url, settings, say, principal)


def say(text: str) -> None:
    """A line for the operator, whatever the log level: a login cannot go on without it."""
    try:
        os.write(2, f"dragoman: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass

"""What a command line says of a server behind a URL: fields, credentials, trust.

A secret is named, not written: the arguments of a process can be read by everybody on the machine. So ``--bearer-env`` takes the
name of a variable, and ``${NAME}`` within a ``--header`` stands for a variable's value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from dragoman.io import http_settings
from dragoman.io.http_settings import HttpSettings
from dragoman.wrap.config import Config
from dragoman.wrap.unusable import Unusable

if TYPE_CHECKING:
    from dragoman.io.http_client import Credentials

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
        return HttpSettings(config.url or "", headers=_headers(config), ca=config.text("ca"))
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
        headers["Authorization"] = f"Bearer {_value(variable, f'--bearer-env {variable}')}"
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
    if not value:
        raise Unusable(f"{where}: the environment variable {variable} is not set")
    return value


def credentials_of(config: Config) -> Callable[[], Credentials | None]:
    """What makes the OAuth client, in the loop; nothing where credentials were given."""
    return lambda: None

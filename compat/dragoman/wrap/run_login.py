"""``dragoman login`` and ``dragoman logout``: what a person does once, so that bridges find a token later."""

from __future__ import annotations

from hashlib import sha256

from dragoman.wrap.config import Config
from dragoman.wrap.remote_config import auth_settings_of, say, settings_of
from dragoman.wrap.unusable import Unusable


def login(config: Config) -> int:
    """Log in at the server's authorization server, or tell what is kept; the answer is the exit status."""
    from dragoman.auth import cli

    try:
        settings_of(config)
        settings = auth_settings_of(config, "print" if config.flag("no-browser") else "browser")
    except Unusable as fault:
        say(f"error: {fault}")
        return fault.status
    step = cli.status if config.flag("status") else cli.login
    return step(config.url or "", settings, principal=_principal(config), say=say)


def logout(config: Config) -> int:
    """Forget the login; the answer is the exit status."""
    from dragoman.auth import cli

    try:
        settings_of(config)
        settings = auth_settings_of(config, "never")
    except Unusable as fault:
        say(f"error: {fault}")
        return fault.status
    return cli.logout(config.url or "", settings, principal=_principal(config), say=say)


def _principal(config: Config) -> str:
    """Under which the bridge looks for it: callers are known by a digest (``http.principals``)."""
    name = config.text("principal")
    return "" if name is None else sha256(name.encode()).hexdigest()

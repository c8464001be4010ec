"""What can go wrong with an authorization. Every text is one line for the operator, and none holds a secret."""

from __future__ import annotations


class AuthError(Exception):
    """No token could be had; the text says why."""


class LoginNeeded(AuthError):
    """Only a person can help; the text says how."""


class NobodyCame(LoginNeeded):
    """A page was shown, and nothing came back from it in time."""


class Refused(AuthError):
    """The authorization server answered with an error; ``code`` is its word for it (RFC 6749, section 5.2), or empty."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class StoreError(AuthError):
    """The token file cannot be used; the text says which, why, and what to do."""


class SettingsError(AuthError):
    """The settings contradict themselves or each other."""


class NotInstalled(AuthError):
    """The extra is missing."""


def require() -> None:
    """Raise ``NotInstalled`` unless the packages of the extra are there."""
    from importlib.util import find_spec

    # Not of "mcp.client.auth": that would import its parents, which takes most of a second.
    if find_spec("httpx2") is None or find_spec("mcp") is None:
        raise NotInstalled("this server asks for OAuth, which needs more packages: install dragoman with its extra, dragoman[oauth]")

"""What the SDK does not check of discovered metadata (basic/authorization/authorization-server-discovery, security-considerations).

The SDK reads addresses into a form of its own, in which two that differ may be equal; the specification compares issuers as they are
written. It also goes on without PKCE in the metadata, asks for every scope that an authorization server knows, and sends
credentials over plain HTTP. So the documents are looked at here as they came, before the SDK acts on them.
"""

from __future__ import annotations

import ipaddress
import json
from typing import Any, Literal
from urllib.parse import urlsplit

from dragoman.auth.errors import AuthError
from dragoman.auth.settings import BASIC, NO_SECRET, POST

Document = dict[str, Any]
SharedSecret = Literal["none", "client_secret_basic", "client_secret_post"]
OFFLINE = "offline_access"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint")


def read(body: bytes) -> Document | None:
    """A JSON object, or nothing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_resource(document: Document) -> bool:
    """Whether it describes a protected resource (else an authorization server)."""
    return isinstance(document.get("resource"), str) and bool(texts(document, "authorization_servers"))


def texts(document: Document | None, name: str) -> list[str] | None:
    """A member that is a list of texts."""
    value = None if document is None else document.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else None


def text(document: Document | None, name: str) -> str:
    """A member that is a text."""
    value = None if document is None else document.get(name)
    return value if isinstance(value, str) else ""


def preferring(document: Document, issuer: str) -> Document:
    """The same, with the authorization server that credentials exist for in the first place, which is the one that is taken."""
    servers = document["authorization_servers"]
    if issuer not in servers or servers[0] == issuer:
        return document
    return {**document, "authorization_servers": [issuer, *(server for server in servers if server != issuer)]}


def is_loopback(url: str) -> bool:
    """Whether the address leads to this machine, by a name or number that cannot mean another."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(url: str, *, local: bool) -> None:
    """Tokens and secrets go over HTTPS; or plainly, but then both ends are on this machine."""
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and local and is_loopback(url))
    except ValueError:
        raise AuthError("an address of the authorization server is none") from None
    if not is_safe:
        raise AuthError(f"the authorization would go to {origin(url)}, which is not https: refused")
    if parts.username is not None or not parts.hostname:
        raise AuthError("an address of the authorization server holds a user name, or no host: refused")


def origin(url: str) -> str:
    """Scheme and host of an address, for texts."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def check_server(document: Document, named: str, *, pkce: bool, local: bool) -> None:
    """That the metadata of an authorization server is its own (RFC 8414, section 3.3), and that it can do what is needed."""
    issuer = text(document, "issuer")
    if issuer != named:
        raise AuthError(f"the authorization server {named} calls itself {issuer} in its metadata: refused")
    if pkce and "S256" not in (texts(document, "code_challenge_methods_supported") or ()):
        raise AuthError(f"the authorization server {issuer} does not say that it supports PKCE with S256: refused")
    for name in _ENDPOINTS:
        if document.get(name) is not None:
            check_address(text(document, name), local=local)


def auth_method(document: Document | None, *, secret: bool, wanted: str = "") -> str:
    """How a client with or without a secret shows who it is; without word from the server, as RFC 8414 says."""
    if wanted:
        return wanted
    if not secret:
        return NO_SECRET
    known = texts(document, "token_endpoint_auth_methods_supported")
    return POST if known and POST in known and BASIC not in known else BASIC


def method_to_register(document: Document | None) -> SharedSecret | None:
    """What a client asks for that would rather have no secret, as it cannot keep one; ``None``: what the server likes."""
    known = texts(document, "token_endpoint_auth_methods_supported") or ()
    methods: tuple[SharedSecret, ...] = (
        "none",
        "client_secret_basic",
        "client_secret_post",
    )
    return next((method for method in methods if method in known), None)


def scope_to_ask(document: Document, wanted: str, before: str) -> tuple[Document, str]:
    """The metadata to show to the SDK, and the scope to challenge it with; empty: the parameter is left out.

    What was granted before is asked for again, or it would be lost. The SDK falls back to all scopes of the authorization
    server when nobody names any; the specification leaves the parameter out.
    """
    scope = union(before, wanted)
    if scope:
        return document, scope
    return {name: value for name, value in document.items() if name != "scopes_supported"}, ""


def union(first: str, second: str) -> str:
    """The words of both, in order, each once."""
    return " ".join(dict.fromkeys((*first.split(), *second.split())))


def written(document: Document) -> bytes:
    """As JSON again."""
    return json.dumps(document).encode()

"""The official SDK's client, made from our settings and from what is kept, for one flow.

Its provider is meant to live as long as an HTTP client and to send by itself. Here it lives for one flow, so that everything it
knows comes from a record and goes back into one, and what it sends is sent for it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider, PrivateKeyJWTOAuthProvider, SignedJWTParameters
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import AnyUrl, BaseModel, ValidationError

from dragoman.auth.documents import OFFLINE, auth_method
from dragoman.auth.errors import SettingsError
from dragoman.auth.record import Record
from dragoman.auth.settings import CLIENT_CREDENTIALS, POST, Settings

# It logs whole answers, tokens in them, before it raises what comes to us anyway.
logging.getLogger("mcp.client.auth").addHandler(logging.NullHandler())
logging.getLogger("mcp.client.auth").propagate = False

Model = TypeVar("Model", bound=BaseModel)
Registered = Callable[[OAuthClientInformationFull], None]


class Memory:
    """What the SDK calls its storage: it starts from a record, and tells of a registration as soon as there is one."""

    def __init__(self, tokens: OAuthToken | None, client: OAuthClientInformationFull | None, registered: Registered) -> None:
        self._tokens = tokens
        self._client = client
        self._registered = registered

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info
        self._registered(client_info)


def client_of(settings: Settings, record: Record, redirect: str, now: float) -> OAuthClientInformationFull | None:
    """Whom we are to the authorization server already: registered beforehand, or by an earlier flow with the same redirect URI."""
    if settings.client_id:
        method = auth_method(record.metadata, secret=bool(settings.client_secret), wanted=settings.client_auth)
        return OAuthClientInformationFull(
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            token_endpoint_auth_method=method,
            redirect_uris=[AnyUrl(redirect)] if redirect else None,
        )
    if record.client is None or redirect not in ("", record.redirect):
        return None
    client = _model(OAuthClientInformationFull, record.client)
    ends = client.client_secret_expires_at if client is not None else None
    return None if ends and now >= ends else client


def tokens_of(record: Record) -> OAuthToken | None:
    """The kept tokens as the SDK has them."""
    if not record.access_token:
        return None
    return OAuthToken(access_token=record.access_token, refresh_token=record.refresh_token or None, scope=record.scope or None)


def interactive(
    record: Record,
    settings: Settings,
    redirect: str,
    memory: Memory,
    show: Callable[[str], Awaitable[None]] | None = None,
    answer: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None,
) -> OAuthClientProvider:
    """For the authorization code, and for refreshing."""
    metadata = OAuthClientMetadata(client_name="dragoman", redirect_uris=[AnyUrl(redirect)])
    return OAuthClientProvider(record.server, metadata, memory, show, answer, settings.client_metadata_url or None)


def machine(record: Record, settings: Settings, memory: Memory) -> OAuthClientProvider:
    """For client credentials."""
    assert settings.grant == CLIENT_CREDENTIALS
    issuer, scope = settings.issuer or None, settings.scope or None
    with warnings.catch_warnings():
        # Without an issuer in the settings, the first one that the server names is kept and compared by the flow.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        if settings.private_key:
            signed = SignedJWTParameters(
                issuer=settings.client_id,
                subject=settings.client_id,
                signing_key=settings.private_key,
                signing_algorithm=_algorithm(settings.private_key),
            )
            return PrivateKeyJWTOAuthProvider(
                record.server, memory, settings.client_id, signed.create_assertion_provider(), scope=scope, issuer=issuer
            )
        method = auth_method(record.metadata, secret=True, wanted=settings.client_auth)
        return ClientCredentialsOAuthProvider(
            record.server,
            memory,
            settings.client_id,
            settings.client_secret,
            token_endpoint_auth_method="client_secret_post" if method == POST else "client_secret_basic",
            scope=scope,
            issuer=issuer,
        )


def restore(provider: OAuthClientProvider, record: Record) -> None:
    """Let the provider know what was discovered before."""
    context = provider.context
    context.protected_resource_metadata = _model(ProtectedResourceMetadata, record.resource)
    context.oauth_metadata = _model(OAuthMetadata, record.metadata)
    if context.oauth_metadata is not None:  # the SDK asks for all of them where nobody names one
        known = context.oauth_metadata.scopes_supported or ()
        context.oauth_metadata.scopes_supported = [OFFLINE] if OFFLINE in known else None
    if context.protected_resource_metadata is not None and context.oauth_metadata is not None:
        context.auth_server_url = str(context.oauth_metadata.issuer)


def _model(kind: type[Model], value: dict[str, Any] | None) -> Model | None:
    if value is None:
        return None
    try:
        return kind.model_validate(value)
    except ValidationError:
        return None


def _algorithm(pem: str) -> str:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SettingsError("the private key is no PEM of an unencrypted private key") from None
    if isinstance(key, rsa.RSAPrivateKey):
        return "RS256"
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}.get(key.curve.name, "ES256")
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return "EdDSA"
    raise SettingsError("the private key is of a kind that cannot sign here: RSA, EC and Ed25519 can")

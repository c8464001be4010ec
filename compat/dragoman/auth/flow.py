"""One flow of authorization, from a record to a record (2026-07-28, basic/authorization).

Theory of operation. The SDK's flow is a generator that yields requests and takes answers. The one that stands for the request to the
MCP server is answered with the challenge that the server gave; all others are sent by ``Wire``. On their way the documents
of the discovery are looked at as they came, and before anything is sent that could carry a secret or open a page, ``_vouch``
decides whether this is the authorization server that our credentials are for. A flow ends with new tokens, or with one
``AuthError``; the record it began with is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull
from msgspec.structs import replace
from pydantic import ValidationError

from dragoman.auth import documents, sdk
from dragoman.auth.challenge import Challenge
from dragoman.auth.errors import AuthError, Refused
from dragoman.auth.login import Login
from dragoman.auth.record import Record
from dragoman.auth.redirect import shown
from dragoman.auth.settings import BASIC, CLIENT_CREDENTIALS, KEY, NO_SECRET, Settings
from dragoman.auth.wire import Wire, remade
from dragoman_specs.version import LATEST_MODERN

_PROTOCOL_VERSION = {"MCP-Protocol-Version": str(LATEST_MODERN)}  # with it, the SDK sends ``resource`` always
_TOKEN = re.compile(r"[!-~]+")
_LONG_AGO = 1.0
_LIKE_A_TOKEN = re.compile(r"(?=[^\s]*[0-9])[^\s]{16,}")


class NotMoved(Exception):
    """The authorization server is the one that issued the token which was refused."""


class Flow:
    """Used once, for ``refreshed`` or ``authorized``."""

    def __init__(self, record: Record, settings: Settings, clock: Callable[[], float], save: Callable[[Record], None]) -> None:
        self.record = record
        self._settings = settings
        self._clock = clock
        self._save = save
        self._local = documents.is_loopback(record.server)
        self._challenge = Challenge()
        self._only_if_moved = False
        self._login: Login | None = None
        self._state = ""
        self._provider: OAuthClientProvider
        self._asked: httpx2.Response
        self._resource = record.resource
        self._metadata = record.metadata
        self._issuer = record.issuer

    # -- the two flows ---------------------------------------------------------------------------------------------

    async def refreshed(self) -> Record:
        """New tokens for the refresh token. Raises ``Refused`` if it is good no more, ``AuthError`` if that cannot be known."""
        record = self.record
        memory = sdk.Memory(sdk.tokens_of(record), sdk.client_of(self._settings, record, "", self._clock()), self._registered)
        provider = self._provider = sdk.interactive(record, self._settings, record.redirect or self._settings.redirect, memory)
        sdk.restore(provider, record)
        provider.context.token_expiry_time = _LONG_AGO
        await self._run(None)
        return replace(self._outcome(), refreshed_at=self._clock())

    async def authorized(self, status: int, challenge: Challenge, login: Login, *, only_if_moved: bool = False) -> Record:
        """New tokens for a challenge of the server, by a login or with credentials of our own.

        Raises ``NotMoved``, before anybody is bothered, if that was asked for.
        """
        record, settings = self.record, self._settings
        self._challenge = (
            replace(challenge, scope=documents.union(challenge.scope, settings.scope)) if settings.scope and status == 401 else challenge
        )
        self._only_if_moved = only_if_moved
        self._login = login
        if settings.grant == CLIENT_CREDENTIALS:
            self._provider = sdk.machine(record, settings, sdk.Memory(sdk.tokens_of(record), None, self._registered))
            return await self._challenged(status)
        await login.listener.open(record.redirect)
        try:
            redirect = login.listener.uri
            memory = sdk.Memory(sdk.tokens_of(record), sdk.client_of(settings, record, redirect, self._clock()), self._registered)
            self._provider = sdk.interactive(record, settings, redirect, memory, self._show, self._answered)
            return await self._challenged(status)
        finally:
            await login.listener.close()

    async def _challenged(self, status: int) -> Record:
        if status == 403:  # the SDK adds to the scope then, and discovers only what it does not know
            sdk.restore(self._provider, self.record)
            self._choose_method(self.record.metadata)
        await self._run(httpx2.Response(status, headers={"WWW-Authenticate": self._challenge.field()}))
        return replace(self._outcome(), logged_in_at=self._clock(), refreshed_at=0.0)

    # -- driving the SDK -------------------------------------------------------------------------------------------

    async def _run(self, challenge: httpx2.Response | None) -> None:
        """Until the request to the server would be sent, a second time if the first is answered with ``challenge``."""
        request = httpx2.Request("POST", self.record.server, headers=_PROTOCOL_VERSION)
        flow = self._provider.async_auth_flow(request)
        try:
            async with Wire(self._settings, local=self._local) as wire:
                outgoing = await anext(flow)
                while outgoing is not request or challenge is not None:
                    if outgoing is request and challenge is not None:
                        answer, self._asked, challenge = challenge, challenge, None
                    else:
                        answer = await self._exchange(wire, outgoing)
                    outgoing = await flow.asend(answer)
        except ValidationError:  # its text quotes what was sent
            raise AuthError("the authorization server sent what cannot be read as an answer of OAuth") from None
        except OAuthFlowError as fault:
            raise AuthError(_told(fault)) from None
        finally:
            await flow.aclose()

    async def _exchange(self, wire: Wire, outgoing: httpx2.Request) -> httpx2.Response:
        if outgoing.method == "GET":
            return self._noted(await wire.send(outgoing))
        self._vouch()
        answer = await wire.send(outgoing)
        if answer.status_code not in (200, 201) and answer.next_request is None:
            raise _refusal(outgoing, answer)
        return answer

    def _noted(self, answer: httpx2.Response) -> httpx2.Response:
        """A document of the discovery, as the SDK is to see it."""
        document = documents.read(answer.content) if answer.status_code == 200 else None
        if document is None:
            return answer
        if documents.is_resource(document):
            document = documents.preferring(document, self._settings.issuer or self.record.issuer)
            self._resource, self._metadata = document, None
        else:
            self._metadata = document
            document = self._shaped(document)
        return remade(answer, documents.written(document))

    def _shaped(self, document: documents.Document) -> documents.Document:
        self._choose_method(document)
        has_resource = self._provider.context.protected_resource_metadata is not None
        wanted = self._challenge.scope or " ".join(documents.texts(self._resource if has_resource else None, "scopes_supported") or ())
        is_same = documents.text(document, "issuer") == self.record.issuer
        document, scope = documents.scope_to_ask(document, wanted, self.record.scope if is_same else "")
        self._asked.headers["WWW-Authenticate"] = replace(self._challenge, scope=scope).field()
        return document

    def _choose_method(self, metadata: documents.Document | None) -> None:
        context, settings = self._provider.context, self._settings
        if not settings.client_id:
            context.client_metadata.token_endpoint_auth_method = documents.method_to_register(metadata)
        elif context.client_info is not None and settings.client_auth != KEY:
            has_secret = bool(settings.client_secret)
            context.client_info.token_endpoint_auth_method = documents.auth_method(metadata, secret=has_secret, wanted=settings.client_auth)

    # -- trust -----------------------------------------------------------------------------------------------------

    def _vouch(self) -> None:
        """Before secrets are sent and pages opened: is this the authorization server of the MCP server, and the one of our credentials?"""
        context, metadata, record = self._provider.context, self._metadata, self.record
        has_resource = context.protected_resource_metadata is not None
        servers = documents.texts(self._resource if has_resource else None, "authorization_servers")
        named = servers[0] if servers else documents.origin(record.server)
        if context.oauth_metadata is None or metadata is None:
            if has_resource:
                raise AuthError(f"the authorization server {named} has no metadata")
            self._issuer = ""  # of 2025-03-26 without metadata: the server's own default endpoints
        else:
            if not has_resource and documents.text(metadata, "issuer") == f"{named}/":
                named += "/"
            documents.check_server(metadata, named, pkce=self._settings.grant != CLIENT_CREDENTIALS, local=self._local)
            self._issuer = named
        self._compare_issuer(named)

    def _compare_issuer(self, named: str) -> None:
        settings, record = self._settings, self.record
        bound = settings.issuer
        if not bound and settings.client_id and settings.client_id == record.client_id:
            bound = record.issuer
        if bound and bound != self._issuer:
            raise AuthError(f"our credentials are for {bound}, but the server now wants tokens of {named}: they are not sent there")
        if self._only_if_moved and self._issuer == record.issuer:
            raise NotMoved

    # -- the person ------------------------------------------------------------------------------------------------

    async def _show(self, url: str) -> None:
        self._vouch()
        documents.check_address(url, local=self._local)
        self._settle()
        announces = self._metadata is not None and self._metadata.get("authorization_response_iss_parameter_supported") is True
        assert self._login is not None
        self._state = httpx2.URL(url).params["state"]
        await self._login.show(url, self._issuer, announces_issuer=announces and bool(self._issuer))

    async def _answered(self) -> AuthorizationCodeResult:
        assert self._login is not None
        code = await self._login.code()
        # ``iss`` has been compared with the issuer as it is written; the SDK has its own writing of it.
        metadata = self._provider.context.oauth_metadata
        return AuthorizationCodeResult(code=code, state=self._state, iss=None if metadata is None else str(metadata.issuer))

    def _settle(self) -> None:
        """How the client that was registered shows who it is, if its registration does not say."""
        context = self._provider.context
        client = context.client_info
        if client is not None and client.token_endpoint_auth_method is None:
            wanted = context.client_metadata.token_endpoint_auth_method
            client.token_endpoint_auth_method = (wanted or BASIC) if client.client_secret else NO_SECRET

    def _registered(self, client: OAuthClientInformationFull) -> None:
        """Kept at once: if the login fails, the next one need not register again.

        Not beside tokens, which belong to the client that they were issued to.
        """
        self._vouch()
        assert self._login is not None
        if not self.record.access_token:
            self.record = replace(
                self.record,
                issuer=self._issuer,
                client=client.model_dump(mode="json", exclude_none=True),
                redirect=self._login.listener.uri,
                metadata=self._metadata,
                resource=self._known_resource(),
            )
            self._save(self.record)

    def _known_resource(self) -> documents.Document | None:
        return self._resource if self._provider.context.protected_resource_metadata is not None else None

    # -- the end ---------------------------------------------------------------------------------------------------

    def _outcome(self) -> Record:
        context = self._provider.context
        tokens, client = context.current_tokens, context.client_info
        if tokens is None or client is None or _TOKEN.fullmatch(tokens.access_token) is None:
            raise AuthError("the authorization server sent no usable token")
        is_ours = bool(self._settings.client_id)
        now = self._clock()  # a person may have taken minutes
        return replace(
            self.record,
            issuer=self._issuer,
            client_id=client.client_id,
            access_token=tokens.access_token,
            # What a machine gets with its own credentials it gets again with them.
            refresh_token="" if self._settings.grant == CLIENT_CREDENTIALS else tokens.refresh_token or "",
            scope=tokens.scope or "",
            obtained_at=now,
            expires_at=now + tokens.expires_in if tokens.expires_in and tokens.expires_in > 0 else None,
            client=None if is_ours else client.model_dump(mode="json", exclude_none=True),
            metadata=self._metadata,
            resource=self._known_resource(),
            redirect=self._login.listener.uri if self._login is not None and self._login.listener.port else self.record.redirect,
        )


def _refusal(outgoing: httpx2.Request, answer: httpx2.Response) -> AuthError:
    what = "the registration" if outgoing.headers.get("Content-Type", "").startswith("application/json") else "the token"
    where = documents.origin(str(outgoing.url))
    if answer.status_code >= 500 or answer.status_code == 429:
        return AuthError(f"{where} answered the request for {what} with status {answer.status_code}")
    document = documents.read(answer.content)
    code, described = documents.text(document, "error"), documents.text(document, "error_description")
    if not code and what == "the registration" and answer.status_code in (404, 405):
        return AuthError(
            f"{where} lets no client register by itself: give the client id of one that was registered there (and how it logs in)"
        )
    words = f": {shown(code)}" if code else ""
    if described and not _is_quoted(described, outgoing):
        words += f" ({_LIKE_A_TOKEN.sub('…', shown(described))})"
    return Refused(f"{where} refused {what} with status {answer.status_code}{words}", code)


def _is_quoted(words: str, outgoing: httpx2.Request) -> bool:
    """Whether an error text repeats something that was sent, which could be a secret."""
    sent: Any = httpx2.QueryParams(outgoing.content.decode("latin-1"))
    return any(len(value) > 7 and value in words for value in sent.values())


def _told(fault: OAuthFlowError) -> str:
    """Texts of the SDK's that are about metadata are safe; those about answers quote them."""
    return f"{fault}" if type(fault) is OAuthFlowError else "the authorization server sent what cannot be read as an answer of OAuth"

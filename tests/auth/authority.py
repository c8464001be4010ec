"""An authorization server and a protected MCP server for tests: real HTTP on loopback ports, every fault a switch.

Both keep what they were asked. The authorization server checks what it is sent as a strict one would: client, redirect URI, state of the
code, PKCE, client authentication; and it ends a grant whose refresh token is used twice.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import itertools
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import jwt
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp

JsonObject = dict[str, Any]


@contextlib.contextmanager
def serving(app: ASGIApp) -> Iterator[int]:
    """Serve on a free port, which is given out; connections wait in the listening socket until the server is there."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    config = uvicorn.Config(app, lifespan="off", log_config=None, ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


class Authority:
    """The authorization server; ``reset`` puts every switch back."""

    def __init__(self) -> None:
        self.base = ""
        self.app = Starlette()
        self.app.add_route("/{path:path}", self._route, methods=["GET", "POST"])
        self.reset()

    def reset(self) -> None:
        self.prefix = ""  # the path of the issuer
        self.metadata_at = ["/.well-known/oauth-authorization-server"]
        self.metadata: JsonObject = {}  # overrides; None removes a member
        self.names_itself: str | None = None  # as issuer, instead of what it is
        self.iss: str | None = "right"  # right, None (left out), or the value
        self.denies: tuple[str, str] | None = None
        self.clients: dict[str, JsonObject] = {}
        self.keys: dict[str, Any] = {}  # public ones, of clients that sign
        self.registration: JsonObject = {}  # added to the answer
        self.refuses_registration: tuple[int, JsonObject] | None = None
        self.token_fault: tuple[int, JsonObject] | None = None
        self.lifetime: int | None = 3600
        self.grants_refresh = True
        self.grants_scope: str | None = None  # whatever was asked for
        self.held: asyncio.Event | None = None
        self.codes: dict[str, JsonObject] = {}
        self.access: dict[str, JsonObject] = {}
        self.refresh: dict[str, JsonObject] = {}
        self.log: list[tuple[str, JsonObject]] = []
        self.revoked: list[str] = []
        self._numbers = itertools.count(1)

    @property
    def issuer(self) -> str:
        return self.base + self.prefix

    def asked(self, path: str) -> list[JsonObject]:
        """The parameters of every request to that path."""
        return [values for where, values in self.log if where == path]

    def know(self, client_id: str, secret: str = "", method: str = "none", **more: Any) -> None:
        """A client that was registered beforehand."""
        self.clients[client_id] = {"secret": secret, "method": method, "redirect_uris": None, **more}

    def void(self, token: str) -> None:
        """A token that is good no more."""
        self.access.pop(token)

    # -- endpoints -------------------------------------------------------------------------------------------------

    async def _route(self, request: Request) -> Response:
        path = request.url.path
        form = dict(await request.form()) if request.method == "POST" and "form" in request.headers.get("content-type", "") else {}
        values: JsonObject = {**dict(request.query_params), **form}
        if request.method == "POST" and path == f"{self.prefix}/register":
            values = await request.json()
        self.log.append((path, {**values, "headers": dict(request.headers)}))
        if path in self.metadata_at:
            return JSONResponse(self._metadata())
        handlers = {"/authorize": self._authorize, "/register": self._register, "/token": self._token, "/revoke": self._revoke}
        handler = handlers.get(path.removeprefix(self.prefix))
        return Response(status_code=404) if handler is None else await handler(request, values)

    def _metadata(self) -> JsonObject:
        whole: JsonObject = {
            "issuer": self.names_itself or self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return {name: value for name, value in whole.items() if value is not None}

    async def _authorize(self, request: Request, values: JsonObject) -> Response:
        client = self.clients.get(values.get("client_id", ""))
        if client is None and values.get("client_id", "").startswith("https://"):  # its document is not fetched here
            client = {"secret": "", "method": "none", "redirect_uris": None}
            self.clients[values["client_id"]] = client
        redirect = values.get("redirect_uri", "")
        if client is None or (client["redirect_uris"] is not None and redirect not in client["redirect_uris"]):
            return Response("unknown client", status_code=400)
        answer: JsonObject = {"state": values.get("state")}
        if self.iss is not None:
            answer["iss"] = self.issuer if self.iss == "right" else self.iss
        if self.denies is not None:
            answer |= dict(zip(("error", "error_description"), self.denies, strict=True))
        else:
            assert values["response_type"] == "code"
            assert values["code_challenge_method"] == "S256"
            code = secrets.token_urlsafe(16)
            self.codes[code] = values
            answer["code"] = code
        return RedirectResponse(f"{redirect}?{urlencode(answer)}", status_code=302)

    async def _register(self, request: Request, values: JsonObject) -> Response:
        if self.refuses_registration is not None:
            status, body = self.refuses_registration
            return JSONResponse(body, status)
        number = next(self._numbers)
        method = values.get("token_endpoint_auth_method", "client_secret_basic")
        answer = {**values, "client_id": f"client-{number}", "token_endpoint_auth_method": method, **self.registration}
        if answer.get("token_endpoint_auth_method") != "none":
            answer["client_secret"] = f"secret-of-client-{number}"
        answer = {name: value for name, value in answer.items() if value is not None}
        kept = {"secret": answer.get("client_secret", ""), "method": answer.get("token_endpoint_auth_method", "client_secret_basic")}
        self.clients[answer["client_id"]] = {**kept, "redirect_uris": values["redirect_uris"]}
        return JSONResponse(answer, 201)

    async def _token(self, request: Request, values: JsonObject) -> Response:
        if self.held is not None:
            await self.held.wait()
        if self.token_fault is not None:
            status, body = self.token_fault
            return JSONResponse(body, status)
        client_id = self._authenticated(request, values)
        if client_id is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        grant = values["grant_type"]
        if grant == "authorization_code":
            return self._exchange(client_id, values)
        if grant == "client_credentials":
            return JSONResponse(self._issue(client_id, values.get("scope", ""), values.get("resource"), refreshable=False))
        old = self.refresh.pop(values["refresh_token"], None)
        if old is None or old["client_id"] != client_id or old["family"] in self.revoked:
            if old is not None:
                self.revoked.append(old["family"])
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(self._issue(client_id, old["scope"], values.get("resource"), family=old["family"]))

    def _exchange(self, client_id: str, values: JsonObject) -> Response:
        asked = self.codes.pop(values["code"], None)
        digest = base64.urlsafe_b64encode(hashlib.sha256(values["code_verifier"].encode()).digest()).decode().rstrip("=")
        wanted = None if asked is None else (asked["client_id"], asked["redirect_uri"], asked["code_challenge"], asked.get("resource"))
        if wanted != (client_id, values["redirect_uri"], digest, values.get("resource")):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(self._issue(client_id, asked.get("scope", ""), values.get("resource")))

    def _authenticated(self, request: Request, values: JsonObject) -> str | None:
        field = request.headers.get("authorization", "")
        if "client_assertion" in values:
            claimed = jwt.decode(values["client_assertion"], options={"verify_signature": False})["sub"]
            assert values["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            jwt.decode(values["client_assertion"], self.keys[claimed], ["ES256", "RS256", "EdDSA"], audience=self.issuer, issuer=claimed)
            return claimed
        if field.startswith("Basic "):
            client_id, _, secret = base64.b64decode(field[6:]).decode().partition(":")
            client_id, secret, method = unquote(client_id), unquote(secret), "client_secret_basic"
        else:
            client_id, secret = values.get("client_id", ""), values.get("client_secret", "")
            method = "client_secret_post" if secret else "none"
        known = self.clients.get(client_id)
        return client_id if known is not None and (known["method"], known["secret"]) == (method, secret) else None

    def _issue(self, client_id: str, scope: str, resource: str | None, *, family: str = "", refreshable: bool = True) -> JsonObject:
        number = next(self._numbers)
        granted = scope if self.grants_scope is None else self.grants_scope
        access, refresh, family = (
            f"access-{number}-{secrets.token_hex(4)}",
            f"refresh-{number}-{secrets.token_hex(4)}",
            family or str(number),
        )
        self.access[access] = {"scope": granted, "resource": resource, "client_id": client_id}
        answer: JsonObject = {"access_token": access, "token_type": "bearer"}
        if self.lifetime is not None:
            answer["expires_in"] = self.lifetime
        if granted:
            answer["scope"] = granted
        if self.grants_refresh and refreshable:
            self.refresh[refresh] = {"scope": granted, "client_id": client_id, "family": family}
            answer["refresh_token"] = refresh
        return answer

    async def _revoke(self, request: Request, values: JsonObject) -> Response:
        self.revoked.append(values["token"])
        return Response(status_code=200 if self._authenticated(request, values) else 401)


class Protected:
    """The MCP server: it answers nothing but who may in."""

    def __init__(self) -> None:
        self.base = ""
        self.app = Starlette()
        self.app.add_route("/mcp", self._mcp, methods=["POST"])
        self.app.add_route("/{path:path}", self._document, methods=["GET", "POST"])

    def reset(self, authority: Authority) -> None:
        self.authority = authority
        self.document_at: str | None = "/.well-known/oauth-protected-resource/mcp"
        self.document: JsonObject = {}
        self.servers: list[str] | None = None
        self.tells_where = True
        self.first_scope = ""
        self.needed_scope = ""  # of every request; refused with 403
        self.accepts: Callable[[str], bool] = lambda token: token in self.authority.access
        self.challenge: str | None = None  # instead of what it would be
        self.log: list[str] = []

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    async def _document(self, request: Request) -> Response:
        if request.url.path != self.document_at:
            # Of 2025-03-26, a server may be its own authorization server.
            return await self.authority._route(request) if self.authority.base == self.base else Response(status_code=404)
        servers = [self.authority.issuer] if self.servers is None else self.servers
        whole = {"resource": self.url, "authorization_servers": servers, **self.document}
        return JSONResponse({name: value for name, value in whole.items() if value is not None})

    async def _mcp(self, request: Request) -> Response:
        await request.body()
        field = request.headers.get("authorization", "")
        self.log.append(field)
        token = field.removeprefix("Bearer ")
        if not field or not self.accepts(token):
            return self._refusal(401, {"scope": self.first_scope})
        have = self.authority.access.get(token, {}).get("scope", "").split()
        if not set(self.needed_scope.split()) <= set(have):
            return self._refusal(403, {"error": "insufficient_scope", "scope": self.needed_scope})
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}})

    def _refusal(self, status: int, values: JsonObject) -> Response:
        if self.tells_where and self.document_at is not None:
            values["resource_metadata"] = self.base + self.document_at
        field = "Bearer " + ", ".join(f'{name}="{value}"' for name, value in values.items() if value)
        return Response(status_code=status, headers={"WWW-Authenticate": field if self.challenge is None else self.challenge})


def path_of(url: str) -> str:
    return urlsplit(url).path

"""The requests of an authorization: discovery, registration, tokens (basic/authorization/security-considerations#communication-security).

Each answer is small, comes in time, and comes over HTTPS. Addresses are the server's choice: one that leads to plain HTTP is
refused, or a server could have us call what only this machine can reach. Redirects are left to the SDK, which follows
those within an origin.
"""

from __future__ import annotations

import asyncio
import ssl
from functools import lru_cache
from types import TracebackType
from typing import Self

import httpx2

from dragoman import __version__
from dragoman.auth.documents import check_address, origin
from dragoman.auth.errors import AuthError
from dragoman.auth.settings import Settings

_MOST = 1 << 20
_OF_BODY = frozenset(("content-encoding", "content-length", "transfer-encoding"))
_HEADERS = {"Accept": "application/json", "User-Agent": f"dragoman/{__version__}"}


class Wire:
    """A short-lived HTTP client; ``local`` says that the server itself is on this machine."""

    def __init__(self, settings: Settings, *, local: bool) -> None:
        self._local = local
        self._timeout = settings.request_timeout
        # What stays on this machine is no business of a proxy.
        self._client = httpx2.AsyncClient(
            verify=_context(settings.ca), timeout=settings.request_timeout, follow_redirects=False, trust_env=not local
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        await self._client.aclose()

    async def send(self, request: httpx2.Request, *, body: bool = True) -> httpx2.Response:
        """The whole answer, or its head alone."""
        check_address(str(request.url), local=self._local)
        for name, value in _HEADERS.items():
            request.headers.setdefault(name, value)
        where = origin(str(request.url))
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._client.send(request, stream=True)
                try:
                    return await self._whole(answer) if body else answer
                finally:
                    await answer.aclose()
        except TimeoutError:
            raise AuthError(f"{where} did not answer within {self._timeout:g} s") from None
        except httpx2.HTTPError as fault:
            # The text of a fault is the library's own; still it is not passed on, for it may quote what was sent.
            raise AuthError(f"cannot reach {where} ({type(fault).__name__})") from None

    async def _whole(self, answer: httpx2.Response) -> httpx2.Response:
        parts: list[bytes] = []
        size = 0
        async for part in answer.aiter_bytes():
            size += len(part)
            if size > _MOST:
                raise AuthError(f"{origin(str(answer.request.url))} sent more than {_MOST} bytes")
            parts.append(part)
        return remade(answer, b"".join(parts))


def remade(answer: httpx2.Response, body: bytes) -> httpx2.Response:
    """The same answer with another body, as far as a reader of bodies can tell."""
    fields = [(name, value) for name, value in answer.headers.multi_items() if name not in _OF_BODY]
    whole = httpx2.Response(answer.status_code, headers=fields, content=body, request=answer.request)
    whole.next_request = answer.next_request
    return whole


@lru_cache(maxsize=4)
def _context(authorities: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authorities:
        try:
            context.load_verify_locations(authorities)
        except OSError as fault:
            raise AuthError(f"cannot read the certificate authorities of {authorities}: {fault.strerror or fault}") from fault
    return context

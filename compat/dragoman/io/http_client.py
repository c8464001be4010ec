"""HTTP requests to one server behind a URL: connections, TLS, proxies, redirects, credentials.

aiohttp does the work. What it must not do by itself is switched off: it keeps no cookies, follows no redirect and reads no ``.netrc``.

A redirect is followed where it can only mean "the same, over there": the method and the body stay, an unencrypted place is never
taken for an encrypted one, and another origin gets neither credentials nor session.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import aiohttp
from yarl import URL

from dragoman import __version__
from dragoman.io.exchanges import Response
from dragoman.io.http_settings import Credentials, HttpSettings, Unusable, Who
from dragoman.io.limits import requests_at_once
from dragoman.remote.effects import BROKEN, NO_CREDENTIALS, SILENT, UNSENT, Trouble
from dragoman.remote.urls import Origin, origin_of, shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CONNECT_TIMEOUT = 10.0
IDLE = 4.0
"""Seconds that an unused connection is kept: common servers close theirs after 5, and a request must not meet that."""
_REDIRECTS = (301, 302, 307, 308)
_COMMON = {"User-Agent": f"dragoman/{__version__}"}
_CONTENT = {
    "GET": _COMMON,
    "DELETE": _COMMON,
    "POST": {**_COMMON, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
}
_HOPS = 5
_HOSTS = 64
_SECRET = 6  # shorter values are no secrets, and would be found everywhere
_CHALLENGES = 3
_SESSION = "mcp-session-id"
_KEPT_AWAY = frozenset(("authorization", "cookie", "proxy-authorization"))


class HttpTrouble(Exception):
    """An exchange came to nothing."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.text)
        self.trouble = trouble


class HttpClient:
    """Requests to one server, in the running loop. ``credentials`` are asked before each, and when one is refused."""

    def __init__(self, settings: HttpSettings, credentials: Credentials | None = None, *, connect_timeout: float = CONNECT_TIMEOUT) -> None:
        self.settings = settings
        self.credentials = credentials
        self.on_redirect: Callable[[str], None] = lambda _text: None
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE, ssl=_tls(settings), socket_factory=_socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout),
            skip_auto_headers=("Content-Type", "User-Agent", "Accept"),
            max_line_size=64 * 1024,
            max_field_size=64 * 1024,
        )
        self.turns = asyncio.Semaphore(requests_at_once())
        self._told: set[Origin] = set()
        self._proxies: dict[Origin | None, str | None] = {}
        self._sessions: dict[str, Origin | None] = {}
        self._secrets: dict[str, None] = {}

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        url: str = "",
        who: Who | None = None,
        patience: float | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request and the head of its answer, redirects and challenges behind it. Raises ``HttpTrouble``.

        ``who`` is for whom, if it is not whoever runs us; ``patience`` is for the server, in seconds: a person who logs in has more.
        """
        who = who or Who(None, self.credentials)
        known = await self._known(who)
        fields = {**_CONTENT[method], **headers}
        response = await self._in_time(patience, method, fields, known, body, url)
        for _ in range(_CHALLENGES):
            if response.status not in (401, 403) or not await self._challenged(response, known, who):
                break
            response.release()
            known = await self._known(who)
            response = await self._in_time(patience, method, fields, known, body, url)
        try:
            yield response
        finally:
            response.close()

    async def _in_time(
        self, patience: float | None, method: str, headers: Mapping[str, str], known: Mapping[str, str], body: bytes, url: str
    ) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(patience):
                return await self._follow(method, headers, known, body, url or self.settings.url)
        except TimeoutError:
            raise HttpTrouble(Trouble(SILENT, "no answer in time")) from None

    async def _known(self, who: Who) -> dict[str, str]:
        """What is sent because of who we are, or who our client is."""
        known = dict(self.settings.headers)
        try:
            return await self._shown(known, who)
        finally:
            self._remember_secrets(known)

    def _remember_secrets(self, known: Mapping[str, str]) -> None:
        for value in known.values():
            for part in (value, value.partition(" ")[2]):
                if len(part) >= _SECRET and part not in self._secrets:
                    if len(self._secrets) >= _HOSTS:
                        self._secrets.pop(next(iter(self._secrets)))
                    self._secrets[part] = None

    def redacted(self, text: str) -> str:
        """A text of the server's without what it repeats of who we are."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return text

    async def _shown(self, known: dict[str, str], who: Who) -> dict[str, str]:
        if who.authorization is not None:
            known["Authorization"] = who.authorization
        elif who.credentials is not None:
            try:
                known.update(await who.credentials.apply())
            except Exception as fault:
                raise HttpTrouble(Trouble(NO_CREDENTIALS, str(fault) or type(fault).__name__, final=True)) from fault
        return known

    async def _challenged(self, response: aiohttp.ClientResponse, used: Mapping[str, str], who: Who) -> bool:
        if who.authorization is not None or who.credentials is None:
            return False
        try:
            return await who.credentials.challenged(response.status, fields_of(response), used)
        except Exception as fault:
            response.release()
            challenge = fields_of(response).get("www-authenticate", "")
            text = str(fault) or type(fault).__name__
            raise HttpTrouble(Trouble(NO_CREDENTIALS, text, final=True, status=response.status, challenge=challenge)) from fault

    async def _follow(
        self, method: str, headers: Mapping[str, str], known: Mapping[str, str], body: bytes, url: str
    ) -> aiohttp.ClientResponse:
        """The answer, from wherever redirects lead."""
        everything: Mapping[str, str] = {**headers, **known}
        for _ in range(_HOPS):
            response = await self._once(method, everything, body, url)
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or not location:
                self._note_session(response, url)
                return response
            response.release()
            try:
                target = urljoin(url, location)
                everything = self._carried(url, target, everything, known)
            except ValueError:
                raise HttpTrouble(Trouble(UNSENT, "it redirects to what is no URL", final=True)) from None
            url = target
        raise HttpTrouble(Trouble(UNSENT, f"more than {_HOPS} redirects", final=True))

    def _note_session(self, response: aiohttp.ClientResponse, url: str) -> None:
        """A session is its issuer's: behind a redirect its id goes there, and nowhere else."""
        session = response.headers.get(_SESSION)
        if session is not None and url != self.settings.url:
            if len(self._sessions) >= _HOSTS:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[session] = origin_of(url)

    def _carried(self, url: str, target: str, everything: Mapping[str, str], known: Mapping[str, str]) -> Mapping[str, str]:
        """The fields that go along to ``target``."""
        here, there = origin_of(url), origin_of(target)
        if here is None or there is None or not there[1]:
            raise HttpTrouble(Trouble(UNSENT, "it redirects to what is no URL", final=True))
        if there[0] not in ("http", "https") or (here[0] == "https" and there[0] != "https"):
            raise HttpTrouble(Trouble(UNSENT, f"it redirects to {shown(target)}, which is not encrypted", final=True))
        if here == there or (here[1] == there[1] and here[0] == "http" and (here[2], there[2]) == (80, 443)):
            return everything  # the same host, and encrypted from now on
        if there not in self._told and len(self._told) < _HOSTS:
            self._told.add(there)
            self.on_redirect(f"the server redirects to {shown(target)}: credentials are not sent there")
        secret = {name.lower() for name in known} | _KEPT_AWAY
        return {
            name: value
            for name, value in everything.items()
            if name.lower() not in secret and (name.lower() != _SESSION or self._sessions.get(value) == there)
        }

    async def _once(self, method: str, headers: Mapping[str, str], body: bytes, url: str) -> aiohttp.ClientResponse:
        try:
            return await self._session.request(
                method,
                URL(url, encoded=True),
                headers=headers,
                data=body or None,
                allow_redirects=False,
                proxy=self._proxy(url),
            )
        except Unusable as fault:
            raise HttpTrouble(Trouble(UNSENT, str(fault), final=True)) from None
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as fault:
            raise HttpTrouble(trouble_of(fault)) from None

    def _proxy(self, url: str) -> str | None:
        """The environment is read once for each host: reading it for a name can take longer than all else here."""
        key = origin_of(url)
        if key not in self._proxies:
            if len(self._proxies) >= _HOSTS:
                self._proxies.clear()
            self._proxies[key] = proxy_for(url)
        return self._proxies[key]


def fields_of(response: Response) -> dict[str, str]:
    """The fields of an answer, names in lower case; of several of one name all values."""
    fields: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        fields[key] = f"{fields[key]}, {value}" if key in fields else value
    return fields


def trouble_of(fault: BaseException) -> Trouble:
    """What an exception of the library's says about the request."""
    unsent = _unsent(fault)
    if unsent is not None:
        return unsent
    if isinstance(fault, asyncio.TimeoutError):
        return Trouble(SILENT, "no answer in time")
    if isinstance(fault, aiohttp.http_exceptions.ContentEncodingError):
        return Trouble(BROKEN, "its answer cannot be decoded", final=True)
    if isinstance(fault, aiohttp.ClientResponseError):
        return Trouble(BROKEN, f"its answer is no HTTP: {' '.join(fault.message.split())[:200]}", final=True)
    if isinstance(fault, aiohttp.ServerDisconnectedError):
        return Trouble(BROKEN, "it closed the connection without an answer")
    return Trouble(BROKEN, _reason(fault))


def _unsent(fault: BaseException) -> Trouble | None:
    """The request never reached the server."""
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        why = f"its certificate is not trusted: {_reason(fault.certificate_error)} (--ca FILE names another authority)"
    elif isinstance(fault, aiohttp.ClientSSLError):
        why = f"no encrypted connection: {_reason(fault)}"
    elif isinstance(fault, aiohttp.ClientConnectorDNSError):
        why = f"the name {fault.host} is not known"
    elif isinstance(fault, aiohttp.ClientHttpProxyError):
        why = f"the proxy refused the connection with status {fault.status}"
    elif isinstance(fault, aiohttp.ClientProxyConnectionError):
        return Trouble(UNSENT, f"its proxy cannot be reached: {_reason(fault.os_error)}")
    elif isinstance(fault, aiohttp.ClientConnectorError):
        return Trouble(UNSENT, _reason(fault.os_error))
    elif isinstance(fault, aiohttp.InvalidURL | ValueError):
        why = "the request cannot be written: its URL or a field is not one of HTTP"
    elif isinstance(fault, aiohttp.ConnectionTimeoutError):
        why = "no connection in time"
    else:
        return None
    return Trouble(UNSENT, why, final=True)


def _reason(fault: BaseException) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        return fault.verify_message
    for each in (fault, fault.__cause__):
        number = each.errno if isinstance(each, OSError) else None
        if number is not None and number in errno.errorcode:
            return os.strerror(number).lower()
    # The library's own words may hold the whole URL, and that a secret.
    return "the connection was cut" if isinstance(fault, aiohttp.ClientPayloadError | ConnectionError) else type(fault).__name__


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL; none for this machine's own addresses."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or _is_loopback(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise Unusable(f"the proxy {urlsplit(proxy).scheme}://… is of a kind that is not supported: an HTTP proxy is needed")
    return proxy


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _tls(settings: HttpSettings) -> ssl.SSLContext | bool:
    if settings.ca is None:
        return True  # the library's own context verifies as much, and has been made already
    context = ssl.create_default_context()
    context.load_verify_locations(cafile=settings.ca)
    return context


def _socket(info: tuple[int, int, int, str, tuple[object, ...]]) -> socket.socket:
    """A socket that notices when its peer has vanished: without a word nothing else would, on a stream that may be quiet for hours."""
    made = socket.socket(info[0], info[1], info[2])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 60_000)):
        option = getattr(socket, name, None)
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made

"""Where the browser brings the authorization response: a port of this machine, open during a login only (RFC 8252, section 7.3)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from dragoman.auth.errors import AuthError
from dragoman.auth.redirect import Code, Denied, Expected, Stray, judge
from dragoman.auth.settings import Settings

_LONGEST_HEAD = 16 * 1024
_PATIENCE = 10.0
_LAST_WORDS = 1.0
_PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>dragoman</title><p>{}</p></html>"


class Listener:
    """Waits for one authorization response, from the browser or by ``hear``."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.redirect)
        self.host = parts.hostname or ""
        self.path = parts.path or "/"
        self.port = settings.redirect_port or parts.port or 0
        self._is_fixed = self.port != 0
        self._expected: Expected | None = None
        self._answer: asyncio.Future[Code | Denied] | None = None
        self._servers: list[asyncio.Server] = []
        self._conversations: set[asyncio.Task[None]] = set()

    @property
    def uri(self) -> str:
        """The redirect URI, once the port is open."""
        return f"http://{self.host}:{self.port}{self.path}"

    async def open(self, before: str) -> None:
        """Take the port; that of ``before``, the redirect URI of an earlier login, if it is free and no other was asked for."""
        earlier = urlsplit(before).port if before and not self._is_fixed else None
        sockets = _sockets(earlier, both=self.host == "localhost") if earlier else None
        sockets = sockets or _sockets(self.port, both=self.host == "localhost")
        if sockets is None:
            raise AuthError(f"port {self.port} of this machine, where a login ends, is not free")
        self.port = sockets[0].getsockname()[1]
        self._servers = [await asyncio.start_server(self._converse, sock=bound, limit=_LONGEST_HEAD) for bound in sockets]

    def expect(self, expected: Expected) -> None:
        """From here on an answer counts."""
        self._expected = expected
        self._answer = asyncio.get_running_loop().create_future()

    async def answer(self) -> Code | Denied:
        """Wait for it."""
        assert self._answer is not None
        return await asyncio.shield(self._answer)

    def hear(self, target: str) -> Code | Denied | Stray:
        """An answer that came, by whichever way; the first counts."""
        if self._expected is None or self._answer is None:
            return Stray()
        verdict = judge(target, self._expected)
        if not isinstance(verdict, Stray) and not self._answer.done():
            self._answer.set_result(verdict)
        return verdict

    async def close(self) -> None:
        """Let go of the port; a browser that still reads its page gets a moment."""
        for server in self._servers:
            server.close()
        if self._conversations:
            await asyncio.wait(self._conversations, timeout=_LAST_WORDS if self._answer is not None and self._answer.done() else 0)
        for conversation in list(self._conversations):
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations.add(task)
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(_reply(head, self.hear))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError):
            pass  # a browser opens connections ahead of time, and other programs knock at ports
        finally:
            self._conversations.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def _reply(head: bytes, hear: Callable[[str], Code | Denied | Stray]) -> bytes:
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "GET":
        return _page("405 Method Not Allowed", "Only a browser's GET is answered here.")
    verdict = hear(words[1])
    if isinstance(verdict, Stray):
        return _page("404 Not Found", "This is not the answer to a login that is under way.")
    if isinstance(verdict, Denied):
        # Another party's words stay off the page.
        return _page("400 Bad Request", "The login did not succeed. The program that asked for it says why. You may close this page.")
    return _page("200 OK", "You are logged in. You may close this page.")


def _page(status: str, words: str) -> bytes:
    body = _PAGE.format(words).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\n"
        "Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def _sockets(port: int, *, both: bool) -> list[socket.socket] | None:
    """A bound socket of 127.0.0.1, and one of ::1 where a browser may look for ``localhost`` there first."""
    first = _bound(socket.AF_INET, "127.0.0.1", port)
    if first is None:
        return None
    second = _bound(socket.AF_INET6, "::1", first.getsockname()[1]) if both else None
    return [first] if second is None else [first, second]


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket | None:
    try:
        bound = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        return None
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # without it, Windows lets another program take the port over
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        return None
    return bound

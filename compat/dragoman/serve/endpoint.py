"""The ASGI 3 application: HTTP requests of a host into the house, and its answers out (ASGI specification, HTTP and lifespan).

Theory of operation. The host runs a coroutine for each request. Most answers come within milliseconds and are whole, so such a
request starts no task and no timer of its own. The client's leaving is looked out for once an answer takes its time, and at
once for a stream: for a modern client, closing the stream is the cancellation (2026-07-28, basic/utilities/cancellation).

The application starts with the host's lifespan, or, since hosts do not pass that on to what is mounted in them, with the
first request. It belongs to one event loop at a time.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import copy_context
from ipaddress import ip_address

from dragoman import errors
from dragoman.bridging.effects import ERROR
from dragoman.http import face
from dragoman.http.doors import HEALTH
from dragoman.http.effects import Begin, Chunk, End, Respond
from dragoman.http.rejection import Rejection, rpc
from dragoman.http.request import HttpRequest
from dragoman.io.caller import Caller
from dragoman.io.log import LEVELS
from dragoman.serve.answer import Answer, Message, Receive
from dragoman.serve.house import House, internal_error
from dragoman.serve.settings import Settings, split
from dragoman.serve.signals import heard

Scope = Message
Send = Callable[[Message], Awaitable[None]]

MAX_LINE = 256 * 1024 * 1024
_PIECE = 128 * 1024  # the host says that a piece is on its way only once all of it is: smaller ones tell slow from stopped
_NO_BODY = (204, 304)
_DIGITS = 18


class Endpoint:
    """One MCP endpoint; what stands behind it is for the class that makes its house.

    ``settings`` go by the names of the command-line options. Raises ``ValueError``, ``TypeError`` or ``KeyFileError`` for
    one that cannot be used.
    """

    def __init__(self, settings: Settings, *, log_level: str, max_line: int, state_key_file: str | None, stats: bool = False) -> None:
        self._options, self._http_options = split(settings)
        if log_level not in LEVELS:
            raise ValueError(f"log_level is one of {', '.join(LEVELS)}, not {log_level!r}")
        self._log_level = LEVELS[log_level]
        self._max_line = max_line
        self._stats = stats
        self._key = None if state_key_file is None else _key_of(state_key_file)
        self._core()  # what it cannot use is said now, not to the first client
        self._house: House | None = None
        self._local: dict[str, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the host's whole life."""
        if scope["type"] == "http":
            house = self._house
            if house is None or house.loop is not asyncio.get_running_loop():
                house = self.start()
            await self._serve(house, scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:  # a WebSocket: MCP has none
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    # -- its life

    def start(self) -> House:
        """Begin to serve in the running loop. Not needed where the host runs the lifespan."""
        if self._house is not None:  # its loop has ended without a word
            self._house.abandon()
        self._house = house = self._new_house()
        house.start()
        return house

    def _new_house(self) -> House:
        raise NotImplementedError

    async def _prepare(self) -> None:
        """Whatever has to be there before the first request. What it raises keeps the host from starting."""

    async def _ended(self) -> None:
        """Nothing is asked of it any more."""

    def tell(self, text: str) -> None:
        """One line for the operator."""
        if self._house is not None:
            self._house.log.tell(text)
            self._house.happened()

    def tell_error(self, text: str) -> None:
        """One line about a fault."""
        if self._house is not None:
            self._house.log.say(ERROR, text)
            self._house.happened()

    def begin_shutdown(self) -> None:
        """Have streams end and calls come to their end, while the host still serves: for hosts that handle signals themselves."""
        if self._house is not None:
            self._house.begin_shutdown()

    def hurry(self) -> None:
        """Wait for no call any more, and little for the server."""
        if self._house is not None:
            self._house.hurry()

    async def finished(self) -> None:
        """After ``begin_shutdown``: wait until every call has come to its end."""
        if self._house is not None:
            await self._house.finished.wait()

    async def close(self) -> int:
        """End in order; afterwards no process is left. The answer is an exit status. The next request would start anew."""
        house, self._house = self._house, None
        if house is None:
            return 0
        try:
            await house.close(self._stats)
        finally:
            await self._ended()
        return house.status

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """The application's life as a context, for the ``lifespan`` of a Starlette or FastAPI application that mounts it."""
        self.start()
        try:
            await self._prepare()
            with heard(self.begin_shutdown):
                yield
        finally:
            await self.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.start()
        try:
            await self._prepare()
        except Exception as fault:  # noqa: BLE001 - the host is told, and ends
            await self.close()
            await send({"type": "lifespan.startup.failed", "message": f"{type(fault).__name__}: {fault}"})
            return
        await send({"type": "lifespan.startup.complete"})
        with heard(self.begin_shutdown):
            await receive()
        try:
            await self.close()
        except Exception as fault:  # noqa: BLE001 - the host is told
            await send({"type": "lifespan.shutdown.failed", "message": f"{type(fault).__name__}: {fault}"})
        else:
            await send({"type": "lifespan.shutdown.complete"})

    def _core(self) -> face.HttpFace:
        return face.HttpFace(self._options, self._http_options, os.urandom(8).hex(), os.urandom, time.time, self._key)

    # -- requests

    async def _serve(self, house: House, scope: Scope, receive: Receive, send: Send) -> None:
        answer = house.admit()
        answer.scope, answer.context = scope, copy_context()
        try:
            await self._exchange(house, answer, scope, receive, send)
        except asyncio.CancelledError:
            if not answer.stalled:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            house.gave_up(answer)
            if answer.reading:
                await _refuse(send, scope, rpc(408, None, errors.bad_http("the body did not come in time")))
        except OSError:  # how a host may say that the client is gone
            pass
        finally:
            house.release(answer)

    async def _exchange(self, house: House, answer: Answer, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            fields = self._fields(scope, answer)
        except Exception as fault:  # noqa: BLE001 - the application's own, and of one request
            house.fault("principal", fault)
            await _refuse(send, scope, internal_error(b""))
            return
        request = HttpRequest(scope["method"], _path(scope), scope.get("query_string", b""), fields, self._is_local(scope))
        verdict = house.head(request)
        if isinstance(verdict, Rejection):
            await _refuse(send, scope, verdict)
            return
        body: bytes | Rejection | None = b""
        if verdict:
            body = await _body(receive, request, verdict, house, answer)
        if isinstance(body, Rejection):
            await _refuse(send, scope, body)
        elif body is not None:
            if house.remote is not None and not house.remote.known and request.place != HEALTH:
                refusal = await house.remote.ready(Caller(*house.caller(request)))
                if refusal is not None:
                    from dragoman.serve.remote import unready

                    await _refuse(send, scope, unready(body, refusal, forwards=self._http_options.forward_authorization), body_read=True)
                    return
            house.request(answer, request, body, receive)
            await _deliver(house, answer, receive, send, body_read=verdict > 0)

    def _fields(self, scope: Scope, answer: Answer) -> list[tuple[bytes, bytes]]:
        """The header fields of a request."""
        return list(scope["headers"])

    def _is_local(self, scope: Scope) -> bool:
        """Whether the connection arrived on a loopback address or a UNIX socket."""
        server = scope.get("server")
        if server is None:
            return False
        host, port = server
        known = self._local.get(host)
        if known is None:
            known = self._local[host] = port is None or _is_loopback(host)
        return known


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _key_of(path: str) -> bytes:
    from dragoman.io.keyfile import load_key

    return load_key(path)


def _path(scope: Scope) -> str:
    """The path below the mount point. ASGI hosts leave the mount point in ``path``; some of the older ones do not."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if root and path.startswith(root):
        rest = path[len(root) :]
        if not rest or rest.startswith("/"):
            return rest or "/"
    return path


async def _body(receive: Receive, request: HttpRequest, most: int, house: House, answer: Answer) -> bytes | Rejection | None:
    """The whole body; ``None`` if the client has left. A body that says that it is too long is not even asked for."""
    length = request.fields.get(b"content-length")
    if length is not None and (not length.isdigit() or len(length) > _DIGITS or int(length) > most):
        return _too_long(most)
    answer.reading = True
    message = await receive()
    if not message.get("more_body", False) and message["type"] == "http.request":  # nearly always
        answer.reading = False
        body: bytes = message.get("body", b"")
        return body if len(body) <= most else _too_long(most)
    pieces: list[bytes] = []
    size = 0
    while message["type"] == "http.request":
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            return _too_long(most)
        pieces.append(piece)
        if not message.get("more_body", False):
            answer.reading = False
            return b"".join(pieces)
        answer.since = house.ticks
        message = await receive()
    return None


def _too_long(most: int) -> Rejection:
    return rpc(413, None, errors.bad_http(f"the body is longer than {most} bytes (--max-body)"))


async def _deliver(house: House, answer: Answer, receive: Receive, send: Send, *, body_read: bool) -> None:
    """What the core answers, to the client."""
    first = await answer.next()
    answer.since = house.ticks
    if isinstance(first, Respond):
        await _send_whole(house, answer, send, first.status, first.headers, first.body)
        return
    if not isinstance(first, Begin):
        return
    answer.watch(receive, body_read=body_read)
    await send({"type": "http.response.start", "status": first.status, "headers": first.headers})
    while True:
        piece = await answer.next()
        answer.since = house.ticks
        if isinstance(piece, Chunk):
            data = answer.joined(piece.data, _PIECE)
            ended = answer.ends()
            await _send_pieces(house, answer, send, data, more=not ended)
            if ended:
                return
        elif isinstance(piece, End):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        else:
            return


async def _send_whole(house: House, answer: Answer, send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
    if status not in _NO_BODY:
        headers = (*headers, (b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await _send_pieces(house, answer, send, body, more=False)


async def _send_pieces(house: House, answer: Answer, send: Send, data: bytes, *, more: bool) -> None:
    """``data`` in pieces, so that a client that is slow is told from one that takes nothing."""
    done = 0
    while len(data) - done > _PIECE:
        await send({"type": "http.response.body", "body": data[done : done + _PIECE], "more_body": True})
        answer.since = house.ticks
        done += _PIECE
    await send({"type": "http.response.body", "body": data[done:] if done else data, "more_body": more})


async def _refuse(send: Send, scope: Scope, rejection: Rejection, *, body_read: bool = False) -> None:
    """Answer without having read the body: then the connection cannot be used again (HTTP/2 does that by itself)."""
    headers = [*rejection.headers, (b"content-length", b"%d" % len(rejection.body))]
    if not body_read and scope.get("http_version", "1.1").startswith("1"):
        has_body = any(name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in scope["headers"])
        if has_body:
            headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": rejection.status, "headers": headers})
    await send({"type": "http.response.body", "body": rejection.body})

"""One HTTP question at a time, for who can wait (``dragoman probe``): with the redirects, proxies, trust and credentials of the client.

A server's first event on a stream may be a log message; what counts is the first response.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import aiohttp
from msgspec import Struct

from dragoman.bridging.diagnosis import message_of
from dragoman.io.exchanges import Exchanges, Response
from dragoman.io.http_client import HttpTrouble, fields_of, trouble_of
from dragoman.io.http_settings import Credentials
from dragoman.remote.effects import SILENT
from dragoman.remote.sse_reader import Event, SseReader

T = TypeVar("T")


class Answer(Struct, frozen=True):
    """An HTTP answer. The names of ``headers`` are in lower case; ``body`` is at most its first 64 KiB.

    If the body is a stream, ``body`` is the data of the first event in it that is a response.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Streamed(Struct, frozen=True):
    """What a stream of 2024-11-05 gave: its ``endpoint`` event (None: it had none), and the answer to what was posted there."""

    status: int
    headers: Mapping[str, str]
    endpoint: str | None = None
    body: bytes = b""


class NoAnswer(Exception):
    """There was none; the text says why. ``silent``: the connection stands, but nothing came in time."""

    def __init__(self, why: str, *, silent: bool = False) -> None:
        super().__init__(why)
        self.silent = silent


Resolve = Callable[[str], str | None]


class Run(Protocol):
    """Runs a coroutine in the client's loop, and waits for it (``Network.run``)."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T: ...


_MOST = 4 << 20
_MOST_OF_EVENT = 16 << 20


class _Forgiving:
    """Credentials of which a question does not fail: without a token it goes as it is, and the server's refusal is the answer."""

    def __init__(self, credentials: Credentials, remarks: list[str]) -> None:
        self.given: set[str] = set()
        self._credentials = credentials
        self._remarks = remarks

    async def apply(self) -> Mapping[str, str]:
        try:
            fields = await self._credentials.apply()
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with the token, the question is asked
            self._remark(fault)
            return {}
        self.given.update(fields.values())
        return fields

    async def close(self) -> None:
        await self._credentials.close()

    async def challenged(self, status: int, headers: Mapping[str, str], used: Mapping[str, str]) -> bool:
        try:
            return await self._credentials.challenged(status, headers, used)
        except Exception as fault:  # noqa: BLE001 - see above
            self._remark(fault)
            return False

    def _remark(self, fault: Exception) -> None:
        self._remarks.append(" ".join(str(fault).split()) or type(fault).__name__)


class ClientAsker:
    """Asks the server behind ``client``; no answer takes longer than ``patience`` seconds."""

    def __init__(self, client: Exchanges, run: Run, patience: float) -> None:
        self.remarks: list[str] = []
        client.on_redirect = self.remarks.append
        self._client = client
        self._credentials = None if client.credentials is None else _Forgiving(client.credentials, self.remarks)
        client.credentials = self._credentials
        self._run = run
        self._patience = patience

    @property
    def has_credentials(self) -> bool:
        """Whether anything was sent that says who we are."""
        return bool(self._client.settings.headers) or (self._credentials is not None and bool(self._credentials.given))

    def ask(self, method: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """The answer to a POST or DELETE."""
        return self._run(self._in_time(self._ask(method, headers, body)))

    def ask_stream(self, headers: Mapping[str, str], body: bytes, resolve: Resolve) -> Streamed:
        """The answer on a stream of 2024-11-05."""
        return self._run(self._in_time(self._stream(headers, body, resolve)))

    def secrets(self) -> tuple[str, ...]:
        """The values of the fields that said who we are."""
        return (*self._client.settings.headers.values(), *(() if self._credentials is None else self._credentials.given))

    async def _in_time(self, question: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self._patience):
                return await question
        except TimeoutError:
            raise NoAnswer(f"no answer within {self._patience:g} s", silent=True) from None
        except HttpTrouble as fault:
            raise NoAnswer(fault.trouble.text, silent=fault.trouble.kind == SILENT) from None
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            trouble = trouble_of(fault)
            raise NoAnswer(trouble.text, silent=trouble.kind == SILENT) from None

    async def _ask(self, method: str, headers: Mapping[str, str], body: bytes) -> Answer:
        async with self._client.exchange(method, headers, body) as response:
            if _is_stream(response):
                data = await _response_in(_events(response))
            else:
                data = await _beginning(response)
            return Answer(response.status, fields_of(response), data)

    async def _stream(self, headers: Mapping[str, str], body: bytes, resolve: Resolve) -> Streamed:
        async with self._client.exchange("GET", headers, b"") as response:
            fields = fields_of(response)
            events = _events(response)
            first = await anext(events, None) if response.status == 200 and _is_stream(response) else None
            if first is None or first.name != b"endpoint":
                return Streamed(response.status, fields)
            endpoint = first.data.decode("utf-8", "replace").strip()
            target = resolve(endpoint)
            if target is None:
                return Streamed(response.status, fields, endpoint)
            async with self._client.exchange("POST", {}, body, url=target):
                pass  # 202, and the answer comes on the stream
            return Streamed(response.status, fields, endpoint, await _response_in(events))


def _is_stream(response: Response) -> bool:
    return str(response.headers.get("content-type", "")).lower().startswith("text/event-stream")


async def _events(response: Response) -> AsyncIterator[Event]:
    reader = SseReader(_MOST_OF_EVENT)
    async for chunk in response.content.iter_any():
        for event in reader.feed(chunk):
            if isinstance(event, Event) and event.data:
                yield event


async def _response_in(events: AsyncIterator[Event]) -> bytes:
    async for event in events:
        if message_of(event.data) is not None:
            return event.data
    return b""


async def _beginning(response: Response) -> bytes:
    pieces = bytearray()
    async for chunk in response.content.iter_any():
        pieces += chunk
        if len(pieces) >= _MOST:
            break
    return bytes(pieces[:_MOST])

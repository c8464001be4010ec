"""HTTP requests to an ASGI application in this process (ASGI specification 3.0, HTTP and lifespan): nothing of them touches a network.

It stands where ``HttpClient`` does, so that all which is done for a server behind a URL is done for an application.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from dragoman import __version__
from dragoman.io.http_client import HttpTrouble
from dragoman.io.http_settings import Credentials, HttpSettings, Who
from dragoman.io.limits import requests_at_once
from dragoman.remote.effects import BROKEN, SILENT, UNSENT, Trouble

Message = dict[str, Any]
Application = Callable[[Any, Any, Any], Awaitable[Any]]
_CONTENT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
_AHEAD = 16  # pieces of an answer that wait to be taken
_FAREWELL = 5.0
_HOPS = 5
_REDIRECTS = (301, 302, 307, 308)


class Life:
    """The application's lifespan, entered once and left by ``stop``; tried anew if it failed. Who has none is ready."""

    def __init__(self, application: Application) -> None:
        self.state: Message = {}
        self._application = application
        self._begun: asyncio.Future[str] | None = None
        self._leave = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Wait until the application is ready. Raises ``RuntimeError`` with its own words if it could not start."""
        if self._begun is None:
            self._begun = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(self._begun))
        begun = self._begun
        why = await asyncio.shield(begun)
        if why:
            if self._begun is begun:
                self._begun = None
            raise RuntimeError(f"the application could not start: {why}")

    async def stop(self) -> None:
        """Leave it."""
        self._leave.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_FAREWELL)
            self._task.cancel()

    async def _live(self, begun: asyncio.Future[str]) -> None:
        first = True

        async def receive() -> Message:
            nonlocal first
            if first:
                first = False
                return {"type": "lifespan.startup"}
            await self._leave.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: Message) -> None:
            if not begun.done():
                failed = message["type"] == "lifespan.startup.failed"
                begun.set_result((message.get("message") or "it said no more") if failed else "")

        try:
            await self._application({"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}, receive, send)
        except Exception as fault:  # noqa: BLE001 - so says an application that it knows no lifespan, too
            if begun.done():
                _report("the application failed in its lifespan", fault)
        finally:
            if not begun.done():
                begun.set_result("")  # it has no lifespan, and may say so by any exception


class Answer:
    """An answer on its way; see ``io.exchanges.Response``."""

    def __init__(self) -> None:
        self.status = 0
        self.head: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._fields: list[tuple[str, str]] = []
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(_AHEAD)
        self._fault: BaseException | None = None
        self.leave: Callable[[], None] = lambda: None  # closes the connection
        self.whole = False  # the application has said its last word

    @property
    def headers(self) -> Answer:
        """The header fields, by ``items``."""
        return self

    @property
    def content(self) -> Answer:
        """The body, by ``iter_any``."""
        return self

    def items(self) -> list[tuple[str, str]]:
        """The header fields."""
        return self._fields

    async def take(self, message: Message) -> None:
        """What the application sends."""
        if message["type"] == "http.response.start" and not self.head.done():
            self.status = message["status"]
            self._fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.get("headers", ())]
            self.head.set_result(None)
        elif message["type"] == "http.response.body" and not self.whole:
            if not isinstance(message.get("body", b""), bytes | bytearray | memoryview):
                raise TypeError(f"the body of an answer is bytes, not {type(message['body']).__name__}")
            self.whole = not message.get("more_body", False)
            if message.get("body"):
                await self._pieces.put(message["body"])
            if self.whole:
                await self._pieces.put(None)

    async def end(self, fault: BaseException | None) -> None:
        """The application has returned, or failed; after its last word that is no matter of the client's."""
        if self.whole:
            return
        self._fault = fault
        if not self.head.done():
            text = "the application ended without an answer" if fault is None else f"the application failed: {type(fault).__name__}"
            self.head.set_exception(HttpTrouble(Trouble(BROKEN, text, final=True)))
            self.head.exception()
        else:
            await self._pieces.put(None)

    async def iter_any(self) -> AsyncIterator[bytes]:
        """The pieces of the body."""
        while (piece := await self._pieces.get()) is not None:
            yield piece
        if self._fault is not None:
            raise HttpTrouble(Trouble(BROKEN, f"the application failed: {type(self._fault).__name__}"))


class AsgiClient:
    """See the module, and ``io.exchanges.Exchanges``."""

    credentials: Credentials | None = None

    def __init__(self, application: Application, settings: HttpSettings) -> None:
        self.settings = settings
        self.turns = asyncio.Semaphore(requests_at_once())
        self.on_redirect: Callable[[str], None] = lambda _text: None
        self.life = Life(application)
        self._application = application
        self._tasks: dict[asyncio.Task[None], Answer] = {}

    def redacted(self, text: str) -> str:
        """Nothing of ours is secret to the application."""
        return text

    async def close(self) -> None:
        """End what still runs, and the application's lifespan."""
        if self._tasks:
            for task, answer in list(self._tasks.items()):
                if not answer.whole:
                    task.cancel()
            _, late = await asyncio.wait(list(self._tasks), timeout=_FAREWELL)
            for task in late:
                task.cancel()
        await self.life.stop()

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
    ) -> AsyncIterator[Answer]:
        """One request and the head of its answer; leaving the context closes the connection. Raises ``HttpTrouble``."""
        try:
            await self.life.start()
        except RuntimeError as fault:
            _report(str(fault), None)  # its words are for the operator alone
            raise HttpTrouble(Trouble(UNSENT, "the application could not start", final=True)) from None
        target = url or self.settings.url
        try:
            async with asyncio.timeout(patience):
                answer = await self._asked(self._scope(method, headers, target, len(body), who), body)
                for _ in range(_HOPS):
                    location = dict(answer.items()).get("location")
                    if answer.status not in _REDIRECTS or not location:
                        break
                    answer.leave()
                    target = urljoin(target, location)
                    answer = await self._asked(self._scope(method, headers, target, len(body), who), body)
        except TimeoutError:
            raise HttpTrouble(Trouble(SILENT, "no answer in time")) from None
        try:
            yield answer
        finally:
            answer.leave()

    async def _asked(self, scope: Message, body: bytes) -> Answer:
        """The answer, once its head is there."""
        answer, left = Answer(), asyncio.Event()
        task = asyncio.create_task(self._run(scope, body, answer, left))
        self._tasks[task] = answer
        task.add_done_callback(self._tasks.pop)

        def leave() -> None:
            left.set()
            if not answer.whole:  # what it does after that is its own
                task.cancel()

        answer.leave = leave
        try:
            await asyncio.shield(answer.head)
        except BaseException:
            leave()
            raise
        return answer

    async def _run(self, scope: Message, body: bytes, answer: Answer, left: asyncio.Event) -> None:
        read = False

        async def receive() -> Message:
            nonlocal read
            if not read:
                read = True
                return {"type": "http.request", "body": body, "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        fault: BaseException | None = None
        try:
            await self._application(scope, receive, answer.take)
        except asyncio.CancelledError as ended:
            if left.is_set():
                raise
            fault = ended
        except Exception as failed:  # noqa: BLE001 - an application that fails has failed one request
            fault = failed
            _report("the application failed", failed)
        except GeneratorExit:
            raise
        except BaseException as failed:
            await answer.end(failed)
            raise
        await answer.end(fault)

    def _scope(self, method: str, headers: Mapping[str, str], url: str, size: int, who: Who | None) -> Message:
        parts = urlsplit(url)
        fields = {
            "host": parts.netloc,
            "user-agent": f"dragoman/{__version__}",
            **(_CONTENT if method == "POST" else {}),
            **{name.lower(): value for name, value in (*self.settings.headers.items(), *headers.items())},
            **({"content-length": str(size)} if method == "POST" else {}),
        }
        if who is not None and who.authorization is not None:
            fields["authorization"] = who.authorization
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "root_path": "",
            "headers": [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items()],
            "client": ("127.0.0.1", 0),
            "server": (parts.hostname, parts.port),
            "state": dict(self.life.state),
            "extensions": {},
        }


def _report(what: str, fault: BaseException | None) -> None:
    import logging

    logging.getLogger("dragoman").error(what, exc_info=fault)

"""A transparent tap in front of an HTTP server: bytes pass as they are, and the exchanges that they make up are written down.

Theory of operation: every connection to ``Tap`` is continued to the server, byte for byte and end for end, so that keep-alive, chunks and
a client that hangs up mean what they meant. Beside that the bytes are parsed (h11, which accepts nothing but HTTP/1.1) into exchanges. What
happened is one list of ``Record`` in the order in which it passed; a record is made before its bytes are passed on, so whoever has seen the
effect of a message finds it in the list. The tap runs in a thread of its own; read the records after it has been closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections import deque
from typing import Any, NamedTuple, Self

import h11

JsonObject = dict[str, Any]


class Event(NamedTuple):
    """One Server-Sent Event: its type, its data, and its id where it has one."""

    kind: str
    data: str
    id: str | None


class Exchange:
    """One request and what was answered. Header names are lower-case."""

    def __init__(self, method: str, target: str, headers: list[tuple[str, str]]) -> None:
        self.method, self.target = method, target
        self.headers = dict(headers)
        self.body = b""
        self.status = 0
        self.answer_headers: dict[str, str] = {}
        self.answer = b""
        self.events: list[Event] = []
        self.ended = ""

    @property
    def streams(self) -> bool:
        return self.answer_headers.get("content-type", "").split(";")[0].strip() == "text/event-stream"

    def frames(self) -> list[JsonObject]:
        """The JSON-RPC messages of the request: one, those of a batch, or none."""
        with contextlib.suppress(ValueError):
            found = json.loads(self.body)
            return [each for each in (found if isinstance(found, list) else [found]) if isinstance(each, dict)]
        return []

    def __repr__(self) -> str:
        asked = self.body[:300].decode("utf-8", "replace")
        said = (self.answer or "".join(f"[{event.kind}] {event.data} " for event in self.events[-4:]).encode())[:400]
        return f"{self.method} {self.target} {asked} -> {self.status} {said.decode('utf-8', 'replace')} ({self.ended or 'open'})"


class Record(NamedTuple):
    """What happened: ``asked`` (the request is complete), ``answered`` (the head of the answer), ``event``, ``body`` or ``ended``."""

    what: str
    exchange: Exchange
    event: Event | None = None


class EventParser:
    """Bytes of a ``text/event-stream`` to events, as the HTML standard reads them."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []
        self._kind = ""
        self._id: str | None = None

    def feed(self, data: bytes) -> list[Event]:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        events = [self._line(line.removesuffix(b"\r").decode("utf-8")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id":
            self._id = value
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._kind or "message", "\n".join(self._data), self._id) if self._data else None
        self._data, self._kind, self._id = [], "", None
        return event


class Conversation:
    """What passes on one connection. A fresh h11 parser for each message, so that each must be complete in itself."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self._requests = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        self._asking: Exchange | None = None
        self._waiting: deque[Exchange] = deque()
        self._answers: h11.Connection | None = None
        self._events = EventParser()
        self._over = False

    def _note(self, what: str, exchange: Exchange, event: Event | None = None) -> None:
        self._records.append(Record(what, exchange, event))

    def from_client(self, data: bytes) -> None:
        self._requests.receive_data(data)
        while True:
            event = self._requests.next_event()
            if isinstance(event, h11.Request):
                headers = [(name.decode(), value.decode("latin-1")) for name, value in event.headers]
                self._asking = Exchange(event.method.decode(), event.target.decode(), headers)
                self._waiting.append(self._asking)
            elif isinstance(event, h11.Data) and self._asking is not None:
                self._asking.body += event.data
            elif isinstance(event, h11.EndOfMessage) and self._asking is not None:
                self._note("asked", self._asking)
                more = self._requests.trailing_data[0]
                self._requests = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
                self._requests.receive_data(more) if more else None
            else:
                return

    def from_server(self, data: bytes) -> None:
        if self._over:
            return  # the client has hung up, and this was on its way
        while data and self._waiting:
            parser = self._answers or self._begin(self._waiting[0])
            parser.receive_data(data)
            data = self._read(parser, self._waiting[0])
        if data:
            raise h11.RemoteProtocolError(f"bytes that answer no request: {data[:200]!r}")

    def _begin(self, exchange: Exchange) -> h11.Connection:
        """An h11 client that has just sent this request."""
        self._answers = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        self._answers.send(h11.Request(method=exchange.method, target=exchange.target, headers=[("Host", "tap")]))
        self._answers.send(h11.EndOfMessage())
        self._events = EventParser()
        return self._answers

    def _read(self, parser: h11.Connection, exchange: Exchange) -> bytes:
        """Read what there is of this answer; bytes behind its end are given back."""
        while True:
            event = parser.next_event()
            if isinstance(event, h11.Response):
                exchange.status = event.status_code
                exchange.answer_headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
                self._note("answered", exchange)
            elif isinstance(event, h11.Data):
                self._data(exchange, bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self._end(exchange, "server")
                return parser.trailing_data[0]
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return b""

    def _data(self, exchange: Exchange, data: bytes) -> None:
        if not exchange.streams:
            exchange.answer += data
            return
        for event in self._events.feed(data):
            exchange.events.append(event)
            self._note("event", exchange, event)

    def _end(self, exchange: Exchange, by: str) -> None:
        exchange.ended = by
        if not exchange.streams:
            self._note("body", exchange)
        self._note("ended", exchange)
        self._waiting.popleft()
        self._answers = None

    def closed_by(self, who: str) -> None:
        """One side has closed the connection; what is not answered by now never will be."""
        self._over = True
        if who == "server" and self._answers is not None and self._waiting:
            # The end of the connection may be the end of the body.
            with contextlib.suppress(h11.RemoteProtocolError):
                self._answers.receive_data(b"")
                self._read(self._answers, self._waiting[0])
        while self._waiting:
            self._waiting[0].ended = f"cut by the {who}"
            self._note("ended", self._waiting.popleft())


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close, and let what is written go out first, if the other side still reads."""
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), 2)


class Tap:
    """A context manager: while it is open, ``port`` leads to the server's port."""

    def __init__(self, server_port: int) -> None:
        self.server_port = server_port
        self.port = 0
        self.records: list[Record] = []
        self.faults: list[str] = []
        self._open = threading.Event()
        self._stop = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._open.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()
        assert self.faults == [], "no HTTP/1.1 passed the tap:\n" + "\n".join(self.faults)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        tasks: set[asyncio.Task[None]] = set()
        writers: set[asyncio.StreamWriter] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._connection(reader, writer))
            writers.add(writer)
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._open.set()
        await self._stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:  # it may be that a task was cancelled before it began
            writer.close()
        await asyncio.sleep(0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = Conversation(self.records)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        except OSError:
            await hang_up(writer)
            return
        ways = [
            asyncio.ensure_future(self._pass(reader, far_writer, conversation, "client")),
            asyncio.ensure_future(self._pass(far_reader, writer, conversation, "server")),
        ]
        try:
            # No client here half-closes: whoever closes first, the connection is over.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            try:
                await hang_up(writer)
            finally:
                await hang_up(far_writer)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, conversation: Conversation, who: str) -> None:
        take = conversation.from_client if who == "client" else conversation.from_server
        with contextlib.suppress(ConnectionError):
            while data := await source.read(1 << 16):
                try:
                    take(data)
                except (h11.ProtocolError, UnicodeDecodeError) as fault:
                    self.faults.append(f"from the {who}: {fault}: {data[:300]!r}")
                    return
                sink.write(data)
                await sink.drain()
        conversation.closed_by(who)

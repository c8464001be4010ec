"""HTTP/1.1 of uvicorn and httptools, with limits (RFC 9112; RFC 6585 for 431).

The parser itself refuses what makes two readers see two requests: Content-Length twice or beside Transfer-Encoding, folded
lines, bare line feeds, wrong chunk sizes, control characters. Missing there, and added here:

* a limit on the size, the number of fields and the time of a head, and on what is no body within one;
* one Host, the same that a target in absolute form names, and no transfer coding but ``chunked`` (sections 3.2 and 6.1);
* fields after the body change nothing in the head;
* nothing is read after a request that ends its connection, and an answer in progress is never mixed with an error;
* an offered Upgrade (some clients offer h2c with every first request) is passed over. The parser takes what follows such a
  head for another protocol, so a body would be lost, or be read as the next request: the head is read again without it;
* a refused request's connection is kept for a moment, so that the client gets to read why;
* no chunked answer to HTTP/1.0.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

MAX_HEAD = 64 * 1024
MAX_FIELDS = 100
HEAD_TIME = 10.0  # from its first byte to its last
IDLE_TIME = 75.0  # without a request
FLUSH_TIME = 30.0  # at the end of a connection, without anything being taken
LINGER_TIME = 2.0
_JOIN = 64 * 1024
_DRAINED = 16 * 1024 * 1024  # what a refused client may go on sending in that time
_OF_UPGRADES = (b"upgrade", b"http2-settings")


class _Refused(Exception):
    """Ends the parser's work from within one of its callbacks."""


class _Nowhere(list[Any]):
    """For fields after the body: nobody here wants them, and some say what only the head may say."""

    def append(self, _: object) -> None:
        """Forget it."""


class _Gate:
    """What an answer writes to: the transport, but a head waits for a body that comes at once, and closing for a busy client.

    One write instead of two is a system call and a wake-up of the client less.
    """

    __slots__ = ("_head", "_loop", "_protocol", "_write", "is_closing")

    def __init__(self, protocol: BoundedProtocol, transport: asyncio.Transport) -> None:
        self._protocol = protocol
        self._loop = protocol.loop
        self._write = transport.write
        self._head = b""
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send, or be about to."""
        head = self._head
        if head:
            self._head = b""
            if len(data) > _JOIN:
                self._write(head)
                self._write(data)
            else:
                self._write(head + data)
        elif data.startswith(b"HTTP/"):
            self._head = data
            self._loop.call_soon(self.flush)
        else:
            self._write(data)

    def flush(self) -> None:
        """No body came at once."""
        head, self._head = self._head, b""
        if head:
            self._write(head)

    def close(self) -> None:
        """End the connection."""
        self.flush()
        self._protocol.end()


class _OldCycle(RequestResponseCycle):
    """An answer to HTTP/1.0: the end of the connection is the end of a body whose length is not known (RFC 9112, section 6.3)."""

    open_ended = False

    async def send(self, message: Any) -> None:
        """See ASGI."""
        if message["type"] == "http.response.start":
            self.open_ended = not any(name == b"content-length" for name, _ in message["headers"])
            if self.open_ended:
                self.chunked_encoding = False
            await super().send(message)
        elif not self.open_ended:
            await super().send(message)
        else:
            await self._send_as_it_is(message.get("body", b""), more=message.get("more_body", False))

    async def _send_as_it_is(self, body: bytes, *, more: bool) -> None:
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if self.scope["method"] != "HEAD":
            self.transport.write(body)
        if not more:
            self.response_complete = True
            self.message_event.set()
            self.transport.close()
            self.on_response()


class BoundedProtocol(HttpToolsProtocol):
    """One connection. ``look`` is called about once a second."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._since = 0.0  # when the connection was made
        self._begun: float | None = None  # since when a head is coming in
        self._heads = 0
        self._size = 0  # of the head that is coming in, as far as earlier reads brought it
        self._reading = 0  # how much this read has brought
        self._beside = 0  # what came after the head and was no body
        self._body_came = False
        self._fault = 0  # the status of a refusal, from within a callback
        self._upgrading = False
        self._deaf = False  # what still comes is nothing to us
        self._lingering = False
        self._drained = 0
        self._active: RequestResponseCycle | None = None  # the answer in progress; ``cycle`` is the request read last
        self._unsent = 0  # what waited to be sent at the last look, at the end of the connection
        self._unsent_since = 0.0

    # -- what the transport says

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._gate = _Gate(self, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: for the answer in progress too, not only for the request that was read last."""
        self.pipeline.clear()
        active = self._active
        if active is not None and active is not self.cycle and not active.response_complete:
            active.disconnected = True
            active.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        if self._deaf:
            self._drained += len(data)
            if self._drained > _DRAINED:
                self.transport.abort()
            return
        head = self._heads if self._begun is not None else 0
        self._reading = len(data)
        self._body_came = False
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            self._read_again(data[offer.args[0] :])
        except HttpParserError:
            if not self._deaf:
                self._refuse(self._fault or 400)
        else:
            self._count(len(data), head)

    def look(self, now: float) -> None:
        """End a connection that has had its time."""
        if self._begun is not None:
            if now - self._begun > HEAD_TIME:
                self._refuse(408)
            return
        active = self._active
        if not self.transport.is_closing():
            if active is None and now - self._since > IDLE_TIME:
                self.transport.close()
            if active is not None and not active.response_complete:
                return  # the application sees to it
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent < self._unsent or not self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif now - self._unsent_since > FLUSH_TIME:
            self.transport.abort()

    # -- what the parser says

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        if self._deaf:
            raise _Refused
        self._unset_keepalive_if_required()
        self._begun = self.loop.time()
        self._heads += 1
        self._size = self._beside = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there: judge it, and have the request served."""
        self._begun = None
        self._fault = self._judge()
        if self._fault:
            raise _Refused
        if self.parser.should_upgrade():
            self._upgrading = True
            return
        super().on_headers_complete()
        if not self.pipeline:  # else it waits for the answers before it
            self._active = self.cycle
        self.cycle.transport = self._gate  # type: ignore[assignment]
        self.headers = _Nowhere()
        if self.scope["http_version"] == "1.0":
            self.cycle.__class__ = _OldCycle

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body_came = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        if not self._upgrading:
            super().on_message_complete()
            self._deaf = not self.parser.should_keep_alive()

    def on_response_complete(self) -> None:
        """An answer has been handed to the transport: on to the next request."""
        if self._lingering:
            return
        if self.pipeline:
            self._active = self.pipeline[-1][0]
        super().on_response_complete()

    # -- limits

    def _judge(self) -> int:
        """The status that refuses this head, or 0."""
        version = self.parser.get_http_version()
        if version not in ("1.1", "1.0"):
            return 505
        hosts = 0
        codings = []
        host = b""
        for name, value in self.headers:
            if name == b"host":
                hosts += 1
                host = value
            elif name == b"transfer-encoding":
                codings.append(value.lower())
        if codings and (version == "1.0" or codings != [b"chunked"]):
            return 400
        if hosts > 1 or (not hosts and version == "1.1") or self.parser.get_method() == b"CONNECT":
            return 400
        if self.url[:1] != b"/" and not _names(self.url, host):
            return 400
        if len(self.headers) > MAX_FIELDS:
            return 431
        if self._size + self._reading > MAX_HEAD and sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            return 431
        return 431 if len(self.url) > MAX_HEAD else 0

    def _count(self, size: int, head: int) -> None:
        """After a read that went well: was it too much that is no body?"""
        if self._begun is not None:
            if head == self._heads:  # all of it belongs to this head; of the read in which a head begins, nobody knows how much
                self._size += size
            if self._size > MAX_HEAD:
                self._refuse(431)
        elif self._heads and self.cycle.more_body and not self._body_came:
            self._beside += size
            if self._beside > MAX_HEAD:
                self._refuse(400)

    def _read_again(self, rest: bytes) -> None:
        """The same head without the offer of another protocol, and what came after it."""
        self._upgrading = False
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b\r\n" % (method, self.url, version)]
        for name, value in self.headers:
            if name == b"connection":
                value = b", ".join(token for token in value.split(b",") if token.strip().lower() not in _OF_UPGRADES)  # noqa: PLW2901
            if name not in _OF_UPGRADES:
                lines.append(b"%b: %b\r\n" % (name, value))
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.data_received(b"".join(lines) + b"\r\n" + rest)

    # -- ends

    def end(self) -> None:
        """Close, but let a client that is still sending read its answer first."""
        active = self._active
        if active is not None and active.more_body and not active.disconnected:
            self._linger()
        else:
            self.transport.close()

    def _refuse(self, status: int) -> None:
        """No more of this: an error for the request that is being read, unless another answer is in progress."""
        self._deaf = True
        self._begun = None
        self.pipeline.clear()
        active = self._active
        if active is not None and not active.response_complete:
            if active is not self.cycle or not active.more_body:
                active.keep_alive = False  # what came before is still answered
                return
            active.disconnected = True  # half a request is none
            active.message_event.set()
            if active.response_started:
                self.transport.abort()
                return
        text = HTTPStatus(status).phrase.encode()
        head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (len(text) + 1)
        self.transport.write(b"%b%b%b\n" % (STATUS_LINE[status], head, text))
        self._linger()

    def _linger(self) -> None:
        self._deaf = self._lingering = True
        self.flow.resume_reading()
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_TIME, self.transport.abort)


def _names(target: bytes, host: bytes) -> bool:
    """Whether a target that is no path is ``*``, or a URL of this very host: else Host would not be whom the request is for."""
    scheme, _, rest = target.partition(b"://")
    authority = rest.partition(b"/")[0].partition(b"?")[0]
    return target == b"*" or (scheme.lower() in (b"http", b"https") and bool(host) and authority.lower() == host.strip().lower())

"""Server-sent events as a client reads them (HTML, section 9.2.6; basic/transports/streamable-http#receiving-messages).

A line ends with a line feed, a carriage return, or both, and a blank line ends an event. The stream comes in chunks that may be
cut anywhere, within these pairs, the byte order mark and characters too. Line ends are made alike once per chunk, and the pieces
of a line are joined once, at its end, so the work stays linear for a line of many megabytes. Nothing is decoded: field
names are ASCII, and the data is a frame. What the stream leaves unfinished at its end is no event, as the standard has it.
"""

from __future__ import annotations

from msgspec import Struct

HEAD = 4 * 1024
_BOM = b"\xef\xbb\xbf"
_PREFIX = len(b"data: ")
_SMALL = 1024
_RETRY_DIGITS = 15


class Event(Struct, frozen=True, gc=False):
    """One event: its ``data`` lines joined by line feeds; ``id`` is None and ``name`` empty where it has none.

    An event that has an id but no data is one too: a server may only mark how far the stream has come (2025-11-25,
    basic/transports#sending-messages-to-the-server).
    """

    data: bytes
    id: bytes | None
    name: bytes


class TooLong(Struct, frozen=True, gc=False):
    """An event over the limit that was skipped: the first bytes of its data (enough to find an id in), and the size of all of it."""

    head: bytes
    size: int


class SseReader:
    """Bytes in, whole events out; ``limit`` is the most bytes that the data of one event may have.

    ``last_id`` is where the stream can be taken up again: the id of the last event that is complete and had one, even if it was
    too long; empty when the server took it back. ``retry_ms`` is how long to wait before that.
    """

    __slots__ = (
        "_after_cr",
        "_data",
        "_id",
        "_length",
        "_limit",
        "_longest",
        "_most",
        "_name",
        "_pieces",
        "_size",
        "_start",
        "last_id",
        "retry_ms",
    )

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._longest = limit + _PREFIX
        self._most = max(limit, HEAD) + _PREFIX
        self.last_id: bytes | None = None
        self.retry_ms: int | None = None
        # The stream: what may be the byte order mark, until that is clear; and whether the last byte was a carriage return.
        self._start: bytes | None = b""
        self._after_cr = False
        # The line whose end has not come, and its length. Of one that is too long only the head is kept. The first piece has
        # all of the field's name and what parts it from the value, as far as they have come.
        self._pieces: list[bytes] = []
        self._length = 0
        # The event. _size is that of the data when joined: -1 without a data line. Over the limit, _data is only the head.
        self._data: bytes | bytearray = b""
        self._size = -1
        self._id: bytes | None = None
        self._name = b""

    def feed(self, data: bytes) -> list[Event | TooLong]:
        """The events that ``data`` completes."""
        if self._start is not None:
            data = self._begin(data)
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 0x0A:
                data = data[1:]
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        events: list[Event | TooLong] = []
        if self._length and lines:
            self._finish(lines.pop(0))
        for line in lines:
            if line:
                self._take(line)
            elif self._size >= 0 or self._id is not None:
                events.append(self._end())
            else:
                self._name = b""
        if rest:
            self._keep(rest)
        return events

    @property
    def too_much(self) -> int:
        """The bytes of the event that is coming in, if they are over the limit already; else 0."""
        return self._size + self._length if self._size > self._limit or self._length > self._longest else 0

    def _begin(self, data: bytes) -> bytes:
        """The start of the stream, without the mark it may have."""
        data = (self._start or b"") + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._start = data
            return b""
        self._start = None
        return data.removeprefix(_BOM)

    # -- lines -----------------------------------------------------------------------------------------------------

    def _keep(self, piece: bytes) -> None:
        """A piece of the line whose end has not come."""
        before = self._length
        self._length += len(piece)
        if before > self._most:
            return
        pieces = self._pieces
        # Small pieces are put together: a list of them would take many times the memory of their bytes.
        if pieces and (len(pieces[-1]) < _PREFIX or len(pieces[-1]) + len(piece) <= _SMALL):
            pieces[-1] += piece
        else:
            pieces.append(piece)
        if self._length > self._most:
            self._pieces = [b"".join(pieces)[: _PREFIX + HEAD]]

    def _finish(self, piece: bytes) -> None:
        """The last piece of a line that came in several."""
        self._keep(piece)
        pieces, size = self._pieces, self._length
        self._pieces, self._length = [], 0
        first = pieces[0]
        if first.startswith(b"data:"):
            pieces[0] = first[5:].removeprefix(b" ")
            self._add(b"".join(pieces), size - len(first) + len(pieces[0]))
        elif size <= self._longest:
            self._take(b"".join(pieces))

    def _take(self, line: bytes) -> None:
        """A line that is not blank. One without a colon is a name alone, one that begins with a colon is a comment."""
        if line.startswith(b"data: "):
            self._add(line[6:], len(line) - 6)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add(value, len(value))
        elif len(line) > self._longest:
            return  # as if it had come in pieces, which are not kept
        elif name == b"id":
            if b"\0" not in value:
                self._id = value
        elif name == b"event":
            self._name = value
        elif name == b"retry" and value.isdigit() and len(value) <= _RETRY_DIGITS:
            self.retry_ms = int(value)

    # -- the event -------------------------------------------------------------------------------------------------

    def _add(self, value: bytes, size: int) -> None:
        """A data line of ``size`` bytes; ``value`` is all of it, or its head if it is over the limit alone."""
        before = self._size
        self._size = before + 1 + size
        if before < 0:
            self._data = value
        else:
            if isinstance(self._data, bytes):
                self._data = bytearray(self._data)
            self._data += b"\n"
            self._data += value
        if self._size > self._limit and len(self._data) > HEAD:
            self._data = self._data[:HEAD]

    def _end(self) -> Event | TooLong:
        data, size, event_id, name = bytes(self._data), self._size, self._id, self._name
        self._data, self._size, self._id, self._name = b"", -1, None, b""
        if event_id is not None:
            self.last_id = event_id
        return TooLong(data, size) if size > self._limit else Event(data, event_id, name)

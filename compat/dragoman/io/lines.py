"""Frames of the stdio transport: one a line (basic/transports/stdio).

Lines end with a newline and nothing else: U+2028, U+2029, U+0085, a form feed and a lone carriage return are data.
A line of many megabytes arrives in many chunks, which are joined once, so the work stays linear.
"""

from __future__ import annotations

HEAD = 64 * 1024


class TooLong:
    """A line over the limit that was skipped: its first bytes (enough to find an id in) and its size."""

    __slots__ = ("head", "size")

    def __init__(self, head: bytes, size: int) -> None:
        self.head = head
        self.size = size


class LineSplitter:
    """Bytes in, whole lines (without their newline) out. ``size`` is that of the line whose end has not come yet."""

    __slots__ = ("_chunks", "_head", "_limit", "_skipping", "size")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: list[bytes] = []
        self.size = 0
        self._skipping = False
        self._head = b""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that ``data`` completes."""
        lines: list[bytes | TooLong] = []
        if self.size:
            end = data.find(b"\n")
            if end < 0:
                self._keep(data)
                return lines
            self._keep(data[:end])
            lines.append(self._take())
            data = data[end + 1 :]
        parts = data.split(b"\n")
        rest = parts.pop()
        limit = self._limit
        lines.extend([part if len(part) <= limit else TooLong(part[:HEAD], len(part)) for part in parts])
        if rest:
            self._keep(rest)
        return lines

    def end(self) -> list[bytes | TooLong]:
        """At the end of the stream: the last line, if it came without its newline."""
        return [self._take()] if self.size else []

    def _keep(self, data: bytes) -> None:
        self.size += len(data)
        if self._skipping:
            return
        self._chunks.append(data)
        if self.size > self._limit:
            self._head = b"".join(self._chunks)[:HEAD]
            self._chunks.clear()
            self._skipping = True

    def _take(self) -> bytes | TooLong:
        line: bytes | TooLong
        line = TooLong(self._head, self.size) if self._skipping else b"".join(self._chunks)
        self._chunks.clear()
        self.size = 0
        self._skipping = False
        self._head = b""
        return line

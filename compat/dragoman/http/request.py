"""One HTTP request's head, and its fields (RFC 9110, sections 5.2 to 5.5; 2026-07-28, basic/transports/streamable-http).

Field names are case-insensitive and come here in lower case; space around a value is no part of it. A field that may
stand only once and stands twice is read differently by the programs on the way (the first, the last, both joined), which is
how requests are smuggled past the one that decides: such a request is refused whole, see ``duplicate``.
"""

from __future__ import annotations

FieldLines = list[tuple[bytes, bytes]]

_BLANK = b" \t"
_NONE: frozenset[bytes] = frozenset()
_PARAM_PREFIX = b"mcp-param-"
SINGLE: frozenset[bytes] = frozenset(
    (
        b"host",
        b"origin",
        b"content-type",
        b"content-length",
        b"transfer-encoding",
        b"authorization",
        b"mcp-session-id",
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
        b"last-event-id",
    )
)
"""The fields that may stand only once; so may every ``Mcp-Param-*``."""


class HttpRequest:
    """The head of a request, as the ASGI scope tells it.

    ``path`` lies below the mount point; ``place`` is the path without a slash at its end. ``headers`` has lower-case names; their order
    and every repetition are kept, and ``fields`` has them by name. ``local``: it came to a loopback address or a UNIX socket.
    """

    __slots__ = ("fields", "headers", "local", "method", "path", "place", "query")

    def __init__(self, method: str, path: str, query: bytes, headers: FieldLines, local: bool) -> None:
        self.method = method
        self.path = path
        self.place = path.rstrip("/") or "/"
        self.query = query
        self.headers = headers
        self.fields = Fields(headers)
        self.local = local


class Fields(dict[bytes, bytes]):
    """The fields of one request by name, values without the space around them; of several the last one counts.

    ``repeated`` has the names that stand more than once.
    """

    __slots__ = ("_lines", "repeated")

    def __init__(self, lines: FieldLines) -> None:
        super().__init__([(name, value.strip(_BLANK)) for name, value in lines])
        self._lines = lines
        self.repeated = _NONE if len(self) == len(lines) else _repeated(lines)

    def joined(self, name: bytes) -> bytes | None:
        """All values of a field that is a list, like ``accept``: several lines mean the same as one with commas."""
        if name not in self.repeated:
            return self.get(name)
        return b", ".join(value.strip(_BLANK) for line, value in self._lines if line == name)


def _repeated(lines: FieldLines) -> frozenset[bytes]:
    seen: set[bytes] = set()
    return frozenset(name for name, _ in lines if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def duplicate(fields: Fields) -> bytes | None:
    """The first field that stands more than once and must not, even with equal values."""
    if not fields.repeated:
        return None
    return next((name for name in fields if name in fields.repeated and (name in SINGLE or name.startswith(_PARAM_PREFIX))), None)

"""What the client leg has to know of its server."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct


class RemoteOptions(Struct, frozen=True):
    """``instance`` tells this bridge from any other, ``url`` is the server's, ``max_line`` the longest message in bytes.

    ``patience``: seconds without a word after which a request is given up (None: never; streams of changes may be quiet for ever).
    ``proven``: the server has answered more than ``server/discover`` in this era.
    ``redact`` takes out of the server's words what it repeats of our credentials.
    ``two_endpoints``: the server is known to speak HTTP+SSE of 2024-11-05, so that Streamable HTTP is not tried first.
    """

    instance: str
    url: str
    max_line: int = 256 << 20
    two_endpoints: bool = False
    patience: float | None = None
    proven: bool = False
    redact: Callable[[str], str] = str

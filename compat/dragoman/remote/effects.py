"""What the client leg asks of its shell, and what the shell tells it (see ``remote``).

``exchange`` numbers name one HTTP request of ours each, and are never used twice by one connection.
"""

from __future__ import annotations

from msgspec import Struct

from dragoman.bridging.effects import CancelTimer, Log, Loss, SetTimer

Headers = tuple[tuple[str, str], ...]


class Send(Struct, frozen=True, gc=False):
    """Send an HTTP request. Its answer comes as ``head``, ``data`` … ``ended`` or ``failed``.

    ``url`` is empty for the server's own; ``in_turn``: it may wait while too many others are under way.
    """

    exchange: int
    method: str
    headers: Headers
    body: bytes = b""
    url: str = ""
    in_turn: bool = False


class Abort(Struct, frozen=True, gc=False):
    """Close the connection of an exchange: nothing more of it is heard."""

    exchange: int


class Finish(Struct, frozen=True, gc=False):
    """Nothing more of an exchange is needed: read its last bytes, so that the connection can be used again, or close it soon."""

    exchange: int


class Heard(Struct, frozen=True, gc=False):
    """A message of the server's for the core; ``about`` is the id (JSON text) of the request on whose stream it came."""

    line: bytes
    about: bytes | None = None


class Lost(Struct, frozen=True, gc=False):
    """The connection is of no use any more: what the server knew of it is gone."""

    reason: str


class Doubt(Struct, frozen=True, gc=False):
    """The server does not behave as one of the era that was found out: it may have become another. Said once by a connection."""

    why: str


RemoteEffect = Doubt | Send | Abort | Finish | Heard | Lost | SetTimer | CancelTimer | Log | Loss


UNSENT, BROKEN, SILENT, NO_CREDENTIALS = "unsent", "broken", "silent", "no credentials"


class Trouble(Struct, frozen=True):
    """Why an exchange came to nothing; ``text`` for people, ``final``: trying again cannot help.

    ``status`` and ``challenge``: the server refused the caller, and no credentials could be had.
    ``NO_CREDENTIALS``: there is nothing to show the server, and the request was not sent.
    ``UNSENT``: the server has not seen the request. ``BROKEN``: the connection ended too early. ``SILENT``: no answer in time.
    """

    kind: str
    text: str
    final: bool = False
    status: int = 0
    challenge: str = ""

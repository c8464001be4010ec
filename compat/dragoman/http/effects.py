"""What the HTTP core asks its shell to do, beside what every core asks (``dragoman.bridging.effects``).

Theory of operation: an exchange is one HTTP request and its answer, and its number is never used twice. The answer is either
one ``Respond``, or ``Begin``, any number of ``Chunk`` and ``End``. After ``Respond``, ``End`` or the shell's word that the
client is gone, nothing more is said about that exchange.
"""

from __future__ import annotations

from msgspec import Struct

from dragoman.bridging.effects import CancelTimer, CloseSession, Finished, Log, Loss, OpenSession, SetTimer, ToServer

Header = tuple[bytes, bytes]
Headers = tuple[Header, ...]


class Respond(Struct, frozen=True, gc=False):
    """Answer the exchange; nothing follows."""

    exchange: int
    status: int
    headers: Headers
    body: bytes


class Begin(Struct, frozen=True, gc=False):
    """Begin a streamed answer: send its head now."""

    exchange: int
    status: int
    headers: Headers


class Chunk(Struct, frozen=True, gc=False):
    """Send a piece of the stream, without waiting for more."""

    exchange: int
    data: bytes


class End(Struct, frozen=True, gc=False):
    """The stream ends in good order."""

    exchange: int


HttpEffect = (
    Respond | Begin | Chunk | End | ToServer | OpenSession | CloseSession | SetTimer | CancelTimer | Log | Loss | Finished
)  # no ToClient: an answer belongs to an exchange

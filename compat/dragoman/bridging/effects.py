"""What the sans-I/O core asks its shell to do.

Theory of operation: every entry point of the core (``from_client``, ``from_server``, ``on_timer`` …) returns a list of
these values, to be carried out in order. The core never waits, reads a clock or touches a descriptor; the shell never
reads a frame. ``session`` numbers name one life of one connection to the real server, and are never used twice.
"""

from __future__ import annotations

from msgspec import Struct

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40


NOTE, RESULT, FAILURE = 0, 1, 2


class ToClient(Struct, frozen=True, gc=False):
    """Write ``data`` (one frame, newline included) to the client.

    ``owner`` is the id, as the core was given it, of the request that the frame belongs to (None: of the connection), and
    ``kind`` what it is to that request: a ``NOTE`` on the way, or its answer, ``RESULT`` or ``FAILURE``. A transport with
    one channel needs neither.
    """

    data: bytes
    owner: bytes | None = None
    kind: int = NOTE


class ToServer(Struct, frozen=True, gc=False):
    """Write ``data`` (one frame, newline included) to the server behind ``session``.

    ``owner`` is the id, as the core was given it, of the client's request that it carries on, where that is known to matter.
    """

    session: int
    data: bytes
    owner: bytes | None = None


class OpenSession(Struct, frozen=True, gc=False):
    """Start (or take over an unused, already started) server process and call it ``session`` from now on."""

    session: int


class CloseSession(Struct, frozen=True, gc=False):
    """End the server behind ``session``: close its stdin, wait, terminate, kill. Nothing more is heard of it."""

    session: int


class SetTimer(Struct, frozen=True, gc=False):
    """Call ``on_timer(key, now)`` at monotonic time ``at`` (seconds). The same key again moves the timer."""

    key: str
    at: float


class CancelTimer(Struct, frozen=True, gc=False):
    """Forget the timer ``key``, if it is set."""

    key: str


class Log(Struct, frozen=True, gc=False):
    """One line for the operator (stderr)."""

    level: int
    text: str


class Loss(Struct, frozen=True, gc=False):
    """Something that could not be carried: logged once per kind and counted. ``change`` is a change id or an area."""

    change: str
    detail: str


class Finished(Struct, frozen=True, gc=False):
    """The conversation is over: close every session and exit with ``status``."""

    status: int


Effect = ToClient | ToServer | OpenSession | CloseSession | SetTimer | CancelTimer | Log | Loss | Finished

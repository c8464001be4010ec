"""Cursors are opaque and bound to the session that issued them (server/utilities/pagination).

A legacy server's cursor means nothing to another process of it, so it travels wrapped with the session it came from, and
one that comes back too late is answered -32602 instead of being misread. ``""`` is a cursor like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from dragoman import frame

if TYPE_CHECKING:
    from dragoman.bridging.session import Session


def wrap(value: bytes, session: Session, instance: str) -> bytes:
    """A result's JSON text with its ``nextCursor`` wrapped; the same text when it has none."""
    if b'"nextCursor"' not in value:
        return value
    members = frame.members(Raw(value)) or {}
    cursor = frame.text(members.get("nextCursor"))
    if cursor is None:
        return value
    members["nextCursor"] = Raw(frame.encode(_prefix(session, instance) + cursor))
    return frame.encode(members)


def unwrap(cursor: Raw, session: Session, instance: str) -> Raw | None:
    """The server's own cursor; None when this session did not issue it."""
    text = frame.text(cursor)
    prefix = _prefix(session, instance)
    return Raw(frame.encode(text.removeprefix(prefix))) if text is not None and text.startswith(prefix) else None


def _prefix(session: Session, instance: str) -> str:
    return f"{instance}.{session.number}."

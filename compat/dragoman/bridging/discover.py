"""sep2575_discover: ``server/discover`` answered from the handshake (2026-07-28, server/discover)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.envelope import SUPPORTED
from dragoman_specs.names import META_SERVER_INFO

if TYPE_CHECKING:
    from dragoman.bridging.session import Session


def discover_result(session: Session) -> bytes:
    """A ``DiscoverResult``: the modern revisions that are accepted, and what the server said of itself.

    ``logging`` is declared always: the bridge filters messages by each request's level itself, and widely used legacy
    servers send them without declaring it, which a modern server must not (server/utilities/logging#capabilities).

    Not cacheable beyond the moment: the process behind may be replaced by another build of it.
    """
    value: dict[str, Any] = {
        "resultType": "complete",
        "supportedVersions": SUPPORTED,
        "capabilities": {**session.server_capabilities, "logging": session.server_capabilities.get("logging", {})},
        "ttlMs": 0,
        "cacheScope": "private",
    }
    if session.instructions is not None:
        value["instructions"] = session.instructions
    if session.server_info:
        value["_meta"] = {META_SERVER_INFO: Raw(session.server_info)}
    return frame.encode(value)

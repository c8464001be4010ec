"""How a client of one revision and a server of another are brought together (basic/versioning#compatibility-matrix).

The three steps inside the legacy era are additive, so its revisions are reshaped statelessly; the step to 2026-07-28
removed the handshake, sessions and server requests, so crossing it takes a bridge with a memory.
"""

from __future__ import annotations

from enum import Enum

from dragoman_specs.version import Era, Version


class Shape(Enum):
    """What runs between two peers."""

    PASSTHROUGH = "passthrough"
    """The same revision: bytes are relayed unchanged."""
    RESHAPE = "reshape"
    """The same era, another revision: the chain of changes."""
    UPGRADE_SERVER = "upgrade-server"
    """A modern client and a legacy server: bridge and chain."""
    DOWNGRADE_SERVER = "downgrade-server"
    """A legacy client and a modern server: bridge and chain."""


def plan(client: Version, server: Version) -> Shape:
    """The shape for a pair of revisions."""
    if client is server:
        return Shape.PASSTHROUGH
    if client.era is server.era:
        return Shape.RESHAPE
    return Shape.UPGRADE_SERVER if client.era is Era.MODERN else Shape.DOWNGRADE_SERVER

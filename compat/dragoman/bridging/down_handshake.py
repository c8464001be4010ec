"""``initialize`` answered from ``server/discover`` (sep2575_handshake; 2025-11-25, basic/lifecycle#initialization).

The revision is the client's, if it has a handshake, else the newest that has one. What the client says of itself is kept, and
stamped on every request: a modern server knows its client from nothing else.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from dragoman import chain, downchain, frame
from dragoman.bridging.capabilities import for_modern_server, named_implementation
from dragoman.bridging.context import Context
from dragoman_specs.names import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION, META_SERVER_INFO
from dragoman_specs.version import LATEST_LEGACY, LATEST_MODERN, Era, Version, parse


class Hello:
    """One client's handshake: its ``revision``, ``capabilities`` restated for 2026-07-28, and the ``stamps`` of its requests."""

    __slots__ = ("capabilities", "client_id", "revision", "stamps")

    def __init__(self, request: frame.Request) -> None:
        members = frame.members(request.params) or {}
        declared = frame.tree(members["capabilities"]) if "capabilities" in members else {}
        info = frame.tree(members["clientInfo"]) if "clientInfo" in members else {}
        version = parse(frame.text(members.get("protocolVersion")))
        self.client_id = request.id
        self.revision: Version = version if version is not None and version.era is Era.LEGACY else LATEST_LEGACY
        self.capabilities: dict[str, Any] = for_modern_server(declared if isinstance(declared, dict) else {})
        self.stamps = {
            META_PROTOCOL_VERSION: Raw(frame.encode(LATEST_MODERN)),
            META_CLIENT_INFO: Raw(frame.encode(named_implementation(info))),
            META_CLIENT_CAPABILITIES: Raw(frame.encode(self.capabilities)),
        }


def unusable(discovered: dict[str, Raw]) -> str | None:
    """Why a ``DiscoverResult`` is of no use: it names revisions, and none that has been heard of."""
    named = frame.tree(discovered["supportedVersions"]) if "supportedVersions" in discovered else None
    if not isinstance(named, list) or not named or str(LATEST_MODERN) in named:
        return None
    return f"The server speaks {', '.join(map(str, named))[:200]}, and not {LATEST_MODERN}"


def initialize_result(context: Context, hello: Hello, discovered: dict[str, Raw]) -> bytes:
    """An ``InitializeResult``; ``discovered`` are the members of the server's ``DiscoverResult``."""
    capabilities, losses = downchain.capabilities_to_legacy(discovered.get("capabilities", Raw(b"{}")), hello.revision)
    meta = frame.members(discovered.get("_meta")) or {}
    # _meta only should name the server; earlier drafts had it beside the capabilities, and so have servers in the field.
    named = meta.get(META_SERVER_INFO, discovered.get("serverInfo"))
    info, more = (b"", ()) if named is None else chain.implementation_to_client(named)
    for loss in (*losses, *more):
        context.loss(loss.change, loss.detail)
    result: dict[str, Any] = {
        "protocolVersion": str(hello.revision),
        "capabilities": Raw(capabilities),
        "serverInfo": Raw(info or frame.encode({"name": context.options.command_label, "version": "0"})),
    }
    if frame.text(discovered.get("instructions")) is not None:
        result["instructions"] = discovered["instructions"]
    return frame.encode(result)

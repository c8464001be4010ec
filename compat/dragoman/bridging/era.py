"""Which era a server speaks, judged by its answer to ``server/discover`` (basic/transports/stdio#backward-compatibility).

A list that names a modern revision is proof, in a result or in the refusal of ours; so are the other two errors that only a
modern server gives, in their right shape. Anything else is legacy: there are servers that answer ``{}`` to everything.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from dragoman import __version__, frame
from dragoman_specs.names import (
    HEADER_MISMATCH,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_PROTOCOL_VERSION,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from dragoman_specs.version import LATEST_MODERN, Era, parse

LEGACY, MODERN, DUAL = "legacy", "modern", "dual"
"""``DUAL``: modern, and it has not been asked whether it takes a handshake too."""
OWN_INFO = frame.encode({"name": "dragoman", "title": "dragoman protocol bridge", "version": __version__})


def discover_params() -> bytes:
    """Params of a ``server/discover`` of the bridge's own, with the complete envelope."""
    meta = {META_PROTOCOL_VERSION: str(LATEST_MODERN), META_CLIENT_INFO: Raw(OWN_INFO), META_CLIENT_CAPABILITIES: {}}
    return frame.encode({"_meta": meta})


def judge(answer: frame.Result | frame.Failure) -> tuple[str, str]:
    """``LEGACY`` or ``MODERN``, and why."""
    value = _tree(answer.result if isinstance(answer, frame.Result) else answer.error)
    if isinstance(answer, frame.Result):
        return _of_versions(value, "supportedVersions", "its server/discover")
    if not isinstance(value, dict):
        return LEGACY, "it answered server/discover with neither a result nor an error"
    code, data = value.get("code"), value.get("data")
    if code == UNSUPPORTED_PROTOCOL_VERSION:
        return _of_versions(data, "supported", "its refusal of our revision")
    if code == MISSING_CLIENT_CAPABILITY and isinstance(data, dict) and isinstance(data.get("requiredCapabilities"), dict):
        return MODERN, "it asks for client capabilities"
    if code == HEADER_MISMATCH and isinstance(value.get("message"), str):
        return MODERN, "it compares headers"
    return LEGACY, f"it answered server/discover with error {code}"


def _tree(raw: Raw) -> Any:
    try:
        return frame.tree(raw)
    except RecursionError:
        return None


def _of_versions(holder: Any, member: str, where: str) -> tuple[str, str]:
    versions = holder.get(member) if isinstance(holder, dict) else None
    if not isinstance(versions, list):
        return LEGACY, f"{where} names no revisions"
    known = [parse(version) for version in versions if isinstance(version, str)]
    if any(version is not None and version.era is Era.MODERN for version in known):
        return MODERN, f"{where} names a modern revision"
    return LEGACY, f"{where} names no modern revision"

"""What a strict legacy peer knows of its own revision, and the words it must never be shown.

The four legacy revisions are 2024-11-05, 2025-03-26, 2025-06-18 and 2025-11-25 (docs/specification/<revision>). The keys below
``io.modelcontextprotocol/`` are reserved by the protocol (2025-11-25, basic/index#meta); the legacy era defines only
``related-task`` (2025-11-25, basic/utilities/tasks). All others belong to 2026-07-28, as do ``inputResponses`` and ``requestState``.
"""

from __future__ import annotations

from peer_wire import JsonObject

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_METHODS = frozenset({"server/discover", "subscriptions/listen", "notifications/subscriptions/acknowledged"})
MODERN_PARAMS = ("inputResponses", "requestState")
RESERVED = "io.modelcontextprotocol/"
RELATED_TASK = RESERVED + "related-task"


def has(revision: str, since: str) -> bool:
    """True when ``revision`` is ``since`` or later."""
    return REVISIONS.index(revision) >= REVISIONS.index(since)


def modern_word(frame: JsonObject) -> str | None:
    """Name the first word of ``frame`` that no legacy revision has, or None."""
    method = frame.get("method")
    if method in MODERN_METHODS:
        return f"method {method}"
    if method is None:
        return _in_answer(frame.get("result"))
    params = frame.get("params")
    if not isinstance(params, dict):
        return None
    for member in MODERN_PARAMS:
        if member in params:
            return f"params.{member} of {method}"
    if method == "initialize" and params.get("protocolVersion") not in REVISIONS:
        return f"protocolVersion {params.get('protocolVersion')!r}"
    word = _reserved_key(params)
    return f"params._meta {word} of {method}" if word else None


def _in_answer(result: object) -> str | None:
    """An answer to a question of the server: legacy results have neither ``resultType`` nor reserved keys."""
    if not isinstance(result, dict):
        return None
    if "resultType" in result:
        return "result.resultType"
    word = _reserved_key(result)
    return f"result._meta {word}" if word else None


def _reserved_key(holder: JsonObject) -> str | None:
    meta = holder.get("_meta")
    if not isinstance(meta, dict):
        return None
    return next((key for key in meta if key.startswith(RESERVED) and key != RELATED_TASK), None)

"""Every method of the protocol: who sends it, which revisions have it, and what its answer may be.

One row a method and sender, because a name that both sides send may leave the protocol on one side only (client
``notifications/progress`` ended with 2025-11-25, the server's lives on). The rows follow the unions ``ClientRequest``,
``ClientNotification``, ``ServerRequest`` and ``ServerNotification`` of the official schemas. ``elicitation/create``,
``sampling/createMessage`` and ``roots/list`` end with 2025-11-25 as messages; in 2026-07-28 the same objects are
entries of ``inputRequests`` (basic/patterns/mrtr), see ``INPUT_REQUESTS``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from dragoman_specs.version import LATEST_LEGACY, LATEST_MODERN, Version

Sender = Literal["client", "server"]
Kind = Literal["request", "notification"]


class Method(NamedTuple):
    """One method in the mouth of one sender."""

    name: str
    sender: Sender
    kind: Kind
    since: Version
    until: Version | None = None
    """The last revision that has it; ``None`` while the newest one does."""
    cacheable: bool = False
    """Its complete result needs ``ttlMs`` and ``cacheScope`` (2026-07-28, server/utilities/caching)."""
    asks: bool = False
    """It may be answered ``input_required`` (2026-07-28, basic/patterns/mrtr)."""
    name_member: Literal["name", "uri"] | None = None
    """The member of ``params`` that names its target, and that ``Mcp-Name`` repeats (2026-07-28, basic/transports/streamable-http)."""

    def exists_in(self, version: Version) -> bool:
        """Whether ``version`` has this row."""
        return self.since <= version and (self.until is None or version <= self.until)


_FIRST = Version.V2024_11_05
_JUN25 = Version.V2025_06_18
_NOV25 = Version.V2025_11_25
_MODERN = Version.V2026_07_28

ROWS: tuple[Method, ...] = (
    # client requests
    Method("initialize", "client", "request", _FIRST, _NOV25),
    Method("server/discover", "client", "request", _MODERN, cacheable=True),
    Method("ping", "client", "request", _FIRST, _NOV25),
    Method("logging/setLevel", "client", "request", _FIRST, _NOV25),
    Method("tools/list", "client", "request", _FIRST, cacheable=True),
    Method("tools/call", "client", "request", _FIRST, asks=True, name_member="name"),
    Method("prompts/list", "client", "request", _FIRST, cacheable=True),
    Method("prompts/get", "client", "request", _FIRST, asks=True, name_member="name"),
    Method("resources/list", "client", "request", _FIRST, cacheable=True),
    Method("resources/templates/list", "client", "request", _FIRST, cacheable=True),
    Method("resources/read", "client", "request", _FIRST, cacheable=True, asks=True, name_member="uri"),
    Method("resources/subscribe", "client", "request", _FIRST, _NOV25),
    Method("resources/unsubscribe", "client", "request", _FIRST, _NOV25),
    Method("subscriptions/listen", "client", "request", _MODERN),
    Method("completion/complete", "client", "request", _FIRST),
    # core tasks lived for one revision, and both sides could own one
    Method("tasks/get", "client", "request", _NOV25, _NOV25),
    Method("tasks/result", "client", "request", _NOV25, _NOV25),
    Method("tasks/list", "client", "request", _NOV25, _NOV25),
    Method("tasks/cancel", "client", "request", _NOV25, _NOV25),
    # client notifications
    Method("notifications/initialized", "client", "notification", _FIRST, _NOV25),
    Method("notifications/cancelled", "client", "notification", _FIRST),
    Method("notifications/progress", "client", "notification", _FIRST, _NOV25),
    Method("notifications/roots/list_changed", "client", "notification", _FIRST, _NOV25),
    Method("notifications/tasks/status", "client", "notification", _NOV25, _NOV25),
    # server requests: 2026-07-28 has none
    Method("ping", "server", "request", _FIRST, _NOV25),
    Method("sampling/createMessage", "server", "request", _FIRST, _NOV25),
    Method("roots/list", "server", "request", _FIRST, _NOV25),
    Method("elicitation/create", "server", "request", _JUN25, _NOV25),
    Method("tasks/get", "server", "request", _NOV25, _NOV25),
    Method("tasks/result", "server", "request", _NOV25, _NOV25),
    Method("tasks/list", "server", "request", _NOV25, _NOV25),
    Method("tasks/cancel", "server", "request", _NOV25, _NOV25),
    # server notifications
    Method("notifications/cancelled", "server", "notification", _FIRST),
    Method("notifications/progress", "server", "notification", _FIRST),
    Method("notifications/message", "server", "notification", _FIRST),
    Method("notifications/tools/list_changed", "server", "notification", _FIRST),
    Method("notifications/prompts/list_changed", "server", "notification", _FIRST),
    Method("notifications/resources/list_changed", "server", "notification", _FIRST),
    Method("notifications/resources/updated", "server", "notification", _FIRST),
    Method("notifications/elicitation/complete", "server", "notification", _NOV25, _NOV25),
    Method("notifications/tasks/status", "server", "notification", _NOV25, _NOV25),
    Method("notifications/subscriptions/acknowledged", "server", "notification", _MODERN),
)


def _by_name() -> dict[str, tuple[Method, ...]]:
    table: dict[str, tuple[Method, ...]] = {}
    for row in ROWS:
        table[row.name] = (*table.get(row.name, ()), row)
    return table


METHODS: dict[str, tuple[Method, ...]] = _by_name()
"""The rows by name; a name that both sides send has the client's row first."""

CACHEABLE: frozenset[str] = frozenset(row.name for row in ROWS if row.cacheable)
ASKS: frozenset[str] = frozenset(row.name for row in ROWS if row.asks)
INPUT_REQUESTS: frozenset[str] = frozenset(("elicitation/create", "sampling/createMessage", "roots/list"))
"""What ``inputRequests`` may hold in 2026-07-28."""

_REMOVED: frozenset[str] = frozenset(
    row.name for row in ROWS if row.sender == "client" and row.exists_in(LATEST_LEGACY) and not row.exists_in(LATEST_MODERN)
)


def find(name: str, version: Version, sender: Sender | None = None) -> Method | None:
    """The row of ``name`` in ``version``: that of ``sender``, or of either side (the client's first) if none is given."""
    for row in METHODS.get(name, ()):
        if (sender is None or row.sender == sender) and row.exists_in(version):
            return row
    return None


def is_removed_core(name: str) -> bool:
    """Whether legacy clients could send ``name`` and 2026-07-28 clients no longer can.

    A modern peer answers such a request with -32601, though an extension method of an unknown name would be relayed.
    """
    return name in _REMOVED

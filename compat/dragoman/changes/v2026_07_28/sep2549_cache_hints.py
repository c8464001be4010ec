"""SEP-2549: lists and resources say how long, and for whom, they may be cached (2026-07-28, server/utilities/caching).

A legacy server promised neither. So: stale at once and private, unless the operator allows a time for the lists whose
changes this server announces. Members of these names in a legacy result mean nothing and are overwritten: the page has
``ttlMs`` absent "only in older server versions", and a leaked "public" must not open a private list to all. A legacy client
has no words for them.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Raw

from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman_specs.methods import CACHEABLE
from dragoman_specs.version import Version

CHANGE = Change("sep2549_cache_hints", since=Version.V2026_07_28)

STALE: Final = Raw(b"0")
PRIVATE: Final = Raw(b'"private"')

# Which capability's listChanged speaks for the list. One notification covers both kinds of resource lists.
_ANNOUNCED_BY: Final = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}


@CHANGE.upgrade(CACHEABLE, Part.RESULT)
def hints(result: Members, crossing: Crossing, _notes: Notes) -> Members:
    """Add both hints."""
    return {**result, "ttlMs": _time_to_live(crossing), "cacheScope": PRIVATE}


def _time_to_live(crossing: Crossing) -> Raw:
    if not crossing.list_ttl_ms:
        return STALE
    capability: Any = crossing.server_capabilities.get(_ANNOUNCED_BY.get(crossing.method, ""))
    announced = isinstance(capability, dict) and capability.get("listChanged") is True
    return Raw(b"%d" % crossing.list_ttl_ms) if announced else STALE


@CHANGE.downgrade(CACHEABLE, Part.RESULT)
def no_hints(result: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Take both hints out."""
    if "ttlMs" not in result and "cacheScope" not in result:
        return result
    return {name: value for name, value in result.items() if name not in {"ttlMs", "cacheScope"}}

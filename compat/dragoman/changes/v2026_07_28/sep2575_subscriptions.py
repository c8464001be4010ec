"""SEP-2575: change notifications belong to a ``subscriptions/listen`` request (2026-07-28, basic/patterns/subscriptions).

Which one is the bridge's to stamp. What a legacy server writes under the key means nothing, and would misdirect.
"""

from __future__ import annotations

from dragoman import frame, shape
from dragoman.change import EVERY, Change, Crossing, Members, Notes, Part
from dragoman_specs.names import META_SUBSCRIPTION_ID
from dragoman_specs.version import Version

CHANGE = Change("sep2575_subscriptions", since=Version.V2026_07_28)


@CHANGE.upgrade(EVERY, Part.NOTIFICATION)
def no_foreign_subscription(params: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """Take a server's own ``subscriptionId`` out."""
    meta = frame.members(params.get("_meta")) or {}
    if META_SUBSCRIPTION_ID not in meta:
        return params
    kept = {name: value for name, value in meta.items() if name != META_SUBSCRIPTION_ID}
    return {**params, "_meta": shape.raw(kept)}

"""What the relay benchmark tells, and what is asked of dragoman.

Latency that a relay adds is its own minus that of the bare server in the same round.
"""

from __future__ import annotations

from shared import Target, Values

from .contenders import DIRECT, DRAGOMAN, NULL, UPLIFT

QUANTITIES = {
    "latency_p50": ("small call, p50", "µs"),
    "latency_p95": ("small call, p95", "µs"),
    "added_p50": ("added by the relay, p50", "µs"),
    "added_p95": ("added by the relay, p95", "µs"),
    "throughput": ("64 calls in flight", "calls/s"),
    "processor": ("the same, relay's processor time", "µs/call"),
    "large_1": ("1 MB results", "MB/s"),
    "large_10": ("10 MB results", "MB/s"),
    "memory": ("memory growth over 10,000 calls", "MB"),
    "cold": ("start to first answer", "ms"),
}
"""Quantity: what it is called, and its unit."""

TARGETS = (
    Target("added_p50", DRAGOMAN, NULL, 1.6),
    Target("added_p95", DRAGOMAN, NULL, 1.6),
    Target("throughput", DRAGOMAN, NULL, 0.30, at_least=True),
    Target("large_10", DRAGOMAN, NULL, 0.8, at_least=True),
    Target("memory", DRAGOMAN, None, 5.0),
    Target("cold", DRAGOMAN, NULL, 1.35),
    Target("latency_p50", DRAGOMAN, UPLIFT, 0.9),
    Target("throughput", DRAGOMAN, UPLIFT, 2.0, at_least=True),
    Target("large_1", DRAGOMAN, UPLIFT, 6.0, at_least=True),
    Target("large_10", DRAGOMAN, UPLIFT, 20.0, at_least=True),
)


def with_added(values: Values) -> Values:
    """The round with the latency that each relay adds to the bare server."""
    added = {}
    for centile in ("p50", "p95"):
        by_name = values.get(f"latency_{centile}", {})
        if DIRECT in by_name:
            added[f"added_{centile}"] = {name: value - by_name[DIRECT] for name, value in by_name.items() if name != DIRECT}
    return values | added

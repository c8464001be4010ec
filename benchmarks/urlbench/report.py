"""What the benchmark of servers behind a URL tells, and what is asked of dragoman."""

from __future__ import annotations

from shared import Target

from .contenders import COMBINATIONS, DIRECT, FAST, PROXY, REMOTE, L, M, named

WRAP_QUANTITIES = {
    "latency_p50": ("small call, p50", "µs"),
    "latency_p99": ("small call, p99", "µs"),
    "added_p50": ("added by the bridge, p50", "µs"),
    "added_p99": ("added by the bridge, p99", "µs"),
    "throughput": ("32 calls in flight", "calls/s"),
    "processor": ("the same, bridge's processor time", "µs/call"),
    "large_10": ("10 MB results", "MB/s"),
    "rest": ("memory at rest", "MB"),
    "growth": ("growth over 3,000 calls", "MB"),
    "cold": ("start to first answer", "ms"),
    "call": ("start to first call's answer", "ms"),
}
"""Quantity: what it is called, and its unit."""

SERVE_QUANTITIES = {
    "latency_p50": ("1 connection, p50", "µs"),
    "latency_p95": ("1 connection, p95", "µs"),
    "throughput": ("32 connections", "calls/s"),
    "processor": ("the same, processor time", "µs/call"),
    "driver": ("the same, the client's own", "µs/call"),
    "memory": ("memory after 10,000 calls", "MB"),
    "growth": ("growth over these calls", "MB"),
    "large": ("10 MB results", "MB/s"),
    "cold": ("start to first answer", "ms"),
}

MINE = {pair: named("dragoman", *pair) for pair in COMBINATIONS}
LEGACY, MODERN = MINE[L, L], MINE[M, M]
OTHERS = {named(REMOTE, L, L): LEGACY, named(PROXY, L, L): LEGACY, named(FAST, L, L): LEGACY, named(FAST, M, M): MODERN}
"""The other bridges, and dragoman where it does the same."""

WRAP_TARGETS = (
    *(Target("latency_p50", name, DIRECT[server]) for (_, server), name in MINE.items()),
    *(Target("throughput", name, DIRECT[server]) for (_, server), name in MINE.items()),
    *(Target("added_p50", mine, other) for other, mine in OTHERS.items()),
    *(Target("throughput", mine, other) for other, mine in OTHERS.items()),
    *(Target("large_10", mine, other) for other, mine in OTHERS.items()),
    *(Target("call", mine, other) for other, mine in OTHERS.items()),
    *(Target("rest", mine, other) for other, mine in OTHERS.items()),
)

SERVE_TARGETS = (
    *(Target("latency_p50", name, DIRECT[server]) for (_, server), name in MINE.items()),
    *(Target("throughput", name, DIRECT[server]) for (_, server), name in MINE.items()),
    *(Target("latency_p50", mine, other) for other, mine in OTHERS.items() if other.startswith(FAST)),
    *(Target("throughput", mine, other) for other, mine in OTHERS.items() if other.startswith(FAST)),
)

"""What the HTTP benchmark tells, and what is asked of dragoman."""

from __future__ import annotations

from shared import Target

from .contenders import FASTMCP, FLOOR, LEGACY, MODERN, NPM, NPM_MODERN, SERVERS

QUANTITIES = {
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
"""Quantity: what it is called, and its unit."""

TARGETS = (
    Target("latency_p50", MODERN, FLOOR, 4.0),
    Target("latency_p95", MODERN, FLOOR, 4.0),
    Target("throughput", MODERN, FLOOR, 0.25, at_least=True),
    Target("processor", MODERN, FLOOR),
    Target("large", MODERN, FLOOR),
    Target("throughput", MODERN, NPM_MODERN),
    Target("latency_p50", LEGACY, FLOOR),
    Target("throughput", LEGACY, FLOOR),
    Target("throughput", LEGACY, NPM),
    Target("throughput", LEGACY, FASTMCP),
)
"""The bounds are those of modern small calls; a ratio without one is told for comparison."""

SERVER_TARGETS = tuple(
    Target(quantity, server, against)
    for server in SERVERS
    for quantity in ("latency_p50", "throughput")
    for against in (f"{server}, constant", SERVERS[0])
    if against != server
)

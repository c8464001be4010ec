"""What the benchmark tells, and what is asked of the library."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from shared import Target

from .contenders import AGAINST, DRAGOMAN, SDK

if TYPE_CHECKING:
    from shared import Values

_KINDS = {"async": "async tool", "sync": "sync tool", "large": "100 KB result"}

QUANTITIES = {
    **{f"rate_{kind}": (f"{title}, 32 connections", "calls/s") for kind, title in _KINDS.items()},
    **{f"p50_{kind}": (f"{title}, one caller, p50", "µs") for kind, title in _KINDS.items()},
    **{f"p99_{kind}": (f"{title}, one caller, p99", "µs") for kind, title in _KINDS.items()},
    **{f"processor_{kind}": (f"{title}, processor time", "µs/call") for kind, title in _KINDS.items()},
    **{f"driver_{kind}": (f"{title}, the client's own", "µs/call") for kind, title in _KINDS.items()},
    "rest": ("memory at rest", "MB"),
    "memory": ("memory after all calls", "MB"),
    "cold": ("start to first answer", "ms"),
    "import_nothing": ("an empty program", "ms"),
    "import_bare": ("bare import", "ms"),
    "import_tool": ("import and one tool", "ms"),
    "import_app": ("import, one tool, and the application", "ms"),
}
"""Quantity: what it is called, and its unit."""

FASTER, LIGHTER = 3.0, 0.35
_RATES = tuple(f"rate_{kind}" for kind in _KINDS)
_TOLD = (*(f"{p}_{kind}" for kind in _KINDS for p in ("p50", "p99")), "rest", "cold")


def targets(rounds: list[Values], judged: bool) -> tuple[Target, ...]:
    """The bounds are those of calls a second and of cold import; a ratio without one is told for comparison."""
    found = []
    for subject, (plain, tuned) in AGAINST.items():
        for quantity in (*_RATES, *_TOLD):
            rate = quantity in _RATES
            found.append(Target(quantity, subject, plain, FASTER if rate and judged else None, at_least=rate))
            if rate and (against := best(rounds, quantity, tuned)) is not None:
                found.append(Target(quantity, subject, against, at_least=True))
    found += [Target(quantity, DRAGOMAN, SDK, LIGHTER if judged else None) for quantity in ("import_bare", "import_tool")]
    found.append(Target("import_app", DRAGOMAN, SDK))
    measured = {quantity for values in rounds for quantity in values}
    return tuple(target for target in found if target.quantity in measured)


def best(rounds: list[Values], quantity: str, names: tuple[str, ...]) -> str | None:
    """The one of ``names`` that did most over all rounds, by the median."""
    medians = {}
    for name in names:
        seen = [values[quantity][name] for values in rounds if name in values.get(quantity, {})]
        if seen:
            medians[name] = median(seen)
    if not medians:
        return None
    return max(medians, key=medians.__getitem__)

"""Figures, ratios and targets as a table or as JSON.

A ratio is taken inside each round, between contenders that ran side by side; what is told is the median of the rounds with the
lowest and the highest. Latency that a relay adds is its own minus that of the bare server in the same round.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from .contenders import DIRECT, DRAGOMAN, NULL, UPLIFT

if TYPE_CHECKING:
    from .measures import Values

NONE = "-"
"""What a table shows where there is no value."""

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


class Target(NamedTuple):
    """dragoman's value over that of ``against`` (or the value alone) is at most, or at least, ``bound``."""

    quantity: str
    against: str | None
    bound: float
    at_least: bool = False

    def ratios(self, rounds: list[Values]) -> list[float]:
        """The ratio of every round that has both values."""
        found = []
        for values in rounds:
            by_name = values.get(self.quantity, {})
            mine, other = by_name.get(DRAGOMAN), by_name.get(self.against) if self.against else 1.0
            if mine is not None and other is not None and other > 0:
                found.append(mine / other)
        return found

    def met(self, ratio: float) -> bool:
        """Whether the ratio is on the right side of the bound."""
        return ratio >= self.bound if self.at_least else ratio <= self.bound


TARGETS = (
    Target("added_p50", NULL, 1.6),
    Target("added_p95", NULL, 1.6),
    Target("throughput", NULL, 0.30, at_least=True),
    Target("large_10", NULL, 0.8, at_least=True),
    Target("memory", None, 5.0),
    Target("cold", NULL, 1.35),
    Target("latency_p50", UPLIFT, 0.9),
    Target("throughput", UPLIFT, 2.0, at_least=True),
    Target("large_1", UPLIFT, 6.0, at_least=True),
    Target("large_10", UPLIFT, 20.0, at_least=True),
)


def with_added(values: Values) -> Values:
    """The round with the latency that each relay adds to the bare server."""
    added = {}
    for centile in ("p50", "p95"):
        by_name = values.get(f"latency_{centile}", {})
        if DIRECT in by_name:
            added[f"added_{centile}"] = {name: value - by_name[DIRECT] for name, value in by_name.items() if name != DIRECT}
    return values | added


def machine() -> dict[str, object]:
    """Where and when the figures were taken."""
    try:
        told = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        told = []
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": told[0] if told else platform.processor(),
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def report(rounds: list[Values], names: list[str], where: dict[str, object]) -> dict[str, object]:
    """Everything that the table shows, and every round behind it."""
    rounds = [with_added(values) for values in rounds]
    figures = {}
    for quantity in QUANTITIES:
        seen = {name: [values[quantity][name] for values in rounds if name in values.get(quantity, {})] for name in names}
        if any(seen.values()):
            figures[quantity] = {name: median(found) for name, found in seen.items() if found}
    targets = []
    for target in TARGETS:
        ratios = target.ratios(rounds)
        row: dict[str, object] = {**target._asdict()}
        if ratios:
            middle = median(ratios)
            row |= {"ratio": middle, "lowest": min(ratios), "highest": max(ratios), "met": target.met(middle)}
        targets.append(row)
    return {"machine": where, "figures": figures, "targets": targets, "rounds": rounds}


def number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table that reads well as text and is Markdown too; all columns but the first are to the right."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        return "| " + " | ".join(padded) + " |"

    return "\n".join(line(row) for row in [header, rule, *rows])


def tables(outcome: dict[str, object], names: list[str]) -> str:
    """Figures of every contender, then dragoman against the targets."""
    where, figures, targets = outcome["machine"], outcome["figures"], outcome["targets"]
    assert isinstance(where, dict)
    assert isinstance(figures, dict)
    assert isinstance(targets, list)
    rows = []
    for quantity, by_name in figures.items():
        title, unit = QUANTITIES[quantity]
        rows.append([f"{title}, {unit}", *(number(by_name[name]) if name in by_name else NONE for name in names)])
    verdicts = []
    for row in targets:
        title, unit = QUANTITIES[row["quantity"]]
        against = f"over {row['against']}" if row["against"] else unit
        bound = f"{'≥' if row['at_least'] else '≤'} {row['bound']:g}"
        if "ratio" in row:
            spread = f"{number(row['lowest'])} to {number(row['highest'])}"
            verdicts.append([f"{title}, {against}", number(row["ratio"]), spread, bound, "yes" if row["met"] else "NO"])
        else:
            verdicts.append([f"{title}, {against}", NONE, NONE, bound, "not measured"])
    told = "{date}, {python}, {system}, {cpu}, {cpus} CPUs, load {load} before the run".format_map(where)
    heads = ["median of rounds", *names], ["dragoman", "ratio", "lowest to highest", "target", "met"]
    return "\n\n".join((told, markdown(heads[0], rows), markdown(heads[1], verdicts)))

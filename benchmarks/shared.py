"""What the benchmarks share: how dragoman is started, the machine they ran on, targets, and the tables that a run ends in.

A ratio is taken inside each round, between contenders that ran side by side; what is told is the median of the rounds with the
lowest and the highest.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import shlex
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HERE = Path(__file__).resolve().parent
CHILD = [sys.executable, "-I", "-S", str(HERE / "tiny_server.py")]
"""The server behind every contender. Without ``site`` it starts in about the time of a bare interpreter."""

TEXT = "The quick brown fox jumps over the lazy dog, 64 bytes in total.."
"""What a small call carries and gets back."""

MB = 1_000_000

Values = dict[str, dict[str, float]]
"""Value by contender, by quantity: what one round tells."""

NONE = "-"
"""What a table shows where there is no value."""


class WrongAnswerError(Exception):
    """A contender gave an answer that is not the one asked for, or none."""


class Target(NamedTuple):
    """The value of ``subject`` over that of ``against`` (or alone) is at most, or at least, ``bound``; without a bound it is only told."""

    quantity: str
    subject: str
    against: str | None
    bound: float | None = None
    at_least: bool = False

    def ratios(self, rounds: list[Values]) -> list[float]:
        """The ratio of every round that has both values."""
        found = []
        for values in rounds:
            by_name = values.get(self.quantity, {})
            mine, other = by_name.get(self.subject), by_name.get(self.against) if self.against else 1.0
            if mine is not None and other is not None and other > 0:
                found.append(mine / other)
        return found

    def met(self, ratio: float) -> bool | None:
        """Whether the ratio is on the right side of the bound, if there is one."""
        if self.bound is None:
            return None
        return ratio >= self.bound if self.at_least else ratio <= self.bound


def words(allowed: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Make an argparse type: some of the allowed words, separated by commas."""

    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        if unknown := [word for word in chosen if word not in allowed]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: choose from {', '.join(allowed)}")
        return chosen

    return parse


def dragoman_command(given: str | None) -> list[str] | None:
    """The way to start dragoman: as told, else the console script beside this interpreter, else ``-m``, else none."""
    if given:
        return shlex.split(given)
    script = Path(sys.executable).with_name("dragoman")
    if script.exists():
        return [str(script)]
    from importlib.util import find_spec

    return [sys.executable, "-m", "dragoman"] if find_spec("dragoman") and find_spec("dragoman.__main__") else None


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


def report(
    rounds: list[Values], names: list[str], quantities: Mapping[str, tuple[str, str]], targets: tuple[Target, ...], where: dict[str, object]
) -> dict[str, object]:
    """Everything that the tables show, and every round behind it."""
    figures = {}
    for quantity in quantities:
        seen = {name: [values[quantity][name] for values in rounds if name in values.get(quantity, {})] for name in names}
        if any(seen.values()):
            figures[quantity] = {name: median(found) for name, found in seen.items() if found}
    judged = []
    for target in targets:
        row: dict[str, object] = {**target._asdict()}
        if ratios := target.ratios(rounds):
            middle = median(ratios)
            row |= {"ratio": middle, "lowest": min(ratios), "highest": max(ratios), "met": target.met(middle)}
        judged.append(row)
    return {"machine": where, "figures": figures, "targets": judged, "rounds": rounds}


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


def verdict(row: dict[str, object], title: str, unit: str, several: bool) -> list[str]:
    """One target as a row: what, ratio, span, bound, met."""
    against = f"over {row['against']}" if row["against"] else unit
    what = f"{row['subject']}: {title}, {against}" if several else f"{title}, {against}"
    sign = "≥" if row["at_least"] else "≤"
    bound = NONE if row["bound"] is None else f"{sign} {row['bound']:g}"
    if "ratio" not in row:
        return [what, NONE, NONE, bound, "not measured"]
    ratio, lowest, highest = row["ratio"], row["lowest"], row["highest"]
    assert isinstance(ratio, float)
    assert isinstance(lowest, float)
    assert isinstance(highest, float)
    met = {True: "yes", False: "NO", None: NONE}[row["met"]]  # type: ignore[index]
    return [what, number(ratio), f"{number(lowest)} to {number(highest)}", bound, met]


def tables(outcome: dict[str, object], names: list[str], quantities: Mapping[str, tuple[str, str]]) -> str:
    """Figures of every contender, then the subjects against the targets."""
    where, figures, targets = outcome["machine"], outcome["figures"], outcome["targets"]
    assert isinstance(where, dict)
    assert isinstance(figures, dict)
    assert isinstance(targets, list)
    rows = []
    for quantity, by_name in figures.items():
        title, unit = quantities[quantity]
        rows.append([f"{title}, {unit}", *(number(by_name[name]) if name in by_name else NONE for name in names)])
    several = len({row["subject"] for row in targets}) > 1
    verdicts = [verdict(row, *quantities[row["quantity"]], several) for row in targets]
    told = "{date}, {python}, {system}, {cpu}, {cpus} CPUs, load {load} before the run".format_map(where)
    first = "" if several or not targets else targets[0]["subject"]
    heads = ["median of rounds", *names], [first, "ratio", "lowest to highest", "target", "met"]
    parts = [told, markdown(heads[0], rows)]
    return "\n\n".join([*parts, markdown(heads[1], verdicts)] if verdicts else parts)

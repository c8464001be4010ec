"""``make conformance``: the official suite against ``dragoman serve``, ``dragoman wrap`` and the library, compared with ``expected/``.

Theory of operation: each run of ``runs.py`` is carried out by its leg (``server_leg.py``, ``client_leg.py``), the suite writes its checks
into a folder, and what it found is compared scenario by scenario. Runs follow each other, because some checks of the suite wait 500 ms
and no longer. A run fails on any difference, also for the better, and on what its leg finds wrong beside the checks.

A scenario counts as passed when it passed and was to pass, as xfailed when it failed as recorded, and as failed when it differs.
``--write`` records what was found instead of comparing; ``runs.py`` still says what may fail.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import client_leg
import server_leg
from runs import RUNS, Run
from scores import Scores, as_text, complaints, differences, expected, recorded, required, scores
from suite import HERE, SUITE, Broken, requirements


class Report(NamedTuple):
    """What one run came to."""

    run: Run
    found: Scores
    scored: list[str]
    differing: dict[str, str]
    seconds: float

    def failing(self) -> set[str]:
        return {name for name in self.scored if name not in self.found or self.found[name].failed}

    def row(self) -> tuple[str, ...]:
        warnings = sum(len(self.found[name].warnings) for name in self.scored if name in self.found)
        checks = [self.found[name] for name in self.scored if name in self.found]
        passed, failed = sum(one.passed for one in checks), sum(len(one.failed) for one in checks)
        extra = [name for name in self.found if name not in self.scored]
        clean = sum(1 for name in extra if not self.found[name].failed)
        state = "as expected" if not self.differing else f"{len(self.differing)} differ"
        scored = f"{len(self.scored) - len(self.failing())}/{len(self.scored)}"
        return (
            self.run.name,
            self.run.requirements,
            scored,
            f"{passed}/{passed + failed}",
            str(warnings),
            f"{clean}/{len(extra)}",
            f"{self.seconds:.0f} s",
            state,
        )


HEAD = ("run", "requirements", "scored", "checks", "warnings", "not scored", "time", "")


def measure(run: Run, folder: Path, write: bool) -> Report:
    """Carry out one run, and say what is different."""
    began = time.monotonic()
    scored = required(requirements(run.requirements), run.leg)
    wrong = (client_leg if run.leg == "client" else server_leg).measure(run, folder)
    found = scores(folder)
    kept = HERE / "expected" / f"{run.name}.json"
    if write:
        kept.write_text(as_text(recorded(found, scored)), encoding="utf-8")
    differing = differences(expected(json.loads(kept.read_text("utf-8"))), found)
    report = Report(run, found, scored, differing, time.monotonic() - began)
    if report.failing() != run.fails:
        differing["required"] = f"fail: {sorted(report.failing())}; may fail: {sorted(run.fails)}"
    if wrong:
        differing["beside the checks"] = "; ".join(wrong)
    return report


def tell(reports: list[Report], folders: dict[str, Path]) -> None:
    """The table, then every difference with the suite's own words."""
    rows = [HEAD, *(report.row() for report in reports)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for report in reports:
        said = complaints(folders[report.run.name])
        for name, what in report.differing.items():
            print(f"\n{report.run.name}: {name}: {what}")
            for complaint in said.get(name, ()):
                print(f"    {complaint[:600]}")


def count(reports: list[Report]) -> tuple[int, int, int]:
    """Scenarios that passed, that differ, and that failed as recorded."""
    failed = sum(len(report.differing) for report in reports)
    alike = [one for report in reports for name, one in report.found.items() if name not in report.differing]
    xfailed = sum(1 for one in alike if one.failed)
    return len(alike) - xfailed, failed, xfailed


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the official conformance suite against dragoman serve and dragoman wrap.")
    parser.add_argument("names", nargs="*", help=f"the runs: {', '.join(run.name for run in RUNS)} (default: all)")
    parser.add_argument("--write", action="store_true", help="record what is found in expected/")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the suite's own results here")
    options = parser.parse_args()
    if unknown := set(options.names) - {run.name for run in RUNS}:
        parser.error(f"no such run: {', '.join(sorted(unknown))}")
    if not SUITE.is_dir():
        print("the suite is not installed: npm ci --prefix tests/conformance", file=sys.stderr)
        return 2
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folders: dict[str, Path] = {}
        reports: list[Report] = []
        for run in RUNS:
            if options.names and run.name not in options.names:
                continue
            folder = folders[run.name] = (options.keep or Path(scratch)) / run.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            print(f"{run.name}: {run.subject()} under the requirements of {run.requirements}", flush=True)
            try:
                reports.append(measure(run, folder, options.write))
            except (Broken, subprocess.TimeoutExpired) as why:
                reports.append(Report(run, {}, [], {"the run": str(why)}, 0.0))
        tell(reports, folders)
    passed, failed, xfailed = count(reports)
    print(f"\n{passed} passed, {failed} failed, {xfailed} xfailed in {time.monotonic() - began:.0f}s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

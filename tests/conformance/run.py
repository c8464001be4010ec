"""``make conformance``: the official suite against servers of ours behind ``dragoman serve``, compared with ``expected/``.

Theory of operation: for each run of ``runs.py`` a bridge is started on a free port, the suite is pointed at it and writes its checks into
a folder, and what it found is compared scenario by scenario. Runs follow each other, because some checks of the suite wait 500 ms and
no longer. A run fails on any difference, also for the better, and on a fault in the bridge's stderr or its exit status.

A scenario counts as passed when it passed and was to pass, as xfailed when it failed as recorded, and as failed when it differs.
``--write`` records what was found instead of comparing; ``runs.py`` still says what may fail.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from runs import RUNS, Run
from scores import Scores, as_text, complaints, differences, expected, recorded, required, scores

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = HERE / "node_modules"
SUITE = PACKAGES / "@modelcontextprotocol" / "conformance"
SERVERS = ROOT / "tests" / "fixtures"
LISTENING = "dragoman: listening on "
FAULTS = ("Traceback", "was shown a modern word", "was shown a legacy word", "got a response to nothing")
START, STOP, SUITE_LIMIT = 30.0, 20.0, 180.0
ENDED = 128 + signal.SIGTERM
"""Its exit status after an orderly end by SIGTERM."""


class Broken(Exception):
    """A run could not be carried out."""


class Bridge:
    """``dragoman serve`` in front of the run's server. A thread reads its stderr to the end."""

    def __init__(self, run: Run) -> None:
        server = [sys.executable, str(SERVERS / run.server), *run.arguments]
        command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", "--", *server]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._lines: list[str] = []
        self._url: str | None = None
        self._listens = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line)
            if line.startswith(LISTENING) and self._url is None:
                self._url = line.removeprefix(LISTENING).strip()
                self._listens.set()
        self._listens.set()

    def url(self) -> str:
        """Where it listens, as soon as it says so."""
        if not self._listens.wait(START) or self._url is None:
            raise Broken(f"dragoman serve does not listen:\n{self.words()}")
        return self._url

    def words(self) -> str:
        return "".join(self._lines[-30:])

    def stop(self) -> list[str]:
        """End it in order; the answer is what was wrong with it."""
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return [f"dragoman serve did not end within {STOP:.0f} seconds of SIGTERM"]
        self._reader.join(STOP)
        wrong = [line.strip() for line in self._lines if any(word in line for word in FAULTS)]
        return wrong + ([] if status == ENDED else [f"dragoman serve exited with status {status}, not {ENDED}"])


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


def node() -> str:
    """The Node that npm brought for this platform, else one on the PATH that is new enough."""
    brought = PACKAGES / ".bin" / "node"
    if brought.exists():
        return str(brought)
    on_path = shutil.which("node")
    if on_path is not None:
        version = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=True).stdout
        if int(version.lstrip("v").partition(".")[0]) >= 22:
            return on_path
    raise Broken("the suite needs Node 22 or newer, and npm brings none for this platform")


def measure(run: Run, folder: Path, write: bool) -> Report:
    """Carry out one run, and say what is different."""
    began = time.monotonic()
    scored = required((SUITE / "requirements" / f"{run.requirements}.yaml").read_text("utf-8"))
    bridge = Bridge(run)
    try:
        command = [node(), str(SUITE / "dist" / "index.js"), "server", "--url", bridge.url(), "--requirements", run.requirements]
        with (folder / "suite.txt").open("w", encoding="utf-8") as said:
            # Its exit status is 1 where a required scenario fails, which some runs expect; what counts is what it wrote.
            subprocess.run(
                [*command, "--output-dir", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=SUITE_LIMIT,
                check=False,
                env={**os.environ, "NO_COLOR": "1"},
            )
    finally:
        wrong = bridge.stop()
        (folder / "bridge.txt").write_text(bridge.words(), encoding="utf-8")
    found = scores(folder)
    kept = HERE / "expected" / f"{run.name}.json"
    if write:
        kept.write_text(as_text(recorded(found, scored)), encoding="utf-8")
    differing = differences(expected(json.loads(kept.read_text("utf-8"))), found)
    report = Report(run, found, scored, differing, time.monotonic() - began)
    if report.failing() != run.fails:
        differing["required"] = f"fail: {sorted(report.failing())}; may fail: {sorted(run.fails)}"
    if wrong:
        differing["dragoman serve"] = "; ".join(wrong)
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
    parser = argparse.ArgumentParser(description="Run the official conformance suite against dragoman serve.")
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
            print(f"{run.name}: {' '.join((run.server, *run.arguments))} under the requirements of {run.requirements}", flush=True)
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

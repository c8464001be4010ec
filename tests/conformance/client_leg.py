"""The client leg: the suite is the server, and starts ``client_stdio.py``, a host of 2025-11-25 with ``dragoman wrap URL`` as its server.

The suite would start all clients of a revision at the same moment, and some of its checks measure when a client comes back. So each
scenario is a call of its own, a few at a time, and those that measure come first and alone.

The suite judges the wire alone. Beside that a scenario is wrong where everything passed and yet its host did not get its answers, and
where dragoman told of a fault.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runs import Run
from scores import required, scores, unscored
from suite import HERE, call, requirements

AT_ONCE = min(os.cpu_count() or 1, 4)
MEASURES_TIME = ("sse-retry",)
CLIENT = (sys.executable, str(HERE / "client_stdio.py"))
FAULTS = ("Traceback", "was never retrieved", "was never awaited")


def measure(run: Run, folder: Path) -> list[str]:
    """Carry out one run; the answer is what was wrong beside the checks."""
    listed = requirements(run.requirements)
    scenarios = [*required(listed, "client"), *unscored(listed, "client")]
    alone = [name for name in scenarios if name in MEASURES_TIME]
    together = [name for name in scenarios if name not in MEASURES_TIME]
    statuses = {name: carry_out(run, name, folder) for name in alone}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses |= dict(zip(together, pool.map(lambda name: carry_out(run, name, folder), together), strict=True))
    found = scores(folder)
    wrong = [
        f"{name}: all checks passed, and the host failed"
        for name, status in statuses.items()
        if status and name in found and not (found[name].failed or found[name].warnings)
    ]
    for said in sorted(folder.rglob("stderr.txt")):
        lines = said.read_text("utf-8").splitlines()
        wrong += [f"{said.parent.name}: {line}" for line in lines if any(fault in line for fault in FAULTS)]
    return wrong


def carry_out(run: Run, scenario: str, folder: Path) -> int:
    """One scenario; the answer is the suite's exit status, 124 where it did not end."""
    # The suite hands this to a shell.
    command = " ".join((*CLIENT, *run.arguments))
    words = ["client", "--command", command, "--scenario", scenario, "--spec-version", run.requirements, "--force"]
    with (folder / f"{scenario.replace('/', '-')}.txt").open("w", encoding="utf-8") as said:
        try:
            return call(words, folder, said)
        except subprocess.TimeoutExpired:
            return 124

"""What the suite found, and how that differs from what is expected.

The suite writes ``server-<scenario>-<time>/checks.json`` (in the client leg without ``server-``, and a scenario's name may have a
slash in it): a list of checks, each with ``id`` and ``status`` (SUCCESS, FAILURE, WARNING,
SKIPPED, INFO). A scenario of the required list passes when no check is a FAILURE; a WARNING never fails it, so warnings are compared too.
INFO is what the suite noted on the way, without a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

JsonObject = dict[str, Any]
FOLDER_NAME = re.compile(r"(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


class Outcome(NamedTuple):
    """One scenario: how many checks passed, and the ids of those that did not, in order."""

    passed: int = 0
    failed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        return {"passed": self.passed, **{name: list(ids) for name, ids in self._asdict().items() if name != "passed" and ids}}

    def __str__(self) -> str:
        parts = [
            f"{self.passed} passed",
            *(f"{name}: {', '.join(ids)}" for name, ids in self._asdict().items() if name != "passed" and ids),
        ]
        return "; ".join(parts)


Scores = dict[str, Outcome]


def outcome(checks: Iterable[JsonObject]) -> Outcome:
    """The outcome of one scenario from its checks."""
    by_status: dict[str, list[str]] = {"SUCCESS": [], "FAILURE": [], "WARNING": [], "SKIPPED": [], "INFO": []}
    for check in checks:
        by_status[check["status"]].append(check["id"])
    return Outcome(len(by_status["SUCCESS"]), tuple(by_status["FAILURE"]), tuple(by_status["WARNING"]), tuple(by_status["SKIPPED"]))


def complaints(folder: Path) -> dict[str, list[str]]:
    """What the suite says about the checks that failed or warned, by scenario."""
    return {
        scenario: [f"{check['id']}: {check.get('errorMessage', '')}" for check in checks if check["status"] in ("FAILURE", "WARNING")]
        for scenario, checks in _written(folder).items()
    }


def scores(folder: Path) -> Scores:
    """All scenarios that the suite wrote into ``folder``."""
    return {scenario: outcome(checks) for scenario, checks in _written(folder).items()}


def _written(folder: Path) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for path in sorted(folder.rglob("checks.json")):
        named = FOLDER_NAME.fullmatch(path.parent.relative_to(folder).as_posix())
        if named:
            found[named[1]] = json.loads(path.read_text("utf-8"))
    return found


def required(requirements: str, leg: str) -> list[str]:
    """The scenarios of a leg in one of the suite's requirement files: a list of plain words, one a line."""
    block = re.search(rf"^{leg}:\n((?:  - \S+\n)+)", requirements, re.MULTILINE)
    if block is None:
        raise ValueError(f"no list of {leg} scenarios in the suite's requirements")
    return [line.removeprefix("  - ") for line in block[1].splitlines()]


def unscored(requirements: str, leg: str) -> list[str]:
    """The scenarios of a leg that are to be run and do not count."""
    return re.findall(rf"^  - scenario: (\S+)\n    leg: {leg}$", requirements, re.MULTILINE)


def recorded(found: Scores, scored: Iterable[str]) -> JsonObject:
    """How scores are committed: the required scenarios, and those that are run but not scored."""
    names = set(scored)
    return {
        "scored": {name: found[name].as_json() for name in sorted(found) if name in names},
        "not scored": {name: found[name].as_json() for name in sorted(found) if name not in names},
    }


def as_text(record: JsonObject) -> str:
    """A record as it is committed: one scenario a line."""
    groups: list[str] = []
    for group, entries in record.items():
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        groups.append(f"  {json.dumps(group)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(groups) + "\n}\n"


def expected(record: JsonObject) -> Scores:
    """The scores that were committed."""
    both: JsonObject = {**record["scored"], **record["not scored"]}
    return {
        name: Outcome(entry["passed"], *(tuple(entry.get(kind, ())) for kind in ("failed", "warnings", "skipped")))
        for name, entry in both.items()
    }


def differences(wanted: Scores, found: Scores) -> dict[str, str]:
    """Every scenario whose outcome is another than the committed one, better or worse, and what that is."""
    differing: dict[str, str] = {}
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            differing[name] = f"was not run; expected {wanted[name]}"
        elif name not in wanted:
            differing[name] = f"is new: {found[name]}"
        elif found[name] != wanted[name]:
            differing[name] = f"{found[name]}; expected {wanted[name]}"
    return differing

"""What is committed says what ``runs.py`` says: which required scenarios may fail, and that nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.runs import RUNS, Run

EXPECTED = Path(__file__).with_name("expected")
by_name = pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)


def record(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXPECTED / f"{run.name}.json").read_text("utf-8"))
    return found


def test_every_record_belongs_to_a_run() -> None:
    assert {path.stem for path in EXPECTED.glob("*.json")} == {run.name for run in RUNS}


@by_name
def test_as_many_scenarios_are_scored_as_the_revision_requires(run: Run) -> None:
    assert len(record(run)["scored"]) == {"2026-07-28": 37, "2025-11-25": 30}[run.requirements]


@by_name
def test_required_scenario_fails_only_where_it_is_said_why(run: Run) -> None:
    assert {name for name, entry in record(run)["scored"].items() if "failed" in entry} == run.fails


@by_name
def test_run_in_which_all_must_pass_has_no_warning_and_skips_nothing(run: Run) -> None:
    rest = {name for name, entry in record(run)["scored"].items() if set(entry) != {"passed"}}
    assert not rest or run.fails


@by_name
def test_standard_headers_are_validated_though_no_score_asks_for_it(run: Run) -> None:
    unscored = record(run)["not scored"]
    assert ("http-header-validation" in unscored) == (run.requirements == "2026-07-28")
    assert set(unscored.get("http-header-validation", {"passed": 14})) == {"passed"}

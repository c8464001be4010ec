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
    scored = {("server", "2026-07-28"): 37, ("server", "2025-11-25"): 30, ("client", "2026-07-28"): 32, ("client", "2025-11-25"): 18}
    assert len(record(run)["scored"]) == scored[run.leg, run.requirements]


@by_name
def test_required_scenario_fails_only_where_it_is_said_why(run: Run) -> None:
    assert {name for name, entry in record(run)["scored"].items() if "failed" in entry} == run.fails


@by_name
def test_run_in_which_all_must_pass_has_no_warning_and_skips_nothing(run: Run) -> None:
    rest = {name for name, entry in record(run)["scored"].items() if set(entry) != {"passed"}}
    assert rest == run.skips or run.fails


@by_name
def test_what_is_skipped_neither_fails_nor_warns(run: Run) -> None:
    assert all(set(record(run)["scored"][name]) == {"passed", "skipped"} for name in run.skips)


@by_name
def test_every_scenario_has_a_check_that_passed(run: Run) -> None:
    assert {name for name, entry in record(run)["scored"].items() if not entry["passed"]} <= run.fails


def test_client_leg_passes_every_authorization_scenario() -> None:
    counts = {
        run.requirements: sum(name.startswith("auth/") for name, entry in record(run)["scored"].items() if "failed" not in entry)
        for run in RUNS
        if run.leg == "client"
    }
    assert counts == {"2026-07-28": 25, "2025-11-25": 14}


def test_extension_is_passed_where_the_client_acts_for_itself_and_no_other_is_claimed() -> None:
    for run in (run for run in RUNS if run.leg == "client"):
        assert {name for name, entry in record(run)["not scored"].items() if "failed" not in entry} == {
            "auth/client-credentials-basic",
            "auth/client-credentials-jwt",
            "json-schema-2020-12-preservation",
        }


@pytest.mark.parametrize("run", [run for run in RUNS if run.leg == "server"], ids=lambda run: run.name)
def test_standard_headers_are_validated_though_no_score_asks_for_it(run: Run) -> None:
    unscored = record(run)["not scored"]
    assert ("http-header-validation" in unscored) == (run.requirements == "2026-07-28")
    assert set(unscored.get("http-header-validation", {"passed": 14})) == {"passed"}

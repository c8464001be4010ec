"""A yardstick that cannot fail measures nothing: what is read from the suite's results, and what counts as a difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.scores import Outcome, as_text, complaints, differences, expected, outcome, recorded, required, scores


def check(name: str, status: str, **members: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "status": status, **members}


def written(folder: Path, scenario: str, *checks: dict[str, Any]) -> None:
    place = folder / f"server-{scenario}-2026-11-30T10-54-46-542Z"
    place.mkdir()
    (place / "checks.json").write_text(json.dumps(checks), "utf-8")


def test_same_outcomes_do_not_differ() -> None:
    found = {"ping": Outcome(2), "caching": Outcome(7, ("a",))}
    assert differences(dict(found), found) == {}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Outcome(1, ("a",)), "1 passed; failed: a; expected 2 passed"),
        (Outcome(2, warnings=("b",)), "2 passed; warnings: b; expected 2 passed"),
        (Outcome(1, skipped=("c",)), "1 passed; skipped: c; expected 2 passed"),
        (Outcome(3), "3 passed; expected 2 passed"),
    ],
)
def test_other_outcome_differs_for_better_and_for_worse(found: Outcome, told: str) -> None:
    assert differences({"ping": Outcome(2)}, {"ping": found}) == {"ping": told}


def test_scenario_that_was_not_run_differs() -> None:
    assert differences({"ping": Outcome(2)}, {}) == {"ping": "was not run; expected 2 passed"}


def test_scenario_that_nobody_expected_differs() -> None:
    assert differences({}, {"ping": Outcome(0, ("x",))}) == {"ping": "is new: 0 passed; failed: x"}


def test_outcome_counts_what_passed_and_names_the_rest() -> None:
    statuses = ["SUCCESS", "FAILURE", "INFO", "SUCCESS", "WARNING", "SKIPPED", "FAILURE"]
    checks = [check(f"{position}", status) for position, status in enumerate(statuses)]
    assert outcome(checks) == Outcome(2, ("1", "6"), ("4",), ("5",))


def test_verdict_that_is_unknown_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        outcome([check("a", "MAYBE")])


def test_scores_are_read_from_the_folders_that_the_suite_writes(tmp_path: Path) -> None:
    written(tmp_path, "server-sse-polling", check("a", "WARNING", errorMessage="no id"), check("b", "SUCCESS"))
    written(tmp_path, "ping", check("c", "SUCCESS"))
    (tmp_path / "suite.txt").write_text("what it said", "utf-8")
    assert scores(tmp_path) == {"server-sse-polling": Outcome(1, (), ("a",)), "ping": Outcome(1)}
    assert complaints(tmp_path) == {"server-sse-polling": ["a: no id"], "ping": []}


def test_record_is_read_back_as_it_was() -> None:
    found = {"ping": Outcome(2), "tasks": Outcome(1, ("a", "a"), ("b",), ("c",))}
    record = recorded(found, ["ping"])
    assert record == {
        "scored": {"ping": {"passed": 2}},
        "not scored": {"tasks": {"passed": 1, "failed": ["a", "a"], "warnings": ["b"], "skipped": ["c"]}},
    }
    assert expected(json.loads(as_text(record))) == found


def test_record_has_one_scenario_a_line() -> None:
    record = {"scored": {"a": {"passed": 1}, "b": {"passed": 2, "failed": ["x", "y"]}}, "not scored": {}}
    lines = as_text(record).splitlines()
    assert lines[2:4] == ['    "a": {"passed": 1},', '    "b": {"passed": 2, "failed": ["x", "y"]}']
    assert json.loads(as_text(record)) == record


def test_required_scenarios_are_those_of_the_server_list() -> None:
    text = "# what is required\n\nserver:\n  - ping\n  - tools-list\n\nclient:\n  - initialize\n\nnot_scored:\n  - scenario: x\n"
    assert required(text) == ["ping", "tools-list"]


def test_requirements_without_a_server_list_are_a_fault() -> None:
    with pytest.raises(ValueError, match="no list of server scenarios"):
        required("client:\n  - initialize\n")

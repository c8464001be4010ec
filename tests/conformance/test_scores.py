"""A yardstick that cannot fail measures nothing: what is read from the suite's results, and what counts as a difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.scores import Outcome, as_text, complaints, differences, expected, outcome, recorded, required, scores, unscored


def check(name: str, status: str, **members: Any) -> dict[str, Any]:
    return {"id": name, "name": name, "status": status, **members}


def written(folder: Path, scenario: str, *checks: dict[str, Any]) -> None:
    place = folder / f"{scenario}-2026-11-30T10-54-46-542Z"
    place.mkdir(parents=True)
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
    written(tmp_path, "server-server-sse-polling", check("a", "WARNING", errorMessage="no id"), check("b", "SUCCESS"))
    written(tmp_path, "server-ping", check("c", "SUCCESS"))
    (tmp_path / "suite.txt").write_text("what it said", "utf-8")
    assert scores(tmp_path) == {"server-sse-polling": Outcome(1, (), ("a",)), "ping": Outcome(1)}
    assert complaints(tmp_path) == {"server-sse-polling": ["a: no id"], "ping": []}


def test_scenario_of_the_client_leg_may_have_a_slash_in_its_name(tmp_path: Path) -> None:
    written(tmp_path, "auth/scope-step-up", check("a", "SUCCESS"))
    written(tmp_path, "sse-retry", check("b", "FAILURE"))
    assert scores(tmp_path) == {"auth/scope-step-up": Outcome(1), "sse-retry": Outcome(0, ("b",))}


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


REQUIREMENTS = """# what is required

server:
  - ping
  - tools-list

client:
  - initialize
  - auth/scope-step-up

not_scored:
  - scenario: x
    leg: client
    reason: extension
  - scenario: y
    leg: server
    reason: pending
"""


@pytest.mark.parametrize(("leg", "names"), [("server", ["ping", "tools-list"]), ("client", ["initialize", "auth/scope-step-up"])])
def test_required_scenarios_are_those_of_the_legs_list(leg: str, names: list[str]) -> None:
    assert required(REQUIREMENTS, leg) == names


@pytest.mark.parametrize(("leg", "names"), [("server", ["y"]), ("client", ["x"])])
def test_scenarios_that_do_not_count_are_those_of_their_leg(leg: str, names: list[str]) -> None:
    assert unscored(REQUIREMENTS, leg) == names


def test_requirements_without_a_list_of_the_leg_are_a_fault() -> None:
    with pytest.raises(ValueError, match="no list of server scenarios"):
        required("client:\n  - initialize\n", "server")

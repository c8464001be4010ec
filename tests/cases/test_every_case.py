"""Every tagged field case is tested here or has a reason why not."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.cases.not_here import NOT_HERE

HERE = Path(__file__).parent
TAGS = {"wrap-legacy", "wrap-modern", "stdio", "probe", "http", "auth", "library"}
_TEST = re.compile(r"^def test_(b\d{3})_", re.MULTILINE)


def cases_file() -> Path:
    """``DRAGOMAN_CASES``, or the file in the folder ``shared`` beside the repository."""
    named = os.environ.get("DRAGOMAN_CASES")
    return Path(named) if named else HERE.parents[2] / "shared" / "cases" / "field-cases.jsonl"


def cases_with_a_test() -> set[str]:
    return {name.upper() for path in HERE.glob("test_*.py") for name in _TEST.findall(path.read_text("utf-8"))}


def test_no_case_is_both_tested_and_left_out() -> None:
    assert sorted(cases_with_a_test() & set(NOT_HERE)) == []


def test_every_case_left_out_has_a_reason() -> None:
    assert [case for case, reason in NOT_HERE.items() if len(reason) < 20] == []


def test_every_tagged_case_is_tested_or_left_out_with_a_reason() -> None:
    path = cases_file()
    if not path.exists():
        pytest.skip("the field cases are not on this machine (DRAGOMAN_CASES names their file)")
    cases = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    tagged = {case["id"] for case in cases if TAGS & set(case["part"])}
    assert sorted(tagged - cases_with_a_test() - set(NOT_HERE)) == []
    assert sorted(set(NOT_HERE) - tagged) == []

"""The layer knows nothing of the suite that measures it: no word of it stands in ``compat/``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPAT = ROOT / "compat"
WORDS = re.compile(
    r"conformance"  # its name
    r"|\btest_\w+|\bjson_schema_2020_12_tool\b|test://"  # what it calls, gets and reads
    r"|\buser_(?:name|context)\b|\bcapital_question\b|\bclient_roots\b|\bstep[12]\b"  # the keys it looks for
    r"|input-required-result|\bsep-\d{4}-|-TAMPERED|evil\.example"  # its scenarios, checks and probes
    r"|push[-_]server|added_while_running|region_report",  # our own fixture
    re.IGNORECASE,
)


@pytest.mark.parametrize("path", sorted(COMPAT.rglob("*.py")), ids=lambda path: str(path.relative_to(COMPAT)))
def test_module_holds_no_word_of_the_suite(path: Path) -> None:
    assert WORDS.findall(path.read_text("utf-8")) == []


def test_there_is_something_to_look_at() -> None:
    assert COMPAT / "dragoman" / "bridging" / "face.py" in set(COMPAT.rglob("*.py"))


@pytest.mark.parametrize(
    "line",
    [
        'if tool == "test_simple_text":',
        'key = "user_name"',
        'SCENARIO = "sep-2322-elicitation-incomplete"',
        "# the Conformance suite wants it",
        'uri == "test://static-text"',
        "state.endswith('-TAMPERED')",
    ],
)
def test_word_of_the_suite_is_recognised(line: str) -> None:
    assert WORDS.search(line)


@pytest.mark.parametrize("line", ["latest_user", "def contest_names(): ...", "sep2322_mrtr", "input_required", "user_names"])
def test_plain_word_is_left_alone(line: str) -> None:
    assert not WORDS.search(line)

"""The enumerated revisions, and that an unknown string never passes for a newer one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman_specs import version
from dragoman_specs.version import Era, Version, nearest_legacy, parse


def test_revisions_are_five_strings_oldest_first() -> None:
    assert [str(known) for known in version.ALL] == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
    assert list(version.ALL) == list(Version)


def test_eras_split_the_revisions_between_2025_11_25_and_2026_07_28() -> None:
    assert [known.era for known in version.ALL] == [Era.LEGACY, Era.LEGACY, Era.LEGACY, Era.LEGACY, Era.MODERN]
    assert version.LATEST_LEGACY == "2025-11-25"
    assert version.LATEST_MODERN == "2026-07-28"


@pytest.mark.parametrize("known", list(Version))
def test_known_string_parses_to_its_member(known: Version) -> None:
    assert parse(str(known.value)) is known


@pytest.mark.parametrize(
    "text", ["", "2024-10-07", "2025-11-26", "2026-07-28 ", "2026-7-28", "DRAFT-2026-v1", "latest", "2099-01-01", None, 20260728, [], {}]
)
def test_anything_else_parses_to_none(text: object) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("2024-11-05", Version.V2024_11_05),
        ("2025-11-25", Version.V2025_11_25),
        ("2024-10-07", Version.V2024_11_05),
        ("2025-03-25", Version.V2024_11_05),
        ("2025-03-27", Version.V2025_03_26),
        ("2025-09-01", Version.V2025_06_18),
        ("2025-11-26", Version.V2025_11_25),
        ("2026-07-28", Version.V2025_11_25),
        ("2099-12-31", Version.V2025_11_25),
    ],
)
def test_unknown_date_is_served_as_the_legacy_revision_at_or_below_it(text: str, nearest: Version) -> None:
    assert nearest_legacy(text) is nearest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "latest",
        "DRAFT-2026-v1",
        "9",
        "2025-3-26",
        "2025-06-18T00:00",
        "\uff12\uff10\uff12\uff15-06-18",
        "2025-06-1\u00b2",
        None,
        3,
        ["2025-06-18"],
    ],
)
def test_no_date_is_served_as_the_oldest_revision(text: object) -> None:
    assert nearest_legacy(text) is Version.V2024_11_05


@given(st.text())
def test_any_string_is_served_as_some_legacy_revision(text: str) -> None:
    assert nearest_legacy(text) in version.LEGACY
    assert parse(text) is None or parse(text) == text


def test_importing_the_facts_loads_nothing_slow() -> None:
    # Interpreters load other modules by themselves: only what our import adds counts.
    script = (
        "import sys; before = set(sys.modules)\n"
        "import dragoman_specs.version, dragoman_specs.methods, dragoman_specs.names\n"
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('dragoman')))\n"
        "slow = {'asyncio', 'dataclasses', 'inspect', 'json', 'logging', 'pathlib', 'pydantic', 'tomllib'}\n"
        "print(*sorted(slow & (set(sys.modules) - before)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=_path())
    assert done.stdout.splitlines() == ["dragoman_specs dragoman_specs.methods dragoman_specs.names dragoman_specs.version", ""]


def _path() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(part for part in sys.path if part)}

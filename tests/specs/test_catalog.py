"""The catalog: complete, honest about what is missing, and in step with the tree."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from dragoman_specs.catalog import FILES, LEVELS, CatalogError, Entry, Home, find, load, read
from dragoman_specs.version import Version

REPOSITORY = Path(__file__).resolve().parents[2]

# The changes that the layer's design names, by the revision that made them. More may be in the catalog, none of these may be missing.
NAMED = {
    Version.V2025_03_26: "audio_content progress_message completions_capability pr0185_tool_annotations pr0206_streamable_http "
    "pr0228_batching pr0133_authorization",
    Version.V2025_06_18: "pr0371_structured_output pr0382_elicitation pr0603_resource_links pr0598_completion_context pr0663_titles "
    "pr0710_meta_on_types pr0416_no_batching pr0548_version_header pr0338_resource_server pr0734_resource_indicators",
    Version.V2025_11_25: "sep1036_url_elicitation sep1034_form_defaults sep1330_enum_schemas sep1577_sampling_tools sep1686_tasks "
    "sep0973_icons sep1303_input_errors sep1613_schema_dialect sep0986_tool_names sep1699_sse_polling implementation_description "
    "sep0991_client_metadata sep0835_scope_consent",
    Version.V2026_07_28: "sep2575_envelope sep2575_handshake sep2575_discover sep2575_ping sep2575_log_level sep2575_subscriptions "
    "sep2575_sse_resumability sep2575_roots_changed sep2567_sessions sep2322_result_type sep2322_mrtr sep2549_cache_hints "
    "sep2164_resource_not_found sep2106_json_schema sep2243_headers sep2663_tasks sep0414_trace_context extensions_capability "
    "deterministic_lists elicitation_complete error_code_ranges sep2577_deprecations sep2596_lifecycle sep2468_issuer "
    "sep0837_application_type sep2352_bound_credentials pr2858_dynamic_registration",
}

ENTRY = """
[[change]]
id = "pr0603_resource_links"
since = "2025-06-18"
title = "Resource links"
pr = 603
page = "server/tools#resource-links"
level = "added"
summary = "A block that names a resource."
home.changes = "compat/dragoman/changes/v2025_06_18/pr0603_resource_links.py"
home.rules = "none: an addition"
home.tests = ["tests/one.py", "tests/two.py"]
"""


def _aspects(entry: Entry) -> dict[str, Home]:
    return entry.homes._asdict()


def test_unknown_id_is_not_found() -> None:
    assert find("sep0000_nothing") is None
    assert find("") is None


def test_entry_is_read_as_it_stands() -> None:
    (entry,) = read(ENTRY, Version.V2025_06_18, "one.toml")
    assert (entry.id, entry.since, entry.level, entry.sep, entry.pr) == ("pr0603_resource_links", "2025-06-18", "added", None, 603)
    assert entry.homes.changes == Home(paths=("compat/dragoman/changes/v2025_06_18/pr0603_resource_links.py",))
    assert entry.homes.rules == Home(absent="none", reason="an addition")
    assert entry.homes.tests == Home(paths=("tests/one.py", "tests/two.py"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[change]]", "[[change", "one.toml: not TOML: "),
        ("[[change]]", "[[changes]]", r"one.toml: expected \[\[change\]\] tables and nothing else, found changes"),
        ('id = "pr0603_resource_links"\n', "", "one.toml: entry 1: id is missing"),
        ('title = "Resource links"\n', "", "one.toml: pr0603_resource_links: title is missing"),
        ("Resource links", " ", "pr0603_resource_links: title must be text, found ' '"),
        ("pr = 603", "pr = true", "pr0603_resource_links: pr must be a number, found True"),
        ("pr = 603", 'spe = "603"', "pr0603_resource_links: spe is no field of an entry"),
        ("2025-06-18", "2025-06-19", "pr0603_resource_links: since is 2025-06-19, but the file is that of 2025-06-18"),
        ('"added"', '"new"', "pr0603_resource_links: level is 'new', expected one of removed, changed, added, deprecated, none"),
        ('"none: an addition"', '"none"', "home.rules: none needs a reason: 'none: why'"),
        ('"none: an addition"', '"later: "', "home.rules: later needs a reason: 'later: why'"),
        ('"none: an addition"', '"nowhere: really"', "home.rules: 'nowhere: really' is no path from the repository's root"),
        ('"none: an addition"', '"/etc/passwd"', "home.rules: '/etc/passwd' is no path from the repository's root"),
        ('"none: an addition"', "[]", "home.rules: expected a path, an array of paths, 'none: why' or 'later: with what'"),
        ('home.rules = "none: an addition"\n', "", "home must be exactly changes, rules, tests"),
    ],
)
def test_wrong_file_is_refused_with_the_place_and_the_fault(old: str, new: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        read(ENTRY.replace(old, new), Version.V2025_06_18, "one.toml")


def test_id_that_is_there_twice_is_refused() -> None:
    with pytest.raises(CatalogError, match=r"one.toml: pr0603_resource_links: the id is there twice"):
        read(ENTRY + ENTRY, Version.V2025_06_18, "one.toml")


def test_every_file_of_the_folder_is_listed() -> None:
    folder = REPOSITORY / "specs" / "dragoman_specs" / "catalog"
    assert [name for _, name in FILES] == sorted(path.name for path in folder.glob("*.toml"))


def test_ids_are_unique_and_every_named_change_is_there_with_its_revision() -> None:
    since = {entry.id: entry.since for entry in load()}
    assert len(since) == len(load())
    assert {change_id: version for version, ids in NAMED.items() for change_id in ids.split()}.items() <= since.items()


def test_levels_are_all_used() -> None:
    assert {entry.level for entry in load()} == set(LEVELS)


@pytest.mark.parametrize("entry", load(), ids=lambda entry: entry.id)
def test_number_in_the_id_is_the_number_of_the_entry(entry: Entry) -> None:
    prefix = entry.id.partition("_")[0]
    expected = f"sep{entry.sep:04}" if entry.sep else f"pr{entry.pr:04}" if entry.pr else None
    assert expected is None or prefix == expected
    assert expected is not None or not prefix[-4:].isdigit()


@pytest.mark.parametrize("entry", load(), ids=lambda entry: entry.id)
def test_every_home_that_is_a_path_exists(entry: Entry) -> None:
    missing = [path for home in _aspects(entry).values() for path in home.paths if not (REPOSITORY / path).exists()]
    assert missing == []


@pytest.mark.parametrize("entry", load(), ids=lambda entry: entry.id)
def test_change_that_has_a_module_or_a_rule_does_not_say_that_it_has_none(entry: Entry) -> None:
    folder = f"v{entry.since.replace('-', '_')}"
    stale = []
    for aspect, path in (
        ("changes", f"compat/dragoman/changes/{folder}/{entry.id}.py"),
        ("rules", f"migrations/dragoman_migrations/rules/{folder}/{entry.id}"),
        ("tests", f"tests/changes/{folder}/test_{entry.id}.py"),
    ):
        if (REPOSITORY / path).exists() and path not in _aspects(entry)[aspect].paths:
            stale.append(f"home.{aspect} of {entry.id} should name {path}")
    assert stale == []


@pytest.mark.skipif(importlib.util.find_spec("dragoman.changes") is None, reason="there are no changes yet")
def test_every_change_of_the_layer_is_in_the_catalog_with_the_same_revision() -> None:
    from dragoman.changes import ALL
    from dragoman.changes.down import DOWN

    unknown = [str(change) for change in (*ALL, *DOWN) if (entry := find(change.id)) is None or entry.since is not change.since]
    assert unknown == []
    assert len({change.id for change in ALL}) == len(ALL)

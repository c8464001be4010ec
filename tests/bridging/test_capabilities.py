import copy

import pytest

from dragoman.bridging.capabilities import canonical, covers, for_server, invalid_capabilities, invalid_implementation, merge_capabilities
from dragoman_specs.version import LEGACY, Version

EVERYTHING = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"context": {}, "tools": {}},
    "roots": {},
    "experimental": {"vendor": {"depth": 3}},
    "extensions": {"com.example/maps": {"zoom": True}},
}


# --- shape ---


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"elicitation": {}},
        {"elicitation": {"url": {"x": 1}}},
        {"sampling": {"tools": {}}},
        {"roots": {"listChanged": True}},
        {"vendor": None, "tasks": []},
        EVERYTHING,
    ],
)
def test_capabilities_that_the_schema_allows_have_no_fault(value):
    assert invalid_capabilities(value) is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        ({"elicitation": None}, "elicitation must be an object"),
        ({"elicitation": {"form": True}}, "elicitation.form must be an object"),
        ({"elicitation": {"url": None}}, "elicitation.url must be an object"),
        ({"sampling": True}, "sampling must be an object"),
        ({"sampling": {"tools": []}}, "sampling.tools must be an object"),
        ({"sampling": {"context": 1}}, "sampling.context must be an object"),
        ({"roots": []}, "roots must be an object"),
        ({"experimental": []}, "experimental must be an object"),
        ({"experimental": {"a": True}}, "experimental['a'] must be an object"),
        ({"extensions": {"com.example/a": None}}, "extensions['com.example/a'] must be an object"),
    ],
)
def test_wrong_capabilities_are_named(value, fault):
    assert invalid_capabilities(value) == fault


@pytest.mark.parametrize(
    "value",
    [
        {"name": "", "version": ""},
        {"name": "a", "version": "1", "vendor": None},
        {
            "name": "a",
            "version": "1",
            "title": "A",
            "description": "d",
            "websiteUrl": "https://a.example",
            "icons": [{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
        },
    ],
)
def test_implementations_that_the_schema_allows_have_no_fault(value):
    assert invalid_implementation(value) is None


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("curl", "must be an object"),
        ({"version": "1"}, "name is missing"),
        ({"name": "a"}, "version is missing"),
        ({"name": "a", "version": 1}, "version must be a string"),
        ({"name": "a", "version": "1", "title": None}, "title must be a string"),
        ({"name": "a", "version": "1", "icons": {}}, "icons must be an array"),
        ({"name": "a", "version": "1", "icons": [{"src": "x"}, 1]}, "icons[1] must be an object"),
        ({"name": "a", "version": "1", "icons": [{}]}, "icons[0] needs a string src"),
        ({"name": "a", "version": "1", "icons": [{"src": "x", "mimeType": 1}]}, "icons[0] needs a string mimeType"),
        ({"name": "a", "version": "1", "icons": [{"src": "x", "sizes": "48x48"}]}, "icons[0] needs an array of strings as sizes"),
        ({"name": "a", "version": "1", "icons": [{"src": "x", "theme": "blue"}]}, "icons[0] needs dark or light as theme"),
    ],
)
def test_wrong_implementations_are_named(value, fault):
    assert invalid_implementation(value) == fault


# --- restated for a server ---


@pytest.mark.parametrize("revision", LEGACY)
def test_no_capabilities_stay_none_for_every_revision(revision):
    assert for_server({}, revision) == {}


def test_everything_to_2025_11_25_server_is_untouched():
    assert for_server(EVERYTHING, Version.V2025_11_25) == EVERYTHING


def test_empty_elicitation_to_2025_11_25_server_is_untouched():
    assert for_server({"elicitation": {}}, Version.V2025_11_25) == {"elicitation": {}}


def test_everything_to_2025_06_18_server_loses_the_modes_and_sampling_parts():
    assert for_server(EVERYTHING, Version.V2025_06_18) == {
        "elicitation": {},
        "sampling": {},
        "roots": {},
        "experimental": {"vendor": {"depth": 3}},
        "extensions": {"com.example/maps": {"zoom": True}},
    }


@pytest.mark.parametrize("revision", [Version.V2024_11_05, Version.V2025_03_26])
def test_everything_to_an_older_server_has_no_elicitation(revision):
    assert for_server(EVERYTHING, revision) == {
        "sampling": {},
        "roots": {},
        "experimental": {"vendor": {"depth": 3}},
        "extensions": {"com.example/maps": {"zoom": True}},
    }


def test_client_that_takes_urls_only_has_no_elicitation_for_a_2025_06_18_server():
    assert for_server({"elicitation": {"url": {}}}, Version.V2025_06_18) == {}


@pytest.mark.parametrize("revision", LEGACY)
def test_roots_never_promise_list_changed(revision):
    assert for_server({"roots": {"listChanged": True, "vendor": 1}}, revision) == {"roots": {"vendor": 1}}


def test_tasks_are_never_declared():
    client = {"tasks": {"list": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/a": {}}}
    assert for_server(client, Version.V2025_11_25) == {"extensions": {"com.example/a": {}}}


def test_extensions_that_were_tasks_alone_disappear():
    assert for_server({"extensions": {"io.modelcontextprotocol/tasks": {}}}, Version.V2025_11_25) == {}


def test_unknown_capabilities_survive_and_the_input_is_not_mutated():
    client = {"vendor": {"a": [1, None]}, "sampling": {"tools": {}, "vendor": {}}, "roots": {"listChanged": False}}
    before = copy.deepcopy(client)
    assert for_server(client, Version.V2024_11_05) == {"vendor": {"a": [1, None]}, "sampling": {"vendor": {}}, "roots": {}}
    assert client == before


# --- comparison ---


@pytest.mark.parametrize(
    ("have", "want"),
    [
        ({}, {}),
        (EVERYTHING, {}),
        (EVERYTHING, EVERYTHING),
        ({"elicitation": {}}, {"elicitation": {"form": {}}}),
        ({"elicitation": {"form": {}}}, {"elicitation": {}}),
        ({"elicitation": {"vendor": {}}}, {"elicitation": {"form": {}}}),
        ({"sampling": {"tools": {}}}, {"sampling": {}}),
        ({"experimental": {"a": {"n": 1}}}, {"experimental": {"a": {"n": 1}}}),
    ],
)
def test_what_is_declared_is_covered(have, want):
    assert covers(have, want) is True


@pytest.mark.parametrize(
    ("have", "want"),
    [
        ({}, {"roots": {}}),
        ({"elicitation": {"url": {}}}, {"elicitation": {}}),
        ({"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ({"elicitation": {}}, {"elicitation": {"url": {}}}),
        ({"sampling": {}}, {"sampling": {"tools": {}}}),
        ({"experimental": {"a": {"n": 1}}}, {"experimental": {"a": {"n": 2}}}),
        ({"experimental": {"a": {"n": 1}}}, {"experimental": {"a": {"n": True}}}),
        ({"vendor": 1}, {"vendor": {}}),
    ],
)
def test_what_is_not_declared_is_not_covered(have, want):
    assert covers(have, want) is False


def test_merging_nothing_changes_nothing():
    assert merge_capabilities({}, EVERYTHING) == EVERYTHING
    assert merge_capabilities(EVERYTHING, {}) == EVERYTHING


def test_merged_capabilities_cover_both():
    assert merge_capabilities({"elicitation": {}, "roots": {}}, {"elicitation": {"url": {}}, "sampling": {"tools": {}}}) == {
        "elicitation": {"form": {}, "url": {}},
        "roots": {},
        "sampling": {"tools": {}},
    }


def test_merging_leaves_its_inputs_alone():
    first: dict = {"sampling": {}}
    second: dict = {"sampling": {"tools": {}}}
    assert merge_capabilities(first, second) == {"sampling": {"tools": {}}}
    assert (first, second) == ({"sampling": {}}, {"sampling": {"tools": {}}})


def test_canonical_text_is_the_same_for_all_spellings():
    assert canonical({}) == "{}"
    assert canonical({"roots": {}, "elicitation": {}}) == '{"elicitation":{"form":{}},"roots":{}}'
    assert canonical({"elicitation": {"form": {}}, "roots": {}}) == '{"elicitation":{"form":{}},"roots":{}}'
    assert canonical({"elicitation": {"url": {}}}) == '{"elicitation":{"url":{}}}'

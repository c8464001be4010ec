"""The method table against literals and against the official schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman_specs import methods
from dragoman_specs.methods import METHODS, ROWS, Kind, Sender, find, is_removed_core
from dragoman_specs.version import ALL, Version

Official = Callable[[Version], dict[str, dict[str, Any]]]

UNIONS: list[tuple[str, Sender, Kind]] = [
    ("ClientRequest", "client", "request"),
    ("ClientNotification", "client", "notification"),
    ("ServerRequest", "server", "request"),
    ("ServerNotification", "server", "notification"),
]


def test_unknown_and_vendor_methods_are_not_found() -> None:
    assert find("acme/do", Version.V2026_07_28) is None
    assert find("", Version.V2024_11_05) is None
    assert find("Tools/call", Version.V2025_06_18) is None


def test_unknown_and_vendor_methods_are_not_removed() -> None:
    assert not is_removed_core("acme/do")
    assert not is_removed_core("tasks/update")


def test_living_methods_are_not_removed() -> None:
    assert not [name for name in METHODS if find(name, Version.V2026_07_28, "client") and is_removed_core(name)]


def test_a_method_of_one_sender_is_not_found_for_the_other() -> None:
    assert find("tools/call", Version.V2025_06_18, "server") is None
    assert find("sampling/createMessage", Version.V2025_06_18, "client") is None


def test_tools_call_is_found_in_every_revision() -> None:
    for version in ALL:
        row = find("tools/call", version)
        assert row is not None
        assert (row.sender, row.kind, row.asks, row.cacheable, row.name_member) == ("client", "request", True, False, "name")


def test_progress_of_clients_ends_with_2025_11_25_and_that_of_servers_lives_on() -> None:
    assert find("notifications/progress", Version.V2025_11_25, "client") is not None
    assert find("notifications/progress", Version.V2026_07_28, "client") is None
    assert find("notifications/progress", Version.V2026_07_28, "server") is not None


def test_name_without_sender_gives_the_clients_row_first_and_else_the_servers() -> None:
    legacy = find("ping", Version.V2024_11_05)
    modern = find("notifications/progress", Version.V2026_07_28)
    assert legacy is not None
    assert legacy.sender == "client"
    assert modern is not None
    assert modern.sender == "server"


def test_questions_are_no_messages_in_2026_07_28() -> None:
    assert sorted(methods.INPUT_REQUESTS) == ["elicitation/create", "roots/list", "sampling/createMessage"]
    assert [find(name, Version.V2026_07_28) for name in sorted(methods.INPUT_REQUESTS)] == [None, None, None]


def test_removed_core_methods_are_the_thirteen_that_clients_lost() -> None:
    assert sorted(name for name in METHODS if is_removed_core(name)) == [
        "initialize",
        "logging/setLevel",
        "notifications/initialized",
        "notifications/progress",
        "notifications/roots/list_changed",
        "notifications/tasks/status",
        "ping",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/cancel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
    ]


def test_cacheable_and_asking_methods_are_those_of_the_caching_and_mrtr_pages() -> None:
    assert sorted(methods.CACHEABLE) == [
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    ]
    assert sorted(methods.ASKS) == ["prompts/get", "resources/read", "tools/call"]


def test_named_targets_are_those_that_mcp_name_repeats() -> None:
    named = {row.name: row.name_member for row in ROWS if row.name_member}
    assert named == {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def test_rows_are_unique_and_end_after_they_begin() -> None:
    keys = [(row.name, row.sender) for row in ROWS]
    assert len(keys) == len(set(keys))
    assert [row for row in ROWS if row.until is not None and row.until < row.since] == []


@pytest.mark.parametrize("version", list(Version))
@pytest.mark.parametrize(("union", "sender", "kind"), UNIONS)
def test_methods_of_a_revision_are_those_of_its_schema(
    official: Official, version: Version, union: str, sender: Sender, kind: Kind
) -> None:
    ours = {row.name for row in ROWS if row.sender == sender and row.kind == kind and row.exists_in(version)}
    assert ours == _methods(official(version), union)


def test_cacheable_methods_are_those_whose_result_requires_the_hints(official: Official) -> None:
    definitions = official(Version.V2026_07_28)
    hinted = {
        name for name, result in _results(definitions).items() if {"ttlMs", "cacheScope"} <= set(definitions[result].get("required", ()))
    }
    assert hinted == methods.CACHEABLE


def test_asking_methods_are_those_whose_response_may_be_input_required(official: Official) -> None:
    definitions = official(Version.V2026_07_28)
    asking = {name for name, request in _requests(definitions).items() if "InputRequiredResult" in _response_results(definitions, request)}
    assert asking == methods.ASKS


def test_asking_methods_are_those_whose_params_take_answers(official: Official) -> None:
    definitions = official(Version.V2026_07_28)
    taking = {
        name
        for name, request in _requests(definitions).items()
        if "inputResponses" in definitions[_params(definitions[request])]["properties"]
    }
    assert taking == methods.ASKS


def test_input_requests_are_those_of_the_schema(official: Official) -> None:
    assert _methods(official(Version.V2026_07_28), "InputRequest") == methods.INPUT_REQUESTS


def _methods(definitions: dict[str, dict[str, Any]], union: str) -> set[str]:
    """The methods of a union of messages; a union of one is the message itself, and 2026-07-28 has no ServerRequest."""
    definition = definitions.get(union, {"anyOf": []})
    members = [definitions[_name(member)] for member in definition["anyOf"]] if "anyOf" in definition else [definition]
    return {member["properties"]["method"]["const"] for member in members}


def _requests(definitions: dict[str, dict[str, Any]]) -> dict[str, str]:
    names = [_name(member) for member in definitions["ClientRequest"]["anyOf"]]
    return {definitions[name]["properties"]["method"]["const"]: name for name in names}


def _results(definitions: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {method: request.removesuffix("Request") + "Result" for method, request in _requests(definitions).items()}


def _response_results(definitions: dict[str, dict[str, Any]], request: str) -> list[str]:
    result = definitions[request.removesuffix("Request") + "ResultResponse"]["properties"]["result"]
    return [_name(member) for member in result.get("anyOf", [result])]


def _params(request: dict[str, Any]) -> str:
    return _name(request["properties"]["params"])


def _name(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]

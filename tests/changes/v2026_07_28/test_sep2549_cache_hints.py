from __future__ import annotations

import json

import pytest
from msgspec import Raw

import downcrossings as down
from crossings import raw, result
from dragoman import downchain
from dragoman.chain import Crossing
from dragoman_specs.version import LEGACY, Version

LISTS = {
    "tools/list": ("tools", "tools"),
    "prompts/list": ("prompts", "prompts"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resourceTemplates", "resources"),
}
ANNOUNCED = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "resources": {"listChanged": True}}


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("tools/call", '{"content":[]}'),
        ("prompts/get", '{"messages":[]}'),
        ("completion/complete", '{"completion":{"values":[]}}'),
        ("vendor/list", "{}"),
    ],
)
def test_other_results_have_no_hints(method: str, text: str) -> None:
    told = json.loads(raw(result(method, text, list_ttl_ms=5000, capabilities=ANNOUNCED)))
    assert "ttlMs" not in told
    assert "cacheScope" not in told


def test_members_of_the_same_name_in_other_results_survive() -> None:
    text = '{"content":[],"ttlMs":null,"cacheScope":5}'
    assert raw(result("tools/call", text)) == f'{{"resultType":"complete",{text[1:]}'


@pytest.mark.parametrize("method", LISTS)
def test_list_is_stale_and_private(method: str) -> None:
    member = LISTS[method][0]
    assert raw(result(method, f'{{"{member}":[]}}')) == f'{{"resultType":"complete","ttlMs":0,"cacheScope":"private","{member}":[]}}'


def test_resource_is_stale_and_private() -> None:
    told = raw(result("resources/read", '{"contents":[]}', list_ttl_ms=5000, capabilities=ANNOUNCED))
    assert told == '{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}'


@pytest.mark.parametrize("method", LISTS)
def test_list_whose_changes_are_announced_may_be_cached_as_long_as_allowed(method: str) -> None:
    member, capability = LISTS[method]
    told = json.loads(raw(result(method, f'{{"{member}":[]}}', list_ttl_ms=5000, capabilities={capability: {"listChanged": True}})))
    assert (told["ttlMs"], told["cacheScope"]) == (5000, "private")


@pytest.mark.parametrize("capability", [{}, {"listChanged": False}, {"listChanged": "yes"}, None])
def test_list_whose_changes_are_not_announced_is_stale_whatever_is_allowed(capability: object) -> None:
    told = json.loads(raw(result("tools/list", '{"tools":[]}', list_ttl_ms=5000, capabilities={"tools": capability})))
    assert told["ttlMs"] == 0


def test_hints_of_a_legacy_server_are_overwritten() -> None:
    told = raw(result("prompts/list", '{"ttlMs":300000,"prompts":[],"cacheScope":"public"}'))
    assert told == '{"resultType":"complete","ttlMs":0,"prompts":[],"cacheScope":"private"}'


def test_two_times_to_live_are_not_confused() -> None:
    facts = {"capabilities": ANNOUNCED}
    first = json.loads(raw(result("prompts/list", '{"prompts":[]}', list_ttl_ms=1, **facts)))
    second = json.loads(raw(result("prompts/list", '{"prompts":[]}', list_ttl_ms=2, **facts)))
    assert (first["ttlMs"], second["ttlMs"]) == (1, 2)


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("text", ['{ "ttlMs": 1.10 }', '{ "cacheScope":"mine" }'])
def test_members_of_the_same_name_in_a_vendor_result_to_legacy_client_survive(text: str, revision: Version) -> None:
    assert raw(downchain.result_to_legacy(Raw(text.encode()), Crossing("vendor/x", revision))) == text


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("hints", ['"ttlMs":5,"cacheScope":"public",', '"ttlMs":null,', '"cacheScope":7,', '"ttlMs":-1.10,', ""])
def test_legacy_client_gets_no_hints(hints: str, revision: Version) -> None:
    assert raw(down.result("resources/read", f'{{{hints}"contents":[],"x":1.10}}', revision)) == '{"contents":[],"x":1.10}'

from __future__ import annotations

import pytest
from msgspec import Raw

from crossings import params
from downcrossings import raw, result, told
from dragoman import chain, downchain
from dragoman.chain import Crossing
from dragoman_specs.version import LEGACY, Version


@pytest.mark.parametrize("revision", LEGACY)
def test_first_call_is_the_same_object(revision: Version) -> None:
    members = {"name": Raw(b'"add"'), "arguments": Raw(b'{"a": 1.10}')}
    assert chain.params_to_server("tools/call", members, revision) is members


def test_vendor_method_keeps_members_of_the_same_name() -> None:
    members = {"requestState": '"mine"', "inputResponses": "{}"}
    assert params("vendor/x", members) == members


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_retry_reaches_the_server_without_its_answers(method: str) -> None:
    assert params(method, {"name": '"add"', "inputResponses": "{}", "requestState": '"s"', "x": "1"}) == {"name": '"add"', "x": "1"}


def test_given_params_are_not_altered() -> None:
    members = {"requestState": Raw(b'"s"')}
    assert chain.params_to_server("tools/call", members, LEGACY[0]) == {}
    assert list(members) == ["requestState"]


@pytest.mark.parametrize("revision", LEGACY)
def test_members_of_a_vendor_result_are_its_own(revision: Version) -> None:
    shaped = downchain.result_to_legacy(Raw(b'{"inputRequests":{},"requestState":"mine"}'), Crossing("vendor/x", revision))
    assert raw(shaped) == '{"inputRequests":{},"requestState":"mine"}'


@pytest.mark.parametrize("revision", LEGACY)
def test_complete_result_asks_nothing(revision: Version) -> None:
    text = '{"resultType":"complete","content":[],"requestState":"s","inputRequests":{},"x":1.10}'
    assert told(result("tools/call", text, revision)) == (
        '{"content":[],"x":1.10}',
        ["sep2322_mrtr: a complete result with questions or their state, left out"],
    )

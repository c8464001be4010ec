"""The official Python client of the first generation (``mcp`` 1.x, which most hosts embed) uses a modern-only server through the bridge.

Two releases of it, each in an environment of its own that is made once below pytest's cache folder. Its steps are in ``sdk1_steps.py`` and
``sdk1_more.py``; the ways, and what is judged on them, in ``ways.py``.
"""

from __future__ import annotations

import pytest
from modern_side import ACCEPTED, LATEST, modern_only
from ways import WayTo

from oracle import JsonObject

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
every_transport = pytest.mark.parametrize("kind", ["stdio", "http", "sse"])

MORE: JsonObject = {
    "greeting": [
        "modern-only",
        "Knows no handshake.",
        {
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "tools": {"listChanged": True},
        },
    ],
    "pages": [2, 2, 1],
    "blocks": [
        ["text", "image", "resource", "audio", "resource_link"],
        ["image/png", "audio/wav"],
        ["inside", "demo://text", "text", "Plain words"],
    ],
    "illustrated": ["image", "resource"],
    "contents": [["demo://two/a", "a"], ["demo://two/b", "b"], ["demo://item/spoon", "item spoon"]],
    "lacking": [{"uri": "demo://nothing"}, -32602, -32602],
    "context": ["loudly-beta"],
    "meta": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "example.test/mine": {"a": [1]}},
    "level": ["logged at alert", "alert", "emergency"],
    "page": ["accept", "https://example.test/sign-in"],
    "broken_off": [{"action": "cancel"}, True, True],
    "three": [{"name": "Ada"}, "four", "file:///home/ada"],
    "many": [4, "Question 1", "Question 2", "Question 3", "Question 4"],
    "not_yet": "came 3 times",
    "on_and_on": [1, 2, 3],
    "asking": ["roots: 1", True],
    "listed": {"result": [1, 2, 3]},
    "moved": 1,
}
BARE: JsonObject = {
    "connect": LATEST,
    "whoami": "acceptance",
    "refused": [[True, True], [True, True], [True, True]],
    "plain": "grüße \u2028 ok",
    "ping": True,
}


def accepted(report: JsonObject) -> JsonObject:
    """The report without its long value, which is looked at."""
    assert len(report.pop("blob")) == 344
    return report


@every_transport
@pytest.mark.parametrize("refusal", ["-32022", "-32601"])
def test_client_of_the_first_generation_passes_the_acceptance_script(way: WayTo, kind: str, refusal: str) -> None:
    assert accepted(way(kind, modern_only("--refusal", refusal)).run()) == ACCEPTED | MORE


@every_transport
def test_old_client_passes_it_but_for_the_page_that_it_cannot_show(way: WayTo, kind: str) -> None:
    expected = ACCEPTED | MORE | {"connect": "2025-06-18", "page": ["elicitation"]}
    assert accepted(way(kind, modern_only(), release="1.12").run()) == expected


def test_it_passes_when_every_answer_is_a_stream(way: WayTo) -> None:
    assert accepted(way("http", modern_only(), "--header-wait", "0").run()) == ACCEPTED | MORE


@every_transport
def test_client_that_can_answer_nothing_is_told_what_is_lacking_and_goes_on(way: WayTo, kind: str) -> None:
    assert way(f"bare-{kind}", modern_only()).run() == BARE


@every_transport
@pytest.mark.parametrize("modern_url", [["--answers", "auto"], ["--answers", "sse"], ["--refusal", "-32601"]], ids=" ".join, indirect=True)
def test_client_of_the_first_generation_passes_it_with_a_server_that_is_reached_by_its_url(way: WayTo, modern_url: str, kind: str) -> None:
    assert accepted(way(kind, modern_url).run()) == ACCEPTED | MORE


@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_old_client_passes_it_with_a_server_that_is_reached_by_its_url(way: WayTo, modern_url: str, kind: str) -> None:
    expected = ACCEPTED | MORE | {"connect": "2025-06-18", "page": ["elicitation"]}
    assert accepted(way(kind, modern_url, release="1.12").run()) == expected


@every_transport
def test_client_that_can_answer_nothing_goes_on_with_a_server_that_is_reached_by_its_url(way: WayTo, modern_url: str, kind: str) -> None:
    assert way(f"bare-{kind}", modern_url).run() == BARE

"""examples/weather_stations.py for clients of every revision."""

from __future__ import annotations

import json

from tests.examples.raw import Peer

SERVER = "weather_stations"
HARBOUR = {"code": "HBR", "name": "Harbour Wall", "region": "coast", "altitude": 4}
LIGHTHOUSE = {"code": "LGT", "name": "Lighthouse Point", "region": "coast", "altitude": 31}
RIDGE = {"code": "RDG", "name": "Upper Ridge", "region": "hills", "altitude": 840}
READING = {"station": "RDG", "time": "2026-08-03T06:00:00Z", "temperature": 8.3, "wind": 4.6, "pressure": 916.5}
UNITS = "# Units\n\nStore SI units. Convert at the edge, once, and name the unit in the variable.\n"


def test_stations_are_listed_in_the_form_that_the_revision_has(peer: Peer) -> None:
    result = peer.call("list_stations", region="coast")
    assert json.loads(result["content"][0]["text"]) == [HARBOUR, LIGHTHOUSE]
    assert (
        result.get("structuredContent")
        == {
            "2024-11-05": None,
            "2025-03-26": None,
            "2025-06-18": {"result": [HARBOUR, LIGHTHOUSE]},
            "2025-11-25": {"result": [HARBOUR, LIGHTHOUSE]},
            "2026-07-28": [HARBOUR, LIGHTHOUSE],
        }[peer.revision]
    )


def test_all_stations_are_listed_without_a_region_and_with_null(peer: Peer) -> None:
    assert json.loads(peer.text("list_stations")) == [HARBOUR, LIGHTHOUSE, RIDGE]
    assert json.loads(peer.text("list_stations", region=None)) == [HARBOUR, LIGHTHOUSE, RIDGE]


def test_a_reading_is_told(peer: Peer) -> None:
    result = peer.call("latest_reading", station="RDG")
    assert json.loads(result["content"][0]["text"]) == READING
    assert result.get("structuredContent") == (READING if peer.revision >= "2025-06-18" else None)


def test_an_unknown_station_is_an_error_that_names_the_stations(peer: Peer) -> None:
    assert peer.call("latest_reading", station="XYZ") == {
        "content": [{"type": "text", "text": "There is no station XYZ. The stations are HBR, LGT, RDG."}],
        "isError": True,
    }


def test_the_policies_are_listed(peer: Peer) -> None:
    assert peer.result("resources/list")["resources"] == [
        {"uri": "policy://units", "name": "units", "mimeType": "text/markdown"},
        {"uri": "policy://gaps", "name": "gaps", "mimeType": "text/markdown"},
        {"uri": "policy://style", "name": "style", "mimeType": "text/markdown"},
    ]


def test_a_policy_is_read_with_its_cache_hints_where_the_revision_has_them(peer: Peer) -> None:
    result = peer.result("resources/read", {"uri": "policy://units"})
    assert result["contents"] == [{"uri": "policy://units", "mimeType": "text/markdown", "text": UNITS}]
    hints = (result.get("ttlMs"), result.get("cacheScope"))
    assert hints == ((3_600_000, "public") if peer.revision == "2026-07-28" else (None, None))


def test_the_prompt_is_listed_with_its_arguments(peer: Peer) -> None:
    (prompt,) = peer.result("prompts/list")["prompts"]
    assert prompt["name"] == "review_code"
    assert prompt["arguments"] == [
        {"name": "code", "required": True, "description": "the code to review"},
        {"name": "focus", "required": False},
    ]


def test_the_prompt_renders_a_review_with_the_policy_beside_it(peer: Peer) -> None:
    result = peer.result("prompts/get", {"name": "review_code", "arguments": {"code": "t = 281.4"}})
    assert result["messages"] == [
        {
            "role": "user",
            "content": {
                "type": "text",
                "text": "Review this change by the policy on units. List faults first, each with its line.\n\n````\nt = 281.4\n````",
            },
        },
        {
            "role": "user",
            "content": {"type": "resource", "resource": {"uri": "policy://units", "mimeType": "text/markdown", "text": UNITS}},
        },
    ]


def test_a_prompt_of_another_focus_is_refused(peer: Peer) -> None:
    params = {"name": "review_code", "arguments": {"code": "x", "focus": "speed"}}
    assert peer.error("prompts/get", params) == {
        "code": -32602,
        "message": "Invalid params: focus: Input should be 'units', 'gaps' or 'style'",
    }

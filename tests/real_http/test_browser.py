"""A page of another origin, in a real browser, uses ``dragoman serve``, or may not.

Preflights, readable headers and refusals are the browser's own judgement here, not ours: a header that ``Access-Control-Expose-Headers``
lacks is null to the page, a method or header that a preflight was not granted is a ``TypeError``. ``browser.py`` says which browser it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import Site, find
from harness import legacy
from http_judge import judge_http
from http_tap import Tap
from serving import Served

from faces import tapped
from oracle import Oracle

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]
HERE = Path(__file__).parent
PAGE = b'<!doctype html><meta charset="utf-8"><title>page</title><script type="module" src="/page.mjs"></script>'


@pytest.fixture
def site() -> Iterator[Site]:
    find()
    script = (HERE / "page.mjs").read_bytes()
    with Site({"/": ("text/html", PAGE), "/page.mjs": ("text/javascript", script)}) as site:
        yield site


def visit(site: Site, folder: Path, oracle: Oracle, role: str, origin_host: str, *options: str, endpoint_host: str = "127.0.0.1") -> Any:
    """Open the page at ``origin_host``, let it do its part, judge what passed, return what it reported and what the servers were asked."""
    with Served(folder, legacy("2025-06-18"), *options) as served, Tap(served.port) as tap:
        endpoint = f"http://{endpoint_host}:{tap.port}{served.path}"
        report = site.visit(folder, f"http://{origin_host}:{site.port}/?" + urlencode({"as": role, "endpoint": endpoint}))
    judge_http(oracle, tap.records)
    assert report.pop("origin") == f"http://{origin_host}:{site.port}"
    asked = [json.loads(record["line"]).get("method") for record in tapped(served.server_tap) if record["dir"] == "in"]
    preflights = [record.exchange for record in tap.records if record.what == "asked" and record.exchange.method == "OPTIONS"]
    return report, asked, preflights


MODERN_REPORT = {
    "versions": ["2026-07-28"],
    "echoed": "from a page",
    "told": [0, 50, 100, "progressed"],
    "refused": [404, -32601],
}
LEGACY_REPORT = {
    "session": "string",
    "version": "2025-06-18",
    "ready": 202,
    "stream": [200, "text/event-stream"],
    "changed": "tools changed",
    "heard": "notifications/tools/list_changed",
    "ended": True,
    "after": 404,
}
REFUSED = {"modern": "TypeError", "legacy": "TypeError", "stream": "TypeError", "health": "TypeError", "blind": "opaque"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_page_of_this_machine_is_a_modern_client(site: Site, tmp_path: Path, oracle: Oracle, host: str) -> None:
    report, _, preflights = visit(site, tmp_path, oracle, "modern", host)
    assert report == MODERN_REPORT
    assert preflights


def test_page_of_this_machine_is_a_legacy_client(site: Site, tmp_path: Path, oracle: Oracle) -> None:
    report, _, preflights = visit(site, tmp_path, oracle, "legacy", "localhost")
    assert report == LEGACY_REPORT
    assert preflights


def test_page_of_a_foreign_origin_is_refused_and_the_server_never_hears_of_it(site: Site, tmp_path: Path, oracle: Oracle) -> None:
    report, asked, _ = visit(site, tmp_path, oracle, "stranger", "foreign.example")
    assert report == REFUSED
    assert "tools/call" not in asked


def test_page_whose_name_was_bound_to_this_machine_is_refused(site: Site, tmp_path: Path, oracle: Oracle) -> None:
    report, asked, _ = visit(site, tmp_path, oracle, "stranger", "foreign.example", endpoint_host="foreign.example")
    assert report == REFUSED
    assert "tools/call" not in asked


@pytest.mark.parametrize(("role", "expected"), [("modern", MODERN_REPORT), ("legacy", LEGACY_REPORT)])
def test_page_of_an_allowed_foreign_origin_is_a_client(site: Site, tmp_path: Path, oracle: Oracle, role: str, expected: Any) -> None:
    allowed = f"http://foreign.example:{site.port}"
    report, _, preflights = visit(site, tmp_path, oracle, role, "foreign.example", "--allow-origin", allowed)
    assert report == expected
    assert preflights


def test_another_port_of_an_allowed_host_is_another_origin(site: Site, tmp_path: Path, oracle: Oracle) -> None:
    allowed = f"http://foreign.example:{site.port + 1}"
    report, asked, _ = visit(site, tmp_path, oracle, "stranger", "foreign.example", "--allow-origin", allowed)
    assert report == REFUSED
    assert "tools/call" not in asked

"""Field cases about finding out which era a server speaks (2026-07-28, basic/transports/stdio#backward-compatibility).

Without ``--probe`` the bridge sends ``initialize`` first and asks ``server/discover`` only a server that has refused it. With
``--probe`` it asks a second, disposable process of the same command, and everything but a modern answer means legacy.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.cases.conftest import Wrap
from tests.cases.wrapped import Wrapped, gone
from tests.conversations.conftest import Converse

PROBED = ("--probe", "--log-level", "info")
AS_LEGACY = ["initialize", "notifications/initialized", "tools/call"]


def probed_and_served(bridge: Wrapped) -> int:
    """A call comes back, from a process that saw an ordinary legacy session; the probe went to another one. Its pid."""
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid) == AS_LEGACY
    assert bridge.shown_to_others(pid) == ["server/discover"]
    return pid


# -- silence -------------------------------------------------------------------------------------------------------------


def test_b001_silent_server_is_legacy_when_the_probe_times_out_and_is_initialized(wrap: Wrap) -> None:
    bridge = wrap("silent", *PROBED, "--probe-timeout", "1")
    probed_and_served(bridge)
    assert "did not answer server/discover within 1 s" in bridge.told("legacy")


def test_b001_silent_server_is_never_probed_unless_asked_for(wrap: Wrap) -> None:
    bridge = wrap("silent")
    discovery = bridge.request("server/discover")
    assert bridge.read()["id"] == discovery
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid) == AS_LEGACY
    assert bridge.shown_to_others(pid) == []


def test_b002_probe_carries_the_envelope_and_its_silence_is_no_obstacle(wrap: Wrap) -> None:
    """This server would refuse a bare question and looks healthy to it; the real one must be asked, and time out."""
    bridge = wrap("silent-with-meta", *PROBED, "--probe-timeout", "1")
    probed_and_served(bridge)
    (question,) = [entry["line"] for entry in bridge.seen() if "server/discover" in entry["line"]]
    for name in ("protocolVersion", "clientCapabilities", "clientInfo"):
        assert f'"io.modelcontextprotocol/{name}"' in question


def test_b015_slow_server_is_served_after_the_probe_has_given_up(wrap: Wrap, tmp_path: Path) -> None:
    """The probe's time is its own: what the server needs to start afterwards is measured by ``--start-timeout`` alone."""
    (tmp_path / "0").mkdir()
    gate = tmp_path / "0" / "seen.gate"
    os.mkfifo(gate)
    bridge = wrap("gate", *PROBED, "--probe-timeout", "0.2")
    pending = bridge.call("pid")
    bridge.told("did not answer server/discover within 0.2 s")
    with gate.open("wb"):
        answer = bridge.read()
    assert answer["id"] == pending
    assert bridge.shown_to(int(answer["result"]["content"][0]["text"])) == AS_LEGACY


def test_b015_server_whose_era_is_told_is_not_probed(wrap: Wrap) -> None:
    bridge = wrap("silent", *PROBED, "--server-era", "legacy", "--probe-timeout", "1000")
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid) == AS_LEGACY
    assert bridge.shown_to_others(pid) == []


def test_b030_request_that_the_server_never_answers_is_answered_here(wrap: Wrap) -> None:
    """Every request gets an answer; the case wants -32601, which no page supports: an unanswered request may be of any kind

    (basic/patterns/cancellation#timeouts: stop waiting and cancel), so it is an internal error that says what happened.
    """
    bridge = wrap("silent", "--request-timeout", "0.2")
    number = bridge.request("completion/complete", ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": ""})
    answer = bridge.read()
    assert answer["id"] == number
    assert answer["error"]["code"] == -32603
    pid = int(bridge.said("pid"))
    given_up = ["completion/complete", "notifications/cancelled"]
    assert bridge.shown_to(pid) == ["initialize", "notifications/initialized", *given_up, "tools/call"]


def test_b030_server_that_refuses_initialize_and_ignores_discover_is_given_up_in_reasonable_time(converse: Converse) -> None:
    """Of a server that "does not respond within a reasonable timeout" (stdio#backward-compatibility) its refusal is the last word."""
    talk = converse()
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32601, "Method not found")
    assert [frame["method"] for frame in talk.to_server] == ["initialize", "server/discover"]
    talk.pass_time(10.0)
    assert talk.error_of(1)["code"] == -32603
    assert "Method not found" in talk.error_of(1)["message"]


# -- exits ---------------------------------------------------------------------------------------------------------------


def test_b003_server_that_exits_on_the_probe_is_started_again_for_initialize(wrap: Wrap) -> None:
    bridge = wrap("exits", *PROBED)
    probed_and_served(bridge)
    assert "it exited on server/discover" in bridge.told("the server is legacy")


def test_b004_process_that_holds_the_pipes_of_the_probe_delays_nothing_and_is_ended(wrap: Wrap) -> None:
    bridge = wrap("leaves-holder", *PROBED, "--probe-timeout", "1000")
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid) == AS_LEGACY
    (holder,) = [entry["holder"] for entry in bridge.seen() if "holder" in entry]
    assert gone(holder)


def test_b005_discover_of_the_client_is_answered_here_and_never_reaches_the_server(wrap: Wrap) -> None:
    bridge = wrap("exits")
    discovery = bridge.request("server/discover")
    answer = bridge.read()
    assert answer["id"] == discovery
    assert answer["result"]["supportedVersions"] == ["2026-07-28"]
    assert bridge.shown_to(int(bridge.said("pid"))) == AS_LEGACY


# -- refusals --------------------------------------------------------------------------------------------------------------


def test_b006_refusal_with_a_private_code_and_no_id_is_legacy(wrap: Wrap) -> None:
    """Told over HTTP; the same rule stands on the stdio page. An error that names no request is not the probe's answer, so time decides."""
    probed_and_served(wrap("implementation-code", *PROBED, "--probe-timeout", "0.5"))


def test_b007_refusal_as_an_invalid_request_is_legacy(wrap: Wrap) -> None:
    """Told over HTTP; the same rule stands on the stdio page."""
    bridge = wrap("invalid-request", *PROBED)
    probed_and_served(bridge)
    assert "error -32600" in bridge.told("the server is legacy")


def test_b008_refusal_that_demands_initialize_first_is_legacy(wrap: Wrap) -> None:
    bridge = wrap("initialize-first", *PROBED)
    probed_and_served(bridge)
    assert "error -32602" in bridge.told("the server is legacy")


def test_b025_unsupported_version_that_names_only_legacy_revisions_is_legacy(wrap: Wrap) -> None:
    """The stdio page forbids the fall-back for this error, but also says to use a listed revision: a legacy one needs initialize."""
    bridge = wrap("only-legacy", *PROBED)
    probed_and_served(bridge)
    assert "names no modern revision" in bridge.told("the server is legacy")


# -- results that prove nothing ----------------------------------------------------------------------------------------------


def test_b016_result_without_anything_in_it_is_no_modern_server(wrap: Wrap) -> None:
    """Told over HTTP; on stdio some servers answer ``{}`` to whatever they are asked."""
    bridge = wrap("discovers-nothing", *PROBED)
    probed_and_served(bridge)
    assert "names no revisions" in bridge.told("the server is legacy")


def test_b024_discovery_without_revisions_is_no_proof_and_the_server_is_tried_as_legacy(wrap: Wrap) -> None:
    """The case takes it for modern; but supportedVersions is required (2026-07-28, server/discover#discoverresult) and nothing

    else in the result tells a revision to speak, so ``initialize`` is the only thing left to try.
    """
    probed_and_served(wrap("discovers-no-versions", *PROBED))


def test_b024_server_that_refuses_both_is_told_with_its_refusal(converse: Converse) -> None:
    talk = converse()
    talk.client("tools/list", id=1)
    talk.reply_error("initialize", -32601, "Method not found: initialize")
    talk.reply("server/discover", {"capabilities": {"tools": {}}})
    assert talk.error_of(1)["code"] == -32603
    assert "Method not found: initialize" in talk.error_of(1)["message"]


def test_b027_discovery_that_names_only_legacy_revisions_is_legacy(wrap: Wrap) -> None:
    bridge = wrap("discovers-legacy", *PROBED)
    probed_and_served(bridge)
    assert "names no modern revision" in bridge.told("the server is legacy")


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_b027_discovery_answered_here_names_modern_revisions_only(converse: Converse, revision: str) -> None:
    talk = converse(revision=revision)
    talk.meet()
    assert talk.result_of("hello")["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_b031_refused_revision_is_not_among_those_offered(converse: Converse, version: str) -> None:
    """basic/versioning#protocol-version-negotiation: the client retries with one of these in ``_meta``, where no legacy one can stand."""
    talk = converse(capabilities={"tools": {}})
    meta: Any = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    talk.client("tools/list", id=1, meta=meta)
    assert talk.error_of(1)["code"] == -32022
    assert talk.error_of(1)["data"] == {"supported": ["2026-07-28"], "requested": version}

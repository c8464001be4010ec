"""Field cases about the life of server processes (2026-07-28, basic/transports/stdio#shutdown and #unexpected-termination)."""

from __future__ import annotations

import signal

from tests.cases.conftest import Wrap
from tests.cases.wrapped import gone
from tests.io.conftest import Process


def test_b093_clients_of_their_own_bridges_share_nothing(wrap: Wrap) -> None:
    """Told of one server process behind many users; on stdio every client starts a bridge of its own, and that a server of its own."""
    one, other = wrap(), wrap()
    assert [one.said("count"), one.said("count"), other.said("count"), one.said("count")] == ["1", "2", "1", "3"]
    assert one.said("pid") != other.said("pid")


def test_b161_state_of_a_server_is_kept_over_the_requests_of_a_client_without_sessions(wrap: Wrap) -> None:
    """Told over HTTP; here the requests, lists among them, reach one process in their order."""
    bridge = wrap()
    assert bridge.said("count") == "1"
    listed = bridge.request("tools/list")
    assert bridge.read()["id"] == listed
    assert [bridge.said("count"), bridge.said("count")] == ["2", "3"]
    assert len({entry["pid"] for entry in bridge.seen()}) == 1


def test_b126_call_that_hangs_is_given_up_cancelled_and_the_next_is_served(wrap: Wrap) -> None:
    bridge = wrap("plain", "--request-timeout", "0.3")
    hanging = bridge.call("hang")
    answer = bridge.read()
    assert answer["id"] == hanging
    assert answer["error"]["code"] == -32603
    pid = int(bridge.said("pid"))
    assert bridge.shown_to(pid) == ["initialize", "notifications/initialized", "tools/call", "notifications/cancelled", "tools/call"]


def test_b126_server_that_floods_its_stderr_is_read_though_nobody_reads_ours(wrap: Wrap) -> None:
    bridge = wrap()
    assert [bridge.said("noisy"), bridge.said("noisy")] == ["done", "done"]


def test_b128_killed_bridge_takes_its_server_and_what_that_has_started_along(wrap: Wrap) -> None:
    """On Windows a job object does it; here it is seen with a server that heeds neither its stdin nor SIGTERM."""
    bridge = wrap("stubborn")
    server, grandchild = (Process(int(pid)) for pid in bridge.said("family").split())
    bridge.signal(signal.SIGKILL)
    bridge.process.wait()
    assert server.ends_within(5)
    assert grandchild.ends_within(5)


def test_b129_server_that_spins_at_the_end_of_its_input_and_ignores_sigterm_is_killed(wrap: Wrap) -> None:
    """Without the signal it takes the whole ladder: stdin closed, a wait, SIGTERM, a wait, SIGKILL; with it the waits are short."""
    bridge = wrap("spins")
    server = Process(int(bridge.said("pid")))
    bridge.end_input()
    bridge.signal(signal.SIGTERM)
    assert bridge.process.wait() in {0, 143}  # both ends are told at once; the first one seen gives the status
    assert server.ends_within(1)


def test_b132_death_with_two_calls_in_flight_is_told_to_both_and_the_next_call_gets_a_new_server(wrap: Wrap) -> None:
    """With the probe's process beside it, so that the wrong one might have been watched."""
    bridge = wrap("plain", "--probe")
    first = int(bridge.said("pid"))
    held = [bridge.call("hold"), bridge.call("hold")]
    answers = [bridge.read(), bridge.read()]
    assert sorted(answer["id"] for answer in answers) == held
    for answer in answers:
        assert answer["error"]["code"] == -32603
        assert "exited with status 3" in answer["error"]["message"]
        assert "two are too many" in answer["error"]["message"]
    second = int(bridge.said("pid"))
    assert second != first
    assert bridge.shown_to(second) == ["initialize", "notifications/initialized", "tools/call"]
    assert gone(first, 1)

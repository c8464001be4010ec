"""The end of ``dragoman serve``: streams end with their result, calls may finish, no process is left."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from tests.serve.conftest import ENVIRONMENT, LEGACY, Served, gone
from tests.serve.wire import Connection, call, head, modern

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("stubborn", file=sys.stderr, flush=True)
while True:
    time.sleep(1000)
"""


def twice(served: Served) -> None:
    """Two signals; the system merges those that come before the first has been heard, and then nobody is let in any more."""
    served.notify(signal.SIGTERM)
    while served.lets_in():
        pass
    served.notify(signal.SIGTERM)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_signal_while_idle_ends_everything(serve, number, status):
    served = serve()
    served.ask(call("echo", text="there is a server process now"))
    children = served.children()
    assert len(children) == 2  # the server and its guard
    assert served.end(number) == (status, [f"dragoman: listening on {served.url}"])
    assert all(gone(pid) for pid in children)


def test_process_started_ahead_of_time_ends_too(serve):
    served = serve()
    children = served.children()
    assert served.end()[0] == 143
    assert all(gone(pid) for pid in children)


def test_listen_stream_ends_with_its_result(serve):
    served = serve()
    with served.connect() as connection:
        connection.send(modern("subscriptions/listen", number=5, notifications={"toolsListChanged": True}))
        connection.head()
        connection.event()
        served.notify(signal.SIGTERM)
        ended = connection.event()
        assert (ended["id"], ended["result"]["resultType"]) == (5, "complete")
        assert connection.chunk() == b""
        assert connection.ended
    assert served.wait()[0] == 143


def test_running_call_may_finish(serve):
    served = serve()
    with served.connect() as connection, served.connect() as other:
        connection.send(call("barrier", count=2, meta={"progressToken": "p"}))
        other.send(call("barrier", number=2, count=1))  # comes back once the first one runs
        assert other.answer().status == 200
        served.notify(signal.SIGTERM)
        assert connection.answer().frame["result"]["content"][0]["text"] == "1"
    assert served.wait()[0] == 143


def test_call_that_does_not_come_to_its_end_is_given_up(serve):
    served = serve("--drain-timeout", "0.2")
    with served.connect() as connection:
        connection.send(call("slow"))
        served.ask(call("barrier", count=1))
        served.notify(signal.SIGTERM)
        assert "error" in connection.answer().frame
        assert connection.ended
    assert served.wait()[0] == 143


def test_second_signal_skips_the_waiting(serve):
    served = serve("--drain-timeout", "1000")
    with served.connect() as connection:
        connection.send(call("slow"))
        served.ask(call("barrier", count=1))
        twice(served)
        assert connection.answer().status == 503
    assert served.wait()[0] == 143


def test_client_that_does_not_read_the_rest_holds_up_nobody_for_ever(serve):
    served = serve("--drain-timeout", "0.1")
    with served.connect(receive_buffer=4096) as connection:
        connection.send(call("big", size=12_000_000))
        connection.head()
        twice(served)
        assert served.wait()[0] == 143


def test_server_that_wants_to_stay_is_killed(serve):
    served = serve(command=[sys.executable, "-S", "-c", STUBBORN])
    served.listen_for("stubborn")
    children = served.children()
    twice(served)
    assert served.wait()[0] == 143
    assert all(gone(pid) for pid in children)


def test_signal_that_the_parent_ignores_stays_ignored():
    words = [sys.executable, "-m", "dragoman", "serve", "--port", "0", "--", *LEGACY]
    nohup = f"import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.executable, {words!r})"
    with subprocess.Popen([sys.executable, "-c", nohup], stderr=-1, env=ENVIRONMENT, bufsize=0) as process:
        port = int(process.stderr.readline().rpartition(b":")[2].partition(b"/")[0])
        process.send_signal(signal.SIGHUP)
        with Connection(port) as connection:
            assert connection.ask(head("GET", "/healthz")).status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143


def test_stats_are_told_at_the_end(serve):
    status, told = serve("--stats").end()
    assert (status, told[-1]) == (143, "dragoman: nothing was left out of a translated message")

"""What the operator sees of ``dragoman serve``: one line when it listens, one line when it cannot."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest
from tests.serve.conftest import ENVIRONMENT, LEGACY
from tests.serve.wire import Connection, call, head

from dragoman.wrap import listening


def refused(*options: str, command: list[str] | None = None) -> tuple[int, str]:
    words = [sys.executable, "-m", "dragoman", "serve", *options, "--", *(command or LEGACY)]
    done = subprocess.run(words, capture_output=True, env=ENVIRONMENT, check=False, timeout=30)
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


def test_one_line_says_where_it_listens_whatever_the_log_level(serve):
    served = serve("--log-level", "error", "--path", "/files")
    assert served.url == f"http://127.0.0.1:{served.port}/files"
    assert served.ask(call("add", path="/files", a=1, b=2)).text == "3"
    assert served.end() == (143, [f"dragoman: listening on {served.url}"])


def test_health_is_answered(serve):
    answer = serve().ask(head("GET", "/healthz"))
    assert (answer.status, answer.frame["status"]) == (200, "ok")


def test_ipv6_is_served(serve):
    served = serve("--host", "::1")
    assert served.url == f"http://[::1]:{served.port}/mcp"
    with Connection(served.port, "::1") as connection:
        assert connection.ask(call("add", a=1, b=2)).text == "3"


def test_localhost_is_served_at_every_address_that_it_has(serve):
    served = serve("--host", "localhost")
    assert served.ask(call("add", a=1, b=2)).text == "3"


@pytest.mark.parametrize("options", [("--isolation", "shared"), ("--principal-header", "X-User")])
def test_every_address_is_served_once_it_is_said_how_callers_are_told_apart(serve, options):
    served = serve("--host", "0.0.0.0", *options)
    assert served.ask(head("GET", "/healthz")).status == 200


def test_every_address_is_refused_otherwise():
    text = (
        "dragoman: error: --host 0.0.0.0 can be reached from other machines, and callers without credentials could not be told apart "
        "there: put a reverse proxy in front that names the caller, with --principal-header NAME; or, if all callers may share one "
        "server and its state, say --isolation shared\n"
    )
    assert refused("--host", "0.0.0.0", "--port", "0") == (2, text)


def test_port_in_use_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert refused("--port", str(port)) == (
            1,
            f"dragoman: error: port {port} of 127.0.0.1 is in use: choose another one with --port, or 0 for any that is free\n",
        )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--host", "a..b"), "cannot resolve --host a..b: it is no host name"),
        (("--host", "203.0.113.7", "--isolation", "shared"), "--host 203.0.113.7 is no address of this machine"),
    ],
)
def test_host_that_is_none_is_told(options, text):
    assert refused("--port", "0", *options) == (1, f"dragoman: error: {text}\n")


def test_privileged_port_is_told():
    told = listening._explain(OSError(errno.EACCES, os.strerror(errno.EACCES)), "127.0.0.1", 80)
    assert told == "port 80 needs privileges: choose one over 1023 with --port, and put a reverse proxy in front"


def test_addresses_of_a_name_share_the_port():
    sockets = listening.listen("localhost", ["127.0.0.1", "127.0.0.2"], 0)
    [port] = {each.getsockname()[1] for each in sockets}
    with pytest.raises(listening.CannotListen, match=rf"^port {port} of localhost is in use"):
        listening.listen("localhost", ["127.0.0.3", "127.0.0.2"], port)
    with socket.socket() as free:  # what was bound before the fault is given back
        free.bind(("127.0.0.3", port))
    for each in sockets:
        each.close()


def test_command_that_is_not_there_is_told():
    assert refused("--port", "0", command=["no-such-program"]) == (1, "dragoman: error: command not found: no-such-program\n")


def test_state_key_that_cannot_be_used_is_told(tmp_path):
    status, told = refused("--port", "0", "--state-key-file", str(tmp_path / "key"))
    assert status == 2
    assert told.startswith(f"dragoman: error: there is no state key file {tmp_path / 'key'}")
    assert told.count("\n") == 1

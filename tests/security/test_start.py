"""What is not safe does not start (2026-07-28, basic/transports/streamable-http#security--endpoint: bind to localhost, authenticate)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases.conftest import Serve
from tests.io.conftest import ROOT

CHILD = [sys.executable, "-S", "-c", "open('started', 'w')"]


def refused(folder: Path, *options: str) -> str:
    """The words with which it does not start."""
    source = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, "--", *CHILD],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source},
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert b"listening" not in done.stderr
    return done.stderr.decode()


@pytest.mark.parametrize(
    ("host", "options"),
    [
        *((host, ()) for host in ("0.0.0.0", "::", "0", "::ffff:0.0.0.0")),
        *(("0.0.0.0", ("--isolation", word)) for word in ("principal", "session")),
        ("0.0.0.0", ("--allow-host", "mcp.example", "--allow-origin", "*")),
    ],
)
def test_address_that_others_can_reach_needs_a_way_to_tell_callers_apart(tmp_path: Path, host: str, options: tuple[str, ...]) -> None:
    told = refused(tmp_path, "--host", host, *options)
    assert "--principal-header" in told
    assert "--isolation shared" in told
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("options", [("--principal-header", ""), ("--host", ""), ("--isolation", "none"), ("--max-sessions", "0")])
def test_setting_that_means_nothing_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert options[0] in refused(tmp_path, *options)


@pytest.mark.parametrize(
    "options", [("--allow-host", "http://x"), ("--allow-host", "a b"), ("--allow-origin", "localhost"), ("--allow-origin", "null")]
)
def test_name_that_could_never_be_matched_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert options[0] in refused(tmp_path, *options)


@pytest.mark.parametrize("name", ["a b", "X:User", "X-Üser", "X-User\r\nY"])
def test_field_name_that_no_proxy_could_send_is_refused(tmp_path: Path, name: str) -> None:
    assert "must be the name of a header field" in refused(tmp_path, "--principal-header", name)


def test_process_for_each_call_needs_room_for_one_beside_it(tmp_path: Path) -> None:
    assert "at least 2" in refused(tmp_path, "--isolation", "session", "--max-sessions", "1")


@pytest.mark.parametrize("options", [("--principal-header", "X-User"), ("--isolation", "shared")])
def test_address_that_others_can_reach_is_listened_on_once_that_is_said(serve: Serve, options: tuple[str, ...]) -> None:
    served = serve("plain", "--host", "0.0.0.0", *options)
    assert served.caller().send("GET", "/healthz").status == 200


def test_connection_to_a_loopback_address_is_guarded_even_if_more_is_listened_on(serve: Serve) -> None:
    """A page reaches this machine's 127.0.0.1 whatever else is listened on."""
    served = serve("plain", "--host", "0.0.0.0", "--isolation", "shared")
    served.host = "127.0.0.1"
    caller = served.caller()
    assert caller.request("server/discover", fields={"Host": "evil.example"}).status == 403
    assert caller.request("server/discover", fields={"Host": "127.0.0.1", "Origin": "http://evil.example"}).status == 403
    assert caller.request("server/discover", fields={"Host": "localhost"}).status == 200

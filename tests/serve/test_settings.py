"""What ``Bridge`` is told is judged when it is made, not by the first client."""

from __future__ import annotations

import pytest

from dragoman.serve import Bridge

COMMAND = ["cat"]


def test_good_settings_are_taken() -> None:
    Bridge(COMMAND, path="/mcp/", allow_hosts=["x.example"], start_timeout=None, request_timeout=2, max_sessions=1, sse=True)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("start_timeout", "2", "start_timeout must be float"),
        ("max_body", "64M", "max_body must be int, not '64M'"),
        ("max_sessions", 0, "max_sessions must be at least 1"),
        ("session_ttl", None, "session_ttl must be float"),
        ("keepalive", -1, "keepalive must be 0 or more"),
        ("allow_hosts", "x.example", "allow_hosts must be Sequence"),
        ("sse", 1, "sse must be bool"),
        ("path", "mcp", "path must start with a slash"),
        ("path", "/mcp?x=1", "path must be a plain path"),
        ("path", "/a%20b", "path must be a plain path"),
        ("path", "/healthz", "path /healthz is taken"),
    ],
)
def test_value_that_cannot_be_used_is_refused_by_its_name(name: str, value: object, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        Bridge(COMMAND, **{name: value})


def test_path_of_the_two_endpoints_is_taken_only_with_them() -> None:
    Bridge(COMMAND, path="/sse")
    with pytest.raises(ValueError, match="path /sse is taken"):
        Bridge(COMMAND, path="/sse", sse=True)


@pytest.mark.parametrize("command", [[], [1], [None]])
def test_command_that_is_none_is_refused(command: list[object]) -> None:
    with pytest.raises(ValueError, match="command must be a program"):
        Bridge(command)


def test_unknown_setting_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match="no setting allow_host"):
        Bridge(COMMAND, allow_host=["x"])

"""The command line: what is understood, and one clear line for what is not."""

from __future__ import annotations

import pytest

from dragoman.http.options import ISOLATIONS as ISOLATIONS_OF_THE_FACE
from dragoman.http.options import HttpOptions
from dragoman.io.command import label
from dragoman.serve.settings import Settings
from dragoman.wrap.config import SERVE, WRAP, Command, UsageError, parse
from dragoman.wrap.help import help_of
from dragoman.wrap.run_http import _settings
from dragoman.wrap.table import ISOLATIONS


def refused(*arguments: str, command: Command = WRAP) -> str:
    with pytest.raises(UsageError) as caught:
        parse(list(arguments), command)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_command_alone_gets_every_default():
    config = parse(["--", "npx", "-y", "server", "--", "--probe"])
    assert config.command == ["npx", "-y", "server", "--", "--probe"]
    assert config.env == {}
    assert not config.flag("probe")
    assert config.text("cwd") is None
    assert config.number("max-line") == 256 << 20
    assert config.number("probe-timeout") == 5.0
    assert config.number("max-parked") == 64
    options = config.options()
    assert {name: getattr(options, name) for name in options.__slots__} == {
        "command_label": "npx server",
        "drain_timeout": 5.0,
        "isolate_capabilities": False,
        "list_ttl_ms": 0,
        "max_parked": 64,
        "max_sessions": 8,
        "one_call_per_session": False,
        "process_per_call": False,
        "question_timeout": 600.0,
        "question_window": 0.02,
        "replay": False,
        "request_timeout": 600.0,
        "server_era": "auto",
        "start_timeout": 60.0,
        "strict": False,
    }


def test_values_are_taken_with_a_space_or_an_equals_sign():
    config = parse(["--request-timeout", "2.5", "--server-era=modern", "--list-ttl", "0.25", "--replay", "--cwd=/x", "--", "s"])
    options = config.options()
    assert (options.request_timeout, options.server_era, options.list_ttl_ms, options.replay) == (2.5, "modern", 250, True)
    assert config.text("cwd") == "/x"


def test_limit_of_parked_calls_is_taken():
    assert parse(["--max-parked", "3", "--", "s"]).options().max_parked == 3


def test_zero_means_no_limit_for_limits_only():
    options = parse(["--request-timeout=0", "--start-timeout=0", "--question-timeout=0", "--drain-timeout=0", "--", "s"]).options()
    assert (options.request_timeout, options.start_timeout, options.question_timeout, options.drain_timeout) == (None, None, None, 0.0)


@pytest.mark.parametrize(("text", "size"), [("1024", 1024), ("64K", 65536), ("64m", 64 << 20), ("1G", 1 << 30)])
def test_sizes_take_a_unit(text, size):
    assert parse(["--max-line", text, "--", "s"]).number("max-line") == size


def test_env_is_repeatable_and_keeps_later_equals_signs():
    assert parse(["--env", "A=1", "--env=B=x=y", "--env", "C=", "--", "s"]).env == {"A": "1", "B": "x=y", "C": ""}


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1e99", "soon", ""])
def test_duration_that_is_none_is_refused(text):
    assert refused(f"--drain-timeout={text}", "--", "s") == f"--drain-timeout takes a number of seconds such as 2.5, not {text!r}"


@pytest.mark.parametrize("text", ["-1", "64MB", "1.5M", "K", "", "9" * 30])
def test_size_that_is_none_is_refused(text):
    assert refused(f"--max-line={text}", "--", "s") == f"--max-line takes a size such as 64M, not {text!r}"


def test_size_that_holds_no_frame_is_refused():
    assert refused("--max-line=10", "--", "s") == "--max-line must be at least 1024 bytes, not '10'"


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "\u0663", "many"])
def test_count_that_is_none_is_refused(text):
    assert refused(f"--max-sessions={text}", "--", "s") == f"--max-sessions takes a whole number of at least 1, not {text!r}"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "no server: give its command after --, as in: dragoman wrap -- npx some-server, or its URL"),
        (["--probe"], "no server: give its command after --, as in: dragoman wrap -- npx some-server, or its URL"),
        (["--"], "no server command after --, as in: dragoman wrap -- npx some-server"),
        (["npx", "server"], "unexpected 'npx': put -- before the server's command: dragoman wrap -- npx server"),
        (
            ["--cwd", "/a b", "--probe", "npx", "-y", "server"],
            "unexpected 'npx': put -- before the server's command: dragoman wrap --cwd '/a b' --probe -- npx -y server",
        ),
        (
            ["--env", "KEY=secret", "--env=TOKEN=secret=", "npx", "--env", "A=1"],
            "unexpected 'npx': put -- before the server's command: dragoman wrap --env KEY=... --env=TOKEN=... -- npx --env A=1",
        ),
        (["-v", "--", "s"], "unknown option -v (for more on stderr: --log-level debug); see dragoman wrap --help"),
        (["--max-parked", "0", "--", "s"], "--max-parked takes a whole number of at least 1, not '0'"),
        (["--prob", "--", "s"], "unknown option --prob (did you mean --probe?); see dragoman wrap --help"),
        (["-x", "--", "s"], "unknown option -x; see dragoman wrap --help"),
        (["--probe=yes", "--", "s"], "--probe takes no value"),
        (["--cwd", "--", "s"], "--cwd needs a value: --cwd DIRECTORY"),
        (["--cwd"], "--cwd needs a value: --cwd DIRECTORY"),
        (["--cwd=", "--", "s"], "--cwd must not be empty"),
        (["--env", "A", "--", "s"], "--env takes NAME=VALUE, not 'A'"),
        (["--env", "=1", "--", "s"], "--env takes NAME=VALUE, not ''"),
        (["--server-era", "old", "--", "s"], "--server-era is one of auto, legacy, modern, not 'old'"),
        (["--port", "80", "--", "s"], "unknown option --port (it is one of dragoman serve); see dragoman wrap --help"),
    ],
)
def test_wrong_command_line_is_refused_with_what_to_do(arguments, text):
    assert refused(*arguments) == text


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["server"], "server"),
        (["/usr/bin/python3", "-u", "/srv/app/server.py", "--token=secret"], "python3 server.py"),
        (["npx", "-y", "@scope/server", "secret"], "npx @scope/server"),
        (["C:\\tools\\server.exe", "--key", "secret"], "server.exe"),
        (["C:\\node\\npx.CMD", "-y", "server"], "npx.CMD server"),
    ],
)
def test_label_is_short(command, text):
    assert label(command) == text


def test_serve_gets_every_default_of_the_face_and_the_core():
    config = parse(["--", "npx", "-y", "server"], SERVE)
    assert (config.text("host"), config.number("port"), config.command) == ("127.0.0.1", 8000, ["npx", "-y", "server"])
    assert (config.text("log-level"), config.text("cwd"), config.flag("stats")) == ("warning", None, False)
    assert _settings(config) == {
        "path": "/mcp",
        "sse": False,
        "host": "127.0.0.1",
        "allow_hosts": (),
        "allow_origins": (),
        "isolation": "principal",
        "principal_header": None,
        "header_wait": 5.0,
        "max_sessions": 64,
        "session_ttl": 1800.0,
        "hibernate_after": 300.0,
        "max_body": 64 << 20,
        "keepalive": 15.0,
        "forward_authorization": False,
        "server_era": "auto",
        "start_timeout": 60.0,
        "request_timeout": 600.0,
        "question_timeout": 600.0,
        "question_window": 0.02,
        "drain_timeout": 5.0,
        "max_parked": 64,
        "one_call_per_session": False,
        "replay": False,
        "strict": False,
        "list_ttl_ms": 0,
    }


def test_defaults_of_serve_are_those_of_the_library():
    settings = _settings(parse(["--", "s"], SERVE))
    face = HttpOptions()
    assert {name: settings[name] for name in HttpOptions.__slots__} == {name: getattr(face, name) for name in HttpOptions.__slots__}
    assert set(settings) == set(Settings.__annotations__) - {"command_label"}  # it follows from the command
    assert ISOLATIONS == ISOLATIONS_OF_THE_FACE


def test_options_of_serve_are_taken():
    words = "--host 0.0.0.0 --port 0 --path=/x --allow-host a --allow-host=b:1 --allow-origin https://c --sse --isolation session"
    more = "--principal-header X-User --max-sessions 3 --keepalive 0 --max-body 1K --request-timeout 0 -- s"
    config = parse([*words.split(), *more.split()], SERVE)
    settings = _settings(config)
    assert (config.text("host"), config.number("port"), settings["path"]) == ("0.0.0.0", 0, "/x")
    assert (settings["allow_hosts"], settings["allow_origins"], settings["sse"]) == (("a", "b:1"), ("https://c",), True)
    assert (settings["isolation"], settings["principal_header"], settings["max_sessions"]) == ("session", "X-User", 3)
    assert (settings["keepalive"], settings["max_body"], settings["request_timeout"]) == (0.0, 1024, None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "no server: give its command after --, as in: dragoman serve -- npx some-server, or its URL"),
        (["--port", "1", "npx"], "unexpected 'npx': put -- before the server's command: dragoman serve --port 1 -- npx"),
        (["--probe", "--", "s"], "unknown option --probe (it is one of dragoman wrap); see dragoman serve --help"),
        (["--prot", "1", "--", "s"], "unknown option --prot (did you mean --port?); see dragoman serve --help"),
        (["--port", "65536", "--", "s"], "--port takes a number from 0 to 65535, not '65536'"),
        (["--port", "-1", "--", "s"], "--port takes a number from 0 to 65535, not '-1'"),
        (["--port", "http", "--", "s"], "--port takes a number from 0 to 65535, not 'http'"),
        (["--path", "mcp", "--", "s"], "--path starts with a slash, as in /mcp, not 'mcp'"),
        (["--allow-host=", "--", "s"], "--allow-host must not be empty"),
        (["--isolation", "none", "--", "s"], "--isolation is one of principal, session, shared, not 'none'"),
    ],
)
def test_wrong_command_line_of_serve_is_refused_with_what_to_do(arguments, text):
    assert refused(*arguments, command=SERVE) == text


@pytest.mark.parametrize("command", [WRAP, SERVE], ids=["wrap", "serve"])
def test_help_names_every_option(command):
    text = help_of(command)
    for option in command.table:
        assert f"  --{option.name}" in text
    assert all(len(line) <= 140 for line in text.splitlines())


def test_help_shows_the_configuration_before_and_after():
    text = help_of(WRAP)
    assert '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files-server", "/data"]}}}' in text
    assert '{"mcpServers": {"files": {"command": "dragoman", "args": ["wrap", "--", "npx", "-y", "files-server", "/data"]}}}' in text
    assert '{"mcpServers": {"files": {"type": "http", "url": "http://127.0.0.1:8000/mcp"}}}' in help_of(SERVE)

"""``dragoman`` as a process: arguments, exit statuses, standard streams, the real core behind it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))}
DRAGOMAN = [sys.executable, "-m", "dragoman"]
PEERS = ROOT / "tests" / "peers"
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}},
}
# Answers every request with a handshake whose serverInfo.name is the value of ``name``.
SERVER = """
import json, os, sys
for line in sys.stdin:
    frame = json.loads(line)
    if "id" in frame:
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": NAME, "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
"""


OF_WRAP = [["wrap", "--help"], ["wrap", "--probe", "-h", "--", "x"], ["wrap", "help"], ["help", "wrap"], ["--help", "wrap"]]
OF_SERVE = [["serve", "--help"], ["serve", "--sse", "-h", "--", "x"], ["serve", "help"], ["help", "serve"], ["--help", "serve"]]


def server(name: str) -> list[str]:
    return ["--", sys.executable, "-S", "-c", SERVER.replace("NAME", name)]


def run(*words: str, frames: list[object] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    data = b"".join(json.dumps(frame).encode() + b"\n" for frame in frames or [])
    return subprocess.run([*DRAGOMAN, *words], input=data, capture_output=True, env=ENVIRONMENT, cwd=cwd, check=False, timeout=30)


def answers(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_version_is_told():
    done = run("--version")
    assert (done.stdout.decode(), done.stderr, done.returncode) == (f"dragoman {dragoman.__version__}\n", b"", 0)
    assert run("wrap", "--version").stdout == run("serve", "--version").stdout == done.stdout


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], *OF_WRAP, *OF_SERVE])
def test_help_goes_to_stdout(words):
    done = run(*words)
    command = b"serve" if words in OF_SERVE else b"wrap"
    assert done.stdout.startswith(b"usage: dragoman %b [OPTIONS] -- COMMAND [ARGUMENTS...]\n" % command)
    assert (done.stderr, done.returncode) == (b"", 0)
    assert (b"--probe-timeout SECONDS" in done.stdout, b"--max-body SIZE" in done.stdout) == (words in OF_WRAP, words in OF_SERVE)


def test_every_command_is_named_by_the_short_help():
    text = run("--help").stdout.decode()
    assert "  wrap    serves over stdin and stdout" in text
    assert "  serve   serves over HTTP" in text
    assert "  probe   tells what a server speaks" in text
    assert "  login   gets a token for a server behind a URL that asks for OAuth; logout forgets it" in text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "no command; see dragoman --help"),
        (["proxy"], "unknown command 'proxy'; see dragoman --help"),
        (["help", "proxy"], "unknown command 'proxy'; see dragoman --help"),
        (["wrpa", "--", "x"], "unknown command 'wrpa' (did you mean wrap?); see dragoman --help"),
        (["server", "--", "x"], "unknown command 'server' (did you mean serve?); see dragoman --help"),
        (["python3", "my server.py"], "unknown command 'python3'; to wrap a server: dragoman wrap -- python3 'my server.py'"),
        (["npx"], "unknown command 'npx'; to wrap a server: dragoman wrap -- npx"),
        (["--", "npx", "x"], "no command; to wrap a server: dragoman wrap -- npx x"),
        (["--fast"], "unknown option '--fast'; see dragoman --help"),
        (["--probe", "--", "x"], "--probe is an option of wrap: dragoman wrap --probe -- x"),
        (["--port", "80", "--", "x"], "--port is an option of serve: dragoman serve --port 80 -- x"),
        (["--strict", "--", "x"], "--strict is an option of wrap and serve: dragoman wrap --strict -- x"),
        (["serve"], "no server: give its command after --, as in: dragoman serve -- npx some-server, or its URL"),
        (["serve", "--probe", "--", "x"], "unknown option --probe (it is one of dragoman wrap); see dragoman serve --help"),
        (["-v"], "unknown option '-v'; for more on stderr: dragoman wrap --log-level debug -- COMMAND; see dragoman --help"),
        (["wrap"], "no server: give its command after --, as in: dragoman wrap -- npx some-server, or its URL"),
        (["wrap", "--max-line=1T", "--", "x"], "--max-line takes a size such as 64M, not '1T'"),
    ],
)
def test_wrong_command_line_is_one_line_on_stderr_and_status_2(words, text):
    done = run(*words)
    assert (done.stdout, done.stderr.decode(), done.returncode) == (b"", f"dragoman: {text}\n", 2)


def test_handshake_is_served_and_eof_ends_in_order():
    done = run("wrap", *server("'plain'"), frames=[INITIALIZE])
    [answer] = answers(done)
    assert answer["id"] == 1
    assert answer["result"]["serverInfo"] == {"name": "plain", "version": "1"}
    assert (done.stderr, done.returncode) == (b"", 0)


def test_environment_is_inherited_and_extended():
    name = "os.environ['ADDED'] + os.environ['PYTHONPATH'][:1]"
    done = run("wrap", "--env", "ADDED=yes", *server(name), frames=[INITIALIZE])
    assert answers(done)[0]["result"]["serverInfo"]["name"] == "yes/"


def test_working_directory_is_the_servers_alone(tmp_path: Path):
    (tmp_path / "there").mkdir()
    program = tmp_path / "there" / "run.sh"
    program.write_text('#!/bin/sh\nexec "$@"\n')
    program.chmod(0o755)
    dashes, *command = server("os.getcwd()")
    done = run("wrap", "--cwd", "there", dashes, "./run.sh", *command, frames=[INITIALIZE], cwd=tmp_path)
    assert answers(done)[0]["result"]["serverInfo"]["name"] == str(tmp_path / "there")


def test_command_that_is_not_there_is_told_to_the_operator_and_to_the_client():
    done = run("wrap", "--", "no-such-program", "x", frames=[INITIALIZE])
    [answer] = answers(done)
    assert (answer["id"], answer["error"]["code"]) == (1, -32603)
    assert "command not found: no-such-program" in answer["error"]["message"]
    assert done.stderr.startswith(b"dragoman: error: command not found: no-such-program\n")
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("no program\n", "it is neither a program nor a script with a #! line"),
        ("#!/no/such/shell\n", "the interpreter named in its #! line does not exist"),
    ],
)
def test_program_that_cannot_be_run_is_told(tmp_path: Path, content, text):
    program = tmp_path / "program"
    program.write_text(content)
    program.chmod(0o755)
    done = run("wrap", "--", str(program))
    assert done.stderr.decode() == f"dragoman: error: cannot start {program}: {text}\n"
    assert done.returncode == 1


def test_server_that_dies_is_told_with_its_status_and_stderr():
    done = run("wrap", "--", "sh", "-c", "read x; echo no token >&2; exit 3", frames=[INITIALIZE])
    [answer] = answers(done)
    assert "sh exited with status 3; the last lines of its stderr:\nno token" in answer["error"]["message"]
    assert done.returncode == 1


def test_state_key_that_cannot_be_used_is_refused_before_serving(tmp_path: Path):
    done = run("wrap", "--state-key-file", str(tmp_path / "key"), *server("''"), frames=[INITIALIZE])
    assert (done.stdout, done.returncode) == (b"", 2)
    assert done.stderr.startswith(b"dragoman: error: ")
    assert str(tmp_path / "key").encode() in done.stderr


def test_state_key_that_can_be_used_is_no_hindrance(tmp_path: Path):
    key = tmp_path / "key"
    key.write_text("0123456789abcdef" * 4)
    key.chmod(0o600)
    done = run("wrap", "--state-key-file", str(key), *server("'x'"), frames=[INITIALIZE])
    assert (len(answers(done)), done.returncode) == (1, 0)


def test_line_over_the_limit_leaves_the_rest_alone():
    done = run("wrap", "--max-line", "1K", *server("'x'"), frames=[{"jsonrpc": "2.0", "id": 7, "method": "x" * 3000}, INITIALIZE])
    first, second = answers(done)
    assert "error" in first
    assert second["id"] == 1


def test_stats_are_told_at_the_end():
    done = run("wrap", "--stats", *server("'x'"), frames=[INITIALIZE])
    assert done.stderr == b"dragoman: nothing was left out of a translated message\n"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["legacy_server.py", "--revision", "2025-06-18"], "dragoman: the server is legacy: it exited on server/discover\n"),
        (["modern_server.py"], "dragoman: the server is modern: its server/discover names a modern revision\n"),
    ],
)
def test_probe_decides_before_the_first_frame(command, told):
    discover = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": MODERN}}
    done = run("wrap", "--probe", "--log-level", "info", "--", sys.executable, str(PEERS / command[0]), *command[1:], frames=[discover])
    assert told in done.stderr.decode()
    [answer] = answers(done)
    assert answer["result"]["supportedVersions"] == ["2026-07-28"]
    assert done.returncode == 0


def test_sigterm_while_idle_ends_with_143():
    with subprocess.Popen([*DRAGOMAN, "wrap", *server("'x'")], stdin=-1, stdout=-1, env=ENVIRONMENT, bufsize=0) as bridge:
        bridge.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        assert b'"id":1' in bridge.stdout.readline().replace(b" ", b"")
        bridge.send_signal(signal.SIGTERM)
        assert bridge.stdout.read() == b""
        assert bridge.wait() == 143


@pytest.mark.parametrize(("closed", "answered"), [("2>&-", True), ("<&-", False), (">&-", False), ("<&- >&- 2>&-", False)])
def test_closed_standard_streams_are_no_fault(closed, answered, tmp_path: Path):
    source = tmp_path / "in"
    source.write_text(json.dumps(INITIALIZE) + "\n")
    words = [*DRAGOMAN, "wrap", *server("'x'")]
    redirected = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
    with source.open("rb") as frames:
        done = subprocess.run(redirected, stdin=frames, capture_output=True, env=ENVIRONMENT, check=False, timeout=30)
    assert (done.returncode, bool(done.stdout)) == (0, answered)
    assert b"Traceback" not in done.stderr


def loaded(code: str, frames: bytes = b"") -> set[str]:
    """The modules that ``code`` imports; it may write whole lines to stdout."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], input=frames, stdout=-1, env=ENVIRONMENT, check=True)
    return set(done.stdout.decode().splitlines()[-1].split())


def test_nothing_slow_is_imported_before_the_server_is_started():
    modules = loaded(
        "from dragoman.wrap import cli; from dragoman.wrap.config import parse; from dragoman.io.launcher import Launcher\n"
        "config = parse(['--', '/bin/true']); Launcher(config.command, {}, None, config.options().command_label).prepare()"
    )
    assert {name for name in modules if not name.startswith("dragoman")} <= {"__future__"}


def test_nothing_slow_is_imported_before_the_server_behind_http_is_started():
    modules = loaded(
        "from dragoman.wrap import cli, run_http; from dragoman.wrap.config import SERVE, parse\n"
        "run_http._run = lambda config, sockets, launcher: (launcher.abandon(), [each.close() for each in sockets])\n"
        "cli.main(['serve', '--port', '0', '--', '/bin/true'])"
    )
    assert "dragoman.io.launcher" in modules
    assert modules & {"asyncio", "cryptography", "logging", "msgspec", "pydantic", "uvicorn", "uvloop", "httptools"} == set()


_OF_HTTP = ("dragoman.http", "dragoman.serve", "dragoman.remote", "dragoman.auth", "dragoman.io.http_", "dragoman.wrap.run_http")


def test_nothing_of_http_is_imported_before_the_first_answer_over_stdin():
    modules = loaded(f"from dragoman.wrap.cli import main; main({['wrap', *server(repr('x'))]!r})", json.dumps(LIST).encode() + b"\n")
    assert "dragoman.bridging.face" in modules
    assert [name for name in modules if name.startswith(_OF_HTTP)] == []
    assert modules & {"aiohttp", "asyncio", "h11", "http", "httptools", "logging", "socket", "uvicorn", "uvloop", "yarl"} == set()


def test_nothing_slow_is_imported_before_the_first_answer():
    modules = loaded(f"from dragoman.wrap.cli import main; main({['wrap', *server(repr('x'))]!r})")
    assert "dragoman.bridging.face" in modules
    slow = {
        "argparse",
        "asyncio",
        "cryptography",
        "dataclasses",
        "email",
        "json",
        "logging",
        "multiprocessing",
        "pathlib",
        "pydantic",
        "queue",
        "shutil",
    }
    assert modules & (slow | {"socket", "ssl", "subprocess", "tempfile", "threading", "urllib"}) == set()


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}}


@pytest.mark.parametrize("request_", [INITIALIZE, LIST], ids=["legacy", "modern"])
def test_request_is_handled_without_slow_modules(request_):
    pytest.importorskip("typing_extensions")  # msgspec would import it
    code = f"from dragoman.wrap.cli import main; main({['wrap', *server(repr('x'))]!r})"
    modules = loaded(code, json.dumps(request_).encode() + b"\n")
    assert {"msgspec", "dragoman.bridging.face"} <= modules
    slow = {"argparse", "asyncio", "dataclasses", "inspect", "logging", "pydantic", "subprocess", "typing_extensions"}
    assert modules & slow == set()


def test_typing_extensions_can_be_imported_after_serving():
    pytest.importorskip("typing_extensions")
    assert "typing_extensions" in loaded("import dragoman.wrap.run_stdio; import typing_extensions")


def test_garbage_is_collected_while_serving():
    loaded("import dragoman.wrap.run_stdio, gc; assert gc.isenabled()")


def test_reason_why_the_server_cannot_be_started_is_said_once():
    done = run("wrap", "--", "no-such-program", frames=[INITIALIZE])
    assert done.stderr == b"dragoman: error: command not found: no-such-program\n"

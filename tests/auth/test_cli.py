"""What a person types once: login, logout and status, with a browser or without (as the command line calls them)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import httpx2
import pytest

from dragoman.auth import cli, errors
from dragoman.auth.errors import LoginNeeded, NotInstalled


def landing(url: str) -> str:
    """The address at which the browser of another machine ends, unable to go there."""
    return httpx2.get(url, follow_redirects=False, trust_env=False, verify=False).headers["location"]


def test_without_a_login_there_is_nothing_to_tell_or_to_forget(world):
    settings = world.settings()
    assert cli.status(world.server.url, settings, say=world.say) == 1
    assert cli.logout(world.server.url, settings, say=world.say) == 0
    assert world.told == [f"no login at {world.server.url}", f"there is no login at {world.server.url}"]
    assert world.authority.log == []


def test_a_login_is_kept_for_the_bridges_that_come_later(world):
    assert cli.login(world.server.url, world.settings(scope="read"), say=world.say) == 0
    words = f"login at {world.server.url}: token of {world.authority.issuer} for client client-1, valid until "
    assert world.told[-1].startswith(words)
    assert world.told[-1].endswith(", scope read, can be refreshed")
    assert cli.status(world.server.url, world.settings(), say=world.say) == 0
    assert world.told[-1].startswith(words)

    async def story() -> None:
        oauth = world.oauth(login="never")
        assert set(await oauth.apply()) == {"Authorization"}

    world.play(story)


def test_the_servers_challenge_says_where_to_log_in_and_for_what(world):
    world.server.document_at = "/about/me"
    world.server.first_scope = "files"
    assert cli.login(world.server.url, world.settings(), say=world.say) == 0
    assert world.asked("/authorize")[0]["scope"] == "files"


def test_a_server_that_lets_everybody_in_at_first_can_be_logged_in_at_too(world):
    world.server.accepts = lambda token: True
    world.server.tells_where = False
    assert cli.login(world.server.url, world.settings(), say=world.say) == 0


def test_a_second_login_asks_again(world):
    assert cli.login(world.server.url, world.settings(), say=world.say) == 0
    assert cli.login(world.server.url, world.settings(), say=world.say) == 0
    assert len(world.visits) == 2


def test_a_login_that_fails_says_why(world):
    world.authority.denies = "access_denied", ""
    assert cli.login(world.server.url, world.settings(), say=world.say) == 1
    assert world.told[-1] == "the login did not succeed: the authorization server said: access_denied"


def test_a_server_that_is_not_there_is_told(world):
    assert cli.login("http://localhost:9/mcp", world.settings(), say=world.say) == 1
    assert world.told == ["cannot reach http://localhost:9 (ConnectError)"]


def test_a_server_without_https_gets_no_login(world):
    assert cli.login("http://mcp.example/mcp", world.settings(), say=world.say) == 1
    assert world.told == ["the authorization would go to http://mcp.example, which is not https: refused"]


@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_a_logout_revokes_and_forgets(world, method):
    secret = "" if method == "none" else "s3cr3t/of it"
    world.authority.know("known", secret, method)
    world.authority.metadata |= {
        "revocation_endpoint": f"{world.authority.issuer}/revoke",
        "token_endpoint_auth_methods_supported": [method],
    }
    settings = world.settings(client_id="known", client_secret=secret)
    assert cli.login(world.server.url, settings, say=world.say) == 0
    (refresh,) = world.authority.refresh
    assert cli.logout(world.server.url, settings, say=world.say) == 0
    assert world.told[-1] == f"forgot the login at {world.server.url}; its token is revoked"
    assert world.authority.revoked == [refresh]
    assert cli.status(world.server.url, settings, say=world.say) == 1


def test_a_logout_forgets_though_the_authorization_server_is_gone(world):
    world.authority.metadata["revocation_endpoint"] = "http://localhost:9/revoke"
    assert cli.login(world.server.url, world.settings(), say=world.say) == 0
    assert cli.logout(world.server.url, world.settings(), say=world.say) == 0
    assert (
        world.told[-1]
        == f"forgot the login at {world.server.url}; its token could not be revoked: cannot reach http://localhost:9 (ConnectError)"
    )
    assert cli.status(world.server.url, world.settings(), say=world.say) == 1


def test_without_the_extra_its_name_is_told(world, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NotInstalled, match=r"install dragoman with its extra, dragoman\[oauth\]"):
        errors.require()
    assert cli.login(world.server.url, world.settings(), say=world.say) == 1
    assert "dragoman[oauth]" in world.told[-1]

    async def story() -> None:
        with pytest.raises(NotInstalled):
            await world.request(world.oauth())
        assert await world.oauth().challenged(401, {"WWW-Authenticate": "Basic"}, {}) is False

    world.play(story)


# -- without a browser on the machine ------------------------------------------------------------------------------


def test_the_address_at_which_the_browser_ends_can_be_typed(world):
    world.logs_in = False
    theirs, ours = os.pipe()

    async def story() -> None:
        request = asyncio.create_task(world.request(world.oauth(terminal=theirs)))
        await world.visited.wait()
        place = await asyncio.to_thread(landing, world.visits[0])
        os.write(ours, b"\nwhat?\n" + place.replace("state=", "state=x").encode() + b"\n" + place.encode() + b"\n")
        assert await request == 200

    world.play(story)
    os.close(ours)
    assert world.told[2] == "where the browser cannot come back to this machine, paste the address here at which it ends"
    assert sum("this is not the address at which the login ends" in line for line in world.told) == 2


def test_a_terminal_that_is_closed_leaves_the_browser(world):
    theirs, ours = os.pipe()
    os.close(ours)

    async def story() -> None:
        assert await world.request(world.oauth(terminal=theirs)) == 200

    world.play(story)


SCRIPT = """
import sys
from dragoman.auth.cli import login
from dragoman.auth.settings import Settings
sys.exit(login(sys.argv[1], Settings(login="print", token_dir=sys.argv[2])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_login_on_a_terminal_takes_what_is_pasted_and_ends(world):
    ours, theirs = os.openpty()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", SCRIPT, world.server.url, str(world.folder / "tokens")]
    with subprocess.Popen(words, stdin=theirs, stdout=-1, stderr=-1, text=True, env=environment) as process:
        os.close(theirs)
        shown = next(line for line in process.stderr if line.startswith("http"))
        os.write(ours, landing(shown.strip()).encode() + b"\n")
        rest = process.stderr.read()
        assert process.wait() == 0
        assert process.stdout.read() == ""
    os.close(ours)
    assert "login at " in rest


# -- the browser ---------------------------------------------------------------------------------------------------

OPENER = """
import sys
from dragoman.auth.person import open_browser
print(open_browser(sys.argv[1]), file=sys.stderr)
if len(sys.argv) > 2:
    print(open(sys.argv[2]).read(), end="", file=sys.stderr)
"""


def opened(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    whole = {**kept, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run([sys.executable, "-c", OPENER, *arguments], capture_output=True, text=True, timeout=30, env=whole, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes, and another way of choosing browsers")
def test_the_browser_of_the_environment_is_opened_and_cannot_speak_on_our_streams(tmp_path):
    pipe, script = tmp_path / "pipe", tmp_path / "browser"
    os.mkfifo(pipe)
    script.write_text(f'#!/bin/sh\necho loud; echo loud >&2; cat; echo "opened $1" > {pipe}\n')
    script.chmod(0o755)
    run = opened(["https://auth.example/?a=b&c=d", str(pipe)], BROWSER=f"{script} %s")
    assert run.stdout == ""
    assert run.stderr == "True\nopened https://auth.example/?a=b&c=d\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have a browser always")
def test_without_a_display_no_browser_is_tried():
    assert opened(["https://auth.example/"]).stderr == "False\n"


def test_a_bridge_that_may_not_ask_says_who_can(world):
    async def story() -> None:
        with pytest.raises(LoginNeeded, match=f"run dragoman login {world.server.url}"):
            await world.request(world.oauth(login="never"))

    world.play(story)
    assert world.authority.log == []

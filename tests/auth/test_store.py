"""Token files: whose they are, who can read them, and who may work on them (security-considerations#token-theft)."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from dragoman.auth.errors import StoreError
from dragoman.auth.record import Record, canonical
from dragoman.auth.store import LOGGING_IN, REFRESHING, Store, default_folder

SERVER = "https://mcp.example/mcp"
RECORD = Record(server=SERVER, access_token="access-secret", refresh_token="refresh-secret", client={"client_secret": "client-secret"})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(SERVER, "", str(tmp_path / "state" / "tokens"))


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def folder(store: Store) -> Path:
    return Path(store.path).parent


def test_nothing_is_kept_at_first_and_nothing_is_made(store, tmp_path):
    assert store.load() == Record(server=SERVER)
    assert store.forget() is False
    assert list(tmp_path.iterdir()) == []


def test_what_was_saved_is_there_again(store):
    store.save(RECORD)
    assert store.load() == RECORD


def test_saving_replaces(store):
    store.save(RECORD)
    store.save(replace(RECORD, access_token="second"))
    assert store.load().access_token == "second"
    assert len(list(folder(store).iterdir())) == 1


def test_forgetting_removes_the_file(store):
    store.save(RECORD)
    assert store.forget() is True
    assert store.load() == Record(server=SERVER)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_the_owner_reads_whatever_the_umask(store, mask):
    before = os.umask(mask)
    try:
        store.save(RECORD)
        store.save(RECORD)
    finally:
        os.umask(before)
    assert mode(store.path) == 0o600
    assert mode(folder(store)) == 0o700


def test_a_file_is_never_open_to_others_while_it_is_written(store, monkeypatch):
    seen: list[int] = []
    real = os.replace

    def looking(source: str, target: str) -> None:
        seen.append(mode(source))
        real(source, target)

    monkeypatch.setattr(os, "replace", looking)
    before = os.umask(0)
    try:
        store.save(RECORD)
    finally:
        os.umask(before)
    assert seen == [0o600]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(store, monkeypatch):
    store.save(RECORD)

    def failing(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StoreError, match="No space left on device"):
        store.save(replace(RECORD, access_token="second"))
    assert store.load() == RECORD
    assert len(list(folder(store).iterdir())) == 1


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o660, 0o620])
def test_a_file_that_is_open_to_others_is_refused(store, bits):
    store.save(RECORD)
    Path(store.path).chmod(bits)
    with pytest.raises(StoreError, match=f"is open to other users \\(mode {bits:04o}\\): run chmod 600 on it"):
        store.load()


def test_a_folder_in_which_others_write_is_refused(store):
    store.save(RECORD)
    folder(store).chmod(0o770)
    for use in (store.load, store.forget, lambda: store.save(RECORD)):
        with pytest.raises(StoreError, match="run chmod 700 on it"):
            use()


def test_a_folder_that_others_may_look_into_will_do(store):
    store.save(RECORD)
    folder(store).chmod(0o755)
    assert store.load() == RECORD


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(store):
    store.save(RECORD)
    os.chown(store.path, 12345, -1)
    with pytest.raises(StoreError, match="belongs to another user"):
        store.load()


def test_a_link_is_not_followed(store, tmp_path):
    store.save(RECORD)
    Path(store.path).rename(tmp_path / "elsewhere")
    Path(store.path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="cannot read the token file"):
        store.load()


@pytest.mark.parametrize("content", [b"", b"{", b'{"server": 1}', b'{"access_token": "access-secret"}', b"\xff"])
def test_a_damaged_file_is_told_without_what_is_in_it(store, content):
    store.save(RECORD)
    Path(store.path).write_bytes(content)
    with pytest.raises(StoreError, match="is damaged: remove it and log in again") as raised:
        store.load()
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_file_of_a_later_version_is_left_alone(store):
    store.save(replace(RECORD, version=2))
    with pytest.raises(StoreError, match="another version of dragoman"):
        store.load()


def test_a_record_does_not_show_its_secrets():
    assert repr(RECORD) == "Record('https://mcp.example/mcp', '', issuer='')"


def test_no_two_pairs_share_a_file(tmp_path):
    pairs = [
        (SERVER, ""),
        (SERVER, "a"),
        (SERVER + "a", ""),
        (SERVER, "b"),
        ("https://mcp.example/MCP", ""),
        ("https://mcp.example:8443/mcp", ""),
    ]
    assert len({Store(server, principal, str(tmp_path)).path for server, principal in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://mcp.example/mcp", "https://mcp.example/mcp"),
        ("HTTPS://MCP.example:443/mcp#part", "https://mcp.example/mcp"),
        ("https://mcp.example/", "https://mcp.example"),
        ("http://mcp.example:80", "http://mcp.example"),
        ("http://[::1]:8000/mcp?a=b", "http://[::1]:8000/mcp?a=b"),
        ("https://mcp.example/MCP/", "https://mcp.example/MCP/"),
    ],
)
def test_one_server_has_one_name(url, same):
    assert canonical(url) == same


def test_the_folder_is_where_the_system_keeps_such_things(monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    folders = {}
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        folders[platform] = default_folder()
    assert folders == {
        "linux": "/state/dragoman/tokens",
        "darwin": "/home/anna/Library/Application Support/dragoman/tokens",
        "win32": "/local/dragoman/tokens",
    }


@pytest.mark.parametrize("value", ["", "relative/state"])
def test_a_state_folder_that_is_not_absolute_does_not_count(monkeypatch, value):
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("XDG_STATE_HOME", value)
    monkeypatch.setattr(sys, "platform", "linux")
    assert default_folder() == "/home/anna/.local/state/dragoman/tokens"


HOLDER = """
import asyncio, sys
from dragoman.auth.store import Store
async def main():
    async with Store({server!r}, "", {folder!r}).alone({purpose!r}, 5) as is_ours:
        print(is_ours, flush=True)
        await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


def holder(store: Store, purpose: str) -> subprocess.Popen[str]:
    """Another process that holds the lock."""
    script = HOLDER.format(server=SERVER, folder=str(folder(store)), purpose=purpose)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", script], stdin=-1, stdout=-1, text=True, env=environment)
    assert process.stdout.readline() == "True\n"
    return process


def test_one_process_at_a_time_and_the_next_when_it_is_killed(store):
    async def story() -> None:
        with holder(store, REFRESHING) as other:
            async with store.alone(REFRESHING, 0.1) as is_ours:
                assert is_ours is False
            async with store.alone(LOGGING_IN, 0.1) as is_ours:  # another matter
                assert is_ours is True
            other.kill()
        async with store.alone(REFRESHING, 5) as is_ours:
            assert is_ours is True

    asyncio.run(story())


def test_two_of_one_process_take_turns(store):
    order: list[str] = []

    async def work(name: str) -> None:
        async with Store(SERVER, "", str(folder(store))).alone(REFRESHING, 5) as is_ours:
            assert is_ours
            order.append(f"{name} begins")
            for _ in range(5):
                await asyncio.sleep(0)
            order.append(f"{name} ends")

    async def story() -> None:
        await asyncio.gather(work("a"), work("b"))

    asyncio.run(story())
    assert order == ["a begins", "a ends", "b begins", "b ends"]


def test_where_there_can_be_no_lock_everybody_is_alone(tmp_path):
    (tmp_path / "file").touch()

    async def story() -> None:
        async with Store(SERVER, "", str(tmp_path / "file" / "tokens")).alone(REFRESHING, 0) as is_ours:
            assert is_ours is True

    asyncio.run(story())

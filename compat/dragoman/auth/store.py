"""Token files: one a server and principal, readable by their owner alone (basic/authorization/security-considerations#token-theft).

A file is written beside its place with its final permissions and renamed, so that nobody reads half of one, or one that is still
open to others. Of several bridges on one machine that share a file, one at a time refreshes or logs in: a refresh token
that rotates is good for one use, and a second use may end the grant.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from dragoman.auth.errors import StoreError
from dragoman.auth.record import Record

REFRESHING, LOGGING_IN = "refresh", "login"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST = 4 << 20
_PAUSE = 0.05
_WINDOWS = sys.platform == "win32"
_TAKEN = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)


def default_folder() -> str:
    """Where the system keeps such things: of the user, and not to be carried to other machines."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME", "")
        if not os.path.isabs(base):  # a relative one is to be ignored, says the standard
            base = os.path.join(home, ".local", "state")
    return os.path.join(base, "dragoman", "tokens")


class Store:
    """The file of one server (its canonical address) and one principal."""

    def __init__(self, server: str, principal: str = "", folder: str = "") -> None:
        self._server = server
        self._principal = principal
        self._folder = folder or default_folder()
        # The name is for people; what tells files apart is the digest, of lengths too, so that no two pairs meet.
        key = f"{len(server)}:{server}{principal}".encode("utf-8", "surrogatepass")
        host = re.sub(r"[^A-Za-z0-9.-]", "_", server.partition("//")[2].partition("/")[0])[:80]
        self.path = os.path.join(self._folder, f"{host}-{hashlib.sha256(key).hexdigest()[:24]}.json")

    def load(self) -> Record:
        """What is kept; an empty record if nothing is. Raises ``StoreError``."""
        empty = Record(server=self._server, principal=self._principal)
        self._check_folder()
        try:
            fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
        except (FileNotFoundError, NotADirectoryError):
            return empty
        except OSError as fault:
            raise StoreError(f"cannot read the token file {self.path}: {fault.strerror or fault}") from fault
        with open(fd, "rb") as file:
            self._check(self.path, os.fstat(fd), _OTHERS, "chmod 600")
            data = file.read(_MOST)
        try:
            record = msgspec.json.decode(data, type=Record)
        except msgspec.DecodeError:  # its text could quote the file
            raise StoreError(f"the token file {self.path} is damaged: remove it and log in again") from None
        if record.version != empty.version:
            raise StoreError(f"the token file {self.path} was written by another version of dragoman: remove it and log in again")
        return record if (record.server, record.principal) == (self._server, self._principal) else empty

    def save(self, record: Record) -> None:
        """Raises ``StoreError``."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            self._check_folder()
            # mkstemp opens with O_EXCL and mode 0600.
            import tempfile

            fd, beside = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".new")
            try:
                with open(fd, "wb") as file:
                    file.write(msgspec.json.encode(record))
                    file.flush()
                    os.fsync(fd)
                os.replace(beside, self.path)
            except BaseException:
                os.unlink(beside)
                raise
        except OSError as fault:
            raise StoreError(f"cannot write the token file {self.path}: {fault.strerror or fault}") from fault

    def forget(self) -> bool:
        """Remove the file; whether there was one."""
        self._check_folder()
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return False
        except OSError as fault:
            raise StoreError(f"cannot remove the token file {self.path}: {fault.strerror or fault}") from fault
        return True

    @asynccontextmanager
    async def alone(self, purpose: str, patience: float) -> AsyncIterator[bool]:
        """Hold the file's lock for ``purpose``; False, without it, if others kept it for longer than ``patience`` seconds.

        Where there can be no lock (a file system without them, or one that is read-only), everybody is alone.
        """
        fd = self._open_lock(f"{self.path}.{purpose}.lock")
        if fd is None:
            yield True
            return
        try:
            loop = asyncio.get_running_loop()
            deadline = loop.time() + patience
            while not (is_ours := _try(fd)) and loop.time() < deadline:  # noqa: ASYNC110 - other processes set no event
                await asyncio.sleep(_PAUSE)
            yield is_ours
        finally:
            os.close(fd)  # which lets go of the lock

    def _open_lock(self, path: str) -> int | None:
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            return os.open(path, flags, 0o600)
        except OSError:
            return None

    def _check_folder(self) -> None:
        try:
            status = os.stat(self._folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as fault:
            raise StoreError(f"cannot use the token folder {self._folder}: {fault.strerror or fault}") from fault
        if not stat.S_ISDIR(status.st_mode):
            raise StoreError(f"the token folder {self._folder} is no folder")
        # Whoever can write there can put a file of his own in the place of ours.
        self._check(self._folder, status, _OTHERS_WRITE, "chmod 700")

    @staticmethod
    def _check(path: str, status: os.stat_result, forbidden: int, remedy: str) -> None:
        if _WINDOWS:  # who may read a file is told elsewhere there; the mode is made up
            return
        if status.st_uid != os.geteuid():
            raise StoreError(f"{path} belongs to another user: tokens are not kept there")
        if stat.S_IMODE(status.st_mode) & forbidden:
            raise StoreError(f"{path} is open to other users (mode {stat.S_IMODE(status.st_mode):04o}): run {remedy} on it")


def _try(fd: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        return fault.errno not in _TAKEN
    return True

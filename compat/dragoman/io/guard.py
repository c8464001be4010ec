"""So that no server outlives a bridge that was killed with SIGKILL.

Closing its stdin ends most servers, but not one that ignores that. The kernel's own answer (PR_SET_PDEATHSIG) needs code between
fork and exec, knows only Linux, and does not reach grandchildren. So a shell waits beside each server, at the end of a pipe
that only we hold: a line means that the server has ended, end of file that we have. It costs about a millisecond and a
megabyte; where there is no ``/bin/sh``, there is no guard.
"""

from __future__ import annotations

import os
import sys

if sys.platform != "win32":
    _SCRIPT = 'read -r _ && exit; sleep 1; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"'

    class Guard:
        """The shell that watches over one process group."""

        __slots__ = ("_fd", "_pid")

        def __init__(self, group: int, env: dict[str, str]) -> None:
            self._pid = 0
            try:
                theirs, self._fd = os.pipe()
            except OSError:  # no descriptors left: the server lives without a guard
                return
            actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
                (os.POSIX_SPAWN_DUP2, theirs, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),  # the client's pipe must end with us
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ]
            words = ["/bin/sh", "-c", _SCRIPT, "dragoman-guard", str(group)]
            path = {name: env[name] for name in ("PATH",) if name in env}
            try:
                self._pid = os.posix_spawn(words[0], words, path, file_actions=actions, setpgroup=0)
            except OSError:
                os.close(self._fd)
            finally:
                os.close(theirs)

        def dismiss(self) -> None:
            """The group has ended by itself."""
            if self._pid and self._fd >= 0:
                try:
                    os.write(self._fd, b"ended\n")
                except OSError:  # somebody killed it
                    pass
                os.close(self._fd)
                self._fd = -1

        def gone(self) -> bool:
            """Whether the shell has ended, after ``dismiss``; it is reaped then."""
            if self._pid:
                try:
                    if os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                        return False
                except ChildProcessError:
                    pass
                self._pid = 0
            return True

"""One started process on POSIX: three pipes, its exit status, signals to its group.

``os.posix_spawn`` instead of ``subprocess``: the server is started before anything else is imported, and ``subprocess``
alone would cost more than the whole way to here (numbers: benchmarks). It reports a failed exec as an ``OSError`` too, and
never copies our page tables. The child leads its own session, so that the terminal's Ctrl-C reaches only the bridge, which
then ends the child in order, and so that its whole family can be signalled.
"""

from __future__ import annotations

import os
import sys

from dragoman.io.command import CannotStart, find

TYPE_CHECKING = False
if TYPE_CHECKING:  # not even ``typing`` is imported before the server runs
    from collections.abc import Callable

    from dragoman.io.guard import Guard

__all__ = ["Process", "start"]

if sys.platform != "win32":
    # The ``signal`` module builds enums, 6 ms before the server is started; these numbers are the same everywhere.
    _SIGKILL, _SIGPIPE, _SIGTERM, _SIGXFSZ = 9, 13, 15, 25

    class Process:
        """A running (or ended) server process. ``status`` is ``None`` until it was reaped; negative: killed by that signal."""

        __slots__ = ("_guard", "pid", "status", "stderr", "stdin", "stdout")

        def __init__(self, pid: int, pipes: list[int], guard: Guard) -> None:
            self.pid = pid
            self._guard = guard
            self.stdin, self.stdout, self.stderr = pipes
            self.status: int | None = None

        def poll(self) -> int | None:
            """The exit status if the process has ended (it is reaped then), else ``None``. Never waits."""
            if self.status is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # somebody set SIGCHLD to be ignored: the kernel reaped it and kept nothing
                    self.status = 0
                else:
                    if pid == self.pid:
                        self.status = os.waitstatus_to_exitcode(status)
            return self.status

        def on_exit(self, post: Callable[[Callable[[bytes], None]], None], handler: Callable[[bytes], None]) -> None:
            """Nothing to do: SIGCHLD wakes the shell."""

        def terminate(self) -> bool:
            """Ask the whole group to end; ``False`` when nobody is left in it."""
            return self._signal(_SIGTERM)

        def kill(self) -> bool:
            """End the whole group; ``False`` when nobody is left in it."""
            return self._signal(_SIGKILL)

        def family_lives(self) -> bool:
            """Whether anything is left in the process group."""
            return self._signal(0)

        def dismiss(self) -> bool:
            """The family has ended: nobody needs to watch over it. Again until ``True``; then nothing of it is left."""
            self._guard.dismiss()
            return self._guard.gone()

        def _signal(self, number: int) -> bool:
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return False
            except PermissionError:  # macOS says so when only zombies are left
                return self.status is None
            return True

    def start(command: list[str], env: dict[str, str], cwd: str | None) -> Process:
        """Start ``command``; ``CannotStart`` says in words what is wrong with it."""
        path = find(command[0], cwd, env)
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for number in range(3):
                read_end, write_end = os.pipe()
                ours.append(read_end if number else write_end)
                theirs.append(write_end if number else read_end)
            pid = _spawn(path, command, env, cwd, theirs)
        except OSError as error:
            for fd in ours:
                os.close(fd)
            raise CannotStart(f"cannot start {command[0]}: {_explain(error)}") from None
        finally:
            for fd in theirs:
                os.close(fd)
        from dragoman.io.guard import Guard

        return Process(pid, ours, Guard(pid, env))

    def _spawn(path: str, command: list[str], env: dict[str, str], cwd: str | None, theirs: list[int]) -> int:
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(theirs)]
        # Python ignores SIGPIPE, and what is ignored stays ignored over exec: servers expect the default.
        defaults = [_SIGPIPE, _SIGXFSZ]
        here = -1
        if cwd is not None:  # posix_spawn cannot change directory; only this thread starts processes
            here = os.open(".", os.O_RDONLY)
        try:
            if cwd is not None:
                os.chdir(cwd)
            try:
                return os.posix_spawn(path, command, env, file_actions=actions, setsid=True, setsigdef=defaults)
            except NotImplementedError:
                return os.posix_spawn(path, command, env, file_actions=actions, setpgroup=0, setsigdef=defaults)
        finally:
            if here >= 0:
                os.fchdir(here)
                os.close(here)

    def _explain(error: OSError) -> str:
        import errno

        if error.errno == errno.ENOEXEC:
            return "it is neither a program nor a script with a #! line"
        if error.errno == errno.ENOENT:
            return "the interpreter named in its #! line does not exist"
        return (error.strerror or str(error)).lower()
else:
    from dragoman.io.process_windows import Process, start

"""Starting the server from a process that is not ours alone.

``os.posix_spawn`` cannot change directory, so ``dragoman wrap`` changes its own for a moment. In a host that serves other things
from other threads that would be heard: there a shell does it, and then becomes the server.
"""

from __future__ import annotations

from dragoman.io.command import find
from dragoman.io.launcher import Launcher
from dragoman.io.process import Process, start

_SCRIPT = 'cd -- "$1" && shift && exec "$@"'


class LauncherElsewhere(Launcher):
    """A launcher whose servers run in ``folder``."""

    __slots__ = ("_folder", "_variables", "_words")

    def __init__(self, command: list[str], env: dict[str, str], folder: str, label: str) -> None:
        super().__init__(command, env, None, label)
        self._words = command
        self._variables = env
        self._folder = folder

    def spawn(self) -> Process:
        """A process in the folder. Raises ``CannotStart`` for what can be seen from here."""
        path = find(self._words[0], self._folder, self._variables)
        return start(["/bin/sh", "-c", _SCRIPT, "sh", self._folder, path, *self._words[1:]], self._variables, None)


def launcher_of(command: list[str], env: dict[str, str], cwd: str | None, label: str) -> Launcher:
    """A launcher that leaves this process as it is."""
    return Launcher(command, env, None, label) if cwd is None else LauncherElsewhere(command, env, cwd, label)

"""Starts servers, the first one ahead of time: its start-up then overlaps our own imports."""

from __future__ import annotations

from dragoman.io.command import CannotStart
from dragoman.io.process import Process, start

TYPE_CHECKING = False
if TYPE_CHECKING:  # the process starts before anything heavy is imported
    from dragoman.io.child import Child, House


class Launcher:
    """Knows the command, and hands out the process started ahead of time first."""

    __slots__ = ("_command", "_cwd", "_env", "_fault", "_spare", "failed", "label")

    def __init__(self, command: list[str], env: dict[str, str], cwd: str | None, label: str) -> None:
        self.label = label  # how the server is named in error texts
        self.failed = False  # the last attempt to start the command failed
        self._command = command
        self._env = env
        self._cwd = cwd
        self._spare: Process | None = None
        self._fault: CannotStart | None = None

    def child(self, house: House, max_line: int) -> Child:
        """A fresh process, living in ``house``. Raises ``CannotStart``."""
        from dragoman.io.child import Child

        return Child(self.take(), self.label, house, max_line)

    def prepare(self) -> str | None:
        """Start one process ahead of time; the answer is ``None`` or the reason why it cannot be started."""
        try:
            self._spare = self.take()
        except CannotStart as fault:
            self._fault = fault
            return str(fault)
        return None

    def prepared(self) -> Process | None:
        """The process started ahead of time, once."""
        spare, self._spare = self._spare, None
        return spare

    def take(self) -> Process:
        """A fresh process. Raises ``CannotStart``."""
        fault, self._fault = self._fault, None
        if fault is not None:  # what ``prepare`` found out has been told to nobody's request yet
            raise fault
        self.failed = True
        process = self.spawn()
        self.failed = False
        return process

    def spawn(self) -> Process:
        """A process beside the others (the probe's); how it goes says nothing about ``failed``."""
        return start(self._command, self._env, self._cwd)

    def abandon(self) -> None:
        """We stop before serving: the process started ahead of time ends too."""
        spare = self.prepared()
        if spare is not None:
            spare.terminate()
            spare.kill()
            spare.poll()

"""What a shell opens connections to its server with: a ``Launcher``, a ``Dialer``, or whatever stands for one."""

from __future__ import annotations

from typing import Any, Protocol

from dragoman.io.process import Process


class Opener(Protocol):
    """See the module. ``label`` is how the server is named in error texts, ``failed``: the last attempt to open one failed."""

    label: str
    failed: bool

    def prepared(self) -> Process | None:
        """A process that was started ahead of time, once."""

    def child(self, house: Any, max_line: int) -> Any:
        """A connection, living in ``house``. Raises ``CannotStart``."""

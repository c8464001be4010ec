"""Bigger pipes for big frames.

A pipe of Linux holds 64 KiB, so a line of 10 MB takes some 160 turns of writer and reader. The kernel lets all pipes of one
user together grow by 64 MB and then gives new ones a single page (pipe(7), ``pipe-user-pages-soft``): a host runs a bridge for
every server, so a pipe is only widened once it has carried a big line.
"""

from __future__ import annotations

import sys

BIG_LINE = 256 * 1024
_WIDE = 1024 * 1024  # what a user may ask for (``pipe-max-size``)


def widen(fd: int) -> None:
    """Let the pipe ``fd`` hold more. Where that is not possible (no pipe, not Linux, over the quota) nothing happens.

    It costs a few microseconds, nothing beside a big line, so nobody keeps a record of which pipes are wide.
    """
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _WIDE)
        except OSError:
            pass

"""Finding the program behind a command, so that a wrong one is told in words instead of an errno.

Written out instead of ``shutil.which``: importing ``shutil`` costs as much as starting the interpreter, and it cannot say
*why* nothing was found.
"""

# ruff: noqa: PTH  (importing pathlib costs more than all of this module)

from __future__ import annotations

import os
import sys

_WINDOWS_SUFFIXES = ".COM;.EXE;.BAT;.CMD"


class CannotStart(Exception):
    """The server's command cannot be run; the text says why and is meant for people."""


def find(name: str, cwd: str | None, env: dict[str, str]) -> str:
    """The absolute path of program ``name``, or ``CannotStart``. ``cwd`` is the directory that it will run in."""
    if not name:
        raise CannotStart("the command is empty")
    base = os.path.abspath(cwd) if cwd is not None else os.getcwd()
    if cwd is not None and not os.path.isdir(base):
        raise CannotStart(f"the working directory {cwd} does not exist")
    if os.sep in name or (os.altsep is not None and os.altsep in name):
        return _check(os.path.join(base, name), name)
    refused = None
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        for candidate in _candidates(os.path.join(base, folder, name), env):
            if os.path.isfile(candidate):
                if os.access(candidate, os.X_OK):
                    return candidate
                refused = candidate
    if refused is not None:
        raise CannotStart(f"{refused} is not executable")
    hint = f" (did you mean ./{name}?)" if os.path.isfile(os.path.join(base, name)) else ""
    raise CannotStart(f"command not found: {name}{hint}")


def _check(path: str, name: str) -> str:
    for candidate in _candidates(path, os.environ):
        if os.path.isfile(candidate):
            if not os.access(candidate, os.X_OK):
                raise CannotStart(f"{name} is not executable")
            return candidate
    if os.path.isdir(path):
        raise CannotStart(f"{name} is a directory, not a program")
    raise CannotStart(f"command not found: {name}")


def _candidates(path: str, env: dict[str, str] | os._Environ[str]) -> list[str]:
    """On Windows a name without suffix stands for ``npx.CMD``, ``uv.EXE`` …, in the order of PATHEXT."""
    if sys.platform == "win32":
        suffixes = [suffix for suffix in env.get("PATHEXT", _WINDOWS_SUFFIXES).split(os.pathsep) if suffix]
        if not any(path.upper().endswith(suffix.upper()) for suffix in suffixes):
            return [path + suffix for suffix in suffixes]
    return [path]

"""Finding the program behind a command, so that a wrong one is told in words instead of an errno, and naming it.

Written out instead of ``shutil.which``: importing ``shutil`` costs as much as starting the interpreter, and it cannot say
*why* nothing was found.
"""

# ruff: noqa: PTH  (importing pathlib costs more than all of this module)

from __future__ import annotations

import os
import sys

_WINDOWS_SUFFIXES = ".COM;.EXE;.BAT;.CMD"
RUNNERS = frozenset(
    ("python", "python3", "py", "node", "npx", "bun", "bunx", "deno", "uv", "uvx", "pipx", "docker", "podman", "ruby", "dotnet")
)


class CannotStart(Exception):
    """The server's command cannot be run; the text says why and is meant for people."""


def label(command: list[str]) -> str:
    """A short name for error texts, which may reach a model: never more of the command line than can hold no secret."""
    words = [command[0].replace("\\", "/").rpartition("/")[2]]
    if words[0].lower().rpartition(".")[0] in RUNNERS or words[0].lower() in RUNNERS:
        inline = any(word in ("-c", "-e", "--eval", "-p", "--print") for word in command[1:])  # the next word is a program
        plain = [] if inline else [word for word in command[1:] if not word.startswith("-")][:1]
        words += [word if word.startswith("@") else word.replace("\\", "/").rpartition("/")[2] for word in plain]
    return " ".join(words)[:100]


def find(name: str, cwd: str | None, env: dict[str, str]) -> str:
    """The absolute path of program ``name``, or ``CannotStart``. ``cwd`` is the directory that it will run in."""
    if not name:
        raise CannotStart("the command is empty")
    base = os.path.abspath(cwd) if cwd is not None else os.getcwd()
    if cwd is not None and not os.path.isdir(base):
        fault = "is a file, not a directory" if os.path.exists(base) else "does not exist"
        raise CannotStart(f"the working directory {cwd} (--cwd) {fault}")
    if os.sep in name or (os.altsep is not None and os.altsep in name):
        return _check(os.path.join(base, name), name, cwd, env)
    refused = None
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        for candidate in _candidates(os.path.join(base, folder, name), env):
            if os.path.isfile(candidate):
                if os.access(candidate, os.X_OK):
                    return candidate
                refused = candidate
    if refused is not None:
        raise _not_executable(refused)
    raise _not_found(name, cwd, env, _beside(name, os.path.join(base, name)))


def _beside(name: str, path: str) -> str:
    """A file of this name in the working directory, where no shell and no PATH looks for it."""
    if not os.path.isfile(path):
        return ""
    if os.access(path, os.X_OK):
        return f" (did you mean ./{name}?)"
    return f" (the file {name} is not executable: name its interpreter before it)"


def _not_executable(name: str) -> CannotStart:
    return CannotStart(f"{name} is not executable: run chmod +x on it, or name its interpreter before it")


def _not_found(name: str, cwd: str | None, env: dict[str, str], hint: str = "") -> CannotStart:
    """Nothing of that name; a whole command line in one word is a mistake that hosts' configurations invite."""
    program, space, _ = name.partition(" ")
    if space and program:
        try:
            find(program, cwd, env)
        except CannotStart:
            pass
        else:
            # The arguments are not repeated: the text reaches the client, and they may hold a secret.
            return CannotStart(f"command not found: {program!r} and its arguments are one word: give each argument as a word of its own")
    return CannotStart(f"command not found: {name}{hint}")


def _check(path: str, name: str, cwd: str | None, env: dict[str, str]) -> str:
    for candidate in _candidates(path, os.environ):
        if os.path.isfile(candidate):
            if not os.access(candidate, os.X_OK):
                raise _not_executable(name)
            return candidate
    if os.path.isdir(path):
        raise CannotStart(f"{name} is a directory, not a program")
    raise _not_found(name, cwd, env)


def _candidates(path: str, env: dict[str, str] | os._Environ[str]) -> list[str]:
    """On Windows a name without suffix stands for ``npx.CMD``, ``uv.EXE`` …, in the order of PATHEXT."""
    if sys.platform == "win32":
        suffixes = [suffix for suffix in env.get("PATHEXT", _WINDOWS_SUFFIXES).split(os.pathsep) if suffix]
        if not any(path.upper().endswith(suffix.upper()) for suffix in suffixes):
            return [path + suffix for suffix in suffixes]
    return [path]

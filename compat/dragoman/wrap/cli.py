"""``dragoman``: read the arguments, start the server, and only then import the rest.

The server's own start is what a host waits for, so it begins first; our imports run beside it.
"""

from __future__ import annotations

import os
import sys

from dragoman import __version__
from dragoman.wrap.config import Config, UsageError, parse


def main(arguments: list[str] | None = None) -> int:
    """The console script; the answer is the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    _open_standard_streams()
    if words[:1] == ["wrap"]:
        return _wrap(words[1:])
    if words in (["--version"], ["-V"]):
        return _print(_version())
    if not words:
        return _refuse("no command; see dragoman --help")
    from dragoman.wrap.help import TOP, unknown, wrap_help

    if words[0] in ("--help", "-h", "help"):
        if words[1:2] == ["wrap"]:
            return _print(wrap_help())
        return _print(TOP) if not words[1:] else _refuse(unknown(words[1:]))
    return _refuse(unknown(words))


def _wrap(words: list[str]) -> int:
    ours = words[: words.index("--")] if "--" in words else words
    if "--help" in ours or "-h" in ours or words == ["help"]:
        from dragoman.wrap.help import wrap_help

        return _print(wrap_help())
    if "--version" in ours:
        return _print(_version())
    try:
        config = parse(words)
    except UsageError as fault:
        return _refuse(str(fault))
    try:
        return _serve(config)
    except KeyboardInterrupt:  # before the shell's own handlers are in place; the guard sees to the server
        return 130


def _serve(config: Config) -> int:
    from dragoman.io.launcher import Launcher

    env = {**os.environ, **config.env}
    options = config.options()
    launcher = Launcher(config.command, env, config.text("cwd"), options.command_label)
    fault = launcher.prepare()
    from dragoman.wrap.serve import serve  # heavy from here on

    return serve(config, options, launcher, fault)


def _print(text: str) -> int:
    try:
        os.write(1, (text if text.endswith("\n") else text + "\n").encode())
    except OSError:
        return 1
    return 0


def _refuse(text: str) -> int:
    try:
        os.write(2, f"dragoman: {text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
    return 2


def _version() -> str:
    return f"dragoman {__version__}"


def _open_standard_streams() -> None:
    """With a standard descriptor closed, the next pipe would take its number, and be read or closed as what it is not."""
    fd = os.open(os.devnull, os.O_RDWR)
    while fd <= 2:
        fd = os.open(os.devnull, os.O_RDWR)
    os.close(fd)

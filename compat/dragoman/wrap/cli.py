"""``dragoman``: read the arguments, start the server, and only then import the rest.

The server's own start is what a host waits for, so it begins first; our imports run beside it.
"""

from __future__ import annotations

import os
import sys

from dragoman import __version__
from dragoman.wrap.config import Command, Config, UsageError, parse
from dragoman.wrap.table import COMMANDS

_COMMANDS = {command.name: command for command in COMMANDS}


def main(arguments: list[str] | None = None) -> int:
    """The console script; the answer is the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    _open_standard_streams()
    command = _COMMANDS.get(words[0]) if words else None
    if command is not None:
        return _command(command, words[1:])
    if words in (["--version"], ["-V"]):
        return _print(_version())
    if not words:
        return _refuse("no command; see dragoman --help")
    from dragoman.wrap.help import TOP, help_of, unknown

    if words[0] in ("--help", "-h", "help"):
        if not words[1:]:
            return _print(TOP)
        command = _COMMANDS.get(words[1])
        return _refuse(unknown(words[1:])) if command is None else _print(help_of(command))
    return _refuse(unknown(words))


def _command(command: Command, words: list[str]) -> int:
    ours = words[: words.index("--")] if "--" in words else words
    if "--help" in ours or "-h" in ours or words == ["help"]:
        from dragoman.wrap.help import help_of

        return _print(help_of(command))
    if "--version" in ours:
        return _print(_version())
    try:
        config = parse(words, command)
    except UsageError as fault:
        return _refuse(str(fault))
    try:
        return _RUN[command.name](config)
    except KeyboardInterrupt:  # before the handlers of the signals are in place; the guard sees to the server
        return 130


def _wrap(config: Config) -> int:
    options = config.options()
    if config.url is not None:
        from dragoman.wrap import run_url

        return run_url.serve(config, options)
    from dragoman.io.launcher import Launcher

    env = {**os.environ, **config.env}
    launcher = Launcher(config.command, env, config.text("cwd"), options.command_label)
    fault = launcher.prepare()
    from dragoman.wrap.run_stdio import serve  # heavy from here on

    return serve(config, options, launcher, fault)


def _serve(config: Config) -> int:
    from dragoman.wrap.run_http import serve

    return serve(config)


def _probe(config: Config) -> int:
    from dragoman.wrap.run_probe import probe

    return probe(config)


def _login(config: Config) -> int:
    from dragoman.wrap.run_login import login

    return login(config)


def _logout(config: Config) -> int:
    from dragoman.wrap.run_login import logout

    return logout(config)


_RUN = {"wrap": _wrap, "serve": _serve, "probe": _probe, "login": _login, "logout": _logout}


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

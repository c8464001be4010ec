"""The command lines of dragoman, read by the table of their options (``table``).

Read by hand: the server is started right after, and ``argparse`` alone would delay that by as much as a whole interpreter
start. Durations are seconds with fractions, sizes take K, M or G (powers of 1024).
"""

from __future__ import annotations

from dragoman.bridging.options import Options
from dragoman.io.command import label
from dragoman.wrap.table import COMMANDS, LOG_LEVELS, LOGIN, LOGOUT, PROBE, SERVE, WRAP, Command, Option

__all__ = ["LOGIN", "LOGOUT", "LOG_LEVELS", "PROBE", "SERVE", "WRAP", "Command", "Config", "Option", "UsageError", "parse"]

DAY = 86400.0
SMALLEST_LINE = 1024
_PAIRS = ("--env", "--header")
_OF_URLS = frozenset(option.name for option in WRAP.table if option.name in LOGIN.by_name) | {
    "header",
    "bearer-env",
    "login",
    "forward-authorization",
}
_OF_COMMANDS = frozenset(("env", "cwd", "probe", "probe-timeout", "modern-first"))
LOUD = frozenset(("-v", "-vv", "--verbose", "-d", "--debug"))  # what other programs call --log-level debug


class UsageError(Exception):
    """The command line is wrong; the text is one line that says what, and what to do."""


class Config:
    """What ``dragoman`` was asked to do: every option by its name, and the server: its command, or its URL."""

    __slots__ = ("_values", "command", "env", "url")

    def __init__(self, command: list[str], values: dict[str, object], env: dict[str, str], url: str | None = None) -> None:
        self.command = command  # empty for a URL
        self.url = url
        self.env = env  # additions to the environment
        self._values = values

    def has(self, name: str) -> bool:
        """Whether the command has such an option."""
        return name in self._values

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return self._values[name] is True

    def text(self, name: str) -> str | None:
        """The value of a text or choice option."""
        value = self._values[name]
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """The values of a repeatable option."""
        value = self._values[name]
        return value if isinstance(value, tuple) else ()

    def number(self, name: str) -> float:
        """The value of a number, size or duration."""
        value = self._values[name]
        assert isinstance(value, float | int)
        return value

    def limit(self, name: str) -> float | None:
        """A number of seconds; 0 on the command line means no limit."""
        return self.number(name) or None

    def options(self) -> Options:
        """What the core behind stdin and stdout wants to know."""
        return Options(
            server_era=self.text("server-era") or "auto",
            request_timeout=self.limit("request-timeout"),
            start_timeout=self.limit("start-timeout"),
            question_timeout=self.limit("question-timeout"),
            question_window=self.number("question-window"),
            drain_timeout=self.number("drain-timeout"),
            max_sessions=int(self.number("max-sessions")),
            max_parked=int(self.number("max-parked")),
            one_call_per_session=self.flag("one-call-per-session"),
            isolate_capabilities=self.flag("isolate-capabilities"),
            replay=self.flag("replay"),
            strict=self.flag("strict"),
            list_ttl_ms=int(self.number("list-ttl") * 1000),
            command_label=label(self.command) if self.url is None else _host(self.url),
        )


def parse(arguments: list[str], command: Command = WRAP) -> Config:
    """``[OPTIONS] URL`` or ``[OPTIONS] -- COMMAND [ARGUMENTS]``, or ``UsageError``."""
    values: dict[str, object] = {option.name: option.default for option in command.table}
    env: dict[str, str] = {}
    rest = list(arguments)
    url: str | None = None
    given: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            return _of_command(rest, values, env, url, command, given)
        if is_url(word):
            if url is not None:
                raise UsageError("two URLs: a bridge has one server")
            url = word
            continue
        if not word.startswith("-") or word == "-":
            raise UsageError(_misplaced(word, arguments, rest, url, command))
        given.append(_option(word, rest, values, env, command))
    if url is None:
        if command in (LOGIN, LOGOUT):
            raise UsageError(f"no server: give its URL, as in: dragoman {command.name} https://example.com/mcp")
        raise UsageError(f"no server: give its command after --, {_example(command)}, or its URL")
    _refuse_others(given, _OF_COMMANDS - {"probe-timeout"} if command is PROBE else _OF_COMMANDS, "a server's process, and a URL has none")
    return Config([], values, env, url)


def _option(word: str, rest: list[str], values: dict[str, object], env: dict[str, str], command: Command) -> str:
    """One option and its value, which may be the next word; the answer is its name."""
    name, equals, value = word.partition("=")
    option = command.by_name.get(name[2:]) if name.startswith("--") else None
    if option is None:
        raise UsageError(f"unknown option {name}{_suggest(name, command)}; see dragoman {command.name} --help")
    if option.kind == "flag":
        if equals:
            raise UsageError(f"{name} takes no value")
        values[option.name] = True
        return option.name
    if not equals:
        if not rest or rest[0] == "--":
            raise UsageError(f"{name} needs a value: {name} {option.metavar}")
        value = rest.pop(0)
    if option.kind == "pair":
        env.update(_pair(name, value))
    else:
        _take(values, option, value)
    return option.name


def _of_command(
    rest: list[str], values: dict[str, object], env: dict[str, str], url: str | None, command: Command, given: list[str]
) -> Config:
    if url is not None:
        raise UsageError("a URL and a command: a bridge has one server")
    if not rest:
        raise UsageError(f"no server command after --, {_example(command)}")
    if is_url(rest[0]):
        if rest[1:]:
            raise UsageError("options go before the URL")
        return Config([], values, env, rest[0])
    if command in (LOGIN, LOGOUT):
        raise UsageError(f"dragoman {command.name} is for servers behind a URL")
    _refuse_others(given, _OF_URLS, "a server behind a URL, and this is a command")
    return Config(rest, values, env)


def _example(command: Command) -> str:
    return f"as in: dragoman {command.name} -- npx some-server"


def _misplaced(word: str, arguments: list[str], rest: list[str], url: str | None, command: Command) -> str:
    if url is not None:
        return f"unexpected {word!r}: beside the URL there are only options"
    if command in (LOGIN, LOGOUT) or _may_be_url(word):
        return f"unexpected {word!r}: the URL of a server begins with http:// or https://"
    given = arguments[: len(arguments) - len(rest) - 1]
    right = command_line([*given, "--", word, *rest], command.name)
    return f"unexpected {word!r}: put -- before the server's command: {right}"


def _may_be_url(word: str) -> bool:
    """``127.0.0.1:8000/mcp``, ``localhost/mcp``, ``ws://…``: nothing that anybody calls a program by."""
    host, slash, _ = word.partition("/")
    return "://" in word or (":" in host and host.rpartition(":")[2].isdigit()) or (bool(slash) and host in ("localhost", "127.0.0.1"))


def _refuse_others(given: list[str], others: frozenset[str], what: str) -> None:
    wrong = next((name for name in given if name in others), None)
    if wrong is not None:
        raise UsageError(f"--{wrong} is about {what}")


def _take(values: dict[str, object], option: Option, text: str) -> None:
    value = _read(option, text)
    if option.kind == "texts":
        before = values[option.name]
        value = (*before, value) if isinstance(before, tuple) else (value,)
    values[option.name] = value


def _read(option: Option, text: str) -> object:
    kind = option.kind
    if kind in ("text", "texts", "path"):
        if not text:
            raise UsageError(f"--{option.name} must not be empty")
        if kind == "path" and not text.startswith("/"):
            raise UsageError(f"--{option.name} starts with a slash, as in /mcp, not {text!r}")
        return text
    if kind == "port":
        if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= 65535):
            raise UsageError(f"--{option.name} takes a number from 0 to 65535, not {text!r}")
        return int(text)
    if kind in ("seconds", "limit"):
        return _seconds(option.name, text)
    if kind == "size":
        return _size(option.name, text)
    if kind == "count":
        if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1_000_000):
            raise UsageError(f"--{option.name} takes a whole number of at least 1, not {text!r}")
        return int(text)
    if text not in kind.split("|"):
        raise UsageError(f"--{option.name} is one of {', '.join(kind.split('|'))}, not {text!r}")
    return text


def is_url(word: str) -> bool:
    """Whether a word is the URL of a server."""
    return word[:8].lower().startswith(("http://", "https://"))


def _host(url: str) -> str:
    """How a server behind a URL is named in error texts."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition("?")[0][:100]


def _pair(name: str, text: str) -> dict[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"{name} takes NAME=VALUE, not {key!r}")
    return {key: value}


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 365 * DAY:  # NaN fails this too
        raise UsageError(f"--{name} takes a number of seconds such as 2.5, not {text!r}")
    return value


def _size(name: str, text: str) -> int:
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:].upper(), 0)
    digits = text[:-1] if factor else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 12):
        raise UsageError(f"--{name} takes a size such as 64M, not {text!r}")
    size = int(digits) * (factor or 1)
    if size < SMALLEST_LINE:
        raise UsageError(f"--{name} must be at least {SMALLEST_LINE} bytes, not {text!r}")
    return size


def command_line(words: list[str], command: str = "wrap") -> str:
    """``dragoman wrap`` with these words, to be pasted into a shell; what ``--env`` sets is left to be filled in."""
    import shlex

    return f"dragoman {command} " + shlex.join(_without_values(words)).replace("\n", "\\n")


def _without_values(words: list[str]) -> list[str]:
    """The same words without the values of ``--env`` and ``--header``: they may be secrets, and stderr ends up in logs."""
    import re

    shown: list[str] = []
    for number, word in enumerate(words):
        if word == "--":
            return shown + words[number:]
        prefix = next((name for name in _PAIRS if word.startswith(name + "=")), None)
        is_pair = prefix is not None or words[number - 1 : number][0:1] in ([name] for name in _PAIRS)
        found = re.search("[=:]", word[len(prefix) + 1 if prefix else 0 :]) if is_pair else None
        shown.append(word[: found.start() + (len(prefix) + 1 if prefix else 0)] + "=..." if found else word)
    return shown


def commands_with(name: str) -> list[str]:
    """The commands that have the option ``--name`` or ``--name=value``."""
    bare = name[2:].partition("=")[0] if name.startswith("--") else ""
    return [command.name for command in COMMANDS if bare in command.by_name]


def _suggest(name: str, command: Command) -> str:
    if name in LOUD:
        return " (for more on stderr: --log-level debug)"
    other = commands_with(name)
    if other:
        return f" (it is one of dragoman {other[0]})"
    from difflib import get_close_matches

    close = get_close_matches(name.lstrip("-"), list(command.by_name), 1)
    return f" (did you mean --{close[0]}?)" if close else ""

"""The command lines of ``dragoman wrap`` and ``dragoman serve``, as one table of options.

Read by hand: the server is started right after, and ``argparse`` alone would delay that by as much as a whole interpreter
start. Durations are seconds with fractions, sizes take K, M or G (powers of 1024).
"""

from __future__ import annotations

from dragoman.bridge.options import ERAS, Options
from dragoman.io.command import label

DAY = 86400.0
LOG_LEVELS = ("debug", "info", "warning", "error")
ISOLATIONS = ("principal", "session", "shared")  # of http.options, which the way to a wrapped server's start does not import
SMALLEST_LINE = 1024
_PAIRS = ("--env", "--header")
_OF_COMMANDS = frozenset(("env", "cwd", "probe", "probe-timeout"))
LOUD = frozenset(("-v", "-vv", "--verbose", "-d", "--debug"))  # what other programs call --log-level debug
_METAVARS = {"seconds": "SECONDS", "limit": "SECONDS", "count": "N", "size": "SIZE", "pair": "NAME=VALUE", "port": "N", "path": "PATH"}


class UsageError(Exception):
    """The command line is wrong; the text is one line that says what, and what to do."""


class Option:
    """One option: how it is written, what it takes, what it means, and the one command that has it (both, if that is empty)."""

    __slots__ = ("about", "default", "kind", "metavar", "name", "only")

    def __init__(self, name: str, kind: str, default: object, about: str, metavar: str = "", only: str = "") -> None:
        self.name = name
        # flag, seconds, limit (seconds, 0 = none), count, size, port, path, text, texts (repeatable), pair, or a choice "a|b|c"
        self.kind = kind
        self.default = default
        self.about = about
        self.metavar = metavar or _METAVARS.get(kind, kind)
        self.only = only


_WRAP, _SERVE = "wrap", "serve"
_ALL: tuple[Option, ...] = (
    Option("host", "text", "127.0.0.1", "the address to listen on", "ADDRESS", only=_SERVE),
    Option("port", "port", 8000, "the port to listen on; 0: any that is free", only=_SERVE),
    Option("path", "path", "/mcp", "where the endpoint is", only=_SERVE),
    Option(
        "allow-host",
        "texts",
        (),
        "a further name that clients may call us by, as in example.com or example.com:8080 (repeatable)",
        "HOST",
        only=_SERVE,
    ),
    Option("allow-origin", "texts", (), "web pages that may call us, as in https://app.example.com (repeatable)", "ORIGIN", only=_SERVE),
    Option("sse", "flag", default=False, about="offer the two endpoints of 2024-11-05 too, /sse and /messages", only=_SERVE),
    Option(
        "isolation",
        "|".join(ISOLATIONS),
        "principal",
        "who shares a server process: the requests of one caller, nobody (each call its own), or everybody",
        only=_SERVE,
    ),
    Option(
        "principal-header",
        "text",
        None,
        "the field in which a trusted proxy names the caller (else callers are told apart by Authorization)",
        "NAME",
        only=_SERVE,
    ),
    Option("header-wait", "seconds", 5.0, "an answer that takes longer begins as a stream", only=_SERVE),
    Option(
        "max-sessions",
        "count",
        64,
        "server processes at once; one more is answered 503, unless an unused one can be ended",
        only=_SERVE,
    ),
    Option("session-ttl", "seconds", 1800.0, "a legacy client's session ends when it was not used for so long", only=_SERVE),
    Option("hibernate-after", "seconds", 300.0, "a server process that was not used for so long may be ended to make room", only=_SERVE),
    Option("max-body", "size", 64 << 20, "longest request; longer ones are refused with 413", only=_SERVE),
    Option("keepalive", "seconds", 15.0, "a comment is sent on a stream that was quiet for so long; 0: never", only=_SERVE),
    Option(
        "forward-authorization",
        "flag",
        default=False,
        about="pass each client's own Authorization on to a server behind a URL: only where both trust one issuer, see docs/serve.md",
        only=_SERVE,
    ),
    Option("server-era", "|".join(ERAS), "auto", "what the server speaks; auto asks with initialize first"),
    Option(
        "probe",
        "flag",
        default=False,
        about="start a throwaway copy of the server first and ask it server/discover (not for servers with side effects at start)",
        only=_WRAP,
    ),
    Option("probe-timeout", "seconds", 5.0, "how long the probe may take", only=_WRAP),
    Option("start-timeout", "limit", 60.0, "the server must have answered its handshake by then; 0: no limit"),
    Option(
        "request-timeout",
        "limit",
        600.0,
        "a request without an answer fails after this (progress starts it anew, ten times at most); 0: no limit",
    ),
    Option("question-timeout", "limit", 600.0, "a call waiting for the user is given up after this; 0: no limit"),
    Option("question-window", "seconds", 0.02, "quiet time after which the questions of a call are sent together"),
    Option("drain-timeout", "seconds", 5.0, "at the end, wait this long after the last output for what is in flight"),
    Option("max-line", "size", 256 << 20, "longest frame; longer ones are answered with an error"),
    Option("max-sessions", "count", 8, "server processes at once, with --isolate-capabilities", only=_WRAP),
    Option("max-parked", "count", 64, "calls that wait for the user at once; one more, and the oldest is given up"),
    Option("one-call-per-session", "flag", default=False, about="run calls one after another, so that a question has one owner"),
    Option("isolate-capabilities", "flag", default=False, about="one server process for each set of client capabilities", only=_WRAP),
    Option(
        "replay", "flag", default=False, about="run a call a second time when its saved state is gone: only for tools that may run twice"
    ),
    Option("state-key-file", "text", None, "key that seals requestState, so that a later process recognises old state", "FILE"),
    Option("strict", "flag", default=False, about="refuse results that would have to be repaired"),
    Option("list-ttl", "seconds", 0.0, "how long clients may cache lists of servers that announce changes"),
    Option(
        "header", "texts", (), "send this field to a server behind a URL; ${NAME} in the value is a variable (repeatable)", "NAME=VALUE"
    ),
    Option("bearer-env", "text", None, "send the token in this environment variable to a server behind a URL", "NAME"),
    Option("ca", "text", None, "trust the authorities in this PEM file, beside the system's, for a server behind a URL", "FILE"),
    Option("env", "pair", None, "set a variable for the server (repeatable; the environment is inherited)"),
    Option("cwd", "text", None, "the server's working directory", "DIRECTORY"),
    Option(
        "record",
        "text",
        None,
        "write everything said on both sides to this file, as JSON lines (overwritten; secrets are in clear)",
        "FILE",
        only=_WRAP,
    ),
    Option("log-level", "|".join(LOG_LEVELS), "warning", "what is told on stderr"),
    Option("stats", "flag", default=False, about="at the end, tell on stderr what was left out of translated messages"),
)


class Command:
    """``dragoman wrap`` or ``dragoman serve``: its name and its options."""

    __slots__ = ("by_name", "name", "table")

    def __init__(self, name: str) -> None:
        self.name = name
        self.table = tuple(option for option in _ALL if option.only in ("", name))
        self.by_name = {option.name: option for option in self.table}


WRAP, SERVE = Command(_WRAP), Command(_SERVE)


class Config:
    """What ``dragoman`` was asked to do: every option by its name, and the server: its command, or its URL."""

    __slots__ = ("_values", "command", "env", "url")

    def __init__(self, command: list[str], values: dict[str, object], env: dict[str, str], url: str | None = None) -> None:
        self.command = command  # empty for a URL
        self.url = url
        self.env = env  # additions to the environment
        self._values = values

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
            return _of_command(rest, values, env, url, command)
        if is_url(word):
            if url is not None:
                raise UsageError("two URLs: a bridge has one server")
            url = word
            continue
        if not word.startswith("-") or word == "-":
            raise UsageError(_misplaced(word, arguments, rest, url, command))
        given.append(_option(word, rest, values, env, command))
    if url is None:
        raise UsageError(f"no server: give its command after --, {_example(command)}, or its URL")
    _refuse_others(given, _OF_COMMANDS, "a server's process, and a URL has none")
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


def _of_command(rest: list[str], values: dict[str, object], env: dict[str, str], url: str | None, command: Command) -> Config:
    if url is not None:
        raise UsageError("a URL and a command: a bridge has one server")
    if not rest:
        raise UsageError(f"no server command after --, {_example(command)}")
    if is_url(rest[0]):
        if rest[1:]:
            raise UsageError("options go before the URL")
        return Config([], values, env, rest[0])
    return Config(rest, values, env)


def _example(command: Command) -> str:
    return f"as in: dragoman {command.name} -- npx some-server"


def _misplaced(word: str, arguments: list[str], rest: list[str], url: str | None, command: Command) -> str:
    if url is not None:
        return f"unexpected {word!r}: beside the URL there are only options"
    given = arguments[: len(arguments) - len(rest) - 1]
    right = command_line([*given, "--", word, *rest], command.name)
    return f"unexpected {word!r}: put -- before the server's command: {right}"


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


def command_line(words: list[str], command: str = _WRAP) -> str:
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
    return [command.name for command in (WRAP, SERVE) if bare in command.by_name]


def _suggest(name: str, command: Command) -> str:
    if name in LOUD:
        return " (for more on stderr: --log-level debug)"
    other = commands_with(name)
    if other:
        return f" (it is one of dragoman {other[0]})"
    from difflib import get_close_matches

    close = get_close_matches(name.lstrip("-"), list(command.by_name), 1)
    return f" (did you mean --{close[0]}?)" if close else ""

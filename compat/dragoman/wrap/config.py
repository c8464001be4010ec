"""The command line of ``dragoman wrap``, as one table.

Read by hand: the server is started right after, and ``argparse`` alone would delay that by as much as a whole interpreter
start. Durations are seconds with fractions, sizes take K, M or G (powers of 1024).
"""

from __future__ import annotations

from dragoman.bridge.options import ERAS, Options

DAY = 86400.0
LOG_LEVELS = ("debug", "info", "warning", "error")
SMALLEST_LINE = 1024
LOUD = frozenset(("-v", "-vv", "--verbose", "-d", "--debug"))  # what other programs call --log-level debug
RUNNERS = frozenset(
    ("python", "python3", "py", "node", "npx", "bun", "bunx", "deno", "uv", "uvx", "pipx", "docker", "podman", "ruby", "dotnet")
)


class UsageError(Exception):
    """The command line is wrong; the text is one line that says what, and what to do."""


class Option:
    """One option: how it is written, what it takes, what it means."""

    __slots__ = ("about", "default", "kind", "metavar", "name")

    def __init__(self, name: str, kind: str, default: object, about: str, metavar: str = "") -> None:
        self.name = name
        self.kind = kind  # flag, seconds, limit (seconds, 0 = none), count, size, text, pair, or a choice "a|b|c"
        self.default = default
        self.about = about
        self.metavar = metavar or {"seconds": "SECONDS", "limit": "SECONDS", "count": "N", "size": "SIZE", "pair": "NAME=VALUE"}.get(
            kind, kind
        )


TABLE: tuple[Option, ...] = (
    Option("server-era", "|".join(ERAS), "auto", "what the server speaks; auto asks with initialize first"),
    Option(
        "probe",
        "flag",
        default=False,
        about="start a throwaway copy of the server first and ask it server/discover (not for servers with side effects at start)",
    ),
    Option("probe-timeout", "seconds", 5.0, "how long the probe may take"),
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
    Option("max-sessions", "count", 8, "server processes at once, with --isolate-capabilities"),
    Option("max-parked", "count", 64, "calls that wait for the user at once; one more, and the oldest is given up"),
    Option("one-call-per-session", "flag", default=False, about="run calls one after another, so that a question has one owner"),
    Option("isolate-capabilities", "flag", default=False, about="one server process for each set of client capabilities"),
    Option(
        "replay", "flag", default=False, about="run a call a second time when its saved state is gone: only for tools that may run twice"
    ),
    Option("state-key-file", "text", None, "key that seals requestState, so that a later process recognises old state", "FILE"),
    Option("strict", "flag", default=False, about="refuse results that would have to be repaired"),
    Option("list-ttl", "seconds", 0.0, "how long clients may cache lists of servers that announce changes"),
    Option("env", "pair", None, "set a variable for the server (repeatable; the environment is inherited)"),
    Option("cwd", "text", None, "the server's working directory", "DIRECTORY"),
    Option(
        "record",
        "text",
        None,
        "write everything said on both sides to this file, as JSON lines (overwritten; secrets are in clear)",
        "FILE",
    ),
    Option("log-level", "|".join(LOG_LEVELS), "warning", "what is told on stderr"),
    Option("stats", "flag", default=False, about="at the end, tell on stderr what was left out of translated messages"),
)
_BY_NAME = {option.name: option for option in TABLE}


class Config:
    """What ``dragoman wrap`` was asked to do: every option by its name, and the command."""

    __slots__ = ("_values", "command", "env")

    def __init__(self, command: list[str], values: dict[str, object], env: dict[str, str]) -> None:
        self.command = command
        self.env = env  # additions to the environment
        self._values = values

    def flag(self, name: str) -> bool:
        """Whether a flag was given."""
        return self._values[name] is True

    def text(self, name: str) -> str | None:
        """The value of a text or choice option."""
        value = self._values[name]
        return value if isinstance(value, str) else None

    def number(self, name: str) -> float:
        """The value of a number, size or duration."""
        value = self._values[name]
        assert isinstance(value, float | int)
        return value

    def limit(self, name: str) -> float | None:
        """A number of seconds; 0 on the command line means no limit."""
        return self.number(name) or None

    def options(self) -> Options:
        """The part that the core wants to know."""
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
            command_label=label(self.command),
        )


def label(command: list[str]) -> str:
    """A short name for error texts, which may reach a model: never more of the command line than can hold no secret."""
    words = [command[0].replace("\\", "/").rpartition("/")[2]]
    if words[0].lower().rpartition(".")[0] in RUNNERS or words[0].lower() in RUNNERS:
        inline = any(word in ("-c", "-e", "--eval", "-p", "--print") for word in command[1:])  # the next word is a program
        plain = [] if inline else [word for word in command[1:] if not word.startswith("-")][:1]
        words += [word if word.startswith("@") else word.replace("\\", "/").rpartition("/")[2] for word in plain]
    return " ".join(words)[:100]


def parse(arguments: list[str]) -> Config:
    """``[OPTIONS] -- COMMAND [ARGUMENTS]``, or ``UsageError``."""
    values: dict[str, object] = {option.name: option.default for option in TABLE}
    env: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            given = arguments[: len(arguments) - len(rest) - 1]
            raise UsageError(f"unexpected {word!r}: put -- before the server's command: {command_line([*given, '--', word, *rest])}")
        name, equals, value = word.partition("=")
        option = _BY_NAME.get(name[2:]) if name.startswith("--") else None
        if option is None:
            raise UsageError(f"unknown option {name}{_suggest(name)}; see dragoman wrap --help")
        if option.kind == "flag":
            if equals:
                raise UsageError(f"{name} takes no value")
            values[option.name] = True
            continue
        if not equals:
            if not rest or rest[0] == "--":
                raise UsageError(f"{name} needs a value: {name} {option.metavar}")
            value = rest.pop(0)
        if option.kind == "pair":
            env.update(_pair(name, value))
        else:
            values[option.name] = _read(option, value)
    else:
        raise UsageError("no server command: give it after --, as in: dragoman wrap -- npx some-server")
    if not rest:
        raise UsageError("no server command after --, as in: dragoman wrap -- npx some-server")
    return Config(rest, values, env)


def _read(option: Option, text: str) -> object:
    kind = option.kind
    if kind == "text":
        if not text:
            raise UsageError(f"--{option.name} must not be empty")
        return text
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


def command_line(words: list[str]) -> str:
    """``dragoman wrap`` with these words, to be pasted into a shell; what ``--env`` sets is left to be filled in."""
    import shlex

    return "dragoman wrap " + shlex.join(_without_values(words)).replace("\n", "\\n")


def _without_values(words: list[str]) -> list[str]:
    """The same words without the values of ``--env``: they are secrets more often than not, and stderr ends up in logs."""
    shown: list[str] = []
    for number, word in enumerate(words):
        if word == "--":
            return shown + words[number:]
        is_pair = word.startswith("--env=") or words[number - 1 : number] == ["--env"]
        shown.append(
            word[: word.find("=", len("--env=") if word.startswith("--env=") else 0)] + "=..." if is_pair and "=" in word else word
        )
    return shown


def is_option(name: str) -> bool:
    """Whether ``--name`` or ``--name=value`` is an option of ``wrap``."""
    return name.startswith("--") and name[2:].partition("=")[0] in _BY_NAME


def _suggest(name: str) -> str:
    if name in LOUD:
        return " (for more on stderr: --log-level debug)"
    from difflib import get_close_matches

    close = get_close_matches(name.lstrip("-"), list(_BY_NAME), 1)
    return f" (did you mean --{close[0]}?)" if close else ""

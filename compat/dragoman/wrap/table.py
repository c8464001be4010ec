"""The options of every command, one row each: what it takes, what it means, and who has it.

Durations are seconds with fractions, sizes take K, M or G (powers of 1024). Choices that belong to parts which the way to a wrapped
server's start does not import are written down here again; tests compare them.
"""

from __future__ import annotations

from dragoman.bridging.options import ERAS

LOG_LEVELS = ("debug", "info", "warning", "error")
ISOLATIONS = ("principal", "session", "shared")
CLIENT_AUTHS = ("none", "client_secret_basic", "client_secret_post", "private_key_jwt")
GRANTS = ("authorization_code", "client_credentials")
LOGINS = ("browser", "print", "never")
_METAVARS = {"seconds": "SECONDS", "limit": "SECONDS", "count": "N", "size": "SIZE", "pair": "NAME=VALUE", "port": "N", "path": "PATH"}


class Option:
    """One option: how it is written, what it takes, what it means, and the commands that have it, in ``only``."""

    __slots__ = ("about", "default", "kind", "metavar", "name", "only")

    def __init__(self, name: str, kind: str, default: object, about: str, metavar: str = "", only: str = "wrap serve") -> None:
        self.name = name
        # flag, seconds, limit (seconds, 0 = none), count, size, port, path, text, texts (repeatable), pair, or a choice "a|b|c"
        self.kind = kind
        self.default = default
        self.about = about
        self.metavar = metavar or _METAVARS.get(kind, kind)
        self.only = tuple(only.split())


_WRAP, _SERVE, _PROBE, _LOGIN = "wrap", "serve", "probe", "login"
_ASKING, _AT_A_URL, _LOGGED_IN = "wrap serve probe", "wrap serve probe login", "wrap serve probe login logout"
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
    Option(
        "server-era",
        "|".join(ERAS),
        "auto",
        "what the server speaks; auto asks a command with initialize, a URL with server/discover",
    ),
    Option(
        "probe",
        "flag",
        default=False,
        about="start a throwaway copy of the server first and ask it server/discover (not for servers with side effects at start)",
        only=_WRAP,
    ),
    Option("probe-timeout", "seconds", 5.0, "how long the probe may take", only=_WRAP),
    Option("json", "flag", default=False, about="print one JSON object", only=_PROBE),
    Option("all", "flag", default=False, about="offer a legacy server each revision in turn", only=_PROBE),
    Option(
        "modern-first",
        "flag",
        default=False,
        about="ask a command server/discover first, in a process of its own (not for servers with side effects at start)",
        only=_PROBE,
    ),
    Option("probe-timeout", "seconds", 10.0, "how long each answer may take", only=_PROBE),
    Option("start-timeout", "limit", 60.0, "the server must have answered its handshake by then; 0: no limit", only=_ASKING),
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
    Option("header", "texts", (), "for a URL: send this field; ${NAME} in it is our variable (repeatable)", "NAME=VALUE", only=_ASKING),
    Option("bearer-env", "text", None, "for a URL: send the token in this environment variable", "NAME", only=_ASKING),
    Option("ca", "text", None, "for a URL: trust the authorities in this PEM file, beside the system's", "FILE", only=_LOGGED_IN),
    Option("client-id", "text", None, "for a URL with OAuth: the client that was registered for us", "ID", only=_LOGGED_IN),
    Option("client-secret-env", "text", None, "the environment variable with that client's secret", "NAME", only=_LOGGED_IN),
    Option("client-auth", "|".join(CLIENT_AUTHS), None, "how that client shows who it is (else: as the server allows)", only=_LOGGED_IN),
    Option("private-key-file", "text", None, "that client's key, in PEM form, for private_key_jwt", "FILE", only=_LOGGED_IN),
    Option("client-metadata-url", "text", None, "where the client's own metadata document is (CIMD)", "URL", only=_AT_A_URL),
    Option("issuer", "text", None, "the one authorization server to use (else: the one that the server names)", "URL", only=_AT_A_URL),
    Option("scope", "text", None, "what to ask for at a login, beside what the server asks for", "SCOPE", only=_AT_A_URL),
    Option("grant", "|".join(GRANTS), "authorization_code", "a person logs in, or the client acts for itself", only=_AT_A_URL),
    Option("redirect-port", "port", 0, "the loopback port that a login comes back to; 0: any that is free", only=_AT_A_URL),
    Option(
        "login",
        "|".join(LOGINS),
        None,
        "what to do when the server wants a login; never leaves it to dragoman login (default: browser; for serve: never)",
        only="wrap serve probe",
    ),
    Option("no-browser", "flag", default=False, about="print the address, open no browser; the redirect may be pasted", only=_LOGIN),
    Option("login-timeout", "seconds", 300.0, "how long to wait for a person", only=_AT_A_URL),
    Option("token-dir", "text", None, "where tokens are kept (default: the user's state directory)", "DIRECTORY", only=_LOGGED_IN),
    Option("principal", "text", None, "whose login it is, for serve: a value of its --principal-header", "NAME", only="login logout"),
    Option("status", "flag", default=False, about="tell what is kept, without a login", only=_LOGIN),
    Option("env", "pair", None, "set a variable for the server (repeatable; the environment is inherited)", only=_ASKING),
    Option("cwd", "text", None, "the server's working directory", "DIRECTORY", only=_ASKING),
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
    """One of dragoman's commands: its name and its options."""

    __slots__ = ("by_name", "name", "table")

    def __init__(self, name: str) -> None:
        self.name = name
        self.table = tuple(option for option in _ALL if name in option.only)
        self.by_name = {option.name: option for option in self.table}


COMMANDS = WRAP, SERVE, PROBE, LOGIN, LOGOUT = tuple(map(Command, ("wrap", "serve", "probe", "login", "logout")))

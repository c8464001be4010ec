"""What ``--help`` prints, and what is said to a command line that is not ours."""

from __future__ import annotations

from dragoman.io.command import RUNNERS
from dragoman.wrap.config import LOUD, Command, Option, command_line, commands_with, is_url

_WRAP_USAGE = "usage: dragoman wrap [OPTIONS] -- COMMAND [ARGUMENTS...]\n       dragoman wrap [OPTIONS] URL"
_SERVE_USAGE = "usage: dragoman serve [OPTIONS] -- COMMAND [ARGUMENTS...]\n       dragoman serve [OPTIONS] URL"
_COLUMN = 39
_WIDTH = 79

TOP = """usage: dragoman wrap [OPTIONS] -- COMMAND [ARGUMENTS...]
       dragoman wrap [OPTIONS] URL
       dragoman serve [OPTIONS] -- COMMAND [ARGUMENTS...]
       dragoman serve [OPTIONS] URL
       dragoman probe [OPTIONS] URL, or -- COMMAND [ARGUMENTS...]
       dragoman login [OPTIONS] URL
       dragoman logout URL
       dragoman COMMAND --help
       dragoman --version

Lets MCP clients of any revision use servers of any revision, unchanged. The server is a command, or behind a URL.

  wrap    serves over stdin and stdout; where client and server speak the same era, what they say is passed through
  serve   serves over HTTP, to clients of every revision at the same time
  probe   tells what a server speaks, and how that is known
  login   gets a token for a server behind a URL that asks for OAuth; logout forgets it
"""

_WRAP_HEAD = f"""{_WRAP_USAGE}

Starts the MCP server COMMAND and serves it over stdin and stdout: a server of 2024-11-05 to 2025-11-25 to a client of
2026-07-28, and one that speaks 2026-07-28 only to a client that opens with initialize. Where both speak the same era, what
they say is passed through. Everything after -- is the command, started without a shell. A server behind a URL may speak
Streamable HTTP or HTTP+SSE, of any revision; see docs/urls.md.

In the host's configuration put dragoman before the command. Before:

  {{"mcpServers": {{"files": {{"command": "npx", "args": ["-y", "files-server", "/data"]}}}}}}

After:

  {{"mcpServers": {{"files": {{"command": "dragoman", "args": ["wrap", "--", "npx", "-y", "files-server", "/data"]}}}}}}

options:
"""

_SERVE_HEAD = f"""{_SERVE_USAGE}

Starts the MCP server COMMAND, which speaks over its stdin and stdout, and serves it over Streamable HTTP to clients of every
revision at the same time. Everything after -- is the command, started without a shell: once for each legacy client, and for
modern clients once for each caller and set of capabilities. For example:

  dragoman serve --port 8000 -- npx -y files-server /data

and in the client's configuration:

  {{"mcpServers": {{"files": {{"type": "http", "url": "http://127.0.0.1:8000/mcp"}}}}}}

GET /healthz answers 200 while requests are taken. TLS is left to a reverse proxy.

options:
"""

_SERVE_FOOT = """
Durations are seconds, fractions allowed; sizes take K, M or G.

By default only this machine can connect, and web pages cannot. To listen on another address, say how callers are told apart
(--principal-header), or that they need not be (--isolation shared); and name the hosts that clients will ask for (--allow-host).

One line on stderr says where it listens; the server's stderr is passed on too. On SIGTERM, SIGINT or SIGHUP streams end, what is
in flight is finished, then the server's stdin is closed; if it does not exit it is terminated, then killed, with its process
group. A second signal skips the waiting. Signals that the parent ignores (nohup) stay ignored.

exit status:
  1    the address cannot be listened on, the server's command could not be started or never answered a handshake, or
       dragoman failed
  2    the command line is wrong, or asks for what is not safe
  128+N  ended by signal N, in order (130 SIGINT, 143 SIGTERM)
"""

_WRAP_FOOT = """
Durations are seconds, fractions allowed; sizes take K, M or G.

The server's stderr is passed on to stderr. At the end of stdin, and on SIGTERM, SIGINT or SIGHUP, what is in flight is
finished, then the server's stdin is closed; if it does not exit it is terminated, then killed, with its process group.
A second signal, or one after the end of stdin, skips the waiting. Signals that the parent ignores (nohup) stay ignored.

exit status:
  0    the client closed stdin, or does not read any more
  1    the server's command could not be started or never answered a handshake, or dragoman failed
  2    the command line is wrong
  128+N  ended by signal N, in the same order (130 SIGINT, 143 SIGTERM)
"""


_PROBE_HEAD = """usage: dragoman probe [OPTIONS] -- COMMAND [ARGUMENTS...]
       dragoman probe [OPTIONS] URL

Asks an MCP server what it speaks and prints what was asked, what it answered, and what dragoman would do between it and clients
of each era.

options:
"""

_PROBE_FOOT = """
exit status:
  0    the server can be used
  1    nothing that can be used was found
  2    the command line is wrong
"""

_LOGIN_HEAD = """usage: dragoman login [OPTIONS] URL

Logs in at the authorization server of the MCP server behind URL and keeps the token, for dragoman wrap and dragoman serve to use.
Needs the extra: install dragoman[oauth].

options:
"""

_LOGOUT_HEAD = """usage: dragoman logout [OPTIONS] URL

Revokes the token that is kept for the MCP server behind URL, where its authorization server allows that, and forgets it.

options:
"""

_LOGIN_FOOT = """
exit status:
  0    done
  1    it could not be done; the reason is on stderr
  2    the command line is wrong
"""

_TEXTS = {
    "wrap": (_WRAP_HEAD, _WRAP_FOOT),
    "serve": (_SERVE_HEAD, _SERVE_FOOT),
    "probe": (_PROBE_HEAD, _PROBE_FOOT),
    "login": (_LOGIN_HEAD, _LOGIN_FOOT),
    "logout": (_LOGOUT_HEAD, _LOGIN_FOOT),
}


def help_of(command: Command) -> str:
    """The text of ``dragoman COMMAND --help``."""
    head, foot = _TEXTS[command.name]
    lines = [_line(option) for option in command.table]
    lines += [_entry("--help", "show this text"), _entry("--version", "show the version")]
    return head + "\n".join(lines) + "\n" + foot


def unknown(words: list[str]) -> str:
    """One line on a command line that starts with no command and no option of ``dragoman`` itself."""
    word = words[0]
    if word == "--":
        return f"no command; to wrap a server: {command_line(words)}"
    if commands := commands_with(word):
        return f"{word.partition('=')[0]} is an option of {' and '.join(commands)}: {command_line(words, commands[0])}"
    if word.startswith("-"):
        hint = "; for more on stderr: dragoman wrap --log-level debug -- COMMAND" if word in LOUD else ""
        return f"unknown option {word!r}{hint}; see dragoman --help"
    from difflib import get_close_matches

    if close := get_close_matches(word, list(_TEXTS), 1, 0.65):
        return f"unknown command {word!r} (did you mean {close[0]}?); see dragoman --help"
    if is_url(word):
        return "a URL is no command; to use the server behind it: dragoman wrap URL"
    if len(words) > 1 or word in RUNNERS or "/" in word:
        return f"unknown command {word!r}; to wrap a server: {command_line(['--', *words])}"
    return f"unknown command {word!r}; see dragoman --help"


def _line(option: Option) -> str:
    written = f"--{option.name}" if option.kind == "flag" else f"--{option.name} {option.metavar}"
    return _entry(written, option.about + _default(option))


def _entry(written: str, text: str) -> str:
    """The option in a column of its own, what it means beside it."""
    import textwrap

    first, *more = textwrap.wrap(text, _WIDTH, break_on_hyphens=False)
    return "\n".join([f"  {written:<{_COLUMN}} {first}", *(" " * (_COLUMN + 3) + line for line in more)])


def _default(option: Option) -> str:
    value = option.default
    if value is None or value is False or value == ():
        return ""
    if option.kind == "size" and isinstance(value, int):
        return f" (default {value >> 20}M)"
    return f" (default {value:g})" if isinstance(value, float) else f" (default {value})"

"""What ``--help`` prints."""

from __future__ import annotations

from dragoman.wrap.config import TABLE, Option

USAGE = "usage: dragoman wrap [OPTIONS] -- COMMAND [ARGUMENTS...]"

TOP = f"""{USAGE}
       dragoman --version
       dragoman --help

Lets an MCP client and an MCP server of different protocol revisions work together.
Run dragoman wrap --help for the options.
"""

_HEAD = f"""{USAGE}

Starts the MCP server COMMAND and serves it over stdin and stdout to a client of any protocol revision,
2024-11-05 to 2026-07-28. Everything after -- is the command, started without a shell.

In the host's configuration put dragoman before the command. Before:

  {{"mcpServers": {{"files": {{"command": "npx", "args": ["-y", "files-server", "/data"]}}}}}}

After:

  {{"mcpServers": {{"files": {{"command": "dragoman", "args": ["wrap", "--", "npx", "-y", "files-server", "/data"]}}}}}}

options:
"""

_FOOT = """
Durations are seconds, fractions allowed; sizes take K, M or G.

The server's stderr is passed on to stderr. At the end of stdin, and on SIGTERM, SIGINT or SIGHUP, what is in flight is
finished, then the server's stdin is closed; if it does not exit it is terminated, then killed, with its process group.
A second signal, or one after the end of stdin, skips the waiting.

exit status:
  0    the client closed stdin, or does not read any more
  1    the server's command could not be started, or dragoman failed
  2    the command line is wrong
  128+N  ended by signal N, in the same order (130 SIGINT, 143 SIGTERM)
"""


def wrap_help() -> str:
    """The text of ``dragoman wrap --help``."""
    lines = [_line(option) for option in TABLE]
    lines += [_pad("--help", "show this text"), _pad("--version", "show the version")]
    return _HEAD + "\n".join(lines) + "\n" + _FOOT


def _line(option: Option) -> str:
    written = f"--{option.name}" if option.kind == "flag" else f"--{option.name} {option.metavar}"
    return _pad(written, option.about + _default(option))


def _pad(written: str, text: str) -> str:
    return f"  {written:<40} {text}"


def _default(option: Option) -> str:
    value = option.default
    if value is None or value is False:
        return ""
    if option.kind == "size" and isinstance(value, int):
        return f" (default {value >> 20}M)"
    return f" (default {value:g})" if isinstance(value, float) else f" (default {value})"

"""Command lines for Windows batch files (``npx.cmd`` and the other shims of npm).

A batch file is run by ``cmd.exe``, which reads the line before the program does: ``&`` in a URL would start a second command.
So every argument is quoted for the program, and then every character that means something to ``cmd.exe`` gets a caret, twice:
the shim hands its arguments on with ``%*``, which is read once more.
"""

from __future__ import annotations

_SPECIAL = frozenset('()[]%!^"`<>&|;, *?')


def batch_line(path: str, arguments: list[str]) -> str:
    """The command line for ``cmd.exe`` that runs batch file ``path`` with exactly these arguments."""
    words = [_caret(path), *(_caret(_caret(_quote(argument))) for argument in arguments)]
    return 'cmd.exe /d /s /c "' + " ".join(words) + '"'


def _quote(argument: str) -> str:
    """In quotes; backslashes are doubled where they stand before a quote (the rule of the C runtime)."""
    quoted = ""
    slashes = 0
    for character in argument:
        if character == "\\":
            slashes += 1
            continue
        quoted += "\\" * (slashes * 2 + 1 if character == '"' else slashes) + character
        slashes = 0
    return f'"{quoted}{chr(92) * slashes * 2}"'


def _caret(text: str) -> str:
    return "".join("^" + character if character in _SPECIAL else character for character in text)

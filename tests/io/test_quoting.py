"""Command lines for batch files: what cmd.exe would act on is quoted twice."""

from __future__ import annotations

import pytest

from dragoman.io.quoting import batch_line


def test_plain_words_are_quoted_for_both_readers():
    assert batch_line("C:\\npx.cmd", ["-y", "server"]) == 'cmd.exe /d /s /c "C:\\npx.cmd ^^^"-y^^^" ^^^"server^^^""'


@pytest.mark.parametrize(
    ("argument", "quoted"),
    [
        ("a b", '^^^"a^^^ b^^^"'),
        ("https://x/?a=1&b=%PATH%", '^^^"https://x/^^^?a=1^^^&b=^^^%PATH^^^%^^^"'),
        ('say "hi"', '^^^"say^^^ \\^^^"hi\\^^^"^^^"'),
        ("C:\\dir\\", '^^^"C:\\dir\\\\^^^"'),
        ('\\"', '^^^"\\\\\\^^^"^^^"'),
        ("", '^^^"^^^"'),
    ],
)
def test_special_characters_reach_the_program(argument, quoted):
    assert batch_line("x.cmd", [argument]) == f'cmd.exe /d /s /c "x.cmd {quoted}"'


def test_path_with_a_space_is_read_once():
    assert batch_line("C:\\Program Files\\npx.cmd", []) == 'cmd.exe /d /s /c "C:\\Program^ Files\\npx.cmd"'

"""The matrix as text: a row for each client, a column for each server."""

from __future__ import annotations

Marks = dict[tuple[str, str], str]
NOT_RUN = "-"


def table(rows: list[str], columns: list[str], marks: Marks) -> list[str]:
    """The lines. A cell that nobody marked was not run."""
    corner = "client \\ server"
    lines = [[corner, *columns], *([row, *(marks.get((row, column), NOT_RUN) for column in columns)] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns) + 1)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]

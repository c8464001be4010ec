"""Every row of the translation tables has a conversation, and every conversation named there exists."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from tests.conversations.rows import ROWS, Row

HERE = Path(__file__).parent


@cache
def names_in(module: str) -> set[str]:
    tree = ast.parse((HERE / f"test_{module}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section}: {row.rule[:40]}")
def test_row_has_conversations_that_exist(row: Row) -> None:
    assert row.tests, f"no conversation covers: {row.rule}"
    for name in row.tests:
        module, _, test = name.partition("::")
        assert test in names_in(module), f"{name} is named by a row and does not exist"


def test_rows_are_told_apart() -> None:
    assert len({(row.section, row.rule) for row in ROWS}) == len(ROWS)

"""The official JSON Schemas as an oracle: read where they lie, never copied into the repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from dragoman_specs.version import Version
from oracle import spec_folder

Definitions = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def official() -> Callable[[Version], Definitions]:
    """The definitions of a revision's schema; skips where the schemas are not at hand."""
    folder = spec_folder()
    if folder is None:
        pytest.skip("the official schemas are not on this machine: point DRAGOMAN_SPEC to a folder with <revision>/schema.json")

    @cache
    def definitions(version: Version) -> Definitions:
        schema = json.loads((folder / version / "schema.json").read_text(encoding="utf-8"))
        found: Definitions = schema.get("definitions") or schema["$defs"]
        return found

    return definitions

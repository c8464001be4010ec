"""``dragoman probe`` of servers that people run (``npm ci --prefix tests/real`` once)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.real.test_published_servers import missing
from tests.wrap.test_probe_command import probed

pytestmark = pytest.mark.real
PACKAGES = Path(__file__).parents[1] / "real" / "node_modules" / "@modelcontextprotocol"
NODE = shutil.which("node") or ""


@pytest.mark.parametrize(
    ("name", "revision", "capability"),
    [("everything", "2025-06-18", "prompts"), ("filesystem", "2025-06-18", "tools"), ("memory", "2025-06-18", "tools")],
)
@pytest.mark.parametrize("modern_first", [False, True])
def test_published_server_is_legacy_in_its_newest_revision(tmp_path, name, revision, capability, modern_first):
    if not NODE or not PACKAGES.is_dir():
        missing("node or the packages of tests/real")
    found = probed(
        [NODE, str(PACKAGES / f"server-{name}" / "dist" / "index.js"), str(tmp_path)][: 2 if name == "everything" else 3],
        discover=2.0,
        modern_first=modern_first,
    )
    assert (found.era, found.negotiated) == ("legacy", revision)
    assert found.server_info["version"]
    assert found.capabilities is not None
    assert capability in found.capabilities

"""The four shapes, for all 25 pairs of revisions."""

from __future__ import annotations

from itertools import product

import pytest

from dragoman.route import Shape, plan
from dragoman_specs.version import LEGACY, MODERN, Version


@pytest.mark.parametrize("version", list(Version))
def test_same_revision_is_relayed(version: Version) -> None:
    assert plan(version, version) is Shape.PASSTHROUGH


@pytest.mark.parametrize(("client", "server"), [pair for pair in product(LEGACY, LEGACY) if pair[0] is not pair[1]])
def test_two_legacy_revisions_are_reshaped(client: Version, server: Version) -> None:
    assert plan(client, server) is Shape.RESHAPE


@pytest.mark.parametrize(("client", "server"), list(product(MODERN, LEGACY)))
def test_modern_client_with_legacy_server_upgrades_the_server(client: Version, server: Version) -> None:
    assert plan(client, server) is Shape.UPGRADE_SERVER


@pytest.mark.parametrize(("client", "server"), list(product(LEGACY, MODERN)))
def test_legacy_client_with_modern_server_downgrades_the_server(client: Version, server: Version) -> None:
    assert plan(client, server) is Shape.DOWNGRADE_SERVER

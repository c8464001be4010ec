"""Every client with every server: {stdio, Streamable HTTP, HTTP+SSE} on either side of the bridge, modern and legacy on either side.

In each cell the acceptance script (``tests/real_http/acceptance.py``) is carried out through ``dragoman wrap`` or ``dragoman serve``. It
must report what it reports without any bridge, every frame must be valid for whom it was sent to, and the taps must show that each side
was spoken to in its own era. ``make matrix`` runs it and prints the table.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from acceptance import Report
from cell import Cell
from harness import MODERN
from modern_side import LATEST
from sides import CLIENTS, SERVERS, Far, Near
from test_acceptance import expected

from oracle import Oracle

ERAS = ("modern", "legacy")
TRANSPORTS = ("stdio", "http", "sse")
PYTHON = [client for client in CLIENTS if client.maker == "python"]
ALIKE = [(client, server) for client in PYTHON for server in SERVERS if client[1:3] == (server.transport, server.era)]
old_words = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


def test_both_sides_have_every_transport_in_every_era_in_which_it_exists() -> None:
    there = {pair for pair in itertools.product(TRANSPORTS, ERAS) if pair != ("sse", "modern")}
    assert {(server.transport, server.era) for server in SERVERS} == there
    assert {(client.transport, client.era) for client in PYTHON} == there
    assert len(ALIKE) == len(there)


def named(side: Near | Far) -> str:
    """A name that ``-k`` takes: ``-k "python-modern-http and to-legacy-sse"``."""
    return ("" if isinstance(side, Near) else "to-") + side.label.replace(", ", "-").replace(" ", "")


def reported(client: Near, server: Far) -> Report:
    """What the script must report: two of one era agree on the server's revision, which is the only one that it knows."""
    latest = LATEST if server.era == "modern" else server.revision
    return expected(MODERN if client.era == "modern" else latest, latest)


@pytest.mark.matrix
@old_words
@pytest.mark.parametrize(("client", "server"), ALIKE, ids=named)
def test_script_reports_what_is_expected_where_no_bridge_is_between(tmp_path: Path, oracle: Oracle, client: Near, server: Far) -> None:
    assert Cell(tmp_path, oracle, client, server).run_straight() == reported(client, server)


@pytest.mark.matrix
@old_words
@pytest.mark.parametrize("server", SERVERS, ids=named)
@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_client_passes_the_acceptance_script_and_each_side_is_spoken_to_in_its_era(
    tmp_path: Path, oracle: Oracle, record_property: pytest.RecordProperty, client: Near, server: Far
) -> None:
    mark = [client.label, server.label, ""]
    record_property("matrix", mark)
    outcome = Cell(tmp_path, oracle, client, server).run()
    assert outcome.report == reported(client, server)
    assert (outcome.near, outcome.far) == ([outcome.report["connect"]], [server.revision])
    mark[2] = f"{outcome.near[0]} | {outcome.far[0]}"

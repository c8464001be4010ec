"""The draft upgrade itself is not there yet: what is declared is relayed."""

from __future__ import annotations

from crossings import raw, result
from dragoman.changes import ALL
from dragoman.changes.v2026_07_28.sep2106_json_schema import CHANGE


def test_schemas_are_relayed_as_they_were_written() -> None:
    tools = (
        '"tools":[{"name":"a","inputSchema":{ "$schema":"http://json-schema.org/draft-07/schema#","type":"object",'
        '"properties":{"n":{"minimum":1e400,"default":1.10}} },"outputSchema":{"type":"array"}}]}'
    )
    assert raw(result("tools/list", f"{{{tools}")) == f'{{"resultType":"complete","ttlMs":0,"cacheScope":"private",{tools}'


def test_the_seam_is_in_the_chain() -> None:
    assert CHANGE in ALL
    assert [names for names, _, _ in CHANGE.steps] == [{"tools/list"}]

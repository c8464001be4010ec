"""SEP-2106: tool schemas are JSON Schema 2020-12 (2026-07-28, basic/index#json-schema-usage).

Legacy servers send draft-04 to 2019-09, or no ``$schema``. That the root of ``inputSchema`` is an object schema is older
than this change, so it is the shape's to repair; here is the one place where a schema's dialect is brought up.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman.change import Change, Crossing, Members, Notes, Part
from dragoman_specs.version import Version

CHANGE = Change("sep2106_json_schema", since=Version.V2026_07_28)

SCHEMAS = ("inputSchema", "outputSchema")


@CHANGE.upgrade("tools/list", Part.TOOL)
def schemas_of_tool(tool: Members, _crossing: Crossing, notes: Notes) -> Members:
    """Bring both schemas of a tool up."""
    out = tool
    for member in SCHEMAS:
        schema = tool.get(member)
        if schema is not None:
            upgraded = upgrade_schema(schema, notes)
            out = out if upgraded is schema else {**out, member: upgraded}
    return out


def upgrade_schema(schema: Raw, notes: Notes) -> Raw:  # noqa: ARG001 - the draft upgrade will have something to note
    """One schema as 2020-12; the same object when there is nothing to do.

    The draft upgrade has its seam here. Until it is there a declared older dialect is relayed as declared, which the page
    allows ("Schemas MAY include a $schema field to specify a different dialect").
    """
    return schema

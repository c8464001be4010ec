"""A validator of JSON documents: schemas are kept as resources, and the user is asked before one is deleted.

``ttl`` and ``scope`` go out as ``ttlMs`` and ``cacheScope`` with the lists and ``server/discover``, so a client of 2026-07-28 need not ask
again for five minutes. A schema that is not there is -32602 to such a client, and -32002 to an earlier one; no line here looks at that.
The schemas live in this process: several workers would need a database in place of ``SCHEMAS``.
"""

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

import jsonschema_rs
import msgspec
from pydantic import BaseModel, Field

from dragoman import Context, Elicit, ResourceNotFound, Server, ToolError, asgi, serve_stdio

Name = Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,30}$", description="the name of a schema")]

SCHEMAS: dict[str, dict[str, Any]] = {
    "address": {
        "type": "object",
        "properties": {"street": {"type": "string"}, "postcode": {"type": "string", "pattern": "^[0-9]{5}$"}},
        "required": ["street", "postcode"],
    },
    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
}

server = Server("json-validator", "0.9", ttl=300, scope="public")


@dataclass
class Verdict:
    """Whether a document is valid, and what is wrong with it."""

    valid: bool
    faults: list[str]


class Consent(BaseModel):
    """What the user is asked before a schema is deleted."""

    delete: bool = Field(description="Delete it for good?")


def validator_of(schema: dict[str, Any]) -> Any:
    """What checks values against a schema. A schema stands on its own: nothing that it refers to is fetched from anywhere."""

    def fetch(uri: str) -> NoReturn:
        raise ValueError(f"{uri} is not fetched")

    return jsonschema_rs.validator_for(schema, retriever=fetch)


def known(name: str) -> dict[str, Any]:
    """The schema of a name."""
    if name not in SCHEMAS:
        raise ToolError(f"There is no schema {name}. The schemas are {', '.join(SCHEMAS)}.")
    return SCHEMAS[name]


@server.tool(annotations={"readOnlyHint": True})
def validate(document: Annotated[str, Field(description="a JSON text")], schema: Name) -> Verdict:
    """Validate a JSON document against a schema."""
    validator = validator_of(known(schema))
    try:
        value = msgspec.json.decode(document)
    except (msgspec.DecodeError, RecursionError) as fault:
        return Verdict(False, [f"This is no JSON: {fault}"])
    faults = [f"/{'/'.join(map(str, fault.instance_path))}: {fault.message}" for fault in validator.iter_errors(value)]
    return Verdict(not faults, faults)


@server.tool()
def add_schema(name: Name, schema: dict[str, Any]) -> str:
    """Keep a schema under a name that is free."""
    if name in SCHEMAS:
        raise ToolError(f"There is a schema {name} already.")
    try:
        validator_of(schema)
    except jsonschema_rs.ValidationError as fault:
        raise ToolError(f"This is no JSON Schema: {fault.message}") from None
    SCHEMAS[name] = schema
    return f"Kept as schema://{name}."


@server.tool(annotations={"destructiveHint": True})
async def delete_schema(name: Name, context: Context) -> str:
    """Delete a schema, after asking the user."""
    known(name)
    answer = await context.ask(Elicit(f"Delete the schema {name}? It cannot be brought back.", Consent))
    if answer.value is None or not answer.value.delete:
        return f"The schema {name} was kept."
    del SCHEMAS[name]
    server.changed(f"schema://{name}")
    return f"The schema {name} was deleted."


@server.resource("schema://{name}", name="schema", mime_type="application/schema+json")
def read_schema(name: str) -> str:
    """A schema by its name."""
    if name not in SCHEMAS:
        raise ResourceNotFound(f"schema://{name}")
    return json.dumps(SCHEMAS[name])


app = asgi(server, sse=True)  # sse: clients of 2024-11-05, which know no other HTTP

if __name__ == "__main__":
    sys.exit(serve_stdio(server))

"""examples/json_validator.py for clients of every revision."""

from __future__ import annotations

import json
from itertools import count

import pytest
from tests.examples.raw import WITH_ELICITATION, WITHOUT_ELICITATION, Answer, Http, Peer

from oracle import JsonObject

SERVER = "json_validator"
NUMBER: JsonObject = {"type": "integer", "minimum": 10}
ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "postcode": {"type": "string", "pattern": "^[0-9]{5}$"}},
    "required": ["street", "postcode"],
}
FORM = {
    "type": "object",
    "properties": {"delete": {"type": "boolean", "description": "Delete it for good?"}},
    "required": ["delete"],
}
NUMBERS = count(1)
with_elicitation = pytest.mark.parametrize("way", WITH_ELICITATION, indirect=True)
without_elicitation = pytest.mark.parametrize("way", WITHOUT_ELICITATION, indirect=True)


@pytest.fixture
def schema(peer: Peer) -> str:
    """The name of a schema that this test alone knows: the server is shared."""
    name = f"number-{next(NUMBERS)}"
    assert peer.text("add_schema", name=name, schema=NUMBER) == f"Kept as schema://{name}."
    return name


def answers(action: str, content: JsonObject | None = None) -> Answer:
    return lambda method, params: {"action": action, **({} if content is None else {"content": content})}


def exists(peer: Peer, name: str) -> bool:
    response = peer.request("resources/read", {"uri": f"schema://{name}"})
    return "result" in response


def test_the_tools_are_listed_with_a_time_to_live_where_the_revision_has_that(peer: Peer) -> None:
    result = peer.result("tools/list")
    assert [tool["name"] for tool in result["tools"]] == ["validate", "add_schema", "delete_schema"]
    assert result["tools"][2]["annotations"] == {"destructiveHint": True}
    assert {name: value for name, value in result.items() if name not in ("tools", "_meta")} == {
        "2024-11-05": {},
        "2025-03-26": {},
        "2025-06-18": {},
        "2025-11-25": {},
        "2026-07-28": {"resultType": "complete", "ttlMs": 300_000, "cacheScope": "public"},
    }[peer.revision]


def test_discovery_is_answered_where_the_revision_has_it(peer: Peer) -> None:
    if not peer.is_modern:
        assert peer.alien("server/discover") == {"code": -32601, "message": "Method not found: server/discover"}
        return
    assert peer.result("server/discover") == {
        "resultType": "complete",
        "ttlMs": 300_000,
        "cacheScope": "public",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {
            "logging": {},
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
        },
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "json-validator", "version": "0.9"}},
    }


@pytest.mark.parametrize(
    ("document", "valid", "faults"),
    [
        ('{"street": "Quay 1", "postcode": "12345"}', True, []),
        (
            '{"street": 1, "postcode": "123"}',
            False,
            ['/postcode: "123" does not match "^[0-9]{5}$"', '/street: 1 is not of type "string"'],
        ),
        ("{", False, ["This is no JSON: Input data was truncated"]),
        ("NaN", False, ["This is no JSON: JSON is malformed: invalid character (byte 0)"]),
    ],
)
def test_a_document_is_judged(peer: Peer, document: str, valid: bool, faults: list[str]) -> None:
    result = peer.call("validate", document=document, schema="address")
    assert "isError" not in result
    verdict = json.loads(result["content"][0]["text"])
    assert (verdict["valid"], sorted(verdict["faults"])) == (valid, faults)
    assert result.get("structuredContent") == (verdict if peer.revision >= "2025-06-18" else None)


def test_a_schema_that_is_none_is_not_kept_and_nothing_is_fetched_for_it(peer: Peer) -> None:
    result = peer.call("add_schema", name="broken", schema={"$ref": "http://127.0.0.1:9/schema"})
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("This is no JSON Schema: ")
    assert not exists(peer, "broken")


def test_a_name_is_taken_once(peer: Peer, schema: str) -> None:
    result = peer.call("add_schema", name=schema, schema={})
    assert result == {"content": [{"type": "text", "text": f"There is a schema {schema} already."}], "isError": True}


def test_a_schema_is_read_as_a_resource(peer: Peer) -> None:
    (contents,) = peer.result("resources/read", {"uri": "schema://address"})["contents"]
    assert contents == {"uri": "schema://address", "mimeType": "application/schema+json", "text": json.dumps(ADDRESS)}


def test_the_hints_of_lists_are_not_those_of_what_is_read(peer: Peer) -> None:
    result = peer.result("resources/read", {"uri": "schema://address"})
    hints = (result.get("ttlMs"), result.get("cacheScope"))
    assert hints == ((0, "private") if peer.revision == "2026-07-28" else (None, None))


def test_the_template_of_schemas_is_listed(peer: Peer) -> None:
    assert peer.result("resources/templates/list")["resourceTemplates"] == [
        {
            "uriTemplate": "schema://{name}",
            "name": "schema",
            "description": "A schema by its name.",
            "mimeType": "application/schema+json",
        }
    ]


@pytest.mark.parametrize("uri", ["schema://nothing", "file:///etc/hostname"])
def test_a_resource_that_is_not_there_is_told_with_the_code_of_the_revision(peer: Peer, uri: str) -> None:
    code = {"2024-11-05": -32002, "2025-03-26": -32002, "2025-06-18": -32002, "2025-11-25": -32002, "2026-07-28": -32602}
    assert peer.error("resources/read", {"uri": uri}) == {
        "code": code[peer.revision],
        "message": f"Resource not found: {uri}",
        "data": {"uri": uri},
    }


@with_elicitation
def test_a_schema_is_deleted_after_the_user_has_agreed(peer: Peer, schema: str) -> None:
    peer.answer = answers("accept", {"delete": True})
    assert peer.text("delete_schema", name=schema) == f"The schema {schema} was deleted."
    mode = {"2025-06-18": {}, "2025-11-25": {"mode": "form"}, "2026-07-28": {"mode": "form"}}[peer.revision]
    message = f"Delete the schema {schema}? It cannot be brought back."
    assert peer.asked == [("elicitation/create", {**mode, "message": message, "requestedSchema": FORM})]
    assert not exists(peer, schema)


@with_elicitation
@pytest.mark.parametrize("answer", [answers("decline"), answers("cancel"), answers("accept", {"delete": False})])
def test_a_schema_is_kept_if_the_user_does_not_agree(peer: Peer, schema: str, answer: Answer) -> None:
    peer.answer = answer
    assert peer.text("delete_schema", name=schema) == f"The schema {schema} was kept."
    assert exists(peer, schema)


@with_elicitation
def test_nobody_is_asked_about_a_schema_that_is_not_there(peer: Peer) -> None:
    assert peer.call("delete_schema", name="nothing")["isError"] is True
    assert peer.asked == []


@without_elicitation
def test_a_client_that_cannot_be_asked_is_told_so_and_the_schema_kept(peer: Peer, schema: str) -> None:
    result = peer.call("delete_schema", name=schema)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("This tool cannot be used with this client, which lacks elicitation: ")
    assert exists(peer, schema)


@pytest.mark.parametrize("way", ["stdio 2026-07-28", "http 2026-07-28"], indirect=True)
def test_a_modern_client_without_the_capability_is_told_which_it_lacks(peer: Peer, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "capabilities", {})
    error = peer.error("tools/call", {"name": "delete_schema", "arguments": {"name": schema}})
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": {"form": {}}}})
    if isinstance(peer, Http):
        assert peer.status == 400
    assert exists(peer, schema)


@with_elicitation
def test_whoever_listens_to_a_schema_hears_of_its_end(peer: Peer, schema: str) -> None:
    peer.answer = answers("accept", {"delete": True})
    with peer.subscribed(f"schema://{schema}"):
        peer.text("delete_schema", name=schema)
        assert peer.hear_of("notifications/resources/updated")["uri"] == f"schema://{schema}"

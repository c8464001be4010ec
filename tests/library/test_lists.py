"""Lists and discovery: pages, cursors, cache hints, capabilities, and what each revision is shown of them."""

from typing import Any

import pytest
from tests.library.peer import ASKED, BEFORE, EVERY, MODERN, Judged, asynchronous, once

from dragoman import ProtocolError, Server

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def full(number: int = 5, **settings: Any) -> Server:
    """A server with so many of everything."""
    server = Server("full", "1.2", **settings)
    for each in range(number):
        server.tool(f"tool{each}")(lambda: "x")
        server.prompt(f"prompt{each}")(lambda: "x")
        server.resource(f"note://{each}", name=f"note{each}")(lambda: "x")
        server.resource(f"card{each}://{{id}}", name=f"card{each}")(lambda id: id)  # noqa: A006 - the name of the variable
    return server


async def listed(client: Judged, method: str) -> list[str]:
    by = {
        "tools/list": client.list_tools,
        "prompts/list": client.list_prompts,
        "resources/list": client.list_resources,
        "resources/templates/list": client.list_resource_templates,
    }
    return [each["name"] for each in await by[method]()]


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize("page_size", [None, 1, 2, 5, 6])
@asynchronous
async def test_all_pages_together_are_everything_in_the_order_of_registration(version: str, page_size: int | None) -> None:
    async with Judged(full(page_size=page_size), version=version) as client:
        assert await listed(client, "tools/list") == [f"tool{each}" for each in range(5)]
        assert await listed(client, "prompts/list") == [f"prompt{each}" for each in range(5)]
        assert await listed(client, "resources/list") == [f"note{each}" for each in range(5)]
        assert await listed(client, "resources/templates/list") == [f"card{each}" for each in range(5)]


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(("method", "member"), LISTS.items())
@asynchronous
async def test_a_page_has_its_size_and_the_last_one_no_cursor(version: str, method: str, member: str) -> None:
    sizes, params = [], {}
    async with Judged(full(page_size=2), version=version) as client:
        while True:
            page = await once(client, method, params)
            sizes.append(len(page[member]))
            if "nextCursor" not in page:
                break
            params = {"cursor": page["nextCursor"]}
    assert sizes == [2, 2, 1]


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["x", "", "-1", "2.0", "99", "٣", "9" * 40, 3, {}, " 2"])
@asynchronous
async def test_a_cursor_that_is_none_of_the_server_s_is_invalid_params(version: str, method: str, cursor: Any) -> None:
    async with Judged(full(page_size=2), version=version) as client:
        with pytest.raises(ProtocolError, match="cursor") as error:
            await once(client, method, {"cursor": cursor})
    assert error.value.code == -32602


@asynchronous
async def test_a_server_without_pages_has_no_cursors() -> None:
    async with Judged(full()) as client:
        with pytest.raises(ProtocolError, match="cursor") as error:
            await once(client, "tools/list", {"cursor": "0"})
    assert error.value.code == -32602


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_cache_hints_are_told_in_2026_07_28_alone(version: str) -> None:
    server = full(ttl=1.5, scope="public")
    server.resource("own://1", ttl=60.0, name="own")(lambda: "x")
    server.resource("own://2", ttl=0, scope="public", name="own2")(lambda: "x")
    async with Judged(server, version=version) as client:
        hints = {method: _hints(await once(client, method, {})) for method in LISTS}
        reads = [_hints(await client.read_resource(uri)) for uri in ("note://1", "own://1", "own://2")]
        if version == MODERN:
            discovered = await once(client, "server/discover", {})
            assert _hints(discovered) == (1500, "public")
            assert set(hints.values()) == {(1500, "public")}
            assert reads == [(0, "private"), (60_000, "private"), (0, "public")]  # what is in a resource has hints of its own alone
        else:
            assert set(hints.values()) == {(None, None)}
            assert set(reads) == {(None, None)}


def _hints(result: dict[str, Any]) -> tuple[Any, Any]:
    return result.get("ttlMs"), result.get("cacheScope")


@asynchronous
async def test_without_hints_nothing_may_be_kept() -> None:
    async with Judged(full()) as client:
        assert _hints(await once(client, "tools/list", {})) == (0, "private")


@asynchronous
async def test_discovery_tells_the_version_the_capabilities_and_how_to_use_the_server() -> None:
    server = full(title="Full", instructions="Read the notes first.")
    server.completion(lambda ref, argument, value, chosen: [])
    async with Judged(server) as client:
        told_of = await once(client, "server/discover", {})
        assert client.server_info == {"name": "full", "version": "1.2", "title": "Full"}
        assert client.instructions == "Read the notes first."
    assert told_of["supportedVersions"] == [MODERN]
    assert told_of["instructions"] == "Read the notes first."
    assert told_of["capabilities"] == {
        "logging": {},
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "completions": {},
    }


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_only_what_is_offered_is_a_capability(version: str) -> None:
    server = Server("small", "1")
    server.prompt("one")(lambda: "x")
    async with Judged(server, version=version) as client:
        assert client.server_capabilities == {"logging": {}, "prompts": {"listChanged": True}}
        assert client.instructions is None
        for method in ("tools/list", "resources/list", "completion/complete"):
            params = {"ref": {"type": "ref/prompt", "name": "one"}, "argument": {"name": "a", "value": ""}} if method[0] == "c" else {}
            with pytest.raises(ProtocolError) as error:
                await once(client, method, params)
            assert error.value.code == -32601


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_who_the_server_is_is_told_to_every_client(version: str) -> None:
    async with Judged(full(title="Full", instructions="Read."), version=version) as client:
        assert client.server_info["name"] == "full"
        assert client.server_info["version"] == "1.2"
        if version in ASKED:
            assert client.server_info["title"] == "Full"
        assert client.instructions == "Read."


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_titles_annotations_and_further_members_are_told_where_the_revision_has_them(version: str) -> None:
    server = Server("s", "1")
    icons = [{"src": "https://example.com/a.png"}]

    @server.tool(title="Read It", annotations={"readOnlyHint": True}, more={"icons": icons, "_meta": {"example.com/a": 1}})
    def read() -> str:
        """Reads it."""
        return "x"

    async with Judged(server, version=version) as client:
        (tool,) = await client.list_tools()
    assert (tool["name"], tool["description"], tool["inputSchema"]["type"]) == ("read", "Reads it.", "object")
    if version != "2024-11-05":
        assert tool["annotations"]["readOnlyHint"] is True
    if version in ASKED:
        assert (tool["title"], tool["_meta"]) == ("Read It", {"example.com/a": 1})
    if version in (BEFORE, MODERN):
        assert tool["icons"] == icons


@asynchronous
async def test_what_is_told_of_a_list_can_be_changed_by_nobody_who_was_told() -> None:
    server = full(1)
    async with Judged(server) as client:
        (tool,) = await client.list_tools()
        tool["name"] = "other"
        assert await listed(client, "tools/list") == ["tool0"]

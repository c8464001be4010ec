"""Resources, templates, prompts and completions."""

import base64
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from tests.library.peer import BEFORE, EVERY, MODERN, Judged, asynchronous, plain, tracebacks

from dragoman import Context, ProtocolError, ResourceNotFound, Server, content

SERVER = Server("offers", "1")
BYTES = base64.b64encode(b"\x00\xff").decode()


@SERVER.resource("note://fixed", mime_type="text/plain", title="Fixed", description="A note.")
def fixed() -> str:
    return "fixed"


@SERVER.resource("data://raw", mime_type="application/octet-stream")
async def raw() -> bytes:
    return b"\x00\xff"


@SERVER.resource("data://many")
def many() -> list[content.Content]:
    return [content.contents("data://many/1", "one", "text/plain"), content.contents("data://many/2", b"\x00\xff")]


@SERVER.resource("data://whole")
def whole() -> dict[str, Any]:
    return {"contents": [content.contents("data://whole", "w")], "ttlMs": 5, "cacheScope": "public"}


@SERVER.resource("note://{name}")
def note(name: str) -> str:
    """A note by its name."""
    if name == "missing":
        raise ResourceNotFound("note://missing")
    return f"note {name!r}"


@SERVER.resource("file://{+path}")
def file(path: str) -> str:
    return f"file {path!r}"


@SERVER.resource("cell://{row}/{column}.txt")
def cell(column: int, row: Annotated[int, Field(ge=0)], context: Context) -> str:
    return f"cell {row} {column} {context.client['name']}"


@SERVER.resource("kind://{kind}")
def kind(kind: Literal["a", "b"]) -> str:
    return kind


async def read(uri: str, version: str = MODERN) -> dict[str, Any]:
    async with Judged(SERVER, version=version) as client:
        return plain(await client.read_resource(uri))


def without_hints(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name not in ("ttlMs", "cacheScope")}


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        ("note://fixed", [{"uri": "note://fixed", "mimeType": "text/plain", "text": "fixed"}]),
        ("data://raw", [{"uri": "data://raw", "mimeType": "application/octet-stream", "blob": BYTES}]),
        (
            "data://many",
            [{"uri": "data://many/1", "mimeType": "text/plain", "text": "one"}, {"uri": "data://many/2", "blob": BYTES}],
        ),
        ("data://whole", [{"uri": "data://whole", "text": "w"}]),
        ("note://a", [{"uri": "note://a", "text": "note 'a'"}]),
        ("note://a%20b%2Fc", [{"uri": "note://a%20b%2Fc", "text": "note 'a b/c'"}]),
        ("note://%C5%98", [{"uri": "note://%C5%98", "text": "note 'Ř'"}]),
        ("file://a/b/c.txt", [{"uri": "file://a/b/c.txt", "text": "file 'a/b/c.txt'"}]),
        ("file:///a?x=1#y", [{"uri": "file:///a?x=1#y", "text": "file '/a?x=1#y'"}]),
        ("cell://1/2.txt", [{"uri": "cell://1/2.txt", "text": "cell 1 2 test"}]),
        ("kind://b", [{"uri": "kind://b", "text": "b"}]),
    ],
)
@asynchronous
async def test_a_resource_is_read_by_its_uri_or_a_template_that_it_fits(version: str, uri: str, contents: list[Any]) -> None:
    assert without_hints(await read(uri, version)) == {"contents": contents}


@asynchronous
async def test_a_whole_result_keeps_its_own_cache_hints() -> None:
    result = await read("data://whole")
    assert (result["ttlMs"], result["cacheScope"]) == (5, "public")


@pytest.mark.parametrize("version", [BEFORE, MODERN])
@pytest.mark.parametrize(
    "uri",
    [
        "note://",
        "note://a/b",
        "note://a?b",
        "note://missing",
        "cell://1/2",
        "cell://1/x.txt",
        "cell://-1/2.txt",
        "cell://1/2xtxt",
        "kind://c",
        "other://a",
        "",
        "not a uri",
        "NOTE://fixed",
    ],
)
@asynchronous
async def test_a_uri_that_nothing_fits_is_not_found(version: str, uri: str) -> None:
    with pytest.raises(ProtocolError, match="Resource not found") as error:
        await read(uri, version)
    assert error.value.code == (-32602 if version == MODERN else -32002)
    assert error.value.data == {"uri": uri}


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_resources_and_templates_are_listed_as_what_they_are(version: str) -> None:
    async with Judged(SERVER, version=version) as client:
        resources = {each["uri"]: each for each in await client.list_resources()}
        templates = {each["uriTemplate"]: each for each in await client.list_resource_templates()}
    assert list(resources) == ["note://fixed", "data://raw", "data://many", "data://whole"]
    assert list(templates) == ["note://{name}", "file://{+path}", "cell://{row}/{column}.txt", "kind://{kind}"]
    assert resources["note://fixed"] | {"title": "Fixed"} == {
        "uri": "note://fixed",
        "name": "fixed",
        "title": "Fixed",
        "description": "A note.",
        "mimeType": "text/plain",
    }
    assert templates["note://{name}"] == {"uriTemplate": "note://{name}", "name": "note", "description": "A note by its name."}


@pytest.mark.parametrize("value", [3, None, object(), ["text"], {"a": 1}, [content.contents("a:b", "c"), 3]])
@asynchronous
async def test_what_is_no_contents_of_a_resource_is_an_error_that_says_so(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")
    server.resource("a:b", name="a")(lambda: value)
    async with Judged(server) as client:
        with pytest.raises(ProtocolError) as error:
            await client.read_resource("a:b")
    assert error.value.code == -32603
    assert "expected" in error.value.message
    assert len(tracebacks(caplog)) == 1


PROMPTS = Server("prompts", "1")


@PROMPTS.prompt(title="Review")
def review(code: str, style: Annotated[str, Field(description="How strict.")] = "mild") -> str:
    """Reviews code."""
    return f"Review ({style}): {code}"


@PROMPTS.prompt()
async def counted(times: int, yes: bool = False) -> list[Any]:
    return ["a"] * times + [content.message("assistant", f"{yes}"), content.message("user", content.image(b"\x00\xff", "image/png"))]


@PROMPTS.prompt()
def whole_prompt() -> dict[str, Any]:
    return {"description": "own", "messages": [content.message("user", "x")]}


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_prompts_are_listed_with_their_arguments(version: str) -> None:
    async with Judged(PROMPTS, version=version) as client:
        first, second, _ = await client.list_prompts()
    assert first["description"] == "Reviews code."
    assert first["arguments"] == [{"name": "code", "required": True}, {"name": "style", "required": False, "description": "How strict."}]
    assert [each["name"] for each in second["arguments"]] == ["times", "yes"]


@pytest.mark.parametrize("version", EVERY)
@asynchronous
async def test_a_prompt_is_a_text_of_the_user_s_messages_or_a_whole_result(version: str) -> None:
    async with Judged(PROMPTS, version=version) as client:
        text = plain(await client.get_prompt("review", {"code": "x = 1"}))
        several = plain(await client.get_prompt("counted", {"times": "2", "yes": "true"}))
        own = plain(await client.get_prompt("whole_prompt"))
    words = {"type": "text", "text": "Review (mild): x = 1"}
    assert text == {"description": "Reviews code.", "messages": [{"role": "user", "content": words}]}
    assert [(each["role"], each["content"].get("text")) for each in several["messages"]] == [
        ("user", "a"),
        ("user", "a"),
        ("assistant", "True"),
        ("user", None),
    ]
    assert own == {"description": "own", "messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]}


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [("review", {}, "code"), ("counted", {"times": "many"}, "times"), ("review", {"code": "a", "colour": "b"}, "colour")],
)
@asynchronous
async def test_arguments_of_a_prompt_that_do_not_fit_are_invalid_params(
    version: str, name: str, arguments: dict[str, str], word: str
) -> None:
    async with Judged(PROMPTS, version=version) as client:
        with pytest.raises(ProtocolError, match=word) as error:
            await client.get_prompt(name, arguments)
    assert error.value.code == -32602


@pytest.mark.parametrize("value", [3, None, object(), {"a": 1}, [3], [content.text("a")]])
@asynchronous
async def test_what_is_no_prompt_is_an_error_that_says_so(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")
    server.prompt("a")(lambda: value)
    async with Judged(server) as client:
        with pytest.raises(ProtocolError) as error:
            await client.get_prompt("a")
    assert error.value.code == -32603
    assert "expected" in error.value.message
    assert len(tracebacks(caplog)) == 1

"""Steps beyond the acceptance script: what a modern server has to say that a client of 2025-11-25 can ask for."""

from __future__ import annotations

import json
from typing import Any

from mcp import types
from pydantic import AnyUrl
from sdk1_steps import GREET, connect, ping, plain, refusal, whoami
from sdk1_visit import Step, Visit


async def greeting(visit: Visit) -> Any:
    """The name of the server, its instructions, and the capabilities that were declared for it."""
    declared = visit.greeting.capabilities.model_dump(exclude_none=True)
    return [visit.greeting.serverInfo.name, visit.greeting.instructions, declared]


async def pages(visit: Visit) -> Any:
    """How many resources were on each page."""
    return visit.pages


async def blocks(visit: Visit) -> Any:
    """``mixed``: the type of every block, the media types of picture and sound, and where the link leads."""
    words, picture, inside, sound, link = (await visit.result("mixed")).content
    return [
        [block.type for block in (words, picture, inside, sound, link)],
        [getattr(block, "mimeType", None) for block in (picture, sound)],
        [inside.resource.text, str(link.uri), link.name, link.description],  # type: ignore[union-attr]
    ]


async def illustrated(visit: Visit) -> Any:
    """A prompt with a picture and a resource."""
    return [message.content.type for message in (await visit.session.get_prompt("illustrated")).messages]


async def contents(visit: Visit) -> Any:
    """One read that holds two resources, and one by template."""
    two = await visit.session.read_resource(AnyUrl("demo://two"))
    one = await visit.session.read_resource(AnyUrl("demo://item/spoon"))
    return [[str(each.uri), getattr(each, "text", None)] for each in (*two.contents, *one.contents)]


async def lacking(visit: Visit) -> Any:
    """What is said about a resource that is not there, and the code for a prompt and a cursor that are not."""
    nowhere = await refusal(visit.session.read_resource(AnyUrl("demo://nothing")))
    nobody = await refusal(visit.session.get_prompt("nobody"))
    nothing = await refusal(visit.session.list_resources("never given"))
    return [nowhere.data, nobody.code, nothing.code]


async def context(visit: Visit) -> Any:
    """Complete with the arguments that are known already."""
    known = {"tone": "loudly"}
    return (await visit.session.complete(GREET, {"name": "name", "value": "b"}, context_arguments=known)).completion.values


async def meta(visit: Visit) -> Any:
    """What of the request's own ``_meta`` reached the server."""
    sent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "example.test/mine": {"a": [1]}}
    params = types.CallToolRequestParams(name="show_meta", arguments={}, _meta=types.RequestParams.Meta(**sent))
    request = types.ClientRequest(types.CallToolRequest(method="tools/call", params=params))
    (block,) = (await visit.session.send_request(request, types.CallToolResult)).content
    seen = json.loads(getattr(block, "text", ""))
    return {name: seen.get(name) for name in sent}


async def level(visit: Visit) -> Any:
    """Set another level: what the server says of it, and what came."""
    visit.levels.clear()
    await visit.session.set_logging_level("alert")
    said = await visit.call("log")
    await visit.wait(lambda: len(visit.levels) >= 2)
    return [said, *visit.levels]


async def page(visit: Visit) -> Any:
    """The user is sent to a page and comes back, or what the tool's error names where the client knows no such question."""
    visit.action = "accept"
    visit.asked.clear()
    result = await visit.result("ask_url")
    (block,) = result.content
    told = getattr(block, "text", "")
    return (
        ["elicitation" if "elicitation" in told else told, *visit.asked] if result.isError else [json.loads(told)["action"], *visit.asked]
    )


async def broken_off(visit: Visit) -> Any:
    """Cancel the form, then answer it with an error."""
    visit.action = "cancel"
    ended = json.loads(await visit.call("ask_form", {"fields": "one"}))
    visit.action = "fail"
    result = await visit.result("ask_form", {"fields": "one"})
    visit.action = "accept"
    (block,) = result.content
    return [ended, result.isError, "the user is asleep" in getattr(block, "text", "")]


async def three(visit: Visit) -> Any:
    """A form, the model and the roots in one round: what each came to."""
    filled, said, found = json.loads(await visit.call("ask_three"))
    return [filled["content"], said["content"]["text"], found["roots"][0]["uri"]]


async def many(visit: Visit) -> Any:
    """One question after another in one call."""
    visit.asked.clear()
    return [len(json.loads(await visit.call("ask_many", {"rounds": 4}))), *visit.asked]


async def not_yet(visit: Visit) -> Any:
    """Rounds in which nothing is asked."""
    return await visit.call("come_again", {"rounds": 2})


async def on_and_on(visit: Visit) -> Any:
    """Progress before and after a question."""
    order: list[float] = []

    async def hear(value: float, total: float | None, message: str | None) -> None:
        order.append(value)

    await visit.call("ask_then_progress", progress_callback=hear)
    return order


async def asking(visit: Visit) -> Any:
    """A resource and a prompt that ask first."""
    (read,) = (await visit.session.read_resource(AnyUrl("demo://asks"))).contents
    (message,) = (await visit.session.get_prompt("asking")).messages
    return [getattr(read, "text", None), "four" in getattr(message.content, "text", "")]


async def listed(visit: Visit) -> Any:
    """Output that is a list, which the client validates as the object that it was made."""
    return (await visit.result("list_output")).structuredContent


async def moved(visit: Visit) -> Any:
    """Say that the roots have changed, and be asked for them again."""
    await visit.session.send_roots_list_changed()
    return len(json.loads(await visit.call("ask_roots"))["roots"])


async def refused(visit: Visit) -> Any:
    """Call the tools that ask what this client cannot answer: whether each is an error of the tool, and says what is lacking."""
    found = []
    for name, lacks in (("ask_form", "elicitation"), ("ask_sampling", "sampling"), ("ask_roots", "roots")):
        result = await visit.result(name, {"fields": "one"})
        (block,) = result.content
        found.append([result.isError, lacks in getattr(block, "text", "")])
    return found


MORE: tuple[Step, ...] = (
    greeting,
    pages,
    blocks,
    illustrated,
    contents,
    lacking,
    context,
    meta,
    level,
    page,
    broken_off,
    three,
    many,
    not_yet,
    on_and_on,
    asking,
    listed,
    moved,
)
BARE: tuple[Step, ...] = (connect, whoami, refused, plain, ping)

"""The steps that all clients do: those that ``tests/real_http/acceptance.py`` describes, under the same names.

This client has no call for cancelling a request, so ``cancelled`` sends the notification itself. The id that it names is the progress
token, which this client makes of the id.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import McpError, types
from pydantic import AnyUrl
from sdk1_visit import Step, Visit

WATCHED = AnyUrl("demo://watched")
GREET = types.PromptReference(type="ref/prompt", name="greet")


async def connect(visit: Visit) -> Any:
    visit.greeting = await visit.session.initialize()
    return visit.greeting.protocolVersion


async def whoami(visit: Visit) -> Any:
    return json.loads(await visit.call("whoami"))["clientInfo"]["name"]


async def every_page(listing: Callable[..., Awaitable[Any]], of: str, sizes: list[int] | None = None) -> list[Any]:
    found: list[Any] = []
    page = await listing()
    while True:
        found += getattr(page, of)
        if sizes is not None:
            sizes.append(len(getattr(page, of)))
        if page.nextCursor is None:
            return found
        page = await listing(page.nextCursor)


async def tools(visit: Visit) -> Any:
    visit.names = [tool.name for tool in await every_page(visit.session.list_tools, "tools")]
    return [visit.names[:3], "structured" in visit.names, len(set(visit.names)) < len(visit.names)]


async def prompts(visit: Visit) -> Any:
    return [prompt.name for prompt in await every_page(visit.session.list_prompts, "prompts")]


async def resources(visit: Visit) -> Any:
    return [str(resource.uri) for resource in await every_page(visit.session.list_resources, "resources", visit.pages)]


async def templates(visit: Visit) -> Any:
    return [template.uriTemplate for template in await every_page(visit.session.list_resource_templates, "resourceTemplates")]


async def plain(visit: Visit) -> Any:
    return await visit.call("echo", {"text": "grüße \u2028 ok"})


async def structured(visit: Visit) -> Any:
    return (await visit.result("structured")).structuredContent


async def progress(visit: Visit) -> Any:
    order: list[Any] = []

    async def hear(value: float, total: float | None, message: str | None) -> None:
        order.append(value)

    order.append(await visit.call("progress", progress_callback=hear))
    return order


async def log(visit: Visit) -> Any:
    await visit.session.set_logging_level("error")
    await visit.call("log")
    await visit.wait(lambda: len(visit.levels) >= 4)
    return list(visit.levels)


async def failed(visit: Visit) -> Any:
    result = await visit.result("fails")
    return [result.isError, *(getattr(block, "text", None) for block in result.content)]


async def refusal(attempt: Awaitable[Any]) -> Any:
    """The error that this ends with."""
    try:
        await attempt
    except McpError as fault:
        return fault.error
    raise AssertionError("it was not refused")


async def unknown(visit: Visit) -> Any:
    return (await refusal(visit.result("no such tool"))).code


async def text(visit: Visit) -> Any:
    (contents,) = (await visit.session.read_resource(AnyUrl("demo://text"))).contents
    return getattr(contents, "text", None)


async def blob(visit: Visit) -> Any:
    (contents,) = (await visit.session.read_resource(AnyUrl("demo://blob"))).contents
    return getattr(contents, "blob", None)


async def missing(visit: Visit) -> Any:
    return (await refusal(visit.session.read_resource(AnyUrl("demo://nothing")))).code


async def prompt(visit: Visit) -> Any:
    got = await visit.session.get_prompt("greet", {"name": "Ada", "tone": "loudly"})
    return [getattr(message.content, "text", None) for message in got.messages]


async def completion(visit: Visit) -> Any:
    return (await visit.session.complete(GREET, {"name": "name", "value": "al"})).completion.values


async def accepted(visit: Visit) -> Any:
    visit.action = "accept"
    return json.loads(await visit.call("ask_form", {"fields": "one"}))


async def declined(visit: Visit) -> Any:
    visit.action = "decline"
    return json.loads(await visit.call("ask_form", {"fields": "one"}))


async def sampled(visit: Visit) -> Any:
    return json.loads(await visit.call("ask_sampling"))


async def roots(visit: Visit) -> Any:
    return json.loads(await visit.call("ask_roots"))


async def list_changed(visit: Visit) -> Any:
    await visit.call("mutate")
    await visit.wait(lambda: "tools" in visit.told)
    listed = [tool.name for tool in await every_page(visit.session.list_tools, "tools")]
    return [name for name in listed if name not in visit.names]


async def updated(visit: Visit) -> Any:
    await visit.session.subscribe_resource(WATCHED)
    await visit.call("touch", {"uri": str(WATCHED)})
    await visit.wait(lambda: str(WATCHED) in visit.told)
    return str(WATCHED)


async def unsubscribed(visit: Visit) -> Any:
    await visit.session.unsubscribe_resource(WATCHED)
    said = ""
    while said != "nobody subscribed":
        said = await visit.call("touch", {"uri": str(WATCHED)})
    return said


async def cancelled(visit: Visit) -> Any:
    visit.tokens.clear()

    async def hear(value: float, total: float | None, message: str | None) -> None:
        """That there is a callback makes the client send a token."""

    async def call_slow() -> None:
        await visit.call("slow", progress_callback=hear)

    async with anyio.create_task_group() as group:
        group.start_soon(call_slow)
        await visit.wait(lambda: bool(visit.tokens))
        params = types.CancelledNotificationParams(requestId=visit.tokens[0], reason="no longer needed")
        await visit.session.send_notification(
            types.ClientNotification(types.CancelledNotification(method="notifications/cancelled", params=params))
        )
        said = await visit.call("await_cancels", {"count": 1})
        group.cancel_scope.cancel()
    return said


async def together(visit: Visit) -> Any:
    labels: dict[str, str] = {}

    async def one(label: str) -> None:
        labels[label] = await visit.call("barrier", {"count": 2, "label": label})

    async with anyio.create_task_group() as group:
        group.start_soon(one, "a")
        group.start_soon(one, "b")
    return [labels["a"], labels["b"]]


async def ping(visit: Visit) -> Any:
    await visit.session.send_ping()
    return True


STEPS: tuple[Step, ...] = (
    connect,
    whoami,
    tools,
    prompts,
    resources,
    templates,
    plain,
    structured,
    progress,
    log,
    failed,
    unknown,
    text,
    blob,
    missing,
    prompt,
    completion,
    accepted,
    declined,
    sampled,
    roots,
    list_changed,
    updated,
    unsubscribed,
    cancelled,
    together,
    ping,
)

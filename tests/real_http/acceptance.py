"""The acceptance script: what any client of an HTTP endpoint can do, in the order in which it is done.

It is written down here once and done twice: below with the official Python client, in ``acceptance.mjs`` with the official TypeScript
clients. Both report one JSON value a step; ``test_acceptance.py`` holds what each value must be. The server is that of
``tests/peers/legacy_server.py``. The client is named ``acceptance`` and can fill in forms, sample and list its roots. "Modern" and
"legacy" is what was negotiated.

1.  connect       The revision negotiated.
2.  whoami        Call ``whoami``: the name under which the server knows the client.
3.  tools         List the tools, all pages. Report the first three names, whether ``structured`` is one, and whether any comes twice.
4.  prompts       List the prompts, all pages: their names.
5.  resources     List the resources, all pages: their URIs.
6.  templates     List the resource templates, all pages: the URI templates.
7.  plain         Call ``echo`` with "grüße \\u2028 ok": its text.
8.  structured    Call ``structured`` where it is listed: the structured content; else null.
9.  progress      Call ``progress`` and be told of progress: the values in their order, then the text of the result.
10. log           Have messages from level error on (modern: for this call; legacy: set for the session), call ``log``, wait for four
                  messages: their levels.
11. failed        Call ``fails``: whether it is an error, and its text.
12. unknown       Call ``no such tool``: the error code.
13. text          Read ``demo://text``: its text.
14. blob          Read ``demo://blob``: its base64.
15. missing       Read ``demo://nothing``: the error code.
16. prompt        Get ``greet`` for Ada, loudly: the texts of its messages.
17. completion    Complete the argument ``name`` of ``greet`` from "al": the values.
18. accepted      Where ``ask_form`` is listed: call it with ``fields`` one and accept with the name Ada. What the server says it was
                  answered; else null.
19. declined      The same, declined.
20. sampled       Call ``ask_sampling`` and answer "four": what the server says it was answered.
21. roots         Call ``ask_roots`` and answer with one root: what the server says it was answered.
22. list_changed  Listen for changed tools (modern: a subscription), call ``mutate``, wait to be told, list again: the new names.
23. updated       Listen for ``demo://watched`` (modern: a subscription; legacy: subscribe), call ``touch``, wait to be told: the URI.
24. unsubscribed  Listen no longer and call ``touch`` until nobody is told: "nobody subscribed".
25. cancelled     Call ``slow``, wait for its progress, cancel it, call ``await_cancels`` for 1: its text.
26. together      Call ``barrier`` for 2 twice at the same time: the labels that came back.
27. ping          Legacy: ping, report true. Modern: null.

Then close, in legacy with the end of the session.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import mcp_types as types
from harness import Person, words
from mcp import Client, MCPError

MODERN = "2026-07-28"
WATCHED = "demo://watched"
Report = dict[str, Any]


class Visit:
    """One run of the script: the client, and what it was told beside answers."""

    def __init__(self) -> None:
        self.person = Person()
        self.levels: list[str] = []
        self.told: list[str] = []
        self.names: list[str] = []
        self.changed = anyio.Condition()

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        async with self.changed:
            self.levels.append(params.level)
            self.changed.notify_all()

    async def on_message(self, message: Any) -> None:
        async with self.changed:
            if isinstance(message, types.ToolListChangedNotification):
                self.told.append("tools")
            elif isinstance(message, types.ResourceUpdatedNotification):
                self.told.append(str(message.params.uri))
            self.changed.notify_all()

    async def wait(self, condition: Callable[[], bool]) -> None:
        async with self.changed:
            while not condition():
                await self.changed.wait()

    async def run(self, transport: AbstractAsyncContextManager[Any], mode: str) -> Report:
        report: Report = {}
        info = types.Implementation(name="acceptance", version="1")
        callbacks: dict[str, Any] = {"logging_callback": self.on_log, "message_handler": self.on_message, **self.person.everything()}
        async with Client(transport, mode=mode, client_info=info, **callbacks) as client:
            self.client = client
            for step in STEPS:
                try:
                    with anyio.fail_after(20):
                        report[step.__name__] = await step(self)
                except BaseException as fault:
                    fault.add_note(f"in the step {step.__name__}, after {json.dumps(report)}")
                    raise
        return report

    @property
    def modern(self) -> bool:
        return self.client.protocol_version == MODERN

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> str:
        return words(await self.client.call_tool(name, arguments or {}, **options))


async def connect(visit: Visit) -> str:
    return visit.client.protocol_version


async def whoami(visit: Visit) -> str:
    name: str = json.loads(await visit.call("whoami"))["clientInfo"]["name"]
    return name


async def every_page(listing: Callable[..., Awaitable[Any]], of: str) -> list[Any]:
    found: list[Any] = []
    page = await listing()
    found += getattr(page, of)
    while page.next_cursor is not None:
        page = await listing(cursor=page.next_cursor)
        found += getattr(page, of)
    return found


async def tools(visit: Visit) -> Any:
    visit.names = [tool.name for tool in await every_page(visit.client.list_tools, "tools")]
    return [visit.names[:3], "structured" in visit.names, len(set(visit.names)) < len(visit.names)]


async def prompts(visit: Visit) -> list[str]:
    return [prompt.name for prompt in await every_page(visit.client.list_prompts, "prompts")]


async def resources(visit: Visit) -> list[str]:
    return [str(resource.uri) for resource in await every_page(visit.client.list_resources, "resources")]


async def templates(visit: Visit) -> list[str]:
    return [template.uri_template for template in await every_page(visit.client.list_resource_templates, "resource_templates")]


async def plain(visit: Visit) -> str:
    return await visit.call("echo", {"text": "grüße \u2028 ok"})


async def structured(visit: Visit) -> Any:
    if "structured" not in visit.names:
        return None
    return (await visit.client.call_tool("structured", {})).structured_content


async def progress(visit: Visit) -> list[Any]:
    order: list[Any] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        order.append(value)

    order.append(await visit.call("progress", progress_callback=on_progress))
    return order


async def log(visit: Visit) -> list[str]:
    meta: Any = None
    if visit.modern:
        meta = {"io.modelcontextprotocol/logLevel": "error"}
    else:
        await visit.client.set_logging_level("error")
    await visit.call("log", meta=meta)
    await visit.wait(lambda: len(visit.levels) >= 4)
    return visit.levels


async def failed(visit: Visit) -> list[Any]:
    result = await visit.client.call_tool("fails", {})
    return [result.is_error, words(result)]


async def refusal(attempt: Awaitable[Any]) -> int | None:
    try:
        await attempt
    except MCPError as fault:
        return fault.code
    return None


async def unknown(visit: Visit) -> int | None:
    return await refusal(visit.client.call_tool("no such tool", {}))


async def text(visit: Visit) -> Any:
    (contents,) = (await visit.client.read_resource("demo://text")).contents
    return getattr(contents, "text", None)


async def blob(visit: Visit) -> Any:
    (contents,) = (await visit.client.read_resource("demo://blob")).contents
    return getattr(contents, "blob", None)


async def missing(visit: Visit) -> int | None:
    return await refusal(visit.client.read_resource("demo://nothing"))


async def prompt(visit: Visit) -> list[Any]:
    got = await visit.client.get_prompt("greet", {"name": "Ada", "tone": "loudly"})
    return [getattr(message.content, "text", None) for message in got.messages]


async def completion(visit: Visit) -> list[str]:
    reference = types.PromptReference(type="ref/prompt", name="greet")
    return (await visit.client.complete(reference, {"name": "name", "value": "al"})).completion.values


async def accepted(visit: Visit) -> Any:
    if "ask_form" not in visit.names:
        return None
    visit.person.action = "accept"
    return json.loads(await visit.call("ask_form", {"fields": "one"}))


async def declined(visit: Visit) -> Any:
    if "ask_form" not in visit.names:
        return None
    visit.person.action = "decline"
    return json.loads(await visit.call("ask_form", {"fields": "one"}))


async def sampled(visit: Visit) -> Any:
    return json.loads(await visit.call("ask_sampling"))


async def roots(visit: Visit) -> Any:
    return json.loads(await visit.call("ask_roots"))


async def list_changed(visit: Visit) -> list[str]:
    if visit.modern:
        async with visit.client.listen(tools_list_changed=True) as subscription:
            await visit.call("mutate")
            await anext(aiter(subscription))
    else:
        await visit.call("mutate")
        await visit.wait(lambda: "tools" in visit.told)
    listed = [tool.name for tool in await every_page(visit.client.list_tools, "tools")]
    return [name for name in listed if name not in visit.names]


async def updated(visit: Visit) -> str:
    if visit.modern:
        async with visit.client.listen(resource_subscriptions=[WATCHED]) as subscription:
            await visit.call("touch", {"uri": WATCHED})
            return str(getattr(await anext(aiter(subscription)), "uri", None))
    await visit.client.subscribe_resource(WATCHED)
    await visit.call("touch", {"uri": WATCHED})
    await visit.wait(lambda: WATCHED in visit.told)
    return WATCHED


async def unsubscribed(visit: Visit) -> str:
    if not visit.modern:
        await visit.client.unsubscribe_resource(WATCHED)
    # A modern stream is ended by hanging up, which the other side learns a moment later.
    said = ""
    while said != "nobody subscribed":
        said = await visit.call("touch", {"uri": WATCHED})
    return said


async def cancelled(visit: Visit) -> str:
    begun = anyio.Event()

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        begun.set()

    async def call_slow() -> None:
        await visit.call("slow", progress_callback=on_progress)

    async with anyio.create_task_group() as group:
        group.start_soon(call_slow)
        await begun.wait()
        group.cancel_scope.cancel()
    return await visit.call("await_cancels", {"count": 1})


async def together(visit: Visit) -> list[str]:
    labels: dict[str, str] = {}

    async def one(label: str) -> None:
        labels[label] = await visit.call("barrier", {"count": 2, "label": label})

    async with anyio.create_task_group() as group:
        group.start_soon(one, "a")
        group.start_soon(one, "b")
    return [labels["a"], labels["b"]]


async def ping(visit: Visit) -> bool | None:
    if visit.modern:
        return None
    await visit.client.send_ping()
    return True


STEPS: tuple[Callable[[Visit], Awaitable[Any]], ...] = (
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

"""A server whose handlers ask everything that can be asked, and a client's side that answers all of it."""

import json
from typing import Any

from pydantic import BaseModel

from dragoman import Context, Elicit, ElicitURL, Roots, Sample, Server

SERVER = Server("asking", "1")
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TOOL = {"name": "look", "inputSchema": {"type": "object"}}


class Who(BaseModel):
    name: str


@SERVER.tool()
async def form(context: Context) -> str:
    answer = await context.ask(Elicit("Who are you?", Who))
    return f"{answer!r} {answer.accepted}"


@SERVER.tool()
async def dictionary(context: Context) -> str:
    answer = await context.ask(Elicit("Who are you?", SCHEMA))
    return f"{answer!r}"


@SERVER.tool()
async def page(context: Context) -> str:
    answer = await context.ask(ElicitURL("Pay there", "https://example.com/pay"))
    return f"{answer!r} {answer.accepted}"


@SERVER.tool()
async def sample(context: Context) -> str:
    answer = await context.ask(Sample("Hello", 10, systemPrompt="Be brief."))
    return json.dumps(answer)


@SERVER.tool()
async def sample_with_tools(context: Context) -> str:
    answer = await context.ask(Sample([{"role": "user", "content": {"type": "text", "text": "Look"}}], 10, tools=[TOOL]))
    return json.dumps(answer)


@SERVER.tool()
async def roots(context: Context) -> str:
    return json.dumps(await context.ask(Roots()))


@SERVER.tool()
async def several(context: Context) -> str:
    who, where, first, second = await context.ask(Elicit("Who?", Who), Roots(), Sample("One", 1), Sample("Two", 2))
    return json.dumps([who.action, where, first["content"]["text"], second["content"]["text"]])


@SERVER.prompt()
async def greet(context: Context) -> str:
    answer = await context.ask(Elicit("Who are you?", Who))
    return f"Greet {answer.value.name if answer.value else 'nobody'}"


@SERVER.resource("card://me")
async def card(context: Context) -> str:
    answer = await context.ask(Elicit("Who are you?", Who))
    return answer.value.name if answer.value else "nobody"


class Peer:
    """What the client's user, model and roots say; it remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((method, params))
        if method == "roots/list":
            return {"roots": [{"uri": "file:///home", "name": "Home"}]}
        if method == "sampling/createMessage":
            return {"role": "assistant", "content": {"type": "text", "text": params["messages"][0]["content"]["text"]}, "model": "m"}
        return {"action": "accept"} if params.get("mode") == "url" else {"action": "accept", "content": {"name": "Ada"}}

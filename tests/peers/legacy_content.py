"""Resources, prompts and completion of the legacy server, with only the words of its revision."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from peer_wire import Call, JsonObject

if TYPE_CHECKING:
    from legacy_server import Server

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n not really a picture").decode()
SOUND = base64.b64encode(b"RIFF\x00\x00\x00\x00WAVE not really a sound").decode()
PAGE = 2
NAMES = ["alpha", "alphabet", "beta", "gamma"]


def resources(server: Server) -> list[JsonObject]:
    """All resources in their one order; ``title`` exists from 2025-06-18, ``icons`` from 2025-11-25."""
    listed: list[JsonObject] = [
        {"uri": "demo://text", "name": "text", "description": "Plain words", "mimeType": "text/plain"},
        {"uri": "demo://blob", "name": "blob", "mimeType": "application/octet-stream"},
        {"uri": "demo://asks", "name": "asks", "description": "Asks for the roots before it can be read"},
        {"uri": "demo://two", "name": "two", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"uri": "demo://watched", "name": "watched", "mimeType": "text/plain"},
    ]
    if server.has("2025-06-18"):
        listed[0]["title"] = "Text"
    if server.has("2025-11-25"):
        listed[0]["icons"] = [{"src": "https://example.test/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}]
    return listed


def resource_page(server: Server, cursor: Any) -> JsonObject | None:
    """One page of ``resources/list``; cursors are strings that only we can read. None for a cursor that is not ours."""
    starts = {None: 0} | {f"page@{at}": at for at in range(PAGE, len(resources(server)), PAGE)}
    if cursor not in starts:
        return None
    start = starts[cursor]
    page: JsonObject = {"resources": resources(server)[start : start + PAGE]}
    if start + PAGE < len(resources(server)):
        page["nextCursor"] = f"page@{start + PAGE}"
    return page


def templates(server: Server) -> list[JsonObject]:
    return [{"uriTemplate": "demo://item/{name}", "name": "item", "mimeType": "text/plain"}]


def read(server: Server, call: Call, uri: Any) -> list[JsonObject] | None:
    """The contents of ``uri`` or None. ``demo://asks`` asks the client for its roots first."""
    if uri == "demo://text":
        return [{"uri": uri, "mimeType": "text/plain", "text": "some text: é \u2028 done"}]
    if uri == "demo://blob":
        return [{"uri": uri, "mimeType": "application/octet-stream", "blob": base64.b64encode(bytes(range(256))).decode()}]
    if uri == "demo://two":
        return [{"uri": "demo://two/a", "text": "a"}, {"uri": "demo://two/b", "text": "b"}]
    if uri == "demo://watched":
        return [{"uri": uri, "text": f"version {server.counters.get(uri, 0)}"}]
    if uri == "demo://asks":
        answer = server.questions.ask(call, "roots/list")
        return [{"uri": uri, "text": f"roots: {len(answer.get('result', {}).get('roots', []))}"}]
    if isinstance(uri, str) and uri.startswith("demo://item/"):
        return [{"uri": uri, "mimeType": "text/plain", "text": f"item {uri.removeprefix('demo://item/')}"}]
    return None


def prompts(server: Server) -> list[JsonObject]:
    listed: list[JsonObject] = [
        {"name": "simple", "description": "One message"},
        {"name": "greet", "arguments": [{"name": "name", "required": True}, {"name": "tone", "description": "How"}]},
        {"name": "asking", "description": "Asks the model first"},
        {"name": "illustrated", "description": "Holds a picture and a resource"},
    ]
    if server.has("2025-06-18"):
        listed[1]["title"] = "Greeting"
    return listed


def prompt(server: Server, call: Call) -> JsonObject | str:
    """A prompt, or the message of an error."""
    name, arguments = call.params.get("name"), call.params.get("arguments", {})
    if name == "simple":
        return {"description": "One message", "messages": [said("Say something.")]}
    if name == "greet":
        if "name" not in arguments:
            return "Missing argument: name"
        return {"messages": [said(f"Greet {arguments['name']}, {arguments.get('tone', 'kindly')}."), said("Hello!", "assistant")]}
    if name == "asking":
        answer = server.questions.ask(call, "sampling/createMessage", sampling("Which words?"))
        return {"messages": [said(f"The model said: {answer.get('result', answer.get('error'))}")]}
    if name == "illustrated":
        picture = {"role": "user", "content": {"type": "image", "data": PIXEL, "mimeType": "image/png"}}
        holder = {"type": "resource", "resource": {"uri": "demo://text", "mimeType": "text/plain", "text": "inside"}}
        return {"messages": [picture, {"role": "user", "content": holder}]}
    return f"Unknown prompt: {name}"


def said(text: str, role: str = "user") -> JsonObject:
    return {"role": role, "content": {"type": "text", "text": text}}


def sampling(text: str) -> JsonObject:
    """Parameters of ``sampling/createMessage`` that every revision has."""
    return {"messages": [said(text)], "maxTokens": 64, "systemPrompt": "Be brief.", "modelPreferences": {"hints": [{"name": "small"}]}}


def completion(params: JsonObject) -> JsonObject:
    """Names that start with the value; with a context (2025-06-18) the context's names come as a prefix."""
    value = params.get("argument", {}).get("value", "")
    prefix = "-".join(params.get("context", {}).get("arguments", {}).values())
    values = [f"{prefix}-{name}" if prefix else name for name in NAMES if name.startswith(value)]
    return {"values": values, "total": len(values), "hasMore": False}

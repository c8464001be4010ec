"""The tools of the legacy server. Each is one function; ``TOOLS`` says since which revision it exists.

Tools that test timing never sleep: ``slow`` waits for ``release`` or a cancellation, ``barrier`` for its siblings, ``await_cancels`` for
cancellations, so that a test which passes has proved the order of events.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from legacy_content import PIXEL, SOUND, sampling
from peer_wire import Call, Gone, JsonObject, Refused

if TYPE_CHECKING:
    from legacy_server import Server

Tool = Callable[["Server", Call], JsonObject]


def args(call: Call) -> JsonObject:
    found: JsonObject = call.params.get("arguments") or {}
    return found


def text(value: Any, **members: Any) -> JsonObject:
    """A result of one text block; anything that is no string is told as JSON."""
    words = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return {"content": [{"type": "text", "text": words}], **members}


def echo(server: Server, call: Call) -> JsonObject:
    return text(args(call).get("text", args(call)))


def add(server: Server, call: Call) -> JsonObject:
    return text(args(call)["a"] + args(call)["b"])


def show_meta(server: Server, call: Call) -> JsonObject:
    """The request's ``_meta`` as this server saw it."""
    return text(call.params.get("_meta", {}))


def whoami(server: Server, call: Call) -> JsonObject:
    """What the client said of itself in ``initialize``."""
    return text(server.client)


def slow(server: Server, call: Call) -> JsonObject:
    """Wait until released or cancelled; with a token, progress 1 says that the wait has begun."""
    server.bump("slow")
    if call.token is not None:
        server.wire.notify("notifications/progress", {"progressToken": call.token, "progress": 1})
    with server.changed:
        server.changed.wait_for(lambda: call.cancelled or server.counters.get("released", 0) > 0)
        if call.cancelled:
            raise Gone
        server.counters["released"] -= 1
    return text("released")


def release(server: Server, call: Call) -> JsonObject:
    """Let one ``slow`` call go, after as many as ``count`` (default 1) have begun."""
    with server.changed:
        server.changed.wait_for(lambda: call.cancelled or server.counters.get("slow", 0) >= args(call).get("count", 1))
    server.bump("released")
    return text("done")


def barrier(server: Server, call: Call) -> JsonObject:
    """Return once ``count`` calls are in here together: proof that they really run at the same time."""
    arrived = server.bump("barrier")
    with server.changed:
        server.changed.wait_for(lambda: call.cancelled or server.counters["barrier"] >= args(call)["count"])
    return text(f"{args(call).get('label', arrived)}")


def await_cancels(server: Server, call: Call) -> JsonObject:
    """Return once ``count`` calls have been cancelled."""
    with server.changed:
        server.changed.wait_for(lambda: call.cancelled or len(server.cancelled) >= args(call).get("count", 1))
    return text(f"{len(server.cancelled)} cancelled")


def progress(server: Server, call: Call) -> JsonObject:
    """0, 50, 100 with the caller's token; ``message`` exists from 2025-03-26."""
    for value in (0, 50, 100) if call.token is not None else ():
        params: JsonObject = {"progressToken": call.token, "progress": value, "total": 100}
        if server.has("2025-03-26"):
            params["message"] = f"at {value}"
        server.wire.notify("notifications/progress", params)
    return text("progressed")


def log(server: Server, call: Call) -> JsonObject:
    """One message of each level, of which those below the level asked for are kept back."""
    for level in ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"):
        server.log(level, {"said": level})
    return text(f"logged at {server.level}")


FORM_ONE: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def form(server: Server, fields: str) -> JsonObject:
    """A form of one field, or of every primitive the revision has (client/elicitation page)."""
    if fields == "one":
        return FORM_ONE
    color: JsonObject = {"type": "string", "enum": ["red", "green"], "enumNames": ["Red", "Green"]}
    properties: JsonObject = {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40},
        "email": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "score": {"type": "number", "minimum": 0.5},
        "agree": {"type": "boolean", "default": True},
        "color": color,
    }
    if server.has("2025-11-25"):
        properties["size"] = {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]}
        properties["tags"] = {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "minItems": 1}
        properties["score"]["default"] = 1.5
    return {"type": "object", "properties": properties, "required": ["name", "age"]}


def told(answer: JsonObject) -> Any:
    """The result of an answer, or its error."""
    return answer.get("result", {"error": answer.get("error")})


def lacks(server: Server, call: Call, *capability: str) -> JsonObject | None:
    """An ``isError`` result when the client did not declare the capability, unless the caller wants a server that asks anyway."""
    if server.client_can(*capability) or args(call).get("anyway"):
        return None
    return text(f"the client did not declare {'.'.join(capability)}", isError=True)


def outcome(answer: JsonObject) -> JsonObject:
    """A question that failed makes the tool fail."""
    return text(told(answer), isError=True) if "error" in answer else text(told(answer))


def ask_form(server: Server, call: Call) -> JsonObject:
    params: JsonObject = {"message": "Please fill in", "requestedSchema": form(server, args(call).get("fields", "many"))}
    if server.has("2025-11-25") and args(call).get("mode"):
        params["mode"] = "form"
    return lacks(server, call, "elicitation", "form") or outcome(server.questions.ask(call, "elicitation/create", params))


def url_params(server: Server, message: str) -> JsonObject:
    number = server.bump("elicitations")
    return {"mode": "url", "message": message, "url": f"https://example.test/sign-in/{number}", "elicitationId": f"el-{number}"}


def ask_url(server: Server, call: Call) -> JsonObject:
    """URL mode (2025-11-25): accepted means that the page was opened; completion is told by a notification."""
    refusal = lacks(server, call, "elicitation", "url")
    if refusal is not None:
        return refusal
    params = url_params(server, "Sign in")
    answer = server.questions.ask(call, "elicitation/create", params)
    if told(answer).get("action") == "accept":
        server.wire.notify("notifications/elicitation/complete", {"elicitationId": params["elicitationId"]})
    return outcome(answer)


def need_url(server: Server, call: Call) -> JsonObject:
    """The first call fails with -32042 (2025-11-25, client/elicitation#url-elicitation-required-error); later ones succeed."""
    if server.counters.get("signed in"):
        return text("signed in")
    server.bump("signed in")
    raise Refused(-32042, "Sign in first", {"elicitations": [url_params(server, "Sign in first")]})


def ask_sampling(server: Server, call: Call) -> JsonObject:
    params = sampling(args(call).get("text", "What next?"))
    return lacks(server, call, "sampling") or outcome(server.questions.ask(call, "sampling/createMessage", params))


def ask_roots(server: Server, call: Call) -> JsonObject:
    return lacks(server, call, "roots") or outcome(server.questions.ask(call, "roots/list"))


def ask_three(server: Server, call: Call) -> JsonObject:
    """Three questions at once; before 2025-06-18 there are no forms, so a second sampling takes that place."""
    first = ("elicitation/create", {"message": "Who?", "requestedSchema": FORM_ONE})
    if not server.has("2025-06-18"):
        first = ("sampling/createMessage", sampling("Who?"))
    questions = [first, ("sampling/createMessage", sampling("What?")), ("roots/list", None)]
    begun = [server.questions.begin(method, params) for method, params in questions]
    return text([told(server.questions.wait(question, call)) for question in begun])


def ask_twice(server: Server, call: Call) -> JsonObject:
    return ask_many(server, call, 2)


def ask_many(server: Server, call: Call, rounds: int | None = None) -> JsonObject:
    """Ask ``rounds`` times, each after the answer before; forms where the revision has them, else sampling."""
    said: list[Any] = []
    for number in range(rounds or args(call).get("rounds", 3)):
        if server.has("2025-06-18"):
            params: JsonObject = {"message": f"Question {number + 1}", "requestedSchema": FORM_ONE}
            answer = server.questions.ask(call, "elicitation/create", params)
        else:
            answer = server.questions.ask(call, "sampling/createMessage", sampling(f"Question {number + 1}"))
        said.append(told(answer))
    return text(said)


def ask_then_progress(server: Server, call: Call) -> JsonObject:
    """Progress before and after a question: one token spans the rounds of a legacy call."""
    for before in (1, 2):
        server.wire.notify("notifications/progress", {"progressToken": call.token, "progress": before})
    answer = server.questions.ask(call, "sampling/createMessage", sampling("Go on?"))
    server.wire.notify("notifications/progress", {"progressToken": call.token, "progress": 3})
    return outcome(answer)


def ping_client(server: Server, call: Call) -> JsonObject:
    return text(told(server.questions.ask(call, "ping")))


def vendor_question(server: Server, call: Call) -> JsonObject:
    """A request no revision has: the answer must be -32601."""
    return text(told(server.questions.ask(call, "vendor/question", {"x": 1})))


def start_answer(server: Server, call: Call) -> JsonObject:
    """What the client said to the question of ``--ask-on-start``."""
    with server.changed:
        server.changed.wait_for(lambda: call.cancelled or server.start_answer is not None)
    return text(told(server.start_answer or {}))


def image(server: Server, call: Call) -> JsonObject:
    return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}


def audio(server: Server, call: Call) -> JsonObject:
    return {"content": [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]}


def embedded(server: Server, call: Call) -> JsonObject:
    inside = [{"uri": "demo://text", "mimeType": "text/plain", "text": "inside"}, {"uri": "demo://blob", "blob": PIXEL}]
    return {"content": [{"type": "resource", "resource": each} for each in inside]}


def link(server: Server, call: Call) -> JsonObject:
    return {"content": [{"type": "resource_link", "uri": "demo://text", "name": "text", "description": "Plain words"}]}


def mixed(server: Server, call: Call) -> JsonObject:
    """Every block the revision has, in one result."""
    parts = [text("words"), image(server, call), embedded(server, call)]
    parts += [audio(server, call)] if server.has("2025-03-26") else []
    parts += [link(server, call)] if server.has("2025-06-18") else []
    return {"content": [block for part in parts for block in part["content"]]}


def structured(server: Server, call: Call) -> JsonObject:
    value = {"temperature": 22.5, "conditions": "cloudy"}
    return text(value, structuredContent=value)


def fails(server: Server, call: Call) -> JsonObject:
    return text("it did not work", isError=True)


def crash(server: Server, call: Call) -> JsonObject:
    server.wire.leave(3, "crashing as asked")


def mutate(server: Server, call: Call) -> JsonObject:
    """Add a tool (``kind`` tools, the default) and say that a list has changed."""
    kind = args(call).get("kind", "tools")
    if kind == "tools":
        server.extra_tools += 1
    server.wire.notify(f"notifications/{kind}/list_changed")
    return text(f"{kind} changed")


def touch(server: Server, call: Call) -> JsonObject:
    """Change a resource and tell subscribers, also when the subscription names a parent of it."""
    uri = args(call)["uri"]
    server.bump(uri)
    if not any(uri == each or uri.startswith(each + "/") for each in server.subscribed):
        return text("nobody subscribed")
    server.wire.notify("notifications/resources/updated", {"uri": uri})
    return text("subscribers told")


def subscriptions(server: Server, call: Call) -> JsonObject:
    return text(sorted(server.subscribed))


def big(server: Server, call: Call) -> JsonObject:
    return text("x" * args(call)["size"])


def numbers(server: Server, call: Call) -> JsonObject:
    """Numbers that a careless decoder changes, written as bytes: they must arrive digit by digit (2025-06-18 shape)."""
    body = '{"huge":1e400,"minus":-0.0,"cents":1.10,"big":123456789012345678901234567890}'
    head = json.dumps({"jsonrpc": "2.0", "id": call.id})[:-1]
    server.wire.send_bytes(f'{head},"result":{{"content":[{{"type":"text","text":"numbers"}}],"structuredContent":{body}}}}}\n'.encode())
    raise Gone


def exit_now(server: Server, call: Call) -> JsonObject:
    """Exit without a word, status 0, as a server does that was told to stop."""
    os._exit(0)


ANY: JsonObject = {"type": "object"}
ADD: JsonObject = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
WEATHER: JsonObject = {
    "type": "object",
    "properties": {"temperature": {"type": "number"}, "conditions": {"type": "string"}},
    "required": ["temperature", "conditions"],
}
OLDEST, FORMS, LATEST = "2024-11-05", "2025-06-18", "2025-11-25"

TOOLS: dict[str, tuple[str, Tool]] = {
    "echo": (OLDEST, echo),
    "add": (OLDEST, add),
    "show_meta": (OLDEST, show_meta),
    "whoami": (OLDEST, whoami),
    "slow": (OLDEST, slow),
    "release": (OLDEST, release),
    "barrier": (OLDEST, barrier),
    "await_cancels": (OLDEST, await_cancels),
    "progress": (OLDEST, progress),
    "log": (OLDEST, log),
    "ask_form": (FORMS, ask_form),
    "ask_url": (LATEST, ask_url),
    "need_url": (LATEST, need_url),
    "ask_sampling": (OLDEST, ask_sampling),
    "ask_roots": (OLDEST, ask_roots),
    "ask_three": (OLDEST, ask_three),
    "ask_twice": (OLDEST, ask_twice),
    "ask_many": (OLDEST, ask_many),
    "ask_then_progress": (OLDEST, ask_then_progress),
    "ping_client": (OLDEST, ping_client),
    "vendor_question": (OLDEST, vendor_question),
    "start_answer": (OLDEST, start_answer),
    "image": (OLDEST, image),
    "audio": ("2025-03-26", audio),
    "embedded": (OLDEST, embedded),
    "link": (FORMS, link),
    "mixed": (OLDEST, mixed),
    "structured": (FORMS, structured),
    "numbers": (FORMS, numbers),
    "fails": (OLDEST, fails),
    "crash": (OLDEST, crash),
    "exit_now": (OLDEST, exit_now),
    "mutate": (OLDEST, mutate),
    "touch": (OLDEST, touch),
    "subscriptions": (OLDEST, subscriptions),
    "big": (OLDEST, big),
}


def find(server: Server, name: Any) -> Tool | None:
    """The tool of that name in this revision; the tools that ``mutate`` has added answer like ``echo``."""
    if name in [f"extra-{number + 1}" for number in range(server.extra_tools)]:
        return echo
    since, tool = TOOLS.get(name, (None, None))
    return tool if since is not None and server.has(since) else None


def listed(server: Server) -> list[JsonObject]:
    """``tools/list`` in the words of the revision: annotations from 2025-03-26, titles and output schemas from 2025-06-18 …"""
    names = [name for name, (since, _) in TOOLS.items() if server.has(since)]
    names += [f"extra-{number + 1}" for number in range(server.extra_tools)]
    return [describe(server, name) for name in names]


def describe(server: Server, name: str) -> JsonObject:
    tool: JsonObject = {"name": name, "description": f"The tool {name}", "inputSchema": ADD if name == "add" else ANY}
    if server.has("2025-03-26") and name in ("echo", "add"):
        tool["annotations"] = {"title": name.title(), "readOnlyHint": True, "idempotentHint": True}
    if server.has(FORMS):
        tool["title"] = name.replace("_", " ").title()
        if name == "structured":
            tool["outputSchema"] = WEATHER
    if server.has(LATEST):
        tool["icons"] = [{"src": "https://example.test/tool.png"}]
        tool["execution"] = {"taskSupport": "forbidden"}
    return tool

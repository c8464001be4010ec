"""A legacy stdio server (2025-06-18) for the field cases: ``small_server.py SEEN QUIRK``.

Every line that reaches it is appended to the file SEEN as ``{"pid": …, "line": …}`` before anything is done about it, so a test that has
got an answer finds there what each process was shown. QUIRK is the one thing that is odd about it; its tools do what a test needs.
Standard library only, and nothing heavy: it is started two or three times a test.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
SEEN, QUIRK = sys.argv[1:3]
INITIALIZED: list[bool] = []
COUNT: list[int] = []
INFO = {"name": "small", "version": "1"}
CAPABILITIES: Json = {"tools": {"listChanged": True} if QUIRK == "changes" else {}}
HELD: list[Any] = []
ASKED: dict[str, Any] = {}
NUMBERS = itertools.count(1)


def write(data: bytes) -> None:
    os.write(1, data)


def send(frame: Json) -> None:
    end = b"\r\n" if QUIRK == "crlf" else b"\n"
    write(json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False).encode() + end)


def refuse(request: Any, code: int, message: str, **data: Any) -> bool:
    send({"id": request, "error": {"code": code, "message": message, **({"data": data} if data else {})}})
    return True


def remember(entry: Json) -> None:
    fd = os.open(SEEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, json.dumps({"pid": os.getpid(), **entry}).encode() + b"\n")
    os.close(fd)


# -- what is odd; True: nothing more is to be done ---------------------------------------------------------------------


def silent(frame: Json) -> bool:
    """Methods that it does not know get no answer at all."""
    return frame.get("method") not in ("initialize", "tools/list", "tools/call")


def silent_with_meta(frame: Json) -> bool:
    """A bare server/discover is refused, one with ``_meta`` is not answered."""
    return "_meta" in frame.get("params", {})


def exits(frame: Json) -> bool:
    if frame.get("method") == "server/discover":
        sys.stderr.write("expected initialize\n")
        sys.stderr.flush()
        os._exit(1)
    return False


def leaves_holder(frame: Json) -> bool:
    """Exits on the probe; a process that it has started holds its pipes."""
    if frame.get("method") == "server/discover":
        remember({"holder": subprocess.Popen(["sleep", "1000"]).pid})
        os._exit(0)
    return False


def initialize_first(frame: Json) -> bool:
    if INITIALIZED or frame.get("method") == "initialize":
        return False
    return refuse(frame.get("id"), -32602, "not before initialize")


def on_discover(answer: Callable[[Any], bool]) -> Callable[[Json], bool]:
    return lambda frame: frame.get("method") == "server/discover" and answer(frame["id"])


def discovers(result: Any) -> Callable[[Json], bool]:
    def answer(request: Any) -> bool:
        send({"id": request, "result": result})
        return True

    return on_discover(answer)


QUIRKS: dict[str, Callable[[Json], bool]] = {
    "silent": silent,
    "silent-with-meta": silent_with_meta,
    "exits": exits,
    "leaves-holder": leaves_holder,
    "initialize-first": initialize_first,
    "implementation-code": on_discover(lambda request: refuse(None, -32000, "revision 2026-07-28 is not supported")),
    "invalid-request": on_discover(lambda request: refuse(request, -32600, "no session given")),
    "only-legacy": on_discover(
        lambda request: refuse(
            request, -32022, "Unsupported protocol version", supported=["2025-11-25", "2025-06-18"], requested="2026-07-28"
        )
    ),
    "discovers-legacy": discovers(
        {"resultType": "complete", "supportedVersions": ["2025-11-25"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"}
    ),
    "discovers-nothing": discovers({}),
    "discovers-no-versions": discovers({"capabilities": {"tools": {}}, "_meta": {"io.modelcontextprotocol/serverInfo": {}}}),
}


# -- the tools ---------------------------------------------------------------------------------------------------------


def call(request: Any, name: str, arguments: Json, token: Any) -> None:
    if name == "hang":
        return
    if name == "ask":
        ask(request)
        return
    if name == "steps":
        for step in (1, 2):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "message": arguments["text"]}})
    if name == "hold":
        HELD.append(request)
        if len(HELD) == 2:
            sys.stderr.write("two are too many\n")
            sys.stderr.flush()
            os._exit(3)
        return
    send({"id": request, "result": {"content": [{"type": "text", "text": TOOLS[name](arguments)}]}})


def ask(request: Any) -> None:
    """A question; what the client says to it becomes the answer of the call."""
    question = f"ask-{next(NUMBERS)}"
    ASKED[question] = request
    form = {"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]}
    send({"id": question, "method": "elicitation/create", "params": {"message": "Where?", "requestedSchema": form}})


def told(question: Any, said: Any) -> None:
    """The client's words to a question, as they came."""
    request = ASKED.pop(question, None)
    if request is not None:
        send({"id": request, "result": {"content": [{"type": "text", "text": json.dumps(said)}]}})


def change(arguments: Json) -> str:
    """Says that the list of tools has changed."""
    send({"method": "notifications/tools/list_changed"})
    return "changed"


def noisy(arguments: Json) -> str:
    for _ in range(16):
        os.write(2, b"noise " * 10_922 + b"\n")
    return "done"


def family(arguments: Json) -> str:
    return f"{os.getpid()} {subprocess.Popen(['sleep', '1000']).pid}"


def count(arguments: Json) -> str:
    COUNT.append(1)
    return str(len(COUNT))


TOOLS: dict[str, Callable[[Json], str]] = {
    "echo": lambda arguments: str(arguments.get("text", "")),
    "points": lambda arguments: " ".join(f"{ord(character):x}" for character in arguments["text"]),
    "pid": lambda arguments: str(os.getpid()),
    "count": count,
    "noisy": noisy,
    "family": family,
    "change": change,
    "steps": lambda arguments: str(arguments["text"]),
    "locate": json.dumps,
    "=?base64?dA==?=": lambda arguments: "a name like a mark",
    "\u691c\u7d22": lambda arguments: "a name in Japanese",
}
REGION: Json = {"type": "string", "x-mcp-header": "Region"}
COUNTED: Json = {"type": "integer", "x-mcp-header": "Count"}
SCHEMAS: dict[str, Json] = {
    "locate": {"type": "object", "properties": {"region": REGION, "deep": {"type": "object", "properties": {"count": COUNTED}}}},
}
if QUIRK == "wrong-annotation":
    SCHEMAS["echo"] = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "not a token"}}}


def described(name: str) -> Json:
    return {"name": name, "inputSchema": SCHEMAS.get(name, {"type": "object"})}


def listed(cursor: str | None) -> Json:
    """All tools; with the quirk "pages" two a page, so that there are cursors."""
    tools = [described(name) for name in TOOLS]
    if QUIRK != "pages":
        return {"tools": tools}
    at = int(cursor or 0)
    return {"tools": tools[at : at + 2], **({"nextCursor": str(at + 2)} if at + 2 < len(tools) else {})}


def revision(initialize: Json) -> str:
    """2025-06-18; with the quirk "any-revision" what the client asks for."""
    return str(initialize["params"]["protocolVersion"]) if QUIRK == "any-revision" else "2025-06-18"


def take(frame: Json) -> None:
    method, request = frame.get("method"), frame.get("id")
    if method is None:
        told(request, frame.get("result", frame.get("error")))
        return
    if (QUIRK in QUIRKS and QUIRKS[QUIRK](frame)) or request is None:
        return
    if method == "initialize":
        INITIALIZED.append(True)
        send({"id": request, "result": {"protocolVersion": revision(frame), "capabilities": CAPABILITIES, "serverInfo": INFO}})
    elif method == "tools/list":
        send({"id": request, "result": listed(frame.get("params", {}).get("cursor"))})
    elif method == "tools/call":
        params = frame["params"]
        call(request, params["name"], params.get("arguments", {}), params.get("_meta", {}).get("progressToken"))
    elif method == "ping":
        send({"id": request, "result": {}})
    elif method == "resources/read":
        refuse(request, -32002, "Resource not found", uri=frame["params"]["uri"])
    else:
        refuse(request, -32601, "Method not found")


def lines() -> Iterator[bytes]:
    """Bytes as they come; with the quirk "text" what the interpreter's stdin makes of them."""
    if QUIRK == "text":
        for line in sys.stdin:
            yield line.encode("utf-8", "surrogateescape")
    else:
        yield from sys.stdin.buffer


def main() -> None:
    if QUIRK == "gate":
        with open(SEEN + ".gate", "rb"):  # noqa: PTH123 - waits until the test opens the other end
            pass
    if QUIRK == "banner":
        write(b"Small Server v1.0 ready\n")
    if QUIRK in ("stubborn", "spins"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in lines():
        remember({"line": line.decode("utf-8", "surrogateescape")})
        take(json.loads(line))
    while QUIRK == "stubborn":
        signal.pause()
    while QUIRK == "spins":
        sys.stdin.buffer.readline()


if __name__ == "__main__":
    main()

"""A plain host of 2025-11-25: it starts ``dragoman wrap URL`` as its server, and does what every host does. No protocol work is here.

    python client_stdio.py [OPTIONS OF dragoman wrap] URL

Theory of operation: it shakes hands, lists the tools, and calls each of them, all calls at once before it reads an answer, so that a
question of one call is open while the others run. A question is answered as a user would who only presses "accept": a form with its
defaults, a sampling with one sentence, roots with one folder. "The user's browser" is ``client_browser.py``, and each start has tokens of
its own: what one has logged in to, the next one must not know. At the end it closes its server's stdin and waits for the end.

The suite starts it with the URL as last argument; the scenario's name and its data, such as the calls to make, are in the environment.
Every frame is told on stdout, as a transcript; what dragoman says comes out on stderr. The exit status is 0 if every request was
answered with a result and dragoman ended in order.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

JsonObject = dict[str, Any]

PATIENCE = 25
"""Seconds for everything: the suite gives a client 30."""
CAPABILITIES = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "clientInfo": {"name": "plain-host", "version": "1.0.0"}}
EXAMPLES: JsonObject = {"string": "a word", "integer": 3, "number": 2.5, "boolean": True, "array": [], "object": {}, "null": None}
SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: JsonObject = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
BROWSER = f"{sys.executable} {Path(__file__).with_name('client_browser.py')} %s"
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""Where this host's own metadata would be, for authorization servers that read such; the suite wants this one."""
LISTS_ONLY = {"json-schema-ref-no-deref"}
"""Their servers know no other method."""


def example(schema: JsonObject) -> Any:
    """What a user leaves in a field that has been filled in for him, or a value of its type."""
    if "default" in schema:
        return schema["default"]
    choices = schema.get("enum") or [choice["const"] for choice in schema.get("oneOf", ()) if "const" in choice]
    return choices[0] if choices else EXAMPLES.get(schema.get("type", "string"))


def filled_in(schema: JsonObject) -> JsonObject:
    return {name: example(field) for name, field in schema.get("properties", {}).items()}


def answer_to(method: str, params: JsonObject) -> JsonObject | None:
    """The result of a question of the server, ``None`` where this host does not know it."""
    if method == "elicitation/create":
        return {"action": "accept", "content": filled_in(params.get("requestedSchema", {}))}
    if method == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "A sentence."}, "model": "no-model", "stopReason": "endTurn"}
    if method == "roots/list":
        return {"roots": [{"uri": "file:///home/somebody", "name": "home"}]}
    return {} if method == "ping" else None


class Host:
    """The host's end of the pipe to its server."""

    def __init__(self, command: list[str]) -> None:
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._last_id = 0
        self.errors = 0

    def send(self, **message: Any) -> None:
        assert self._server.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        print(f"host > {line}", flush=True)
        self._server.stdin.write(f"{line}\n")
        self._server.stdin.flush()

    def ask(self, method: str, params: JsonObject) -> JsonObject:
        """One request; the answer is its result, which is empty where there was an error instead."""
        return self.ask_all([(method, params)])[0]

    def ask_all(self, requests: list[tuple[str, JsonObject]]) -> list[JsonObject]:
        """All requests at once; the answer is their results, as soon as the last one came."""
        results: dict[int, JsonObject] = {}
        first = self._last_id + 1
        for method, params in requests:
            self._last_id += 1
            self.send(id=self._last_id, method=method, params=params)
        while len(results) < len(requests):
            message = self._read()
            if "method" in message:
                self._hear(message)
            elif "error" in message:
                self.errors += 1
                results[message["id"]] = {}
            else:
                results[message["id"]] = message["result"]
        return [results[one] for one in range(first, self._last_id + 1)]

    def _read(self) -> JsonObject:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            sys.exit("the server has closed its stdout")
        print(f"host < {line}", end="", flush=True)
        message: JsonObject = json.loads(line)
        return message

    def _hear(self, message: JsonObject) -> None:
        if "id" not in message:
            return
        result = answer_to(message["method"], message.get("params", {}))
        if result is None:
            self.send(id=message["id"], error={"code": -32601, "message": f"no such method: {message['method']}"})
        else:
            self.send(id=message["id"], result=result)

    def abort(self) -> None:
        """End the server at once; Python's fault handler then writes on stderr what its threads were at."""
        self._server.send_signal(signal.SIGABRT)
        self._server.wait()

    def leave(self) -> int:
        """Close the server's stdin; the answer is its exit status."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        return self._server.wait()


def calls(tools: list[JsonObject]) -> list[tuple[str, JsonObject]]:
    """The calls to make: those that the scenario prescribes, else one of each tool."""
    if "toolCalls" in CONTEXT:
        return [("tools/call", call) for call in CONTEXT["toolCalls"]]
    if SCENARIO in LISTS_ONLY:
        return []
    arguments = {tool["name"]: filled_in(tool["inputSchema"]) for tool in tools}
    if "json_schema_echo" in arguments:
        # It tells the suite how a schema arrives at the host.
        schemas = [tool["inputSchema"] for tool in tools if tool["name"] != "json_schema_echo"]
        arguments["json_schema_echo"] = {"schema": schemas[0]}
    return [("tools/call", {"name": name, "arguments": given}) for name, given in arguments.items()]


def reads(host: Host, capabilities: JsonObject) -> list[tuple[str, JsonObject]]:
    """Read what else the server says it has: every resource and every prompt."""
    requests: list[tuple[str, JsonObject]] = []
    if "resources" in capabilities:
        requests += [("resources/read", {"uri": one["uri"]}) for one in host.ask("resources/list", {}).get("resources", ())]
    if "prompts" in capabilities:
        for prompt in host.ask("prompts/list", {}).get("prompts", ()):
            arguments = {one["name"]: EXAMPLES["string"] for one in prompt.get("arguments", ())}
            requests.append(("prompts/get", {"name": prompt["name"], "arguments": arguments}))
    return requests


def identity(folder: Path) -> list[str]:
    """Who this host is to the authorization server, where the scenario says so. A secret is not for the command line."""
    if SCENARIO == "auth/basic-cimd":
        return ["--client-metadata-url", DOCUMENT]
    if "client_id" not in CONTEXT:
        return []
    options = ["--client-id", CONTEXT["client_id"]]
    if SCENARIO.startswith("auth/client-credentials"):
        options += ["--grant", "client_credentials"]
    if "client_secret" in CONTEXT:
        os.environ["HOST_CLIENT_SECRET"] = CONTEXT["client_secret"]
        options += ["--client-secret-env", "HOST_CLIENT_SECRET"]
    if "private_key_pem" in CONTEXT:
        key = folder / "key.pem"
        key.write_text(CONTEXT["private_key_pem"], "ascii")
        options += ["--client-auth", "private_key_jwt", "--private-key-file", str(key)]
    return options


def limit_time(host: Host) -> None:
    """Give up in good time, and let dragoman say where it stood."""

    def too_long(*_: object) -> NoReturn:
        host.abort()
        sys.exit(f"not done after {PATIENCE} seconds")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(PATIENCE)


def converse(host: Host) -> bool:
    """Everything that the host has to say; whether the server shook hands."""
    hello = host.ask("initialize", HELLO)
    if hello:
        host.send(method="notifications/initialized")
        tools = host.ask("tools/list", {}).get("tools", [])
        host.ask_all(calls(tools) + reads(host, hello["capabilities"]))
    return bool(hello)


def main(arguments: list[str]) -> int:
    *options, url = arguments
    os.environ |= {"BROWSER": BROWSER, "PYTHONFAULTHANDLER": "1"}
    with tempfile.TemporaryDirectory() as folder:
        login = ["--token-dir", folder, "--login-timeout", "15", *identity(Path(folder))]
        host = Host([sys.executable, "-m", "dragoman", "wrap", *login, *options, url])
        limit_time(host)
        was_welcome = converse(host)
        status = host.leave()
    return 0 if was_welcome and not host.errors and not status else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

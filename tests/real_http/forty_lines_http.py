"""The client everybody writes first, for HTTP: no version of its own, waits for its ids only, and never answers anything."""

import json
import sys
import urllib.request


class Client:
    def __init__(self, url):
        self.url, self.last = url, 0
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        answer = urllib.request.urlopen(urllib.request.Request(self.url, body, self.headers), timeout=30)
        if "Mcp-Session-Id" in answer.headers:
            self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        return answer

    def ask(self, method, **params):
        self.last += 1
        message = {}
        with self.send(id=self.last, method=method, params=params) as answer:
            while message.get("id") != self.last or "method" in message:
                line = answer.readline().removeprefix(b"data: ")
                message = json.loads(line) if line.startswith(b"{") else message
        return message.get("result", message.get("error"))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)


revision, capabilities, url = sys.argv[1:]
client = Client(url)
hello = {"protocolVersion": revision, "capabilities": json.loads(capabilities), "clientInfo": {"name": "forty-lines"}}
report = {"initialize": client.ask("initialize", **hello)}
client.send(method="notifications/initialized").close()
report["tools"] = [tool["name"] for tool in client.ask("tools/list")["tools"]]
report |= {"echo": client.call("echo", text="grüße"), "whoami": client.call("whoami"), "asked": client.call("ask_form", fields="one")}
print(json.dumps(report | {"read": client.ask("resources/read", uri="demo://text"), "ping": client.ask("ping")}))

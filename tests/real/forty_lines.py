"""The client everybody writes first, for stdio: no version of its own, waits for its ids only, and never answers anything."""

import json
import subprocess
import sys


class Client:
    def __init__(self, command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.last = 0

    def send(self, **message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def ask(self, method, **params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        message = {}
        while message.get("id") != self.last or "method" in message:
            message = json.loads(self.server.stdout.readline())
        return message.get("result", message.get("error"))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)


revision, capabilities, *command = sys.argv[1:]
client = Client(command)
hello = {"protocolVersion": revision, "capabilities": json.loads(capabilities), "clientInfo": {"name": "forty-lines"}}
report = {"initialize": client.ask("initialize", **hello)}
client.send(method="notifications/initialized")
report["tools"] = [tool["name"] for tool in client.ask("tools/list")["tools"]]
report |= {"echo": client.call("echo", text="grüße"), "whoami": client.call("whoami"), "asked": client.call("ask_form", fields="one")}
report |= {"read": client.ask("resources/read", uri="demo://text"), "ping": client.ask("ping")}
client.server.stdin.close()
print(json.dumps(report | {"status": client.server.wait()}))

"""Small clients of every revision, in the words of that revision alone: over stdio, Streamable HTTP, and HTTP+SSE for 2024-11-05.

They stand beside the official client because that speaks two revisions only. Every frame of both sides is judged: the client's own must be
ones that a server of the revision may get, the server's ones that a client of it may get.
"""

from __future__ import annotations

import http.client
import json
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

from faces import ClientFace
from oracle import JsonObject, Oracle

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
CLIENT = {"name": "raw", "version": "1"}
LIMIT = 15.0
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN)
WAYS = [f"{transport} {revision}" for transport in ("stdio", "http") for revision in REVISIONS] + ["sse 2024-11-05"]
WITH_ELICITATION = [way for way in WAYS if way.split()[1] >= "2025-06-18"]
WITHOUT_ELICITATION = [way for way in WAYS if way.split()[1] < "2025-06-18"]
Answer = Callable[[str, JsonObject], JsonObject]


class Peer:
    """What the clients have in common. ``answer`` answers the server's questions, ``asked`` and ``told`` keep what the server has said."""

    def __init__(self, oracle: Oracle, revision: str) -> None:
        self.oracle = oracle
        self.revision = revision
        self.is_modern = revision == MODERN
        self.capabilities: JsonObject = {"elicitation": {}} if revision >= "2025-06-18" else {}
        self.answer: Answer = unexpected
        self.asked: list[tuple[str, JsonObject]] = []
        self.told: list[JsonObject] = []
        self.server: JsonObject = {}
        self.status: int | None = None
        self._number = 0
        self._face = ClientFace(oracle)

    # -- what each transport does in its own way

    def exchange(self, frame: JsonObject) -> JsonObject:
        """Send a request, take what comes before its response, and give that."""
        raise NotImplementedError

    def say(self, frame: JsonObject) -> None:
        """Send what is not answered."""
        raise NotImplementedError

    def hear(self) -> None:
        """Take one more message of those that come unasked."""
        raise NotImplementedError

    def subscribed(self, uri: str) -> Any:
        """A context in which the client hears of changes of a resource."""
        raise NotImplementedError

    # -- what they all do

    def handshake(self) -> None:
        """The legacy beginning; a modern client has none."""
        if self.is_modern:
            return
        params = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": CLIENT}
        self.server = self.result("initialize", params)
        assert self.server["protocolVersion"] == self.revision
        self.say(self.judged({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def request(self, method: str, params: JsonObject | None = None) -> JsonObject:
        """The response. A modern one that wants input is answered, and the request sent again."""
        given = dict(params or {})
        while True:
            response = self.exchange(self.made(method, given))
            result = response.get("result", {})
            if result.get("resultType") != "input_required":
                return response
            answers = {name: self.asks(each["method"], each["params"]) for name, each in result["inputRequests"].items()}
            given = {**(params or {}), "inputResponses": answers, "requestState": result["requestState"]}

    def result(self, method: str, params: JsonObject | None = None) -> JsonObject:
        response = self.request(method, params)
        assert "result" in response, response
        found: JsonObject = response["result"]
        return found

    def error(self, method: str, params: JsonObject | None = None) -> JsonObject:
        response = self.request(method, params)
        assert "error" in response, response
        found: JsonObject = response["error"]
        return found

    def call(self, tool: str, **arguments: Any) -> JsonObject:
        """The result of a tool, without what only a modern one has."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        return {name: value for name, value in result.items() if name not in ("resultType", "_meta")}

    def text(self, tool: str, **arguments: Any) -> str:
        """The one text of a tool that has done what it should."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        (block,) = result["content"]
        said: str = block["text"]
        return said

    def asks(self, method: str, params: JsonObject) -> JsonObject:
        self.asked.append((method, params))
        return self.answer(method, params)

    def alien(self, method: str) -> JsonObject:
        """The error for a method that the client's revision does not have."""
        response = self.exchange(self._request(method, {}))
        error: JsonObject = response["error"]
        return error

    def made(self, method: str, params: JsonObject) -> JsonObject:
        """A request, with the envelope where the revision has one."""
        return self.judged(self._request(method, params))

    def judged(self, frame: JsonObject) -> JsonObject:
        """The same, if a server of the revision may get it."""
        self.oracle.check_to_server(frame, self.revision)
        return frame

    def _request(self, method: str, params: JsonObject) -> JsonObject:
        self._number += 1
        if self.is_modern:
            meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities, META + "clientInfo": CLIENT}
            params = {**params, "_meta": meta}
        return {"jsonrpc": "2.0", "id": self._number, "method": method, **({"params": params} if params else {})}

    def sent(self, frame: JsonObject) -> str:
        """The line of a frame, which gives its meaning to what comes after it."""
        line = json.dumps(frame)
        self._face.from_client(line)
        return line

    def got(self, text: str | bytes, face: ClientFace | None = None) -> JsonObject:
        """Judge a frame of the server's; questions are answered, notifications kept."""
        (face or self._face).to_client(text)
        frame: JsonObject = json.loads(text)
        if "method" in frame and "id" in frame:
            answer = self.asks(frame["method"], frame.get("params", {}))
            response = {"jsonrpc": "2.0", "id": frame["id"], "result": answer}
            self.say(self.oracle.check_to_server(response, self.revision, frame["method"]))
        elif "method" in frame:
            self.told.append({"method": frame["method"], "params": frame.get("params", {})})
        return frame

    def hear_of(self, method: str) -> JsonObject:
        """Wait until there is a notification of this method; its params."""
        while not any(each["method"] == method for each in self.told):
            self.hear()
        found: JsonObject = next(each["params"] for each in self.told if each["method"] == method)
        return found


def unexpected(method: str, params: JsonObject) -> JsonObject:
    raise AssertionError(f"the server asks {method}: {params}")


class Inbox:
    """What a thread reads, for whoever waits for it."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(lines,), daemon=True)
        self._thread.start()

    def _read(self, lines: Iterator[str]) -> None:
        try:
            for line in lines:
                self._lines.put(line)
        except (OSError, ValueError, http.client.HTTPException):  # closed on our side
            pass
        finally:
            self._lines.put(None)

    def next(self) -> str:
        line = self._lines.get(timeout=LIMIT)
        assert line is not None, "the server has hung up"
        return line

    def join(self) -> None:
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()


class Stdio(Peer):
    """A client with a server process of its own."""

    def __init__(self, oracle: Oracle, revision: str, process: subprocess.Popen[str]) -> None:
        super().__init__(oracle, revision)
        assert process.stdin is not None
        assert process.stdout is not None
        self._in = process.stdin
        self.inbox = Inbox(iter(process.stdout))
        self.handshake()

    def say(self, frame: JsonObject) -> None:
        self._in.write(self.sent(frame) + "\n")
        self._in.flush()

    def exchange(self, frame: JsonObject) -> JsonObject:
        self.say(frame)
        while True:
            found = self.got(self.inbox.next())
            if "method" not in found:
                assert found["id"] == frame["id"]
                return found

    def hear(self) -> None:
        self.got(self.inbox.next())

    @contextmanager
    def subscribed(self, uri: str) -> Iterator[None]:
        self.told.clear()
        if not self.is_modern:
            self.result("resources/subscribe", {"uri": uri})
            yield
            self.result("resources/unsubscribe", {"uri": uri})
            return
        listen = self.made("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
        self.say(listen)
        self.hear_of("notifications/subscriptions/acknowledged")
        yield
        self.say(self.judged({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": listen["id"]}}))


class Http(Peer):
    """A client of Streamable HTTP; one connection for each request."""

    def __init__(self, oracle: Oracle, revision: str, port: int) -> None:
        super().__init__(oracle, revision)
        self.port = port
        self.session: str | None = None
        self.handshake()
        assert (self.session is None) == self.is_modern

    def fields(self, frame: JsonObject) -> dict[str, str]:
        found = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session is not None:
            found["Mcp-Session-Id"] = self.session
        if self.is_modern or (self.session is not None and self.revision >= "2025-06-18"):
            found["MCP-Protocol-Version"] = self.revision
        if self.is_modern:
            found["Mcp-Method"] = frame["method"]
            named = frame["params"].get("name", frame["params"].get("uri"))
            found |= {} if named is None else {"Mcp-Name": named}
        return found

    def post(self, frame: JsonObject) -> http.client.HTTPResponse:
        if self.is_modern:  # nothing connects two requests
            self._face = ClientFace(self.oracle)
        return answered(self.port, "POST", "/mcp", self.fields(frame), self.sent(frame))

    def say(self, frame: JsonObject) -> None:
        with answered(self.port, "POST", "/mcp", self.fields(frame), self.sent(frame)) as response:
            assert (response.status, response.read()) == (202, b"")

    def exchange(self, frame: JsonObject) -> JsonObject:
        with self.post(frame) as response:
            self.status = response.status
            self.session = response.headers.get("Mcp-Session-Id", self.session)
            if response.headers["Content-Type"] == "application/json":
                return self.got(response.read())
            for text in events(response):
                found = self.got(text)
                if "method" not in found:
                    return found
        raise AssertionError("the stream has ended without a response")

    def hear(self) -> None:
        self.got(self.inbox.next(), self._listening)

    @contextmanager
    def subscribed(self, uri: str) -> Iterator[None]:
        self.told.clear()
        if self.is_modern:
            stream = self.post(self.made("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}}))
        else:
            stream = answered(self.port, "GET", "/mcp", {**self.fields({}), "Accept": "text/event-stream"})
        assert stream.headers["Content-Type"] == "text/event-stream"
        self.inbox = Inbox(events(stream))
        self._listening = self._face  # what comes on the stream belongs to the request that has opened it
        if self.is_modern:
            self.hear_of("notifications/subscriptions/acknowledged")
            yield
        else:
            self.result("resources/subscribe", {"uri": uri})
            yield
            self.result("resources/unsubscribe", {"uri": uri})
        hang_up(stream)
        self.inbox.join()

    def close(self) -> None:
        if self.session is not None:
            with answered(self.port, "DELETE", "/mcp", self.fields({})) as response:
                assert response.status == 204


class Sse(Peer):
    """A client of HTTP+SSE: one stream for all that the server says, an endpoint for all that the client says."""

    def __init__(self, oracle: Oracle, revision: str, port: int) -> None:
        super().__init__(oracle, revision)
        self.port = port
        self.endpoint = ""
        self.stream = answered(port, "GET", "/sse", {"Accept": "text/event-stream"})
        self.inbox = Inbox(events(self.stream))
        try:
            self.endpoint = urljoin("/sse", self.inbox.next())
            self.handshake()
        except BaseException:
            self.close()
            raise

    def say(self, frame: JsonObject) -> None:
        with answered(self.port, "POST", self.endpoint, {"Content-Type": "application/json"}, self.sent(frame)) as response:
            assert response.status == 202

    def exchange(self, frame: JsonObject) -> JsonObject:
        self.say(frame)
        while True:
            found = self.got(self.inbox.next())
            if "method" not in found:
                return found

    def hear(self) -> None:
        self.got(self.inbox.next())

    @contextmanager
    def subscribed(self, uri: str) -> Iterator[None]:
        self.told.clear()
        self.result("resources/subscribe", {"uri": uri})
        yield
        self.result("resources/unsubscribe", {"uri": uri})

    def close(self) -> None:
        hang_up(self.stream)
        self.inbox.join()


def answered(port: int, method: str, path: str, fields: dict[str, str], body: str | None = None) -> http.client.HTTPResponse:
    """A response whose head is there; its connection ends with it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
    connection.request(method, path, body, {**fields, "Connection": "close"})
    return connection.getresponse()


def hang_up(response: http.client.HTTPResponse) -> None:
    """End a stream from this side, also for the thread that reads it."""
    import socket

    raw = response.fp.raw._sock  # type: ignore[union-attr]
    raw.shutdown(socket.SHUT_RDWR)


def events(response: http.client.HTTPResponse) -> Iterator[str]:
    """The data of each event that has some."""
    with response:
        for line in response:
            if line.startswith(b"data:") and line[5:].strip():
                yield line[5:].strip().decode()

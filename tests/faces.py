"""Conversations as one peer sees them: the rules of the oracle that need memory.

``ClientFace`` watches what a client of the bridge sends and gets, ``ServerFace`` what a server behind it gets and sends. Only the bridge's
own frames are judged; the peer's are remembered, because they give the bridge's frames their meaning. Frames must be fed in the order in
which they passed, as ``tests/peers/tap.py`` writes them down.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oracle import LEGACY, MODERN, RESERVED, Invalid, JsonObject, Oracle, decoded, shown

SUBSCRIPTION = RESERVED + "subscriptionId"
LOG_LEVEL = RESERVED + "logLevel"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
FILTERS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
}
Key = tuple[type, str]
"""An id or token with its type: 1 and "1" are different ids, and what is no id has a key too."""


def key(value: Any) -> Key:
    return (type(value), json.dumps(value))


class ClientFace:
    """The bridge as the server of a client; the era follows from the client's first request."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.revision = MODERN
        self.open: dict[Key, list[JsonObject]] = {}
        self.acknowledged: dict[Key, JsonObject] = {}
        self.progress: dict[Key, float] = {}
        self.questions: dict[Key, str] = {}
        self.ended_streams: set[Key] = set()
        self.answered = 0

    def from_client(self, line: str | bytes) -> None:
        """Remember what the client sent, malformed or not."""
        try:
            frame = decoded(line.lstrip("\ufeff") if isinstance(line, str) else line.removeprefix(b"\xef\xbb\xbf"))
        except Invalid:
            return
        if "method" in frame and "id" in frame:
            # A list, because a client may wrongly use an id that is still in flight: the second request is the one refused.
            self.open.setdefault(key(frame["id"]), []).append(frame)
            if frame["method"] == "initialize":
                self.revision = LEGACY[-1]
        elif "method" not in frame:
            self.questions.pop(key(frame.get("id")), None)

    def to_client(self, line: str | bytes) -> None:
        """Judge a frame of the bridge."""
        frame = decoded(line)
        if "method" not in frame:
            self._response(frame)
            return
        self.oracle.check_to_client(frame, None, self.revision)
        if "id" in frame:
            self.questions[key(frame["id"])] = frame["method"]
        elif self.revision == MODERN:
            self._notification(frame, frame["method"], frame.get("params", {}))
        elif frame["method"] == "notifications/progress":
            self._progress(frame, frame["params"])

    def _response(self, frame: JsonObject) -> None:
        if "id" not in frame or frame["id"] is None:
            self.oracle.check_to_client(frame, None, self.revision)
            return
        request = self._close(frame)
        if request["method"] == "initialize" and "result" in frame:
            answered = frame["result"]["protocolVersion"]
            if answered not in LEGACY:
                raise Invalid(f"initialize is answered with a handshake revision (basic/lifecycle): {shown(frame)}")
            self.revision = answered
        self.answered += 1
        self.oracle.check_to_client(frame, request["method"], self.revision)
        if request["method"] == "subscriptions/listen" and "result" in frame:
            stamped = frame["result"].get("_meta", {}).get(SUBSCRIPTION)
            if key(stamped) != key(frame["id"]):
                raise Invalid(f"a listen ends with its own id as subscriptionId: {shown(frame)}")
            self.ended_streams.add(key(frame["id"]))

    def _close(self, response: JsonObject) -> JsonObject:
        """Take the request of this response out of those in flight."""
        requests = self.open.get(key(response["id"]))
        if not requests:
            raise Invalid(f"a response to no open request: {shown(response)}")
        refused = response.get("error", {}).get("code") == -32600
        request = requests.pop(-1 if refused else 0)
        if not requests:
            del self.open[key(response["id"])]
        return request

    def _in_flight(self) -> list[JsonObject]:
        """The ``_meta`` of every request in flight."""
        metas = [(request.get("params") or {}).get("_meta") for requests in self.open.values() for request in requests]
        return [meta for meta in metas if isinstance(meta, dict)]

    def _request(self, request_id: Any) -> JsonObject:
        return self.open.get(key(request_id), [{}])[0]

    def _notification(self, frame: JsonObject, method: str, params: JsonObject) -> None:
        if method == "notifications/progress":
            self._progress(frame, params)
        elif method == "notifications/message":
            self._message(frame, params)
        elif method == "notifications/cancelled":
            # The stream's result comes first, so that its end counts as graceful; then the cancellation that the page demands.
            target = key(params["requestId"])
            if self._request(params["requestId"]).get("method") != "subscriptions/listen" and target not in self.ended_streams:
                raise Invalid(f"a server cancels only listens (basic/patterns/cancellation): {shown(frame)}")
        elif method == "notifications/subscriptions/acknowledged" or method in FILTERS:
            self._on_stream(frame, method, params)

    def _progress(self, frame: JsonObject, params: JsonObject) -> None:
        """basic/patterns/progress: only for a request in flight that gave this token, and increasing."""
        token = key(params["progressToken"])
        if token not in [key(meta["progressToken"]) for meta in self._in_flight() if "progressToken" in meta]:
            raise Invalid(f"progress for no request in flight: {shown(frame)}")
        if params["progress"] <= self.progress.get(token, float("-inf")):
            raise Invalid(f"progress must increase from {self.progress[token]}: {shown(frame)}")
        self.progress[token] = params["progress"]

    def _message(self, frame: JsonObject, params: JsonObject) -> None:
        """server/utilities/logging: only for a request that asked for a level, at or above it."""
        asked = [meta.get(LOG_LEVEL) for meta in self._in_flight()]
        ranks = [LEVELS.index(level) for level in asked if level in LEVELS]
        if not ranks or LEVELS.index(params["level"]) < min(ranks):
            raise Invalid(f"a log message that no request in flight asked for: {shown(frame)}")

    def _on_stream(self, frame: JsonObject, method: str, params: JsonObject) -> None:
        """basic/patterns/subscriptions: stamped with an open listen's id, acknowledged first, only what was asked for."""
        stream = key(params.get("_meta", {}).get(SUBSCRIPTION))
        request = self._request(params.get("_meta", {}).get(SUBSCRIPTION))
        if request.get("method") != "subscriptions/listen":
            raise Invalid(f"a change notification outside an open listen: {shown(frame)}")
        if method == "notifications/subscriptions/acknowledged":
            self._acknowledge(frame, stream, request["params"]["notifications"], params["notifications"])
        elif not self.acknowledged.get(stream, {}).get(FILTERS[method]):
            raise Invalid(f"a notification that the listen did not ask for, or before its acknowledgement: {shown(frame)}")

    def _acknowledge(self, frame: JsonObject, stream: Key, asked: JsonObject, honoured: JsonObject) -> None:
        if stream in self.acknowledged:
            raise Invalid(f"a listen is acknowledged once: {shown(frame)}")
        for name, value in honoured.items():
            more = set(value) - set(asked.get(name, [])) if isinstance(value, list) else value and not asked.get(name)
            if more:
                raise Invalid(f"acknowledged more than was asked for, {name}: {shown(frame)}")
        self.acknowledged[stream] = honoured


class ServerFace:
    """The bridge as the client of a legacy server."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.revision = LEGACY[-1]
        self.seen: set[Key] = set()
        self.open: dict[Key, str] = {}
        self.questions: dict[Key, str] = {}
        self.withdrawn: dict[Key, str] = {}
        self.phase = "new"

    def from_server(self, line: str | bytes) -> None:
        """Remember what the server sent, malformed or not."""
        try:
            frame = decoded(line)
        except Invalid:
            return
        if "method" in frame and "id" in frame:
            self.questions[key(frame["id"])] = frame["method"]
        elif "method" not in frame:
            method = self.open.pop(key(frame.get("id")), None)
            if method == "initialize" and isinstance(frame.get("result"), dict):
                self.phase = "answered"
                answered = frame["result"].get("protocolVersion")
                self.revision = answered if answered in LEGACY else self.revision
        elif frame["method"] == "notifications/cancelled":
            withdrawn = key((frame.get("params") or {}).get("requestId"))
            if withdrawn in self.questions:
                self.withdrawn[withdrawn] = self.questions.pop(withdrawn)

    def to_server(self, line: str | bytes) -> None:
        """Judge a frame of the bridge."""
        frame = decoded(line)
        if "method" not in frame:
            self._answer(frame)
            return
        self.oracle.check_to_server(frame, self.revision)
        method = frame["method"]
        if "id" not in frame:
            self._notification(frame, method)
            return
        if key(frame["id"]) in self.seen:
            raise Invalid(f"an id is used once in a session (basic/index#requests): {shown(frame)}")
        if method == "initialize" and self.phase != "new" and self.open:
            raise Invalid(f"initialize beside other requests: {shown(frame)}")
        if method not in ("initialize", "ping") and self.phase != "ready":
            raise Invalid(f"a request before initialized (basic/lifecycle#initialization): {shown(frame)}")
        self.phase = "asked" if method == "initialize" else self.phase
        self.seen.add(key(frame["id"]))
        self.open[key(frame["id"])] = method

    def _notification(self, frame: JsonObject, method: str) -> None:
        if method == "notifications/initialized":
            if self.phase != "answered":
                raise Invalid(f"initialized comes once, after the answer to initialize: {shown(frame)}")
            self.phase = "ready"
        elif method == "notifications/cancelled":
            cancelled = self.open.get(key(frame["params"]["requestId"]), "answered already")
            if cancelled == "initialize":
                raise Invalid(f"initialize is never cancelled (utilities/cancellation): {shown(frame)}")

    def _answer(self, frame: JsonObject) -> None:
        """An answer belongs to an open question and is given once; it may cross the withdrawal of its question."""
        answered = key(frame.get("id"))
        method = self.questions.pop(answered, None) or self.withdrawn.pop(answered, None)
        if method is None:
            raise Invalid(f"an answer to no open question: {shown(frame)}")
        self.oracle.check_to_server(frame, self.revision, method)


def tapped(path: Path) -> list[JsonObject]:
    """The records that a tap wrote; none when the tap never ran."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def judge_client_side(oracle: Oracle, records: Iterable[JsonObject]) -> ClientFace:
    """Judge a tap between a client and the bridge."""
    face = ClientFace(oracle)
    for record in records:
        (face.from_client if record["dir"] == "in" else face.to_client)(record["line"])
    return face


def judge_server_side(oracle: Oracle, records: Iterable[JsonObject]) -> list[ServerFace]:
    """Judge a tap between the bridge and a server: one face a process, because a server may be started again."""
    faces: dict[int, ServerFace] = {}
    for record in records:
        face = faces.setdefault(record["pid"], ServerFace(oracle))
        (face.to_server if record["dir"] == "in" else face.from_server)(record["line"])
    return list(faces.values())

"""A modern-only server behind the bridge: how it is started, what the acceptance script makes of it, and a judge of what it is shown.

``ModernServerFace`` watches one process of the server. Its rules, with their pages (2026-07-28):

* ``initialize`` comes while nobody knows the server's era, and nothing else that is legacy ever (basic/versioning);
* every other request has its envelope, and every envelope names this revision (basic/index#meta);
* an id is not used again before it is answered (basic/index#requests), and what is cancelled was asked (basic/patterns/cancellation);
* a request that is made again has the very state and answers to the very questions that it was given; other requests have neither
  (basic/patterns/mrtr#client-requirements-basic-workflow);
* ``logLevel`` is one of the eight (server/utilities/logging).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faces import LEVELS, LOG_LEVEL, ClientFace, Key, key
from oracle import LEGACY, MODERN, RESERVED, Invalid, JsonObject, Oracle, decoded, shown

SERVER = Path(__file__).resolve().parents[1] / "fixtures" / "modern_only_server.py"
LATEST = LEGACY[-1]
LEGACY_METHODS = frozenset(
    {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "notifications/initialized"}
    | {"notifications/roots/list_changed", "notifications/progress"}
)


ACCEPTED: JsonObject = {
    "connect": LATEST,
    "whoami": "acceptance",
    "tools": [["echo", "add", "show_meta"], True, False],
    "prompts": ["simple", "greet", "asking", "illustrated"],
    "resources": ["demo://text", "demo://blob", "demo://asks", "demo://two", "demo://watched"],
    "templates": ["demo://item/{name}"],
    "plain": "grüße \u2028 ok",
    "structured": {"temperature": 22.5, "conditions": "cloudy"},
    "progress": [0, 50, 100, "progressed"],
    "log": ["error", "critical", "alert", "emergency"],
    "failed": [True, "it did not work"],
    "unknown": -32602,
    "text": "some text: é \u2028 done",
    "missing": -32002,
    "prompt": ["Greet Ada, loudly.", "Hello!"],
    "completion": ["alpha", "alphabet"],
    "accepted": {"action": "accept", "content": {"name": "Ada"}},
    "declined": {"action": "decline"},
    "sampled": {"content": {"text": "four", "type": "text"}, "model": "small-1", "role": "assistant", "stopReason": "endTurn"},
    "roots": {"roots": [{"name": "home", "uri": "file:///home/ada"}]},
    "list_changed": ["extra-1"],
    "updated": "demo://watched",
    "unsubscribed": "nobody subscribed",
    "cancelled": "1 cancelled",
    "together": ["a", "b"],
    "ping": True,
}
"""What the acceptance script reports with a client of 2025-11-25, its one long value (``blob``) left out."""


def modern_only(*arguments: str) -> list[str]:
    """The command of the server, with what the acceptance script uses."""
    return [sys.executable, str(SERVER), "--offers", "demo", *arguments]


class ModernServerFace:
    """The bridge as the client of a modern server."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.open: dict[Key, JsonObject] = {}
        self.ids: set[Key] = set()
        self.given: list[tuple[str, JsonObject]] = []
        self.refused_handshakes = 0
        self.modern_requests = 0
        self.listens: list[JsonObject] = []
        self.methods: list[str] = []

    def from_server(self, line: str | bytes) -> None:
        """Remember what the server sent."""
        frame = decoded(line)
        if "method" in frame:
            return
        request = self.open.pop(key(frame.get("id")), None)
        result = frame.get("result")
        if request is not None and isinstance(result, dict) and result.get("resultType") == "input_required":
            self.given.append((unchanging(request), result))

    def to_server(self, line: str | bytes) -> None:
        """Judge a frame of the bridge."""
        frame = decoded(line)
        method = frame.get("method")
        self.methods.append(str(method))
        if method == "initialize":
            self._handshake(frame)
            return
        self.oracle.check_to_server(frame, MODERN)
        if method in LEGACY_METHODS:
            raise Invalid(f"{method} is no word of {MODERN}: {shown(frame)}")
        if "id" in frame:
            self._request(frame)
        elif method == "notifications/cancelled" and key(frame["params"]["requestId"]) not in self.ids:
            raise Invalid(f"cancelled what was never asked: {shown(frame)}")

    def _handshake(self, frame: JsonObject) -> None:
        """The client's own as it came, valid or not, before the server's era is known."""
        if self.modern_requests:
            raise Invalid(f"a handshake although the server is known to be modern: {shown(frame)}")
        self._opened(frame)
        self.refused_handshakes += 1

    def _opened(self, frame: JsonObject) -> None:
        if key(frame["id"]) in self.open:
            raise Invalid(f"an id is used again while it is in flight: {shown(frame)}")
        self.ids.add(key(frame["id"]))
        self.open[key(frame["id"])] = frame

    def _request(self, frame: JsonObject) -> None:
        self._opened(frame)
        self.modern_requests += 1
        params = frame["params"]
        meta = params["_meta"]
        if meta[RESERVED + "protocolVersion"] != MODERN:
            raise Invalid(f"an envelope of another revision: {shown(frame)}")
        if meta.get(LOG_LEVEL, "info") not in LEVELS:
            raise Invalid(f"no level: {shown(frame)}")
        if frame["method"] == "subscriptions/listen":
            self.listens.append(params["notifications"])
        if "inputResponses" in params or "requestState" in params:
            self._again(frame, params)

    def _again(self, frame: JsonObject, params: JsonObject) -> None:
        """The answers and the state belong to one round of the same request."""
        for request, result in self.given:
            asked = set(result.get("inputRequests", {}))
            same_state = params.get("requestState") == result.get("requestState")
            if request == unchanging(frame) and same_state and set(params.get("inputResponses", {})) == asked:
                return
        raise Invalid(f"made again with what it was not given: {shown(frame)}")


def unchanging(request: JsonObject) -> str:
    """What is the same in every round of a request."""
    params: JsonObject = request.get("params", {})
    kept = {name: value for name, value in params.items() if name not in ("_meta", "inputResponses", "requestState")}
    return json.dumps([request["method"], kept], sort_keys=True)


def judge_modern_server(oracle: Oracle, records: Iterable[JsonObject]) -> list[ModernServerFace]:
    """Judge a tap between the bridge and a modern server: one face a process."""
    faces: dict[Any, ModernServerFace] = {}
    for record in records:
        face = faces.setdefault(record["pid"], ModernServerFace(oracle))
        (face.to_server if record["dir"] == "in" else face.from_server)(record["line"])
    return list(faces.values())


def server_was_modern(faces: list[ModernServerFace], strangers: int = 1) -> None:
    """The era that was really spoken with the server: it was used, and by nothing but modern requests.

    ``strangers`` are the processes that may be met before the era is known; those that come later are spoken to as what they are.
    """
    assert faces
    assert sum(face.modern_requests for face in faces) > 0
    assert [face.refused_handshakes for face in faces[strangers:]] == [0] * len(faces[strangers:])


def spoken_with_client(face: ClientFace, revision: str) -> None:
    """The revision that was really spoken with the client: a legacy one if a handshake has agreed on it."""
    assert face.revision == revision
    assert face.answered > 0

"""What came back for one HTTP request, as a client reads it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from dragoman.http.request import HttpRequest


class Event(NamedTuple):
    """One server-sent event."""

    data: str
    id: str | None = None
    name: str | None = None
    retry: str | None = None

    @property
    def frame(self) -> Any:
        """The message in it."""
        return json.loads(self.data)


class Answer:
    """What came back for one HTTP request, so far."""

    def __init__(self, number: int, request: HttpRequest) -> None:
        self.number = number
        self.request = request
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.chunks: list[bytes] = []
        self.begun = False
        self.done = False
        self.ended = False
        self.gone = False
        self.sent = b""
        self.face: Any = None

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def text(self) -> bytes:
        """All of the stream."""
        return b"".join(self.chunks)

    @property
    def events(self) -> list[Event]:
        """The events of the stream, comments left out."""
        return [event for event in map(read_event, self.text.decode().split("\n\n")[:-1]) if event is not None]

    @property
    def comments(self) -> int:
        """How many keep-alives came."""
        return self.text.count(b":\n\n")

    @property
    def frames(self) -> list[Any]:
        """Every message, from the stream or the body."""
        if self.begun:
            return [event.frame for event in self.events if event.data and event.name != "endpoint"]
        return [json.loads(self.body)] if self.body and self.headers["content-type"] == "application/json" else []

    @property
    def last(self) -> Any:
        """The one answer, which must be complete."""
        assert self.done, f"[{self.number}] has no answer yet"
        return self.frames[-1]

    @property
    def result(self) -> Any:
        return self.last["result"]

    @property
    def error(self) -> Any:
        return self.last["error"]

    @property
    def code(self) -> int:
        """Of the JSON-RPC error."""
        return self.last["error"]["code"]  # type: ignore[no-any-return]

    def notes(self, method: str) -> list[Any]:
        """The params of every notification of a method."""
        return [frame.get("params", {}) for frame in self.frames if frame.get("method") == method and "id" not in frame]

    def questions(self) -> list[Any]:
        """The server's requests on this stream."""
        return [frame for frame in self.frames if "method" in frame and "id" in frame]


def read_event(text: str) -> Event | None:
    """An event as a client reads it; None for a comment."""
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        if line.startswith(":"):
            continue
        name, _, value = line.partition(":")
        assert name not in fields, f"a field twice: {text!r}"
        fields[name] = value.removeprefix(" ")
    return Event(fields["data"], fields.get("id"), fields.get("event"), fields.get("retry")) if fields else None

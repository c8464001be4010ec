"""An answer of ``dragoman serve``, read from a socket as far as a test asks for it, every frame judged by the oracle."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any, Self

from faces import ClientFace
from oracle import JsonObject


class Reply:
    """The answer to one request: its head, and a body that is read on demand."""

    def __init__(
        self, status: int, fields: list[tuple[str, str]], face: ClientFace | None, source: Any, held: socket.socket | None
    ) -> None:
        self.status = status
        self.fields = fields
        self._face = face
        self._source = source
        self._held = held
        self._rest: bytes | None = None
        self._answer: JsonObject | None = None

    @classmethod
    def read(cls, face: ClientFace | None, source: Any, held: socket.socket | None = None) -> Self | None:
        """The next answer on a connection; None at its end."""
        try:
            line = source.readline()
        except ConnectionError:
            return None
        if not line:
            return None
        protocol, status = line.split(b" ", 2)[:2]
        assert protocol == b"HTTP/1.1", line
        fields = []
        while line := source.readline().rstrip(b"\r\n"):
            name, _, value = line.partition(b":")
            fields.append((name.decode("latin-1").lower(), value.decode("latin-1").strip()))
        return cls(int(status), fields, face, source, held)

    def field(self, name: str) -> str | None:
        """A header field; one that stands twice is a failure."""
        values = [value for found, value in self.fields if found == name]
        assert len(values) <= 1, self.fields
        return values[0] if values else None

    @property
    def streams(self) -> bool:
        return self.field("content-type") == "text/event-stream"

    @property
    def body(self) -> bytes:
        """All of it."""
        rest = self.finish()
        self.close()
        return rest

    def finish(self) -> bytes:
        """Read to the end of the answer, and leave the connection open."""
        if self._rest is None:
            self._rest = b"".join(self._pieces())
        return self._rest

    def _pieces(self) -> Iterator[bytes]:
        if self.status in (204, 304):
            return
        if self.field("transfer-encoding") == "chunked":
            while size := int(self._source.readline(), 16):
                yield self._source.read(size)
                self._source.readline()
            self._source.readline()
        elif self.field("content-length") is not None:
            yield self._source.read(int(self.field("content-length") or 0))
        else:
            yield self._source.read()

    def events(self) -> Iterator[dict[str, str]]:
        """The events of a stream as they come, each with its fields."""
        assert self.streams, (self.status, self.body)
        rest = b""
        for piece in self._pieces():
            rest += piece
            while b"\n\n" in rest:
                event, _, rest = rest.partition(b"\n\n")
                lines = [line for line in event.decode().split("\n") if not line.startswith(":")]
                if lines:
                    yield {name: value.removeprefix(" ") for name, _, value in (line.partition(":") for line in lines)}
        self.close()

    def messages(self) -> Iterator[JsonObject]:
        """The messages as they come, on a stream or as the body."""
        if not self.streams:
            found = json.loads(self.body) if self.body else []
            for frame in found if isinstance(found, list) else [found]:
                yield self._judge(frame)
            return
        for event in self.events():
            if event.get("data") and event.get("event", "message") == "message":
                found = json.loads(event["data"])
                for frame in found if isinstance(found, list) else [found]:
                    yield self._judge(frame)

    def _judge(self, frame: JsonObject) -> JsonObject:
        if self._face is not None:
            self._face.to_client(json.dumps(frame))
        return frame

    def json(self) -> JsonObject:
        """The one message of this answer that is a response."""
        if self._answer is None:
            (self._answer,) = [frame for frame in self.messages() if "method" not in frame]
        return self._answer

    def error(self) -> JsonObject:
        answer: JsonObject = self.json()["error"]
        return answer

    def close(self) -> None:
        """The client goes."""
        self._source.close()
        if self._held is not None:
            self._held.close()


def text_of(answer: JsonObject) -> str:
    """The text of a tool's result."""
    return str(answer["result"]["content"][0]["text"])

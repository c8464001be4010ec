"""What a new process of a legacy session has to be shown, so that its client does not notice that the old one is gone.

A server keeps the handshake, the log level and the subscriptions of its connection (2025-11-25, basic/lifecycle,
server/utilities/logging, server/resources#subscriptions); what else it keeps is known to nobody but itself.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import frame
from dragoman.bridging.ids import Ids


class Memory:
    """What was set, and ``held``: what the client says while the new process starts."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self.handshake = Raw(b"{}")
        self.held: list[tuple[frame.Frame, bytes]] = []
        self._level: Raw | None = None
        self._uris: dict[str, Raw] = {}
        self._announced: list[str] = []
        self._hello = b""

    def note(self, message: frame.Frame) -> None:
        """Remember what a request sets."""
        if not isinstance(message, frame.Request) or message.params is None:
            return
        if message.method == "logging/setLevel":
            self._level = message.params
        elif message.method in ("resources/subscribe", "resources/unsubscribe"):
            uri = frame.text((frame.members(message.params) or {}).get("uri"))
            if uri is None:
                return
            self._uris.pop(uri, None)
            if message.method == "resources/subscribe":
                self._uris[uri] = message.params

    def drop(self, client_id: bytes) -> bool:
        """Forget a request that waits for the new process; False if it does not."""
        held = [entry for entry in self.held if not isinstance(entry[0], frame.Request) or entry[0].id != client_id]
        dropped, self.held = len(held) < len(self.held), held
        return dropped

    @property
    def follows(self) -> bool:
        """Whether the client follows any resource."""
        return bool(self._uris)

    def opened(self, result: Raw) -> None:
        """What the server announces, by its ``InitializeResult``."""
        declared = frame.members((frame.members(result) or {}).get("capabilities")) or {}
        self._announced = [
            f"notifications/{name}/list_changed"
            for name in ("tools", "prompts", "resources")
            if bytes((frame.members(declared.get(name)) or {}).get("listChanged", Raw(b""))) == b"true"
        ]

    def announced(self) -> list[bytes]:
        """What tells the client to look again: while there was no process, nobody heard of changes."""
        lines = [frame.notification(method) for method in self._announced]
        return lines + [frame.notification("notifications/resources/updated", frame.encode({"uri": uri})) for uri in self._uris]

    def hello(self) -> bytes:
        """The line of the handshake again."""
        line = self._request("initialize", self.handshake)
        self._hello = self._last
        return line

    def is_hello(self, key: bytes) -> bool:
        """Whether an answer is the one to ``hello``, once."""
        if key != self._hello:
            return False
        self._hello = b""
        return True

    def restored(self) -> list[bytes]:
        """The lines that bring a new process to where the old one was."""
        lines = [frame.notification("notifications/initialized")[:-1]]
        if self._level is not None:
            lines.append(self._request("logging/setLevel", self._level))
        return lines + [self._request("resources/subscribe", params) for params in self._uris.values()]

    def _request(self, method: str, params: Raw) -> bytes:
        # An id that no client thinks of: the instance is not known to any.
        self._last = frame.encode(f"dragoman-{self._ids.instance}-{self._ids.wire()}")
        return frame.request(self._last, method, bytes(params))[:-1]

"""Who hears of changes: the open ``subscriptions/listen`` of one process (2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import msgspec
from msgspec import Raw

from dragoman import frame
from dragoman.library.errors import ProtocolError
from dragoman_specs.names import INVALID_PARAMS, META_SUBSCRIPTION_ID

LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Listener:
    """One stream, and what it asked for of what is ``offered``. Raises ``ProtocolError`` for what cannot be asked for."""

    def __init__(self, request_id: bytes, wanted: Any, send: Callable[[bytes], None], offered: Collection[str]) -> None:
        if not isinstance(wanted, dict):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: notifications must be an object")
        uris = wanted.get("resourceSubscriptions", [])
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise ProtocolError(INVALID_PARAMS, "Invalid params: notifications.resourceSubscriptions must be a list of URIs")
        self._meta = {META_SUBSCRIPTION_ID: Raw(request_id)}
        self._send = send
        self.uris = frozenset(uris if "resources" in offered else ())
        self.lists = frozenset(name for name, member in LISTS.items() if wanted.get(member) is True and name in offered)

    def acknowledge(self) -> None:
        """First of all: what will be told."""
        granted: dict[str, Any] = {LISTS[name]: True for name in sorted(self.lists)}
        if self.uris:
            granted["resourceSubscriptions"] = sorted(self.uris)
        self.tell("notifications/subscriptions/acknowledged", {"notifications": granted})

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """A notification on this stream."""
        self._send(frame.notification(method, msgspec.json.encode({**params, "_meta": self._meta}))[:-1])


class Hub:
    """All of them. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def add(self, listener: Listener) -> None:
        """A stream is open."""
        listener.acknowledge()
        with self._lock:
            self._listeners = [*self._listeners, listener]

    def remove(self, listener: Listener) -> None:
        """It has ended."""
        with self._lock:
            self._listeners = [each for each in self._listeners if each is not listener]

    def changed(self, what: str) -> None:
        """A list, or the resource of a URI."""
        for listener in self._listeners:
            if what in LISTS:
                if what in listener.lists:
                    listener.tell(f"notifications/{what}/list_changed", {})
            elif what in listener.uris:
                listener.tell("notifications/resources/updated", {"uri": what})

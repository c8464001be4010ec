"""What lists said of the tools' structured results (2025-06-18, server/tools#output-schema): whether the value has to be wrapped is
decided by the listed schema, because that is what the client will check it by.
"""

from __future__ import annotations

from msgspec import Raw

from dragoman import frame, shape

_TOOLS = 10_000


class Outputs:
    """Output schemas by tool."""

    def __init__(self) -> None:
        self._schemas: dict[str, bytes] = {}

    def of(self, name: str | None) -> bytes:
        """The schema that was listed, as JSON text; empty: none, or never listed."""
        return b"" if name is None else self._schemas.get(name, b"")

    def learn(self, result: Raw) -> None:
        """A page of ``tools/list``, as the server wrote it."""
        for item in shape.items((frame.members(result) or {}).get("tools", Raw(b"[]"))) or ():
            tool = frame.members(item) or {}
            name = frame.text(tool.get("name"))
            if name is None:
                continue
            self._schemas.pop(name, None)
            if "outputSchema" in tool and len(self._schemas) < _TOOLS:
                self._schemas[name] = bytes(tool["outputSchema"])

    def forget(self) -> None:
        """The list has changed."""
        self._schemas.clear()

"""What a handler raises to answer with an error."""

from __future__ import annotations

from typing import Any

from dragoman_specs.names import INVALID_PARAMS


class ToolError(Exception):
    """The tool could not do it: the text is for the model, as content with ``isError`` (2026-07-28, server/tools#error-handling)."""


class ProtocolError(Exception):
    """A JSON-RPC error (2026-07-28, basic/index#error-codes): ``code``, ``message`` and, if it is not None, ``data``, any JSON.

    A handler raises it to answer with one; ``Client`` raises it where it gets one.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        if type(code) is not int:
            raise TypeError(f"the code of a JSON-RPC error is an integer, not {code!r}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class ResourceNotFound(ProtocolError):
    """There is no resource of this URI: -32602, and -32002 for clients before 2026-07-28 (SEP-2164, server/resources#error-handling)."""

    def __init__(self, uri: str) -> None:
        super().__init__(INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})

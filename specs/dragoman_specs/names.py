"""The words of the wire that are not methods: ``_meta`` keys, header names, error codes, log levels.

Pages of 2026-07-28: basic/index#_meta and #error-codes, basic/transports/streamable-http, server/utilities/logging.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dragoman_specs.version import Version

# --- _meta keys ---------------------------------------------------------------------------------------------------

META_PREFIX: Final = "io.modelcontextprotocol/"
META_PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
META_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
META_RELATED_TASK: Final = "io.modelcontextprotocol/related-task"
"""Core of 2025-11-25 only (basic/utilities/tasks)."""

PROGRESS_TOKEN: Final = "progressToken"  # noqa: S105 - the name of a member
TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")

META_REQUIRED: Final = (META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES)
"""What every 2026-07-28 request must carry."""
META_ENVELOPE: Final = frozenset((META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL))
"""What a 2026-07-28 client says about itself on a request; no word of an earlier revision."""
META_MODERN: Final = META_ENVELOPE | {META_SERVER_INFO, META_SUBSCRIPTION_ID}
"""Every key that 2026-07-28 added."""

EXTENSION_TASKS: Final = "io.modelcontextprotocol/tasks"

# --- HTTP headers (names are case-insensitive; this is the specification's spelling) -----------------------------------

HEADER_PROTOCOL_VERSION: Final = "MCP-Protocol-Version"
HEADER_SESSION_ID: Final = "Mcp-Session-Id"
HEADER_LAST_EVENT_ID: Final = "Last-Event-ID"
HEADER_METHOD: Final = "Mcp-Method"
HEADER_NAME: Final = "Mcp-Name"
HEADER_PARAM_PREFIX: Final = "Mcp-Param-"

# --- error codes ----------------------------------------------------------------------------------------------------

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002
URL_ELICITATION_REQUIRED: Final = -32042
HEADER_MISMATCH: Final = -32020
MISSING_CLIENT_CAPABILITY: Final = -32021
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

RESERVED_CODES: Final = range(-32099, -32019)
"""-32099 to -32020 belong to the specification since 2026-07-28; -32019 to -32000 to implementations."""


class ErrorCode(NamedTuple):
    """One error code with the revisions that give it its meaning."""

    code: int
    name: str
    since: Version
    until: Version | None = None
    """The last revision that has it; ``None`` while the newest one does."""

    def exists_in(self, version: Version) -> bool:
        """Whether ``version`` has this code."""
        return self.since <= version and (self.until is None or version <= self.until)


_FIRST = Version.V2024_11_05
_NOV25 = Version.V2025_11_25
_MODERN = Version.V2026_07_28

ERROR_CODES: dict[int, ErrorCode] = {
    row.code: row
    for row in (
        ErrorCode(PARSE_ERROR, "ParseError", _FIRST),
        ErrorCode(INVALID_REQUEST, "InvalidRequest", _FIRST),
        ErrorCode(METHOD_NOT_FOUND, "MethodNotFound", _FIRST),
        ErrorCode(INVALID_PARAMS, "InvalidParams", _FIRST),
        ErrorCode(INTERNAL_ERROR, "InternalError", _FIRST),
        ErrorCode(RESOURCE_NOT_FOUND, "ResourceNotFound", _FIRST, _NOV25),
        ErrorCode(URL_ELICITATION_REQUIRED, "UrlElicitationRequired", _NOV25, _NOV25),
        ErrorCode(HEADER_MISMATCH, "HeaderMismatch", _MODERN),
        ErrorCode(MISSING_CLIENT_CAPABILITY, "MissingRequiredClientCapability", _MODERN),
        ErrorCode(UNSUPPORTED_PROTOCOL_VERSION, "UnsupportedProtocolVersion", _MODERN),
    )
}

# --- log levels -----------------------------------------------------------------------------------------------------

LOG_LEVELS: tuple[str, ...] = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""From the most verbose to the most severe (RFC 5424)."""


def has_version_header(text: str) -> bool:
    """Whether a revision that was agreed on, known or not, has the ``MCP-Protocol-Version`` header (2025-06-18 and later)."""
    return len(text) == len("2025-06-18") and text[:4].isdigit() and text >= Version.V2025_06_18

"""Field cases that carry a tag of the stdio bridge and yet have nothing to test in it, each with the reason."""

NOT_HERE: dict[str, str] = {
    "B017": "about the HTTP status of a POST; the same text on a server's stdout is no answer there (B131)",
    "B020": "about the HTTP status of a POST; the same text on a server's stdout is no answer there (B131)",
    "B021": "about HTTP 401 and its challenge; stdio has no authorization (2026-07-28, basic/index#auth)",
    "B022": "about HTTP 401 and its challenge; stdio has no authorization (2026-07-28, basic/index#auth)",
    "B026": "about HTTP 5xx and 429 as no evidence; a pipe has no status",
    "B028": "about a remote that answers discovery and hangs afterwards; a command that accepts initialize is known to be legacy",
    "B032": "about a POST that is never answered; its twin on stdio is B001",
    "B038": "a legacy client in front of a modern server: the downgrade direction",
    "B090": "about the HTTP status of an unknown session; a pipe has no session id",
    "B091": "about GET streams of an HTTP session",
    "B097": "about the optional GET stream of an HTTP server",
    "B098": "about the URL of the HTTP+SSE transport of 2024-11-05",
    "B103": "about the MCP-Protocol-Version header; stdio has no header layer (2026-07-28, basic/transports/stdio#request-metadata)",
    "B104": "the upgrade of schema dialects is a part of its own; until it is there a declared older dialect is relayed as declared, "
    "which 2026-07-28, basic/index#schema-dialect allows",
    "B148": "about what an authorized caller may discover; stdio has one caller and no authorization (2026-07-28, basic/index#auth)",
    "B158": "about the Mcp-Session-Id header",
}

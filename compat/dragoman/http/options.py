"""What an operator can set on the HTTP face (``dragoman serve --help`` has one line for each).

A plain class like that of the bridge. Durations are seconds, sizes bytes; ``None`` means "not set".
"""

from __future__ import annotations

from collections.abc import Sequence

ISOLATIONS = ("principal", "session", "shared")
OPEN = "open"
"""Of the library alone: like "principal", but whoever shows nothing is served wherever he calls from, since such a server keeps no state of
a caller.
"""


class HttpOptions:
    """Settings of one ``HttpFace``; every member has the default of its command-line option."""

    __slots__ = (
        "allow_hosts",
        "allow_origins",
        "forward_authorization",
        "header_wait",
        "hibernate_after",
        "host",
        "isolation",
        "keepalive",
        "max_body",
        "max_sessions",
        "path",
        "principal_header",
        "session_ttl",
        "sse",
    )

    def __init__(
        self,
        *,
        path: str = "/mcp",
        sse: bool = False,
        host: str = "127.0.0.1",
        allow_hosts: Sequence[str] = (),
        allow_origins: Sequence[str] = (),
        isolation: str = "principal",
        principal_header: str | None = None,
        header_wait: float = 5.0,
        max_sessions: int = 64,
        session_ttl: float = 1800.0,
        hibernate_after: float = 300.0,
        max_body: int = 64 * 1024 * 1024,
        keepalive: float = 15.0,
        forward_authorization: bool = False,
    ) -> None:
        self.path = path  # the MCP endpoint
        self.sse = sse  # the two endpoints of 2024-11-05 too
        self.host = host  # the address that is listened on
        self.allow_hosts = tuple(allow_hosts)  # further Host values: "example.com", "example.com:8080", "*"
        self.allow_origins = tuple(allow_origins)  # web pages that may call: "https://app.example", "*"
        self.isolation = isolation  # one of ISOLATIONS
        self.principal_header = principal_header  # the field in which a trusted proxy names the caller
        self.header_wait = header_wait  # an answer's status is held back so long for the first message to decide it
        self.max_sessions = max_sessions  # server processes at once; one more is answered 503
        self.session_ttl = session_ttl  # a legacy client's session ends after so long without a request
        self.hibernate_after = hibernate_after  # an unused server process is ended after so long
        self.max_body = max_body
        self.keepalive = keepalive  # a comment goes out on a quiet stream after so long; 0: never
        self.forward_authorization = forward_authorization  # a client's own credentials go on to the server

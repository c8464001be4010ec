"""What an operator can set on the core (``dragoman wrap --help`` has one line for each).

A plain class, not a ``msgspec.Struct``: the command line is read, and the server's process is started, before msgspec is
imported. Durations are seconds; ``None`` means "no limit".
"""

from __future__ import annotations

LONGEST_DRAIN = 6
"""A server that goes on talking may keep the end waiting for so many times ``drain_timeout``, and no longer."""
ERAS = ("auto", "legacy", "modern")


class Options:
    """Settings of one ``DualFace``; every member has the default of its command-line option."""

    __slots__ = (
        "command_label",
        "drain_timeout",
        "isolate_capabilities",
        "list_ttl_ms",
        "max_parked",
        "max_sessions",
        "one_call_per_session",
        "process_per_call",
        "question_timeout",
        "question_window",
        "replay",
        "request_timeout",
        "server_era",
        "start_timeout",
        "strict",
    )

    def __init__(
        self,
        *,
        server_era: str = "auto",
        request_timeout: float | None = 600.0,
        start_timeout: float | None = 60.0,
        question_timeout: float | None = 600.0,
        question_window: float = 0.02,
        drain_timeout: float = 5.0,
        max_sessions: int = 8,
        max_parked: int = 64,
        one_call_per_session: bool = False,
        isolate_capabilities: bool = False,
        process_per_call: bool = False,
        replay: bool = False,
        strict: bool = False,
        list_ttl_ms: int = 0,
        command_label: str = "the server",
    ) -> None:
        self.server_era = server_era  # one of ERAS; "auto": initialize first, fall forward to server/discover
        self.request_timeout = request_timeout  # a call without an answer for so long fails with -32603
        self.start_timeout = start_timeout  # the handshake (or the first server/discover) must be answered by then
        self.question_timeout = question_timeout  # a parked call that nobody resumes is released after so long
        self.question_window = question_window  # quiet time after which questions that came together go out together
        self.drain_timeout = drain_timeout  # after EOF: time for what is in flight, counted from the last output
        self.max_sessions = max_sessions
        self.max_parked = max_parked  # parked calls held at once; the oldest is released first
        self.one_call_per_session = one_call_per_session
        self.isolate_capabilities = isolate_capabilities
        self.process_per_call = process_per_call  # each call that may ask gets a server process of its own
        self.replay = replay  # run a call again by itself when its parked state is gone
        self.strict = strict
        self.list_ttl_ms = list_ttl_ms
        self.command_label = command_label  # how the server is named in error texts

    def changed(self, **settings: object) -> Options:
        """The same settings but for those named."""
        return Options(**{**{name: getattr(self, name) for name in self.__slots__}, **settings})

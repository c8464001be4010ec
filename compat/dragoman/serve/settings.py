"""The settings of a ``Bridge``: those of the core and of the HTTP face, by the names of their command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from dragoman.bridge.options import Options
from dragoman.http.options import ISOLATIONS, HttpOptions


class Settings(TypedDict, total=False):
    """Every setting, each with the default of its option; ``dragoman serve --help`` tells what they mean.

    Durations are seconds, sizes bytes; ``None`` means "no limit" for a duration.
    """

    # HttpOptions
    path: str
    sse: bool
    host: str
    allow_hosts: Sequence[str]
    allow_origins: Sequence[str]
    isolation: str
    principal_header: str | None
    header_wait: float
    max_sessions: int
    session_ttl: float
    hibernate_after: float
    max_body: int
    keepalive: float
    # Options
    server_era: str
    request_timeout: float | None
    start_timeout: float | None
    question_timeout: float | None
    question_window: float
    drain_timeout: float
    max_parked: int
    one_call_per_session: bool
    replay: bool
    strict: bool
    list_ttl_ms: int
    command_label: str


def split(settings: Settings) -> tuple[Options, HttpOptions]:
    """For the bridge, and for its HTTP face. Raises ``TypeError`` for a name that is none, ``ValueError`` for such a value."""
    given: dict[str, Any] = dict(settings)
    unknown = sorted(given.keys() - Settings.__annotations__.keys())
    if unknown:
        raise TypeError(f"Bridge has no setting {', '.join(unknown)}")
    http = HttpOptions(**{name: value for name, value in given.items() if name in HttpOptions.__slots__})
    if http.isolation not in ISOLATIONS:
        raise ValueError(f"isolation is one of {', '.join(ISOLATIONS)}, not {http.isolation!r}")
    if not http.path.startswith("/"):
        raise ValueError(f"path must start with a slash, not be {http.path!r}")
    return Options(**{name: value for name, value in given.items() if name not in HttpOptions.__slots__}), http

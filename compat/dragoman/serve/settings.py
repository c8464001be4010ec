"""The settings of a ``Bridge``: those of the core and of the HTTP face, by the names of their command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from dragoman.bridging.options import ERAS, Options
from dragoman.http.options import ISOLATIONS, OPEN, HttpOptions


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
    forward_authorization: bool
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
        near = [each for name in unknown for each in Settings.__annotations__ if each in (f"{name}s", name.removesuffix("s"))]
        raise TypeError(f"there is no setting {', '.join(unknown)}{f' (but {chr(44).join(near)})' if near else ''}")
    for name, value in given.items():
        _check(name, value)
    http = HttpOptions(**{name: value for name, value in given.items() if name in HttpOptions.__slots__})
    if given.get("server_era", "auto") not in ERAS:
        raise ValueError(f"server_era is one of {', '.join(ERAS)}, not {given['server_era']!r}")
    if http.isolation not in (*ISOLATIONS, OPEN):
        raise ValueError(f"isolation is one of {', '.join(ISOLATIONS)}, not {http.isolation!r}")
    _check_path(http)
    return Options(**{name: value for name, value in given.items() if name not in HttpOptions.__slots__}), http


def _check(name: str, value: object) -> None:
    """A value of a wrong type would only be noticed by the first client, as a fault of ours."""
    kind = str(Settings.__annotations__[name].__forward_arg__)
    wanted = kind.removesuffix(" | None")
    if value is None and wanted != kind:
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "str": isinstance(value, str),
        "bool": isinstance(value, bool),
        "int": is_number and isinstance(value, int),
        "float": is_number,
        "Sequence[str]": isinstance(value, list | tuple | set | frozenset) and all(isinstance(item, str) for item in value),
    }[wanted]
    if not fits:
        raise ValueError(f"{name} must be {kind}, not {value!r}")
    if isinstance(value, int | float) and not isinstance(value, bool) and (value < 0 or (name.startswith("max_") and not value)):
        raise ValueError(f"{name} must be {'at least 1' if name.startswith('max_') else '0 or more'}, not {value!r}")


def _check_path(http: HttpOptions) -> None:
    path = http.path
    if not path.startswith("/"):
        raise ValueError(f"path must start with a slash, not be {path!r}")
    if not path.isascii() or not path.isprintable() or any(sign in path for sign in "?#% \\"):
        raise ValueError(f"path must be a plain path without ?, # or %, not {path!r}")
    http.path = path.rstrip("/") or "/"
    if http.path == "/healthz" or (http.sse and http.path in ("/sse", "/messages")):
        raise ValueError(f"path {http.path} is taken by another endpoint")

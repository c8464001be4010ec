"""From a configuration to a running HTTP face.

What is wrong with the address or the command is said before anything heavy is imported, and ends with a status; the server
is started next, so that its start overlaps our imports.
"""

from __future__ import annotations

import os
import sys

from dragoman.io.command import label
from dragoman.wrap.config import Config
from dragoman.wrap.unusable import Unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

    from dragoman.io.launcher import Launcher
    from dragoman.serve.settings import Settings

NOT_HERE = "dragoman serve needs POSIX: the event loops of Windows cannot wait for a server's pipes"


def serve(config: Config) -> int:
    """Serve over HTTP until a signal; the answer is the exit status."""
    if sys.platform == "win32":
        return _refuse(NOT_HERE, 2)
    try:
        sockets = _listen(config)
        launcher = _launch(config) if config.url is None else None
    except Unusable as fault:
        return _refuse(str(fault), fault.status)
    return _run(config, sockets, launcher)


def _refuse(text: str, status: int) -> int:
    try:
        os.write(2, f"dragoman: error: {' '.join(text.splitlines())}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass
    return status


def _listen(config: Config) -> list[socket.socket]:
    from dragoman.wrap.listening import CannotListen, Unsafe, check, listen, resolve

    host = config.text("host") or ""
    try:
        addresses = resolve(host)
        check(host, addresses, config.text("isolation") or "", config.text("principal-header"))
        return listen(host, addresses, int(config.number("port")))
    except Unsafe as fault:
        raise Unusable(str(fault), 2) from None
    except CannotListen as fault:
        raise Unusable(str(fault), 1) from None


def _launch(config: Config) -> Launcher:
    from dragoman.io.launcher import Launcher

    launcher = Launcher(config.command, {**os.environ, **config.env}, config.text("cwd"), label(config.command))
    fault = launcher.prepare()
    if fault is not None:
        raise Unusable(fault, 1)
    return launcher


def _run(config: Config, sockets: list[socket.socket], launcher: Launcher | None) -> int:
    from dragoman.io.imports import quick_imports

    with quick_imports():
        from dragoman.http import face  # noqa: F401 - the application asks for it only when it starts
        from dragoman.io.keyfile import KeyFileError
        from dragoman.io.limits import allow_connections
        from dragoman.serve.app import Bridge
        from dragoman.serve.server import run
        from dragoman.wrap.listening import url

    try:
        bridge = Bridge(
            config.command,
            **_remote(config),
            log_level=config.text("log-level") or "warning",
            max_line=int(config.number("max-line")),
            state_key_file=config.text("state-key-file"),
            stats=config.flag("stats"),
            launcher=launcher,
            **_settings(config),
        )
    except (KeyFileError, ValueError, Unusable) as fault:
        if launcher is not None:
            launcher.abandon()
        return _refuse(str(fault), 2)
    allow_connections()
    path = (config.text("path") or "").rstrip("/") or "/"
    return run(bridge, sockets, f"listening on {url(config.text('host') or '', sockets, path)}")


def _remote(config: Config) -> dict[str, Any]:
    """The server, if it is a URL."""
    if config.url is None:
        return {}
    from dragoman.wrap.remote_config import credentials_of, settings_of

    settings = settings_of(config)
    if config.flag("forward-authorization") and any(name.lower() == "authorization" for name in settings.headers):
        raise Unusable("--forward-authorization sends each client's credentials, --bearer-env and --header Authorization yours: choose")
    return {"url": settings, "credentials": credentials_of(config)}


def _settings(config: Config) -> Settings:
    return {
        "path": config.text("path") or "/",
        "sse": config.flag("sse"),
        "host": config.text("host") or "",
        "allow_hosts": config.texts("allow-host"),
        "allow_origins": config.texts("allow-origin"),
        "isolation": config.text("isolation") or "principal",
        "principal_header": config.text("principal-header"),
        "header_wait": config.number("header-wait"),
        "max_sessions": int(config.number("max-sessions")),
        "session_ttl": config.number("session-ttl"),
        "hibernate_after": config.number("hibernate-after"),
        "max_body": int(config.number("max-body")),
        "keepalive": config.number("keepalive"),
        "forward_authorization": config.flag("forward-authorization"),
        "server_era": config.text("server-era") or "auto",
        "start_timeout": config.limit("start-timeout"),
        "request_timeout": config.limit("request-timeout"),
        "question_timeout": config.limit("question-timeout"),
        "question_window": config.number("question-window"),
        "drain_timeout": config.number("drain-timeout"),
        "max_parked": int(config.number("max-parked")),
        "one_call_per_session": config.flag("one-call-per-session"),
        "replay": config.flag("replay"),
        "strict": config.flag("strict"),
        "list_ttl_ms": int(config.number("list-ttl") * 1000),
    }

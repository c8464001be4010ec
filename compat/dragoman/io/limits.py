"""How many connections may be open at once: each takes a descriptor, and the system gives only so many."""

from __future__ import annotations

_FILES = 65536
_MOST = 256
_LEAST = 8
_OTHERS = 64


def allow_connections() -> None:
    """The usual limit of 1,024 descriptors is for programs that ``select`` them; ours may be raised as far as the system allows."""
    try:
        import resource
    except ImportError:  # Windows, where there is no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            pass


def requests_at_once() -> int:
    """How many requests may be under way to a server behind a URL; the rest waits its turn. Half of the descriptors are others'."""
    try:
        import resource
    except ImportError:
        return _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(_LEAST, min(_MOST, (soft - _OTHERS) // 2))

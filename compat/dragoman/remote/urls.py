"""What matters of a URL: where it leads (RFC 6454, section 4), and how it can be told without what may be secret in it."""

from __future__ import annotations

from urllib.parse import urlsplit

Origin = tuple[str, str, int | None]
_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> Origin | None:
    """Scheme, host and port; None for what is no URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None


def shown(url: str) -> str:
    """Without a query, a fragment or credentials."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "what is no URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:300]

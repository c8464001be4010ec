"""Who may call: ``Host`` and ``Origin`` (2026-07-28, basic/transports/streamable-http#security--endpoint; the page of every revision).

A web page of anybody's can make its visitor's browser send requests to a server on the visitor's own machine, also under
a host name that it lets point there (DNS rebinding). The browser tells the truth in two fields: ``Host`` is the name that the
page used, ``Origin`` is the page. A connection that arrives on a loopback address is served only under a loopback name, and
to pages from there; others as the operator allows. The fields are compared in one form: lower case, no final dot, IPv6 shortened.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

from dragoman.http.effects import Header, Headers
from dragoman.http.headers import shown
from dragoman.http.options import HttpOptions
from dragoman.http.rejection import Rejection
from dragoman.http.request import Fields
from dragoman_specs.names import HEADER_PARAM_PREFIX, HEADER_PROTOCOL_VERSION, HEADER_SESSION_ID

Authority = tuple[str, int | None]
Origin = tuple[str, str, int | None]

LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
_ANY_ADDRESS = frozenset(("0.0.0.0", "[::]", ""))  # noqa: S104 - recognized, not bound
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)")
_LONGEST = 300
_CACHED = 256

METHODS = b"GET, POST, DELETE, OPTIONS"
_REQUEST_FIELDS = (
    *("content-type", "accept", "authorization", "last-event-id", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"),
    *("traceparent", "tracestate", "baggage"),
)
_PARAM_FIELD = re.compile(re.escape(HEADER_PARAM_PREFIX.lower()) + r"[!#$%&'*+.^_`|~0-9a-z-]{1,100}")
_MOST_PARAMS = 64
_EXPOSED = f"{HEADER_SESSION_ID}, {HEADER_PROTOCOL_VERSION}, WWW-Authenticate, Retry-After".encode()
_VARY: Header = (b"vary", b"Origin")
_TRUSTED_FOR = b"7200"  # seconds; browsers cut longer times to this


def parse_authority(text: str) -> Authority | None:
    """Host and port of ``host[:port]`` in the form in which they are compared; None for what is none."""
    found = _AUTHORITY.fullmatch(text.lower()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    host, port = found[1], None if found[2] is None else int(found[2])
    if port is not None and not 0 < port < 65536:
        return None
    if host[0] == "[":
        try:
            host = f"[{IPv6Address(host[1:-1]).compressed}]"
        except AddressValueError:
            return None
    else:
        host = host.removesuffix(".")
    return None if ".." in host else (host, port)


def parse_origin(text: str) -> Origin | None:
    """Scheme, host and port (that of the scheme, if none is given) of an origin; None for ``null`` and what is none."""
    found = _ORIGIN.fullmatch(text.lower())
    authority = None if found is None else parse_authority(found[2])
    if found is None or authority is None:
        return None
    scheme, (host, port) = found[1], authority
    return scheme, host, _DEFAULT_PORTS.get(scheme) if port is None else port


class Gate:
    """Decides by the two fields; made once from what the operator set. Raises ``ValueError`` on a setting that means nothing."""

    def __init__(self, http: HttpOptions) -> None:
        self._any_host = "*" in http.allow_hosts
        self._hosts = frozenset(_allowed_host(entry) for entry in http.allow_hosts if entry != "*")
        self._any_origin = "*" in http.allow_origins
        self._origins = frozenset(_allowed_origin(entry) for entry in http.allow_origins if entry != "*")
        bound = parse_authority(_bracketed(http.host))
        self._bound = "" if bound is None or bound[0] in _ANY_ADDRESS else bound[0]
        self._is_local = self._bound in LOOPBACK or self._bound.startswith("127.")
        self._passed: set[tuple[bytes, bytes | None, bool]] = set()

    def check(self, fields: Fields, local: bool) -> str | None:
        """Why the request is refused (403); None: it is not. ``local`` is that of ``HttpRequest``."""
        host, origin = fields.get(b"host"), fields.get(b"origin")
        if host is None:
            return "Host header is missing"
        if fields.repeated and not fields.repeated.isdisjoint((b"host", b"origin")):
            return "Host or Origin header stands more than once"
        seen = (host, origin, local)
        if seen in self._passed:
            return None
        is_guarded = local or self._is_local
        fault = self._host_fault(host, is_guarded) or self._origin_fault(origin, is_guarded)
        if fault is None and len(self._passed) < _CACHED and len(host) + len(origin or b"") <= 2 * _LONGEST:
            self._passed.add(seen)
        return fault

    def _host_fault(self, value: bytes, is_guarded: bool) -> str | None:
        authority = parse_authority(value.decode("latin-1"))
        if authority is None:
            return f"Host header value {shown(value)} is not a host"
        host, _ = authority
        if self._any_host or authority in self._hosts or (host, None) in self._hosts or host == self._bound:
            return None
        if host in LOOPBACK if is_guarded else not self._hosts:
            return None
        return f"Host header value {shown(value)} is not allowed (--allow-host)"

    def _origin_fault(self, value: bytes | None, is_guarded: bool) -> str | None:
        if value is None or (self._any_origin and value == b"null"):
            return None
        origin = parse_origin(value.decode("latin-1"))
        if origin is None:
            return f"Origin header value {shown(value)} is not an origin that can be allowed"
        is_own = is_guarded and origin[0] in _DEFAULT_PORTS and origin[1] in LOOPBACK
        if is_own or self._any_origin or origin in self._origins:
            return None
        return f"Origin header value {shown(value)} is not allowed (--allow-origin)"

    def cors(self, fields: Fields) -> Headers:
        """What lets the page of an allowed origin read the answer; nothing for others, and never with credentials of the browser's."""
        origin = fields.get(b"origin")
        if origin is None:
            return ()
        if b"origin" in fields.repeated or self._origin_fault(origin, is_guarded=True):
            return (_VARY,)
        return ((b"access-control-allow-origin", origin), _VARY, (b"access-control-expose-headers", _EXPOSED))

    def preflight(self, fields: Fields) -> Rejection:
        """The answer to OPTIONS: what a page may send. It allows nothing to a page whose origin is not allowed."""
        allow: Header = (b"allow", METHODS)
        cors = self.cors(fields)
        if len(cors) <= 1:
            return Rejection(204, (allow, *cors), b"")
        names = (*_REQUEST_FIELDS, *_params_asked_for(fields.joined(b"access-control-request-headers") or b""))
        headers = (
            (b"access-control-allow-methods", METHODS),
            (b"access-control-allow-headers", ", ".join(names).encode()),
            (b"access-control-max-age", _TRUSTED_FOR),
        )
        return Rejection(204, (allow, *cors[:2], *headers), b"")


def _params_asked_for(value: bytes) -> list[str]:
    """The ``Mcp-Param-*`` names in a list of field names, which no fixed list can hold; what is no name is passed over."""
    names = dict.fromkeys(name.strip().lower() for name in value.decode("latin-1").split(","))
    return [name for name in names if _PARAM_FIELD.fullmatch(name)][:_MOST_PARAMS]


def _bracketed(host: str) -> str:
    """An IPv6 address as options name it, in the brackets that it has in a URL."""
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host


def _allowed_host(entry: str) -> Authority:
    authority = parse_authority(_bracketed(entry))
    if authority is None:
        raise ValueError(f"--allow-host {entry}: must be a host like example.com, a host with its port like example.com:8080, or *")
    return authority


def _allowed_origin(entry: str) -> Origin:
    origin = parse_origin(entry.removesuffix("/"))
    if origin is None:
        raise ValueError(f"--allow-origin {entry}: must be an origin like https://app.example, or *")
    return origin

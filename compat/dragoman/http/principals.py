"""Who a request is from, as far as it can be told (translation across HTTP: nothing of one principal reaches another).

A trusted proxy names the caller in a field of its choice, or the ``Authorization`` value tells callers apart: it is not
verified here (that is for whoever stands in front), but two values are never taken for one. Requests without either share
one principal on a loopback address, where only this machine's users can call, or when everybody is to be one.
"""

from __future__ import annotations

import re
from hashlib import sha256

from dragoman import errors
from dragoman.http.options import OPEN, HttpOptions
from dragoman.http.rejection import Rejection, rpc
from dragoman.http.request import Fields

ANONYMOUS, EVERYBODY = b"anonymous", b"everybody"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Principals:
    """Names principals by digests: no credential is kept."""

    def __init__(self, http: HttpOptions) -> None:
        self._shared = http.isolation == "shared"
        self._open = http.isolation == OPEN
        if http.principal_header is not None and _TOKEN.fullmatch(http.principal_header) is None:
            raise ValueError(f"--principal-header (principal_header) must be the name of a header field, not {http.principal_header!r}")
        self._field = None if http.principal_header is None else http.principal_header.lower().encode()

    def of(self, fields: Fields, *, local: bool) -> bytes | Rejection:
        """The principal of a request, or why it has none."""
        if self._shared:
            return EVERYBODY
        value = fields.get(self._field or b"authorization")
        if value:
            if self._field is not None and self._field in fields.repeated:
                return _refused(f"the {self._field.decode()} header stands more than once")
            return sha256(value).digest()
        if self._open:
            return ANONYMOUS
        if self._field is not None:
            return _refused(f"the proxy in front must name the caller in the {self._field.decode()} header")
        if local:
            return ANONYMOUS
        return _refused("a request from another machine needs an Authorization header (see --principal-header and --isolation)")


def _refused(why: str) -> Rejection:
    # A challenge is what 401 must carry (RFC 9110, section 15.5.2).
    return rpc(401, None, errors.unauthorized(why), (b"www-authenticate", b"Bearer"))

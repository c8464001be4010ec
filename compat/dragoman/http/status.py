"""The HTTP status of a modern answer (2026-07-28, basic/transports/streamable-http#protocol-version-header, basic/index#error-codes).

An error inside a call is an answer like any other: 200. The specification gives a status of its own to a method that
is not there (404) and to the three errors that a client may have to act on before it sends the request again (400).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from dragoman_specs.names import HEADER_MISMATCH, METHOD_NOT_FOUND, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION

_CHALLENGE = b"wwwAuthenticate"
_STATUSES = {METHOD_NOT_FOUND: 404, HEADER_MISMATCH: 400, MISSING_CLIENT_CAPABILITY: 400, UNSUPPORTED_PROTOCOL_VERSION: 400}


class _Error(Struct, gc=False):
    code: Any = None
    data: Any = None


class _Answer(Struct, gc=False):
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def status_of(error_code: int | None) -> int:
    """The status of an answer whose error has ``error_code``; None: a result."""
    return 200 if error_code is None else _STATUSES.get(error_code, 200)


def error_code_of(line: bytes) -> int | None:
    """The error code of a response line; None for a result, or an error that has none."""
    try:
        error = _decode(line).error
    except msgspec.MsgspecError:
        return None
    return error.code if error is not None and type(error.code) is int else None


def challenge_of(line: bytes) -> tuple[int, bytes] | None:
    """The status and the challenge with which a server behind a URL refused a request, where an error tells them (``remote.troubles``)."""
    if _CHALLENGE not in line:
        return None
    try:
        error = _decode(line).error
    except msgspec.MsgspecError:
        return None
    data = error.data if error is not None else None
    status, challenge = (data.get("status"), data.get("wwwAuthenticate")) if isinstance(data, dict) else (None, None)
    if status not in (401, 403) or not isinstance(challenge, str) or not challenge.isascii() or not challenge.isprintable():
        return None
    return status, challenge.encode()

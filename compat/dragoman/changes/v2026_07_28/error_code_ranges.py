"""Error codes with reserved meanings (2026-07-28, basic/index#error-codes).

-32020 to -32099 belong to the specification, so a legacy server's own code in that range becomes an internal error that
keeps the old code in its data. The retired -32042 lies in it too; the bridge answers it with questions before it gets here.
-32000 to -32019 carry no meaning and pass.

A defined code stands only for its meaning. Many servers answer a call of an unknown tool or prompt with -32601, but the
method was found and it is the name that was not, which is -32602 (server/tools#error-handling, server/prompts#error-handling).
Over HTTP the difference is a status: -32601 is 404.

To a legacy client -32020, -32021 and -32022 are words of a conversation that it is not part of: whoever stands between has
acted on them, or they are internal errors. So is a -32042, which a modern server may not send: in 2025-11-25 it promises
elicitations with their ids.
"""

from __future__ import annotations

from typing import Final

from dragoman import shape
from dragoman.change import EVERY, Change, Crossing, Members, Notes, Part
from dragoman_specs.names import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    RESERVED_CODES,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
)
from dragoman_specs.version import Version

CHANGE = Change("error_code_ranges", since=Version.V2026_07_28)

_CAPABILITY: Final = {"tools/call": "tools", "prompts/get": "prompts"}
_NOT_FOR_CLIENTS: Final = frozenset((HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION, URL_ELICITATION_REQUIRED))


@CHANGE.upgrade(EVERY, Part.ERROR)
def no_reserved_code(error: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """A private code in the reserved range becomes -32603."""
    return shape.internal_error(error) if int(bytes(error["code"])) in RESERVED_CODES else error


@CHANGE.upgrade(_CAPABILITY, Part.ERROR)
def unknown_name(error: Members, crossing: Crossing, _notes: Notes) -> Members:
    """-32601 of a declared capability means the name, unless a task-only tool refused to be called directly."""
    if int(bytes(error["code"])) != METHOD_NOT_FOUND or crossing.task_only:
        return error
    return {**error, "code": shape.raw(INVALID_PARAMS)} if _CAPABILITY[crossing.method] in crossing.server_capabilities else error


@CHANGE.downgrade(EVERY, Part.ERROR)
def no_modern_code(error: Members, _crossing: Crossing, _notes: Notes) -> Members:
    """A code with another meaning for the client, or none, becomes -32603."""
    return shape.internal_error(error) if int(bytes(error["code"])) in _NOT_FOR_CLIENTS else error

"""SEP-2164: a missing resource is -32602 (2026-07-28, server/resources#error-handling); -32002 is retired (basic/index#error-codes).

-32002 never had a meaning outside resources, yet some servers use it for "not initialized" and the like. Only where it can
be about a resource is it translated; elsewhere it is an internal error that keeps the old code in its data.

-32602 says many things. To a legacy client only the one whose data names the very resource it asked for is -32002.
"""

from __future__ import annotations

from dragoman import frame, shape
from dragoman.change import EVERY, Change, Crossing, Members, Notes, Part
from dragoman_specs.names import INVALID_PARAMS, RESOURCE_NOT_FOUND
from dragoman_specs.version import Version

CHANGE = Change("sep2164_resource_not_found", since=Version.V2026_07_28)


@CHANGE.upgrade(EVERY, Part.ERROR)
def not_found(error: Members, crossing: Crossing, _notes: Notes) -> Members:
    """-32002 becomes -32602 with the URI, or -32603."""
    if int(bytes(error["code"])) != RESOURCE_NOT_FOUND:
        return error
    present = error.get("data")
    data = {} if present is None or bytes(present) == b"null" else frame.members(present)
    if crossing.method != "resources/read" and not (data and "uri" in data):
        return shape.internal_error(error)
    translated = {**error, "code": shape.raw(INVALID_PARAMS)}
    # Data of another form than an object is kept as it is: there is no member to fill in.
    if data is not None and "uri" not in data and crossing.uri is not None:
        translated["data"] = shape.raw({**data, "uri": crossing.uri})
    return translated


@CHANGE.downgrade("resources/read", Part.ERROR)
def found_missing(error: Members, crossing: Crossing, _notes: Notes) -> Members:
    """-32602 about the URI asked for becomes -32002."""
    if int(bytes(error["code"])) != INVALID_PARAMS or crossing.uri is None:
        return error
    data = frame.members(error.get("data")) or {}
    return {**error, "code": shape.raw(RESOURCE_NOT_FOUND)} if frame.text(data.get("uri")) == crossing.uri else error

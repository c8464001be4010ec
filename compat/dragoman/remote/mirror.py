"""sep2243_headers: the fields of our own requests (2026-07-28, basic/transports/streamable-http#client-behavior).

The method, what it names, and the arguments that a tool's ``inputSchema`` marks with ``x-mcp-header`` are repeated in fields, and
the server refuses what differs. So each is read from the body that is sent, after every translation. A tool whose marks are
invalid is not shown (#schema-extension); whoever calls it by its name alone calls a tool without marks, as on the checking side.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from dragoman import frame
from dragoman.http.headers import NAME_MEMBERS, encode_value
from dragoman.http.params import KEY, annotations_of, params_of
from dragoman_specs.names import HEADER_METHOD, HEADER_NAME

_KEY = KEY.encode()
_ESCAPE = b"\\u"
"""JSON may spell any word with these."""
_decode_tools = msgspec.json.Decoder(list[Raw]).decode


def headers_of(request: frame.Request, schema: bytes | None) -> tuple[tuple[str, str], ...] | str:
    """The fields of a request that repeat its body, as names and values; a text says why it can't be sent.

    ``schema`` is the ``inputSchema`` of the tool that is called; None: it is not known, or has no marks. The revision's field is not
    among them: every message has that one.
    """
    method = request.method
    if encode_value(method) != method:
        # The field of the method has no base64 form, and as it is such a name would arrive as another, or as a field more.
        return f"no {HEADER_METHOD} header can carry the method's name"
    fields = [(HEADER_METHOD, method)]
    if method not in NAME_MEMBERS:
        return tuple(fields)
    params = frame.members(request.params) or {}
    # A body that names nothing has nothing to repeat: what is wrong with it is the server's to say.
    name = frame.text(params.get(NAME_MEMBERS[method]))
    if name is not None:
        fields.append((HEADER_NAME, encode_value(name)))
    if schema is not None and method == "tools/call":
        wanted = annotations_of(schema)
        if not isinstance(wanted, str):
            fields.extend(params_of(wanted, params.get("arguments")))
    return tuple(fields)


def without_invalid(result: Raw) -> tuple[Raw, list[tuple[str, str]]]:
    """A result of ``tools/list`` without the tools whose marks are invalid, and of each the name and the reason.

    The same object comes back when all stay. What can't be read as a tool stays: it is not this rule that it breaks.
    """
    text = bytes(result)
    if _KEY not in text and _ESCAPE not in text:
        return result, []
    members = frame.members(result) or {}
    try:
        tools = _decode_tools(members.get("tools", Raw(b"[]")))
    except msgspec.MsgspecError:
        return result, []
    kept: list[Raw] = []
    refused: list[tuple[str, str]] = []
    for raw in tools:
        tool = frame.members(raw) or {}
        reason = annotations_of(tool.get("inputSchema", Raw(b"{}")))
        if isinstance(reason, str):
            refused.append((frame.text(tool.get("name")) or "", reason))
        else:
            kept.append(raw)
    if not refused:
        return result, []
    return Raw(frame.encode({**members, "tools": kept})), refused

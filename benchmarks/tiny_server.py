"""A legacy MCP server that does as little as it can, so that the relay in front of it is what gets measured.

It reads descriptor 0 and writes descriptor 1 without buffers of its own, imports nothing but ``os`` and ``sys``, and finds the id,
the method and the arguments of a frame by searching its bytes. Only a frame that names ``"id"`` or ``"method"`` more than
once is decoded, and ``json`` is imported then. Answers are constants with the id filled in.

Tools: ``echo`` gives ``text`` back, ``blob`` gives a text of ``bytes`` bytes. ``server/discover`` has a constant answer
too, so that a client may ask the bare server what it asks a bridge.
"""

import os
import sys

# 100 bytes on the wire: prose with an escaped quote pair, a path, an escaped line end and one character outside ASCII.
LINE = r"GET /v1/items/42 answered \"200 OK\" in 181 ms, src/server/routes/items.py:118 — cached, 81.2 KB\n".encode()

CAPABILITIES = b'{"tools":{}}'
SERVER_INFO = b'{"name":"tiny","version":"1.0.0"}'
INITIALIZED = b'{"protocolVersion":"2025-11-25","capabilities":' + CAPABILITIES + b',"serverInfo":' + SERVER_INFO + b"}"
DISCOVERED = (
    b'{"supportedVersions":["2026-07-28"],"capabilities":' + CAPABILITIES + b',"resultType":"complete","ttlMs":0,"cacheScope":"private"}'
)
TOOLS = (
    b'{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},'
    b'{"name":"blob","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}]}'
)
HEAD, MIDDLE, TAIL = b'{"jsonrpc":"2.0","id":', b',"result":', b"}\n"

blobs: dict[int, bytes] = {}


def blob(size: int) -> bytes:
    """The text of ``size`` wire bytes, made once a size."""
    if size not in blobs:
        count, rest = divmod(size, len(LINE))
        blobs[size] = LINE * count + b"." * rest
    return blobs[size]


def content(text: bytes) -> bytes:
    return b'{"content":[{"type":"text","text":"' + text + b'"}]}'


def member(line: bytes, name: bytes) -> bytes:
    """The bytes of a scalar member that ``line`` is known to hold, quotes included."""
    start = line.index(name) + len(name)
    while line[start] in b" \t":
        start += 1
    if line[start] == ord('"'):
        return line[start : line.index(b'"', start + 1) + 1]
    end = start
    while line[end] not in b",}":
        end += 1
    return line[start:end].strip()


def respelled(line: bytes) -> bytes:
    """The same frame with only the members that ``answer`` looks for."""
    import json

    frame = json.loads(line)
    spoken = {key: frame[key] for key in ("id", "method") if key in frame}
    params = frame.get("params", {})
    if frame.get("method") == "tools/call":
        spoken |= {"name": params["name"], **params.get("arguments", {})}
    return json.dumps(spoken, ensure_ascii=False, separators=(",", ":")).encode()


def answer(line: bytes) -> bytes:
    """The answer to one frame, or nothing for a notification."""
    if line.count(b'"id":') > 1 or line.count(b'"method":') > 1:
        line = respelled(line)
    if b'"id":' not in line or b'"method":' not in line:
        return b""
    request_id, method = member(line, b'"id":'), member(line, b'"method":')
    if method == b'"tools/call"':
        result = content(blob(int(member(line, b'"bytes":'))) if b'"bytes":' in line else member(line, b'"text":')[1:-1])
    elif method == b'"initialize"':
        result = INITIALIZED
    elif method == b'"tools/list"':
        result = TOOLS
    elif method == b'"ping"':
        result = b"{}"
    elif method == b'"server/discover"':
        result = DISCOVERED
    else:
        return HEAD + request_id + b',"error":{"code":-32601,"message":"Method not found"}}\n'
    return b"".join((HEAD, request_id, MIDDLE, result, TAIL))


def write_all(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def main() -> int:
    rest = b""
    while chunk := os.read(0, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if reply := answer(line):
                write_all(reply)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What was posted, and what a server wrote, as frames of one line each.

On stdio a line end ends the frame, so a JSON text goes there on one line: between tokens a space means as much. A batch is
taken apart, because servers of other revisions know none and its messages may belong to different streams.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from dragoman import frame


def read(body: bytes) -> tuple[frame.Frame | list[frame.Frame] | None, bytes]:
    """A message and its text on one line. It is read as it came first: a line end within a string is no JSON, and stays none."""
    message = frame.parse(body)
    if (b"\n" not in body and b"\r" not in body) or isinstance(message, frame.Malformed):
        return message, body
    line = body.replace(b"\n", b" ").replace(b"\r", b" ")
    return frame.parse(line), line


def split(line: bytes) -> list[bytes]:
    """The entries of a batch; the line itself if it cannot be read as one."""
    try:
        return [bytes(raw) for raw in msgspec.json.decode(line, type=list[Raw])]
    except (msgspec.MsgspecError, RecursionError):
        return [line]


def progress_token(params: Raw | None) -> bytes | None:
    """The token under which a request asks for progress, as JSON text."""
    if params is None or b'"progressToken"' not in bytes(params):
        return None
    token = (frame.members((frame.members(params) or {}).get("_meta")) or {}).get("progressToken")
    return None if token is None else bytes(token)


def refusal_of(entry: frame.Malformed) -> bytes:
    """The answer to an entry of a batch that is no message; 2025-03-26, which alone has batches, knows JSON-RPC's null id."""
    return frame.failure(entry.id or b"null", frame.error(entry.code, entry.message))[:-1]


def readdressed(answer: frame.Result | frame.Failure, client_id: bytes) -> bytes:
    """A server's answer as a line under the id that its request really has."""
    if isinstance(answer, frame.Result):
        return frame.result(client_id, answer.result)
    return frame.failure(client_id, bytes(answer.error))

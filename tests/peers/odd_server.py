#!/usr/bin/env python3
"""A legacy server (2025-06-18) that is odd in exactly one way, chosen with ``--odd MODE``.

Theory of operation: the base server answers ``initialize``, ``ping``, ``tools/list`` and ``tools/call``; its one tool ``echo`` returns its
argument ``text``. A mode replaces one of three hooks, so that everything else stays correct and a failure can have only one cause:

* ``ON_REPLY``  how the answer to ``tools/call`` is written (wrong id, bad bytes, twice …);
* ``ON_WRITE``  how every line is written (CRLF, BOM, banner, flooded stderr);
* ``ON_REQUEST`` what a request does before it is answered (exit, silence, another version, refuse, malformed results …).

Each mode was seen in the field. ``stubborn`` and ``grandchild`` write pids to ``--pid-file`` and end by themselves after a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peer_wire import JsonObject, Wire

REVISION = "2025-06-18"
SAFETY = 60
MIB = 1 << 20


class Odd:
    """The base server and its three hooks."""

    def __init__(self, mode: str, pid_file: str) -> None:
        self.mode = mode
        self.pid_file = pid_file
        self.wire = Wire()
        self.reply = ON_REPLY.get(mode, reply_plain)
        self.write = ON_WRITE.get(mode, write_plain)
        self.before = ON_REQUEST.get(mode, before_nothing)
        self.lines_written = 0
        self.held: tuple[Any, JsonObject] | None = None
        self.reported: list[int] = []

    def report(self, pid: int) -> None:
        """Add a pid to the pid file, replaced at once so that a reader never sees half of it."""
        self.reported.append(pid)
        if self.pid_file:
            fresh = Path(self.pid_file + ".new")
            fresh.write_text("\n".join(map(str, self.reported)), encoding="ascii")
            fresh.replace(self.pid_file)

    def send(self, frame: Any) -> None:
        self.line(json.dumps(frame).encode())

    def line(self, line: bytes) -> None:
        self.write(self, line)
        self.lines_written += 1

    def result(self, request_id: Any, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def error(self, request_id: Any, code: Any, message: str, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        self.send({"jsonrpc": "2.0", "id": request_id, "error": error})

    def run(self) -> None:
        prepare(self)
        for frame in self.wire.frames():
            if isinstance(frame, dict):
                self.take(frame)
        if self.mode == "stubborn":
            while True:
                signal.pause()

    def take(self, frame: JsonObject) -> None:
        method, params = frame.get("method"), frame.get("params") or {}
        if self.before(self, frame) or method is None or "id" not in frame:
            return
        if method == "initialize":
            self.result(frame["id"], hello(REVISION))
        elif method == "ping":
            self.result(frame["id"], {})
        elif method == "tools/list":
            self.result(frame["id"], {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        elif method == "tools/call":
            self.reply(self, frame["id"], text(str((params.get("arguments") or {}).get("text", ""))))
        else:
            self.error(frame["id"], -32601, "Method not found")


def hello(version: str) -> JsonObject:
    return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}


def text(words: str) -> JsonObject:
    return {"content": [{"type": "text", "text": words}]}


def prepare(odd: Odd) -> None:
    """What a mode does at start."""
    if odd.mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.alarm(SAFETY)
        odd.report(os.getpid())
    elif odd.mode == "grandchild":
        program = f"import signal; signal.alarm({SAFETY}); signal.pause()"
        odd.report(os.getpid())
        odd.report(subprocess.Popen([sys.executable, "-S", "-c", program]).pid)


# How the answer to tools/call is written.


def reply_plain(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, result)


def reply_late(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """Hold each answer back until the next call has come: answers arrive in pairs, the later one first."""
    if odd.held is None:
        odd.held = (request_id, result)
        return
    held, odd.held = odd.held, None
    odd.result(request_id, result)
    odd.result(*held)


def reply_dies(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.wire.leave(3, "out of ideas\nfatal: giving up in the middle of a call")


def reply_huge(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, text("x" * (10 * MIB)))


def reply_over_limit(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """A line of 80 MiB: over the default limit of a reader that has one."""
    odd.result(request_id, text("x" * (80 * MIB)))


def reply_bad_utf8(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.line(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": text("?!?")}).encode().replace(b"?!?", b"\xff\xfe\x80"))


def reply_nan(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, {**result, "structuredContent": {"value": float("nan")}})


def reply_surrogate(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, text("half a pair: \ud800"))


def reply_deep(odd: Odd, request_id: Any, result: JsonObject) -> None:
    nested = "[" * 5000 + "]" * 5000
    head = json.dumps({"jsonrpc": "2.0", "id": request_id})[:-1]
    content = json.dumps(result["content"])
    odd.line(f'{head}, "result": {{"content": {content}, "structuredContent": {{"deep": {nested}}}}}}}'.encode())


def reply_batch(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.send([{"jsonrpc": "2.0", "id": request_id, "result": result}])


def reply_stranger(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result("nobody asked", text("for a stranger"))
    odd.result(request_id, result)


def reply_id_type(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """1 becomes "1" and "1" becomes 1; a string that is no number stays."""
    changed = str(request_id) if isinstance(request_id, int) else int(request_id) if request_id.isdigit() else request_id
    odd.result(changed, result)


def reply_null_id(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.error(None, -32603, "something went wrong, and I forgot for whom")


def reply_twice(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, result)
    odd.result(request_id, text("the same again"))


def reply_null_result(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, None)


def reply_no_content(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, {"structuredContent": {"value": 1}})


def reply_untyped_block(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.result(request_id, {"content": [{"text": "what am I?"}]})


def reply_string_code(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.error(request_id, "E_BROKEN", "codes are words here")


def reply_no_code(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.send({"jsonrpc": "2.0", "id": request_id, "error": {"message": "no code at all"}})


def reply_private_code(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """A private code inside the range that 2026-07-28 reserves."""
    odd.error(request_id, -32050, "a private code", {"mine": True})


def reply_modern_code(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """-32021 by accident: a legacy server means nothing modern by it."""
    odd.error(request_id, -32021, "quota exceeded", {"limit": 3})


def reply_not_initialized(odd: Odd, request_id: Any, result: JsonObject) -> None:
    odd.error(request_id, -32002, "server not initialized")


def reply_torn(odd: Odd, request_id: Any, result: JsonObject) -> None:
    """Half a line, then the end."""
    odd.wire.send_bytes(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()[:-10])
    odd.wire.leave(0)


# How every line is written.


def write_plain(odd: Odd, line: bytes) -> None:
    odd.wire.send_bytes(line + b"\n")


def write_banner(odd: Odd, line: bytes) -> None:
    """Text on stdout before the first frame and between frames, and JSON that is no frame."""
    odd.wire.send_bytes(b"odd server v1.0\n\n" + b'{"level":"info","msg":"listening"}\n42\n' + line + b"\n")


def write_crlf(odd: Odd, line: bytes) -> None:
    odd.wire.send_bytes(line + b"\r\n")


def write_bom(odd: Odd, line: bytes) -> None:
    odd.wire.send_bytes((b"" if odd.lines_written else b"\xef\xbb\xbf") + line + b"\n")


def write_flood(odd: Odd, line: bytes) -> None:
    """1 MiB of stderr before every line: blocks for ever when nobody reads it."""
    for number in range(MIB // 64):
        sys.stderr.write(f"{number:09d} noise noise noise noise noise noise noise noise noise\n")
    sys.stderr.flush()
    odd.wire.send_bytes(line + b"\n")


def write_in_pieces(odd: Odd, line: bytes) -> None:
    """One byte a write, so that no read of the other side ends at a line's end."""
    for at in range(len(line)):
        odd.wire.send_bytes(line[at : at + 1])
    odd.wire.send_bytes(b"\n")


# What happens before a request is answered; true means that nothing more is to be done.


def before_nothing(odd: Odd, frame: JsonObject) -> bool:
    return False


def before_exit_on_discover(odd: Odd, frame: JsonObject) -> bool:
    if frame.get("method") == "server/discover":
        odd.wire.leave(1, "ExpectedInitializeRequest")
    return False


def before_silent(odd: Odd, frame: JsonObject) -> bool:
    return frame.get("method") not in ("initialize", "ping", "tools/list", "tools/call")


def answers_version(version: str) -> Callable[[Odd, JsonObject], bool]:
    def before(odd: Odd, frame: JsonObject) -> bool:
        if frame.get("method") != "initialize":
            return False
        odd.result(frame["id"], hello(version))
        return True

    return before


def before_refuse_version(odd: Odd, frame: JsonObject) -> bool:
    """Some servers refuse a version they do not know instead of answering with theirs (lifecycle page: they must not)."""
    supported = ["2024-11-05", "2025-03-26"]
    version = (frame.get("params") or {}).get("protocolVersion")
    if frame.get("method") != "initialize":
        return False
    if version in supported:
        odd.result(frame["id"], hello(version))
    else:
        data = {"supported": supported, "requested": version}
        odd.error(frame["id"], -32602, f"Unsupported protocol version: {version} (supported: {', '.join(supported)})", data)
    return True


def before_ping(odd: Odd, frame: JsonObject) -> bool:
    """Ping the client once it is there; an error answer means that it is not, so leave."""
    if frame.get("method") == "notifications/initialized":
        odd.send({"jsonrpc": "2.0", "id": "keep-alive", "method": "ping"})
    elif frame.get("id") == "keep-alive" and "error" in frame:
        odd.wire.leave(4, "client did not answer ping")
    return False


def before_answers_cancelled(odd: Odd, frame: JsonObject) -> bool:
    """``tools/call`` is answered only after it has been cancelled, which the client must ignore."""
    if frame.get("method") == "tools/call" and frame["params"].get("arguments", {}).get("text") == "cancel me":
        return True
    if frame.get("method") == "notifications/cancelled":
        odd.result(frame["params"]["requestId"], text("too late"))
        return True
    return False


def before_refuses_initialize(odd: Odd, frame: JsonObject) -> bool:
    if frame.get("method") == "initialize":
        odd.error(frame["id"], -32603, "licence expired")
        return True
    return False


def before_tools_null(odd: Odd, frame: JsonObject) -> bool:
    if frame.get("method") == "tools/list":
        odd.result(frame["id"], {"tools": None, "nextCursor": None})
        return True
    return False


def before_schemas_bare(odd: Odd, frame: JsonObject) -> bool:
    """Tools whose input schema is ``{}``, null, missing, or of another root type."""
    if frame.get("method") == "tools/list":
        tools: list[JsonObject] = [{"name": "echo", "inputSchema": {}}, {"name": "null", "inputSchema": None}, {"name": "missing"}]
        odd.result(frame["id"], {"tools": tools, "nextCursor": None})
        return True
    return False


ON_REPLY: dict[str, Callable[[Odd, Any, JsonObject], None]] = {
    "late": reply_late,
    "dies": reply_dies,
    "huge": reply_huge,
    "over-limit": reply_over_limit,
    "bad-utf8": reply_bad_utf8,
    "nan": reply_nan,
    "surrogate": reply_surrogate,
    "deep": reply_deep,
    "batch": reply_batch,
    "stranger": reply_stranger,
    "id-type": reply_id_type,
    "null-id": reply_null_id,
    "duplicate": reply_twice,
    "null-result": reply_null_result,
    "no-content": reply_no_content,
    "untyped-block": reply_untyped_block,
    "string-code": reply_string_code,
    "no-code": reply_no_code,
    "private-code": reply_private_code,
    "modern-code": reply_modern_code,
    "not-initialized": reply_not_initialized,
    "torn": reply_torn,
}
ON_WRITE: dict[str, Callable[[Odd, bytes], None]] = {
    "banner": write_banner,
    "crlf": write_crlf,
    "bom": write_bom,
    "flood-stderr": write_flood,
    "pieces": write_in_pieces,
}
ON_REQUEST: dict[str, Callable[[Odd, JsonObject], bool]] = {
    "exit-on-discover": before_exit_on_discover,
    "silent": before_silent,
    "version-2099": answers_version("2099-01-01"),
    "version-2026": answers_version("2026-07-28"),
    "version-2025-08": answers_version("2025-08-01"),
    "refuse-version": before_refuse_version,
    "ping": before_ping,
    "answers-cancelled": before_answers_cancelled,
    "refuses-initialize": before_refuses_initialize,
    "tools-null": before_tools_null,
    "schemas-bare": before_schemas_bare,
}
MODES = sorted([*ON_REPLY, *ON_WRITE, *ON_REQUEST, "stubborn", "grandchild", "plain"])


def main() -> None:
    parser = argparse.ArgumentParser(description="A legacy MCP server that is odd in one way.")
    parser.add_argument("--odd", choices=MODES, required=True)
    parser.add_argument("--pid-file", default="", help="where stubborn and grandchild write pids, one a line")
    options = parser.parse_args()
    Odd(options.odd, options.pid_file).run()


if __name__ == "__main__":
    main()

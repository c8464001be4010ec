"""The main job, shown: a client that speaks only 2026-07-28 uses a server that speaks only 2025-06-18.

Starts ``dragoman wrap`` in front of ``legacy_server.py``, discovers it, calls a tool that asks a question in the middle, answers
as a user would, and prints, after the end, what was said on both sides of the bridge.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "demo-client", "version": "1.0"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
TITLES = {
    "client>": "client ──▶ bridge",
    "client<": "client ◀── bridge",
    "server<": "          bridge ──▶ server",
    "server>": "          bridge ◀── server",
}
WIDTH = 230
LONG = 40  # a longer string is shown by both its ends
SCHEMAS = ("inputSchema", "requestedSchema")


class Ended(Exception):
    """The conversation came to an end that it should not have; the text says how."""


class Client:
    """A client of 2026-07-28: no handshake, everything a request needs is in it."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._id = 0

    def request(self, method: str, params: dict[str, Any], **meta: Any) -> dict[str, Any]:
        self._id += 1
        frame = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": {**params, "_meta": {**META, **meta}}}
        stdin: IO[str] = self._process.stdin  # type: ignore[assignment]
        stdout: IO[str] = self._process.stdout  # type: ignore[assignment]
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            stdin.write(json.dumps(frame) + "\n")
            stdin.flush()
        for line in stdout:
            answer = json.loads(line)
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise Ended(f"{method} was answered with an error: {answer['error']['message']}")
                return answer["result"]  # type: ignore[no-any-return]
        raise Ended(f"dragoman ended before it answered {method}")

    def close(self) -> int:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def converse(client: Client) -> str:
    client.request("server/discover", {})
    call = {"name": "deploy", "arguments": {"service": "shop"}}
    result = client.request("tools/call", call, progressToken="deploy-1")
    while result["resultType"] == "input_required":
        answers = {key: {"action": "accept", "content": {"environment": "staging"}} for key in result["inputRequests"]}
        result = client.request("tools/call", {**call, "inputResponses": answers, "requestState": result["requestState"]})
    return str(result["content"][0]["text"])


def brief(value: Any, name: str = "") -> Any:
    """A frame short enough for one line, with everything in it that matters here: requestState shows both its ends."""
    if isinstance(value, dict):
        if name in SCHEMAS:
            return "{…}"
        if name == "inputRequests":
            return {key: request["method"] for key, request in value.items()}
        if META.keys() <= value.keys():
            value = {"…": "2026-07-28", **{key: kept for key, kept in value.items() if key not in META}}
        return {key.replace("io.modelcontextprotocol/", "…/"): brief(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [brief(item) for item in value]
    return f"{value[:8]}…{value[-8:]}" if isinstance(value, str) and len(value) > LONG else value


def show(recording: Path) -> None:
    if not recording.exists():
        return
    for line in recording.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "event" in entry:
            print(f"  · {entry['event']}")
            continue
        frame = entry["frame"]
        del frame["jsonrpc"]
        text = json.dumps(brief(frame), ensure_ascii=False)
        print(f"{TITLES[entry['who']]:<28} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.jsonl"
        server = [sys.executable, str(HERE / "legacy_server.py")]
        client = Client([sys.executable, "-m", "dragoman", "wrap", "--record", str(recording), "--", *server])
        said, fault = "", ""
        try:
            said = converse(client)
        except Ended as ended:
            fault = str(ended)
        finally:
            status = client.close()
        print("A 2026-07-28 client, dragoman, and a 2025-06-18 server. What was said, shown after the end, long values shortened:\n")
        show(recording)
        print(f"\nThe demo failed: {fault}." if fault else f"\nThe tool said: {said}")
        print(f"dragoman exited with status {status}.")
    return 0 if said == "Deployed shop to staging." and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

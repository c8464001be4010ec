"""The main job, shown: a client that speaks only 2026-07-28 uses a server that speaks only 2025-06-18.

Starts ``dragoman wrap`` in front of ``legacy_server.py``, discovers it, calls a tool that asks a question in the middle, answers
as a user would, and prints what was said on both sides of the bridge.
"""

from __future__ import annotations

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
WIDTH = 150


class Client:
    """A client of 2026-07-28: no handshake, everything a request needs is in it."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._id = 0

    def request(self, method: str, params: dict[str, Any], **meta: Any) -> dict[str, Any]:
        self._id += 1
        frame = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": {**params, "_meta": {**META, **meta}}}
        stdin: IO[str] = self._process.stdin  # type: ignore[assignment]
        stdin.write(json.dumps(frame) + "\n")
        stdin.flush()
        while True:
            answer = json.loads(self._process.stdout.readline())  # type: ignore[union-attr]
            if answer.get("id") == self._id:
                return answer["result"]  # type: ignore[no-any-return]

    def close(self) -> int:
        self._process.stdin.close()  # type: ignore[union-attr]
        return self._process.wait(10)


def converse(client: Client) -> str:
    client.request("server/discover", {})
    call = {"name": "deploy", "arguments": {"service": "shop"}}
    result = client.request("tools/call", call, progressToken="deploy-1")
    while result["resultType"] == "input_required":
        answers = {key: {"action": "accept", "content": {"environment": "staging"}} for key in result["inputRequests"]}
        result = client.request("tools/call", {**call, "inputResponses": answers, "requestState": result["requestState"]})
    return str(result["content"][0]["text"])


def show(recording: Path) -> None:
    for line in recording.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "event" in entry:
            print(f"  · {entry['event']}")
            continue
        frame = entry["frame"]
        del frame["jsonrpc"]
        if isinstance(frame.get("params"), dict) and META.keys() <= frame["params"].get("_meta", {}).keys():
            kept = {key: value for key, value in frame["params"]["_meta"].items() if key not in META}
            frame["params"]["_meta"] = {"…envelope…": "2026-07-28", **kept}
        text = json.dumps(frame, ensure_ascii=False)
        print(f"{TITLES[entry['who']]:<28} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.jsonl"
        server = [sys.executable, str(HERE / "legacy_server.py")]
        client = Client([sys.executable, "-m", "dragoman", "wrap", "--record", str(recording), "--", *server])
        try:
            said = converse(client)
        finally:
            status = client.close()
        print("A 2026-07-28 client, dragoman, and a 2025-06-18 server:\n")
        show(recording)
        print(f"\nThe tool said: {said}\ndragoman exited with status {status}.")
    return 0 if said == "Deployed shop to staging." and status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

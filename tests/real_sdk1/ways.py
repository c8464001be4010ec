"""Ways from a client of the first generation to a modern-only server, through the bridge, with a tap on either side of it.

The target is a command or a URL. What is judged afterwards is the same for all::

    client ── tap ── dragoman wrap ── tap ── command          stdio
    client ── tap ── dragoman wrap ── http tap ── URL
    client ── http tap ── dragoman serve ── tap ── command    http, sse
    client ── http tap ── dragoman serve ── http tap ── URL
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from harness import PEERS, SOURCES
from http_judge import judge_http
from http_tap import Record, Tap
from modern_http_side import judge_modern_http_server
from modern_side import judge_modern_server, server_was_modern, spoken_with_client
from serving import Served

from faces import judge_client_side, tapped
from oracle import JsonObject, Oracle

CLIENT = Path(__file__).parent / "sdk1_client.py"
DEADLINE = 90
Target = list[str] | str
REVISIONS = {"1.30": "2025-11-25", "1.12": "2025-06-18"}
"""The revision that each release of the client asks for; what it needs is in ``requirements-RELEASE.txt``."""


class ServedFrom(Served):
    """``dragoman serve`` in front of a server that is reached by its URL."""

    def __init__(self, folder: Path, url: str, *options: str) -> None:
        super().__init__(folder, [], *options)
        self._command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, url]


class Way:
    """``run`` may be called once: it returns what the client reports, after everything that passed has been judged."""

    def __init__(
        self, folder: Path, oracle: Oracle, release: str, python: str, kind: str, target: Target, options: tuple[str, ...] = ()
    ) -> None:
        self.folder, self.oracle = folder, oracle
        self.client = [python, str(CLIENT), kind]
        self.target, self.options = target, options
        self.over_stdio, self.over_sse = kind.endswith("stdio"), kind.endswith("sse")
        self.revision = REVISIONS[release]
        self.near: list[Record] = []
        self.far: list[Record] = []

    def run(self) -> JsonObject:
        try:
            done = self._through_wrap() if self.over_stdio else self._through_serve()
            assert done.returncode == 0, done.stderr[-6000:]
            said: JsonObject = json.loads(done.stdout)
            self._judge_client_side()
            self._judge_server_side()
            stderr = self._stderr()
            assert "Traceback" not in stderr
            assert "was shown a legacy word" not in stderr
            assert said["complaints"] == []
        except BaseException as fault:
            fault.add_note("stderr:\n" + self._stderr()[-3000:])
            for name, records in (("client", self.near), ("server", self.far)):
                fault.add_note(f"last exchanges with the {name}:\n" + "\n".join(repr(record) for record in records[-10:]))
            raise
        report: JsonObject = said["report"]
        return report

    def _words(self, taps: ExitStack) -> list[str]:
        """The target on the command line of the bridge, behind a tap."""
        if not isinstance(self.target, str):
            return ["--", *self._tap("server"), *self.target]
        return [tapped_url(taps, self.target, self.far)]

    def _tap(self, name: str) -> list[str]:
        return [sys.executable, str(PEERS / "tap.py"), str(self.folder / f"{name}.jsonl"), "--"]

    def _through_wrap(self) -> subprocess.CompletedProcess[str]:
        with ExitStack() as taps:
            bridge = [sys.executable, "-m", "dragoman", "wrap", *self.options, *self._words(taps)]
            done = run([*self.client, *self._tap("client"), *bridge])
        # This client hands its own stderr on to what it starts.
        (self.folder / "stderr").write_text(done.stderr, encoding="utf-8")
        return done

    def _through_serve(self) -> subprocess.CompletedProcess[str]:
        options = (*self.options, "--sse") if self.over_sse else self.options
        with ExitStack() as taps:
            if isinstance(self.target, str):
                served: Served = ServedFrom(self.folder, tapped_url(taps, self.target, self.far), *options)
            else:
                served = Served(self.folder, self.target, *options)
            taps.enter_context(served)
            done = run([*self.client, tapped_url(taps, served.url("/sse" if self.over_sse else None), self.near)])
            served.health_becomes(exchanges=1, sessions=0)  # the exchange is the one that asks
        return done

    def _judge_client_side(self) -> None:
        if self.over_stdio:
            spoken_with_client(judge_client_side(self.oracle, tapped(self.folder / "client.jsonl")), self.revision)
            return
        judge = judge_http(self.oracle, self.near)
        faces = [*judge.sessions.values(), *judge.endpoints.values()]
        assert len(faces) == 1
        spoken_with_client(faces[0], self.revision)

    def _judge_server_side(self) -> None:
        if isinstance(self.target, str):
            server_was_modern([judge_modern_http_server(self.oracle, self.far)])
        else:
            server_was_modern(judge_modern_server(self.oracle, tapped(self.folder / "server.jsonl")))

    def _stderr(self) -> str:
        errors = self.folder / "stderr"
        return errors.read_text(encoding="utf-8", errors="replace") if errors.exists() else ""


WayTo = Callable[..., Way]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """The client, which finds our packages only for the sake of the bridge that it starts."""
    environment = os.environ | {"PYTHONPATH": SOURCES}
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=DEADLINE, check=False)


def tapped_url(taps: ExitStack, url: str, records: list[Record]) -> str:
    """The same URL through a tap that writes down what passes."""
    parts = urlsplit(url)
    assert parts.port is not None
    tap = Tap(parts.port)
    tap.records = records
    taps.enter_context(tap)
    return parts._replace(netloc=f"127.0.0.1:{tap.port}").geturl()

"""``dragoman probe URL``: servers of every transport, and whatever else may answer at a URL."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.wrap.probing import asking, diagnosed

from dragoman.bridging.diagnosis import Diagnosis, Step
from dragoman.wrap.probe_url import diagnose_url, without_secrets

ROOT = Path(__file__).parents[2]
LEGACY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "push_server.py")]
MODERN_ONLY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "modern_only_server.py")]
HTML = {"Content-Type": "text/html; charset=utf-8"}
TEXT = {"Content-Type": "text/plain"}
JSON = {"Content-Type": "application/json"}
DECIDE = "give dragoman --server-era {}: by itself it goes by the answer to server/discover, which did not show it"
UNSUPPORTED = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}}


class Asked(NamedTuple):
    """One request to an odd server; ``rpc`` is the method in its body."""

    method: str
    rpc: str
    id: object
    headers: dict[str, str]


class Reply(NamedTuple):
    """What it answers; ``hang``: nothing, for as long as the test takes."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012
    hang: bool = False


Script = Callable[[Asked], Reply]


def message(asked: Asked, status: int = 200, headers: dict[str, str] | None = None, **members: object) -> Reply:
    return Reply(status, json.dumps({"jsonrpc": "2.0", "id": asked.id, **members}).encode(), {**JSON, **(headers or {})})


def discovery(asked: Asked) -> Reply:
    return message(asked, result={"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})


def handshake(asked: Asked, version: str = "2025-06-18", headers: dict[str, str] | None = None) -> Reply:
    info = {"name": "odd", "version": "1"}
    return message(asked, headers=headers, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})


def by_method(**replies: Script | Reply) -> Script:
    """``discover``, ``initialize``, ``get``, ``delete``; what is not given is answered 404 without a body."""

    def script(asked: Asked) -> Reply:
        name = {"server/discover": "discover", "initialize": "initialize"}.get(asked.rpc, asked.method.lower())
        reply = replies.get(name, Reply(404))
        return reply if isinstance(reply, Reply) else reply(asked)

    return script


class Odd:
    """A running odd server and what it was asked."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Asked] = []
        self.over = threading.Event()
        odd = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                frame = json.loads(body) if body else {}
                asked = Asked(self.command, frame.get("method", ""), frame.get("id"), dict(self.headers.items()))
                odd.asked.append(asked)
                reply = script(asked)
                if reply.hang:
                    odd.over.wait(30)
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            do_GET = do_DELETE = do_POST  # noqa: N815

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/mcp"


@contextmanager
def serving(script: Script) -> Iterator[Odd]:
    odd = Odd(script)
    thread = threading.Thread(target=odd.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield odd
    finally:
        odd.over.set()
        odd.server.shutdown()
        thread.join()
        odd.server.server_close()


def probed(
    script: Script, *, patience: float = 20.0, credentials: dict[str, str] | None = None, every: bool = False
) -> tuple[Diagnosis, Odd]:
    with serving(script) as odd:
        return diagnosed(odd.url, patience=patience, credentials=credentials, every=every), odd


@contextmanager
def bridged(server: list[str], *options: str) -> Iterator[str]:
    """``dragoman serve`` in front of a stdio server; the answer is its URL without the path."""
    path = os.pathsep.join(str(ROOT / root) for root in ("compat", "specs", "migrations"))
    command = [sys.executable, "-m", "dragoman", "serve", "--port", "0", *options, "--", *server]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})
    assert process.stderr is not None
    with process, process.stderr as stderr:
        try:
            found = next(filter(None, (re.search(r"listening on (http://[^/]+)/", line.decode()) for line in stderr)))
            yield found[1]
        finally:
            process.terminate()
            stderr.read()


# -- servers that can be used


@pytest.mark.parametrize("server", [LEGACY, MODERN_ONLY])
def test_bridge_over_http_is_of_both_eras(server):
    with bridged(server) as base:
        found = diagnosed(base + "/mcp", every=True)
    assert (found.era, found.transport) == ("dual", "Streamable HTTP")
    assert found.why == "its server/discover names a modern revision, and it accepts initialize too"
    assert found.steps == [
        Step(
            "POST server/discover", "status 200, a result with supportedVersions 2026-07-28", "its server/discover names a modern revision"
        ),
        Step("POST initialize, offering 2025-11-25", "status 200, a result with protocolVersion 2025-11-25", "it accepts the handshake"),
    ]
    assert found.server_info["name"] == ("push-server" if server is LEGACY else "modern-only")
    assert found.offers == {version: version for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")}
    assert (found.notes, found.advice, found.challenge) == ([], [], None)


def test_stream_of_2024_11_05_is_found_behind_its_endpoint_event():
    with bridged(LEGACY, "--sse") as base:
        found = diagnosed(base + "/sse", every=True)
    assert (found.era, found.transport) == ("legacy", "HTTP+SSE")
    assert [step.answered.partition(",")[0] for step in found.steps] == ["status 405", "status 405", "status 200"]
    assert found.steps[-1].means == "a server of HTTP+SSE"
    assert (found.server_info["name"], found.legacy_revision) == ("push-server", "2025-11-25")
    assert set(found.offers) == {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}


@contextmanager
def peer(script: str, *options: str) -> Iterator[str]:
    """One of the hand-written servers; the answer is its URL, which is the first line that it writes."""
    command = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / script), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("script", "options", "era", "transport"),
    [
        ("push_http.py", ["--strict"], "legacy", "Streamable HTTP"),
        ("push_http.py", ["--stateless", "--json"], "legacy", "Streamable HTTP"),
        ("push_http.py", ["--transport", "sse"], "legacy", "HTTP+SSE"),
        ("modern_only_http.py", ["--strict"], "modern", "Streamable HTTP"),
        ("modern_only_http.py", ["--refusal", "-32601", "--answers", "sse"], "modern", "Streamable HTTP"),
    ],
)
def test_server_of_one_era_over_http_is_told_with_its_transport(script, options, era, transport):
    with peer(script, *options) as url:
        found = diagnosed(url, every=True)
    assert (found.era, found.transport, found.notes, found.advice) == (era, transport, [], [])
    assert found.server_info["name"] == ("push-server" if era == "legacy" else "modern-only")
    assert list(found.offers) == (["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] if era == "legacy" else [])


def test_modern_only_server_refuses_the_handshake_and_opens_no_session():
    found, odd = probed(by_method(discover=discovery, initialize=lambda asked: message(asked, 400, error=UNSUPPORTED)))
    assert (found.era, found.accepts_handshake, found.transport) == ("modern", False, "Streamable HTTP")
    assert [asked.rpc for asked in odd.asked] == ["server/discover", "initialize"]


def test_discover_carries_the_headers_of_its_revision_and_initialize_none():
    _, odd = probed(by_method(discover=discovery, initialize=handshake))
    asked = [(asked.headers.get("MCP-Protocol-Version"), asked.headers.get("Mcp-Method")) for asked in odd.asked]
    assert asked == [("2026-07-28", "server/discover"), (None, None)]
    assert {asked.headers["Accept"] for asked in odd.asked} == {"application/json, text/event-stream"}


def test_session_that_was_opened_is_ended_under_its_revision():
    _, odd = probed(by_method(initialize=lambda asked: handshake(asked, headers={"Mcp-Session-Id": "s1"}), delete=Reply(405)))
    last = odd.asked[-1]
    assert (last.method, last.headers["Mcp-Session-Id"], last.headers["MCP-Protocol-Version"]) == ("DELETE", "s1", "2025-06-18")


def test_session_id_on_a_refusal_is_not_sent_on():
    script = by_method(
        discover=lambda asked: message(asked, 400, {"Mcp-Session-Id": "junk"}, error={"code": -32600, "message": "no"}),
        initialize=handshake,
    )
    found, odd = probed(script)
    assert (found.era, [asked.headers.get("Mcp-Session-Id") for asked in odd.asked]) == ("legacy", [None, None])


def test_answer_as_a_stream_is_read():
    def streamed(asked: Asked) -> Reply:
        note = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
        return Reply(200, note + b"data: " + handshake(asked).body + b"\n\n", {"Content-Type": "text/event-stream"})

    assert probed(by_method(initialize=streamed))[0].era == "legacy"


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(404, b"Invalid session ID", TEXT),
        Reply(400, b"session required", TEXT),
        Reply(405),
        Reply(406),
        Reply(415),
        Reply(200),
        Reply(204),
        Reply(200, b"ok", TEXT),
        Reply(200, b"{}", JSON),
        lambda asked: message(asked, 400, error={"code": -32000, "message": "Bad Request: Unsupported protocol version"}),
        lambda asked: message(asked, 200, error={"code": -32601, "message": "Method not found"}),
        lambda asked: message(asked, 200, result={}),
        lambda asked: message(asked, 200, result={"supportedVersions": ["2025-11-25"]}),
        lambda asked: message(asked, 400, error={"code": -32022, "message": "no", "data": {"supported": ["2025-11-25"]}}),
    ],
)
def test_legacy_server_is_legacy_whatever_it_says_to_discover(refusal):
    found, _ = probed(by_method(discover=refusal, initialize=handshake))
    assert (found.era, found.why, found.accepts_modern) == ("legacy", "it accepts initialize", False)
    assert (found.notes, found.advice) == ([], [])


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_that_fails_at_discover_only_is_legacy_by_its_handshake(status):
    found, _ = probed(by_method(discover=Reply(status, b"busy", TEXT), initialize=handshake))
    assert (found.era, found.accepts_modern) == ("legacy", None)
    assert found.steps[0].means == f"it answered with status {status}, which says nothing about its era"
    assert found.advice == [DECIDE.format("legacy")]


def test_server_that_is_silent_at_discover_only_is_legacy_by_its_handshake():
    found, _ = probed(by_method(discover=Reply(hang=True), initialize=handshake), patience=0.5)
    assert (found.era, found.steps[0].answered) == ("legacy", "no answer within 0.5 s")
    assert found.advice == [DECIDE.format("legacy")]


@pytest.mark.parametrize(("credentials", "advice"), [({"Authorization": "Bearer t"}, []), (None, [DECIDE.format("legacy")])])
def test_gateway_that_refuses_discover_only_is_noted(credentials, advice):
    found, _ = probed(by_method(discover=Reply(401), initialize=handshake), credentials=credentials)
    assert (found.era, found.challenge, found.advice) == ("legacy", None, advice)
    assert found.notes == ["one of the questions was refused with status 401, though not all were: a gateway may stand in front"]


def test_handshake_that_names_another_revision_is_offered_that():
    def strict(asked: Asked) -> Reply:
        if len([name for name in seen if name == "initialize"]) == 0:
            seen.append("initialize")
            return message(asked, 400, error={"code": -32602, "message": "supported versions: 2025-03-26"})
        return handshake(asked, "2025-03-26")

    seen: list[str] = []
    found, _ = probed(by_method(initialize=strict))
    assert (found.era, found.negotiated, found.accepts_handshake) == ("legacy", "2025-03-26", True)


def test_handshake_refused_in_modern_words_proves_the_era():
    found, _ = probed(by_method(discover=Reply(500), initialize=lambda asked: message(asked, 400, error=UNSUPPORTED)))
    assert (found.era, found.supported, found.accepts_handshake) == ("modern", ["2026-07-28"], False)
    assert found.advice == [DECIDE.format("modern")]


# -- and what can't


class Case(NamedTuple):
    """An odd answer to everything, and what is said of it."""

    reply: Reply
    why: str
    advice: str


ELSEWHERE = "give the URL of the MCP endpoint; its path is often /mcp or /sse"
LATER = "try again later: that says nothing about its era"
NEITHER = "it answers neither server/discover nor initialize as an MCP server does"


@pytest.mark.parametrize(
    "case",
    [
        Case(Reply(200, b"<!doctype html><title>Sign in</title>", HTML), "a web page is there, no MCP server", ELSEWHERE),
        Case(Reply(404, b"<h1>Not Found</h1>", HTML), "a web page is there, no MCP server", ELSEWHERE),
        Case(Reply(404), "no MCP server is at this path (status 404)", ELSEWHERE),
        Case(Reply(405), "no MCP server is at this path (status 405)", ELSEWHERE),
        Case(Reply(500, b"oops", TEXT), "it answered with status 500", LATER),
        Case(Reply(503, b"", {"Retry-After": "120"}), "it answered with status 503 (Retry-After: 120)", LATER),
        Case(Reply(429, b"", {"Retry-After": "7"}), "it answered with status 429 (Retry-After: 7)", LATER),
        Case(
            Reply(303, b"", {"Location": "https://u:p@other.example/mcp?key=s3cret#f"}), "it redirects to https://other.example/mcp?…", ""
        ),
        Case(Reply(303, b"", {"Location": "http://[bad/"}), "it redirects to what is no URL", ""),
        Case(Reply(307, b"", {"Location": "/mcp/"}), "more than 5 redirects", ""),
        Case(Reply(307, b"", {"Location": "http://[bad/"}), "", ""),
        Case(Reply(302), "it redirects to http://127.0.0.1:", ""),
        Case(Reply(200), NEITHER, ""),
        Case(Reply(202), NEITHER, ""),
        Case(Reply(200, b"{}", JSON), NEITHER, ""),
        Case(Reply(200, b"OK", TEXT), NEITHER, ""),
        Case(Reply(200, b"\xff\x00\x1b[2J", TEXT), NEITHER, ""),
        Case(Reply(400, b"Bad Request", TEXT), NEITHER, ""),
    ],
    ids=lambda case: f"{case.reply.status}-{case.why[:30]}",
)
def test_what_is_no_mcp_server_is_told_with_what_to_do(case):
    found, _ = probed(lambda asked: case.reply)
    assert (found.era, found.transport, found.challenge) == ("unknown", None, None)
    assert found.why.startswith(case.why)
    assert not case.advice or found.advice == [case.advice]


def test_server_that_puts_callers_off_is_asked_once():
    _, odd = probed(lambda asked: Reply(429))
    assert len(odd.asked) == 1


def test_body_is_shown_without_what_a_terminal_would_act_upon():
    found, _ = probed(lambda asked: Reply(200, b"\x1b[2Jhello\nthere", TEXT))
    assert found.steps[0].answered == "status 200, text/plain: \\u001b[2Jhello there"


def test_empty_results_to_everything_prove_nothing():
    found, _ = probed(lambda asked: message(asked, result={}))
    assert (found.era, found.why) == ("unknown", NEITHER)


def test_sloppy_modern_server_is_shown_with_its_evidence():
    script = by_method(
        discover=lambda asked: message(asked, result={"capabilities": {}, "serverInfo": {}}),
        initialize=lambda asked: message(asked, 404, error={"code": -32601, "message": "Method not found"}),
    )
    found, _ = probed(script)
    assert found.era == "unknown"
    assert found.steps[0] == Step(
        "POST server/discover", "status 200, a result that names no revision", "its server/discover names no revisions"
    )
    assert found.steps[1].answered == "status 404, error -32601 Method not found"


CHALLENGE = 'Bearer resource_metadata="https://h.example/.well-known/oauth-protected-resource", scope="files"'
LOGIN = "the challenge names where its authorization server is described: dragoman login URL goes there"


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no"}}).encode()])
def test_challenge_is_shown_and_what_to_do(status, body):
    found, odd = probed(lambda asked: Reply(status, body, {"WWW-Authenticate": CHALLENGE}))
    assert (found.era, found.why, found.challenge) == ("unknown", f"it refused the caller with status {status}", CHALLENGE)
    assert found.advice == ["give credentials: dragoman login URL, --bearer-env VARIABLE, or --header NAME=VALUE", LOGIN]
    assert [asked.rpc for asked in odd.asked] == ["server/discover", "initialize"]
    assert (found.accepts_handshake, found.accepts_modern) == (None, None)


def test_credentials_that_are_refused_are_called_so():
    found, _ = probed(lambda asked: Reply(401), credentials={"Authorization": "Bearer s3cret-token"})
    assert (found.challenge, found.advice) == (
        None,
        ["the credentials that were given are not accepted, or not for this: the challenge may say what is missing"],
    )


class NeedsPerson:
    """Has a token or not; a challenge is beyond it."""

    def __init__(self, token: str | None) -> None:
        self.token = token

    async def apply(self) -> dict[str, str]:
        if self.token is None:
            raise ValueError("there is no token:\nlog in")
        return {"Authorization": self.token}

    async def challenged(self, status: int, headers: object, used: object) -> bool:
        raise ValueError("a person must log in")


@pytest.mark.parametrize(
    ("token", "notes", "advice"),
    [
        (
            None,
            ["there is no token: log in", "a person must log in"],
            ["give credentials: dragoman login URL, --bearer-env VARIABLE, or --header NAME=VALUE", LOGIN],
        ),
        (
            "Bearer s3cret",
            ["a person must log in"],
            ["the credentials that were given are not accepted, or not for this: the challenge may say what is missing", LOGIN],
        ),
    ],
)
def test_challenge_is_shown_though_the_login_needs_a_person(token, notes, advice):
    with serving(lambda asked: Reply(401, b"", {"WWW-Authenticate": CHALLENGE})) as odd, asking(odd.url, oauth=NeedsPerson(token)) as asker:
        found = diagnose_url(odd.url, asker)
        secrets = asker.secrets()
    assert (found.era, found.challenge, found.notes, found.advice) == ("unknown", CHALLENGE, notes, advice)
    assert secrets == (() if token is None else ("Bearer s3cret",))


def test_refused_modern_words_prove_the_era_before_the_status_does():
    found, _ = probed(by_method(discover=lambda asked: message(asked, 403, error=UNSUPPORTED), initialize=Reply(403)))
    assert found.era == "modern"


def test_server_that_never_answers_is_told():
    found, _ = probed(lambda asked: Reply(hang=True), patience=0.3)
    assert (found.era, found.why) == ("unknown", "no answer within 0.3 s")
    assert [step.asked for step in found.steps] == ["POST server/discover", "POST initialize, offering 2025-11-25"]


def test_refused_connection_is_told_at_once():
    with socket.socket() as taken:  # bound, but not listening: nobody else gets the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        found = diagnosed(url)
    assert (found.era, found.why, len(found.steps)) == ("unknown", found.steps[0].answered, 1)
    assert found.advice == ["is the URL right, and the server running? Proxies are taken from the environment"]


def test_connection_that_breaks_is_told():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            listener.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        found = diagnosed(url)
        thread.join()
    assert (found.era, found.why, len(found.steps)) == ("unknown", found.steps[0].answered, 1)


def test_redirect_to_another_origin_is_followed_without_credentials_and_noted():
    with serving(by_method(initialize=handshake)) as there:
        with serving(lambda asked: Reply(307, b"", {"Location": there.url})) as here:
            found = diagnosed(here.url, credentials={"Authorization": "Bearer s3cret-token"})
        assert [(asked.rpc, asked.headers.get("Authorization")) for asked in there.asked] == [
            ("server/discover", None),
            ("initialize", None),
        ]
    assert found.era == "legacy"
    assert len(found.notes) == 1
    assert there.url in found.notes[0]


# -- streams of 2024-11-05


@pytest.mark.parametrize("endpoint", ["http://evil.example/messages", "//evil.example/messages", "https://127.0.0.1/m", "http://[bad/"])
def test_endpoint_on_another_origin_gets_no_message(endpoint):
    events = f"event: endpoint\ndata: {endpoint}\n\n".encode()
    found, odd = probed(by_method(get=Reply(200, events, {"Content-Type": "text/event-stream"})))
    assert (found.era, found.steps[-1].means) == ("unknown", "refused: credentials may go to this one only")
    assert [asked.method for asked in odd.asked] == ["POST", "POST", "GET"]


@pytest.mark.parametrize("events", [b"", b": nothing\n\n", b"data: hello\n\n", b"event: message\ndata: {}\n\n"])
def test_stream_that_begins_with_anything_else_is_none(events):
    found, _ = probed(by_method(get=Reply(200, events, {"Content-Type": "text/event-stream"})))
    assert (found.era, found.steps[-1].answered, found.transport) == ("unknown", "status 200, no endpoint event", None)


def test_stream_is_not_asked_for_where_a_modern_server_is():
    _, odd = probed(by_method(discover=discovery))
    assert [asked.method for asked in odd.asked] == ["POST", "POST"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h.example/mcp", "https://h.example/mcp"),
        ("https://user:pass@h.example:8443/mcp?key=1#f", "https://h.example:8443/mcp?…"),
        ("http://[::1]:80/mcp", "http://[::1]:80/mcp"),
        ("http://h.example:port/", "what is no URL"),
    ],
)
def test_url_is_shown_without_what_may_be_a_secret(url, shown):
    assert without_secrets(url) == shown

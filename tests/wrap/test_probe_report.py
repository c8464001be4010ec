"""What ``dragoman probe`` prints, and its exit status."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dragoman.bridging.diagnosis import Diagnosis
from dragoman.wrap.config import PROBE, Config, parse
from dragoman.wrap.probe_plan import rows
from dragoman.wrap.report import as_object, as_text
from dragoman.wrap.run_probe import probe
from dragoman_specs.catalog import find
from dragoman_specs.version import Version

ROOT = Path(__file__).parents[2]
LEGACY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "push_server.py")]
MODERN_ONLY = [sys.executable, "-S", str(ROOT / "tests" / "fixtures" / "modern_only_server.py")]
VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
MEMBERS = {
    *("target", "usable", "era", "why", "transport", "accepts", "revisions", "server", "capabilities", "evidence", "challenge", "stderr"),
    *("notes", "advice", "clients", "changes"),
}


def config(
    *flags: str, command: list[str] | None = None, url: str | None = None, header: str = "", env: dict[str, str] | None = None
) -> Config:
    """As ``dragoman probe`` would have it."""
    words = [f"--{name}" for name in flags]
    words += ["--probe-timeout", "20"] + ([] if url else ["--start-timeout", "20"])
    words += ["--header", header] if header else []
    for name, value in (env or {}).items():
        words += ["--env", f"{name}={value}"]
    return parse([*words, url] if url else [*words, "--", *(command or [])], PROBE)


def legacy(revision: Version, transport: str = "stdio") -> Diagnosis:
    return Diagnosis(
        transport=transport, accepts_handshake=True, why="it accepts initialize", negotiated=revision, legacy_revision=revision
    )


def modern(transport: str = "stdio") -> Diagnosis:
    return Diagnosis(transport=transport, accepts_handshake=False, accepts_modern=True, why="w", supported=["2026-07-28"])


def dual(transport: str) -> Diagnosis:
    found = legacy(Version.V2025_06_18, transport)
    found.accepts_modern = True
    return found


def plan(found: Diagnosis) -> list[tuple[str, str, str | None]]:
    return [(str(row.client), row.shape.value, row.spoken and str(row.spoken)) for row in rows(found)]


def changes_for(found: Diagnosis, client: str) -> set[str]:
    return next({change.id for change in row.changes} for row in rows(found) if row.client == client)


# -- what the bridge will do


def test_server_of_no_era_serves_nobody():
    assert rows(Diagnosis(accepts_handshake=False, accepts_modern=False)) == []


def test_legacy_server_is_relayed_to_legacy_clients_and_upgraded_for_modern_ones():
    relayed = [(version, "passthrough", None) for version in VERSIONS[1:]]
    assert plan(legacy(Version.V2025_03_26)) == [("2026-07-28", "upgrade-server", "2025-03-26"), *relayed]


def test_url_of_both_eras_is_spoken_to_as_each_client_speaks():
    assert plan(dual("Streamable HTTP")) == [(version, "passthrough", None) for version in VERSIONS]


@pytest.mark.parametrize("found", [modern(), modern("Streamable HTTP")], ids=["stdio", "http"])
def test_modern_server_is_downgraded_for_legacy_clients(found):
    downgraded = [(version, "downgrade-server", "2026-07-28") for version in VERSIONS[1:]]
    assert plan(found) == [("2026-07-28", "passthrough", None), *downgraded]


def test_command_of_both_eras_is_spoken_to_as_legacy():
    assert plan(dual("stdio"))[:2] == [("2026-07-28", "upgrade-server", "2025-06-18"), ("2025-11-25", "passthrough", None)]


def test_changes_are_those_that_the_server_does_not_have():
    newest, oldest = (changes_for(legacy(version), "2026-07-28") for version in (Version.V2025_11_25, Version.V2024_11_05))
    assert newest < oldest
    assert {"sep2575_handshake", "sep2322_mrtr", "error_code_ranges"} <= newest
    assert {"audio_content", "sep1330_enum_schemas"} <= oldest - newest


def test_changes_are_those_that_the_client_does_not_have():
    assert "sep1577_sampling_tools" not in changes_for(modern(), "2025-11-25")
    assert "sep1577_sampling_tools" in changes_for(modern(), "2025-06-18")
    assert changes_for(modern(), "2026-07-28") == set()


@pytest.mark.parametrize("change", ["pr0371_structured_output", "pr0603_resource_links"])
def test_change_with_steps_in_one_direction_counts_in_that_only(change):
    assert change in changes_for(modern(), "2024-11-05")
    assert change not in changes_for(legacy(Version.V2024_11_05), "2026-07-28")


@pytest.mark.parametrize("change", ["sep0414_trace_context", "sep2577_deprecations", "sep1613_schema_dialect"])
def test_change_without_a_home_is_none_of_the_bridge(change):
    assert change not in changes_for(modern(), "2024-11-05")


def test_every_change_that_is_told_is_in_the_catalog():
    told = as_object("t", modern())["changes"]
    assert len(told) > 20
    for change in told:
        entry = find(change["id"])
        assert entry is not None
        assert (change["since"], change["title"]) == (entry.since, entry.title)
    assert {change["id"] for change in told if change["overHttp"]} >= {"sep2243_headers", "pr0206_streamable_http"}


# -- the object


def test_object_has_every_member_whatever_was_found():
    for found in (Diagnosis(), legacy(Version.V2025_06_18), modern()):
        assert set(as_object("t", found)) == MEMBERS


def test_clients_name_changes_that_are_told_once():
    value = as_object("t", modern())
    ids = [change["id"] for change in value["changes"]]
    assert len(ids) == len(set(ids))
    assert value["clients"][-1] == {"revision": "2024-11-05", "shape": "downgrade-server", "spokenTo": "2026-07-28", "changes": ids}


def test_secret_that_a_peer_repeats_is_hidden():
    found = legacy(Version.V2025_06_18)
    found.step("a", "error -32000 bad token s3cret-token", "m")
    found.server_info = {"name": "s3cret-token", "version": "1"}
    found.stderr = ["KEY=hunter2hunter2"]
    found.challenge = 'Bearer error_description="Bearer s3cret-token is old"'
    value = as_object("t", found, ("Bearer s3cret-token", "hunter2hunter2", "1"))
    assert "s3cret" not in json.dumps(value)
    assert "hunter2" not in json.dumps(value)
    assert (value["evidence"][0]["answered"], value["server"]) == ("error -32000 bad token …", {"name": "…", "version": "1"})


def test_short_values_and_our_own_words_are_not_taken_for_secrets():
    value = as_object("t", legacy(Version.V2025_06_18), ("legacy", "passthrough", "2026-07-28"))
    assert (value["era"], value["clients"][1]["shape"], value["clients"][0]["revision"]) == ("legacy", "passthrough", "2026-07-28")


# -- the text


def test_text_tells_all_of_it_in_short_lines():
    found = legacy(Version.V2025_06_18)
    found.server_info = {"name": "files", "title": "Files", "version": "1.2"}
    found.capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": False}, "logging": {}, "x": None}
    found.step("initialize", "a result", "it accepts")
    found.offers = {"2024-11-05": "2024-11-05", "2025-06-18": "2025-06-18"}
    found.note("something to know")
    found.advise("something to do")
    lines = as_text(as_object("files", found)).splitlines()
    assert lines[:17] == [
        "target        files",
        "era           legacy: it accepts initialize",
        "transport     stdio",
        "revisions     2025-06-18 (agreed on in its handshake)",
        "offered       2024-11-05: 2024-11-05",
        "              2025-06-18: 2025-06-18",
        "server        files 1.2",
        "capabilities  tools (listChanged), resources (subscribe), logging, x",
        "",
        "what was asked, and answered:",
        "  1. initialize",
        "     < a result",
        "     = it accepts",
        "",
        "what clients will get:",
        "  2026-07-28  upgrade-server: 28 changes, spoken to as 2025-06-18",
        "  2025-11-25  passthrough: all is relayed, the handshake too",
    ]
    assert lines[-6:] == ["", "notes:", "  * something to know", "", "what to do:", "  * something to do"]
    assert [line for line in lines if len(line) > 80] == []
    changes = lines.index("changes that are translated, newest first:")
    assert lines[changes + 1 : changes + 3] == ["  2026-07-28", "    cancelled_request_id        A cancellation names its request"]


def test_text_of_nothing_is_short():
    assert as_text(as_object("t", Diagnosis(why="the command cannot be started"))) == (
        "target        t\nera           unknown: the command cannot be started\n"
    )


def test_text_has_no_control_sequence_of_a_peer():
    found = legacy(Version.V2025_06_18)
    evil = "\x1b[2J\x07\n"
    found.negotiated = evil
    found.server_info = {"name": evil, "version": evil}
    found.capabilities = {evil: {evil: evil}}
    found.supported = [evil]
    text = as_text(as_object(evil, found))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "\n\n\n" not in text


# -- the whole


def test_usable_command_is_printed_with_status_0(capfd):
    assert probe(config(command=MODERN_ONLY)) == 0
    out, err = capfd.readouterr()
    assert out.splitlines()[:2] == [f"target        {label()}", "era           modern: it refuses initialize and answers server/discover"]
    assert err == ""


def label() -> str:
    return f"{Path(sys.executable).name} modern_only_server.py"


def test_json_is_one_line(capfd):
    assert probe(config("json", "all", command=LEGACY)) == 0
    out, err = capfd.readouterr()
    value = json.loads(out)
    assert (out.count("\n"), err, set(value)) == (1, "", MEMBERS)
    assert (value["era"], value["server"]["name"], value["revisions"]["negotiated"]) == ("legacy", "push-server", "2025-11-25")
    assert value["accepts"] == {"initialize": True, "server/discover": None}
    assert list(value["revisions"]["offers"]) == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def test_both_eras_are_asked_on_demand(capfd):
    assert probe(config("json", "modern-first", command=MODERN_ONLY)) == 0
    assert [step["asked"].partition(",")[0] for step in json.loads(capfd.readouterr().out)["evidence"]] == ["server/discover", "initialize"]


def test_command_that_is_no_server_has_status_1_and_its_secrets_stay_ours(capfd):
    code = "import os, sys; sys.stderr.write(f'no key like {os.environ[\"KEY\"]}\\n'); sys.exit(5)"
    assert probe(config(command=[sys.executable, "-S", "-c", code, "--password", "on-the-line"], env={"KEY": "hunter2hunter2"})) == 1
    out, err = capfd.readouterr()
    assert "no key like …" in out
    assert "exited with status 5" in out
    assert ("hunter2" in out, "on-the-line" in out, err) == (False, False, "")


@contextmanager
def repeating() -> Iterator[str]:
    """A server that says what it was asked, with all its fields; the answer is its URL without a query."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = f"{self.path} {self.headers['Authorization']}".encode()
            self.send_response(404)
            self.send_header("Content-Type", "text/plain")
            self.send_header("WWW-Authenticate", f"Bearer hint={self.headers['Authorization']}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("flags", [[], ["json"]])
def test_secrets_of_a_url_are_not_printed_though_the_server_repeats_them(capfd, flags):
    with repeating() as url:
        status = probe(config(*flags, url=f"{url}?token=s3cret-key&a=b", header="Authorization=Bearer s3cret-token"))
    out, err = capfd.readouterr()
    assert (status, err) == (1, "")
    assert ("s3cret" in out, f"{url}?…" in out, "status 404, text/plain: /mcp?… …" in out) == (False, True, True)


def test_url_where_nobody_listens_has_status_1(capfd):
    assert probe(config("json", url="http://127.0.0.1:1/mcp")) == 1
    value = json.loads(capfd.readouterr().out)
    assert (value["target"], value["era"], value["transport"]) == ("http://127.0.0.1:1/mcp", "unknown", None)
    assert value["why"] == value["evidence"][0]["answered"]


def test_option_that_cannot_be_used_has_status_2(capfd):
    assert probe(config(url="http://127.0.0.1:1/mcp", header="no field of anybody")) == 2
    out, err = capfd.readouterr()
    assert (out, err) == ("", "dragoman: error: --header takes NAME=VALUE, with the name of a field of HTTP\n")


def test_every_member_of_the_object_is_documented():
    text = (ROOT / "docs" / "probe.md").read_text()
    assert {line.split("`")[1] for line in text.partition("## `--json`")[2].splitlines() if line.startswith("| `")} == MEMBERS

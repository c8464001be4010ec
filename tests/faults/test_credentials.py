"""What an operator configures for the server: sent with every request, and shown to nobody; and the URL, as it was given."""

from __future__ import annotations

import socket

import pytest
from far import Legacy, Request, Wire, modern

SECRET = "s3cr3t-t0k3n"


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_configured_fields_go_with_every_request_and_into_no_log(far, wrap, era, tmp_path):
    server = far(modern() if era == "modern" else Legacy())
    record = tmp_path / "record"
    options = ("--bearer-env", "TOKEN", "--header", "X-Key: ${TOKEN}", "--header", "X-Plain=1", "--log-level", "debug", "--stats")
    with wrap(server.url(), *options, "--record", str(record), TOKEN=SECRET) as bridge:
        if era == "modern":
            assert bridge.said(bridge.call("echo", text="hi")) == "hi"
        else:
            bridge.initialize()
            assert bridge.said(bridge.legacy_call("echo", text="hi")) == "hi"
            server.wait("GET")
    for request in server.seen:
        fields = request.fields
        assert (fields["authorization"], fields["x-key"], fields["x-plain"]) == (f"Bearer {SECRET}", SECRET, "1"), request.what
    assert era == "modern" or server.seen[-1].method == "DELETE"
    assert SECRET not in bridge.stderr()
    assert SECRET not in str(bridge.frames)
    assert SECRET not in record.read_text()


@pytest.mark.parametrize(
    ("status", "field"),
    [
        (401, 'WWW-Authenticate: Bearer resource_metadata="http://x/y", scope="a b"'),
        (403, 'WWW-Authenticate: Bearer error="insufficient_scope"'),
    ],
)
def test_challenge_is_shown_and_the_credentials_are_not(far, wrap, status, field):
    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(status, field)

    bridge = wrap(far(answer).url(), "--bearer-env", "TOKEN", "--log-level", "debug", TOKEN=SECRET)
    error = bridge.error(bridge.call("echo"))
    assert error["data"]["wwwAuthenticate"] == field.partition(": ")[2]
    assert SECRET not in str(error)
    assert SECRET not in bridge.stderr()


@pytest.mark.parametrize("status", [400, 500])
def test_server_that_repeats_the_credentials_is_the_only_one_who_does(far, wrap, status):
    behaves = modern()

    async def answer(request: Request, wire: Wire) -> None:
        if request.tool is None:
            await behaves(request, wire)
        else:
            await wire.body(b"bad request", status, "text/plain")

    bridge = wrap(far(answer).url(), "--bearer-env", "TOKEN", "--log-level", "debug", TOKEN=SECRET)
    assert "bad request" in bridge.error(bridge.call("echo"))["message"]
    assert SECRET not in bridge.stderr()


def test_cookies_are_not_kept(far, wrap):
    behaves = modern()

    async def answer(request: Request, wire: Wire) -> None:
        wire.writer.write(b"")
        if request.what == "server/discover":
            body = b'{"jsonrpc":"2.0","id":"dragoman-probe","result":{"supportedVersions":["2026-07-28"]}}'
            await wire.body(body, 200, "application/json", "Set-Cookie: a=b; Path=/")
        else:
            await behaves(request, wire)

    server = far(answer)
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert all("cookie" not in request.fields for request in server.seen)


@pytest.mark.parametrize("path", ["/", "/mcp?key=1&x=%2F%20a", "/a%2Fb/c%20d", "/a//b/../c;p=1", "/%E4%B8%96?q=%E7"])
def test_path_and_query_of_the_url_are_kept_as_they_are(far, wrap, path):
    server = far(modern())
    bridge = wrap(server.url(path))
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert {request.target for request in server.seen} == {path}


def test_url_without_a_path_asks_for_the_root_and_a_fragment_stays_here(far, wrap):
    server = far(modern())
    bridge = wrap(server.url("#part"))
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert {request.target for request in server.seen} == {"/"}
    assert {request.fields["host"] for request in server.seen} == {f"127.0.0.1:{server.port}"}


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no address ::1")
def test_ipv6_address(far, wrap):
    server = far(modern(), host="::1")
    bridge = wrap(server.url())
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert {request.fields["host"] for request in server.seen} == {f"[::1]:{server.port}"}


def test_own_fields_are_proper(far, wrap):
    server = far(modern())
    bridge = wrap(server.url())
    bridge.said(bridge.call("echo", text="hi"))
    for request in server.seen:
        assert request.fields["accept"] == "application/json, text/event-stream"
        assert request.fields["content-type"] == "application/json"
        assert request.fields["user-agent"].startswith("dragoman/")
        assert request.fields["mcp-protocol-version"] == "2026-07-28"

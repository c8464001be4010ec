"""Redirects, and what must not go along: credentials, the session, the fields that an operator configured (RFC 9110, section 15.4)."""

from __future__ import annotations

import pytest
from far import Legacy, Request, Wire, modern

SECRET = "s3cr3t-t0k3n"
SECRETS = {"TOKEN": SECRET}
WITH = ("--bearer-env", "TOKEN", "--header", "X-Key=${TOKEN}")


def moved(status: int, location: str):
    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(status, f"Location: {location}")

    return answer


def front(behind, old: str = "/mcp", new: str = "/v2/mcp?tenant=1", status: int = 307):
    """A server that has moved within itself."""

    async def answer(request: Request, wire: Wire) -> None:
        if request.target == old:
            await wire.nothing(status, f"Location: {new}")
        else:
            assert request.target == new
            await behind(request, wire)

    return answer


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_on_the_same_host_keeps_method_body_and_credentials(far, wrap, status):
    server = far(front(modern(), status=status))
    bridge = wrap(server.url(), *WITH, **SECRETS)
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    first, second = (request for request in server.seen if request.what == "tools/call")
    assert first.body == second.body
    assert second.method == "POST"
    assert second.fields["authorization"] == f"Bearer {SECRET}"
    assert second.fields["x-key"] == SECRET
    assert second.fields["mcp-method"] == "tools/call"


def test_redirect_on_the_same_host_keeps_the_session(far, wrap):
    behaves = Legacy()
    bridge = wrap(far(front(behaves)).url())
    bridge.initialize()
    assert bridge.said(bridge.legacy_call("echo", text="hi")) == "hi"
    assert behaves.begun == 1


def test_redirect_to_another_host_takes_no_secret_along_and_is_told(far, wrap):
    other = far(modern())
    server = far(moved(307, other.url("/there?x=1")))
    bridge = wrap(server.url(), *WITH, **SECRETS)
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert all(request.fields["authorization"] == f"Bearer {SECRET}" for request in server.seen)
    assert {name for request in other.seen for name in request.fields} & {"authorization", "x-key", "cookie"} == set()
    assert SECRET not in str([request.fields for request in other.seen])
    assert all(request.target == "/there?x=1" for request in other.seen)
    told = [line for line in bridge.stderr().splitlines() if "credentials are not sent there" in line]
    assert len(told) == 1
    assert f"http://127.0.0.1:{other.port}/there" in told[0]


def test_redirect_to_another_host_takes_no_session_along(far, wrap):
    other = far(Legacy())
    behaves = Legacy()

    async def answer(request: Request, wire: Wire) -> None:
        if request.tool is not None:
            await wire.nothing(307, f"Location: {other.url()}")
        else:
            await behaves(request, wire)

    bridge = wrap(far(answer).url())
    bridge.initialize()
    assert "error" in bridge.answer(bridge.legacy_call("echo", text="hi"))
    assert other.seen != []
    assert all("mcp-session-id" not in request.fields for request in other.seen)


def test_redirect_back_home_does_not_bring_the_credentials_back(far, wrap):
    async def bounce(request: Request, wire: Wire) -> None:
        await wire.nothing(307, f"Location: {server.url('/home')}")

    other = far(bounce)

    async def answer(request: Request, wire: Wire) -> None:
        if request.target == "/home":
            await modern()(request, wire)
        else:
            await wire.nothing(307, f"Location: {other.url()}")

    server = far(answer)
    bridge = wrap(server.url(), *WITH, **SECRETS)
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert all("authorization" not in request.fields for request in server.seen if request.target == "/home")


def test_redirects_in_a_circle_are_an_error(far, wrap):
    bridge = wrap(far(moved(307, "/mcp")).url())
    assert "more than 5 redirects" in bridge.error(bridge.call("echo"))["message"]


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/x", "file:///etc/passwd", "javascript:alert(1)", "http://[", "http://127.0.0.1:99999/"]
)
def test_redirect_to_what_is_no_web_server_is_an_error(far, wrap, location):
    bridge = wrap(far(moved(307, location)).url())
    assert "error" in bridge.answer(bridge.call("echo"))


@pytest.mark.parametrize("status", [303, 300, 304])
def test_other_redirects_are_not_followed(far, wrap, status):
    other = far(modern())
    bridge = wrap(far(moved(status, other.url())).url(), "--server-era", "modern")
    assert bridge.error(bridge.call("echo"))["data"]["status"] == status
    assert other.seen == []


def test_redirect_without_a_location_is_an_error(far, wrap):
    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(307)

    bridge = wrap(far(answer).url(), "--server-era", "modern")
    assert bridge.error(bridge.call("echo"))["data"]["status"] == 307

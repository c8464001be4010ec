"""A proxy that the environment names, and the addresses that are not asked for through it."""

from __future__ import annotations

import asyncio
import base64

import pytest
from certificates import Authority
from far import Far, Legacy, Request, Wire, modern


class Proxy(Far):
    """A forward proxy: whole URLs, and CONNECT. Every host leads to the server ``behind``."""

    def __init__(self, behind: Far) -> None:
        super().__init__(self._pass_on)
        self._behind = behind

    async def _pass_on(self, request: Request, wire: Wire) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._behind.port)
        if request.method == "CONNECT":
            await wire.head(200)
        else:
            assert request.target.startswith("http://")
            target = "/" + request.target.split("/", 3)[3]
            fields = "".join(f"{name}: {value}\r\n" for name, value in request.fields.items() if not name.startswith("proxy-"))
            writer.write(f"{request.method} {target} HTTP/1.1\r\n{fields}\r\n".encode() + request.body)
        both = (asyncio.ensure_future(_copy(reader, wire.writer)), asyncio.ensure_future(_copy(wire.reader, writer)))
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        writer.close()
        wire.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()


@pytest.fixture
def proxy(stack):
    return lambda behind: stack.enter_context(Proxy(behind))


def address(proxy: Proxy, user: str = "") -> str:
    return f"http://{user}127.0.0.1:{proxy.port}"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_server_is_asked_through_the_proxy(far, wrap, proxy, variable):
    between = proxy(far(modern()))
    bridge = wrap("http://server.test:8000/mcp?x=1", **{variable: address(between)})
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert {request.target for request in between.seen} == {"http://server.test:8000/mcp?x=1"}


def test_encrypted_server_is_asked_through_a_tunnel_and_the_proxy_sees_nothing(far, wrap, proxy, tmp_path):
    authority = Authority(tmp_path)
    behind = far(Legacy(), tls=authority.server("server.test"))
    between = proxy(behind)
    bridge = wrap("https://server.test/mcp", "--ca", authority.file, "--bearer-env", "TOKEN", HTTPS_PROXY=address(between), TOKEN="s3cr3t")
    bridge.initialize()
    assert bridge.said(bridge.legacy_call("echo", text="hi")) == "hi"
    assert {request.target for request in between.seen} == {"server.test:443"}
    assert all("authorization" not in request.fields for request in between.seen)
    assert all(request.fields["authorization"] == "Bearer s3cr3t" for request in behind.seen)


def test_credentials_of_the_proxy_go_to_the_proxy_alone(far, wrap, proxy):
    behind = far(modern())
    between = proxy(behind)
    bridge = wrap("http://server.test/mcp", "--log-level", "debug", HTTP_PROXY=address(between, "user:pa55word@"))
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    wanted = "Basic " + base64.b64encode(b"user:pa55word").decode()
    assert all(request.fields["proxy-authorization"] == wanted for request in between.seen)
    assert "pa55word" not in bridge.stderr()


@pytest.mark.parametrize("no_proxy", ["server.test", ".test", "other,server.test"])
def test_excepted_host_is_not_asked_for_through_the_proxy(far, wrap, proxy, no_proxy):
    between = proxy(far(modern()))
    bridge = wrap("http://server.test:1/mcp", HTTP_PROXY=address(between), NO_PROXY=no_proxy)
    assert "error" in bridge.answer(bridge.call("echo"))
    assert between.seen == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_own_machine_is_not_asked_for_through_the_proxy(far, wrap, proxy, host):
    behind = far(modern())
    between = proxy(behind)
    bridge = wrap(behind.url(host=host), HTTP_PROXY=address(between), ALL_PROXY=address(between))
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert between.seen == []


@pytest.mark.parametrize("answer", [b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 403 No\r\n\r\n"])
def test_proxy_that_refuses_a_tunnel_is_told(far, wrap, answer, tmp_path):
    async def refuse(request: Request, wire: Wire) -> None:
        await wire.raw(answer)
        wire.close()

    between = far(refuse)
    bridge = wrap("https://server.test/mcp", HTTPS_PROXY=f"http://user:pa55word@127.0.0.1:{between.port}")
    message = bridge.error(bridge.call("echo"))["message"]
    assert f"the proxy refused the connection with status {answer[9:12].decode()}" in message
    assert "pa55word" not in message + bridge.stderr()


def test_proxy_that_is_not_there_is_told(far, wrap):
    gone = far(modern(), open=False)
    bridge = wrap("http://server.test/mcp", HTTP_PROXY=f"http://user:pa55word@127.0.0.1:{gone.port}")
    message = bridge.error(bridge.call("echo"))["message"]
    assert "cannot be used now" in message
    assert "pa55word" not in message + bridge.stderr()


def test_proxy_of_another_kind_is_told(wrap):
    bridge = wrap("http://server.test/mcp", HTTP_PROXY="socks5://user:pa55word@127.0.0.1:1")
    message = bridge.error(bridge.call("echo"))["message"]
    assert "socks5" in message
    assert "pa55word" not in message + bridge.stderr()

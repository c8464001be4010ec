"""Encrypted connections: the server's certificate is always judged, and who judges may be named."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import pytest
from certificates import DAY, NOW, Authority
from far import Far, Legacy, Request, Wire, modern
from near import environment


class Mute(Far):
    """Takes connections, and says nothing."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()


class Plain(Far):
    """Answers in plain text, whatever it is shown."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.mark.parametrize("answer", [modern, Legacy])
def test_server_of_a_private_authority_that_is_named(far, wrap, authority, answer):
    server = far(answer(), tls=authority.server("127.0.0.1"))
    bridge = wrap(server.url(), "--ca", authority.file)
    assert bridge.said(bridge.call("echo", text="hi")) == "hi"
    assert bridge.stderr() == ""


def test_server_of_a_private_authority_over_http(far, serve, authority):
    bridge = serve(far(modern(), tls=authority.server("localhost")).url(host="localhost"), "--ca", authority.file)
    assert bridge.post("tools/call", {"name": "echo", "arguments": {"text": "hi"}})[2]["result"]["content"][0]["text"] == "hi"


def refused(far, wrap, context, *options: str, **server) -> str:
    """The error of a call, before which nothing was sent."""
    behind = far(modern(), tls=context)
    bridge = wrap(behind.url(**server), "--bearer-env", "TOKEN", *options, TOKEN="s3cr3t")
    message = bridge.error(bridge.call("echo"))["message"]
    assert behind.seen == []
    return str(message)


def test_server_of_an_unknown_authority_is_refused(far, wrap, authority):
    message = refused(far, wrap, authority.server("127.0.0.1"))
    assert "its certificate is not trusted" in message
    assert "--ca FILE" in message


def test_expired_certificate_is_refused(far, wrap, authority):
    context = authority.server("127.0.0.1", begin=NOW - 3 * DAY, end=NOW - DAY)
    assert "certificate has expired" in refused(far, wrap, context, "--ca", authority.file)


def test_certificate_of_another_host_is_refused(far, wrap, authority):
    message = refused(far, wrap, authority.server("example.com"), "--ca", authority.file)
    assert "not valid for '127.0.0.1'" in message


def test_certificate_of_another_name_is_refused(far, wrap, authority):
    message = refused(far, wrap, authority.server("example.com"), "--ca", authority.file, host="localhost")
    assert "localhost" in message
    assert "not trusted" in message


def test_server_that_is_not_encrypted_is_told_as_such(wrap, stack, authority):
    plain = stack.enter_context(Plain(modern()))
    bridge = wrap(plain.url().replace("http:", "https:"), "--ca", authority.file)
    assert "no encrypted connection" in bridge.error(bridge.call("echo"))["message"]


def test_redirect_from_an_encrypted_place_to_one_that_is_not_is_refused(far, wrap, authority):
    plain = far(modern())

    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(307, f"Location: {plain.url('/secret?x=1')}")

    bridge = wrap(far(answer, tls=authority.server("127.0.0.1")).url(), "--ca", authority.file)
    message = bridge.error(bridge.call("echo"))["message"]
    assert "which is not encrypted" in message
    assert plain.seen == []


def test_redirect_to_an_encrypted_place_of_another_authority_is_refused(far, wrap, authority, tmp_path_factory):
    foreign = Authority(tmp_path_factory.mktemp("foreign"))
    other = far(modern(), tls=foreign.server("127.0.0.1"))

    async def answer(request: Request, wire: Wire) -> None:
        await wire.nothing(307, f"Location: {other.url()}")

    bridge = wrap(far(answer).url(), "--ca", authority.file)
    assert "not trusted" in bridge.error(bridge.call("echo"))["message"]
    assert other.seen == []


def test_server_that_falls_silent_within_the_handshake_is_told_in_time(wrap, stack, authority):
    mute = stack.enter_context(Mute(modern()))
    bridge = wrap(mute.url().replace("http:", "https:"), "--ca", authority.file, "--start-timeout", "3")
    began = time.monotonic()
    assert "cannot be used now" in bridge.error(bridge.call("echo"))["message"]
    assert time.monotonic() - began < 12


@pytest.mark.parametrize("what", ["missing", "empty", "no pem"])
def test_file_of_authorities_that_cannot_be_read_is_told_before_anything_starts(tmp_path, what):
    file = tmp_path / "ca"
    if what != "missing":
        file.write_text("" if what == "empty" else "hello")
    command = [sys.executable, "-m", "dragoman", "wrap", "--ca", str(file), "https://127.0.0.1:1/"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=25, env=environment({}), check=False)
    assert done.returncode == 2
    assert f"--ca {file}".encode() in done.stderr

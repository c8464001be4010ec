"""How the requests of an authorization are sent: over TLS that is verified, whole, small and in time."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dragoman.auth.errors import AuthError
from dragoman.auth.settings import Settings
from dragoman.auth.wire import Wire


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"path": "%s"}' % self.path.encode()
        encoding = None
        if self.path == "/compressed":
            body, encoding = gzip.compress(b"x" * 1000), "gzip"
        elif self.path == "/bomb":
            body, encoding = gzip.compress(bytes(64 << 20)), "gzip"
        self.server.fields = dict(self.headers)
        self.send_response(307 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/here")
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Nothing is told."""


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine that no system knows, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    building = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    building = building.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    certificate = building.add_extension(names, critical=False).sign(key, hashes.SHA256())
    folder = tmp_path_factory.mktemp("tls")
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "key.pem").write_bytes(pem)
    (folder / "ca.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return folder


@pytest.fixture(scope="module")
def secure(authorities: Path) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authorities / "ca.pem", authorities / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *words: None  # of clients that do not trust it
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def get(server: ThreadingHTTPServer, path: str, **given: str) -> httpx2.Response:
    async def story() -> httpx2.Response:
        async with Wire(Settings(request_timeout=10.0, **given), local=False) as wire:
            return await wire.send(httpx2.Request("GET", f"https://localhost:{server.server_address[1]}{path}"))

    return asyncio.run(story())


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(secure):
    with pytest.raises(AuthError, match=r"cannot reach https://localhost:[0-9]+ \(ConnectError\)"):
        get(secure, "/")


def test_a_further_authority_can_be_named(secure, authorities):
    assert get(secure, "/x", ca=str(authorities / "ca.pem")).json() == {"path": "/x"}
    assert secure.fields["Accept"] == "application/json"
    assert secure.fields["User-Agent"].startswith("dragoman/")


def test_authorities_that_are_not_there_are_told(secure):
    with pytest.raises(AuthError, match=r"cannot read the certificate authorities of /nowhere/ca\.pem"):
        get(secure, "/", ca="/nowhere/ca.pem")


def test_compressed_answers_are_read(secure, authorities):
    assert get(secure, "/compressed", ca=str(authorities / "ca.pem")).text == "x" * 1000


def test_an_answer_that_grows_without_end_is_cut_off(secure, authorities):
    with pytest.raises(AuthError, match="sent more than 1048576 bytes"):
        get(secure, "/bomb", ca=str(authorities / "ca.pem"))


def test_a_redirect_is_handed_on_and_not_followed(secure, authorities):
    answer = get(secure, "/moved", ca=str(authorities / "ca.pem"))
    assert answer.status_code == 307
    assert str(answer.next_request.url).endswith("/here")


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("url", ["http://auth.example/x", "http://192.168.0.1/x", "ftp://localhost/x", "https://user@auth.example/x"])
def test_nothing_is_sent_where_everybody_could_read_it(local, url):
    async def story() -> None:
        async with Wire(Settings(), local=local) as wire:
            with pytest.raises(AuthError, match="refused"):
                await wire.send(httpx2.Request("GET", url))

    asyncio.run(story())


def test_a_server_elsewhere_cannot_have_us_call_this_machine():
    async def story() -> None:
        async with Wire(Settings(), local=False) as wire:
            with pytest.raises(AuthError, match=r"would go to http://127\.0\.0\.1:8080, which is not https"):
                await wire.send(httpx2.Request("GET", "http://127.0.0.1:8080/admin"))

    asyncio.run(story())

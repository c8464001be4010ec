"""Authorities and certificates made for a test."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)
Key = ec.EllipticCurvePrivateKey


class Authority:
    """A private authority; ``file`` is its certificate."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Authority of a test")
        built = _builder(self._name, self._name, self._key, NOW - DAY, NOW + DAY)
        built = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        built = built.add_extension(usage, critical=True)
        self._own = built.sign(self._key, hashes.SHA256())
        self.file = str(_write(folder / "ca.pem", self._own.public_bytes(serialization.Encoding.PEM)))

    def server(self, *hosts: str, begin: dt.datetime = NOW - DAY, end: dt.datetime = NOW + DAY) -> ssl.SSLContext:
        """What a server with a certificate for these hosts listens with."""
        key = ec.generate_private_key(ec.SECP256R1())
        built = _builder(_name(hosts[0]), self._name, key, begin, end)
        built = built.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
        built = built.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        signed = built.sign(self._key, hashes.SHA256())
        pem = signed.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(_write(self._folder / f"{abs(hash((hosts, end)))}.pem", pem))
        return context


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(subject: x509.Name, issuer: x509.Name, key: Key, begin: dt.datetime, end: dt.datetime) -> x509.CertificateBuilder:
    built = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    built = built.serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)
    return built.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path

"""Settings of an authorization: what contradicts itself is told before anybody is bothered."""

from __future__ import annotations

import pytest

from dragoman.auth.errors import SettingsError
from dragoman.auth.settings import Settings, secret_of


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"client_id": "c"},
        {"client_id": "c", "client_secret": "s"},
        {"client_id": "c", "client_secret": "s", "client_auth": "client_secret_post"},
        {"client_id": "c", "client_secret": "s", "grant": "client_credentials"},
        {"client_id": "c", "private_key": "k", "client_auth": "private_key_jwt", "grant": "client_credentials"},
        {"client_metadata_url": "https://client.example/me.json"},
        {"redirect": "http://localhost/oauth/callback", "redirect_port": 3334},
        {"redirect": "http://localhost:3334/oauth/callback"},
    ],
)
def test_what_goes_together_is_accepted(given):
    Settings(**given).check()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"grant": "implicit"}, "grant is one of authorization_code, client_credentials, not 'implicit'"),
        ({"login": "no"}, "login is one of browser, print, never, not 'no'"),
        ({"client_auth": "tls", "client_id": "c"}, "client_auth is one of none, client_secret_basic"),
        ({"client_secret": "s"}, "needs the client id that it belongs to"),
        ({"client_id": "c", "client_auth": "client_secret_basic"}, "client_secret_basic needs the client secret"),
        ({"client_id": "c", "client_auth": "private_key_jwt"}, "need each other"),
        ({"client_id": "c", "private_key": "k"}, "need each other"),
        ({"client_id": "c", "private_key": "k", "client_auth": "private_key_jwt"}, "works with the grant client_credentials alone"),
        ({"grant": "client_credentials"}, "needs a client id, and its secret or key"),
        ({"grant": "client_credentials", "client_id": "c"}, "needs a client id, and its secret or key"),
        ({"client_metadata_url": "http://client.example/me.json"}, "begins with https:// and has a path"),
        ({"client_metadata_url": "https://client.example/"}, "begins with https:// and has a path"),
        ({"redirect": "https://127.0.0.1/callback"}, "the redirect URI is"),
        ({"redirect": "http://evil.example/callback"}, "the redirect URI is"),
        ({"redirect": "http://127.0.0.1/callback?x=1"}, "the redirect URI is"),
        ({"redirect_port": 65536}, "there is no port 65536"),
    ],
)
def test_what_cannot_work_is_told(given, words):
    with pytest.raises(SettingsError, match=words):
        Settings(**given).check()


def test_secrets_are_not_shown():
    shown = repr(Settings(client_id="c", client_secret="the-secret", private_key="the-key"))
    assert "the-secret" not in shown
    assert "the-key" not in shown
    assert shown.endswith("client_secret=…, private_key=…)")


def test_a_secret_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("MY_SECRET", "s3cr3t")
    assert secret_of("MY_SECRET") == "s3cr3t"
    monkeypatch.delenv("MY_SECRET")
    with pytest.raises(SettingsError, match="the environment variable MY_SECRET, which should hold the client secret, is not set"):
        secret_of("MY_SECRET")

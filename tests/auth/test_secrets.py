"""Nothing that is said, raised, logged or printed holds a secret, least of all when things go wrong."""

from __future__ import annotations

import logging
import traceback

import pytest
from tests.auth.conftest import World

from dragoman.auth.errors import AuthError

SECRET = "s3cr3t-of-the-client"


class Everything(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # uvicorn is the other side here, asyncio tells of its selector, and what is asked of /callback is asked by the browser.
        if record.name.split(".")[0] not in ("uvicorn", "asyncio") and "/callback?" not in (line := self.format(record)):
            self.lines.append(line)


@pytest.fixture
def logged():
    handler = Everything()
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


def token_refused(world: World) -> None:
    world.authority.token_fault = 400, {"error": "invalid_grant", "error_description": f"no {SECRET}, no"}


def token_unreadable(world: World) -> None:
    world.authority.token_fault = 200, {"access_token": ["access-of-nobody"], "refresh_token": "refresh-of-nobody", "token_type": "bearer"}


def token_of_another_kind(world: World) -> None:
    world.authority.token_fault = 200, {"access_token": "access-of-nobody", "refresh_token": "refresh-of-nobody", "token_type": "MAC"}


def token_with_lines(world: World) -> None:
    world.authority.token_fault = 200, {"access_token": "access-of-nobody\n", "token_type": "bearer"}


def wrong_issuer(world: World) -> None:
    world.authority.iss = "https://evil.example"


def nothing(world: World) -> None:
    """All goes well."""


@pytest.mark.parametrize("fault", [nothing, token_refused, token_unreadable, token_of_another_kind, token_with_lines, wrong_issuer])
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_nothing_said_holds_a_secret(world, logged, capfd, fault, method):
    world.authority.know("known", SECRET, method)
    world.authority.metadata["token_endpoint_auth_methods_supported"] = [method]
    fault(world)
    raised: list[str] = []

    async def story() -> None:
        oauth = world.oauth(client_id="known", client_secret=SECRET)
        try:
            await world.request(oauth)
            world.now += 3600
            world.authority.token_fault = 400, {"error": "invalid_request", "error_description": " ".join(world.authority.refresh)}
            await world.request(oauth)
        except AuthError as error:
            raised.extend((str(error), repr(error), *traceback.format_exception(error)))
        raised.append(repr(oauth))
        raised.append(repr(oauth.store.load()))

    world.play(story)
    everything = "\n".join((*world.told, *raised, *logged.lines, *capfd.readouterr()))
    used = world.asked("/token")
    secrets = {SECRET, "of-nobody", *world.authority.access, *world.authority.refresh}
    secrets |= {values[name] for values in used for name in ("code", "code_verifier", "refresh_token") if name in values}
    secrets |= {values["headers"]["authorization"] for values in used if "authorization" in values["headers"]}
    assert [secret for secret in secrets if secret in everything] == []
    if fault is nothing:
        assert len(used) >= 2
    assert any("error" in line or "login" in line for line in raised + world.told)


def test_the_client_secret_is_not_kept(world):
    world.authority.know("known", SECRET, "client_secret_basic")

    async def story() -> None:
        oauth = world.oauth(client_id="known", client_secret=SECRET)
        assert await world.request(oauth) == 200

    world.play(story)
    (kept,) = (world.folder / "tokens").glob("*.json")
    assert SECRET not in kept.read_text()

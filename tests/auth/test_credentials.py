"""The token between logins: refreshed in time, shared by many requests and processes, and never asked for in a circle."""

from __future__ import annotations

import asyncio
import socket
from urllib.parse import urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.auth.conftest import World

from dragoman.auth.errors import AuthError, LoginNeeded, SettingsError, StoreError


def tokens(world: World) -> list[str]:
    return list(world.authority.access)


def grants(world: World) -> list[str]:
    return [values["grant_type"] for values in world.asked("/token")]


# -- one login for all ---------------------------------------------------------------------------------------------


def test_a_token_that_works_is_left_as_it_is(world):
    async def story() -> None:
        oauth = world.oauth()
        assert [await world.request(oauth) for _ in range(3)] == [200] * 3
        world.now += 3000
        assert await world.request(oauth) == 200

    world.play(story)
    assert grants(world) == ["authorization_code"]


def test_many_requests_at_once_share_one_login(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await asyncio.gather(*(world.request(oauth) for _ in range(20))) == [200] * 20

    world.play(story)
    assert len(world.visits) == 1
    assert grants(world) == ["authorization_code"]


def test_two_bridges_share_one_login(world):
    async def story() -> None:
        pair = world.oauth(), world.oauth()
        assert await asyncio.gather(*(world.request(oauth) for oauth in pair)) == [200] * 2

    world.play(story)
    assert len(world.visits) == 1


def test_a_later_process_needs_no_login(world):
    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        later = world.oauth(login="never")
        assert await world.request(later) == 200

    world.play(story)
    assert world.server.log[-1] == world.server.log[-2]


def test_a_login_elsewhere_is_found_by_a_bridge_that_waits_for_one(world):
    async def story() -> None:
        bridge = world.oauth(login="never")
        with pytest.raises(LoginNeeded, match=f"run dragoman login {world.server.url}"):
            await world.request(bridge)
        assert await world.request(world.oauth()) == 200
        assert await world.request(bridge) == 200

    world.play(story)


def test_each_principal_has_a_token_of_its_own(world):
    async def story() -> None:
        assert await world.request(world.oauth("anna")) == 200
        assert await world.request(world.oauth("bert")) == 200
        assert await world.request(world.oauth("anna")) == 200

    world.play(story)
    assert len(world.visits) == 2
    first, second = tokens(world)
    assert world.server.log == ["", f"Bearer {first}", "", f"Bearer {second}", f"Bearer {first}"]


def test_the_end_of_a_request_does_not_end_the_login_it_waits_for(world):
    world.logs_in = False

    async def story() -> None:
        oauth = world.oauth()
        first = asyncio.create_task(world.request(oauth))
        await world.visited.wait()
        second = asyncio.create_task(world.request(oauth))
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await world.browse(world.visits[0])
        assert await second == 200

    world.play(story)
    assert len(world.visits) == 1


def test_closing_gives_the_login_up_and_its_port_back(world):
    world.logs_in = False

    async def story() -> None:
        oauth = world.oauth()
        request = asyncio.create_task(world.request(oauth))
        await world.visited.wait()
        await oauth.close()
        with pytest.raises(asyncio.CancelledError):
            await request
        with pytest.raises(OSError, match=r"."):
            await asyncio.open_connection("127.0.0.1", int(world.visits[0].split("127.0.0.1%3A")[1].split("%2F")[0]))

    world.play(story)


def test_a_person_who_did_not_log_in_is_not_asked_by_every_request(world):
    world.authority.denies = "access_denied", ""

    async def story() -> None:
        oauth = world.oauth()
        for _ in range(3):
            with pytest.raises(LoginNeeded, match="access_denied"):
                await world.request(oauth)

    world.play(story)
    assert len(world.visits) == 1


# -- refreshing ----------------------------------------------------------------------------------------------------


def test_a_token_is_refreshed_shortly_before_it_ends(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.now += 3575
        assert await world.request(oauth) == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "refresh_token"]
    assert world.asked("/token")[1]["resource"] == world.server.url
    assert world.server.log[-1] == f"Bearer {tokens(world)[1]}"
    assert len(world.server.log) == 3


def test_many_requests_at_once_share_one_refresh(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.now += 3600
        assert await asyncio.gather(*(world.request(oauth) for _ in range(10))) == [200] * 10

    world.play(story)
    assert grants(world) == ["authorization_code", "refresh_token"]


def test_two_bridges_do_not_use_one_refresh_token_twice(world):
    async def story() -> None:
        pair = world.oauth(), world.oauth()
        assert [await world.request(oauth) for oauth in pair] == [200] * 2
        for _ in range(3):
            world.now += 3600
            assert await asyncio.gather(*(world.request(oauth) for oauth in pair)) == [200] * 2

    world.play(story)
    assert grants(world) == ["authorization_code", *["refresh_token"] * 3]


def test_a_token_that_is_refused_is_refreshed_before_anybody_is_asked(world):
    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        world.authority.void(tokens(world)[0])
        assert await world.request(world.oauth(login="never")) == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "refresh_token"]


def test_a_server_that_does_not_rotate_keeps_its_refresh_token(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        refresh = oauth.store.load().refresh_token
        world.authority.token_fault = 200, {"access_token": "again", "token_type": "Bearer", "expires_in": 60}
        world.server.accepts = lambda token: True
        world.now += 3600
        assert await world.request(oauth) == 200
        assert oauth.store.load().refresh_token == refresh

    world.play(story)
    assert world.server.log[-1] == "Bearer again"


def test_a_refresh_token_that_is_good_no_more_leads_to_a_login(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.authority.refresh.clear()
        world.now += 3600
        assert await world.request(oauth) == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "refresh_token", "authorization_code"]
    assert len(world.asked("/register")) == 1  # the port was free again, so the client is still the same
    assert any("invalid_grant" in line for line in world.told)


def test_a_client_that_was_forgotten_registers_again(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.authority.clients.clear()
        world.now += 3600
        assert await world.request(oauth) == 200

    world.play(story)
    assert len(world.asked("/register")) == 2


def test_an_authorization_server_that_is_down_costs_no_login(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.authority.token_fault = 503, {}
        world.now += 3575
        assert await world.request(oauth) == 200  # the token still works
        world.now += 3600
        with pytest.raises(AuthError, match="status 503"):
            await world.request(oauth)
        world.authority.token_fault = None
        assert await world.request(oauth) == 200

    world.play(story)
    assert len(world.visits) == 1


def test_a_token_without_an_end_is_used_until_it_is_refused(world):
    world.authority.lifetime = None
    world.authority.grants_refresh = False

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.now += 1e9
        assert await world.request(oauth) == 200
        world.authority.void(tokens(world)[0])
        assert await world.request(oauth) == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "authorization_code"]


def test_a_token_that_has_ended_is_not_sent(world):
    world.authority.grants_refresh = False

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.now += 3600
        assert await oauth.apply() == {}
        assert await world.request(oauth) == 200

    world.play(story)
    assert world.server.log[2] == ""


# -- no circles ----------------------------------------------------------------------------------------------------


def test_a_new_token_that_is_refused_too_is_the_servers_last_word(world):
    world.server.accepts = lambda token: False
    world.authority.grants_refresh = False

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 401
        assert await world.request(oauth) == 401

    world.play(story)
    assert len(world.visits) == 1


def test_a_refreshed_token_that_is_refused_leads_to_one_login(world):
    world.server.accepts = lambda token: False

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 401
        world.now += 299
        assert await world.request(oauth) == 401
        assert len(world.visits) == 1
        world.now += 1
        assert await world.request(oauth) == 401

    world.play(story)
    assert len(world.visits) == 2


def test_a_server_that_moved_gets_a_login_at_its_new_place(world):
    world.server.accepts = lambda token: token in world.other.access or (not world.other.log and token in world.authority.access)

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.server.servers = [world.other.issuer]
        world.server.accepts = lambda token: token in world.other.access
        assert await world.request(oauth) == 200

    world.play(story)
    assert len(world.other.asked("/register")) == 1
    known = set(world.authority.clients)
    assert known == {"client-1"}
    assert world.other.asked("/token")[0]["code"] not in world.authority.codes
    assert "refresh-" not in str(world.other.log)


def test_a_client_id_is_for_one_authorization_server(world):
    world.authority.know("ours", "s3cr3t", "client_secret_basic")
    world.other.know("ours", "s3cr3t", "client_secret_basic")

    async def story() -> None:
        oauth = world.oauth(client_id="ours", client_secret="s3cr3t")
        assert await world.request(oauth) == 200
        world.server.servers = [world.other.issuer]
        world.server.accepts = lambda token: False
        with pytest.raises(AuthError, match=f"our credentials are for {world.authority.issuer}, but the server now wants"):
            await world.request(oauth)

    world.play(story)
    assert world.other.asked("/token") == world.other.asked("/authorize") == []


def test_a_client_id_goes_nowhere_but_to_the_issuer_it_was_given_for(world):
    world.authority.know("ours", "s3cr3t", "client_secret_basic")

    async def story() -> None:
        with pytest.raises(AuthError, match=r"our credentials are for https://ours\.example"):
            await world.request(world.oauth(client_id="ours", client_secret="s3cr3t", issuer="https://ours.example"))

    world.play(story)
    assert world.asked("/token") == world.asked("/authorize") == []


def test_of_several_authorization_servers_the_one_with_our_credentials_is_taken(world):
    world.other.know("ours", "s3cr3t", "client_secret_basic")
    world.server.servers = [world.authority.issuer, world.other.issuer]
    world.server.accepts = lambda token: token in world.other.access

    async def story() -> None:
        assert await world.request(world.oauth(client_id="ours", client_secret="s3cr3t", issuer=world.other.issuer)) == 200

    world.play(story)
    assert world.authority.log == []


# -- more scope ----------------------------------------------------------------------------------------------------


def test_a_step_up_keeps_what_was_granted(world):
    world.server.first_scope = "read"

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.server.needed_scope = "write"
        assert await world.request(oauth) == 200
        world.server.needed_scope = "read"
        assert await world.request(oauth) == 200

    world.play(story)
    assert [values["scope"] for values in world.asked("/authorize")] == ["read", "read write"]


def test_a_step_up_after_a_restart_keeps_what_was_granted(world):
    world.server.first_scope = "read"

    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        world.server.needed_scope = "write"
        assert await world.request(world.oauth()) == 200

    world.play(story)
    assert world.asked("/authorize")[1]["scope"] == "read write"
    assert len(world.asked("/register")) == 1


def test_a_login_after_the_end_of_all_tokens_asks_for_all_scopes_again(world):
    world.server.first_scope = "read"
    world.authority.grants_refresh = False

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.server.needed_scope = "write"
        assert await world.request(oauth) == 200
        world.now += 3600
        assert await world.request(oauth) == 200

    world.play(story)
    assert world.asked("/authorize")[2]["scope"] == "read write"


def test_a_scope_that_the_token_has_already_is_not_asked_for_again(world):
    world.server.challenge = 'Bearer error="insufficient_scope", scope="admin"'

    async def story() -> None:
        oauth = world.oauth(scope="admin")
        assert await world.request(oauth) == 200
        used = await oauth.apply()
        assert await oauth.challenged(403, {"WWW-Authenticate": world.server.challenge}, used) is False

    world.play(story)
    assert len(world.visits) == 1


def test_a_scope_that_is_not_granted_is_asked_for_twice_at_most(world):
    world.server.first_scope = "read"

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.server.needed_scope = "write"
        world.authority.grants_scope = "read"
        assert [await world.request(oauth) for _ in range(4)] == [403] * 4

    world.play(story)
    assert len(world.visits) == 3


def test_a_step_up_without_a_person_says_what_to_do(world):
    world.server.first_scope = "read"

    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        world.server.needed_scope = "write"
        with pytest.raises(LoginNeeded, match=f"run dragoman login --scope 'write' {world.server.url}"):
            await world.request(world.oauth(login="never"))

    world.play(story)


# -- machines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_machine_needs_nobody(world, method):
    world.authority.know("robot", "s3cr3t", method)
    world.authority.metadata |= {"token_endpoint_auth_methods_supported": [method], "code_challenge_methods_supported": None}

    async def story() -> None:
        oauth = world.oauth(client_id="robot", client_secret="s3cr3t", grant="client_credentials", login="never", scope="work")
        assert await world.request(oauth) == 200
        world.now += 3600
        assert await world.request(oauth) == 200

    world.play(story)
    assert world.visits == []
    assert grants(world) == ["client_credentials"] * 2
    assert {values["scope"] for values in world.asked("/token")} == {"work"}


def test_a_machine_sends_its_secret_to_one_authorization_server_alone(world):
    world.authority.know("robot", "s3cr3t", "client_secret_basic")

    async def story() -> None:
        oauth = world.oauth(client_id="robot", client_secret="s3cr3t", grant="client_credentials")
        assert await world.request(oauth) == 200
        world.server.servers = [world.other.issuer]
        world.server.accepts = lambda token: False
        with pytest.raises(AuthError, match="they are not sent there"):
            await world.request(oauth)

    world.play(story)
    assert world.other.asked("/token") == []


# -- the file ------------------------------------------------------------------------------------------------------


def test_a_file_that_others_can_read_is_not_used(world):
    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        (world.folder / "tokens").joinpath(oauth.store.path).chmod(0o640)
        with pytest.raises(StoreError, match=r"is open to other users \(mode 0640\): run chmod 600 on it"):
            await world.oauth().apply()

    world.play(story)


def test_without_a_place_to_keep_tokens_they_last_as_long_as_the_program(world):
    world.folder.joinpath("file").touch()

    async def story() -> None:
        oauth = world.oauth(token_dir=str(world.folder / "file" / "tokens"))
        assert await world.request(oauth) == 200
        world.now += 3600
        assert await world.request(oauth) == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "refresh_token"]
    assert sum("will be lost" in line for line in world.told) == 1


def test_tokens_of_another_client_are_not_ours(world):
    world.authority.know("ours", "", "none")

    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        assert await world.oauth(client_id="ours").apply() == {}

    world.play(story)


@pytest.mark.parametrize(("kind", "algorithm"), [("ec", "ES256"), ("rsa", "RS256"), ("ed25519", "EdDSA")])
def test_a_machine_with_a_key_signs_who_it_is(world, kind, algorithm):
    key = {"ec": lambda: ec.generate_private_key(ec.SECP256R1()), "rsa": rsa_key, "ed25519": ed25519.Ed25519PrivateKey.generate}[kind]()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    world.authority.keys["robot"] = key.public_key()

    async def story() -> None:
        oauth = world.oauth(client_id="robot", private_key=pem, client_auth="private_key_jwt", grant="client_credentials")
        assert await world.request(oauth) == 200

    world.play(story)
    (asked,) = world.asked("/token")
    assert jwt.get_unverified_header(asked["client_assertion"])["alg"] == algorithm


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def test_a_key_that_is_none_is_told(world):
    async def story() -> None:
        oauth = world.oauth(client_id="robot", private_key="no key", client_auth="private_key_jwt", grant="client_credentials")
        with pytest.raises(SettingsError, match="the private key is no PEM"):
            await world.request(oauth)

    world.play(story)


def test_a_step_up_goes_where_the_login_went(world):
    world.server.first_scope = "read"

    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        world.server.needed_scope = "write"
        assert await world.request(world.oauth()) == 200

    world.play(story)
    assert len(world.asked("/.well-known/oauth-authorization-server")) == 1


def test_a_step_up_on_another_port_registers_it(world):
    world.server.first_scope = "read"

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.server.needed_scope = "write"
        with socket.create_server(("127.0.0.1", urlsplit(oauth.store.load().redirect).port)):
            assert await world.request(oauth) == 200

    world.play(story)
    first, second = world.asked("/register")
    assert first["redirect_uris"] != second["redirect_uris"]
    assert second["token_endpoint_auth_method"] == "none"


def test_a_step_up_that_names_no_scope_does_not_ask_for_all(world):
    world.server.first_scope = "read"
    world.authority.metadata["scopes_supported"] = ["everything", "offline_access"]

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        used = await oauth.apply()
        assert await oauth.challenged(403, {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}, used) is True

    world.play(story)
    assert world.asked("/authorize")[1]["scope"] == "read offline_access"


def test_a_forgotten_client_whose_page_leads_nowhere_registers_the_next_time(world):
    world.authority.grants_refresh = False

    async def story() -> None:
        assert await world.request(world.oauth()) == 200
        world.authority.clients.clear()
        world.now += 3600
        with pytest.raises(LoginNeeded, match="nobody logged in"):
            await world.request(world.oauth(login_timeout=0.3))
        assert world.pages[-1].text == "unknown client"
        assert await world.request(world.oauth()) == 200

    world.play(story)
    assert len(world.asked("/register")) == 2


def test_a_token_that_still_works_is_used_while_somebody_logs_in(world):
    world.server.first_scope = "read"

    async def story() -> None:
        oauth = world.oauth()
        assert await world.request(oauth) == 200
        world.logs_in = False
        world.visited.clear()
        world.server.needed_scope = "write"
        step_up = asyncio.create_task(world.request(oauth))
        await world.visited.wait()
        world.now += 3575
        async with asyncio.timeout(5):
            assert await oauth.apply() == {"Authorization": f"Bearer {tokens(world)[0]}"}
        await world.browse(world.visits[1])
        assert await step_up == 200

    world.play(story)
    assert grants(world) == ["authorization_code", "authorization_code"]

"""A login from the first refusal to the first answer, with every way in which servers differ (basic/authorization)."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.auth.conftest import World

from dragoman.auth.errors import AuthError, LoginNeeded


def refused(world: World, words: str, **given: str) -> None:
    """The login comes to nothing, for that reason, and no code or secret went to a token endpoint."""

    async def story() -> None:
        with pytest.raises(AuthError, match=words):
            await world.request(world.oauth(**given))

    world.play(story)
    assert world.asked("/token") == []


def succeeds(world: World, **given: str) -> None:
    async def story() -> None:
        assert await world.request(world.oauth(**given)) == 200

    world.play(story)


def test_a_server_that_asks_for_nothing_gets_no_header(world):
    world.server.accepts = lambda token: True

    async def story() -> None:
        assert await world.oauth().apply() == {}

    world.play(story)
    assert world.authority.log == []


@pytest.mark.parametrize(
    ("status", "challenge"),
    [
        (403, ""),
        (403, 'Bearer error="invalid_request"'),
        (403, 'Bearer realm="x"'),
        (401, 'Basic realm="x"'),
        (401, "Negotiate"),
        (404, 'Bearer error="insufficient_scope"'),
    ],
)
def test_a_refusal_that_no_token_can_mend_is_left_alone(world, status, challenge):
    async def story() -> None:
        assert await world.oauth().challenged(status, {"WWW-Authenticate": challenge}, {}) is False

    world.play(story)
    assert world.authority.log == []


def test_a_login_gives_the_token_for_this_server_to_this_server(world):
    succeeds(world)
    (asked,) = world.asked("/authorize")
    (token,) = world.authority.access
    assert asked["resource"] == world.server.url
    assert asked["code_challenge_method"] == "S256"
    assert world.asked("/token")[0]["resource"] == world.server.url
    assert world.server.log == ["", f"Bearer {token}"]
    assert world.told[0] == "to log in, open this address in a browser:"
    assert world.pages[0].text.count("You are logged in.") == 1


def test_what_the_server_tells_is_used_though_it_is_at_no_known_address(world):
    world.server.document_at = "/about/me"
    succeeds(world)


@pytest.mark.parametrize("path", ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"])
def test_known_addresses_are_tried_when_the_challenge_names_none(world, path):
    world.server.document_at = path
    world.server.tells_where = False
    succeeds(world)


@pytest.mark.parametrize(
    ("prefix", "path"),
    [
        ("", "/.well-known/openid-configuration"),
        ("/tenant", "/.well-known/oauth-authorization-server/tenant"),
        ("/tenant", "/.well-known/openid-configuration/tenant"),
        ("/tenant", "/tenant/.well-known/openid-configuration"),
    ],
)
def test_metadata_is_found_where_servers_of_either_kind_have_it(world, prefix, path):
    world.authority.prefix = prefix
    world.authority.metadata_at = [path]
    succeeds(world)


def test_a_server_of_2025_03_26_is_its_own_authorization_server(world):
    world.server.document_at = None
    world.server.challenge = "Bearer"
    world.authority.base, kept = world.server.base, world.authority.base
    try:
        succeeds(world)
        assert world.asked("/register")
        world.authority.metadata_at = []
        world.authority.iss = None  # without metadata there is no issuer to compare it with
        world.folder /= "second"
        succeeds(world)
    finally:
        world.authority.base = kept


def test_a_client_registers_as_what_it_is(world):
    succeeds(world)
    (asked,) = world.asked("/register")
    assert asked["application_type"] == "native"
    assert asked["grant_types"] == ["authorization_code", "refresh_token"]
    assert asked["token_endpoint_auth_method"] == "none"
    assert asked["redirect_uris"] == [world.asked("/authorize")[0]["redirect_uri"]]
    assert asked["redirect_uris"][0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("is_told", [True, False])
def test_a_registered_secret_is_shown_the_way_the_server_takes(world, method, is_told):
    world.authority.metadata["token_endpoint_auth_methods_supported"] = [method]
    if not is_told:
        world.authority.registration = {"token_endpoint_auth_method": None}
        world.authority._register = registering_silently(world, method)
    succeeds(world)
    assert "client_secret" in world.asked("/token")[0] or "authorization" in world.asked("/token")[0]["headers"]
    world.authority.__dict__.pop("_register", None)


def registering_silently(world: World, method: str):
    """The answer has a secret, and no word on how to show it."""
    from starlette.responses import JSONResponse

    async def register(request, values):
        world.authority.know("quiet", "its-secret", method)
        return JSONResponse({"client_id": "quiet", "client_secret": "its-secret", "redirect_uris": values["redirect_uris"]}, 201)

    return register


def test_a_client_with_a_document_of_its_own_does_not_register(world):
    world.authority.metadata["client_id_metadata_document_supported"] = True
    succeeds(world, client_metadata_url="https://client.example/document.json")
    assert world.asked("/register") == []
    assert world.asked("/authorize")[0]["client_id"] == "https://client.example/document.json"


def test_the_document_does_not_help_where_the_server_knows_no_documents(world):
    succeeds(world, client_metadata_url="https://client.example/document.json")
    assert len(world.asked("/register")) == 1


@pytest.mark.parametrize(
    ("secret", "method", "supported"),
    [
        ("", "none", None),
        ("s3cr3t/of it", "client_secret_basic", None),
        ("s3cr3t/of it", "client_secret_basic", ["client_secret_post", "client_secret_basic"]),
        ("s3cr3t/of it", "client_secret_post", ["client_secret_post"]),
    ],
)
def test_a_client_that_is_known_already_does_not_register(world, secret, method, supported):
    world.authority.know("known client", secret, method)
    world.authority.metadata["token_endpoint_auth_methods_supported"] = supported
    succeeds(world, client_id="known client", client_secret=secret)
    assert world.asked("/register") == []


def test_the_method_in_the_settings_counts_more_than_the_metadata(world):
    world.authority.know("known", "s3cr3t", "client_secret_post")
    world.authority.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    succeeds(world, client_id="known", client_secret="s3cr3t", client_auth="client_secret_post")


def test_a_registration_that_is_refused_is_told_with_its_reason(world):
    world.authority.refuses_registration = 400, {"error": "invalid_redirect_uri", "error_description": "no\x1b loopback, please"}
    refused(world, r"refused the registration with status 400: invalid_redirect_uri \(no loopback, please\)")


def test_where_nobody_registers_by_himself_a_client_id_is_asked_for(world):
    world.authority.refuses_registration = 404, {}
    refused(world, "lets no client register by itself: give the client id")


# -- scope ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("challenged", "resource", "authority", "given", "asked"),
    [
        ("", None, None, "", None),
        ("", None, ["everything", "files"], "", None),
        ("", [], ["everything", "offline_access"], "", None),
        ("", ["read", "write"], ["everything"], "", "read write"),
        ("read", ["read", "write"], None, "", "read"),
        ("other", ["read", "write"], ["read"], "", "other"),
        ("read write", ["admin"], None, "more", "read write more"),
        ("read", None, ["read", "offline_access"], "", "read offline_access"),
        ("read", None, ["read"], "", "read"),
    ],
)
def test_the_scope_is_the_least_that_was_asked_for(world, challenged, resource, authority, given, asked):
    world.server.first_scope = challenged
    world.server.document["scopes_supported"] = resource
    world.authority.metadata["scopes_supported"] = authority
    succeeds(world, scope=given)
    assert world.asked("/authorize")[0].get("scope") == asked


# -- what must not be trusted --------------------------------------------------------------------------------------


def test_a_resource_that_is_another_servers_is_refused(world):
    world.server.document["resource"] = "https://other.example/mcp"
    refused(world, "does not match")
    assert world.visits == []


def test_metadata_that_names_another_issuer_is_refused(world):
    world.authority.names_itself = "https://honest.example"
    refused(world, "mismatch")
    assert world.visits == []


def test_an_issuer_is_compared_as_it_is_written(world):
    """The SDK reads addresses, and for it these two are one."""
    world.authority.names_itself = world.authority.issuer.replace("localhost", "LOCALHOST")
    refused(world, "calls itself http://LOCALHOST")
    assert world.visits == []


def test_an_issuer_in_capitals_is_good_if_everybody_writes_it_so(world):
    name = world.authority.issuer.replace("localhost", "LOCALHOST")
    world.server.servers = [name]
    world.authority.names_itself = world.authority.iss = name
    succeeds(world)


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
def test_without_pkce_nobody_is_sent_to_log_in(world, methods):
    world.authority.metadata["code_challenge_methods_supported"] = methods
    refused(world, "does not say that it supports PKCE with S256")
    assert world.visits == []
    assert world.asked("/register") == []


@pytest.mark.parametrize("endpoint", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
@pytest.mark.parametrize("address", ["http://elsewhere.example/x", "http://10.0.0.1/x", "ftp://localhost/x"])
def test_endpoints_without_https_are_refused(world, endpoint, address):
    world.authority.metadata[endpoint] = address
    refused(world, "not https|cannot be read|has no metadata")
    assert world.visits == []


def test_a_resource_document_is_not_fetched_without_https(world):
    world.server.challenge = 'Bearer resource_metadata="http://169.254.169.254/latest"'
    refused(world, "would go to http://169.254.169.254, which is not https")


def test_an_authorization_server_without_metadata_is_not_guessed_at(world):
    world.authority.metadata_at = []
    refused(world, "has no metadata")
    assert world.visits == []


def test_a_server_that_wants_a_token_and_says_nothing_else_is_told_as_such(world):
    world.server.document_at = None
    refused(world, "lets no client register by itself")


@pytest.mark.parametrize("sent", ["https://evil.example", "", None])
def test_an_answer_from_the_wrong_issuer_ends_the_login(world, sent):
    world.authority.iss = sent
    refused(world, "comes from another authorization server" if sent is not None else "does not name its authorization server")
    assert "did not succeed" in world.pages[0].text


def test_the_issuer_with_another_slash_is_another_issuer(world):
    world.authority.iss = world.authority.issuer + "/"
    refused(world, "comes from another authorization server")


def test_an_issuer_that_was_not_announced_is_compared_all_the_same(world):
    world.authority.metadata["authorization_response_iss_parameter_supported"] = None
    world.authority.iss = "https://evil.example"
    refused(world, "comes from another authorization server")


def test_without_announcement_the_issuer_may_be_missing(world):
    world.authority.metadata["authorization_response_iss_parameter_supported"] = None
    world.authority.iss = None
    succeeds(world)


def test_the_words_of_a_wrong_issuer_are_not_repeated(world):
    world.authority.denies = "access_denied", "send your password to me"
    world.authority.iss = "https://evil.example"

    async def story() -> None:
        with pytest.raises(LoginNeeded) as raised:
            await world.request(world.oauth())
        assert "password" not in str(raised.value)
        assert "access_denied" not in str(raised.value)

    world.play(story)
    assert "password" not in world.pages[0].text


def test_a_person_who_declines_is_told_so(world):
    world.authority.denies = "access_denied", "the user said no"
    refused(world, "the authorization server said: access_denied: the user said no")


def test_an_answer_with_a_foreign_state_is_passed_over(world):
    world.logs_in = False

    async def story() -> None:
        oauth = world.oauth()
        request = asyncio.create_task(world.request(oauth))
        await world.visited.wait()
        values = parse_qs(urlsplit(world.visits[0]).query)
        for state in ("", "?state=wrong", "?code=x&state=wrong", "?error=access_denied"):
            await world.browse(values["redirect_uri"][0] + state)
        assert [page.status_code for page in world.pages] == [404] * 4
        await world.browse(world.visits[0])
        assert await request == 200

    world.play(story)


# -- faults on the way ---------------------------------------------------------------------------------------------


def test_a_token_endpoint_that_fails_is_told_with_its_status(world):
    world.authority.token_fault = 503, {}

    async def story() -> None:
        with pytest.raises(AuthError, match="answered the request for the token with status 503"):
            await world.request(world.oauth())

    world.play(story)


def test_an_authorization_server_that_dies_during_the_login_is_told(world):
    world.authority.metadata["token_endpoint"] = "http://localhost:9/token"

    async def story() -> None:
        with pytest.raises(AuthError, match="cannot reach http://localhost:9"):
            await world.request(world.oauth())

    world.play(story)


def test_an_authorization_server_that_hangs_is_given_up(world):
    async def story() -> None:
        world.authority.held = asyncio.Event()
        with pytest.raises(AuthError, match=r"did not answer within 0\.3 s"):
            await world.request(world.oauth(request_timeout=0.3))

    world.play(story)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"access_token": "t", "token_type": "DPoP"},
        {"access_token": "two\nlines", "token_type": "bearer"},
        {"access_token": "", "token_type": "bearer"},
    ],
)
def test_a_token_that_cannot_be_used_is_none(world, answer):
    world.authority.token_fault = 200, answer

    async def story() -> None:
        with pytest.raises(AuthError, match=r"no usable token|cannot be read"):
            await world.request(world.oauth())

    world.play(story)


def test_a_document_without_end_is_given_up(world):
    world.authority.metadata["filler"] = "x" * (1 << 20)
    refused(world, "sent more than 1048576 bytes")


def test_nobody_logs_in_and_the_wait_ends(world):
    world.logs_in = False
    refused(world, r"nobody logged in within 0\.2 s", login_timeout=0.2)

"""WWW-Authenticate fields as servers write them (RFC 9110, section 11.6.1)."""

from __future__ import annotations

import pytest

from dragoman.auth.challenge import Challenge, bearer, challenges


def test_a_field_of_one_challenge_is_the_same_again():
    field = 'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://s.example/.well-known/x"'
    assert bearer(field) == Challenge("insufficient_scope", "a b", "https://s.example/.well-known/x")
    assert bearer(field).field() == field


@pytest.mark.parametrize("field", ["", "Bearer", "bearer", "Bearer ", 'Bearer realm="x"', "Bearer realm=x", " , Bearer"])
def test_a_challenge_may_say_nothing(field):
    assert bearer(field) == Challenge()


@pytest.mark.parametrize("field", ['Basic realm="x"', "Negotiate", "Negotiate YII=", 'DPoP algs="ES256", error="x"', "NTLM abc=="])
def test_other_schemes_are_none_of_ours(field):
    assert bearer(field) is None


@pytest.mark.parametrize(
    ("field", "scope"),
    [
        ("Bearer scope=read", "read"),
        ('Bearer scope = "read"', "read"),
        ('BEARER SCOPE="read"', "read"),
        ('Bearer scope="read" ,realm="x"', "read"),
        ('Bearer error_description="scope=\\"admin\\"", scope="read"', "read"),
        ('Bearer error_description="say scope=admin, please", scope="read"', "read"),
        ('Bearer x_scope="admin", scope="read"', "read"),
        ('Bearer scope="read", scope="admin"', "read"),
        ('Basic realm="scope=admin", Bearer scope="read"', "read"),
        ('Basic scope="admin", Bearer scope="read"', "read"),
        ('Bearer scope="read", Basic scope="admin"', "read"),
        ('Negotiate YII==, Bearer scope="read"', "read"),
        ('Bearer realm="a", Bearer scope="read", resource_metadata="https://s.example/"', "read"),
        ('Bearer scope="read  write"', "read write"),
        ('Bearer scope="re\\ad"', "read"),
        ('Bearer scope="read wr\\"ite"', "read"),
        ('Bearer scope="read', ""),
        ('Bearer scope=""', ""),
    ],
)
def test_the_scope_is_that_of_the_bearer_challenge(field, scope):
    assert bearer(field).scope == scope


def test_an_address_without_quotes_is_read_too():
    found = bearer("Bearer resource_metadata=https://s.example/a?b=c, error=invalid_token")
    assert found == Challenge("invalid_token", "", "https://s.example/a?b=c")


@pytest.mark.parametrize("address", ["/relative", "javascript:alert(1)", "https://s.example/ x", 'https://s.example/\\"'])
def test_what_is_no_address_is_left_out(address):
    assert bearer(f'Bearer resource_metadata="{address}"').resource_metadata == ""


def test_parameters_without_a_scheme_belong_to_nobody():
    assert challenges('realm="x", scope=y') == []


def test_a_long_field_is_read_in_no_time():
    assert bearer('Bearer a="' + '\\"x=' * 100_000) == Challenge()
    assert bearer("Bearer " + ", ".join(f"p{number}=1" for number in range(100_000))) == Challenge()

"""What the browser brings back, judged before anything is believed (basic/authorization#authorization-response-validation)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from dragoman.auth.redirect import Code, Denied, Expected, Stray, judge

ISSUER = "https://auth.example"
SILENT = Expected("/callback", "state-1", ISSUER, announces_issuer=False)
ANNOUNCING = Expected("/callback", "state-1", ISSUER, announces_issuer=True)


def target(**values: str) -> str:
    return f"/callback?{urlencode({'state': 'state-1', **values})}"


def test_a_code_with_its_state_is_taken():
    assert judge(target(code="c"), SILENT) == Code("c")


def test_the_whole_address_is_as_good():
    assert judge("http://127.0.0.1:1234" + target(code="c", iss=ISSUER), ANNOUNCING) == Code("c")


@pytest.mark.parametrize("expected", [SILENT, ANNOUNCING])
def test_the_right_issuer_is_right_whether_announced_or_not(expected):
    assert judge(target(code="c", iss=ISSUER), expected) == Code("c")


@pytest.mark.parametrize("expected", [SILENT, ANNOUNCING])
@pytest.mark.parametrize("iss", ["https://evil.example", f"{ISSUER}/", "https://AUTH.example", "https://auth.example:443", ""])
def test_an_issuer_is_not_made_alike(expected, iss):
    assert judge(target(code="c", iss=iss), expected) == Denied(f"the answer comes from another authorization server than {ISSUER}")


def test_an_announced_issuer_must_be_there():
    assert judge(target(code="c"), ANNOUNCING) == Denied("the answer does not name its authorization server, though it is announced")


def test_an_error_is_shown_on_one_line():
    words = target(error="access_denied", error_description="no\r\n\x1b[31mway")
    assert judge(words, SILENT) == Denied("the authorization server said: access_denied: no [31mway")


def test_an_error_of_the_wrong_issuer_is_not_shown():
    assert "way" not in judge(target(error="no way", iss="https://evil.example"), ANNOUNCING).why
    assert "way" not in judge(target(error="no way"), ANNOUNCING).why


@pytest.mark.parametrize(
    "words",
    [
        "",
        "/",
        "/callback",
        "/callback?code=c",
        "/callback?code=c&state=",
        "/callback?code=c&state=state-2",
        "/callback?code=c&state=state-1x",
        "/callback?error=x&state=state-2",
        "/callback/?code=c&state=state-1",
        "/favicon.ico",
        "/other?code=c&state=state-1",
        "http://[/callback?code=c&state=state-1",
        "/callback?state=state-1&" + "&".join("x=1" for _ in range(200)),
    ],
)
def test_what_is_no_answer_to_us_is_passed_over(words):
    assert judge(words, SILENT) == Stray()


def test_a_parameter_that_stands_twice_spoils_the_answer():
    assert judge(target(code="c") + "&code=d", SILENT) == Denied("the authorization server's answer has a parameter twice")
    assert judge("/callback?state=state-2&code=c&state=state-1", SILENT) == Denied(
        "the authorization server's answer has a parameter twice"
    )


@pytest.mark.parametrize("values", [{}, {"code": ""}])
def test_an_answer_with_nothing_in_it_is_a_denial(values):
    assert judge(target(**values), SILENT) == Denied("the authorization server's answer has neither a code nor an error")

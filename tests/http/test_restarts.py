"""A server that fails again and again, in front of many clients (RFC 9110, section 15.6.4: 503 and Retry-After)."""

from __future__ import annotations

from tests.http.clients import LegacyClient
from tests.http.conftest import Serve
from tests.http.web import Web

FAILURES = 3


def fail(web: Web, principal: str) -> None:
    for number in range(FAILURES):
        call = web.call("deploy", id=number, principal=principal)
        web.die("exited with status 3: token-of-A")
        assert call.code == -32603


def test_modern_and_legacy_requests_of_one_caller_are_put_off_together(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    fail(web, "A")
    opened = len(web.opened)
    call = web.call("deploy", id=9, principal="A")
    assert (call.status, call.code, call.headers["retry-after"]) == (503, -32603, "2")
    assert "exited with status 3" in call.error["message"]
    hello = LegacyClient(web, principal="A").initialize()
    assert (hello.status, hello.headers["retry-after"]) == (503, "2")
    assert len(web.opened) == opened
    web.pass_time(1.5)
    web.call("deploy", id=10, principal="A")
    assert len(web.opened) == opened + 1


def test_another_caller_is_neither_put_off_nor_told(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    fail(web, "A")
    opened = len(web.opened)
    call = web.call("deploy", id=1, principal="B")
    assert len(web.opened) == opened + 1
    web.die("exited with status 4")
    assert "status 4" in call.error["message"]
    assert "token-of-A" not in call.error["message"]


def test_modern_server_that_has_answered_before_it_died_is_started_at_once(serve: Serve) -> None:
    web = serve(server_era="modern", auto={"initialize": None})
    for number in range(FAILURES + 1):
        listed = web.ask("prompts/list", id=number)
        web.reply("prompts/list", {"resultType": "complete", "prompts": [], "ttlMs": 0, "cacheScope": "private"})
        assert listed.status == 200
        web.die()
    assert len(web.opened) == FAILURES + 1

"""A server that fails again and again, in front of many clients (RFC 9110, section 15.6.4: 503 and Retry-After)."""

from __future__ import annotations

from tests.http.clients import LegacyClient
from tests.http.conftest import Serve

FAILURES = 3


def test_modern_and_legacy_clients_are_put_off_together(serve: Serve) -> None:
    web = serve(auto={"initialize": None})
    for number in range(FAILURES):
        call = web.call("deploy", id=number, principal=f"caller {number}")
        web.die("exited with status 3")
        assert call.code == -32603
    opened = len(web.opened)
    call = web.call("deploy", id=9, principal="another")
    assert (call.status, call.code, call.headers["retry-after"]) == (503, -32603, "2")
    assert "exited with status 3" in call.error["message"]
    hello = LegacyClient(web).initialize()
    assert (hello.status, hello.headers["retry-after"]) == (503, "2")
    assert len(web.opened) == opened
    web.pass_time(1.5)
    web.call("deploy", id=10, principal="another")
    assert len(web.opened) == opened + 1

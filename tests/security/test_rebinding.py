"""Web pages, DNS rebinding, and who may read an answer (2026-07-28, basic/transports/streamable-http#security--endpoint).

A page makes its visitor's browser call a server on the visitor's machine, under a name that it lets point there. The browser tells the
truth in ``Host`` and ``Origin``; what else a request says of its way here is anybody's word.
"""

from __future__ import annotations

import pytest
from tests.cases.conftest import Share
from tests.cases.reply import Reply
from tests.cases.served import Fields, Served, head
from tests.security.attacks import ASKS, BYE, call_of, called, fields, frame, initialize, post


def called_with(served: Served, own: Fields) -> Reply:
    """A call of a tool with these fields, and nothing but its status decides whether it reached the server."""
    reply = served.caller().call("echo", fields=own, text="x")
    assert called(served) == (["echo"] if reply.status == 200 else [])
    return reply


# -- Host ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8000", "localhost", "LocalHost:1", "localhost.", "127.0.0.1.", "[::1]", "[::1]:80", "[0:0:0:0:0:0:0:1]"],
)
def test_loopback_name_in_any_spelling_and_with_any_port_is_served(served: Served, host: str) -> None:
    """A page cannot make its own name one of these; behind a forwarded port the number is another."""
    assert called_with(served, {"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1.nip.io", "evil.example."),
        *("127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.2", "0.0.0.0", "127.0.0.1%00"),
        *("::1", "[::1", "[::1]evil", "[::ffff:127.0.0.1]", "[::]", "[fe80::1]", "[::1%25lo]", "[::1].evil.example"),
        *("user@localhost", "localhost@evil.example", "user:pw@127.0.0.1", "localhost:80@evil.example"),
        *("localhost:", "localhost:0", "localhost:65536", "localhost:99999", "localhost:80:80", "localhost:-1", "localhost:http", ":80"),
        *(
            "localhost evil.example",
            "localhost,evil.example",
            "localhost/evil",
            "localhost?",
            "localhost#",
            "localhost\\evil",
            "http://localhost",
        ),
        *("", ".", "..", "localhost..", ".localhost", "*", "null", b"localhost\xe2\x80\x8b", b"\xef\xbd\x8cocalhost"),
    ],
)
def test_any_other_name_is_refused_before_anything_is_read(served: Served, host: str | bytes) -> None:
    assert called_with(served, {"Host": host}).status == 403


def test_missing_host_is_refused_in_every_version_of_http(served: Served) -> None:
    call = call_of("echo")
    assert [reply.status for reply in served.raw(call.replace(b"Host: localhost\r\n", b"") + BYE)] == [400]
    old = call.replace(b"Host: localhost\r\n", b"").replace(b"HTTP/1.1", b"HTTP/1.0")
    assert [reply.status for reply in served.raw(old)] == [403]
    assert called(served) == []


@pytest.mark.parametrize("second", ["evil.example", "localhost"])
def test_second_host_is_refused_even_if_it_says_the_same(served: Served, second: str) -> None:
    own = {**fields("tools/call", "echo"), "Host": ["localhost", second]}
    assert [reply.status for reply in served.raw(post(frame("tools/call", name="echo", arguments={}), own) + BYE)] == [400]
    assert called(served) == []


@pytest.mark.parametrize(
    "name", ["X-Forwarded-Host", "X-Host", "X-Original-Host", "X-Forwarded-Server", "X-HTTP-Host-Override", "X-Rewrite-URL"]
)
def test_what_a_request_says_of_another_host_does_not_count(served: Served, name: str) -> None:
    assert called_with(served, {"Host": "evil.example", name: "localhost"}).status == 403
    assert called_with(served, {"Host": "localhost", name: "evil.example"}).status == 200


def test_forwarded_field_does_not_count(served: Served) -> None:
    own = {"Host": "evil.example", "Forwarded": "for=127.0.0.1;host=localhost", "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "::1"}
    assert called_with(served, own).status == 403


def test_target_with_an_authority_is_served_like_any_other_if_it_is_the_same(served: Served) -> None:
    body = frame("tools/call", name="echo", arguments={})
    call = head("POST", "http://localhost/mcp", {**fields("tools/call", "echo"), "Content-Length": str(len(body))}) + body
    assert served.raw(call + BYE)[0].status in (200, 400)


@pytest.mark.parametrize("authority", ["evil.example", "evil.example:80", "evil@localhost", "localhost.evil.example"])
def test_target_that_names_another_host_is_refused(served: Served, authority: str) -> None:
    """RFC 9112, section 3.2.2: the name in the target counts, and Host does not."""
    body = frame("tools/call", name="echo", arguments={})
    call = head("POST", f"http://{authority}/mcp", {**fields("tools/call", "echo"), "Content-Length": str(len(body))}) + body
    assert served.raw(call + BYE)[0].status in (400, 403)
    assert called(served) == []


def test_target_with_a_good_authority_does_not_excuse_a_bad_host(served: Served) -> None:
    body = frame("tools/call", name="echo", arguments={})
    own = {**fields("tools/call", "echo"), "Host": "evil.example", "Content-Length": str(len(body))}
    assert served.raw(head("POST", "http://localhost/mcp", own) + body + BYE)[0].status in (400, 403)
    assert called(served) == []


def test_names_that_the_operator_allows_are_allowed_with_their_port_alone(share: Share) -> None:
    served = share("plain", "--allow-host", "mcp.example", "--allow-host", "other.example:8443")
    good = ["mcp.example", "MCP.example:1", "mcp.example.", "other.example:8443", "localhost"]
    bad = ["other.example", "other.example:443", "a.mcp.example", "mcp.example.evil", "xmcp.example"]
    assert [served.caller().request("server/discover", fields={"Host": host}).status for host in good] == [200] * len(good)
    assert [served.caller().request("server/discover", fields={"Host": host}).status for host in bad] == [403] * len(bad)


# -- Origin ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173", "HTTP://LOCALHOST"]
)
def test_page_of_this_machine_is_served(served: Served, origin: str) -> None:
    reply = called_with(served, {"Origin": origin})
    assert (reply.status, reply.field("access-control-allow-origin")) == (200, origin)


@pytest.mark.parametrize(
    "origin",
    [
        *(
            "http://evil.example",
            "https://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.2",
            "http://[::ffff:7f00:1]",
        ),
        *("null", "", "file://", "file://localhost", "chrome-extension://abcdef", "ftp://localhost", "javascript:alert(1)"),
        *("http://localhost@evil.example", "http://user@localhost", "http://localhost:99999", "http://localhost:", "http://localhost/"),
        *(
            "http://localhost, http://evil.example",
            "http://localhost http://evil.example",
            "//localhost",
            "localhost",
            "http:/localhost",
            "http://",
        ),
    ],
)
def test_any_other_page_is_refused_and_told_nothing(served: Served, origin: str) -> None:
    reply = called_with(served, {"Origin": origin})
    assert reply.status == 403
    assert [name for name, _ in reply.fields if name.startswith("access-control")] == []
    assert "id" not in reply.json()


def test_second_origin_is_refused(served: Served) -> None:
    own = {**fields("tools/call", "echo"), "Origin": ["http://localhost", "http://evil.example"]}
    replies = served.raw(post(frame("tools/call", name="echo", arguments={}), own) + BYE)
    assert [reply.status for reply in replies] in ([400], [403])
    assert called(served) == []


@pytest.mark.parametrize("verb", ["GET", "DELETE", "POST"])
def test_page_can_neither_hear_nor_end_nor_use_a_session(served: Served, verb: str) -> None:
    caller = served.caller()
    caller.initialize()
    page = {"Origin": "http://evil.example", "Mcp-Session-Id": caller.session, "Accept": "text/event-stream"}
    assert caller.send(verb, None, page).status == 403
    assert caller.ask("ping").status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None, "text/json"])
def test_body_that_a_page_may_send_without_asking_is_refused(served: Served, kind: str | None) -> None:
    """The Fetch standard's safelisted types; a page of this machine asks first, one of elsewhere is refused anyway."""
    reply = served.caller().post(initialize(), {"Content-Type": kind})
    assert reply.status == 415
    assert served.shown("initialize") == []


# -- answers that pages can read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize("options", [(), ("--allow-origin", "https://app.example"), ("--allow-origin", "*")])
def test_no_answer_lets_a_page_use_the_browsers_own_credentials(share: Share, verb: str, options: tuple[str, ...]) -> None:
    served = share("plain", *options)
    for origin in ("https://app.example", "http://localhost", "null"):
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST", "Cookie": "a=b", "Access-Control-Request-Credentials": "true"}
        reply = served.caller().send(verb, None, asked)
        names = [name for name, _ in reply.fields]
        assert "access-control-allow-credentials" not in names
        assert "access-control-allow-private-network" not in names
        assert "set-cookie" not in names
        assert reply.field("access-control-allow-origin") in (None, origin)


def test_preflight_of_a_strange_page_allows_nothing(served: Served) -> None:
    reply = served.caller().send("OPTIONS", None, {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
    assert [name for name, _ in reply.fields if name.startswith("access-control")] == []


def test_preflight_allows_the_fields_of_the_protocol_and_no_others(served: Served) -> None:
    names = "authorization, mcp-param-region, x-evil, cookie, mcp-param-bad name"
    asked = {"Origin": "http://localhost", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": names}
    allowed = (served.caller().send("OPTIONS", None, asked).field("access-control-allow-headers") or "").split(", ")
    assert {"authorization", "mcp-method", "mcp-param-region"} <= set(allowed)
    assert {"x-evil", "cookie", "mcp-param-bad name"} & set(allowed) == set()


def test_origin_in_an_answer_cannot_end_its_line(served: Served) -> None:
    data = head("POST", "/mcp", {"Host": "localhost", "Origin": b"http://localhost\r\nX-Evil: 1", "Content-Length": "0"})
    assert [name for reply in served.raw(data + BYE) for name, _ in reply.fields if name == "x-evil"] == []


def test_question_to_a_caller_is_not_readable_for_a_page_that_repeats_it(served: Served) -> None:
    state = served.caller().call("ask", meta=ASKS).json()["result"]["requestState"]
    reply = served.caller().call("ask", meta=ASKS, fields={"Origin": "http://evil.example"}, requestState=state)
    assert (reply.status, state in reply.body.decode()) == (403, False)

"""One endpoint has one name, and takes the methods of its transports (RFC 9110, section 9; RFC 3986, section 6)."""

from __future__ import annotations

import pytest
from tests.cases.conftest import Share
from tests.cases.served import Served, head
from tests.security.attacks import BYE, call_of, called, fields, frame


def called_at(served: Served, target: str) -> int:
    """The status of a call that was posted there; what is no answer of the endpoint's has not reached a server."""
    body = frame("tools/call", name="echo", arguments={})
    own = {**fields("tools/call", "echo"), "Content-Length": str(len(body))}
    status = served.raw(head("POST", target, own) + body + BYE)[0].status
    assert called(served) == (["echo"] if status == 200 else [])
    return status


@pytest.mark.parametrize("target", ["/mcp", "/mcp/", "/mcp?x=1", "/mcp/?", "/%6dcp"])
def test_endpoint_is_found_under_its_name(served: Served, target: str) -> None:
    """With or without a final slash, and whatever is percent-encoded without need (RFC 3986, section 6.2.2.2)."""
    assert called_at(served, target) == 200


@pytest.mark.parametrize(
    "target",
    [
        *(
            "//mcp",
            "/./mcp",
            "/mcp/.",
            "/mcp/..",
            "/mcp/../mcp",
            "/x/../mcp",
            "/mcp/../healthz",
            "/%2e%2e/mcp",
            "/..%2fmcp",
            "/mcp%2f..%2fhealthz",
        ),
        *(
            "/MCP",
            "/mcp.json",
            "/mcp;x=1",
            "/mcp%00",
            "/mcp%20",
            "/mcp%0a",
            "/mcp\\",
            "/mcpx",
            "/mc",
            "/",
            "/%252fmcp",
            "/%c0%afmcp",
            "/\u006dcp%3f",
        ),
        *("*", "mcp", "?", "#", "http:", "http://localhost"),
    ],
)
def test_no_other_name_leads_to_it(served: Served, target: str) -> None:
    assert called_at(served, target) in (400, 404)


@pytest.mark.parametrize("target", ["/healthz", "/healthz/", "/mcp/healthz", "/healthz/mcp"])
def test_nothing_is_called_at_other_endpoints(served: Served, target: str) -> None:
    assert called_at(served, target) in (404, 405)


def test_endpoint_that_the_operator_has_moved_is_not_where_it_was(share: Share) -> None:
    served = share("plain", "--path", "/a/b")
    assert called_at(served, "/mcp") == 404
    for target in ("/a", "/a//b", "/a/./b", "/a/c/../b", "/a/b/c", "/b"):
        assert (target, called_at(served, target)) == (target, 404)
    assert called_at(served, "/a/b") == 200


@pytest.mark.parametrize("verb", ["TRACE", "PUT", "PATCH", "HEAD", "PROPFIND", "QUERY", "M-SEARCH", "LINK"])
def test_method_that_is_not_of_the_transports_is_405_and_told_which_are(served: Served, verb: str) -> None:
    reply = served.caller().send(verb, "/mcp")
    assert (reply.status, reply.field("allow")) == (405, "POST, GET, DELETE, OPTIONS")


@pytest.mark.parametrize("verb", ["CONNECT", "BREW", "get", "Post", "PRI", "P\u00d6ST", "", "POST\t", "POST,GET"])
def test_method_that_is_none_ends_the_connection(served: Served, verb: str) -> None:
    data = head("POST", "/mcp", fields("tools/call", "echo")).replace(b"POST", verb.encode(), 1)
    assert [reply.status for reply in served.raw(data + call_of("echo") + BYE)] == [400]
    assert called(served) == []


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_method_is_not_overridden_by_a_field(served: Served, name: str) -> None:
    caller = served.caller()
    caller.initialize()
    assert caller.get({name: "DELETE"}).status == 200
    assert caller.ask("ping", fields={name: "DELETE"}).status == 200


@pytest.mark.parametrize("verb", ["POST", "PUT", "DELETE", "TRACE"])
def test_health_is_only_read(served: Served, verb: str) -> None:
    reply = served.caller().send(verb, "/healthz")
    assert (reply.status, reply.field("allow")) == (405, "GET")

"""Too much of everything (RFC 9110, sections 15.5.14 and 15.6.4; RFC 6585, section 5).

It is refused early and costs little, and the next caller is served.
"""

from __future__ import annotations

import json
import select
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.cases.conftest import Serve, Share
from tests.cases.reply import text_of
from tests.cases.served import Served, head
from tests.cases.wrapped import META
from tests.security.attacks import BYE, fields, frame, initialize, post

MIB = 1024 * 1024
JSON = {"Host": "localhost", "Content-Type": "application/json"}


def well(served: Served) -> None:
    """Somebody else is served, and the bridge has not grown much."""
    assert served.caller("Bearer later").said("echo", text="x") == "x"
    assert served.memory() < 160 * MIB


def servers(served: Served) -> int:
    """How many server processes there are (each has a guard beside it, which is not counted)."""
    found = 0
    for pid in served.children():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += len(words) > 2 and words[2].endswith(b"small_server.py")
    return found


# -- heads -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        head("POST", "/mcp", {**JSON, "X": "a" * 70_000, "Content-Length": "0"}),
        head("POST", "/mcp", {**JSON, "X": "a" * 4 * MIB, "Content-Length": "0"}),
        head("POST", "/mcp", {**JSON, "Authorization": "Bearer " + "a" * MIB, "Content-Length": "0"}),
        head("POST", "/mcp", {**JSON, "X": ["a"] * 101, "Content-Length": "0"}),
        head("POST", "/mcp", {**JSON, "X": ["a"] * 500_000, "Content-Length": "0"}),
        head("POST", "/mcp", {**JSON, **{f"Mcp-Param-{number}": "a" for number in range(101)}, "Content-Length": "0"}),
        head("GET", "/" + "a" * MIB, {"Host": "localhost"}),
        head("GET", "/mcp?" + "a" * MIB, {"Host": "localhost"}),
        head("GET", "/mcp", {"Host": "localhost", "Mcp-Session-Id": "x", "Last-Event-ID": "1-" + "9" * MIB}),
    ],
    ids=["field", "fields of 4M", "credentials", "101 fields", "half a million fields", "mirrored fields", "path", "query", "event id"],
)
def test_head_over_the_limits_is_refused_and_ends_the_connection(served: Served, data: bytes) -> None:
    assert [reply.status for reply in served.raw(data + BYE)] == [431]
    well(served)


@pytest.mark.parametrize(
    "data",
    [
        b"A" * MIB,
        head("POST", "/mcp", {**JSON, "Transfer-Encoding": "chunked"}) + b"1;" + b"a" * 2 * MIB,
        head("POST", "/mcp", {**JSON, "Transfer-Encoding": "chunked"}) + b"1\r\n \r\n0\r\n" + b"A: b\r\n" * 300_000,
        b"\r\n" * MIB,
    ],
    ids=["method", "chunk extension", "trailers", "nothing at all"],
)
def test_flood_that_is_neither_head_nor_body_is_refused(served: Served, data: bytes) -> None:
    assert [reply.status for reply in served.raw(data + b"\r\n\r\n" + BYE)][:1] in ([400], [431], [200])
    well(served)


@pytest.mark.parametrize("event", ["1-" + "9" * 4000, "9" * 60_000, "1-1" * 10_000, "-" * 60_000])
def test_long_event_id_within_the_limits_means_nothing(served: Served, event: str) -> None:
    caller = served.caller()
    caller.initialize()
    assert caller.get({"Last-Event-ID": event}).status == 200
    well(served)


def test_long_names_in_fields_are_shown_cut_short(served: Served) -> None:
    reply = served.caller().call("echo", fields={"Mcp-Name": "x" * 50_000}, text="x")
    assert (reply.status, len(reply.body) < 500) == (400, True)


# -- bodies ------------------------------------------------------------------------------------------------------------------------


def test_body_of_just_the_limit_is_served_and_one_byte_more_is_not(share: Share) -> None:
    served = share("plain", "--max-body", "1M")
    body = frame("tools/call", name="echo", arguments={"text": ""})
    for more, status in ((0, 200), (1, 413)):
        own = {name: value for name, value in fields("tools/call", "echo").items() if name != "Host"}
        reply = served.caller().post(body + b" " * (MIB - len(body) + more), own)
        assert reply.status == status


@pytest.mark.parametrize("length", [MIB + 1, 10**12, 10**17])
def test_body_that_says_that_it_is_too_long_is_not_waited_for(share: Share, length: int) -> None:
    served = share("plain", "--max-body", "1M")
    (reply,) = served.raw(head("POST", "/mcp", {**JSON, "Content-Length": str(length)}))
    assert (reply.status, reply.field("connection")) == (413, "close")


def test_body_in_chunks_is_refused_when_it_grows_too_long(share: Share) -> None:
    served = share("plain", "--max-body", "1M")
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    (reply,) = served.raw(head("POST", "/mcp", {**JSON, "Transfer-Encoding": "chunked"}) + chunk * 200 + b"0\r\n\r\n")
    assert reply.status == 413
    well(served)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * MIB,
        b'{"a":' * MIB,
        b'{"jsonrpc":"2.0","id":' + b"[" * 100_000 + b"]" * 100_000 + b',"method":"x"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":%b1%b},"_meta":%b}}'
        % (b"[" * 100_000, b"]" * 100_000, json.dumps(META).encode()),
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"a":%b1%b}}}' % (b'{"a":' * 50_000, b"}" * 50_000),
        b'"' + b"\\u0000" * 100_000,
        b"1" * MIB,
        b"\xff" * MIB,
    ],
    ids=["arrays", "objects", "id", "arguments", "meta", "text", "number", "no UTF-8"],
)
def test_body_that_is_no_message_or_too_deep_is_refused_at_once(served: Served, body: bytes) -> None:
    own = {name: value for name, value in fields("tools/call", "echo").items() if name != "Host"}
    reply = served.caller().post(body, own)
    assert (reply.status, reply.error()["code"] in (-32700, -32600)) == (400, True)
    well(served)


@pytest.mark.parametrize("id", ["x" * MIB, -(10**200), 10**200])
def test_id_of_any_length_comes_back_as_it_was_or_is_refused(served: Served, id: Any) -> None:  # noqa: A002
    reply = served.caller().request("tools/call", id=id, name="echo", arguments={"text": "x"})
    answer = json.loads(reply.body)
    assert (reply.status, answer["id"] == id) == (200, True) if reply.status == 200 else reply.status == 400
    well(served)


def test_batch_of_thousands_is_answered_and_costs_one_process(share: Share) -> None:
    served = share("any-revision")
    caller = served.caller()
    caller.initialize("2025-03-26")
    batch = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(1000)]
    assert len(list(caller.post(batch).messages())) == 1000
    well(served)


def test_batch_of_thousands_outside_a_session_reaches_nobody(served: Served) -> None:
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "count"}} for number in range(20_000)]
    assert served.caller().post(batch).status == 400
    assert served.shown("tools/call") == []


# -- processes -----------------------------------------------------------------------------------------------------------------------


def test_thousands_of_handshakes_start_no_more_processes_than_allowed(serve: Serve) -> None:
    served = serve("plain", "--max-sessions", "3")
    own = {name: value for name, value in JSON.items() if name != "Mcp-Method"}
    data = post(json.dumps(initialize()).encode(), own)
    with ThreadPoolExecutor(4) as pool:
        replies = [reply for some in pool.map(lambda _: served.raw(data * 500 + BYE), range(4)) for reply in some]
        most = servers(served)
    statuses = [reply.status for reply in replies]
    assert statuses.count(200) == 3 + 4  # and the four farewells
    assert statuses.count(503) == 2000 - 3
    assert {reply.field("retry-after") for reply in replies if reply.status == 503} == {"5"}
    assert (most, servers(served), served.health()["processes"]) == (3, 3, 3)
    assert len({entry["pid"] for entry in served.seen()}) == 3


def test_place_of_a_session_that_ends_is_free_again(serve: Serve) -> None:
    served = serve("plain", "--max-sessions", "1")
    first, second = served.caller(), served.caller()
    first.initialize()
    assert second.post(initialize()).status == 503
    assert first.delete().status == 204
    second.initialize()
    assert text_of(second.ask("tools/call", name="echo", arguments={"text": "x"}).json()) == "x"


def test_thousand_callers_start_no_more_processes_than_allowed(serve: Serve) -> None:
    served = serve("plain", "--max-sessions", "3")
    body = frame("tools/call", name="pid", arguments={})
    data = b"".join(post(body, {**fields("tools/call", "pid"), "Authorization": f"Bearer {number}"}) for number in range(1000))
    statuses = [reply.status for reply in served.raw(data + BYE)]
    assert (statuses.count(200), statuses.count(503)) == (3 + 1, 997)
    assert (servers(served), served.health()["processes"]) == (3, 3)


def test_set_of_capabilities_that_is_always_new_starts_no_more_processes_than_allowed(serve: Serve) -> None:
    served = serve("plain", "--max-sessions", "3")
    caller = served.caller()
    statuses = []
    for number in range(30):
        own = {"io.modelcontextprotocol/clientCapabilities": {"experimental": {f"x{number}": {}}}}
        statuses.append(caller.call("pid", meta=own).status)
    assert (statuses.count(200), statuses.count(503)) == (3, 27)
    assert servers(served) == 3


def test_calls_with_a_process_each_start_no_more_processes_than_allowed(serve: Serve) -> None:
    """Each caller has a process that has listed the tools, and each call one of its own beside it."""
    served = serve("plain", "--max-sessions", "2", "--isolation", "session")
    first, second = served.caller("Bearer one"), served.caller("Bearer two")
    assert [caller.request("tools/list").status for caller in (first, second)] == [200, 200]
    refused = first.call("pid")
    assert (refused.status, refused.field("retry-after")) == (503, "5")
    assert (servers(served), len({entry["pid"] for entry in served.seen()})) == (2, 2)


def test_first_calls_at_the_same_time_start_no_more_processes_than_allowed(serve: Serve) -> None:
    served = serve("plain", "--max-sessions", "4", "--isolation", "session", "--header-wait", "60")
    body = frame("tools/call", name="hang", arguments={})
    connections = [served.connect() for _ in range(8)]
    for number, connection in enumerate(connections):
        connection.sendall(post(body, {**fields("tools/call", "hang"), "Authorization": f"Bearer {number}"}))
    running = refused = 0
    while running + refused < 8:  # a call that runs is never answered
        assert served.health()["processes"] <= 4
        running, refused = len(served.shown("tools/call")), len(select.select(connections, [], [], 0)[0])
    assert 1 <= running < 4
    assert servers(served) <= 4
    for connection in connections:
        connection.close()


def test_endpoints_of_the_old_transport_start_no_more_processes_than_allowed(serve: Serve) -> None:
    served = serve("plain", "--sse", "--max-sessions", "2")
    statuses = []
    for _ in range(5):
        caller = served.caller()
        events = caller.get(target="/sse").events()
        statuses.append(caller.post(initialize("2024-11-05"), target="/" + next(events)["data"]).status)
        if statuses[-1] == 202:
            assert json.loads(next(events)["data"])["id"] == "hello"
    assert (statuses.count(202), statuses.count(503)) == (2, 3)
    assert servers(served) == 2


def test_streams_that_nobody_reads_start_no_process_of_their_own(serve: Serve) -> None:
    served = serve("changes", "--max-sessions", "1")
    caller = served.caller()
    streams = [caller.request("subscriptions/listen", id=f"s{number}", notifications={"toolsListChanged": True}) for number in range(100)]
    assert {stream.status for stream in streams} == {200}
    assert servers(served) == 1
    assert caller.said("echo", text="x") == "x"

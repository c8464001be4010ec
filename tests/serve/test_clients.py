"""Clients that leave, and clients that do not read."""

from __future__ import annotations

import sys
import time

from tests.serve.wire import call, head, modern

# A call of ``flood`` gets as many progress notifications of a megabyte as its arguments say; so does every call of ``more``, for it.
# It is answered at once, or after the last ``more`` that it has been told of.
FLOOD = """
import json, sys
def send(frame): print(json.dumps({"jsonrpc": "2.0", **frame}), flush=True)
def answer(number): send({"id": number, "result": {"content": [{"type": "text", "text": "done"}]}})
sent = 0
for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "flood", "version": "1"}}
        send({"id": frame["id"], "result": result})
    elif frame["method"] == "tools/list":
        send({"id": frame["id"], "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("flood", "more")]}})
    elif frame["method"] == "tools/call":
        arguments = frame["params"]["arguments"]
        if frame["params"]["name"] == "flood":
            flooded, left, token = frame["id"], arguments.get("more", 0), frame["params"].get("_meta", {}).get("progressToken")
        else:
            left -= 1
        for _ in range(arguments["count"]):
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": sent, "message": "x" * 1000000}})
            sent += 1
        if frame["id"] != flooded:
            answer(frame["id"])
        if not left:
            answer(flooded)
"""
FLOODING = [sys.executable, "-S", "-c", FLOOD]


def test_client_that_closes_a_running_stream_cancels_the_call(serve):
    served = serve()
    with served.connect() as connection:
        connection.send(call("slow", meta={"progressToken": "p"}))
        connection.head()
        assert connection.event()["params"]["progress"] == 1
    assert served.ask(call("await_cancels")).text == "1 cancelled"


def test_without_uvloop_everything_works_too(serve):
    served = serve(no_uvloop=1)
    with served.connect() as connection:
        connection.send(call("slow", meta={"progressToken": "p"}))
        connection.head()
        assert connection.event()["params"]["progress"] == 1
        assert served.ask(call("big", size=1_000_000)).text == "x" * 1_000_000
    assert served.ask(call("await_cancels")).text == "1 cancelled"
    assert served.end() == (143, [f"dragoman: listening on {served.url}"])


def test_client_that_leaves_before_any_answer_cancels_the_call(serve):
    served = serve()
    with served.connect() as connection:
        connection.send(call("slow"))
        assert served.ask(call("barrier", count=1)).text == "1"  # the server runs the slow call by now
    assert served.ask(call("await_cancels")).text == "1 cancelled"


def test_client_that_leaves_its_pipelined_calls_leaves_them_all(serve):
    served = serve()
    with served.connect() as connection:
        connection.send(call("slow", number=1) + call("echo", number=2, text="never read"))
        served.ask(call("barrier", count=1))
    assert served.ask(call("await_cancels")).text == "1 cancelled"


def test_client_that_leaves_a_listen_stream_is_forgotten(serve):
    served = serve()
    with served.connect() as connection:
        connection.send(modern("subscriptions/listen", notifications={"toolsListChanged": True}))
        connection.head()
        assert connection.event()["method"] == "notifications/subscriptions/acknowledged"
        assert served.ask(head("GET", "/healthz")).frame["exchanges"] == 2
    while served.ask(head("GET", "/healthz")).frame["exchanges"] > 1:
        pass
    assert served.ask(call("mutate")).text == "tools changed"


def test_client_that_reads_slowly_gets_everything(serve):
    served = serve(client_stall=1.5)
    with served.connect(receive_buffer=4096) as connection:
        connection.send(call("big", size=400_000))
        answer = connection.head()
        left = int(answer.fields["content-length"]) - len(connection._rest)
        began = time.monotonic()
        while left:
            left -= len(connection.socket.recv(1000))
            time.sleep(0.005)  # a slow client is what this is about
        assert time.monotonic() - began > 1.5


def test_client_that_takes_nothing_of_its_answer_is_dropped_and_others_are_served(serve):
    served = serve(client_stall=0.5)
    with served.connect(receive_buffer=4096) as connection, served.connect() as other:
        connection.send(call("big", size=12_000_000))
        connection.head()
        assert other.ask(call("echo", text="served meanwhile")).text == "served meanwhile"
        served.listen_for("a client was dropped: it has sent and taken nothing for too long")
        assert len(connection.rest()) < 12_000_000
    status, told = served.end()
    assert (status, len(told)) == (143, 2)


def test_client_that_lets_its_stream_pile_up_is_dropped_and_the_call_goes_on_without_it(serve):
    served = serve(command=FLOODING)
    with served.connect(receive_buffer=4096) as connection, served.connect() as other:
        connection.send(call("flood", count=60, meta={"progressToken": "p"}))
        connection.head()
        served.listen_for("a client was dropped: it takes its answer too slowly")
        assert other.ask(call("flood", count=0)).text == "done"
        assert served.memory() < 150_000_000


def test_client_that_keeps_up_gets_any_number_of_megabytes(serve):
    served = serve(command=FLOODING)
    with served.connect() as connection, served.connect() as other:
        connection.send(call("flood", count=10, more=3, meta={"progressToken": "p"}))
        connection.head()
        for batch in range(4):
            if batch:
                assert other.ask(call("more", count=10)).text == "done"
            numbers = [connection.event()["params"]["progress"] for _ in range(10)]
            assert numbers == list(range(batch * 10, batch * 10 + 10))
        assert connection.event()["result"]["content"][0]["text"] == "done"


def test_end_of_a_connection_is_not_waited_for_when_nobody_reads(serve):
    served = serve(client_stall=0.5, FLUSH_TIME=0.5)
    before = served.descriptors()
    with served.connect(receive_buffer=4096) as connection:
        connection.send(call("big", "Connection: close", size=12_000_000))
        connection.head()
        while served.descriptors() > before + 5:  # the connection itself, and what the server behind takes
            pass
        served.listen_for("a client was dropped")
        while served.descriptors() > before + 4:
            pass


def test_quiet_stream_is_kept_alive_with_comments(serve):
    served = serve("--keepalive", "0.05")
    with served.connect() as connection:
        connection.send(modern("subscriptions/listen", notifications={"toolsListChanged": True}))
        connection.head()
        connection.event()
        assert [connection.chunk() for _ in range(3)] == [b":\n\n"] * 3

"""What goes wrong behind one request is no matter of the others: faults of ours, servers that misbehave."""

from __future__ import annotations

import sys

import pytest
from tests.serve.conftest import LEGACY
from tests.serve.wire import Connection, call, head, modern

from dragoman.http import face
from dragoman.serve import Bridge, servers

# Stops reading at the first call, whatever is written to it.
DEAF = """
import json, sys, time
for line in sys.stdin:
    frame = json.loads(line)
    if frame["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "deaf", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": result}), flush=True)
    elif frame["method"] == "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": {"tools": []}}), flush=True)
    elif frame["method"] == "tools/call":
        time.sleep(1000)
"""


class Faulty(face.HttpFace):
    """The real one, with a fault at three places."""

    def head(self, request):
        if request.query == b"head":
            raise ZeroDivisionError("of the head")
        return super().head(request)

    def request(self, number, request, body, now):
        if request.query == b"request":
            raise ZeroDivisionError("of the request")
        effects = super().request(number, request, body, now)
        return [*effects, None] if request.query == b"effects" else effects


@pytest.mark.parametrize("place", ["head", "request"])
def test_fault_of_ours_is_told_to_its_caller_and_to_the_operator_alone(host, monkeypatch, capfd, place):
    monkeypatch.setattr(face, "HttpFace", Faulty)
    with host(Bridge(LEGACY), lifespan="on") as port, Connection(port) as connection, Connection(port) as other:
        other.send(call("slow", meta={"progressToken": "p"}))
        other.head()
        answer = connection.ask(call("echo", path=f"/mcp?{place}", number=9, text="never run"))
        assert (answer.status, answer.frame["error"]["code"]) == (500, -32603)
        assert answer.frame.get("id") == (9 if place == "request" else None)
        with Connection(port) as next_one:
            assert next_one.ask(call("release")).text == "done"
        other.event()
        assert other.event()["result"]["content"][0]["text"] == "released"
        assert ask_health(port)["exchanges"] == 1
    assert f"dragoman: error: internal fault in {place}: ZeroDivisionError: of the {place}\n" in capfd.readouterr().err


def test_effect_that_nobody_knows_costs_its_own_request_only(host, monkeypatch, capfd):
    monkeypatch.setattr(face, "HttpFace", Faulty)
    with host(Bridge(LEGACY), lifespan="on") as port, Connection(port) as connection:
        assert connection.ask(call("echo", path="/mcp?effects", text="never answered")).status == 500
        assert connection.ask(call("echo", text="next")).text == "next"
    assert "internal fault in request" in capfd.readouterr().err


def ask_health(port: int) -> dict[str, object]:
    with Connection(port) as connection:
        return connection.ask(head("GET", "/healthz")).frame


def test_server_that_crashes_is_told_and_started_again(serve):
    served = serve()
    answer = served.ask(call("crash"))
    assert "exited with status 3" in answer.frame["error"]["message"]
    assert served.ask(call("echo", text="alive")).text == "alive"
    children = served.children()
    assert len(children) == 2
    assert "Z" not in children.values()


def test_server_that_ends_while_idle_is_reaped_and_the_next_request_gets_a_new_one(serve):
    served = serve("--log-level", "debug", command=[sys.executable, "-S", "-c", "import sys; sys.stdin.readline(); sys.exit(7)"])
    answer = served.ask(modern("tools/list"))
    assert "exited with status 7" in answer.frame["error"]["message"]
    while served.children():
        pass


def test_process_started_ahead_of_time_that_has_ended_is_replaced(serve, tmp_path):
    once = f"""
import os, runpy, sys
if not os.path.exists("seen"):
    open("seen", "w").close()
    sys.exit("the first one")
sys.argv = {LEGACY[2:]!r}
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    served = serve("--cwd", str(tmp_path), command=[sys.executable, "-S", "-c", once])
    while served.children():
        pass
    assert served.ask(call("echo", text="the second")).text == "the second"


def test_server_that_stops_reading_is_given_up_without_holding_up_the_others(host, monkeypatch):
    monkeypatch.setattr(servers, "STALL", 0.3)
    with host(Bridge([sys.executable, "-S", "-c", DEAF], log_level="error"), lifespan="on") as port:
        stuck = [Connection(port) for _ in range(3)]
        for number, connection in enumerate(stuck):
            connection.send(call("echo", number=number, text="x" * 10_000_000))
        for connection in stuck:
            message = connection.answer().frame["error"]["message"]
            assert "takes nothing of what is written to its stdin" in message
            connection.close()
        assert ask_health(port)["status"] == "ok"

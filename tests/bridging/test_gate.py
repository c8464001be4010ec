"""What waits for the verdict on a server's era, and what becomes of it (``bridge.gate``)."""

from __future__ import annotations

import json

from dragoman.bridging import gate
from dragoman.bridging.effects import FAILURE, RESULT, Finished, SetTimer, ToClient, ToServer
from dragoman.bridging.gate import Gate
from dragoman.errors import server_fault

ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/x"}'
DOWN = server_fault("the server is down")


class Echo:
    """A core that sends every line on, and tells what it was told."""

    def __init__(self, era: str) -> None:
        self.era = era
        self.closed = False

    def start(self, now):
        return []

    def from_client(self, line, now):
        return [ToServer(1, line)]

    def client_too_long(self, head, size, now):
        return [ToServer(1, b"too long")]

    def client_closed(self, now):
        self.closed = True
        return [Finished(0)]

    def from_server(self, session, line, now, about=None):
        return [ToClient(line, b"1", FAILURE if b'"error"' in line else RESULT)]

    def server_too_long(self, session, head, size, now):
        return [ToClient(b"too long")]

    def session_lost(self, session, reason, now):
        return [ToClient(reason.encode())]

    def on_timer(self, key, now):
        return [ToClient(key.encode())]


class Bench:
    def __init__(self) -> None:
        self.asked = 0
        self.cores: list[Echo] = []
        self.gate = Gate(self.make, self.ask, 5.0)
        assert self.gate.start(0.0) == []

    def ask(self) -> None:
        self.asked += 1

    def make(self, era: str) -> Echo:
        self.cores.append(Echo(era))
        return self.cores[-1]


def answers(effects):
    return [json.loads(effect.data) for effect in effects if isinstance(effect, ToClient)]


def test_question_goes_out_before_the_client_says_anything():
    assert Bench().asked == 1


def test_lines_wait_and_go_on_in_their_order():
    bench = Bench()
    assert bench.gate.from_client(ASKED, 1.0) == []
    assert bench.gate.from_client(NOTE, 1.0) == []
    assert bench.gate.decided("legacy", 2.0) == [ToServer(1, ASKED), ToServer(1, NOTE)]
    assert (bench.asked, [core.era for core in bench.cores]) == (1, ["legacy"])


def test_everything_goes_through_after_the_verdict():
    bench = Bench()
    bench.gate.decided("modern", 1.0)
    assert bench.gate.from_client(ASKED, 2.0) == [ToServer(1, ASKED)]
    assert bench.gate.client_too_long(b"", 9, 2.0) == [ToServer(1, b"too long")]
    assert bench.gate.from_server(1, b"x", 2.0) == [ToClient(b"x", b"1", RESULT)]
    assert bench.gate.server_too_long(1, b"", 9, 2.0) == [ToClient(b"too long")]
    assert bench.gate.session_lost(1, "gone", 2.0) == [ToClient(b"gone")]
    assert bench.gate.on_timer("t", 2.0) == [ToClient(b"t")]
    assert bench.gate.client_closed(2.0) == [Finished(0)]


def test_without_a_verdict_requests_are_refused_and_the_next_one_asks_again():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    bench.gate.from_client(NOTE, 1.0)
    assert answers(bench.gate.undecided(DOWN, 2.0)) == [
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "the server is down"}}
    ]
    assert bench.asked == 1
    bench.gate.from_client(ASKED, 3.0)
    assert bench.asked == 2


def test_requests_of_a_batch_are_refused_one_by_one():
    bench = Bench()
    bench.gate.from_client(b"[%b,%b,%b]" % (ASKED, NOTE, ASKED.replace(b'"id":1', b'"id":"b"')), 1.0)
    assert [answer["id"] for answer in answers(bench.gate.undecided(DOWN, 2.0))] == [1, "b"]


def test_line_that_is_no_message_is_told_what_is_wrong_with_it():
    bench = Bench()
    bench.gate.from_client(b"{", 1.0)
    assert [answer["error"]["code"] for answer in answers(bench.gate.undecided(DOWN, 2.0))] == [-32700]


def test_line_over_the_limit_is_refused_at_once():
    assert [answer["error"]["code"] for answer in answers(Bench().gate.client_too_long(b"{", 99, 1.0))] == [-32600]


def test_what_waits_is_bounded_and_the_question_is_not_asked_twice(monkeypatch):
    monkeypatch.setattr(gate, "_HELD", 100)
    bench = Bench()
    told = [answers(bench.gate.from_client(ASKED, 1.0)) for _ in range(3)]
    assert [len(each) for each in told] == [0, 0, 3]
    bench.gate.from_client(ASKED, 2.0)
    assert bench.asked == 1
    assert bench.gate.decided("legacy", 3.0) == [ToServer(1, ASKED)]


def test_client_that_leaves_and_waits_for_nothing_ends_it():
    assert Bench().gate.client_closed(1.0) == [Finished(0)]


def test_client_that_leaves_is_still_answered():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    assert bench.gate.client_closed(2.0) == [SetTimer("gate", 32.0)]
    effects = bench.gate.decided("legacy", 3.0)
    assert ToServer(1, ASKED) in effects
    assert effects[-1] == Finished(0)


def test_client_that_leaves_is_not_waited_for_for_ever():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    bench.gate.client_closed(2.0)
    effects = bench.gate.on_timer("gate", 32.0)
    assert [answer["id"] for answer in answers(effects)] == [1]
    assert effects[-1] == Finished(1)


def test_doubt_before_any_answer_asks_anew_and_says_again_what_the_client_said():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    bench.gate.decided("dual", 1.0)
    bench.gate.doubted("it is silent", 16.0)
    assert bench.asked == 2
    assert bench.gate.decided("legacy", 17.0) == [ToServer(1, ASKED)]
    assert [core.era for core in bench.cores] == ["dual", "legacy"]


def test_doubt_counts_a_client_that_began_to_speak_after_the_verdict_too():
    bench = Bench()
    bench.gate.decided("dual", 1.0)
    bench.gate.from_client(ASKED, 2.0)
    bench.gate.doubted("it is silent", 16.0)
    assert bench.gate.decided("legacy", 17.0) == [ToServer(1, ASKED)]


def test_doubt_about_a_server_that_was_told_more_than_is_kept_ends_the_bridge(monkeypatch):
    monkeypatch.setattr(gate, "_HELD", 2 * len(NOTE))
    bench = Bench()
    bench.gate.decided("dual", 1.0)
    for _ in range(3):
        bench.gate.from_client(NOTE, 2.0)
    assert bench.gate.doubted("it is silent", 16.0)[-1] == Finished(1)


def test_doubt_after_an_error_asks_anew_and_answers_nobody_twice():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    bench.gate.decided("dual", 1.0)
    bench.gate.from_client(ASKED.replace(b":1,", b":2,"), 1.0)
    bench.gate.from_server(1, b'{"id":1,"error":{"code":-32603}}', 2.0)
    bench.gate.doubted("it speaks otherwise", 16.0)
    assert bench.gate.decided("legacy", 17.0) == [ToServer(1, ASKED.replace(b":1,", b":2,"))]


def test_doubt_does_not_carry_out_a_call_a_second_time():
    bench = Bench()
    bench.gate.from_client(ASKED.replace(b"tools/list", b"tools/call"), 1.0)
    bench.gate.decided("dual", 1.0)
    effects = bench.gate.doubted("it is silent", 16.0)
    assert [(answer["id"], answer["error"]["code"]) for answer in answers(effects)] == [(1, -32603)]
    assert bench.gate.decided("legacy", 17.0) == []


def test_doubt_after_an_answer_ends_the_bridge_in_order_with_a_status():
    bench = Bench()
    bench.gate.from_client(ASKED, 1.0)
    bench.gate.decided("dual", 1.0)
    bench.gate.from_server(1, b'{"id":1,"result":{}}', 2.0)
    effects = bench.gate.doubted("it speaks otherwise", 16.0)
    assert effects[-1] == Finished(1)
    assert bench.cores[0].closed
    assert bench.gate.client_closed(17.0) == []

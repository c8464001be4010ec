"""When a server that fails again and again is started."""

from __future__ import annotations

from dragoman.bridging.restarts import Restarts


def test_server_that_works_is_started_at_once() -> None:
    restarts = Restarts()
    assert restarts.pause(0.0) == 0.0
    restarts.worked()
    assert restarts.pause(0.0) == 0.0


def test_two_failures_in_a_row_cost_nothing() -> None:
    restarts = Restarts()
    restarts.failed("one", 10.0)
    restarts.failed("two", 10.0)
    assert restarts.pause(10.0) == 0.0


def test_from_the_third_on_the_pause_doubles_up_to_half_a_minute() -> None:
    restarts = Restarts()
    pauses = []
    for _ in range(9):
        restarts.failed("exited with status 3", 100.0)
        pauses.append(restarts.pause(100.0))
    assert pauses == [0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_pause_runs_out() -> None:
    restarts = Restarts()
    for _ in range(4):
        restarts.failed("x", 100.0)
    assert [restarts.pause(now) for now in (100.5, 102.0, 103.0)] == [1.5, 0.0, 0.0]


def test_one_that_works_makes_all_forgotten() -> None:
    restarts = Restarts()
    for _ in range(5):
        restarts.failed("x", 100.0)
    restarts.worked()
    restarts.failed("y", 101.0)
    assert restarts.pause(101.0) == 0.0


def test_those_who_come_in_the_pause_are_told_the_last_failure() -> None:
    restarts = Restarts()
    for number in range(3):
        restarts.failed(f"failure {number}", 100.0)
    assert restarts.why(100.0) == "The server has failed 3 times in a row and is started again in 1 s; last: failure 2"

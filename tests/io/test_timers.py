"""Timers: in order, moved, cancelled."""

from __future__ import annotations

from dragoman.io.timers import Timers


def fired(timers: Timers, now: float) -> list[str]:
    keys = []
    while (key := timers.pop(now)) is not None:
        keys.append(key)
    return keys


def test_nothing_set_nothing_fires():
    timers = Timers()
    assert timers.next() is None
    assert timers.pop(1e9) is None


def test_timer_does_not_fire_early():
    timers = Timers()
    timers.set("a", 2.0)
    assert fired(timers, 1.9) == []
    assert timers.next() == 2.0


def test_due_timers_fire_once_in_order_of_their_time():
    timers = Timers()
    timers.set("b", 2.0)
    timers.set("a", 1.0)
    timers.set("c", 3.0)
    assert fired(timers, 2.0) == ["a", "b"]
    assert fired(timers, 2.0) == []
    assert timers.next() == 3.0


def test_cancelled_timer_never_fires():
    timers = Timers()
    timers.set("a", 1.0)
    timers.cancel("a")
    timers.cancel("unknown")
    assert timers.next() is None
    assert fired(timers, 5.0) == []


def test_timer_set_again_moves_both_ways():
    timers = Timers()
    timers.set("late", 1.0)
    timers.set("late", 5.0)
    timers.set("early", 5.0)
    timers.set("early", 1.0)
    assert fired(timers, 2.0) == ["early"]
    assert fired(timers, 5.0) == ["late"]


def test_timer_moved_there_and_back_fires_once():
    timers = Timers()
    for at in (1.0, 2.0, 1.0):
        timers.set("a", at)
    assert fired(timers, 9.0) == ["a"]


def test_timer_set_again_to_a_fired_time_fires_again():
    timers = Timers()
    timers.set("a", 1.0)
    assert fired(timers, 1.0) == ["a"]
    timers.set("a", 1.0)
    assert fired(timers, 1.0) == ["a"]


def test_timer_moved_very_often_keeps_no_history():
    timers = Timers()
    for at in range(100_000):
        timers.set("a", float(at))
    assert len(timers._heap) < 100
    assert fired(timers, 1e6) == ["a"]

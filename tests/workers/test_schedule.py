"""The loops of a worker's periodic actions."""

from __future__ import annotations

import threading

import pytest

from workers.schedule import PeriodicAction, repeat


def test_turns_that_were_missed_are_not_made_up_for() -> None:
    stop, turns = threading.Event(), list[float]()
    times = iter([0.0, 1.0, 1.0, 1e9, 1e9, 1e9, 1e9])

    def clock() -> float:
        now = next(times, None)
        if now is None:
            stop.set()
            return 1e9
        return now

    repeat([PeriodicAction("often", 0.5, lambda: turns.append(1))], stop, clock=clock)
    assert len(turns) == 2, "one after a second, one after a billion"


def test_an_action_that_fails_holds_up_none_after_it(caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()

    def fail() -> None:
        raise OSError("odd")

    actions = [PeriodicAction("fails", 0.0, fail), PeriodicAction("stops", 0.0, stop.set)]
    repeat(actions, stop)
    assert "schedule.failed" in caplog.text

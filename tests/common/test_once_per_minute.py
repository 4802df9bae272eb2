"""An error in a loop is one line a minute, and the next line says how many there were."""

from __future__ import annotations

import logging
from typing import Any

from common.logging_setup import SAME_AS, OncePerMinute


def record(level: int, event: str, *, error: Exception | None = None, **data: Any) -> logging.LogRecord:
    trace = (type(error), error, error.__traceback__) if error else None
    found = logging.LogRecord("x", level, __file__, 1, event, (), trace)
    found.data = data
    return found


def test_the_same_error_is_logged_once_a_minute_with_its_number() -> None:
    now = [0.0]
    once = OncePerMinute(lambda: now[0])
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    for _ in range(7):
        now[0] += 5
        assert not once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    now[0] += 60
    again = record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head")
    assert once.filter(again)
    assert again.data == {"action": "head", "repeated": 7}


def test_another_error_and_what_is_no_error_are_logged_at_once() -> None:
    once = OncePerMinute(lambda: 0.0)
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="head"))
    assert once.filter(record(logging.ERROR, "schedule.failed", error=OSError("full"), action="backup"))
    assert once.filter(record(logging.ERROR, "schedule.failed", error=ValueError("odd"), action="head"))
    assert all(once.filter(record(logging.INFO, "job.scored", job=1)) for _ in range(3))


def test_what_says_that_it_is_the_same_is_logged_once_a_minute_whatever_its_words() -> None:
    once, words = OncePerMinute(lambda: 0.0), ("connection refused", "the server ends")
    records = [record(logging.WARNING, "database.away", reason=reason) for reason in words]
    for one in records:
        setattr(one, SAME_AS, "database.away")
    assert [once.filter(one) for one in records] == [True, False]

"""Answers that are kept for a while."""

from __future__ import annotations

import pytest

from web.pages import KeptAnswer


def test_an_answer_is_given_again_until_it_is_old() -> None:
    now, made = [0.0], list[float]()

    def make() -> float:
        made.append(now[0])
        return now[0]

    kept = KeptAnswer(make, 1.0, clock=lambda: now[0])
    given = []
    for moment in (0.0, 0.5, 1.0, 1.5, 2.0):
        now[0] = moment
        given.append(kept.get())
    assert (given, made) == ([0.0, 0.0, 0.0, 1.5, 1.5], [0.0, 1.5])


def test_a_failure_is_not_kept() -> None:
    answers = iter([OSError("away"), "here"])

    def make() -> str:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    kept = KeptAnswer(make, 1.0, clock=lambda: 0.0)
    with pytest.raises(OSError, match="away"):
        kept.get()
    assert kept.get() == "here"

"""A long run slows down for an endpoint that is busy."""

from __future__ import annotations

import asyncio

from vlrb.judge.concurrency import AdaptiveConcurrency


def test_concurrency_grows_with_success_and_halves_once_for_the_refusals_of_a_moment() -> None:
    slots = AdaptiveConcurrency(32, asyncio.Event())
    assert slots.allowed == 8
    for _ in range(100):
        slots.succeeded()
    assert slots.allowed == 32, "never more than it may"
    for _ in range(5):
        slots.throttled(None)
    assert slots.allowed == 16
    for _ in range(16):
        slots.succeeded()
    assert slots.allowed == 17, "from now on one more for as many answers as are allowed"
